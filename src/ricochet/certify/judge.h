#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/certify/claim.h"
#include "ricochet/certify/friction_books.h"
#include "ricochet/certify/node_rule.h"
#include "ricochet/convex/cone.h"
#include "ricochet/model/model.h"
#include "ricochet/problem/residual.h"

namespace ricochet::certify {

/// Recomputes what a scheme claims, step by step, from the model and the definitions alone, and
/// keeps the books. It never sees the scheme, the solver, or any of their scratch.
template <model::Model M>
class Judge {
 public:
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = Vector<N>;
  using State = model::State<N>;
  using TheClaim = Claim<N, K, M::kSlips>;

  Judge(const M& model, const Limits& limits, const State& start)
      : model_(model),
        limits_(limits),
        place_(model.make_place()),
        end_place_(model.make_place()),
        joint_place_(model.make_place()),
        scratch_{start.q, start.q, start.q, start.q, start.q, start.q, start.q},
        deepest_(start.q),
        joints_(model.contacts()),
        touched_(model.contacts()),
        last_push_(static_cast<std::size_t>(model.contacts()), -kLongAgo) {
    const int contacts = model.contacts() - model.joints();
    certificate_.shock_counts.assign(static_cast<std::size_t>(contacts), 0);
    certificate_.shocks.reserve(Certificate::kMostShocks);
    if constexpr (M::kSlips > 0) {
      friction_.open(model, contacts);
      if (friction_.exists()) certificate_.friction.resize(static_cast<std::size_t>(contacts));
    }
    may_gain_ = law_may_gain();
    bounces_ = law_bounces();
    if constexpr (model::ImpactModel<M>) laws_.setZero(model.contacts());
    open(start);
  }

  /// Checks one step and enters it in the books, if it holds. False at the first failure. The rule
  /// tells how the step is made up: Staggered, or a NodeRule.
  template <class Rule = Staggered>
  bool check(const State& before, const State& after, double h, const TheClaim& claim,
             const Rule& rule = {}) {
    ++certificate_.steps;
    const std::size_t shocks_before = certificate_.shocks.size();
    if (!std::isfinite(after.q.sum() + after.u.sum())) {
      fail(Failure::NotFinite, after.t);
      forget(before, shocks_before);
      return false;
    }
    Step step(before, after, h, claim, scratch_);
    const double end_potential = model_.gaps_and_potential(after.t, after.q, end_place_);
    if constexpr (std::is_same_v<Rule, Staggered>) {
      if (claim.shift != nullptr)
        check_shift(before, h, claim);  // J shift + g = 0 at the unshifted q_M
      model_.gaps(claim.t_mid, *claim.test_point, place_);
      recompute_free_motion(step);        // Q, M^-1 Q, u'
      check_active_set(step);             // a active <=> g_a(test_point) <= 0
      check_contacts(step);               // J, W, U: residual, work, shocks
      check_balance(step);                // M (u+ - u) = h Q + J^T p
      check_positions(step);              // q+ = q + h/2 (u + u+) + shift
      weigh_energy(step, end_potential);  // Delta T = forces + contacts + defect
    } else {
      check_nodes(step, rule, end_potential);
    }
    check_violation(step);  // max(0, -g) at the end of the step
    if (!certificate_.ok()) {
      forget(before, shocks_before);
      return false;
    }
    enter_contacts(step);
    enter_energy(step, end_potential);
    enter_violation(step);
    return true;
  }

  /// The same for something that takes no step of its own: a start value, an impact.
  template <class Rule>
  bool check_start(const State& before, const State& after, double h, const TheClaim& claim,
                   const Rule& rule) {
    is_impact_ = true;
    const bool holds = check(before, after, h, claim, rule);
    is_impact_ = false;
    if (holds) --certificate_.steps;
    return holds;
  }

  /// Impacts accumulate at t.
  void note_accumulation(double t) {
    certificate_.zeno_time = t;
    ++certificate_.zeno_count;
  }

  /// A failure the judge did not find itself, such as a solver that gave up.
  void fail(Failure failure, double t, int contact = -1, double value = 0.0) {
    Certificate& c = certificate_;
    if (!c.ok()) return;  // the first one counts
    c.failure = failure;
    c.failure_time = t;
    c.failure_contact = contact;
    c.failure_value = value;
  }

  /// The certificate so far; shocks that turned out to be slow for this run are dropped.
  const Certificate& finish() {
    Certificate& c = certificate_;
    c.shock_threshold = shock_threshold();
    if (c.violation_contact >= 0) c.violation_depth = measure_depth();
    if (c.shocks_cut) return c;  // the later ones are counted as they came
    const auto slow = [&](const Shock& shock) { return !is_fast(shock.approach, shock.speed); };
    for (const Shock& shock : c.shocks) {
      if (!slow(shock)) continue;
      --c.shock_counts[static_cast<std::size_t>(shock.contact)];
      if (!c.friction.empty()) {
        FrictionRecord& record = c.friction[static_cast<std::size_t>(shock.contact)];
        if (shock.tangential) --record.tangential_shocks;
        enter_sliding(shock, record);
      }
      c.ledger.shocks.add(-shock.work);
    }
    c.shocks.erase(std::remove_if(c.shocks.begin(), c.shocks.end(), slow), c.shocks.end());
    return c;
  }

  const Certificate& certificate() const { return certificate_; }

  /// What the judge of a run that goes on from here has to know of the steps before.
  void remember(model::Memory& memory) const {
    model::JudgeMemory& known = memory.judge;
    known.contacts.clear();
    known.kinetic_max = std::max(known.kinetic_max, certificate_.ledger.kinetic_max);
    known.hardest_push = hardest_push_;
    const int contacts = model_.contacts() - model_.joints();
    for (int a = 0; a < contacts; ++a) {
      model::JudgeMemory::Contact one{.key = static_cast<model::Key>(a)};
      one.quiet = certificate_.steps - last_push_[static_cast<std::size_t>(a)];
      if constexpr (M::kSlips > 0) {
        if (friction_.exists()) {
          one.stuck = friction_.was_stuck(a);
          one.slip_jump = friction_.last_jump(a);
        }
      }
      if (one.quiet <= kQuietSteps || one.stuck || one.slip_jump > 0.0) {
        known.contacts.push_back(one);
      }
    }
  }
  const Vector<K>& gaps() const { return end_place_.gap; }  // at the end of the last step
  double kinetic() const { return kinetic_; }
  double potential() const { return potential_; }
  /// U_T by contact and direction at the end of the last step, and what each contact did since this
  /// was last asked; with friction.
  void tell_friction(const State& now, std::span<double> slips, std::span<double> states) {
    if constexpr (M::kSlips > 0) friction_.tell(model_, now, end_place_, slips, states);
  }

 private:
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  static constexpr long long kLongAgo = 1'000'000'000;
  static constexpr long long kQuietSteps = 3;  // without impulse, before a push can be a shock
  /// Speeds this small beside what impulses do are rounding: what rests is not struck.
  static constexpr double kRest = 1e-9;

  struct Scratch {
    Vec force;
    Vec free;
    Vec momentum;
    Vec start_momentum;
    Vec end_momentum;
    Vec slope;
    Vec work;
  };

  /// One step under judgement. Its vectors are locals where the compiler knows their size, so that
  /// they stay in registers, and the judge's own storage where it does not.
  struct Step {
    using Local = std::conditional_t<N == kDynamic, Vec&, Vec>;
    const State& before;
    const State& after;
    double h;
    const TheClaim& claim;
    Local force;                 // Q
    Local free;                  // u' = u + h M^-1 Q
    Local momentum;              // h Q + J^T p
    Local start_momentum;        // M u
    Local end_momentum;          // M u+
    Local slope;                 // dT/dq
    Local work;                  // scratch
    double largest_speeds{0.0};  // of u and of u+, added
    double speeds{0.0};          // |u| + |u+|, with friction
    double contact_work{0.0};
    double joint_work{0.0};
    double kinetic{0.0};
    double force_work{0.0};
    double depth{0.0};  // the largest violation at the end, and whose it is
    int deepest{-1};
    double joint_error{0.0};
    double residual{0.0};
    double friction_work{0.0};  // the tangential part of contact_work
    double gained{0.0};         // by a law that may
    double gain{0.0};           // energy that the contacts together create
    double gain_allowed{0.0};   // by splitting force and contact: half a step of the force's own

