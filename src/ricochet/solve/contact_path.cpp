#include "ricochet/solve/contact_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ricochet::solve {
namespace {

constexpr double kAlpha = 1e-10;  // of the proximal term
constexpr int kMostChanged = 8;   // contacts apart from the factored piece
constexpr int kMostPaths = 6;     // each from the end of the one before
constexpr int kMostTurns = 12;    // of a path: one that turns more often winds about
constexpr double kDone = 1e-15;

std::size_t place(int i) { return static_cast<std::size_t>(i); }

}  // namespace

ContactPath::Mode ContactPath::mode_of(int i) const {
  const double n = z_[2 * i];
  const double t = z_[2 * i + 1];
  if (!(n + tilt(i) * std::abs(t) > 0.0)) return Open;
  const double most = problem_.mu[place(i)] * n;
  if (problem_.mu[place(i)] == 0.0) return SlipUp;  // without friction closed in one way
  return t > most ? SlipUp : t < -most ? SlipDown : Stick;
}

ContactPath::Vector ContactPath::impulse_of(int i) const {
  const Mode mode = mode_of(i);
  if (mode == Open) return Vector::Zero();
  if (mode == Stick) return z_.segment<2>(2 * i);
  return slope(i, mode) * z_.segment<2>(2 * i);
}

/// The derivative of P.
ContactPath::Block ContactPath::slope(int i, Mode mode) const {
  if (mode == Open) return Block::Zero();
  if (mode == Stick) return Block::Identity();
  const double sign = mode == SlipUp ? 1.0 : -1.0;
  const double mu = problem_.mu[place(i)];
  const double c = tilt(i);
  return Vector(1.0, sign * mu) * Vector(1.0, sign * c).transpose() / (1.0 + c * mu);
}

double ContactPath::edge_value(int i, Edge edge, const Eigen::VectorXd& at) const {
  const double n = at[2 * i];
  const double t = at[2 * i + 1];
  switch (edge) {
    case Up: return t - problem_.mu[place(i)] * n;
    case Down: return -t - problem_.mu[place(i)] * n;
    case ShutUp: return n + tilt(i) * t;
    default: return n - tilt(i) * t;
  }
}

/// The sign of an edge's function within a piece; 0: not an edge of it.
double ContactPath::side_inside(int i, Edge edge) const {
  const Mode mode = modes_[place(i)];
  const bool is_shut = edge == ShutUp || edge == ShutDown;
  if (mode == Open) return is_shut ? -1.0 : 0.0;
  if (mode == Stick) return is_shut ? 0.0 : -1.0;
  if (problem_.mu[place(i)] == 0.0) return edge == ShutUp ? 1.0 : 0.0;
  return (mode == SlipUp) == (edge == Up || edge == ShutUp) ? 1.0 : 0.0;
}

/// The piece beyond an edge, which z has come to.
ContactPath::Mode ContactPath::beyond(int i, Edge edge) const {
  const Mode mode = modes_[place(i)];
  if (edge == ShutUp || edge == ShutDown) {
    return mode != Open ? Open : edge == ShutUp ? SlipUp : SlipDown;
  }
  if (mode != Stick) return Stick;
  return edge == Up ? SlipUp : SlipDown;
}

void ContactPath::begin(const Eigen::VectorXd& r, bool is_associated) {
  const problem::BlockRows& W = problem_.W;
  const Eigen::Index size = 2 * Eigen::Index{W.rows};
  if (z_.size() != size) {
    for (auto* v : {&z_, &r_, &centre_, &free_, &f_, &start_, &base_, &way_}) v->resize(size);
    columns_.resize(size, 2 * kMostChanged);
    all_.resize(place(W.rows));
    std::iota(all_.begin(), all_.end(), 0);
  }
  is_associated_ = is_associated;
  slot_.assign(place(W.rows), -1);
  changed_.clear();
  rho_.resize(place(W.rows));
  modes_.resize(place(W.rows));
  column_.assign(place(W.rows), Block::Zero());
  lu_.choose_order(W.rows, W.start, W.column);
  r_ = r.head(size);
  problem::multiply(W, r_, f_);
  free_ = problem_.q.head(size);
  scale_ = 0.0;
  for (int i = 0; i < W.rows; ++i) {
    const double rho = 2.0 / Eigen::Map<const Block>(W.block(W.diagonal(i))).trace();
    rho_[place(i)] = rho;
    free_[2 * i] += tilt(i) * std::abs(f_[2 * i + 1] + free_[2 * i + 1]);
    const Vector free = free_.segment<2>(2 * i);
    z_.segment<2>(2 * i) = r_.segment<2>(2 * i) - rho * (f_.segment<2>(2 * i) + free);
    scale_ = std::max({scale_, r_.segment<2>(2 * i).norm(), rho * free.norm()});
  }
}

