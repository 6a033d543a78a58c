#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/model/formula_place.h"
#include "ricochet/model/model.h"

namespace ricochet::model {

/// A formula model with its numbers of coordinates and contacts known to the compiler, so that the
/// small vectors of small systems live in registers; or, with both kDynamic, of any size and with
/// all that a model may have. A view of N coordinates has T tangential directions at each contact,
/// and where it takes any number of contacts, joints and a mass that varies. Evaluation allocates
/// nothing.
template <int N, int K, int T = (N == kDynamic && K == kDynamic) ? 2 : 0>
class FormulaView {
 public:
  static constexpr int kSlips = T;
  static constexpr int kPlaces = N;
  static constexpr int kDofs = N;
  static constexpr int kContacts = K;
  static constexpr bool kIsGeneral = N == kDynamic;  // impact laws, functions of a program
  static constexpr bool kPlain = K != kDynamic;
  using Vec = Vector<N>;

  /// Whether a view of known size can show the model.
  static bool suits(const FormulaModel& model) {
    if (kIsGeneral) return true;
    return (!kPlain || is_plain(model)) && model.outside() == nullptr && !model.has_laws() &&
           model.most_slips() == T && !model.has_special_slips() &&
           (T == 0 || model.fewest_slips() == T);
  }
  static bool is_plain(const FormulaModel& model) {
    return model.has_constant_mass() && model.joints() == 0;
  }

  using Place = FormulaPlace<N, K, T>;

  /// The model must outlive the view.
  explicit FormulaView(const FormulaModel& model)
      : model_(model),
        dofs_(model.dofs()),
        contacts_(model.contacts()),
        gap_at_(model.gap_tape().outputs(FormulaModel::kGaps)),
        slope_at_(model.gap_tape().outputs(FormulaModel::kGradients)),
        cone_at_(model.cone_tape().outputs(0)),
        cone_slope_at_(cone_at_.begin() + tests(), cone_at_.end()),
        end_at_(model.end_tape().outputs(0)),
        force_at_(model.force_tape().outputs(0)),
        slack_(Eigen::Map<const Vector<kDynamic>>(model.slack().data(), model.contacts())),
        constant_force_(Vec::Zero(model.dofs())),
        mass_(model.mass().template resized<N>()) {
    if constexpr (N != kDynamic) {
      slope_at_ = model.slope_registers(model.gap_tape(), FormulaModel::kGradients, 0);
      cone_slope_at_ = model.slope_registers(model.cone_tape(), 0, index(tests()));
      if (!is_plain(model)) mass_.solve_by_columns();
    }
    const std::vector<double> fresh = model.force_tape().registers();
    for (int i = 0; i < dofs(); ++i) {
      const std::size_t at = force_at_[index(i)];
      force_varies_ = force_varies_ || !model.force_tape().is_constant(at);
      constant_force_[i] = fresh[at];
    }
  }

  int dofs() const { return N == kDynamic ? dofs_ : N; }
  int contacts() const { return K == kDynamic ? contacts_ : K; }
  int joints() const { return kPlain ? 0 : joints_; }
  int rolls() const { return kPlain ? 0 : rolls_; }
  const FormulaModel& formulas() const { return model_; }
  bool is_reversed() const { return kIsGeneral && model_.is_reversed(); }
  bool has_constant_mass() const { return kPlain || is_constant_; }

  Place make_place() const {
    Place place(dofs(), contacts(), &model_.pattern(), &model_.slip_pattern());
    if (model_.has_friction()) place.friction_registers = model_.friction_tape().registers();
    place.gap_registers = model_.gap_tape().registers();
    place.cone_registers = model_.cone_tape().registers();
    place.end_registers = model_.end_tape().registers();
    place.slack_registers = model_.cone_tape().registers();
    place.force_registers = model_.force_tape().registers();
    if (model_.has_where()) place.exists.assign(index(contacts()), 1);
    if constexpr (!kPlain) {
      if (kIsGeneral && model_.has_laws()) place.law_registers = model_.law_tape().registers();
      if (!model_.has_constant_mass()) {
        place.mass_registers = model_.mass_tape().registers();
        place.momentum_registers = model_.momentum_tape().registers();
        if (model_.system().wants_inertia) {
          place.applied_registers = model_.applied_tape().registers();
        }
        place.mass_matrix.setZero(dofs(), dofs());
        place.mass_q.setZero(dofs());
        if (model_.system().outside_mass) place.outside_mass = OutsideScratch(dofs());
        place.varying_mass.push_back(convex::Metric<N>::full(place.mass_matrix));
        place.varying_mass[0].solve_by_columns();
      }
    }
    return place;
  }