    Step(const State& from, const State& to, double length, const TheClaim& said, Scratch& s)
        : before(from),
          after(to),
          h(length),
          claim(said),
          force(s.force),
          free(s.free),
          momentum(s.momentum),
          start_momentum(s.start_momentum),
          end_momentum(s.end_momentum),
          slope(s.slope),
          work(s.work) {}
  };

  void open(const State& start) {
    Ledger& ledger = certificate_.ledger;
    kinetic_ = kinetic_of(start.q, start.u);
    potential_ = model_.gaps_and_potential(start.t, start.q, end_place_);
    ledger.kinetic_start = ledger.kinetic_end = ledger.kinetic_max = kinetic_;
    ledger.potential_start = ledger.potential_end = potential_;
    ledger.lowest = ledger.highest = kinetic_ + potential_;
    kinetic_before_ = start.memory.judge.kinetic_max;
    hardest_push_ = start.memory.judge.hardest_push;
    for (const model::JudgeMemory::Contact& one : start.memory.judge.contacts) {
      const int a = static_cast<int>(one.key);
      if (a >= model_.contacts() - model_.joints()) continue;  // of another model
      last_push_[static_cast<std::size_t>(a)] = -one.quiet;
      if constexpr (M::kSlips > 0) friction_.recall(a, one.stuck, one.slip_jump);
    }
    is_watched_ = limits_.energy_is_watched && model_.is_autonomous();
    if constexpr (requires { model_.is_conservative(); }) {
      is_driven_ = limits_.energy_is_watched && !is_watched_ && model_.is_conservative();
    }
    if constexpr (!M::kPlain) {
      for (int a = model_.contacts() - model_.joints(); a < model_.contacts(); ++a) {
        joints_.push(a);
        certificate_.joint_max = std::max(certificate_.joint_max, std::abs(end_place_.gap[a]));
      }
    }
  }

  double kinetic_of(const Vec& q, const Vec& u) {
    model_.momentum(q, u, place_, scratch_.start_momentum, scratch_.slope);
    return 0.5 * u.dot(scratch_.start_momentum);
  }

  bool has_constant_mass() const { return M::kPlain || model_.has_constant_mass(); }

  /// After a failed step the books show the last instant that holds.
  [[gnu::cold, gnu::noinline]] void forget(const State& before, std::size_t shocks) {
    Certificate& c = certificate_;
    --c.steps;
    (void)model_.gaps_and_potential(before.t, before.q, end_place_);
    for (; c.shocks.size() > shocks; c.shocks.pop_back()) {
      --c.shock_counts[static_cast<std::size_t>(c.shocks.back().contact)];
      c.ledger.shocks.add(-c.shocks.back().work);
    }
  }

  /// Where the mass varies u' is what u+ would be without the impulses: see check_contacts.
  [[gnu::always_inline]] inline void recompute_free_motion(Step& s) {
    model_.force(s.claim.t_mid, *s.claim.force_point, s.before.u, place_, s.force);
    s.momentum = s.h * s.force;  // completed contact by contact
    if (!has_constant_mass()) {
      if (!model_.load_mass(*s.claim.mass_point, place_)) {
        fail(Failure::SingularMass, s.claim.t_mid);
      }
      return;
    }
    model_.mass(place_).solve(s.force, s.free);
    s.free = s.before.u + s.h * s.free;
  }

  /// The shift is M^-1 J^T weights, J at the unshifted q_M for the surfaces touched there and the
  /// joints, and puts them right in the sense of least squares: J^T (J shift + g) = 0.
  [[gnu::noinline]] void check_shift(const State& before, double h, const TheClaim& claim) {
    const double kLimit = limits_.correction;
    Scratch& s = scratch_;
    model_.advance(before.q, before.u, 0.5 * h, s.work);
    if (!model_.load_mass(s.work, place_)) return fail(Failure::SingularMass, claim.t_mid);
    model_.gaps(claim.t_mid, s.work, place_);
    model::IndexList<K>& touched = touched_;
    touched.clear();
    const int contacts = model_.contacts() - model_.joints();
    for (int a = 0; a < model_.contacts(); ++a) {
      if (a >= contacts || model_.touches(a, place_)) touched.push(a);
    }
    model_.gradients(touched, place_);
    s.momentum.setZero();
    s.free.setZero();
    double allowed = problem::Residual::kSmallest;
    for (int k = 0; k < touched.size(); ++k) {
      const int a = touched[k];
      const double left = place_.normals.dot(a, *claim.shift) + place_.gap[a];
      place_.normals.add_to(a, left, s.free);
      place_.normals.add_to(a, (*claim.shift_weights)[k], s.momentum);
      const double size = place_.normals.abs_dot(a, *claim.shift) + std::abs(place_.gap[a]);
      const double rounding = 32.0 * kEpsilon * place_.normals.abs_dot(a, s.work);
      allowed += place_.normals.norm(a) * (kLimit * size + rounding);
    }
    if (!(s.free.norm() <= allowed)) fail(Failure::Correction, claim.t_mid, -1, s.free.norm());
    model_.mass(place_).apply(*claim.shift, s.work);
    const double off = (s.work - s.momentum).norm();
    if (!(off <= kLimit * (s.work.norm() + s.momentum.norm()) + problem::Residual::kSmallest)) {
      fail(Failure::Correction, claim.t_mid, -1, off);
    }
  }

  [[gnu::always_inline]] inline void check_active_set(const Step& s) {
    const TheClaim& claim = s.claim;
    int next = 0;
    const int contacts = model_.contacts() - model_.joints();
    for (int a = 0; a < model_.contacts(); ++a) {
      const double gap = place_.gap[a];
      const bool listed = next < claim.active.size() && claim.active[next] == a;
      if (listed) ++next;
      if (std::isnan(gap)) return fail(Failure::NotFinite, claim.t_mid, a);
      const bool touches = a >= contacts || model_.touches(a, place_);
      if (listed != touches) fail(Failure::ActiveSet, claim.t_mid, a, gap);
    }
    if (next != claim.active.size()) fail(Failure::ActiveSet, claim.t_mid);
  }

  [[gnu::always_inline]] inline void check_contacts(Step& s) {
    const TheClaim& claim = s.claim;
    if (claim.active.empty()) return;
    s.largest_speeds = largest(s.before.u) + largest(s.after.u);
    if constexpr (M::kSlips > 0) s.speeds = s.before.u.norm() + s.after.u.norm();
    problem::Residual residual;
    if (claim.cone_point != claim.test_point) {
      model_.gaps(claim.t_mid, *claim.cone_point, place_);
    }
    model_.gradients(claim.active, place_);
    if constexpr (M::kSlips > 0) {
      model_.friction(claim.t_mid, *claim.cone_point, s.before.u, claim.active, place_);
    }
    if constexpr (!M::kPlain) take_joints(s);
    if (!has_constant_mass()) {  // u' = u+ - M^-1 J^T p
      s.start_momentum.setZero();
      for (int k = 0; k < claim.active.size(); ++k) {
        place_.normals.add_to(claim.active[k], claim.impulses[k], s.start_momentum);
        add_friction(claim, k, s.start_momentum);
      }
      model_.mass(place_).solve(s.start_momentum, s.free);
      s.free = s.after.u - s.free;
    }
    check_law(claim);
    if constexpr (model::ImpactModel<M>) {
      if (model_.has_laws() && claim.restitution == kOwnRestitution) take_laws(s, residual);
    }
    for (int k = 0; k < claim.active.size(); ++k) check_contact(s, k, residual);
    s.residual = residual.value();
    if (!(s.residual <= limits_.residual)) fail(Failure::Residual, claim.t_mid, -1, s.residual);
    if (s.gain > s.gain_allowed) {
      s.gained = check_gain(claim, s.before.u.norm() + s.after.u.norm(), s.gain, s.gain_allowed);
    }
  }

