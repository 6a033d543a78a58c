#pragma once

#include <span>
#include <string>

#include "ricochet/model/state.h"

namespace ricochet::model {

/// Parts of a system that are functions of the user's program instead of formulas: gaps of some
/// contacts, a force, a mass matrix. They may throw, and then so does the run. One instant is asked
/// for at a time.
class Outside {
 public:
  virtual ~Outside() = default;
  Outside() = default;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  virtual int find_gap(const std::string& contact) const = 0;  // its number; -1: not one of these
  virtual bool has_force() const = 0;
  virtual bool has_mass() const = 0;
  virtual bool force_uses_velocity() const { return true; }  // or may

  virtual double gap(int number, double t, std::span<const double> q) const = 0;
  /// dg/dq by every coordinate; returns dg/dt.
  virtual double slope(int number, double t, std::span<const double> q,
                       std::span<double> slope) const = 0;
  /// Added to `force`, which holds what formulas give.
  virtual void add_force(double t, std::span<const double> q, std::span<const double> u,
                         std::span<double> force) const = 0;
  /// M(q), symmetric; `mass` has its size.
  virtual void mass(std::span<const double> q, Matrix<kDynamic, kDynamic>& mass) const = 0;
};

/// What a mass matrix from outside needs, in storage made once.
struct OutsideScratch {
  Vector<kDynamic> point;
  Vector<kDynamic> product;
  Matrix<kDynamic, kDynamic> mass;
  Matrix<kDynamic, kDynamic> slope;  // dM/dq_i
  Matrix<kDynamic, kDynamic> coarse;

  OutsideScratch() = default;
  explicit OutsideScratch(int dofs)
      : point(dofs), product(dofs), mass(dofs, dofs), slope(dofs, dofs), coarse(dofs, dofs) {}
};

/// dT/dq, T = u^T M(q) u / 2, and, where `turn` is not null, (dM/dt) u along u: by differences of
/// fourth order, as short as M(q) needs them.
void differ_mass(const Outside& outside, const Vector<kDynamic>& q, const Vector<kDynamic>& u,
                 OutsideScratch& scratch, Vector<kDynamic>& slope, Vector<kDynamic>* turn);

}  // namespace ricochet::model
