#include "ricochet/step/round_sweeps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_measure.h"

namespace ricochet::step {

using base::index;
namespace {

/// Rows are taken from so many places in turn: those that follow each other then seldom share a
/// body, and a processor need not wait for one to begin the next.
constexpr std::size_t kStreams = 16;

constexpr std::size_t kInSlab = 512;    // rows of a slab, at the least
constexpr std::size_t kFewSlabs = 4;    // fewer are not worth their borders
constexpr std::size_t kManySlabs = 32;  // more would be thinner than bodies
constexpr std::size_t kFar = 64;        // one in so many rows may be between slabs that are not
                                        // neighbours: these are swept alone
constexpr std::size_t kWorth = 256;     // rows for which threads are worth a meeting
constexpr std::size_t kBodiesInPiece = 1024;

constexpr int kNone = -1;     // a body that is not free
constexpr int kUnknown = -2;  // one that no row has named yet

constexpr std::size_t kAhead = 24;  // rows from that which is swept to that which is asked for
constexpr std::size_t kNear = 8;    // and to that whose bodies are

/// Whether an arm lies along n, but for rounding.
template <int D>
bool is_central(const body::Vec<D>& arm, const body::Vec<D>& n) {
  constexpr double kAside = 1e-13;
  const double along = arm.dot(n);
  return (arm - along * n).squaredNorm() <= kAside * kAside * along * along;
}

/// Nearest point of { |z_T| <= mu z_N }, n the axis.
template <int D>
body::Vec<D> nearest_in_cone(double mu, const body::Vec<D>& n, const body::Vec<D>& z) {
  const double normal = n.dot(z);
  const body::Vec<D> across = z - normal * n;
  const double slip = across.norm();
  if (normal >= 0.0 && slip <= mu * normal) return z;
  if (mu * slip <= -normal) return body::Vec<D>::Zero();
  const double part = (normal + mu * slip) / (1.0 + mu * mu);
  return part * n + (slip > 0.0 ? mu * part / slip : 0.0) * across;
}

double inertia_of(const body::Body<2>& body) { return body.inertia; }
double inertia_of(const body::Body<3>& body) { return body.inertia(0, 0); }

}  // namespace

/// Groups one phase after the other; those of a phase at once where there are rows enough.
template <int D>
template <class Work>
void RoundSweeps<D>::in_phases(std::size_t rows, const Work& work) const {
  static const base::Executor kNone;
  const base::Executor& executor = executor_ != nullptr && rows >= kWorth ? *executor_ : kNone;
  for (const Phase& phase : phases_) {
    base::each(executor, phase.count, [&](std::size_t k) { work(phase.first + k); });
  }
}

/// A body's number in bodies_, kNone where it is not free.
template <int D>
int RoundSweeps<D>::number_of(const Problem& problem, int b) {
  int& number = number_[index(b)];
  if (number != kUnknown) return number;
  const bool is_free = problem.world.body(b).is_free();
  number = is_free ? static_cast<int>(bodies_.size()) : kNone;
  (is_free ? bodies_ : fixed_).push_back(b);
  return number;
}

/// Free bodies of all rows; false where one has moments of inertia that differ.
template <int D>
bool RoundSweeps<D>::list_bodies(const Problem& problem) {
  for (const std::vector<int>* known : {&bodies_, &fixed_}) {
    for (const int b : *known) number_[index(b)] = kUnknown;
  }
  bodies_.clear();
  fixed_.clear();
  number_.resize(problem.world.bodies.size(), kUnknown);
  ends_.resize(problem.members.size());
  for (std::size_t k = 0; k < ends_.size(); ++k) {
    const body::Row<D>& row = problem.rows[index(problem.members[k])];
    ends_[k].a = number_of(problem, row.body_a);
    ends_[k].b = number_of(problem, row.body_b);
  }
  return std::all_of(bodies_.begin(), bodies_.end(),
                     [&](int b) { return problem.world.body(b).is_even; });
}

/// Where free bodies are along the axis that is cut: the one in which they are widest apart, but
/// rather not that of their load, which sweeps carry best from one to the next.
template <int D>
void RoundSweeps<D>::find_bins(const Problem& problem) {
  const std::vector<body::Motion<D>>& places = *problem.places;
  Vec low = Vec::Constant(std::numeric_limits<double>::infinity());
  Vec high = -low;
  for (const int b : bodies_) {
    low = low.cwiseMin(places[index(b)].x);
    high = high.cwiseMax(places[index(b)].x);
  }
  Vec weight = high - low;
  if (problem.load != nullptr && problem.load->norm() > 0.0) {
    weight -= 0.5 * weight.cwiseProduct(problem.load->cwiseAbs()) / problem.load->norm();
  }
  int axis = 0;
  weight.maxCoeff(&axis);
  const double width = (high - low)[axis];
  const double per_width = width > 0.0 ? static_cast<double>(kBins) / width : 0.0;
  bins_.resize(bodies_.size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const double along = per_width * (places[index(bodies_[i])].x[axis] - low[axis]);
    bins_[i] = along < kBins ? static_cast<int>(along) : static_cast<int>(kBins) - 1;
  }
  in_bin_.fill(0);
  for (const Ends& ends : ends_) {
    for (const int i : {ends.a, ends.b}) {
      if (i != kNone) ++in_bin_[index(bins_[index(i)])];
    }
  }
}

/// Slabs with as many ends of rows each, and the group of every row; false where too many rows are
/// between slabs that are no neighbours.
template <int D>
bool RoundSweeps<D>::cut(std::size_t slabs) {
  std::array<int, kBins> slab_of{};
  const auto all = std::accumulate(in_bin_.begin(), in_bin_.end(), std::size_t{0});
  std::size_t below = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    slab_of[bin] =
        static_cast<int>(std::min(slabs - 1, below * slabs / std::max<std::size_t>(all, 1)));
    below += index(in_bin_[bin]);
  }
  slab_.resize(bodies_.size());
  for (std::size_t i = 0; i < slab_.size(); ++i) slab_[i] = slab_of[index(bins_[i])];
  groups_.assign(2 * slabs, {});
  group_.resize(ends_.size());
  for (std::size_t k = 0; k < ends_.size(); ++k) {
    const Ends& ends = ends_[k];
    const int one = slab_[index(ends.a != kNone ? ends.a : ends.b)];
    const int other = slab_[index(ends.b != kNone ? ends.b : ends.a)];
    group_[k] = static_cast<int>(group_of(std::min(one, other), std::max(one, other), slabs));
    ++groups_[index(group_[k])].end;
  }
  return groups_.back().end <= ends_.size() / kFar;
}

