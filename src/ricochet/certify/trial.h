#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/certify/claim.h"
#include "ricochet/certify/event_watch.h"
#include "ricochet/certify/friction_memory.h"
#include "ricochet/certify/integrator.h"
#include "ricochet/convex/friction_cone.h"
#include "ricochet/model/lasting.h"
#include "ricochet/model/model.h"
#include "ricochet/problem/residual.h"

namespace ricochet::certify {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// What the check of a contact found, for the ledger: kept until the whole step holds.
struct Push {
  double approach{0.0};    // -U before
  double W{0.0};           // W_aa
  double work{0.0};        // (u + u+)/2 . J^T p
  bool is_entered{false};  // as a shock
  bool is_held{false};     // it pushed in the steps before
};

/// The same for a contact with friction, vectors as (normal, tangential, tangential).
struct FrictionPush {
  convex::ContactVector impulse;
  convex::ContactVector start;  // U before
  convex::ContactVector free;   // without contacts
  convex::ContactVector end;
  std::array<double, 2> slip_rate{};  // of the wall
  double normal_rate{0.0};
  double W_normal{0.0};
  double W_tangential{0.0};
};

/// Where the forces of a linear structure came from in a step.
struct LinearWorks {
  double loads{0.0};
  double damping{0.0};
  double elastic{0.0};
  double closure{0.0};
  double rounding{0.0};  // of the balance
  double average_gap{std::numeric_limits<double>::infinity()};
  double average_allowed{0.0};
};
struct NoWorks {};

/// Storage by place in the list of active contacts.
template <class T, int K>
using ByPlace =
    std::conditional_t<K == kDynamic, std::vector<T>, std::array<T, (K > 0 ? std::size_t(K) : 1)>>;

/// Vectors that checks write to.
template <int Q, int N>
struct Scratch {
  Vector<Q> q_mid;
  Vector<Q> q_cone;
  Vector<Q> q_work;
  Vector<N> force;
  Vector<N> free;
  Vector<N> momentum;
  Vector<N> start_momentum;
  Vector<N> end_momentum;
  Vector<N> slope;
  Vector<N> work;
  Vector<N> shift;

  Scratch(const Vector<Q>& q, const Vector<N>& u)
      : q_mid(q),
        q_cone(q),
        q_work(q),
        force(u),
        free(u),
        momentum(u),
        start_momentum(u),
        end_momentum(u),
        slope(u),
        work(u),
        shift(u) {}
};

/// Coordinates that active rows couple, as trees, and what each row adds to the residual.
struct Islands {
  std::vector<problem::ResidualPart> parts;  // by place in the list of active rows
  std::vector<int> member;                   // one coordinate of that row
  std::vector<int> root;                     // by coordinate
  std::vector<double> scale;

  void reserve(int dofs, int rows) {
    parts.resize(static_cast<std::size_t>(rows));
    member.resize(static_cast<std::size_t>(rows));
    root.resize(static_cast<std::size_t>(dofs));
    scale.resize(static_cast<std::size_t>(dofs));
  }
  void open(int dofs) {
    for (int i = 0; i < dofs; ++i) root[static_cast<std::size_t>(i)] = i;
  }
  int find(int i) {
    while (root[static_cast<std::size_t>(i)] != i) {
      int& up = root[static_cast<std::size_t>(i)];
      i = up = root[static_cast<std::size_t>(up)];
    }
    return i;
  }
  void join(int i, int j) { root[static_cast<std::size_t>(find(i))] = find(j); }
  double& scale_of(std::size_t k) { return scale[static_cast<std::size_t>(find(member[k]))]; }
};

/// What all checks share: the model and the places where it is evaluated, the method, the limits,
/// and what is remembered from step to step.
template <model::Model M>
struct Context {
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;

  const M& model;
  Method method;
  Limits limits;
  Certificate certificate;
  typename M::Place place;        // at the point of the test, then of the cone
  typename M::Place end_place;    // at the end of the step
  typename M::Place joint_place;  // at q_M, then at the next middle
  typename M::Place ahead_place;  // at the next middle
  Scratch<M::kPlaces, N> scratch;
  struct Momenta {  // dT/du and dT/dq at the end of the last step, where the mass varies
    Vector<M::kPlaces> q;
    Vector<N> u, momentum, slope;
    bool is_set{false};
  } known{};
  ByPlace<Push, K> pushes{};
  ByPlace<FrictionPush, M::kSlips == 0 ? 0 : K> friction_pushes{};
  struct Doubt {
    int k;
    double allowed, rho;
    convex::FrictionCone cone;
  };
  std::vector<Doubt> doubted;  // what contacts with friction are said to do, in this step
  model::IndexList<K> joints;
  model::IndexList<K> listed;                         // scratch
  model::IndexList<K> held;                           // contacts that pushed along an arc
  Vector<model::ImpactModel<M> ? kDynamic : 0> laws;  // e by contact, of active ones
  FrictionMemory<M> friction;
  std::vector<convex::ContactVector> shocks;  // by place, where they are followed in impulse time
  EventWatch events;
  Islands islands;
  model::Lasting<M> lasting;
  std::vector<model::Key> touched;  // contacts that were active in the last step, ascending
  Vector<K> fallen;                 // how far gaps fell that become negative
  int violated{0};                  // contacts with g < 0 at the end of the last step
  double known_depth{0.0};          // violations up to this one need no second look
  bool may_gain{false};             // the law of the contacts can create energy
  double time_size;                 // |t| from where steps are counted: of what times are rounded

