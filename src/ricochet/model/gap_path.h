#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ricochet/formula/tape.h"
#include "ricochet/model/arc_path.h"

namespace ricochet::model {

/// A model whose gaps are formulas, so that they can be bounded and differentiated.
template <class M>
concept HasFormulas = requires(const M& m) {
  m.formulas().gap_tape();
};

/// Gaps along a path: whether some wall is crossed, and where first. The path is cut in two until
/// every gap of every piece is known to be positive, by interval arithmetic with its formula and
/// its rate, or to fall through zero.
template <Model M>
class GapSweep {
 public:
  using Vec = Vector<M::kDofs>;
  using Place = Vector<M::kPlaces>;
  using Range = formula::Range;

  struct Crossing {
    int contact{-1};  // none
    double from{0.0};
    double to{1.0};
    bool decided{true};  // no crossing before could have been missed
  };

  GapSweep(const M& model, const Place& q, const Vec& u)
      : model_(model), q_(q), u_(u), place_(model.make_place()), all_(model.contacts()) {
    for (int a = 0; a < model.contacts(); ++a) all_.push(a);
    for (Look& look : looks_) look = {place_.gap, place_.gap, {}};
    for (Look& look : looks_) look.exists.assign(static_cast<std::size_t>(model.contacts()), 1);
    speeds_.resize(static_cast<std::size_t>(u.size()));
    if constexpr (HasFormulas<M>) {
      registers_ = model.formulas().gap_tape().range_registers();
      take_straight_walls();
    }
  }

  /// The first crossing; depth(a) is how far below zero counts as none, and is negative for
  /// contacts that are not looked at.
  template <class Depth>
  Crossing first(ArcPath<M>& path, Depth&& depth) {
    if (path.degree() > 5 && is_straight_) return first_of_straight(path, depth);
    Crossing crossing;
    int left = kMostLooks;
    std::size_t waiting = 1;
    pieces_[0] = {0.0, 1.0};
    while (waiting > 0) {
      const Piece piece = pieces_[--waiting];
      look(path, piece);
      int falls = -1, unsure = -1;
      bool proved = true;
      for (int a = 0; a < model_.contacts(); ++a) {
        const double d = depth(a);
        if (d < 0.0) continue;
        const Verdict verdict = judge(a, piece, d);
        if (verdict == Verdict::Falls) falls = a;
        if (verdict != Verdict::Unsure) continue;
        proved = false;
        if (unsure < 0 || is_below(a, d)) unsure = a;
      }
      const double middle = 0.5 * (piece.from + piece.to);
      if (!proved && --left > 0 && piece.to - piece.from > kShortest) {
        pieces_[waiting++] = {middle, piece.to};
        pieces_[waiting++] = {piece.from, middle};
        continue;
      }
      crossing.decided = crossing.decided && proved;
      if (!proved && falls < 0 && is_below(unsure, depth(unsure))) falls = unsure;
      if (falls >= 0) {
        crossing = {falls, piece.from, piece.to, crossing.decided};
        break;
      }
    }
    if (!proves()) crossing.decided = false;
    return crossing;
  }

 private:
  enum class Verdict { Free, Falls, Unsure };
  struct Piece {
    double from;
    double to;
  };
  struct Look {
    Vector<M::kContacts> gap;
    Vector<M::kContacts> rate;
    std::vector<char> exists;
  };
  static constexpr int kMostLooks = 4000;       // at one path
  static constexpr double kShortest = 0x1p-46;  // piece

  /// Walls whose gradients and rates are numbers.
  void take_straight_walls() {
    const auto& formulas = model_.formulas();
    if (formulas.has_where() || formulas.has_outside_gaps() || formulas.rolls() > 0) return;
    is_straight_ = true;
    for (const formula::NodeId slope : formulas.slopes()) {
      is_straight_ = is_straight_ && formulas.system().graph.is_constant(slope);
      slopes_.push_back(formulas.system().graph[slope].value);
    }
  }

  template <class Powers>
  static double value_of(const Powers& c, int degree, double s) {
    double sum = c[index(degree)];
    for (int k = degree - 1; k >= 0; --k) sum = sum * s + c[index(k)];
    return sum;
  }