  /// Into the books, once the whole step holds.
  [[gnu::always_inline]] inline void enter_contacts(const Step& s) {
    if constexpr (M::kSlips > 0) enter_friction(s);
    if (s.claim.active.empty()) return;
    Certificate& c = certificate_;
    c.impulses_unique = c.impulses_unique && s.claim.unique;
    c.residual_sum += s.residual;
    if (bounces_ && s.claim.active.size() > 1) note_coupling(s);
    if (s.gained > 0.0) c.ledger.gain.add(s.gained);
    if (s.residual <= c.residual_max) return;
    c.residual_max = s.residual;
    c.residual_time = s.claim.t_mid;
  }

  /// Gradients of the joints at q_M, and their values at the next middle.
  void take_joints(Step& s) {
    if (model_.joints() == 0) return;
    const TheClaim& claim = s.claim;
    model_.gaps(claim.t_mid, *claim.mass_point, joint_place_);
    model_.gradients(joints_, joint_place_);
    for (const int a : joints_) {
      place_.normals.take(a, joint_place_.normals);
      place_.rate[a] = joint_place_.rate[a];
    }
    model_.advance(*claim.mass_point, s.after.u, s.h, s.work);
    model_.gaps(claim.t_mid + s.h, s.work, joint_place_);
  }

  /// A joint keeps g = 0 at the next middle: v = g / h, and v - U is what the curve of the surface
  /// adds. g itself is known to the rounding of its formula only.
  void check_joint(Step& s, int k, problem::Residual& residual) {
    const TheClaim& claim = s.claim;
    const int a = claim.active[k];
    const double p = claim.impulses[k];
    const double W =
        model::delassus(place_.normals, a, model_.mass(place_), s.start_momentum, s.work);
    const double rate = place_.rate[a];
    const double start = place_.normals.dot(a, s.before.u) + rate;
    const double end = place_.normals.dot(a, s.after.u) + rate;
    const double v = joint_place_.gap[a] / s.h;
    if (!(W > 0.0)) return check_flat_contact(claim.t_mid, a, p, 0.0);
    const double size = place_.normals.abs_dot(a, *claim.mass_point) / s.h +
                        place_.normals.abs_dot(a, s.before.u) +
                        place_.normals.abs_dot(a, s.after.u);
    const double lost = 32.0 * kEpsilon * size;
    const double free = place_.normals.dot(a, s.free) + rate + (v - end);
    residual.add(convex::Line{}, p, 1.0 / W, v, free, lost, [&] { return lost; });
    place_.normals.add_to(a, p, s.momentum);
    s.joint_work += 0.5 * p * (start + end - 2.0 * rate);
  }

  [[gnu::always_inline]] inline void check_contact(Step& s, int k, problem::Residual& residual) {
    const TheClaim& claim = s.claim;
    const int a = claim.active[k];
    if constexpr (!M::kPlain) {
      if (a >= model_.contacts() - model_.joints()) return check_joint(s, k, residual);
    }
    if constexpr (M::kSlips > 0) {
      if (model_.slips(a) > 0) return check_frictional_contact(s, k, residual);
    }
    const auto& normals = place_.normals;
    const double p = claim.impulses[k];
    const double W = model::delassus(normals, a, model_.mass(place_), s.start_momentum, s.work);
    const double rate = place_.rate[a];
    const double start = normals.dot(a, s.before.u) + rate;  // U before
    const double free = normals.dot(a, s.free) + rate;       // U without contacts
    const double end = normals.dot(a, s.after.u) + rate;     // U after
    if (!(W > 0.0)) return check_flat_contact(claim.t_mid, a, p, end);
    const double rho = 1.0 / W;
    const double extra =
        restitution_of(claim, a) * (claim.reference == Reference::Start ? start : free);
    // What the evaluation of J u loses, 32 eps |J| (|u| + |u+|): the norms only where it matters.
    const double lost = 32.0 * kEpsilon * normals.largest(a) * s.largest_speeds;
    const auto lost_exactly = [&] {
      return 32.0 * kEpsilon * normals.norm(a) * (s.before.u.norm() + s.after.u.norm());
    };
    if (claim.branch(k) == Branch::Lawful) {
      check_lawful(s, k, rho, end, free, lost, residual);
    } else if (claim.branch(k) == Branch::Fixed) {  // only where the free motion penetrates
      if (free > 0.0 && has_constant_mass()) fail(Failure::Law, claim.t_mid, a);
      residual.add(convex::Line{}, p, rho, end + extra, free + extra, lost, lost_exactly);
    } else {
      residual.add(convex::HalfLine{}, p, rho, end + extra, free + extra, lost, lost_exactly);
    }
    normals.add_to(a, p, s.momentum);
    const double work = 0.5 * p * (start + end - 2.0 * rate);  // (u + u+)/2 . J^T p
    s.contact_work += work;
    s.gain += 0.5 * p * (start + end);
    s.gain_allowed += 0.5 * std::abs(p * (free - start)) * (1.0 + 1e-12);
    if (p != 0.0) enter_push(claim.t_mid, a, p, -start, W, work);
  }

  using Rows = NodeRule<N, K>;

  /// The same questions of a step that is made up of nodes.
  [[gnu::noinline]] void check_nodes(Step& s, const Rows& rule, double end_potential) {
    if (!gather_forces(s, rule)) return;
    switch (rule.law) {
      case NodeLaw::Velocity:
        model_.gaps(s.claim.t_mid, *s.claim.test_point, place_);
        rule.touching > 0.0 ? check_near(s, rule.touching) : check_active_set(s);
        ends_accumulation_ = rule.ends_accumulation && claims_rest(s.claim);
        check_contacts(s);
        ends_accumulation_ = false;
        break;
      case NodeLaw::MeanPosition: check_mean_position(s, rule); break;
      case NodeLaw::Given: check_given(s, rule); break;
    }
    check_node_balance(s, rule);
    check_node_positions(s, rule);
    weigh_energy<false>(s, end_potential);
  }

  /// h sum_j w_j (Q - c)(node j), with what held contacts push there, and u' without impulses.
  bool gather_forces(Step& s, const Rows& rule) {
    if (!model_.load_mass(*s.claim.mass_point, place_)) {
      fail(Failure::SingularMass, s.claim.t_mid);
      return false;
    }
    s.force.setZero();
    for (int j = 0; j < rule.count; ++j) {
      const auto& node = rule.nodes[static_cast<std::size_t>(j)];
      if (node.force == 0.0) continue;
      model::applied_force(model_, node.t, *node.q, *node.u, place_, s.work);
      s.force += node.force * s.work;
      if (!has_constant_mass()) model_.force(node.t, *node.q, *node.u, place_, s.work);
      s.force_work += 0.5 * s.h * node.force * (s.before.u.dot(s.work) + s.after.u.dot(s.work));
    }
    s.momentum = s.h * s.force;
    model_.mass(place_).solve(s.force, s.free);
    s.free = s.before.u + s.h * s.free;
    for (int j = 0; j < rule.count; ++j) {
      const auto& node = rule.nodes[static_cast<std::size_t>(j)];
      if (node.push != nullptr && node.force != 0.0) add_reactions(s, rule, node);
    }
    return certificate_.ok();
  }

  /// h w J^T r of contacts that last; their work goes to the contacts'.
  void add_reactions(Step& s, const Rows& rule, const Node<N, K>& node) {
    touched_.clear();
    for (int a = 0; a < model_.contacts(); ++a) {
      if ((*node.push)[a] != 0.0) touched_.push(a);
    }
    if (touched_.empty()) return;
    model_.gaps(node.t, *node.q, place_);
    model_.gradients(touched_, place_);
    for (const int a : touched_) {
      const double p = s.h * node.force * (*node.push)[a];
      if (!(p >= 0.0)) fail(Failure::Law, node.t, a, p);
      if (!(std::abs(place_.gap[a]) <= rule.touching)) {
        fail(Failure::ActiveSet, node.t, a, place_.gap[a]);
      }
      place_.normals.add_to(a, p, s.momentum);
      const double start = place_.normals.dot(a, s.before.u);
      const double end = place_.normals.dot(a, s.after.u);
      s.contact_work += 0.5 * p * (start + end);
      last_push_[static_cast<std::size_t>(a)] = certificate_.steps;
    }
  }

