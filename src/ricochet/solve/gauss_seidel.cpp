#include "ricochet/solve/gauss_seidel.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_task.h"

namespace ricochet::solve {
namespace {

using base::index;

/// Contacts that one thread takes at a time: long enough to be worth the hand-over, a few
/// microseconds, and the same for any number of threads.
constexpr int kChunk = 128;

/// From this many contacts on sweeps go colour by colour, with threads or without.
constexpr int kColoured = 4096;

}  // namespace

template <int D>
GaussSeidel<D>::GaussSeidel(const problem::LocalProblem& problem,
                            const GaussSeidelSettings& settings, base::Executor executor)
    : problem_(problem), settings_(settings), executor_(std::move(executor)) {
  refresh();
}

template <int D>
void GaussSeidel<D>::refresh() {
  const problem::BlockRows& W = problem_.W;
  contacts_.clear();
  contacts_.reserve(index(W.rows));
  for (int i = 0; i < W.rows; ++i) {
    const auto diagonal = W.diagonal(i);
    const Eigen::Map<const Eigen::Matrix<double, D, D>> block(W.block(diagonal));
    contacts_.push_back({LocalContact<D>(block, problem_.mu[index(i)]), block.trace() / D, 0.0,
                         static_cast<int>(diagonal)});
  }
  rests_.assign(index(W.rows), 0);
  next_rest_.assign(index(W.rows), 1);
  if (settings_.coloured) {
    colour();
  } else {
    colour_start_.assign({0, 1});
    chunks_.assign(1, {0, W.rows});
  }
  tallies_.resize(chunks_.size());
}

/// The first colour that no neighbour has, contact by contact. W may lack a block whose mirror
/// image it has: both count.
template <int D>
void GaussSeidel<D>::colour() {
  const problem::BlockRows& W = problem_.W;
  order_.clear();
  chunks_.clear();
  std::vector<std::vector<int>> mirrored(index(W.rows));
  for (int i = 0; i < W.rows; ++i) {
    for (int k = W.start[index(i)]; k < W.start[index(i) + 1]; ++k) {
      if (W.column[index(k)] > i) mirrored[index(W.column[index(k)])].push_back(i);
    }
  }
  std::vector<int> colour_of(index(W.rows), -1);
  std::vector<int> taken;  // by colour: the last contact that found it taken
  std::vector<std::vector<int>> members;
  for (int i = 0; i < W.rows; ++i) {
    const auto mark = [&](int other) {
      const int c = colour_of[index(other)];
      if (c >= 0) taken[index(c)] = i;
    };
    for (int k = W.start[index(i)]; k < W.start[index(i) + 1]; ++k) mark(W.column[index(k)]);
    for (const int other : mirrored[index(i)]) mark(other);
    int c = 0;
    while (index(c) < taken.size() && taken[index(c)] == i) ++c;
    if (index(c) == taken.size()) {
      taken.push_back(-1);
      members.emplace_back();
    }
    colour_of[index(i)] = c;
    members[index(c)].push_back(i);
  }
  colour_start_ = {0};
  for (const std::vector<int>& same : members) {
    const int first = static_cast<int>(order_.size());
    order_.insert(order_.end(), same.begin(), same.end());
    const int last = static_cast<int>(order_.size());
    for (int k = first; k < last; k += kChunk) chunks_.push_back({k, std::min(k + kChunk, last)});
    colour_start_.push_back(static_cast<int>(chunks_.size()));
  }
}

template <int D>
void GaussSeidel<D>::wake() {
  std::fill(rests_.begin(), rests_.end(), std::uint8_t{0});
  std::fill(next_rest_.begin(), next_rest_.end(), std::uint8_t{1});
}

/// u += W_ij r_j, j over the blocks begin .. end - 1. Written out: the first two components go
/// together, and each has one chain of sums.
template <int D>
void GaussSeidel<D>::add_blocks(int begin, int end, const double* r, Vector& u) const {
  using Pair = Eigen::Array2d;
  const auto pair = [](const double* at) { return Eigen::Map<const Pair>(at); };
  const double* block = problem_.W.values.data() + index(begin) * D * D;
  const int* column = problem_.W.column.data();
  Pair first = u.template head<2>();
  double last = u[D - 1];
  for (int k = begin; k < end; ++k, block += D * D) {
    const double* x = r + D * column[k];
    if constexpr (D == 3) {
      first += pair(block) * x[0] + pair(block + 3) * x[1] + pair(block + 6) * x[2];
      last += block[2] * x[0] + block[5] * x[1] + block[8] * x[2];
    } else {
      first += pair(block) * x[0] + pair(block + 2) * x[1];
    }
  }
  u.template head<2>() = first;
  if constexpr (D == 3) u[2] = last;
}

template <int D>
double GaussSeidel<D>::solve_contact(int i, double* r) {
  const std::vector<int>& start = problem_.W.start;
  Contact& contact = contacts_[index(i)];
  Eigen::Map<Vector> mine(r + D * i);
  Vector b = problem_.q.segment<D>(D * i);  // u, but for S r_i
  add_blocks(start[index(i)], contact.diagonal, r, b);
  add_blocks(contact.diagonal + 1, start[index(i) + 1], r, b);
  if (contact.local.is_twisted()) b += contact.local.twist(mine);
  const Vector next = contact.local.solve(b, contact.lambda);
  const double change = (next - mine).squaredNorm() * contact.weight;
  mine = next;
  return change;
}

template <int D>
void GaussSeidel<D>::rest(int i, double change) {
  if (change > settings_.quiet * settings_.quiet * mean_change_) {
    next_rest_[index(i)] = 1;
    return;
  }
  rests_[index(i)] = next_rest_[index(i)];
  next_rest_[index(i)] =
      static_cast<std::uint8_t>(std::min(2 * next_rest_[index(i)], settings_.longest_rest));
}

template <int D>
typename GaussSeidel<D>::Tally GaussSeidel<D>::sweep_chunk(Chunk chunk, Eigen::VectorXd& r) {
  Tally tally;
  for (int k = chunk.begin; k < chunk.end; ++k) {
    const int i = order_.empty() ? k : order_[index(k)];
    if (rests_[index(i)] > 0) {
      --rests_[index(i)];
      continue;
    }
    const double change = solve_contact(i, r.data());
    tally.change += change;
    ++tally.solved;
    if (settings_.quiet > 0.0) rest(i, change);
  }
  return tally;
}

template <int D>
double GaussSeidel<D>::sweep(Eigen::VectorXd& r) {
  double change = 0.0;
  std::int64_t solved = 0;
  for (std::size_t c = 0; c + 1 < colour_start_.size(); ++c) {
    const auto begin = index(colour_start_[c]);
    const auto end = index(colour_start_[c + 1]);
    const auto work = [&](std::size_t k) {
      tallies_[begin + k] = sweep_chunk(chunks_[begin + k], r);
    };
    if (executor_ && end - begin > 1) {
      executor_(end - begin, work);
    } else {
      for (std::size_t k = 0; k < end - begin; ++k) work(k);
    }
    for (std::size_t k = begin; k < end; ++k) {  // in order: the same sum for any executor
      change += tallies_[k].change;
      solved += tallies_[k].solved;
    }
  }
  solved_ += solved;
  mean_change_ = solved > 0 ? change / static_cast<double>(problem_.W.rows) : 0.0;
  return std::sqrt(change);
}

template class GaussSeidel<2>;
template class GaussSeidel<3>;

void run_gauss_seidel(ContactTask& task) {
  with_dimension(task.problem().dim, [&]<int D>() {
    const bool large = task.local().contacts() >= kColoured;
    GaussSeidel<D> sweeps(task.local(), {.coloured = large}, task.settings().executor);
    // Looked at every so often, less so as the number of sweeps grows.
    for (int batch = 5; !task.done() && !task.over(); batch = std::min(2 * batch, 80)) {
      for (int k = 0; k < batch; ++k) sweeps.sweep(task.r);
      task.count(batch);
      task.measure(task.r);
    }
  });
}

}  // namespace ricochet::solve