/// Slabs, then borders 0, 2, ..., then borders 1, 3, ..., then what is between others.
template <int D>
std::size_t RoundSweeps<D>::group_of(int low, int high, std::size_t slabs) {
  if (low == high) return index(low);
  if (high > low + 1) return 2 * slabs - 1;
  return slabs + (low % 2 == 0 ? 0 : slabs / 2) + index(low) / 2;
}

/// Rows by group.
template <int D>
void RoundSweeps<D>::split(const Problem& problem) {
  const std::size_t count = ends_.size();
  std::size_t slabs = problem.places == nullptr ? 1 : std::min(kManySlabs, count / kInSlab);
  if (slabs >= kFewSlabs) find_bins(problem);
  while (slabs >= kFewSlabs && !cut(slabs)) slabs /= 2;
  members_.resize(count);
  if (slabs < kFewSlabs) {
    groups_.assign(1, {});
    groups_[0].end = count;
    phases_.assign(1, {0, 1});
    std::iota(members_.begin(), members_.end(), 0);
    slab_.assign(bodies_.size(), 0);
    order_by_slab(1);
    return;
  }
  const std::size_t even = slabs / 2;
  phases_.assign({{0, slabs}, {slabs, even}, {slabs + even, slabs - 1 - even}, {2 * slabs - 1, 1}});
  std::size_t begin = 0;
  for (Group& group : groups_) {
    const std::size_t size = group.end;
    group.begin = group.end = begin;
    begin += size;
  }
  for (std::size_t k = 0; k < count; ++k) {
    members_[groups_[index(group_[k])].end++] = static_cast<int>(k);
  }
  order_by_slab(slabs);
}