  [[gnu::always_inline]] void gaps(double t, const Vec& q, Place& place) const {
    place.has_gradients = place.expects_contact;
    place.expects_contact = place.is_end = place.has_slack = false;
    if (place.has_gradients) {
      double* const r = load(t, q, place.cone_registers);
      model_.cone_tape().run(0, r);
      read_gaps(r, cone_at_, place);
    } else {
      double* const r = load(t, q, place.gap_registers);
      model_.gap_tape().run(FormulaModel::kGaps, r);
      read_gaps(r, gap_at_, place);
    }
    if (is_outside()) [[unlikely]]
      take_outside_gaps(model_, t, q, place);
  }

  /// g <= 0, to the rounding of the formula itself, where the row exists.
  [[gnu::always_inline]] bool touches(int a, Place& place) const {
    if (!(place.gap[a] <= slack_[a])) return false;
    return (place.gap[a] <= 0.0 || is_rounding(a, place)) && exists(a, place);
  }
  static bool exists(int a, const Place& place) {
    return place.exists.empty() || place.exists[index(a)] != 0;
  }

  [[gnu::always_inline]] void gradients(const IndexList<K>& active, Place& place) const {
    place.expects_contact = true;
    if (place.has_gradients) {
      read_slopes(place.cone_registers.data(), cone_slope_at_.data(), active, place);
    } else {
      double* const r = place.gap_registers.data();
      model_.gap_tape().run(FormulaModel::kGradients, r);
      read_slopes(r, slope_at_.data(), active, place);
    }
    if (is_outside()) [[unlikely]]
      take_outside_slopes(model_, active, place);
  }

  double restitution(int a) const { return model_.restitution(a); }
  /// Laws beyond a constant e: see ImpactModel.
  bool has_laws() const requires(kIsGeneral) { return model_.has_laws(); }
  ImpactKind impact_kind(int a) const requires(kIsGeneral) { return model_.law(a).kind; }
  problem::Restitution impact_ending(int a) const requires(kIsGeneral) {
    return model_.law(a).ending;
  }
  bool restitution_varies(int a) const requires(kIsGeneral) {
    return model_.law(a).restitution >= 0;
  }
  double restitution_at(int a, double t, const Vec& q, const Vec& u, double approach,
                        Place& place) const requires(kIsGeneral) {
    if (model_.law(a).restitution < 0) return model_.restitution(a);
    const double rest = model_.system().rest;
    if (is_reversed() && !(approach > rest * place.normals.norm(a))) return 0.0;
    double* const r = load_law(t, q, u, approach, place);
    model_.law_tape().run(2 * a, r);
    return r[model_.law_tape().outputs(2 * a)[0]];
  }
  void impact(int a, double t, const Vec& q, const Vec& u, double approach, Place& place,
              Vec& out) const requires(kIsGeneral) {
    double* const r = load_law(t, q, u, approach, place);
    model_.law_tape().run(2 * a + 1, r);
    const std::vector<std::size_t>& at = model_.law_tape().outputs(2 * a + 1);
    for (int i = 0; i < dofs(); ++i) out[i] = r[at[index(i)]];
  }
  int slips(int a) const { return kIsGeneral ? model_.slips(a) : T; }
  bool is_loaded(int a) const { return kIsGeneral && model_.slip(a).is_loaded(); }
  const std::vector<int>& holds(int a) const { return model_.slip(a).holds; }
  double slip_restitution(int a) const { return kIsGeneral ? model_.slip(a).restitution : 0.0; }

  /// The tangential side of the active contacts at (t, q), with coefficients at u.
  void friction(double t, const Vec& q, const Vec& u, const IndexList<K>& active,
                Place& place) const {
    if constexpr (T > 0) {
      if (!model_.has_friction()) return;
      double* const r = load(t, q, place.friction_registers);
      for (int i = 0; i < dofs(); ++i) r[1 + dofs() + i] = u[i];
      model_.friction_tape().run(0, r);
      for (const int a : active) read_slips(model_, r, a, slips(a), place);
    }
  }
  bool is_lawful(int a, const Place& place) const {
    const double least = model_.slip(a).friction.kind == FrictionKind::Elliptic
                             ? std::numeric_limits<double>::min()  // an axis of no length is none
                             : 0.0;
    const auto good = [&](double mu) { return mu >= least && mu <= kMostFriction; };
    if (is_loaded(a) && !(place.stretch[a] >= 0.0 && std::isfinite(place.stretch[a]))) return false;
    return good(place.coefficients[2 * a]) && good(place.coefficients[2 * a + 1]);
  }
  convex::Section section(int a, bool sticks, const Place& place) const {
    return section_of(model_.slip(a).friction, slips(a), place.coefficients[2 * a],
                      place.coefficients[2 * a + 1], sticks);
  }