/// r = P(z) and F(z).
void ContactPath::measure() {
  const problem::BlockRows& W = problem_.W;
  for (int i = 0; i < W.rows; ++i) r_.segment<2>(2 * i) = impulse_of(i);
  problem::multiply(W, r_, f_);
  for (int i = 0; i < W.rows; ++i) {
    const Vector r = r_.segment<2>(2 * i);
    f_.segment<2>(2 * i) +=
        free_.segment<2>(2 * i) +
        (kAlpha * (r - centre_.segment<2>(2 * i)) - r + z_.segment<2>(2 * i)) / rho_[place(i)];
  }
}

/// F' = (W + alpha/rho) P' + (1 - P') / rho of the present piece.
bool ContactPath::factor() {
  const problem::BlockRows& W = problem_.W;
  for (const int i : changed_) slot_[place(i)] = -1;
  changed_.clear();
  factored_ = modes_;
  if (!lu_.begin(all_)) return false;
  const auto put_row = [&](int i, auto&& put) {
    for (int k = W.start[place(i)]; k < W.start[place(i) + 1]; ++k) {
      const int j = W.column[place(k)];
      if (i != j && factored_[place(j)] == Open) continue;
      const Block E = slope(j, factored_[place(j)]);
      Block block = Eigen::Map<const Block>(W.block(place(k))) * E;
      if (i == j) block += (Block::Identity() - (1.0 - kAlpha) * E) / rho_[place(i)];
      put(j, block);
    }
  };
  return lu_.solve(put_row, [&](int) -> Vector { return Vector::Zero(); });
}

/// What the factor's inverse makes of the two columns of W - 1/rho of a contact.
bool ContactPath::add_column(int i) {
  if (slot_[place(i)] >= 0) return true;
  if (static_cast<int>(changed_.size()) == kMostChanged) return false;
  const problem::BlockRows& W = problem_.W;
  const auto slot = static_cast<Eigen::Index>(changed_.size());
  for (int k = W.start[place(i)]; k < W.start[place(i) + 1]; ++k) {
    Block& block = column_[place(W.column[place(k)])];
    block = Eigen::Map<const Block>(W.block(place(k))).transpose();
    if (W.column[place(k)] == i) {
      block.diagonal().array() -= (1.0 - kAlpha) / rho_[place(i)];
    }
  }
  for (int side = 0; side < 2; ++side) {
    lu_.solve_again([&](int j) -> Vector { return column_[place(j)].col(side); });
    for (const int j : all_) columns_.col(2 * slot + side).segment<2>(2 * j) = lu_.x(j);
  }
  for (int k = W.start[place(i)]; k < W.start[place(i) + 1]; ++k) {
    column_[place(W.column[place(k)])].setZero();
  }
  slot_[place(i)] = static_cast<int>(slot);
  changed_.push_back(i);
  return true;
}

/// Adds to the direction what the inverse of the present piece makes of f_: that of the factored
/// one, and the small system of the contacts that differ.
void ContactPath::add_inverse() {
  const auto size = static_cast<Eigen::Index>(2 * changed_.size());
  lu_.solve_again([&](int i) -> Vector { return f_.segment<2>(2 * i); });
  for (const int i : all_) base_.segment<2>(2 * i) = lu_.x(i);
  way_ += base_;
  if (size == 0) return;
  small_.setIdentity(size, size);
  share_.resize(size);
  for (Eigen::Index a = 0; 2 * a < size; ++a) {
    const int i = changed_[static_cast<std::size_t>(a)];
    const Block change = slope(i, modes_[place(i)]) - slope(i, factored_[place(i)]);
    small_.middleRows<2>(2 * a) += change * columns_.leftCols(size).middleRows<2>(2 * i);
    share_.segment<2>(2 * a) = change * base_.segment<2>(2 * i);
  }
  small_factor_.compute(small_);
  small_factor_.solve(share_, share_);
  way_.noalias() -= columns_.leftCols(size) * share_;
}

