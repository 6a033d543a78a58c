#pragma once

#include <cstddef>

#include "ricochet/base/executor.h"

/// Sums over rows by body, on threads.
namespace ricochet::body {

/// Bodies whose sums one thread makes.
struct Share {
  std::size_t begin{0};
  std::size_t end{0};
  bool has(int body) const {
    return static_cast<std::size_t>(body) - begin < end - begin;  // unsigned: below begin is large
  }
};

/// work(share) of all bodies in two shares, by threads where there are some and rows enough. Each
/// goes over all rows in their order and adds to its own bodies: so every sum has one order of its
/// terms, and does not depend on threads.
template <class Work>
void in_shares(const base::Executor* executor, std::size_t rows, std::size_t bodies,
               const Work& work) {
  constexpr std::size_t kWorth = 4096;  // rows
  if (executor == nullptr || !*executor || rows < kWorth) {
    work(Share{0, bodies});
    return;
  }
  const std::size_t half = bodies / 2;
  base::each(*executor, 2, [&](std::size_t k) {
    work(k == 0 ? Share{0, half} : Share{half, bodies});
  });
}

}  // namespace ricochet::body
