#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/body/world.h"

namespace ricochet::certify {

/// Pairs of shapes that may be near each other, by an algorithm of the judge's own. Nothing here
/// knows how the step finds its pairs.
///
/// Shapes are in balls. A search takes larger balls and halves space until few are left together.
/// Until every ball of a later time, moved back by one displacement d for all, is within the larger
/// ball of its shape, pairs that meet are among those of the search:
///
///     |m_i - d - M_i| + r_i <= R_i,  |m_j - d - M_j| + r_j <= R_j,  |m_i - m_j| <= r_i + r_j
///         imply  |M_i - M_j| <= R_i + R_j .
///
/// This is looked at anew, for every ball, each time pairs are asked for: it does not matter how a
/// ball came to where it is. d follows the mean of all. A fixed half-space meets none of the balls
/// that were above it by more than -n . d.
template <int D>
class Coverage {
 public:
  using Vec = body::Vec<D>;
  using Pair = std::pair<int, int>;
  explicit Coverage(const body::World<D>& world);

  /// Pairs (a < b), sorted, whose balls, grown by the reach of their bodies, meet.
  const std::vector<Pair>& pairs(const std::vector<shape::Pose<D>>& poses,
                                 const std::vector<char>& exists, const std::vector<double>& reach);
  /// The same in parts: where the ball of each shape that ends somewhere is, then all pairs; of
  /// `poses` those of fixed half-spaces are looked at.
  void set_ball(std::size_t solid, const Vec& middle, double reach) {
    const double rounding = 1e-9 * std::abs(middle[0]);
    balls_[solid] = {middle, 1.0001 * (extent_[solid] + reach) + rounding};
  }
  const std::vector<Pair>& meet(const std::vector<shape::Pose<D>>& poses,
                                const std::vector<char>& exists, const std::vector<double>& reach);
  /// Threads for many shapes; null: one.
  void use(const base::Executor* executor) { executor_ = executor; }
  /// Those asked for last.
  const std::vector<Pair>& last() const { return pairs_; }

 private:
  struct Ball {
    Vec middle = Vec::Zero();
    double half{0.0};
  };
  struct Ground {  // a fixed half-space
    int solid{0};
    Vec point = Vec::Zero();
    Vec normal = Vec::Zero();
    double near{0.0};   // how far it reaches beyond its boundary
    double above{0.0};  // no ball that is not listed with it was lower, at the search
  };
  struct Piece {  // of all balls, or of all pairs that are near
    Vec sum = Vec::Zero();
    double count{0.0};
    bool within{true};
    std::vector<Pair> pairs;
  };
  struct Cell {
    Vec low;
    Vec high;
  };
  void place_grounds(const std::vector<shape::Pose<D>>& poses, const std::vector<double>& reach);
  bool holds(const std::vector<char>& exists);
  void look_at_ball(int solid, const std::vector<char>& exists, Piece& piece);
  void list_pairs(const std::vector<char>& exists);
  template <class Work>
  std::size_t in_pieces(std::size_t count, const Work& work);
  bool grounds_hold() const;
  void renew();
  void choose_balls();
  void halve(std::size_t begin, std::size_t end, const Cell& cell, int depth);
  int choose_cut(std::size_t begin, std::size_t end, double& at);
  bool cut(std::size_t begin, std::size_t end, int axis, double& at);
  void try_all(std::size_t begin, std::size_t end, const Cell& cell);
  void add(int a, int b, std::vector<Pair>& pairs) const;
  void list_near();
  bool meets(int a, int b) const;
  static double height_of(const Ground& ground, const Ball& ball);

  const body::World<D>& world_;
  std::vector<double> extent_;  // by solid
  std::vector<int> body_;       // by solid
  std::vector<int> ground_of_;  // by solid: its number in grounds_, or -1
  std::vector<int> ends_;       // solids in balls
  std::vector<int> endless_;    // solids without end that are no ground: near everybody
  std::vector<Ground> grounds_;
  std::vector<Ball> balls_;     // by solid
  std::vector<Ball> large_;     // by solid, at the search
  std::vector<int> items_;      // of cells that are halved
  std::vector<double> values_;  // of which the median is taken
  std::vector<Pair> found_;     // pairs of large_ that meet
  std::vector<Pair> near_;      // with those beside endless solids and grounds, sorted
  std::vector<Pair> pairs_;
  std::vector<Piece> pieces_;
  Vec drift_ = Vec::Zero();   // d
  Vec mean_ = Vec::Zero();    // displacement of all balls since the search
  Vec change_ = Vec::Zero();  // of mean_ since it was looked at last
  double typical_{0.0};       // extent
  bool is_searched_{false};
  bool knows_grounds_{false};
  int held_{0};     // how often pairs were asked for since the search
  int wanted_{16};  // how often they should be
  const base::Executor* executor_{nullptr};
};

extern template class Coverage<2>;
extern template class Coverage<3>;

}  // namespace ricochet::certify