  Context(const M& the_model, const Method& the_method, const Limits& the_limits,
          const model::StateOf<M>& start)
      : model(the_model),
        method(the_method),
        limits(the_limits),
        place(the_model.make_place()),
        end_place(the_model.make_place()),
        joint_place(the_model.make_place()),
        ahead_place(the_model.make_place()),
        scratch(start.q, start.u),
        joints(the_model.contacts()),
        listed(the_model.contacts()),
        held(the_model.contacts()),
        lasting(the_model, start.q),
        fallen(Vector<K>::Zero(the_model.contacts())),
        time_size(std::max(std::abs(start.t), std::abs(start.memory.start))) {
    if constexpr (K != 1) islands.reserve(the_model.dofs(), the_model.contacts());
    if constexpr (K == kDynamic) pushes.resize(static_cast<std::size_t>(the_model.contacts()));
    touched.reserve(static_cast<std::size_t>(the_model.contacts()));
    for (int a = contacts(); a < the_model.contacts(); ++a) joints.push(a);
    if constexpr (model::ImpactModel<M>) laws.setZero(the_model.contacts());
    if constexpr (M::kSlips > 0) {
      friction.open(the_model, contacts());
      if (friction.exists()) {
        certificate.friction.resize(static_cast<std::size_t>(contacts()));
        if constexpr (K == kDynamic) friction_pushes.resize(pushes.size());
        doubted.reserve(static_cast<std::size_t>(std::min(contacts(), 64)));  // few are
      }
    }
  }

  /// What touches at the start counts as active in the step before it.
  void touch_start(const model::StateOf<M>& start) {
    model.gaps(start.t, start.q, place);
    touched.clear();
    for (int a = 0; a < contacts(); ++a) {
      if (model.touches(a, place)) touched.push_back(static_cast<model::Key>(a));
    }
  }

  /// Rows that are contacts, not joints.
  int contacts() const { return model.contacts() - model.joints(); }
  /// The first of the joints that keep a velocity at 0.
  int first_roll() const { return model.contacts() - model::rolls(model); }
  bool has_constant_mass() const { return M::kPlain || model.has_constant_mass(); }

  /// The first failure counts.
  [[gnu::cold, gnu::noinline]] void fail(Failure failure, double t, int contact = -1,
                                         double value = 0.0) {
    Certificate& c = certificate;
    if (!c.ok()) return;
    c.failure = failure;
    c.failure_time = t;
    c.failure_contact = contact;
    c.failure_value = value;
  }
};

/// One step under judgement. Its vectors are locals where the compiler knows their size, so that
/// they stay in registers, and the context's own storage where it does not.
template <model::Model M>
struct Trial : std::conditional_t<model::ImplicitModel<M>, LinearWorks, NoWorks> {
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using State = model::StateOf<M>;
  using TheClaim = Claim<N, K, M::kSlips>;
  using Vec = Vector<N>;
  using Spot = Vector<M::kPlaces>;
  using Local = std::conditional_t<N == kDynamic, Vec&, Vec>;
  using LocalSpot = std::conditional_t<N == kDynamic, Spot&, Spot>;

  const State& before;
  const State& after;
  double h;
  const TheClaim& claim;

  // Tabulated by the judge.
  double t_contact{0.0};              // when contacts are looked at
  LocalSpot q_mid;                    // q_M, shifted by a correction
  LocalSpot q_cone;                   // q' = q_M + A_V h u, or the mean position
  const Spot* cone_point{nullptr};    // where active contacts have their gradients
  const Spot* force_point{nullptr};   // where forces are taken
  std::optional<double> restitution;  // e of all contacts; none: each its own
  bool is_shifted{false};
  bool acts_by_law{false};  // an impact by another law than Newton's

  Local force;                 // Q
  Local free;                  // u' = u + h M^-1 Q
  Local momentum;              // h Q + J^T p
  Local start_momentum;        // M u
  Local end_momentum;          // M u+
  Local slope;                 // dT/dq
  Local work;                  // scratch
  LocalSpot q_work;            // scratch
  double largest_speeds{0.0};  // of u and of u+, added
  double speeds{0.0};          // |u| + |u+|, with friction

  // What the checks found.
  double residual{0.0};
  double creep{0.0};    // the same as a speed
  int violated{0};      // contacts with g < 0 at the end
  double balance{0.0};  // the larger of momentum and positions
  double arc{0.0};      // the same of an arc
  double depth{0.0};    // the largest violation at the end, and whose it is
  int deepest{-1};
  double joint_error{0.0};
  double roll_error{0.0};
  double gain{0.0};          // energy that the contacts together create
  double gain_allowed{0.0};  // by splitting force and contact: half a step of the force's own