/// Places of free bodies in speeds_: those of a slab together.
template <int D>
void RoundSweeps<D>::order_by_slab(std::size_t slabs) {
  std::array<int, kManySlabs + 1> begin{};
  for (const int slab : slab_) ++begin[index(slab) + 1];
  for (std::size_t s = 0; s < slabs; ++s) begin[s + 1] += begin[s];
  place_.resize(bodies_.size());
  for (std::size_t i = 0; i < place_.size(); ++i) place_[i] = begin[index(slab_[i])]++;
}

/// Bodies before impulses.
template <int D>
void RoundSweeps<D>::prepare(const Problem& problem) {
  static const base::Executor kNobody;
  speeds_.resize(bodies_.size() + groups_.size());
  const base::Pieces range{bodies_.size(), kBodiesInPiece};
  base::each(executor_ != nullptr ? *executor_ : kNobody, range.count(), [&](std::size_t p) {
    for (std::size_t i = range.begin(p); i < range.end(p); ++i) {
      const body::Body<D>& body = problem.world.body(bodies_[i]);
      Speed& speed = speeds_[index(place_[i])];
      speed = {};
      speed.per_mass = 1.0 / body.mass;
      speed.per_inertia = 1.0 / inertia_of(body);
    }
  });
  for (std::size_t g = 0; g < groups_.size(); ++g) speeds_[bodies_.size() + g] = {};
}

/// Whether the row is one of discs or spheres.
template <int D>
bool RoundSweeps<D>::add(const Problem& problem, std::size_t place, int k, const Vec& impulse) {
  const body::Row<D>& row = problem.rows[index(k)];
  const auto at = static_cast<Eigen::Index>(D * k);
  Vec across = impulse;
  across[0] = 0.0;
  const body::Frame<D> frame(row);
  Contact& one = contacts_[place];
  one.n = row.normal;
  one.arm_a = row.arm_a.dot(row.normal);
  one.arm_b = row.arm_b.dot(row.normal);
  one.free = frame.in_space(problem.free.template segment<D>(at));
  impulses_[place] = {frame.in_space(across), impulse[0]};
  one.mu = problem.friction[index(k)];
  const Speed& a = speeds_[index(one.a)];
  const Speed& b = speeds_[index(one.b)];
  const double normal = a.per_mass + b.per_mass;
  one.inverse_n = 1.0 / normal;
  one.inverse_t = 1.0 / (normal + one.arm_a * one.arm_a * a.per_inertia +
                         one.arm_b * one.arm_b * b.per_inertia);
  row_[place] = k;
  noise_[place] = problem.noise[index(k)];
  return (a.per_mass == 0.0 || is_central<D>(row.arm_a, row.normal)) &&
         (b.per_mass == 0.0 || is_central<D>(row.arm_b, row.normal));
}

/// Has what is posed of a row brought near the processor.
template <int D>
void ask_for_row(const typename RoundSweeps<D>::Problem& problem, const Eigen::VectorXd& impulses,
                 std::size_t member) {
  const auto k = index(problem.members[member]);
  const char* row = reinterpret_cast<const char*>(problem.rows.data() + k);
  __builtin_prefetch(row);
  __builtin_prefetch(row + sizeof(body::Row<D>) - 1);
  __builtin_prefetch(impulses.data() + D * k);
  __builtin_prefetch(problem.free.data() + D * k);
  __builtin_prefetch(problem.friction.data() + k);
  __builtin_prefetch(problem.noise.data() + k);
}

