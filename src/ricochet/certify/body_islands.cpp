#include "ricochet/certify/body_islands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ricochet::certify {

/// Of all rows, those of bodies that are still too.
template <int D>
struct BodyIslands<D>::Sums {
  double worst{0.0};
  double creep{0.0};
  double squares{0.0};       // of creep
  double free_squares{0.0};  // of free velocities
  double unresolved{0.0};
  double part{0.0};  // of its limit, that a contact creeps at
  double widest{0.0};
  const RowMeasure* where{nullptr};
};

template <int D>
bool BodyIslands<D>::check(const BodyClaim<D>& claim, double fastest) {
  if (trial_.level == Level::Bounded) find_limits(fastest);
  find_scales(claim);
  const Sums sums = sum_up();
  const bool is_tight =
      sums.worst <= kTight && sums.squares <= kTightSpeed * kTightSpeed * sums.free_squares;
  const Level level = sums.worst <= trial_.limits.residual ? Level::Exact
                      : is_tight                           ? Level::Tight
                                                           : Level::Bounded;
  if (level > trial_.level || (level == Level::Bounded && !(sums.part <= 1.0))) return refuse(sums);
  found_ = {level, sums.worst, sums.creep, sums.widest, sums.unresolved};
  return true;
}

template <int D>
typename BodyIslands<D>::Sums BodyIslands<D>::sum_up() {
  const Quiet still = still_.all();
  Sums sums{.worst = still.worst,
            .creep = still.creep,
            .squares = still.squares,
            .free_squares = still.free,
            .unresolved = still.unresolved};
  auto& [worst, creep, squares, free_squares, unresolved, part, widest, where] = sums;
  for (RowMeasure& one : trial_.measures) {
    const double speed = one.creep;
    widest = std::max(widest, one.limit);
    const double residual = one.residual =
        one.off > 0.0 ? one.off / scale_[groups_.at(one.hub())] : 0.0;
    const bool leads = trial_.level == Level::Bounded ? speed > part * one.limit : residual > worst;
    if (leads || !std::isfinite(residual)) where = &one;
    worst = std::isfinite(residual) ? std::max(worst, residual) : residual;
    creep = std::max(creep, speed);
    if (trial_.level == Level::Bounded) part = std::max(part, speed / one.limit);
    squares += speed * speed;
    free_squares += one.free * one.free;
    unresolved += one.unresolved;
  }
  return sums;
}

/// False: says by which row, and by how much where the level has a limit of its own.
template <int D>
bool BodyIslands<D>::refuse(const Sums& sums) {
  const auto at = static_cast<std::size_t>(sums.where - trial_.measures.data());
  trial_.fail_at(Failure::Residual, trial_.t_mid, sums.worst, trial_.rows[at].row);
  std::string& broken = trial_.refusal.broken;
  if (trial_.level == Level::Bounded) {
    broken = fmt::format("a contact creeps at {:.3g}, bounded allows {:.3g}", sums.where->creep,
                         sums.where->limit);
  } else if (trial_.level == Level::Tight && sums.worst > kTight) {
    broken = fmt::format("{:.3g}, tight allows {:.3g}", sums.worst, kTight);
  } else if (trial_.level == Level::Tight) {
    broken =
        fmt::format("contacts creep at {:.3g}, the root of the sum of squares; tight allows {:.3g}",
                    std::sqrt(sums.squares), kTightSpeed * std::sqrt(sums.free_squares));
  }
  return false;
}

/// How fast contacts may creep, by group: free bodies that touch at the middle or at the end of the
/// step, as they move, whatever is claimed to push. A group whose bodies meet, at rows that so
/// touch, may have a part of the largest speed -U_N with which they come; a row that should be shut
/// at the end may be open by what that part of its own speed makes of it.
template <int D>
void BodyIslands<D>::find_limits(double fastest_of_all) {
  if (!(trial_.limits.creep_part() * fastest_of_all > trial_.creep_limit)) {  // nor may a group
    for (RowMeasure& one : trial_.measures) one.limit = trial_.creep_limit;
    return;
  }
  groups_.clear();
  std::fill(scale_.begin(), scale_.end(), 0.0);
  for (const RowMeasure& one : trial_.measures) {
    if (one.closes) groups_.unite(one.a, one.b);
  }
  for (const RowMeasure& one : trial_.measures) {
    if (!one.closes) continue;
    double& fastest = scale_[groups_.at(one.hub())];
    fastest = std::max(fastest, one.comes);
  }
  for (RowMeasure& one : trial_.measures) {
    const double fastest = scale_[groups_.at(one.hub())];
    one.limit = std::max(trial_.creep_limit, trial_.limits.creep_part() * fastest);
  }
}

/// Of each island, bodies that push each other or are joined, its largest impulse.
template <int D>
void BodyIslands<D>::find_scales(const BodyClaim<D>& claim) {
  groups_.clear();
  std::fill(scale_.begin(), scale_.end(), 0.0);
  for (const RowMeasure& one : trial_.measures) {
    if (one.pushes) groups_.unite(one.a, one.b);
  }
  for (const body::Joint<D>& joint : trial_.world.joints) {
    if (trial_.is_free(joint.a) && trial_.is_free(joint.b)) groups_.unite(joint.a, joint.b);
  }
  for (const RowMeasure& one : trial_.measures) {
    const std::size_t at = groups_.at(one.hub());
    scale_[at] = std::max(scale_[at], one.scale);
  }
  for (std::size_t j = 0; j < claim.reactions.size() && j < trial_.world.joints.size(); ++j) {
    const body::Joint<D>& joint = trial_.world.joints[j];
    double& scale = scale_[groups_.at(trial_.is_free(joint.a) ? joint.a : joint.b)];
    scale = std::max(scale, joints_.size_of(claim.reactions[j], j));
  }
}

template class BodyIslands<2>;
template class BodyIslands<3>;

}  // namespace ricochet::certify