  /// The same where every gap along the path is a polynomial, whose zeros are isolated.
  template <class Depth>
  Crossing first_of_straight(const ArcPath<M>& path, Depth&& depth) {
    Crossing crossing;
    if constexpr (HasFormulas<M>) {
      const Pattern& pattern = model_.formulas().pattern();
      model_.gaps(path.time_at(0.0), path.start(), place_);
      std::array<double, ArcPath<M>::kStride> gap;
      for (int a = 0; a < model_.contacts(); ++a) {
        const double d = depth(a);
        if (d < 0.0) continue;
        gap.fill(0.0);
        for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
          const double* const way = path.powers(pattern.coordinates[e]);
          for (std::size_t k = 1; k <= index(path.degree()); ++k) {
            gap[k] += slopes_[e + index(a)] * way[k];
          }
        }
        gap[0] = place_.gap[a] + d;
        gap[1] += path.length() * slopes_[pattern.end(a) + index(a)];
        const auto fall = formula::first_fall(gap.data(), path.degree(), 0, crossing.to);
        if (!fall) continue;
        double from = 0.0;
        for (double w = 1e-6; w < 1.0 && from == 0.0; w *= 8.0) {
          if (value_of(gap, path.degree(), *fall * (1.0 - w)) > d) from = *fall * (1.0 - w);
        }
        crossing = {a, from, *fall};
      }
    }
    return crossing;
  }

  bool proves() const {
    if constexpr (HasFormulas<M>) return !model_.formulas().has_outside_gaps();
    return model_.contacts() == 0;
  }
  bool is_bounded(int a) const {
    if constexpr (HasFormulas<M>) return model_.formulas().outside_gap(a) < 0;
    return false;
  }
  static std::size_t index(int a) { return static_cast<std::size_t>(a); }
  bool is_below(int a, double depth) const {
    return looks_[2].exists[index(a)] != 0 && looks_[2].gap[a] < -depth;
  }

  void look(ArcPath<M>& path, const Piece& piece) {
    const double middle = 0.5 * (piece.from + piece.to);
    const bool wants_rates = !proves();
    const std::array<double, 3> at = {piece.from, middle, piece.to};
    for (std::size_t k = 0; k < 3; ++k) {
      path.at(at[k], q_, u_);
      model_.gaps(path.time_at(at[k]), q_, place_);
      looks_[k].gap = place_.gap;
      for (const int a : all_) looks_[k].exists[index(a)] = model_.exists(a, place_) ? 1 : 0;
      if (!wants_rates) continue;
      model_.gradients(all_, place_);
      for (const int a : all_) looks_[k].rate[a] = place_.normals.dot(a, u_) + place_.rate[a];
    }
    length_ = path.length();
    has_rates_ = false;
    if constexpr (HasFormulas<M>) {
      const double w = 0.5 * (piece.to - piece.from);
      registers_[0] = {path.time_at(piece.from), path.time_at(piece.to)};
      for (int i = 0; i < model_.dofs(); ++i) {
        Range way;
        path.bound(i, middle, w, way, speeds_[index(i)]);
        const double q = path.start()[i];
        registers_[index(1 + i)] = formula::bound(formula::Op::Add, {q, q}, way, way, false);
      }
      model_.formulas().gap_tape().bound(0, registers_.data());
    }
  }

  Range gap_of(int a) const {
    if constexpr (HasFormulas<M>) {
      if (is_bounded(a)) return registers_[model_.formulas().gap_tape().outputs(0)[index(a)]];
    }
    constexpr double kAny = std::numeric_limits<double>::infinity();
    return {-kAny, kAny};
  }

  bool may_exist(int a) const {
    if constexpr (HasFormulas<M>) {
      if (!model_.formulas().has_where()) return true;
      const auto& at = model_.formulas().gap_tape().outputs(0);
      const Range holds = registers_[at[index(model_.contacts() + a)]];
      return holds.low != 0.0 || holds.high != 0.0;
    }
    return true;
  }