  [[gnu::always_inline]] double gaps_and_potential(double t, const Vec& q, Place& place) const {
    double* const r = load(t, q, place.end_registers);
    model_.end_tape().run(0, r);
    place.is_end = true;
    place.has_slack = false;
    read_gaps(r, end_at_, place);
    if (is_outside()) [[unlikely]]
      take_outside_gaps(model_, t, q, place);
    return r[end_at_.back()];
  }

  [[gnu::always_inline]] void force(double t, const Vec& q, const Vec& u, Place& place,
                                    Vec& out) const {
    if (force_varies_) {
      compute_force(t, q, u, place, out);
    } else {
      out = constant_force_;
    }
    add_outside_force(t, q, u, out);
  }

  /// Q - c; where the mass varies, of systems that want it.
  void applied(double t, const Vec& q, const Vec& u, Place& place, Vec& out) const {
    if (has_constant_mass()) return force(t, q, u, place, out);
    if constexpr (kIsGeneral) {
      if (model_.system().outside_mass) {  // c = (dM/dt) u - dT/dq
        force(t, q, u, place, out);
        Vec slope(dofs());
        Vec turn(dofs());
        differ_mass(*model_.outside(), q, u, place.outside_mass, slope, &turn);
        out += slope - turn;
        return;
      }
    }
    if constexpr (!kPlain) {
      double* const r = load(t, q, u, place.applied_registers);
      model_.applied_tape().run(0, r);
      for (int i = 0; i < dofs(); ++i) out[i] = r[model_.applied_tape().outputs(0)[index(i)]];
      add_outside_force(t, q, u, out);
    }
  }

  const convex::Metric<N>& mass(const Place& place) const {
    if constexpr (kPlain) return mass_;
    return is_constant_ ? mass_ : place.varying_mass[0];
  }

  /// M(q), factored. False when it is not positive definite.
  bool load_mass(const Vec& q, Place& place) const {
    if (has_constant_mass()) return true;
    if constexpr (kIsGeneral) {
      if (model_.system().outside_mass) {
        model_.outside()->mass(view_of(q), place.mass_matrix);
        return place.varying_mass[0].reset(place.mass_matrix);
      }
    }
    if constexpr (!kPlain) return load_formula_mass(model_, q, place);
    return false;
  }

  /// dT/du = M(q) u, and dT/dq.
  void momentum(const Vec& q, const Vec& u, Place& place, Vec& momentum, Vec& slope) const {
    if (has_constant_mass()) {
      mass_.apply(u, momentum);
      slope.setZero();
      return;
    }
    if constexpr (kIsGeneral) {
      if (model_.system().outside_mass) {
        differ_mass(*model_.outside(), q, u, place.outside_mass, slope, nullptr);
        model_.outside()->mass(view_of(q), place.outside_mass.mass);
        momentum.noalias() = place.outside_mass.mass * u;
        return;
      }
    }
    if constexpr (!kPlain) {
      const double* const r = load_momentum(model_, q, u, place);
      const std::size_t* const at = model_.momentum_tape().outputs(0).data();
      for (int i = 0; i < dofs(); ++i) {
        momentum[i] = r[at[index(i)]];
        slope[i] = r[at[index(dofs() + i)]];
      }
    }
  }

  [[gnu::always_inline]] static void advance(const Vec& q, const Vec& u, double h, Vec& out) {
    convex::add_scaled(q, h, u, out);
  }
  static void difference(const Vec& q1, const Vec& q0, Vec& out) {
    convex::add_scaled(q1, -1.0, q0, out);
  }
  bool has_potential() const { return model_.has_potential(); }
  bool is_autonomous() const { return model_.is_autonomous(); }
  bool is_conservative() const { return model_.is_conservative(); }
  bool force_uses_velocity() const { return model_.force_uses_velocity(); }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  /// Whether gap a is rounding: of its formula, and of positions that were added up so far.
  [[gnu::cold, gnu::noinline]] bool is_rounding(int a, Place& place) const {
    if (kIsGeneral && model_.outside_gap(a) >= 0) return true;
    constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();
    std::vector<double>& registers = place.slack_registers;
    if (!place.has_slack) {  // slopes where the gaps were taken, once for all rows
      std::copy_n(place.seen().begin(), dofs() + 1, registers.begin());
      model_.cone_tape().run(0, registers.data());
      place.has_slack = true;
    }
    const std::size_t* const at = cone_at_.data() + tests() + a;
    const Pattern& pattern = model_.pattern();
    double size = std::abs(registers[at[pattern.end(a)]] * registers[0]);
    for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
      const double slope = registers[at[e]];
      size += std::abs(slope * registers[1 + index(pattern.coordinates[e])]);
    }
    return place.gap[a] <= kRounding * size;
  }

