#pragma once

#include <utility>
#include <vector>

#include "ricochet/certify/body_motion.h"
#include "ricochet/certify/body_trial.h"
#include "ricochet/certify/still_bodies.h"

namespace ricochet::certify {

/// The rows of a step, from the judge's own pairs: all that could matter, whoever claims to push.
template <int D>
class BodyPairs {
 public:
  BodyPairs(BodyTrial<D>& trial, BodyMotions<D>& motions, StillBodies<D>& still)
      : trial_(trial), motions_(motions), still_(still) {}

  /// Finds them with what is claimed of each. What nobody claims has no impulse, and its law is
  /// checked all the same. False where shapes overlap, or something is claimed of no row.
  bool find(const BodyClaim<D>& claim);

 private:
  struct Piece {
    BodyFault fault;
    std::vector<shape::Row<D>> rows;  // of its pairs
    std::vector<std::size_t> pairs;   // theirs
    std::size_t first{0};             // number of the first of them among all rows
    std::size_t used{0};              // pushes that belong to them
    void clear() {
      fault = {};
      rows.clear();
      pairs.clear();
      used = 0;
    }
  };
  void look_at_pair(std::size_t pair, Piece& piece);
  double overlap_of(int a, int b) const;
  void make_rows(Piece& piece, const BodyClaim<D>& claim);
  bool is_met(const body::RowKey& key);
  bool add_far_pushes(const BodyClaim<D>& claim);

  BodyTrial<D>& trial_;
  BodyMotions<D>& motions_;
  StillBodies<D>& still_;
  BodyPieces<Piece> pieces_;
  const std::vector<std::pair<int, int>>* looked_{nullptr};  // pairs of this step
  std::vector<shape::Row<D>> found_;                         // of a pair, for a moment
};

extern template class BodyPairs<2>;
extern template class BodyPairs<3>;

}  // namespace ricochet::certify
