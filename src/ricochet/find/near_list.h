#pragma once

#include <vector>

#include "ricochet/find/grid.h"

namespace ricochet::find {

/// Pairs of boxes that move, from searches that are made seldom.
///
/// A search takes larger boxes F, skins around those of its time. While every box B has
/// B - d in F, d one displacement for all, boxes that overlap have F that overlap: pairs of F hold.
/// d follows the mean of all boxes, so that what falls or drifts together is not searched anew.
/// Fixed half-spaces are not tried with every box: those whose F, moved by d, stay above one do not
/// meet it.
///
/// Which pairs are listed depends on the way boxes came; those of boxes that overlap are always
/// among them.
template <int D>
class NearList {
 public:
  using Box = shape::Bounds<D>;
  using Pair = typename Grid<D>::Pair;

  /// A half-space { p : normal . p <= level }, in the place of a box.
  struct Plane {
    int box{0};
    shape::Vec<D> normal = shape::Vec<D>::Zero();
    double level{0.0};  // with how far it may reach
    double above{0.0};  // no box that is not listed with it was lower at the search
  };

  explicit NearList(std::vector<Plane> planes = {}) : planes_(std::move(planes)) {}
  /// Levels may be changed before a search, normals together with `forget_planes`.
  std::vector<Plane>& planes() { return planes_; }
  void forget_planes() { knows_planes_ = false; }

  /// Pairs (i < j), sorted: all whose boxes overlap, and others that are near.
  const std::vector<Pair>& search(const std::vector<Box>& boxes);
  /// Whether the last search made another list.
  bool is_new() const { return is_new_; }

 private:
  bool holds(const std::vector<Box>& boxes);
  void renew(const std::vector<Box>& boxes);
  void take_ends(const std::vector<Box>& boxes);
  void choose_skins(const std::vector<Box>& boxes);
  void choose_pace();
  bool planes_hold() const;
  void list_planes();

  std::vector<Plane> planes_;
  Grid<D> grid_;
  std::vector<Box> large_;                        // F, by box
  std::vector<int> ends_;                         // boxes with an end
  std::vector<int> endless_;                      // those without one, planes left out
  std::vector<char> is_plane_;                    // by box
  std::vector<Box> searched_;                     // F of all but planes
  std::vector<int> numbers_;                      // and their boxes
  std::vector<double> skins_;                     // by box
  std::vector<Pair> pairs_;                       // without planes
  std::vector<Pair> beside_;                      // with planes
  std::vector<Pair> near_;                        // both
  shape::Vec<D> drift_ = shape::Vec<D>::Zero();   // d
  shape::Vec<D> mean_ = shape::Vec<D>::Zero();    // displacement of all boxes since the search
  shape::Vec<D> change_ = shape::Vec<D>::Zero();  // of mean_ in the last step
  double typical_{0.0};                           // size of a box
  bool is_new_{false};
  bool knows_planes_{false};
  int held_{0};     // searches since the list was made
  int wanted_{16};  // for how many it should hold
  int hasty_{0};    // lists in a row that held for too few
  int pause_{0};    // searches to go without skins
  int pauses_{8};   // length of the next pause
};

extern template class NearList<2>;
extern template class NearList<3>;

}  // namespace ricochet::find