/// The direction -F'^-1 F(z_0) of the present piece. Elimination without exchanges loses digits,
/// and where rows depend on each other every one counts: they are won back from what is left.
bool ContactPath::find_direction() {
  constexpr int kMostRepairs = 6;
  constexpr double kExact = 1e-14;
  const problem::BlockRows& W = problem_.W;
  way_.setZero();
  f_ = -start_;
  const double size = f_.norm();
  double left = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kMostRepairs; ++k) {
    add_inverse();
    if (!way_.allFinite()) return false;
    for (const int i : all_) {
      r_.segment<2>(2 * i) = slope(i, modes_[place(i)]) * way_.segment<2>(2 * i);
    }
    problem::multiply(W, r_, f_);
    for (const int i : all_) {
      const Vector rest = way_.segment<2>(2 * i) - (1.0 - kAlpha) * r_.segment<2>(2 * i);
      f_.segment<2>(2 * i) =
          -start_.segment<2>(2 * i) - f_.segment<2>(2 * i) - rest / rho_[place(i)];
    }
    const double now = f_.norm();
    if (now <= kExact * size || !(now < 0.5 * left)) break;
    left = now;
  }
  return true;
}

ContactPath::Crossing ContactPath::next_crossing(double sign, const Crossing& last) const {
  Crossing next;
  next.way = std::numeric_limits<double>::infinity();
  for (const int i : all_) {
    for (const Edge edge : {Up, Down, ShutUp, ShutDown}) {
      const double inside = side_inside(i, edge);
      if (inside == 0.0 || (i == last.contact && edge == last.edge)) continue;
      const double rate = sign * edge_value(i, edge, way_);
      if (!(rate * inside < 0.0)) continue;
      const double way = std::max(0.0, -edge_value(i, edge, z_) / rate);
      if (way < next.way) next = {i, edge, -inside, way};
    }
  }
  // An open contact of Coulomb's law closes through one edge, which is both.
  const bool is_both = next.contact >= 0 && next.edge == ShutUp && tilt(next.contact) == 0.0 &&
                       modes_[place(next.contact)] == Open;
  if (is_both && problem_.mu[place(next.contact)] > 0.0) {
    const Eigen::Index t = 2 * Eigen::Index{next.contact} + 1;
    if (z_[t] + sign * next.way * way_[t] < 0.0) next.edge = ShutDown;
  }
  return next;
}

/// One path, from z to F(z) = 0.
bool ContactPath::trace(int most_pieces) {
  double tau = 1.0;
  double sign = 1.0;  // of -d tau
  int turns = 0;
  Crossing last;
  if (!factor()) return false;
  for (int piece = 0; piece < most_pieces; ++piece) {
    ++pieces_;
    if (last.contact >= 0 && !add_column(last.contact)) {  // too many: from here anew
      measure();
      if (tau > 1e-6) start_ = f_ / tau;
      if (!factor()) return false;
    }
    if (!find_direction()) return false;
    if (last.contact >= 0 && sign * last.side * edge_value(last.contact, last.edge, way_) < 0.0) {
      sign = -sign;
      if (++turns > kMostTurns) return false;
    }
    const Crossing next = next_crossing(sign, last);
    if (sign > 0.0 && next.way >= tau) {
      z_ += tau * way_;
      return true;
    }
    constexpr double kAstray = 1e8;
    if (!(next.way < kAstray)) return false;
    z_ += (sign * next.way) * way_;
    tau -= sign * next.way;
    modes_[place(next.contact)] = beyond(next.contact, next.edge);
    last = next;
  }
  return false;
}

/// A path begins here: its centre, its pieces, F(z). Returns the size of F.
double ContactPath::prepare() {
  for (const int i : all_) {
    modes_[place(i)] = mode_of(i);
    centre_.segment<2>(2 * i) = impulse_of(i);
  }
  measure();
  start_ = f_;
  double size = 0.0;
  for (const int i : all_) size = std::max(size, rho_[place(i)] * f_.segment<2>(2 * i).norm());
  return size;
}

bool ContactPath::follow(Eigen::VectorXd& r, int most_pieces) {
  begin(r, false);
  for (int path = 0; path < kMostPaths; ++path) {
    if (prepare() <= kDone * scale_) break;
    if (!trace(most_pieces)) return false;
  }
  measure();
  if (!r_.allFinite()) return false;
  r.head(r_.size()) = r_;
  return true;
}

bool ContactPath::approach(Eigen::VectorXd& r, int most_pieces) {
  begin(r, true);
  if (prepare() > kDone * scale_ && !trace(most_pieces)) return false;
  measure();
  if (!r_.allFinite()) return false;
  r.head(r_.size()) = r_;
  return true;
}

}  // namespace ricochet::solve