/// Rows of a group are read in their order, and written where their stream has them.
template <int D>
void RoundSweeps<D>::take_group(std::size_t g, const Problem& problem,
                                const Eigen::VectorXd& impulses) {
  Group& group = groups_[g];
  const int none = static_cast<int>(bodies_.size() + g);
  const std::size_t count = group.end - group.begin;
  const std::size_t length = (count + kStreams - 1) / kStreams;
  for (std::size_t stream = 0; stream * length < count; ++stream) {
    std::size_t place = group.begin + stream;
    for (std::size_t i = 0; i < length && stream * length + i < count; ++i) {
      const std::size_t at = group.begin + stream * length + i;
      ask_for_row<D>(problem, impulses, index(members_[std::min(at + kNear, group.end - 1)]));
      const int member = members_[at];
      const Ends& ends = ends_[index(member)];
      contacts_[place].a = ends.a != kNone ? place_[index(ends.a)] : none;
      contacts_[place].b = ends.b != kNone ? place_[index(ends.b)] : none;
      const int k = problem.members[index(member)];
      const Vec r = impulses.template segment<D>(static_cast<Eigen::Index>(D * k));
      const Vec begins = solve::projected<D>(problem.friction[index(k)], r);
      group.is_round = add(problem, place, k, begins) && group.is_round;
      place += (count - i + length - 1) / length;  // streams that have an i-th row
    }
  }
}

template <int D>
bool RoundSweeps<D>::take(const Problem& problem, const Eigen::VectorXd& impulses) {
  const std::size_t count = problem.members.size();
  executor_ = problem.executor;
  forget_beside();
  if (!list_bodies(problem)) return false;
  split(problem);
  contacts_.resize(count + kAhead);
  for (std::size_t k = count; k < contacts_.size(); ++k) contacts_[k].a = contacts_[k].b = 0;
  impulses_.resize(count + kAhead);
  row_.resize(count);
  noise_.resize(count);
  noted_.resize(count);
  prepare(problem);
  in_phases(count, [&](std::size_t g) { take_group(g, problem, impulses); });
  const bool is_round = std::all_of(groups_.begin(), groups_.end(),
                                    [](const Group& group) { return group.is_round; });
  if (is_round) in_phases(count, [&](std::size_t g) { act(g); });
  return is_round;
}

/// What impulses taken do to bodies.
template <int D>
void RoundSweeps<D>::act(std::size_t g) {
  for (std::size_t k = groups_[g].begin; k < groups_[g].end; ++k) {
    const Contact& one = contacts_[k];
    give_both(one, impulses_[k].normal, impulses_[k].tangential, speeds_[index(one.a)],
              speeds_[index(one.b)]);
  }
}

/// Has a contact brought near the processor.
template <int D>
[[gnu::always_inline]] inline void RoundSweeps<D>::ask_for(std::size_t k) const {
  const char* at = reinterpret_cast<const char*>(contacts_.data() + k);
  __builtin_prefetch(at);
  __builtin_prefetch(at + sizeof(Contact) - 1);
  __builtin_prefetch(impulses_.data() + k, 1);
}

/// And the bodies of one that is near.
template <int D>
[[gnu::always_inline]] inline void RoundSweeps<D>::ask_for_bodies(std::size_t k) const {
  __builtin_prefetch(speeds_.data() + contacts_[k].a, 1);
  __builtin_prefetch(speeds_.data() + contacts_[k].b, 1);
}

/// Sets the impulse of a row; by how much it changes, squared.
template <int D>
[[gnu::always_inline]] inline double RoundSweeps<D>::put(const Contact& one, double normal,
                                                         const Vec& tangential, Impulse& r,
                                                         Speed& a, Speed& b) {
  const double change = normal - r.normal;
  const Vec changed = tangential - r.tangential;
  r.normal = normal;
  r.tangential = tangential;
  give_both(one, change, changed, a, b);
  return change * change + changed.squaredNorm();
}