  /// dg/ds over the piece; of functions that are not formulas what three looks suggest.
  Range rate_of(int a) {
    if constexpr (HasFormulas<M>) {
      if (is_bounded(a)) {
        const formula::Tape& tape = model_.formulas().gap_tape();
        const Pattern& pattern = model_.formulas().pattern();
        if (!has_rates_) tape.bound(1, registers_.data());
        has_rates_ = true;
        const auto& at = tape.outputs(1);
        Range sum = registers_[at[pattern.end(a) + index(a)]];
        for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
          sum = sum + registers_[at[e + index(a)]] * speeds_[index(pattern.coordinates[e])];
        }
        return {length_ * sum.low, length_ * sum.high};
      }
    }
    Range range{looks_[0].rate[a], looks_[0].rate[a]};
    for (const Look& look : looks_) {
      range = {std::min(range.low, look.rate[a]), std::max(range.high, look.rate[a])};
    }
    const double spread = range.high - range.low;
    return {length_ * (range.low - spread), length_ * (range.high + spread)};
  }

  Verdict judge(int a, const Piece& piece, double depth) {
    if (!may_exist(a) || gap_of(a).low >= -depth) return Verdict::Free;
    const Range rate = rate_of(a);
    const double half = 0.5 * (piece.to - piece.from);
    const double most = std::max(std::abs(rate.low), std::abs(rate.high));
    if (looks_[1].gap[a] - half * most >= -depth) return Verdict::Free;
    if (rate.low >= 0.0 && looks_[0].gap[a] >= -depth) return Verdict::Free;
    if (!(rate.high <= 0.0)) return Verdict::Unsure;
    if (looks_[2].gap[a] >= -depth) return Verdict::Free;
    return looks_[2].exists[index(a)] != 0 ? Verdict::Falls : Verdict::Unsure;
  }

  const M& model_;
  Place q_;
  Vec u_;
  typename M::Place place_;
  IndexList<M::kContacts> all_;
  std::array<Look, 3> looks_;  // at the ends of a piece and between them
  std::array<Piece, 64> pieces_{};
  std::vector<Range> registers_;
  std::vector<Range> speeds_;
  std::vector<double> slopes_;  // of straight walls: dg/dq by the pattern, each row's then dg/dt
  bool is_straight_{false};     // all of them
  double length_{0.0};          // [s]
  bool has_rates_{false};
};

/// What the curves of walls, and their own motion, add to d2g/dt2: its value at du/dt = 0.
template <Model M>
class GapBends {
 public:
  using Vec = Vector<M::kDofs>;
  using Place = Vector<M::kPlaces>;

  GapBends(const M& model, const Place& q) : model_(model), ahead_(q), place_(model.make_place()) {
    if constexpr (HasFormulas<M>) registers_ = model.formulas().bend_tape().registers();
  }

  /// Of the contacts in `rows`; `time` is one in which little changes, for functions that are not
  /// formulas.
  void take(double t, const Place& q, const Vec& u, const IndexList<M::kContacts>& rows,
            double time, Vector<M::kContacts>& bends) {
    if (!has_formulas(rows)) return differ(t, q, u, rows, 1e-2 * time, bends);
    if constexpr (HasFormulas<M>) {
      const formula::Tape& tape = model_.formulas().bend_tape();
      registers_[0] = t;
      const auto n = static_cast<std::size_t>(model_.dofs());
      for (std::size_t i = 0; i < n; ++i) {
        registers_[1 + i] = q[static_cast<Eigen::Index>(i)];
        registers_[1 + n + i] = u[static_cast<Eigen::Index>(i)];
      }
      tape.run(0, registers_.data());
      for (const int a : rows) bends[a] = registers_[tape.outputs(0)[static_cast<std::size_t>(a)]];
    }
  }

 private:
  bool has_formulas(const IndexList<M::kContacts>& rows) const {
    if constexpr (HasFormulas<M>) {
      if (model_.formulas().bend_tape().groups() == 0) return false;
      return std::all_of(rows.begin(), rows.end(),
                         [&](int a) { return model_.formulas().outside_gap(a) < 0; });
    }
    return rows.empty();
  }

  /// Differences of fourth order.
  void differ(double t, const Place& q, const Vec& u, const IndexList<M::kContacts>& rows,
              double step, Vector<M::kContacts>& bends) {
    for (const int a : rows) bends[a] = 0.0;
    for (const auto& [place, weight] :
         {std::pair{1.0, 8.0}, {-1.0, -8.0}, {2.0, -1.0}, {-2.0, 1.0}}) {
      model_.advance(q, u, place * step, ahead_);
      model_.gaps(t + place * step, ahead_, place_);
      model_.gradients(rows, place_);
      for (const int a : rows) {
        bends[a] += weight * (place_.normals.dot(a, u) + place_.rate[a]) / (12.0 * step);
      }
    }
  }

  const M& model_;
  Place ahead_;
  typename M::Place place_;
  std::vector<double> registers_;
};

}  // namespace ricochet::model
