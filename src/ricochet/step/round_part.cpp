#include <algorithm>
#include <array>

#include "ricochet/base/index.h"
#include "ricochet/problem/contact.h"
#include "ricochet/solve/step_contacts.h"
#include "ricochet/step/round_sweeps.h"

/// The part of RoundSweeps that solves rows around one by Newton's method.
namespace ricochet::step {

using base::index;
namespace {

constexpr int kNone = -1;

/// (n, t) as rows, any t across n.
Eigen::Matrix2d frame_about(const Eigen::Vector2d& n) {
  Eigen::Matrix2d frame;
  frame << n[0], n[1], -n[1], n[0];
  return frame;
}
Eigen::Matrix3d frame_about(const Eigen::Vector3d& n) {
  Eigen::Matrix3d frame;
  frame.row(0) = n;
  frame.row(1) = n.unitOrthogonal();
  frame.row(2) = n.cross(Eigen::Vector3d(frame.row(1)));
  return frame;
}

}  // namespace

template <int D>
struct RoundSweeps<D>::Part {
  Part() : methods(problem::LocalProblem{W, q, mu}) { W.dim = D; }

  problem::BlockRows W;
  Eigen::VectorXd q;
  std::vector<double> mu;
  Eigen::VectorXd r;
  Eigen::VectorXd given;  // W r
  solve::WarmContacts<D> methods;
  std::vector<int> contacts;      // of the part, ascending
  std::vector<Block> frames;      // theirs
  std::vector<int> local;         // by contact: its number in the part, kNone
  std::vector<int> columns;       // of a row, for a moment
  std::vector<int> beside_start;  // by body: its contacts in beside, ascending
  std::vector<int> beside;
  bool is_listed{false};  // beside is that of the rows taken
};

template <int D>
RoundSweeps<D>::RoundSweeps() : part_(std::make_unique<Part>()) {}

template <int D>
RoundSweeps<D>::~RoundSweeps() = default;

template <int D>
void RoundSweeps<D>::forget_beside() {
  part_->is_listed = false;
}

template <int D>
std::span<const int> RoundSweeps<D>::solved() const {
  return part_->contacts;
}

/// Contacts of every free body.
template <int D>
void RoundSweeps<D>::list_beside() {
  Part& part = *part_;
  const auto each = [&](auto&& tell) {
    for (std::size_t k = 0; k < row_.size(); ++k) {
      for (const int b : {contacts_[k].a, contacts_[k].b}) {
        if (index(b) < bodies_.size()) tell(index(b), static_cast<int>(k));
      }
    }
  };
  std::vector<int>& start = part.beside_start;
  start.assign(bodies_.size() + 2, 0);
  each([&](std::size_t b, int) { ++start[b + 2]; });
  for (std::size_t b = 2; b < start.size(); ++b) start[b] += start[b - 1];
  part.beside.resize(index(start.back()));
  each([&](std::size_t b, int k) { part.beside[index(start[b + 1]++)] = k; });  // ends at [b + 1]
  part.local.assign(row_.size(), kNone);
  part.is_listed = true;
}

/// Who touches a body of the contact, then who touches a body of those, and so on.
template <int D>
void RoundSweeps<D>::choose_around(std::size_t contact, std::size_t most) {
  Part& part = *part_;
  std::vector<int>& chosen = part.contacts;
  const auto choose = [&](int k) {
    if (part.local[index(k)] != kNone) return;
    part.local[index(k)] = 0;
    chosen.push_back(k);
  };
  chosen.clear();
  choose(static_cast<int>(contact));
  for (std::size_t i = 0; i < chosen.size() && chosen.size() < most; ++i) {
    const Contact& one = contacts_[index(chosen[i])];
    for (const int b : {one.a, one.b}) {
      if (index(b) >= bodies_.size()) continue;
      for (int l = part.beside_start[index(b)]; l < part.beside_start[index(b) + 1]; ++l) {
        choose(part.beside[index(l)]);
      }
    }
  }
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    part.local[index(chosen[i])] = static_cast<int>(i);
}

/// A block of W: what an impulse of the other does to the velocity of the one, in their frames.
template <int D>
typename RoundSweeps<D>::Block RoundSweeps<D>::block(std::size_t i, std::size_t j) const {
  const Contact& one = contacts_[index(part_->contacts[i])];
  const Contact& other = contacts_[index(part_->contacts[j])];
  Block block = Block::Zero();
  for (const bool of_a : {true, false}) {
    for (const bool by_a : {true, false}) {
      const int b = of_a ? one.a : one.b;
      if (b != (by_a ? other.a : other.b) || index(b) >= bodies_.size()) continue;
      const Speed& body = speeds_[index(b)];
      const double sign = of_a == by_a ? 1.0 : -1.0;
      const double arms = (of_a ? one.arm_a : one.arm_b) * (by_a ? other.arm_a : other.arm_b);
      for (int k = 0; k < D; ++k) {
        const Vec r = part_->frames[j].row(k);
        const Vec given = turned(body::moment(other.n, r), one.n);
        block.col(k) += sign * (body.per_mass * r + (arms * body.per_inertia) * given);
      }
    }
  }
  return part_->frames[i] * block;
}

/// One row of blocks: a block for every row of the part that shares a free body.
template <int D>
void RoundSweeps<D>::pose_row(std::size_t i) {
  Part& part = *part_;
  const Contact& one = contacts_[index(part.contacts[i])];
  part.columns.clear();
  for (const int b : {one.a, one.b}) {
    if (index(b) >= bodies_.size()) continue;
    for (int l = part.beside_start[index(b)]; l < part.beside_start[index(b) + 1]; ++l) {
      const int column = part.local[index(part.beside[index(l)])];
      if (column != kNone) part.columns.push_back(column);
    }
  }
  std::sort(part.columns.begin(), part.columns.end());
  part.columns.erase(std::unique(part.columns.begin(), part.columns.end()), part.columns.end());
  for (const int column : part.columns) {
    const Block values = block(i, index(column));
    part.W.column.push_back(column);
    part.W.values.insert(part.W.values.end(), values.data(), values.data() + D * D);
  }
  part.W.start.push_back(static_cast<int>(part.W.column.size()));
}

/// The contact problem of the part: q is what the impulses of all others leave.
template <int D>
void RoundSweeps<D>::pose_part() {
  Part& part = *part_;
  const std::size_t count = part.contacts.size();
  const auto size = static_cast<Eigen::Index>(D * count);
  part.W.rows = static_cast<int>(count);
  part.W.start.assign(1, 0);
  part.W.column.clear();
  part.W.values.clear();
  part.mu.resize(count);
  part.frames.resize(count);
  part.r.resize(size);
  part.q.resize(size);
  for (std::size_t i = 0; i < count; ++i) {
    const auto k = index(part.contacts[i]);
    const Contact& one = contacts_[k];
    const Vec u = velocity(one, speeds_[index(one.a)], speeds_[index(one.b)]);
    part.frames[i] = frame_about(one.n);
    part.mu[i] = one.mu;
    const auto at = static_cast<Eigen::Index>(D * i);
    part.r.template segment<D>(at) = part.frames[i] * impulse_of(k);
    part.q.template segment<D>(at) = part.frames[i] * u;
  }
  for (std::size_t i = 0; i < count; ++i) pose_row(i);
  problem::multiply(part.W, part.r, part.given);
  part.q -= part.given.head(size);
}

/// The impulses of the part.
template <int D>
void RoundSweeps<D>::take_part() {
  const Part& part = *part_;
  for (std::size_t i = 0; i < part.contacts.size(); ++i) {
    const auto k = index(part.contacts[i]);
    const Contact& one = contacts_[k];
    Vec across = part.r.template segment<D>(static_cast<Eigen::Index>(D * i));
    const double normal = across[0];
    across[0] = 0.0;
    const Vec tangential = part.frames[i].transpose() * across;
    give_both(one, normal - impulses_[k].normal, tangential - impulses_[k].tangential,
              speeds_[index(one.a)], speeds_[index(one.b)]);
    impulses_[k] = {tangential, normal};
  }
}

template <int D>
bool RoundSweeps<D>::solve_around(std::size_t contact, std::size_t most) {
  constexpr double kGoal = 1e-9;    // scale-free
  constexpr double kEnough = 1e-6;  // to call it solved: far below what is left elsewhere
  if (!part_->is_listed) list_beside();
  choose_around(contact, most);
  pose_part();
  part_->methods.set_mean_change(0.0);
  part_->methods.begin(part_->r);
  const double residual = part_->methods.solve(part_->r, kGoal);
  if (part_->r.allFinite()) take_part();
  for (const int k : part_->contacts) part_->local[index(k)] = kNone;
  return residual <= kEnough;
}

#define RICOCHET_INSTANTIATE(D)                                                         \
  template RoundSweeps<D>::RoundSweeps();                                               \
  template RoundSweeps<D>::~RoundSweeps();                                              \
  template void RoundSweeps<D>::forget_beside();                                        \
  template std::span<const int> RoundSweeps<D>::solved() const;                         \
  template void RoundSweeps<D>::list_beside();                                          \
  template void RoundSweeps<D>::choose_around(std::size_t, std::size_t);                \
  template RoundSweeps<D>::Block RoundSweeps<D>::block(std::size_t, std::size_t) const; \
  template void RoundSweeps<D>::pose_row(std::size_t);                                  \
  template void RoundSweeps<D>::pose_part();                                            \
  template void RoundSweeps<D>::take_part();                                            \
  template bool RoundSweeps<D>::solve_around(std::size_t, std::size_t);
RICOCHET_INSTANTIATE(2)
RICOCHET_INSTANTIATE(3)
#undef RICOCHET_INSTANTIATE

}  // namespace ricochet::step