/// The closed form of one row; by how much its impulse changes, squared. A row that would slip if
/// it went as far as those that stick goes as far as those that slip.
template <int D>
[[gnu::always_inline]] inline double RoundSweeps<D>::relax(std::size_t k, const Pace& pace) {
  const Contact& one = contacts_[k];
  Impulse& r = impulses_[k];
  Speed& a = speeds_[index(one.a)];
  Speed& b = speeds_[index(one.b)];
  const Vec u = velocity(one, a, b);
  const double along = one.n.dot(u);
  const Vec across = u - along * one.n;
  double normal = std::max(0.0, r.normal - pace.stick * one.inverse_n * along);
  Vec next = r.tangential - (pace.stick * one.inverse_t) * across;
  double most = one.mu * normal;
  if (next.squaredNorm() > most * most) {
    normal = std::max(0.0, r.normal - pace.slip * one.inverse_n * along);
    next = r.tangential - (pace.slip * one.inverse_t) * across;
    most = one.mu * normal;
    const double slip = next.squaredNorm();
    if (slip > most * most) next *= most / std::sqrt(slip);
  }
  return put(one, normal, next, r, a, b);
}

template <int D>
double RoundSweeps<D>::lift_of(std::size_t k) const {
  const Contact& one = contacts_[k];
  const Vec u = velocity(one, speeds_[index(one.a)], speeds_[index(one.b)]);
  return one.mu * (u - one.n.dot(u) * one.n).norm();
}

template <int D>
void RoundSweeps<D>::lift() {
  lift_.resize(row_.size());
  for (std::size_t k = 0; k < lift_.size(); ++k) lift_[k] = lift_of(k);
}

template <int D>
void RoundSweeps<D>::lift_on(double part) {
  for (std::size_t k = 0; k < lift_.size(); ++k) lift_[k] += part * (lift_of(k) - lift_[k]);
}

/// The same of the associated law with a lift that is held: z is projected on the cone in the
/// metric of the row, w_N along n and w_T across it, from however far beyond.
template <int D>
double RoundSweeps<D>::relax_lifted(std::size_t k, double pace) {
  const Contact& one = contacts_[k];
  Impulse& r = impulses_[k];
  Speed& a = speeds_[index(one.a)];
  Speed& b = speeds_[index(one.b)];
  const Vec u = velocity(one, a, b);
  const double along = one.n.dot(u);
  const Vec across = u - along * one.n;
  double normal = r.normal - pace * one.inverse_n * (along + lift_[k]);
  Vec next = r.tangential - (pace * one.inverse_t) * across;
  const double slip = next.norm();
  if (slip > one.mu * normal) {
    const double steep = one.mu * one.inverse_n / one.inverse_t;  // mu w_T / w_N
    normal = std::max(0.0, (normal + steep * slip) / (1.0 + one.mu * steep));
    next *= slip > 0.0 ? one.mu * normal / slip : 0.0;
  }
  return put(one, normal, next, r, a, b);
}

template <int D>
void RoundSweeps<D>::sweep_group(std::size_t g, const Pace& pace, double quiet) {
  Group& group = groups_[g];
  std::size_t count = group.begin;
  for (std::size_t k = group.begin; k < group.end; ++k) {
    ask_for(k + kAhead);
    ask_for_bodies(k + kNear);
    const double least = quiet * contacts_[k].inverse_t;
    const double change = pace.is_lifted ? relax_lifted(k, pace.stick) : relax(k, pace);
    noted_[count] = static_cast<int>(k);  // without a branch: nobody can foretell it
    count += change > least * least ? 1U : 0U;
  }
  group.noted = count - group.begin;
}

template <int D>
void RoundSweeps<D>::sweep_noted(std::size_t g, const Pace& pace) {
  if (groups_[g].noted == 0) return;
  const std::span<const int> noted(noted_.data() + groups_[g].begin, groups_[g].noted);
  const std::size_t last = noted.size() - 1;
  for (std::size_t k = 0; k < noted.size(); ++k) {
    ask_for(index(noted[std::min(k + kAhead, last)]));
    ask_for_bodies(index(noted[std::min(k + kNear, last)]));
    if (pace.is_lifted) {
      relax_lifted(index(noted[k]), pace.stick);
    } else {
      relax(index(noted[k]), pace);
    }
  }
}