  /// At the end of an accumulation, and only after it was noted, contacts come to rest.
  bool claims_rest(const TheClaim& claim) {
    return claim.restitution == 0.0 && certificate_.zeno_time >= claim.t_mid;
  }

  /// The active set of an impact whose time was found: g is 0 to `touching` only.
  void check_near(const Step& s, double touching) {
    const TheClaim& claim = s.claim;
    int next = 0;
    for (int a = 0; a < model_.contacts(); ++a) {
      const bool listed = next < claim.active.size() && claim.active[next] == a;
      if (listed) ++next;
      const double gap = place_.gap[a];
      if (std::isnan(gap)) return fail(Failure::NotFinite, claim.t_mid, a);
      if (!model_.exists(a, place_) ? listed : (listed ? gap > touching : gap < -touching)) {
        fail(Failure::ActiveSet, claim.t_mid, a, gap);
      }
    }
    if (next != claim.active.size()) fail(Failure::ActiveSet, claim.t_mid);
  }

  /// p >= 0, g(q_bar) >= 0, p g(q_bar) = 0 for all contacts at the mean position
  /// q_bar = (q+ + e q-) / (1 + e), J and W there.               [Paoli 2001 (3.2)]
  void check_mean_position(Step& s, const Rows& rule) {
    const TheClaim& claim = s.claim;
    const double e = rule.restitution;
    model_.advance(s.before.q, s.before.u, -s.h, s.work);  // q-
    s.work = (s.after.q + e * s.work) / (1.0 + e);
    const double off = (s.work - *claim.cone_point).cwiseAbs().sum();
    const double size = s.work.cwiseAbs().sum() + s.after.q.cwiseAbs().sum();
    const double moved = s.h * (s.free.cwiseAbs().sum() + s.after.u.cwiseAbs().sum());
    if (!(off <= 16.0 * kEpsilon * (size + moved) + limits_.balance * s.h * largest(s.after.u))) {
      fail(Failure::Kinematics, claim.t_mid, -1, off);
    }
    model_.gaps(claim.t_mid, *claim.cone_point, place_);
    model_.gradients(claim.active, place_);
    check_mean_law(claim, e);
    s.start_momentum.setZero();
    for (int k = 0; k < claim.active.size(); ++k) {
      place_.normals.add_to(claim.active[k], claim.impulses[k], s.start_momentum);
    }
    model_.mass(place_).solve(s.start_momentum, s.end_momentum);  // M^-1 J^T p
    problem::Residual residual;
    int next = 0;
    for (int a = 0; a < model_.contacts(); ++a) {
      const bool listed = next < claim.active.size() && claim.active[next] == a;
      if (std::isnan(place_.gap[a])) return fail(Failure::NotFinite, claim.t_mid, a);
      if (listed) {
        check_mean_contact(s, next++, e, residual);
      } else if (model_.exists(a, place_) && place_.gap[a] < 0.0 &&
                 !(-place_.gap[a] <= 64.0 * kEpsilon * size)) {
        fail(Failure::ActiveSet, claim.t_mid, a, place_.gap[a]);
      }
    }
    s.residual = residual.value();
    if (!(s.residual <= limits_.residual)) fail(Failure::Residual, claim.t_mid, -1, s.residual);
  }

  /// One e, which every contact that pushes states.
  void check_mean_law(const TheClaim& claim, double e) {
    for (int k = 0; k < claim.active.size(); ++k) {
      if (claim.impulses[k] != 0.0 && model_.restitution(claim.active[k]) != e) {
        fail(Failure::Law, claim.t_mid, claim.active[k]);
      }
    }
  }

  void check_mean_contact(Step& s, int k, double e, problem::Residual& residual) {
    const TheClaim& claim = s.claim;
    const int a = claim.active[k];
    const double p = claim.impulses[k];
    const auto& normals = place_.normals;
    s.start_momentum.setZero();
    normals.add_to(a, 1.0, s.start_momentum);
    model_.mass(place_).solve(s.start_momentum, s.work);
    const double W = s.start_momentum.dot(s.work);
    const double v = (1.0 + e) * place_.gap[a] / s.h;
    if (!(W > 0.0)) return check_flat_contact(claim.t_mid, a, p, v);
    const double free = v - normals.dot(a, s.end_momentum);
    const double lost = 64.0 * kEpsilon *
                        (normals.abs_dot(a, *claim.cone_point) / s.h +
                         normals.abs_dot(a, s.before.u) + normals.abs_dot(a, s.after.u));
    residual.add(convex::HalfLine{}, p, 1.0 / W, v, free, lost, [&] { return lost; });
    enter_given(s, k, W);
  }

  /// Impulses that no law at the step ties down: they push, where they touch.
  void check_given(Step& s, const Rows& rule) {
    const TheClaim& claim = s.claim;
    if (claim.active.empty()) return;
    model_.gaps(claim.t_mid, *claim.cone_point, place_);
    model_.gradients(claim.active, place_);
    for (int k = 0; k < claim.active.size(); ++k) {
      const int a = claim.active[k];
      if (!(claim.impulses[k] >= 0.0)) fail(Failure::Law, claim.t_mid, a, claim.impulses[k]);
      if (!model_.touches(a, place_) && !(place_.gap[a] <= rule.touching)) {
        fail(Failure::ActiveSet, claim.t_mid, a, place_.gap[a]);
      }
      s.start_momentum.setZero();
      place_.normals.add_to(a, 1.0, s.start_momentum);
      model_.mass(place_).solve(s.start_momentum, s.work);
      enter_given(s, k, s.start_momentum.dot(s.work));
    }
  }

  /// Momentum, work and shock of contact k, whose W is known.
  void enter_given(Step& s, int k, double W) {
    const TheClaim& claim = s.claim;
    const int a = claim.active[k];
    const double p = claim.impulses[k];
    const double rate = place_.rate[a];
    const double start = place_.normals.dot(a, s.before.u) + rate;
    const double end = place_.normals.dot(a, s.after.u) + rate;
    place_.normals.add_to(a, p, s.momentum);
    const double work = 0.5 * p * (start + end - 2.0 * rate);
    s.contact_work += work;
    if (p != 0.0) enter_push(claim.t_mid, a, p, -start, W, work);
  }

  /// M (u+ - u) = h sum_j w_j (Q - c)_j + J^T p, M at one point.
  void check_node_balance(Step& s, const Rows& rule) {
    model_.mass(place_).apply(s.before.u, s.start_momentum);
    model_.mass(place_).apply(s.after.u, s.end_momentum);
    const double error = (s.end_momentum - s.start_momentum - s.momentum).cwiseAbs().sum();
    const double size = s.start_momentum.cwiseAbs().sum() + s.end_momentum.cwiseAbs().sum();
    const double rounding = 16.0 * kEpsilon * size + problem::Residual::kSmallest;
    const double scale = (s.end_momentum - s.start_momentum).cwiseAbs().sum() +
                         s.h * s.force.cwiseAbs().sum() + s.momentum.cwiseAbs().sum();
    s.work = s.end_momentum - s.start_momentum - s.momentum;
    model_.mass(place_).solve(s.work, s.slope);
    const bool is_noise = s.slope.cwiseAbs().sum() <= rule.velocity_noise;
    s.kinetic = kinetic_of(s.after.q, s.after.u);
    if (error <= rounding || is_noise) return;
    enter_error((error - rounding) / scale, Failure::Balance, s.before.t, rule.tolerance);
  }

  /// q+ = q + h sum_j b_j u_j.
  void check_node_positions(Step& s, const Rows& rule) {
    s.work = s.before.q;
    double speeds = 0.0;
    for (int j = 0; j < rule.count; ++j) {
      const auto& node = rule.nodes[static_cast<std::size_t>(j)];
      if (node.drift == 0.0) continue;
      model_.advance(s.work, *node.u, node.drift * s.h, s.work);
      speeds += node.drift * node.u->cwiseAbs().sum();
    }
    const double error = (s.work - s.after.q).cwiseAbs().sum();
    const double size = s.before.q.cwiseAbs().sum() + s.after.q.cwiseAbs().sum();
    const double rounding = 8.0 * kEpsilon * size + problem::Residual::kSmallest;
    if (error <= rounding + rule.position_noise) return;
    enter_error((error - rounding) / (s.h * speeds), Failure::Kinematics, s.before.t,
                rule.tolerance);
  }