  /// Outputs of a tape before its slopes: gaps, and where they exist.
  int tests() const { return contacts() * (model_.has_where() ? 2 : 1); }
  bool is_outside() const { return kIsGeneral && model_.outside() != nullptr; }

  [[gnu::noinline]] void compute_force(double t, const Vec& q, const Vec& u, Place& place,
                                       Vec& out) const {
    double* const r = load(t, q, u, place.force_registers);
    model_.force_tape().run(0, r);
    for (int i = 0; i < dofs(); ++i) out[i] = r[force_at_[index(i)]];
  }

  void add_outside_force(double t, const Vec& q, const Vec& u, Vec& out) const {
    if (!kIsGeneral || !model_.system().outside_force) return;
    model_.outside()->add_force(t, view_of(q), view_of(u), {out.data(), index(dofs())});
  }

  double* load(double t, const Vec& q, std::vector<double>& registers) const {
    double* const r = registers.data();
    r[0] = t;
    for (int i = 0; i < dofs(); ++i) r[1 + i] = q[i];
    return r;
  }

  double* load(double t, const Vec& q, const Vec& u, std::vector<double>& registers) const {
    double* const r = load(t, q, registers);
    for (int i = 0; i < dofs(); ++i) r[1 + dofs() + i] = u[i];
    return r;
  }

  double* load_law(double t, const Vec& q, const Vec& u, double approach, Place& place) const {
    double* const r = load(t, q, u, place.law_registers);
    r[1 + 2 * dofs()] = approach;
    return r;
  }

  [[gnu::always_inline]] void read_gaps(const double* r, const std::vector<std::size_t>& at,
                                        Place& place) const {
    for (int a = 0; a < contacts(); ++a) place.gap[a] = r[at[index(a)]];
    if (!place.exists.empty()) [[unlikely]]
      read_where(r, at.data() + contacts(), place);
  }

  /// `first` lists the registers of dg/dq and dg/dt, row by row: of all coordinates where their
  /// number is known, else of those in the pattern.
  [[gnu::always_inline]] void read_slopes(const double* r, const std::size_t* first,
                                          const IndexList<K>& active, Place& place) const {
    if constexpr (N == kDynamic) return read_sparse_slopes(r, first, active, place);
    for (const int a : active) {
      const std::size_t* const at = first + (N + 1) * a;
      for (int i = 0; i < N; ++i) place.normals.set(a, 0, i, r[at[i]]);
      place.rate[a] = r[at[N]];
    }
  }
  void read_sparse_slopes(const double* r, const std::size_t* first, const IndexList<K>& active,
                          Place& place) const {
    const Pattern& pattern = model_.pattern();
    for (const int a : active) {
      const std::size_t end = pattern.end(a);
      for (std::size_t e = pattern.begin(a); e < end; ++e) {
        place.normals.set(a, e, pattern.coordinates[e], r[first[e + index(a)]]);
      }
      place.rate[a] = r[first[end + index(a)]];
    }
  }

  static constexpr double kMostFriction = 1e6;  // beyond it is a joint

  const FormulaModel& model_;
  int dofs_;
  int contacts_;
  int joints_{model_.joints()}, rolls_{model_.rolls()};
  bool is_constant_{model_.has_constant_mass()};  // the mass
  std::vector<std::size_t> gap_at_;               // registers of the results, by tape and group
  std::vector<std::size_t> slope_at_;
  std::vector<std::size_t> cone_at_;
  std::vector<std::size_t> cone_slope_at_;
  std::vector<std::size_t> end_at_;
  std::vector<std::size_t> force_at_;
  Vector<K> slack_;
  bool force_varies_{false};
  Vec constant_force_;  // when it does not vary
  convex::Metric<N> mass_;
};
static_assert(Model<FormulaView<kDynamic, kDynamic>>);

}  // namespace ricochet::model