template <int D>
void RoundSweeps<D>::sweep(const Pace& pace, double quiet) {
  in_phases(row_.size(), [&](std::size_t g) { sweep_group(g, pace, quiet); });
}

template <int D>
void RoundSweeps<D>::sweep_noted(const Pace& pace) {
  std::size_t count = 0;
  for (const Group& group : groups_) count += group.noted;
  in_phases(count, [&](std::size_t g) { sweep_noted(g, pace); });
}

template <int D>
typename RoundSweeps<D>::Seen RoundSweeps<D>::seen(std::size_t contact) const {
  const Contact& one = contacts_[contact];
  const double rho = double(D) / (1.0 / one.inverse_n + (D - 1.0) / one.inverse_t);
  const Vec u = velocity(one, speeds_[index(one.a)], speeds_[index(one.b)]);
  const double normal = one.n.dot(u);
  const Vec lifted = u + one.mu * (u - normal * one.n).norm() * one.n;
  const Vec r = impulse_of(contact);
  const Vec off = r - nearest_in_cone<D>(one.mu, one.n, r - rho * lifted);
  return {row_[contact], off.norm() / rho - noise_[contact], normal};
}

template <int D>
void RoundSweeps<D>::measure_group(std::size_t g, Size& size) const {
  for (std::size_t k = groups_[g].begin; k < groups_[g].end; ++k) {
    const Contact& one = contacts_[k];
    const double rho = double(D) / (1.0 / one.inverse_n + (D - 1.0) / one.inverse_t);
    const auto parts = [&](const Vec& u) {  // (N, |T|), lifted by mu |T|
      const double normal = one.n.dot(u);
      const double slip = (u - normal * one.n).norm();
      return std::pair(normal + one.mu * slip, slip);
    };
    const Vec u = velocity(one, speeds_[index(one.a)], speeds_[index(one.b)]);
    const Vec r = impulse_of(k);
    const Vec lifted = u + one.mu * (u - one.n.dot(u) * one.n).norm() * one.n;
    const Vec off = r - nearest_in_cone<D>(one.mu, one.n, r - rho * lifted);
    const double creep = off.norm() / rho - noise_[k];
    const auto [asked_n, asked_t] = parts(one.free);
    const double asked = asked_n * asked_n + asked_t * asked_t;
    size.free += asked;
    size.impulse = std::max({size.impulse, r.norm(), rho * std::sqrt(asked)});
    if (!(creep <= 0.0)) {
      size.creep = std::max(size.creep, creep);
      size.distance = std::max(size.distance, rho * creep);
      size.squares += creep * creep;
    }
  }
}

template <int D>
typename RoundSweeps<D>::Size RoundSweeps<D>::measure() {
  in_phases(row_.size(), [&](std::size_t g) {
    groups_[g].size = {};
    measure_group(g, groups_[g].size);
  });
  Size all;
  for (const Group& group : groups_) {
    const Size& one = group.size;
    all.creep = std::max(all.creep, one.creep);
    all.distance = std::max(all.distance, one.distance);
    all.squares += one.squares;
    all.free += one.free;
    all.impulse = std::max(all.impulse, one.impulse);
  }
  return all;
}

template <int D>
void RoundSweeps<D>::give(const Problem& problem, Eigen::VectorXd& impulses) const {
  constexpr double kNothing = 1e-100;  // [N s]: below, squares underflow and no cone is kept
  in_phases(row_.size(), [&](std::size_t g) {
    for (std::size_t k = groups_[g].begin; k < groups_[g].end; ++k) {
      const Impulse& one = impulses_[k];
      auto r = impulses.template segment<D>(static_cast<Eigen::Index>(D * row_[k]));
      r.setZero();
      if (!(one.normal > kNothing)) continue;
      r = body::in_frame(problem.rows[index(row_[k])], one.tangential);
      r[0] = one.normal;  // as it is: without friction nothing is left along the tangents
    }
  });
}

template class RoundSweeps<2>;
template class RoundSweeps<3>;

}  // namespace ricochet::step