  void add_friction(const TheClaim& claim, int k, Vec& momentum) const {
    if constexpr (M::kSlips > 0) {
      const int a = claim.active[k];
      if (a >= model_.contacts() - model_.joints()) return;
      for (int j = 0; j < model_.slips(a); ++j) {
        place_.tangents.add_to(M::kSlips * a + j, claim.tangential[M::kSlips * k + j], momentum);
      }
    }
  }

  double friction_rounding(const TheClaim& claim, int k, double speeds) const {
    double lost = 0.0;
    const int a = claim.active[k];
    if (a >= model_.contacts() - model_.joints()) return lost;
    for (int j = 0; j < model_.slips(a); ++j) {
      const double length = place_.tangents.norm(M::kSlips * a + j);
      lost += 32.0 * kEpsilon * std::abs(claim.tangential[M::kSlips * k + j]) * length * speeds;
    }
    return lost;
  }

  /// U = G v + rate of a contact, its normal part in units of the normal velocity.
  convex::ContactVector velocity_at(int a, const Vec& v) const {
    convex::ContactVector U = convex::ContactVector::Zero();
    U[0] = place_.stretch[a] * (place_.normals.dot(a, v) + place_.rate[a]);
    for (int j = 0; j < model_.slips(a); ++j) {
      const int row = M::kSlips * a + j;
      U[1 + j] = place_.tangents.dot(row, v) + place_.slip_rate[row];
    }
    return U;
  }

  /// C* ∋ V ⟂ R ∈ C with V = U+ + e U_N n + lift n: the law of friction in one line; then the work,
  /// and what the contact does.                                                  [Saxce 1998]
  void check_frictional_contact(Step& s, int k, problem::Residual& residual) {
    const TheClaim& claim = s.claim;
    const int a = claim.active[k];
    const int slips = model_.slips(a);
    const double stretch = place_.stretch[a];
    if (!model_.is_lawful(a, place_) || !(stretch > 0.0)) {
      return fail(Failure::BadFriction, claim.t_mid, a, place_.coefficients[2 * a]);
    }
    convex::ContactVector R(claim.impulses[k] / stretch, 0.0, 0.0);
    for (int j = 0; j < slips; ++j) R[1 + j] = claim.tangential[M::kSlips * k + j];
    const convex::ContactVector start = velocity_at(a, s.before.u);
    const convex::ContactVector free = velocity_at(a, s.free);
    const convex::ContactVector end = velocity_at(a, s.after.u);
    const double W_n =
        stretch * stretch *
        model::delassus(place_.normals, a, model_.mass(place_), s.start_momentum, s.work);
    if (!(W_n > 0.0)) return check_flat_contact(claim.t_mid, a, R.norm(), end[0]);
    double W_t = 0.0;
    double length = stretch * place_.normals.norm(a);
    for (int j = 0; j < slips; ++j) {
      const int row = M::kSlips * a + j;
      W_t += model::delassus(place_.tangents, row, model_.mass(place_), s.start_momentum, s.work);
      length = std::hypot(length, place_.tangents.norm(row));
    }
    const bool rests = start[1] == 0.0 && start[2] == 0.0;
    const convex::FrictionCone cone{model_.section(a, rests || friction_.was_stuck(a), place_)};
    const double extra = restitution_of(claim, a) * start[0];
    const convex::ContactVector normal = convex::ContactVector::UnitX();
    const convex::ContactVector V = end + (extra + cone.lift(end.tail<2>())) * normal;
    const convex::ContactVector V_free = free + (extra + cone.lift(free.tail<2>())) * normal;
    const double rho = (1 + slips) / (W_n + W_t);
    const double lost = 32.0 * kEpsilon * length * s.speeds;
    residual.add(cone, R, rho, V, V_free, lost);
    if (claim.grip(k) == problem::Grip::Stick) {  // a claim of stick decides the next cone
      const double allowed = lost + limits_.residual * (R.norm() / rho + free.norm());
      if (end.tail<2>().norm() > allowed) fail(Failure::Law, claim.t_mid, a);
    }
    place_.normals.add_to(a, claim.impulses[k], s.momentum);
    add_friction(claim, k, s.momentum);
    s.gain += 0.5 * R.dot(start + end);
    s.gain_allowed += 0.5 * std::abs(R.dot(free - start)) * (1.0 + 1e-12);
    weigh_push(s, k, R, start, free, end, W_n, W_t);
  }

  /// A shock, normal or tangential, or neither: kept for enter_friction, since the step may fail.
  void weigh_push(Step& s, int k, const convex::ContactVector& R,
                  const convex::ContactVector& start, const convex::ContactVector& free,
                  const convex::ContactVector& end, double W_n, double W_t) {
    const int a = s.claim.active[k];
    Shock shock{s.claim.t_mid, a, -start[0], 0.0, s.claim.impulses[k], 0.0};
    shock.slip_before = {start[1], start[2]};
    shock.slip_after = {end[1], end[2]};
    const convex::ContactVector mean = 0.5 * (start + end);
    for (int j = 0; j < model_.slips(a); ++j) {
      shock.friction += R[1 + j] * (mean[1 + j] - place_.slip_rate[M::kSlips * a + j]);
    }
    shock.work = shock.friction + R[0] * (mean[0] - place_.stretch[a] * place_.rate[a]);
    shock.dissipated = -R.tail<2>().dot(mean.tail<2>());
    s.friction_work += shock.friction;
    s.contact_work += shock.work;
    shock.speed = -start[0] / std::sqrt(W_n);
    hardest_push_ = std::max(hardest_push_, R[0] * R[0] * W_n);
    const double jump = (end - start).tail<2>().norm();
    const bool held = certificate_.steps - last_push_[static_cast<std::size_t>(a)] <= kQuietSteps;
    constexpr double kMuch = 4.0;  // times what forces do in a step, or did in those before
    const bool arrives = !held && is_fast(shock.approach, shock.speed);
    // What balances forces and approach: a shock takes much more.
    const double usual = (std::abs(free[0] - start[0]) + std::max(0.0, -start[0])) / W_n;
    constexpr double kRounding = 1e-9;
    if (!arrives && R[0] > kMuch * usual && jump > kRounding * free.norm() &&
        jump > kMuch * (free - start).tail<2>().norm() && jump > kMuch * friction_.last_jump(a) &&
        W_t > 0.0) {
      shock.tangential = true;
      shock.approach = jump;
      shock.speed = jump / std::sqrt(W_t);
    }
    friction_.set_step(k, shock, jump, R[0] > 0.0 && (shock.tangential || !held));
  }

  /// Times in each state, losses, shocks of contacts with friction.
  void enter_friction(const Step& s) {
    if (!friction_.exists()) return;
    friction_.release_all();
    const int contacts = s.claim.active.size() - model_.joints();
    for (int k = 0; k < contacts; ++k) {
      const int a = s.claim.active[k];
      if (model_.slips(a) == 0 || s.claim.impulses[k] == 0.0) continue;
      FrictionRecord& record = certificate_.friction[static_cast<std::size_t>(a)];
      const bool sticks = s.claim.grip(k) == problem::Grip::Stick;
      (sticks ? record.stick_time : record.slip_time) += s.h;
      const Shock& shock = friction_.shock(k);
      const bool is_shock = friction_.may_be_shock(k) && is_fast(shock.approach, shock.speed);
      if (is_shock) {
        enter_shock(shock);
      } else {
        enter_sliding(shock, record);
      }
      if (is_shock && shock.tangential) ++record.tangential_shocks;
      last_push_[static_cast<std::size_t>(a)] = certificate_.steps;
      friction_.hold(a, k, sticks, is_shock);
    }
  }

  void enter_sliding(const Shock& none, FrictionRecord& record) {
    record.dissipated.add(none.dissipated);
    certificate_.ledger.friction.add(none.friction);
  }

