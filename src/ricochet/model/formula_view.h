#pragma once

#include <cstddef>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/model/model.h"

namespace ricochet::model {

/// A formula model with its numbers of coordinates and contacts known to the compiler (or
/// kDynamic), so that the small vectors of small systems live in registers. Evaluation allocates
/// nothing.
template <int N, int K>
class FormulaView {
 public:
  static constexpr int kDofs = N;
  static constexpr int kContacts = K;
  using Vec = Vector<N>;

  struct Place : ContactPlace<N, K> {
    using ContactPlace<N, K>::ContactPlace;
    std::vector<double> gap_registers;
    std::vector<double> cone_registers;
    std::vector<double> end_registers;
    std::vector<double> force_registers;
    bool expects_contact{false};  // gradients were wanted last time, so they are computed at once
    bool has_gradients{false};    // they were, and lie in the cone registers
  };

  /// The model must outlive the view.
  explicit FormulaView(const FormulaModel& model)
      : model_(model),
        dofs_(model.dofs()),
        contacts_(model.contacts()),
        gap_at_(model.gap_tape().outputs(FormulaModel::kGaps)),
        slope_at_(model.gap_tape().outputs(FormulaModel::kGradients)),
        cone_at_(model.cone_tape().outputs(0)),
        end_at_(model.end_tape().outputs(0)),
        force_at_(model.force_tape().outputs(0)),
        constant_force_(Vec::Zero(model.dofs())),
        mass_(model.mass().template resized<N>()) {
    const std::vector<double> fresh = model.force_tape().registers();
    for (int i = 0; i < dofs(); ++i) {
      const std::size_t at = force_at_[index(i)];
      force_varies_ = force_varies_ || !model.force_tape().is_constant(at);
      constant_force_[i] = fresh[at];
    }
  }

  int dofs() const { return N == kDynamic ? dofs_ : N; }
  int contacts() const { return K == kDynamic ? contacts_ : K; }

  Place make_place() const {
    Place place(dofs(), contacts());
    place.gap_registers = model_.gap_tape().registers();
    place.cone_registers = model_.cone_tape().registers();
    place.end_registers = model_.end_tape().registers();
    place.force_registers = model_.force_tape().registers();
    return place;
  }

  void gaps(double t, const Vec& q, Place& place) const {
    place.has_gradients = place.expects_contact;
    place.expects_contact = false;
    if (place.has_gradients) {
      double* const r = load(t, q, place.cone_registers);
      model_.cone_tape().run(0, r);
      read_gaps(r, cone_at_, place);
    } else {
      double* const r = load(t, q, place.gap_registers);
      model_.gap_tape().run(FormulaModel::kGaps, r);
      read_gaps(r, gap_at_, place);
    }
  }

  void gradients(const IndexList<K>& active, Place& place) const {
    place.expects_contact = true;
    if (place.has_gradients) {
      read_slopes(place.cone_registers.data(), cone_at_.data() + contacts(), active, place);
    } else {
      double* const r = place.gap_registers.data();
      model_.gap_tape().run(FormulaModel::kGradients, r);
      read_slopes(r, slope_at_.data(), active, place);
    }
  }

  double gaps_and_potential(double t, const Vec& q, Place& place) const {
    double* const r = load(t, q, place.end_registers);
    model_.end_tape().run(0, r);
    read_gaps(r, end_at_, place);
    return r[end_at_.back()];
  }

  void force(double t, const Vec& q, const Vec& u, Place& place, Vec& out) const {
    if (!force_varies_) {
      out = constant_force_;
      return;
    }
    double* const r = load(t, q, place.force_registers);
    for (int i = 0; i < dofs(); ++i) r[1 + dofs() + i] = u[i];
    model_.force_tape().run(0, r);
    for (int i = 0; i < dofs(); ++i) out[i] = r[force_at_[index(i)]];
  }

  const convex::Metric<N>& mass() const { return mass_; }
  static void advance(const Vec& q, const Vec& u, double h, Vec& out) { out = q + h * u; }
  bool has_potential() const { return model_.has_potential(); }
  bool is_autonomous() const { return model_.is_autonomous(); }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  double* load(double t, const Vec& q, std::vector<double>& registers) const {
    double* const r = registers.data();
    r[0] = t;
    for (int i = 0; i < dofs(); ++i) r[1 + i] = q[i];
    return r;
  }

  void read_gaps(const double* r, const std::vector<std::size_t>& at, Place& place) const {
    for (int a = 0; a < contacts(); ++a) place.gap[a] = r[at[index(a)]];
  }

  /// `first` lists the registers of dg/dq and dg/dt, contact by contact.
  void read_slopes(const double* r, const std::size_t* first, const IndexList<K>& active,
                   Place& place) const {
    for (const int a : active) {
      const std::size_t* at = first + index(a) * (index(dofs()) + 1);
      for (int i = 0; i < dofs(); ++i) place.normals(i, a) = r[at[i]];
      place.rate[a] = r[at[dofs()]];
    }
  }

  const FormulaModel& model_;
  int dofs_;
  int contacts_;
  std::vector<std::size_t> gap_at_;  // registers of the results, by tape and group
  std::vector<std::size_t> slope_at_;
  std::vector<std::size_t> cone_at_;
  std::vector<std::size_t> end_at_;
  std::vector<std::size_t> force_at_;
  bool force_varies_{false};
  Vec constant_force_;  // when it does not vary
  convex::Metric<N> mass_;
};
static_assert(Model<FormulaView<2, 1>>);
static_assert(Model<FormulaView<kDynamic, kDynamic>>);

}  // namespace ricochet::model
