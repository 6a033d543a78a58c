#pragma once

#include <utility>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/body/world.h"
#include "ricochet/find/near_list.h"

namespace ricochet::body {

/// Finds the rows between bodies that are near each other. Storage is kept between calls.
template <int D>
class Finder {
 public:
  explicit Finder(const World<D>& world);

  /// Every row with gap <= reach[a] + reach[b] + slack, bodies being at `at`; sorted by key. Bodies
  /// with `exists` 0 are not there.
  void find(const std::vector<Motion<D>>& at, const std::vector<char>& exists,
            const std::vector<double>& reach, std::vector<Row<D>>& rows);

  /// The same in parts, for steps that do not make motions of bodies which are near nobody:
  /// `place` every body, `look` who is near another, then `rows` with `at` of those who are.
  /// A round body is one ball about its mass centre; how it is turned does not matter.
  bool is_round(std::size_t body) const { return radius_[body] >= 0.0; }
  void place_round(std::size_t body, const Vec<D>& x, double reach) {
    const double room = 1.001 * reach + kSlack * (size_[body] + x.norm());
    poses_[body].x = x;
    shape::Bounds<D>& box = boxes_[first_[body]];
    box.low = (x.array() - radius_[body]) - room;
    box.high = (x.array() + radius_[body]) + room;
  }
  void place(std::size_t body, const Motion<D>& at, double reach);
  /// Threads for rows of many pairs; null: one. Rows do not depend on their number.
  void use(const base::Executor* executor) { executor_ = executor; }
  /// Bodies that may be near others, ascending.
  const std::vector<int>& look(const std::vector<double>& reach);
  /// Pairs of two bodies that are `still` are left out.
  void rows(const std::vector<Motion<D>>& at, const std::vector<char>& exists,
            const std::vector<double>& reach, std::vector<Row<D>>& rows,
            const std::vector<char>* still = nullptr);

 private:
  static constexpr double kSlack = 1e-8;  // of the size: more than any slack
  struct Piece {                          // of all pairs
    std::vector<shape::Row<D>> found;     // of one pair
    std::vector<Row<D>> rows;
    std::size_t first{0};  // number of the first of them among all rows
  };
  struct Asked {
    const std::vector<Motion<D>>& at;
    const std::vector<char>& exists;
    const std::vector<double>& reach;
    const std::vector<char>* still{nullptr};
  };
  void add_rows(int a, int b, const Asked& asked, Piece& piece) const;

  const World<D>& world_;
  std::vector<double> radius_;           // by body: of a round one; else < 0
  std::vector<double> size_;             // by body
  std::vector<int> owner_;               // by solid: its body
  std::vector<std::size_t> first_;       // by body: its first solid; one more than there are
  std::vector<shape::Pose<D>> poses_;    // by body
  std::vector<shape::Bounds<D>> boxes_;  // by solid: larger by what each may come nearer
  find::NearList<D> list_;
  const std::vector<std::pair<int, int>>* near_{nullptr};
  std::vector<char> is_near_;  // by body
  std::vector<int> who_;
  std::vector<Piece> pieces_;
  const base::Executor* executor_{nullptr};
};

extern template class Finder<2>;
extern template class Finder<3>;

/// A row of the world from one of two shapes. Between free bodies the impulse acts at one point of
/// space, in the middle of the gap, so that the pair keeps its moment of momentum; for features
/// that face each other this leaves the rate of the gap as it is. Else at the free body's particle.
template <int D>
Row<D> row_of(const World<D>& world, int a, int b, const shape::Row<D>& found,
              const std::vector<Motion<D>>& at);

/// The gap of a row where bodies are at these places; NaN where it is none there.
template <int D>
double gap_at(const World<D>& world, const RowKey& key, const std::vector<Motion<D>>& at);

/// The rows that bodies may come to within a time, by their speeds, where they are now.
template <int D>
std::vector<Row<D>> rows_within(const World<D>& world, const WorldState<D>& s, double time);

}  // namespace ricochet::body