  /// Impulses follow the law the scene states.
  [[gnu::always_inline]] inline void check_law(const TheClaim& claim) {
    if (claim.restitution == limits_.restitution || ends_accumulation_) return;
    if (limits_.restitution == Limits::kAnyRestitution) return;
    for (int k = 0; k < claim.active.size(); ++k) {
      if (claim.impulses[k] != 0.0) fail(Failure::Law, claim.t_mid, claim.active[k]);
    }
  }

  double restitution_of(const TheClaim& claim, int a) const {
    if (claim.restitution != kOwnRestitution) return claim.restitution;
    if constexpr (model::ImpactModel<M>) {
      if (model_.has_laws()) return laws_[a];
    }
    return model_.restitution(a);
  }

  /// e of the active contacts, and what the model's law says of this impact, if it is one.
  [[gnu::noinline]] void take_laws(Step& s, problem::Residual& residual) {
    const TheClaim& claim = s.claim;
    bool struck = false;
    bool lawful = false;
    for (int k = 0; k < claim.active.size(); ++k) {
      const int a = claim.active[k];
      const double U = place_.normals.dot(a, s.before.u) + place_.rate[a];
      laws_[a] = model_.restitution_at(a, claim.t_mid, *claim.cone_point, s.before.u,
                                       std::max(0.0, -U), place_);
      if (!(laws_[a] >= 0.0 && laws_[a] <= 1.0)) {
        return fail(Failure::BadRestitution, claim.t_mid, a, laws_[a]);
      }
      struck = struck || U < 0.0;
      lawful = lawful || claim.branch(k) == Branch::Lawful;
    }
    const model::ImpactKind kind = model_.impact_kind(claim.active[0]);
    if (lawful != (struck && kind != model::ImpactKind::Newton)) {
      return fail(Failure::Law, claim.t_mid, claim.active[0]);
    }
    if (lawful && kind == model::ImpactKind::Poisson) check_compression(s, residual);
    if (lawful && kind != model::ImpactKind::Poisson) check_conditions(s, kind);
  }

  /// M^-1 J^T (sum of weight_k l_k) of the active rows, in s.work.
  template <class Weight>
  void respond_to_law(Step& s, Weight&& weight) {
    s.start_momentum.setZero();
    for (int k = 0; k < s.claim.active.size(); ++k) {
      place_.normals.add_to(s.claim.active[k], weight(k) * s.claim.lawful[k], s.start_momentum);
    }
    model_.mass(place_).solve(s.start_momentum, s.work);
  }

  /// Poisson: p_C = l / (1 + e) >= 0, U after compression >= 0, and p_C U = 0.
  void check_compression(Step& s, problem::Residual& residual) {
    const TheClaim& claim = s.claim;
    const auto part = [&](int k) { return 1.0 / (1.0 + laws_[claim.active[k]]); };
    respond_to_law(s, part);
    s.end_momentum = s.before.u + s.work;  // the velocity after compression
    for (int k = 0; k < claim.active.size(); ++k) {
      const int a = claim.active[k];
      const double W =
          model::delassus(place_.normals, a, model_.mass(place_), s.start_momentum, s.work);
      if (!(W > 0.0)) continue;
      const double start = place_.normals.dot(a, s.before.u) + place_.rate[a];
      const double end = place_.normals.dot(a, s.end_momentum) + place_.rate[a];
      const double lost = 32.0 * kEpsilon * place_.normals.norm(a) * s.largest_speeds;
      residual.add(convex::HalfLine{}, part(k) * claim.lawful[k], 1.0 / W, end, start, lost,
                   [&] { return lost; });
    }
  }

  /// F of the first contact that is struck, or of reflections in turn.
  void recompute_law(Step& s, model::ImpactKind kind, Vec& F) {
    const TheClaim& claim = s.claim;
    F = s.before.u;
    if (kind == model::ImpactKind::Own) {
      for (const int a : claim.active) {
        const double U = place_.normals.dot(a, s.before.u) + place_.rate[a];
        if (!(U < 0.0)) continue;
        return model_.impact(a, claim.t_mid, *claim.cone_point, s.before.u, -U, place_, F);
      }
    }
    int left = 1000;
    for (bool approaches = true; approaches && left > 0;) {
      approaches = false;
      for (const int a : claim.active) {
        const double U = place_.normals.dot(a, F) + place_.rate[a];
        if (!(U < 0.0)) continue;
        s.start_momentum.setZero();
        place_.normals.add_to(a, 1.0, s.start_momentum);
        model_.mass(place_).solve(s.start_momentum, s.work);  // M^-1 J^T
        F -= (1.0 + laws_[a]) * U / s.start_momentum.dot(s.work) * s.work;
        approaches = true;
        --left;
      }
    }
  }

  /// The three conditions on an impact law: F in V, F - u = M^-1 J^T l with l >= 0, and no gain of
  /// energy, l . (U + U_F) / 2 <= 0: with walls at rest |F| <= |u|.          [Ballard 2013, par. 3]
  void check_conditions(Step& s, model::ImpactKind kind) {
    constexpr double kTolerance = 1e-9;
    const TheClaim& claim = s.claim;
    Vec& F = s.end_momentum;
    recompute_law(s, kind, F);
    if (!F.allFinite()) return fail(Failure::NotFinite, claim.t_mid, claim.active[0]);
    double gain = 0.0;
    double size = problem::Residual::kSmallest;
    for (int k = 0; k < claim.active.size(); ++k) {
      const int a = claim.active[k];
      const double start = place_.normals.dot(a, s.before.u) + place_.rate[a];
      const double end = place_.normals.dot(a, F) + place_.rate[a];
      const double scale = place_.normals.norm(a) * (s.before.u.norm() + F.norm());
      if (!(end >= -kTolerance * scale)) return fail(Failure::LawEnters, claim.t_mid, a, end);
      gain += 0.5 * claim.lawful[k] * (start + end);
      size += std::abs(claim.lawful[k]) * (std::abs(start) + std::abs(end));
      const double least = -kTolerance * claim.lawful.head(claim.active.size()).cwiseAbs().sum();
      if (!(claim.lawful[k] >= least)) return fail(Failure::LawPulls, claim.t_mid, a);
    }
    respond_to_law(s, [](int) { return 1.0; });
    const double off = (F - s.before.u - s.work).norm();
    if (!(off <= kTolerance * (F.norm() + s.before.u.norm()))) {
      return fail(Failure::LawPulls, claim.t_mid, claim.active[0], off);
    }
    if (!(gain <= kTolerance * size)) fail(Failure::LawGains, claim.t_mid, -1, gain);
  }

  /// What pushes beyond the law's own impulse keeps U+ >= 0.
  void check_lawful(const Step& s, int k, double rho, double end, double free, double lost,
                    problem::Residual& residual) {
    if constexpr (model::ImpactModel<M>) {
      const double more = s.claim.impulses[k] - s.claim.lawful[k];
      const double rounding = lost + 8.0 * kEpsilon * std::abs(s.claim.lawful[k]) / rho;
      const double size = std::max(std::abs(free), std::abs(s.claim.lawful[k]) / rho);
      residual.add(convex::HalfLine{}, more, rho, end, size, rounding, [&] { return rounding; });
    } else {
      fail(Failure::Law, s.claim.t_mid, s.claim.active[k]);
    }
  }

  /// Several contacts struck at once, elastic to some degree, whose gradients are not orthogonal:
  /// energy and non-penetration alone do not fix what follows.           [Paoli 2001, par. 5]
  [[gnu::noinline]] void note_coupling(const Step& s) {
    constexpr int kMost = 32;  // pairs are looked at; more contacts at once are coupled anyhow
    const TheClaim& claim = s.claim;
    model::IndexList<K>& struck = touched_;
    struck.clear();
    for (int k = 0; k < claim.active.size() - model_.joints(); ++k) {
      if (claim.impulses[k] > 0.0 && struck.size() < kMost) struck.push(claim.active[k]);
    }
    bool is_fast_enough = false;  // what rests on several contacts strikes none
    bool is_coupled = false;
    for (int i = 0; i < struck.size(); ++i) {
      const int a = struck[i];
      scratch_.start_momentum.setZero();
      place_.normals.add_to(a, 1.0, scratch_.start_momentum);
      model_.mass(place_).solve(scratch_.start_momentum, scratch_.work);
      const double W = place_.normals.dot(a, scratch_.work);
      const double approach = -(place_.normals.dot(a, s.before.u) + place_.rate[a]);
      is_fast_enough = is_fast_enough || (restitution_of(claim, a) > 0.0 &&
                                          is_fast(approach, approach / std::sqrt(W)));
      for (int j = 0; j < i; ++j) {
        is_coupled =
            is_coupled || std::abs(place_.normals.dot(struck[j], scratch_.work)) > 1e-12 * W;
      }
    }
    if (!is_fast_enough || !is_coupled) return;
    if (certificate_.coupled_impacts++ == 0) certificate_.coupled_time = claim.t_mid;
  }

