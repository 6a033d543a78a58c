#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "ricochet/convex/metric.h"

namespace ricochet::model {

/// A list of at most K contact numbers in storage made once: an array for a K known to the
/// compiler, else a vector.
template <int K>
class IndexList {
 public:
  explicit IndexList(int capacity = 0) {
    if constexpr (K == convex::kDynamic) items_.resize(static_cast<std::size_t>(capacity));
  }
  void clear() { count_ = 0; }
  void push(int index) { items_[static_cast<std::size_t>(count_++)] = index; }
  template <class Unwanted>
  void erase_if(Unwanted&& unwanted) {
    int kept = 0;
    for (int k = 0; k < count_; ++k) {
      const int item = (*this)[k];
      if (!unwanted(item)) items_[static_cast<std::size_t>(kept++)] = item;
    }
    count_ = kept;
  }
  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  int operator[](int k) const {
    if constexpr (K == 1) return 0;  // there is no other
    return items_[static_cast<std::size_t>(k)];
  }
  const int* begin() const { return items_.data(); }
  const int* end() const { return items_.data() + count_; }

 private:
  static constexpr std::size_t kFixed = K > 0 ? static_cast<std::size_t>(K) : 1;
  std::conditional_t<K == convex::kDynamic, std::vector<int>, std::array<int, kFixed>> items_{};
  int count_{0};
};

}  // namespace ricochet::model
