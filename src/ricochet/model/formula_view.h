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
    std::vector<double> contact_registers;
    std::vector<double> force_registers;
    std::vector<double> potential_registers;
  };

  /// The model must outlive the view.
  explicit FormulaView(const FormulaModel& model)
      : contact_tape_(model.contact_tape()),
        force_tape_(model.force_tape()),
        potential_tape_(model.potential_tape()),
        dofs_(model.dofs()),
        contacts_(model.contacts()),
        has_potential_(model.has_potential()),
        is_autonomous_(model.is_autonomous()),
        mass_(model.mass().template resized<N>()) {
    const std::size_t slopes = index(contacts_) * (index(dofs()) + 1);
    for (std::size_t a = 0; a < index(contacts_); ++a) {
      gap_at_.push_back(contact_tape_.output(FormulaModel::kGaps, a));
    }
    for (std::size_t k = 0; k < slopes; ++k) {
      slope_at_.push_back(contact_tape_.output(FormulaModel::kGradients, k));
    }
    for (std::size_t i = 0; i < index(dofs_); ++i) {
      force_at_.push_back(force_tape_.output(0, i));
      force_varies_ = force_varies_ || !force_tape_.is_constant(force_at_.back());
    }
  }

  int dofs() const { return N == kDynamic ? dofs_ : N; }
  int contacts() const { return K == kDynamic ? contacts_ : K; }

  Place make_place() const {
    Place place(dofs(), contacts());
    place.contact_registers = contact_tape_.registers();
    place.force_registers = force_tape_.registers();
    if (has_potential_) place.potential_registers = potential_tape_.registers();
    return place;
  }

  void gaps(double t, const Vec& q, Place& place) const {
    double* const registers = place.contact_registers.data();
    load_point(t, q, registers);
    contact_tape_.run(FormulaModel::kGaps, registers);
    for (int a = 0; a < contacts(); ++a) place.gap[a] = registers[gap_at_[index(a)]];
  }

  void gradients(const IndexList<K>& active, Place& place) const {
    double* const registers = place.contact_registers.data();
    contact_tape_.run(FormulaModel::kGradients, registers);
    for (const int a : active) {
      const std::size_t* slope = slope_at_.data() + index(a) * (index(dofs()) + 1);
      for (int i = 0; i < dofs(); ++i) place.normals(i, a) = registers[slope[i]];
      place.rate[a] = registers[slope[dofs()]];
    }
  }

  void force(double t, const Vec& q, const Vec& u, Place& place, Vec& out) const {
    double* const registers = place.force_registers.data();
    if (force_varies_) {
      load_point(t, q, registers);
      for (int i = 0; i < dofs(); ++i) registers[1 + dofs() + i] = u[i];
      force_tape_.run(0, registers);
    }
    for (int i = 0; i < dofs(); ++i) out[i] = registers[force_at_[index(i)]];
  }

  const convex::Metric<N>& mass() const { return mass_; }
  static void advance(const Vec& q, const Vec& u, double h, Vec& out) { out = q + h * u; }

  bool has_potential() const { return has_potential_; }
  double potential(double t, const Vec& q, Place& place) const {
    if (!has_potential_) return 0.0;
    double* const registers = place.potential_registers.data();
    load_point(t, q, registers);
    potential_tape_.run(0, registers);
    return registers[potential_tape_.output(0, 0)];
  }
  bool is_autonomous() const { return is_autonomous_; }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void load_point(double t, const Vec& q, double* registers) const {
    registers[0] = t;
    for (int i = 0; i < dofs(); ++i) registers[1 + i] = q[i];
  }

  const formula::Tape& contact_tape_;
  const formula::Tape& force_tape_;
  const formula::Tape& potential_tape_;
  int dofs_;
  int contacts_;
  bool has_potential_;
  bool is_autonomous_;
  bool force_varies_{false};
  std::vector<std::size_t> gap_at_;    // registers of the results
  std::vector<std::size_t> slope_at_;  // by contact: dg/dq, then dg/dt
  std::vector<std::size_t> force_at_;
  convex::Metric<N> mass_;
};
static_assert(Model<FormulaView<2, 1>>);
static_assert(Model<FormulaView<kDynamic, kDynamic>>);

}  // namespace ricochet::model