  /// Newton's law contact by contact can create energy: with friction and e > 0 [Kane 1985], or
  /// where contacts differ in e. Then it is booked; else it is a failure.
  bool law_may_gain() const {
    const int contacts = model_.contacts() - model_.joints();
    for (int a = 0; a < contacts; ++a) {
      if constexpr (model::ImpactModel<M>) {
        if (contacts > 1 && model_.has_laws()) return true;
      }
      const double e = model_.restitution(a);
      if (e != model_.restitution(0)) return true;
      if constexpr (M::kSlips > 0) {
        if (e > 0.0 && model_.slips(a) > 0) return true;
      }
    }
    return false;
  }

  bool law_bounces() const {
    if (limits_.restitution >= 0.0) return limits_.restitution > 0.0;
    if constexpr (model::ImpactModel<M>) {
      if (model_.has_laws()) return true;
    }
    for (int a = 0; a < model_.contacts() - model_.joints(); ++a) {
      if (model_.restitution(a) > 0.0) return true;
    }
    return false;
  }

  /// More than splitting explains: a failure, unless it is rounding or the law allows it. Returns
  /// what the law created.
  [[gnu::noinline]] double check_gain(const TheClaim& claim, double speeds, double gain,
                                      double allowed) {
    double lost = problem::Residual::kSmallest;
    for (int k = 0; k < claim.active.size(); ++k) {
      const double length = place_.normals.norm(claim.active[k]);
      lost += 32.0 * kEpsilon * std::abs(claim.impulses[k]) * length * speeds;
      if constexpr (M::kSlips > 0) lost += friction_rounding(claim, k, speeds);
    }
    if (gain <= allowed + lost) return 0.0;
    if (may_gain_ && claim.restitution == kOwnRestitution) return gain - allowed;
    fail(Failure::EnergyGain, claim.t_mid, -1, gain);
    return 0.0;
  }

  template <class Expression>
  static double largest(const Expression& v) {
    return v.cwiseAbs().maxCoeff();
  }

  /// A gap whose gradient vanishes cannot push; that is no harm while it need not.
  void check_flat_contact(double t, int a, double p, double velocity) {
    if (p != 0.0 || !(velocity >= 0.0)) fail(Failure::Degenerate, t, a);
  }

  void enter_push(double t, int a, double p, double approach, double W, double work) {
    Certificate& c = certificate_;
    if (p < 0.0) {
      ++c.adhesive_count;
      c.adhesive_max = std::max(c.adhesive_max, -p);
      return;
    }
    hardest_push_ = std::max(hardest_push_, p * p * W);
    long long& last = last_push_[static_cast<std::size_t>(a)];
    const bool after_quiet = is_impact_ || c.steps - last > kQuietSteps;
    last = c.steps;
    if (!after_quiet) return;
    const double speed = approach / std::sqrt(W);  // in the kinetic norm
    if (is_fast(approach, speed)) enter_shock({t, a, approach, speed, p, work});
  }

  void enter_shock(const Shock& shock) {
    Certificate& c = certificate_;
    ++c.shock_counts[static_cast<std::size_t>(shock.contact)];
    c.ledger.shocks.add(shock.work);
    if (c.shocks.size() < Certificate::kMostShocks) {
      c.shocks.push_back(shock);
    } else {
      c.shocks_cut = true;
    }
  }

  double shock_threshold() const {
    if (limits_.shock_speed >= 0.0) return limits_.shock_speed;
    const double kinetic_max = std::max(kinetic_before_, certificate_.ledger.kinetic_max);
    return std::max(limits_.shock_fraction * std::sqrt(2.0 * kinetic_max),
                    kRest * std::sqrt(hardest_push_));
  }
  bool is_fast(double approach, double speed) const {
    if (approach <= 0.0) return false;
    return (limits_.shock_speed >= 0.0 ? approach : speed) >= shock_threshold();
  }

  [[gnu::always_inline]] inline void check_balance(Step& s) {
    if (has_constant_mass()) {
      model_.mass(place_).apply(s.before.u, s.start_momentum);
      model_.mass(place_).apply(s.after.u, s.end_momentum);
      s.kinetic = 0.5 * s.after.u.dot(s.end_momentum);
    } else {  // dT/du +- h/2 dT/dq
      model_.momentum(s.before.q, s.before.u, place_, s.start_momentum, s.slope);
      s.start_momentum += 0.5 * s.h * s.slope;
      model_.momentum(s.after.q, s.after.u, place_, s.end_momentum, s.slope);
      s.kinetic = 0.5 * s.after.u.dot(s.end_momentum);
      s.end_momentum -= 0.5 * s.h * s.slope;
    }
    const double error = (s.end_momentum - s.start_momentum - s.momentum).cwiseAbs().sum();
    const double rounding =
        8.0 * kEpsilon * s.start_momentum.cwiseAbs().sum() + problem::Residual::kSmallest;
    if (error <= rounding) return;
    const double scale = (s.end_momentum - s.start_momentum).cwiseAbs().sum() +
                         s.h * s.force.cwiseAbs().sum() + s.momentum.cwiseAbs().sum();
    enter_error((error - rounding) / scale, Failure::Balance, s.before.t);
  }

  [[gnu::always_inline]] inline void check_positions(Step& s) {
    model_.advance(s.before.q, s.before.u, 0.5 * s.h, s.work);
    if (s.claim.shift != nullptr) s.work += *s.claim.shift;
    model_.advance(s.work, s.after.u, 0.5 * s.h, s.work);
    const double error = (s.work - s.after.q).cwiseAbs().sum();
    if (error <= 0.0) return;
    const double rounding =
        8.0 * kEpsilon * (s.before.q.cwiseAbs().sum() + s.after.q.cwiseAbs().sum());
    if (error <= rounding) return;
    double scale = s.h * (s.before.u.cwiseAbs().sum() + s.after.u.cwiseAbs().sum());
    if (s.claim.shift != nullptr) scale += s.claim.shift->cwiseAbs().sum();
    enter_error((error - rounding) / scale, Failure::Kinematics, s.before.t);
  }

  void enter_error(double relative, Failure kind, double t) {
    enter_error(relative, kind, t, limits_.balance);
  }
  void enter_error(double relative, Failure kind, double t, double limit) {
    if (!(relative <= limit)) fail(kind, t, -1, relative);
    certificate_.balance_max = std::max(certificate_.balance_max, relative);
  }

  template <bool kExplicit = true>
  [[gnu::always_inline]] inline void weigh_energy(Step& s, double end_potential) {
    if (kExplicit) s.force_work = 0.5 * s.h * (s.before.u.dot(s.force) + s.after.u.dot(s.force));
    if (!std::isfinite(s.kinetic + end_potential)) return fail(Failure::NotFinite, s.after.t);
    if (s.claim.shift != nullptr) enter_correction(s.claim);
    if (certificate_.steps == 1) {
      set_energy_scale(0.5 * s.h * std::abs(s.force.dot(s.after.u - s.before.u)));
    }
    if (is_watched_) {
      watch_growth(s, end_potential);
    } else if (is_driven_) {
      watch_driven_growth(s, end_potential);
    }
    if (kExplicit && model_.force_uses_velocity()) {
      watch_explicit_force(s.before, s.after, s.h, s.claim, s.kinetic);
    }
  }