  // For the ledger.
  double contact_work{0.0};
  double joint_work{0.0};
  double friction_work{0.0};  // the tangential part of contact_work
  double force_work{0.0};
  double kinetic{0.0};
  double potential{0.0};      // at the end
  double gained{0.0};         // by a law that may
  double correction{0.0};     // change of V by a violation correction
  double explicit_gain{0.0};  // what a force in u fed
  double fed{0.0};            // what a potential that depends on t fed
  bool is_followed{false};    // `created` was found
  double made_up{0.0};        // what nobody gave, where that is most of a tenfold growth
  double created{0.0};        // kinetic energy that neither forces nor contacts gave
  double spring_gain{0.0};    // what springs gave and had not stored

  Trial(const State& from, const State& to, double length, const TheClaim& said,
        Scratch<M::kPlaces, N>& s, const std::optional<double>& e)
      : before(from),
        after(to),
        h(length),
        claim(said),
        q_mid(s.q_mid),
        q_cone(s.q_cone),
        restitution(e),
        force(s.force),
        free(s.free),
        momentum(s.momentum),
        start_momentum(s.start_momentum),
        end_momentum(s.end_momentum),
        slope(s.slope),
        work(s.work),
        q_work(s.q_work) {}
};

/// The largest entry without its sign.
template <class Expression>
[[gnu::always_inline]] inline double largest(const Expression& v) {
  constexpr int N = Expression::RowsAtCompileTime;
  if constexpr (N == kDynamic) {
    return v.cwiseAbs().maxCoeff();
  } else {
    double most = std::abs(v[0]);
    for (int i = 1; i < N; ++i) most = std::max(most, std::abs(v[i]));
    return most;
  }
}

/// U_a = J_a u + rate, gradients being there.
template <class Place, class V>
double velocity_of(const Place& place, int a, const V& u) {
  return place.normals.dot(a, u) + place.rate[a];
}

/// Whether a motion is seen backwards: e stands for 1/e, and impacts give energy.
template <model::Model M>
bool is_backward(const M& model) {
  if constexpr (requires { model.is_reversed(); }) return model.is_reversed();
  return false;
}

/// The largest restitution.
template <model::Model M>
double most_restitution(const M& model) {
  return is_backward(model) ? std::numeric_limits<double>::infinity() : 1.0;
}

/// Whether 1 / W can be trusted: W = J M^-1 J^T is neither zero, nor so small that its digits are
/// lost, nor beyond all numbers.
inline constexpr double kLeastWeight = 1e-290;  // well above numbers that have fewer digits
inline bool is_weight(double W) {
  return W > kLeastWeight && W < std::numeric_limits<double>::infinity();
}

/// A gap whose gradient vanishes cannot push; that is no harm where it is not negative and need
/// not. One whose W is no number at all is.
template <model::Model M>
[[gnu::cold, gnu::noinline]] void check_flat_contact(Context<M>& c, double t, int a, double W,
                                                     double p, double velocity) {
  if (!(W <= kLeastWeight)) return c.fail(Failure::NotFinite, t, a, W);
  const bool violated = a < c.contacts() && c.place.gap[a] < 0.0;
  if (p != 0.0 || violated || !(velocity >= 0.0)) c.fail(Failure::Degenerate, t, a);
}

/// Of contacts that are looked at ahead the judge takes the next middle itself, by u+.
template <model::Model M>
[[gnu::cold, gnu::noinline]] void aim_ahead(Context<M>& c, const Trial<M>& s) {
  c.lasting.aim(c.model, s.t_contact, s.q_mid, s.after.u, s.h, c.place, c.ahead_place);
}

/// What the gap at the next middle loses by rounding, as a speed.
template <model::Model M>
double lost_ahead(const Context<M>& c, const Trial<M>& s, int a) {
  if (!c.lasting.has_ahead() || !c.lasting.is_ahead(a)) return 0.0;
  return 32.0 * kEpsilon * c.place.normals.abs_dot(a, s.q_mid) / s.h;
}

/// What the curve of its wall adds to the velocity of a contact that is looked at ahead, besides
/// what closes the gap: the way back from a chord to its arc does work.
template <model::Model M>
double curve_ahead(const Context<M>& c, const Trial<M>& s, int a) {
  if (!c.lasting.is_ahead(a)) return 0.0;
  return c.lasting.speed(a) - std::max(0.0, c.place.gap[a]) / s.h;
}

/// e of contact a in this step.
template <model::Model M>
double restitution_of(const Context<M>& c, const Trial<M>& s, int a) {
  if (s.restitution) return *s.restitution;
  if constexpr (model::ImpactModel<M>) {
    if (c.model.has_laws()) return c.laws[a];
  }
  return c.model.restitution(a);
}

}  // namespace ricochet::certify
