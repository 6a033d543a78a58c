#pragma once

#include "ricochet/shape/core_pair.h"

namespace ricochet::shape {

/// The rows of a core (in space a point or a segment) and a fixed surface: see README. Edges of a
/// surface in the plane are its corners.
template <int D>
class SurfacePair {
 public:
  SurfacePair(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb);

  /// Appends the rows within reach, not sorted.
  void rows(double reach, std::vector<Row<D>>& out) const;

  /// One row; false where it is not valid.
  bool row(Key key, Row<D>& row) const;

 private:
  bool measure(Feature feature, int i, int j, Facing<D>& at) const;
  bool corner_face(int i, int f, Facing<D>& at) const;
  bool corner_joint(int i, int e, Facing<D>& at) const;
  bool corner_corner(int i, int j, Facing<D>& at) const;
  bool face_joint(int f, int e, Facing<D>& at) const;
  bool edge_joint(int i, int e, Facing<D>& at) const;
  bool edge_corner(int i, int j, Facing<D>& at) const;

  template <class Visit>
  bool all_near(const Vec<D>& p, double within, Visit&& visit) const;
  double nearest(const Vec<D>& p) const;
  const Vec<D>& first_corner(int f) const;
  bool owns_edge(int f, int e) const;
  bool owns_corner(int f, int j) const;
  template <class Try>
  void try_borders(int f, const Try& attempt) const;
  bool is_held(Feature feature, int i, int j, const Facing<D>& at, double within) const;
  bool body_is_before(int f, double least) const;
  bool ground_is_before(int f, int e, double least) const;
  bool body_passes(int f, const Vec<D>& p) const;
  bool ground_passes(int f, int e) const;
  double height(int f, const Vec<D>& p) const;
  double outside(int f, int k, const Vec<D>& p) const;
  int neighbour(int f, int k) const;
  bool is_under(int f, const Vec<D>& p) const;
  bool is_over(int f, const Vec<D>& p) const;
  double distance(int f, const Vec<D>& p) const;
  bool is_shallowest(int f, const Vec<D>& p) const;
  bool is_beyond(int e, const Vec<D>& way) const;
  bool is_outside_corner(int j, const Vec<D>& way) const;
  bool is_nearest_of_body(int i, const Vec<D>& way) const;
  Row<D> made(Feature feature, int i, int j, const Facing<D>& at) const;

  bool is_turned_;  // the surface is A
  Side<D> body_;
  Side<D> ground_;
  Vec<D> origin_;
  double slip_{0.0};
  double rounds_{0.0};
  double flush_{0.0};
};

}  // namespace ricochet::shape