  [[gnu::always_inline]] inline void enter_energy(const Step& s, double end_potential) {
    Ledger& ledger = certificate_.ledger;
    const double defect = (s.kinetic - kinetic_) - s.force_work - s.contact_work - s.joint_work;
    ledger.forces.add(s.force_work);
    ledger.contacts.add(s.contact_work);
    if constexpr (M::kSlips > 0) ledger.tangential.add(s.friction_work);
    if constexpr (!M::kPlain) ledger.joints.add(s.joint_work);
    ledger.defect.add(defect);
    ledger.defect_max = std::max(ledger.defect_max, std::abs(defect));
    ledger.kinetic_max = std::max(ledger.kinetic_max, s.kinetic);
    ledger.kinetic_end = kinetic_ = s.kinetic;
    potential_ = end_potential;
    ledger.potential_end = potential_;
    const double total = s.kinetic + potential_;
    ledger.lowest = std::min(ledger.lowest, total);
    ledger.highest = std::max(ledger.highest, total);
  }

  /// V changes when a violated position is put back on its wall; that is not the motion's doing.
  [[gnu::noinline]] void enter_correction(const TheClaim& claim) {
    const double moved = model_.gaps_and_potential(claim.t_mid, *claim.mass_point, place_);
    scratch_.work = *claim.mass_point - *claim.shift;
    const double unmoved = model_.gaps_and_potential(claim.t_mid, scratch_.work, place_);
    certificate_.ledger.correction.add(moved - unmoved);
  }

  /// Nothing drives the motion, yet T + V is above `growth` times its start. The start is measured
  /// by its largest part, and by the energy one step of force gives, since V has an arbitrary zero;
  /// and the gain must be most of what moved, since V may have been zero at the start by chance.
  [[gnu::always_inline]] inline void watch_growth(const Step& s, double end_potential) {
    const Ledger& ledger = certificate_.ledger;
    const double change = end_potential - ledger.potential_start;
    const double gain = s.kinetic - ledger.kinetic_start + change - ledger.correction.value();
    if (gain > (limits_.growth - 1.0) * energy_scale_ &&
        gain >= 0.5 * (s.kinetic + std::abs(change))) {
      fail(Failure::Diverged, s.after.t, -1, gain);
    }
  }

  /// The same where V depends on t, or walls and belts move: what these feed is known, and taken
  /// off. Forces that a scene states one by one may feed anything.
  [[gnu::noinline]] void watch_driven_growth(const Step& s, double end_potential) {
    const Ledger& ledger = certificate_.ledger;
    const double at_start = model_.gaps_and_potential(s.before.t, s.after.q, joint_place_);
    const double change = end_potential - ledger.potential_start;
    const double fed = fed_.value() + (end_potential - at_start) + ledger.contacts.value() +
                       s.contact_work + ledger.joints.value() + s.joint_work +
                       ledger.correction.value();
    const double gain = s.kinetic - ledger.kinetic_start + change - fed;
    const double level = s.kinetic + std::abs(change);
    const bool is_highest = level > highest_;  // else most of it may be elsewhere by now
    highest_ = std::max(highest_, level);
    if (is_highest && gain > (limits_.growth - 1.0) * energy_scale_ && gain >= 0.5 * level) {
      return fail(Failure::Diverged, s.after.t, -1, gain);
    }
    fed_.add(end_potential - at_start);
  }

  [[gnu::noinline]] void set_energy_scale(double first_work) {
    const Ledger& ledger = certificate_.ledger;
    energy_scale_ = std::max({ledger.kinetic_start, std::abs(ledger.potential_start),
                              std::abs(ledger.kinetic_start + ledger.potential_start), first_work});
  }

  /// Forces in u are explicit: the part that comes from u may oppose the motion (or be orthogonal
  /// to it) at the start of a step and feed it by the end. What it fed is booked; once it is most
  /// of the motion, the motion is the step's own.
  [[gnu::noinline]] void watch_explicit_force(const State& before, const State& after, double h,
                                              const TheClaim& claim, double kinetic) {
    Scratch& s = scratch_;
    s.work.setZero();
    model_.force(claim.t_mid, *claim.force_point, before.u, place_, s.force);
    model_.force(claim.t_mid, *claim.force_point, s.work, place_, s.momentum);
    s.work = s.force - s.momentum;  // Q(u) - Q(0)
    const double at_start = before.u.dot(s.work);
    const double fed = 0.5 * h * (at_start + after.u.dot(s.work));
    const double rounding = 1e-12 * before.u.cwiseAbs().dot(s.work.cwiseAbs());
    if (at_start > rounding || fed <= 0.0) return;
    Ledger& ledger = certificate_.ledger;
    ledger.explicit_gain.add(fed);
    const double gain = ledger.explicit_gain.value();
    const double spent = kinetic + std::abs(ledger.contacts.value());  // where energy went
    if (limits_.energy_is_watched && gain > (limits_.growth - 1.0) * energy_scale_ &&
        kinetic > limits_.growth * energy_scale_ && gain >= 0.5 * spent) {
      fail(Failure::Diverged, after.t, -1, gain);
    }
  }

  double depth_of(int a) const { return model_.exists(a, end_place_) ? -end_place_.gap[a] : 0.0; }

  [[gnu::always_inline]] inline void check_violation(Step& s) {
    const int contacts = model_.contacts() - model_.joints();
    for (int a = 0; a < contacts; ++a) {
      const double depth = depth_of(a);
      if (std::isnan(depth)) return fail(Failure::NotFinite, s.after.t, a);
      if (depth <= s.depth) continue;
      s.depth = depth;
      s.deepest = a;
    }
    if (s.depth > limits_.violation) fail(Failure::Violation, s.after.t, s.deepest, s.depth);
    if constexpr (!M::kPlain) {
      for (const int a : joints_) s.joint_error = std::max(s.joint_error, off_zero(a));
    }
  }

  double off_zero(int joint) const { return std::abs(end_place_.gap[joint]); }

  [[gnu::always_inline]] inline void enter_violation(const Step& s) {
    Certificate& c = certificate_;
    if constexpr (!M::kPlain) c.joint_max = std::max(c.joint_max, s.joint_error);
    if (s.deepest < 0) return;
    c.violation_sum += s.depth;
    c.violation_squares += s.depth * s.depth;
    if (s.depth <= c.violation_max) return;
    c.violation_max = s.depth;
    c.violation_contact = s.deepest;
    c.violation_time = s.after.t;
    deepest_ = s.after.q;
  }

  /// The largest violation over the length of the gap's gradient there.
  double measure_depth() {
    const int a = certificate_.violation_contact;
    model::IndexList<K> one(model_.contacts());
    one.push(a);
    model_.gaps(certificate_.violation_time, deepest_, place_);
    model_.gradients(one, place_);
    const double slope = place_.normals.norm(a);
    return slope > 0.0 ? certificate_.violation_max / slope : 0.0;
  }

  const M& model_;
  Limits limits_;
  Certificate certificate_;
  typename M::Place place_;        // at the point of the test, then of the cone
  typename M::Place end_place_;    // at the end of the step
  typename M::Place joint_place_;  // at q_M, then at the next middle
  Scratch scratch_;
  Vec deepest_;  // configuration of the largest violation
  model::IndexList<K> joints_;
  model::IndexList<K> touched_;       // at the unshifted q_M
  std::vector<long long> last_push_;  // step of the last impulse, by contact
  double hardest_push_{0.0};          // p^2 W, the square of the speed that an impulse gives
  Vector<model::ImpactModel<M> ? kDynamic : 0> laws_;  // e by contact, of active ones
  double kinetic_before_{0.0};  // the largest kinetic energy of the runs before
  double kinetic_{0.0};
  double potential_{0.0};
  double energy_scale_{0.0};
  bool is_watched_{false};
  bool is_driven_{false};  // watched, with what a known drive feeds taken off
  base::Sum fed_;          // by a potential that depends on t
  double highest_{0.0};    // T + |change of V| so far, of a motion that is driven
  bool ends_accumulation_{false};
  bool is_impact_{false};  // what is judged is an impact, whenever the last one was
  bool may_gain_{false};
  bool bounces_{false};  // some law has e > 0
  FrictionBooks<M> friction_;
};

}  // namespace ricochet::certify
