#pragma once

#include <vector>

#include "ricochet/certify/body_trial.h"
#include "ricochet/certify/still_bodies.h"

namespace ricochet::certify {

/// The law of contacts, row by row: impulses in their cones, and how far each is from
/// K* ∋ û = U + (|U_T| mu + way/h) n ⟂ r ∈ K, which the row's measure keeps for its island.
template <int D>
class BodyLaw {
 public:
  BodyLaw(BodyTrial<D>& trial, const StillBodies<D>& still) : trial_(trial), still_(still) {}

  /// Measures all rows; false where an impulse or a moment is in no cone.
  bool check();
  // Of all rows of the step, those of bodies that are still too:
  double deepest() const { return deepest_; }                // overlap [m]
  double fastest() const { return fastest_; }                // of those that close, -U_N [m/s]
  long long pushes() const { return pushes_; }               // rows that do
  bool may_have_ghosts() const { return may_have_ghosts_; }  // see BodyTold
  const SunkPair& sunk() const { return sunk_; }

 private:
  struct Piece {
    BodyFault fault;
    double deepest{0.0};
    double fastest{0.0};
    long long pushes{0};
    bool has_ghosts{false};
    SunkPair sunk;
    void clear() { *this = {}; }
  };
  struct End {
    body::Vec<D> velocity;
    double distance;
    bool rolls;
  };
  void look_at_row(std::size_t row, Piece& piece);
  double returned(const JudgedRow<D>& one) const;
  double met(const JudgedRow<D>& one) const;
  void measure(JudgedRow<D>& one, RowMeasure& found) const;
  End end_of(const JudgedRow<D>& one, double rho, double shifted) const;
  body::Vec<D> bend_of(const body::Row<D>& row) const;
  void measure_turning(const JudgedRow<D>& one, RowMeasure& found) const;
  void measure_works(const JudgedRow<D>& one, RowMeasure& found) const;
  double work_of_turning(const JudgedRow<D>& one) const;
  bool closes(const JudgedRow<D>& one) const;
  void sum_up();

  BodyTrial<D>& trial_;
  const StillBodies<D>& still_;
  BodyPieces<Piece> pieces_;
  double deepest_{0.0};
  double fastest_{0.0};
  long long pushes_{0};
  bool may_have_ghosts_{false};
  SunkPair sunk_;
};

extern template class BodyLaw<2>;
extern template class BodyLaw<3>;

}  // namespace ricochet::certify
