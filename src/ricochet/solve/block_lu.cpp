#include "ricochet/solve/block_lu.h"

#include <Eigen/LU>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace ricochet::solve {

template <int D>
void BlockLu<D>::choose_order(int rows, const std::vector<int>& start,
                              const std::vector<int>& column) {
  constexpr int kFew = 64;
  if (start == given_start_ && column == given_column_) return;
  given_start_ = start;
  given_column_ = column;
  mirror_pattern(rows);
  rank_.resize(at(rows));
  std::iota(rank_.begin(), rank_.end(), 0);
  place_.assign(at(rows), -1);
  rows > kFew ? find_order(rows) : make_room(rows);
}

/// The factor of some rows has no block that the factor of all has not: room for that is enough.
template <int D>
void BlockLu<D>::make_room(int rows) {
  members_.resize(at(rows));
  std::iota(members_.begin(), members_.end(), 0);
  std::iota(place_.begin(), place_.end(), 0);
  (void)find_pattern(kMostBlocks);
  values_.reserve(upper_.size());
  factors_.reserve(lower_.size());
  inverse_.reserve(at(rows));
  work_.reserve(at(rows));
  x_.reserve(at(rows));
}

/// W may lack a block whose mirror image it has: the pattern has both. One may come twice.
template <int D>
void BlockLu<D>::mirror_pattern(int rows) {
  start_.assign(at(rows) + 1, 0);
  const auto each = [&](auto&& tell) {
    for (int i = 0; i < rows; ++i) {
      for (int k = given_start_[at(i)]; k < given_start_[at(i) + 1]; ++k) {
        tell(i, given_column_[at(k)]);
        if (given_column_[at(k)] != i) tell(given_column_[at(k)], i);
      }
    }
  };
  each([&](int i, int) { ++start_[at(i) + 1]; });
  for (int i = 0; i < rows; ++i) start_[at(i) + 1] += start_[at(i)];
  column_.resize(at(start_.back()));
  mark_.assign(start_.begin(), start_.end() - 1);
  each([&](int i, int j) { column_[at(mark_[at(i)]++)] = j; });
}

template <int D>
void BlockLu<D>::find_order(int rows) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(column_.size());
  for (int i = 0; i < rows; ++i) {
    for (int k = start_[at(i)]; k < start_[at(i) + 1]; ++k) {
      entries.emplace_back(i, column_[at(k)], 1.0);
    }
  }
  Eigen::SparseMatrix<double> pattern(rows, rows);
  pattern.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern, order);
  for (int k = 0; k < rows; ++k) rank_[at(order.indices()[k])] = k;
}

template <int D>
bool BlockLu<D>::begin(const std::vector<int>& members, std::size_t most) {
  members_ = members;
  std::sort(members_.begin(), members_.end(),
            [&](int a, int b) { return rank_[at(a)] < rank_[at(b)]; });
  std::fill(place_.begin(), place_.end(), -1);
  for (std::size_t k = 0; k < members_.size(); ++k) place_[at(members_[k])] = static_cast<int>(k);
  return find_pattern(most);
}

/// Rows of L by walking up the elimination tree from the entries of A [Davis 2006]; the rows of U
/// are the columns of L.
template <int D>
bool BlockLu<D>::find_pattern(std::size_t most) {
  const int n = static_cast<int>(members_.size());
  parent_.assign(at(n), -1);
  mark_.assign(at(n), -1);
  lower_.clear();
  lower_start_.assign(1, 0);
  for (int i = 0; i < n; ++i) {
    const std::size_t begin = lower_.size();
    mark_[at(i)] = i;
    const int row = members_[at(i)];
    for (int k = start_[at(row)]; k < start_[at(row) + 1]; ++k) {
      int j = place_[at(column_[at(k)])];
      if (j < 0 || j >= i) continue;
      while (mark_[at(j)] != i) {
        mark_[at(j)] = i;
        lower_.push_back(j);
        if (parent_[at(j)] < 0) parent_[at(j)] = i;
        j = parent_[at(j)];
      }
    }
    if (lower_.size() > most) return false;
    std::sort(lower_.begin() + static_cast<std::ptrdiff_t>(begin), lower_.end());
    lower_start_.push_back(static_cast<int>(lower_.size()));
  }
  upper_start_.assign(at(n) + 1, 0);
  for (const int k : lower_) ++upper_start_[at(k) + 1];
  for (int i = 0; i < n; ++i) upper_start_[at(i) + 1] += upper_start_[at(i)];
  upper_.resize(lower_.size());
  next_.assign(upper_start_.begin(), upper_start_.end() - 1);
  for (int i = 0; i < n; ++i) {
    for (int l = lower_start_[at(i)]; l < lower_start_[at(i) + 1]; ++l) {
      upper_[next_[at(lower_[at(l)])]++] = i;
    }
  }
  return true;
}

template <int D>
void BlockLu<D>::substitute_back() {
  for (int i = static_cast<int>(members_.size()) - 1; i >= 0; --i) {
    Vector y = x_[at(i)];
    for (std::size_t k = upper_start_[at(i)]; k < upper_start_[at(i) + 1]; ++k) {
      y.noalias() -= values_[k] * x_[at(upper_[k])];
    }
    x_[at(i)].noalias() = inverse_[at(i)] * y;
  }
}

template <int D>
bool BlockLu<D>::invert(const Block& pivot, Block& inverse) {
  inverse = pivot.partialPivLu().inverse();
  return inverse.allFinite();
}

template class BlockLu<2>;
template class BlockLu<3>;
template class BlockLu<6>;

}  // namespace ricochet::solve
