#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "ricochet/certify/claim.h"
#include "ricochet/model/lasting.h"
#include "ricochet/model/model.h"
#include "ricochet/problem/report.h"
#include "ricochet/problem/step_problem.h"
#include "ricochet/problem/warm_start.h"
#include "ricochet/solve/box.h"
#include "ricochet/solve/load_rounds.h"
#include "ricochet/solve/step_solver.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// What a step with friction needs besides.
template <int N, int T>
struct SlipWorkspace {
  explicit SlipWorkspace(const model::Vector<N>& q)
      : rows{q, q, q}, responses{q, q, q}, pushes(q), size(q) {}
  std::array<model::Vector<N>, 3> rows;       // of one contact: normal, tangential, tangential
  std::array<model::Vector<N>, 3> responses;  // M^-1 row^T
  model::Vector<N> pushes;                    // parts of G^T R added without signs
  std::vector<char> turned;                   // by place: the slip of a contact in space turns
  std::vector<Eigen::Vector3d> shocks;        // by place: impulses of shocks in impulse time
  model::Vector<N> size;                      // what u+ is made of: parts of it that may cancel
  double h{0.0};                              // [s], the length of the step
  std::vector<int> pressed;                   // active rows whose loads are reactions of joints
  Eigen::VectorXd loads;                      // theirs, as impulses
  Eigen::VectorXd settled_loads;
  solve::LoadRounds load_rounds;
};

template <int N>
struct SlipWorkspace<N, 0> {
  explicit SlipWorkspace(const model::Vector<N>&) {}
};

/// What a step of a linear structure needs besides: the problem of its guides, by guide, whose
/// velocities and reactions count positive upwards.
struct GuideWorkspace {
  template <model::ImplicitModel M>
  explicit GuideWorkspace(const M& model) {
    box.reserve(model.guides());
    for (Eigen::VectorXd* v :
         {&before, &free, &free_along, &low, &high, &normal, &along, &right, &bound, &last}) {
      v->setZero(model.guides());
    }
  }
  solve::BoxSolver box;
  Eigen::VectorXd before;  // velocity at the start
  Eigen::VectorXd free;    // and at the end, without reactions
  Eigen::VectorXd free_along;
  Eigen::VectorXd low;  // between which it must end
  Eigen::VectorXd high;
  Eigen::VectorXd normal;  // reactions
  Eigen::VectorXd along;
  Eigen::VectorXd right;
  Eigen::VectorXd bound;
  Eigen::VectorXd last;
  Eigen::MatrixXd spring_W;  // W and what springs give way
};
struct NoGuides {
  template <model::Model M>
  explicit NoGuides(const M&) {}
};

/// One place where a scheme takes forces.
template <int Q, int N>
struct ForceNode {
  double t{0.0};
  const model::Vector<Q>* q{nullptr};
  const model::Vector<N>* u{nullptr};
  double weight{0.0};
};

/// Everything a step writes besides the next state. Made once per run; after the first step with
/// as many contacts, nothing in a step allocates.
template <model::Model M>
struct Workspace : SlipWorkspace<M::kDofs, M::kSlips> {
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = model::Vector<N>;
  using Place = model::Vector<M::kPlaces>;

  Place q_mid;            // q_M
  Place q_cone;           // q' = q_M + A_V h u
  Place q_end;            // where dT/du and dT/dq are taken, and where joints are kept
  Vec shift;              // what the correction added to q_M
  Vec force;              // Q
  Vec free;               // u': the velocity without impulses
  Vec gathered;           // J^T p
  Vec response;           // M^-1 J^T p
  Vec momentum;           // dT/du + h/2 dT/dq + h Q at the start of the step: what u' must carry
  Vec slope;              // dT/dq
  Vec last;               // u+ of the round before
  Vec law;                // F of an impact law
  Vec law_free;           // u' while the law's impulses are added to it
  model::Vector<K> laws;  // e of active contacts, where it is more than a constant; by contact
  std::array<ForceNode<M::kPlaces, N>, 2> nodes{};  // of schemes that are not staggered
  int node_count{0};
  Vec node_u;                            // velocity of a node of theirs
  double t_mid{0.0};                     // when contacts are looked at
  const Place* test_point{nullptr};      // where it is decided which are active
  const Place* cone_point{nullptr};      // where their gradients are taken
  bool unique{true};                     // false when other impulses give the same motion
  certify::ArcReactions<K> reactions{};  // along an arc of event location
  double wanted_step{0.0};  // [s], the longest that stiff walls allow; 0: none is stiff
  model::Vector<K> bias;    // of joints: (g(q_M + h u+) - h U+) / h, or as `aim_joints` says
  Eigen::VectorXd weights;  // shift = M^-1 J^T weights
  typename M::Place place;
  typename M::Place joint_place;  // at q_M + h u+
  model::IndexList<K> joints;
  Eigen::MatrixXd joint_responses;  // M^-1 J^T of a few joints and one contact
  Eigen::MatrixXd joint_factor;     // L L^T = J M^-1 J^T
  Eigen::VectorXd joint_impulses;
  bool are_joints_factored{false};
  model::IndexList<K> put;  // contacts and joints that a correction put right
  model::Lasting<M> lasting;
  std::vector<model::Key> touched;  // at the start
  certify::Claim<N, K, M::kSlips> claim;
  [[no_unique_address]] std::conditional_t<model::ImplicitModel<M>, GuideWorkspace, NoGuides>
      guides;
  problem::StepProblem problem;
  problem::WarmStart* warm{nullptr};  // of the step that is made, in the memory of its end
  solve::StepSolver solver;

  Workspace(const M& model, const Place& q) : Workspace(model, q, Vec::Zero(model.dofs())) {}
  ~Workspace();

 private:
  Workspace(const M& model, const Place& q, const Vec& u);
};

template <model::Model M>
Workspace<M>::~Workspace() = default;

template <model::Model M>
Workspace<M>::Workspace(const M& model, const Place& q, const Vec& u)
    : SlipWorkspace<N, M::kSlips>(u),
      q_mid(q),
      q_cone(q),
      q_end(q),
      shift(u),
      force(u),
      free(u),
      gathered(u),
      response(u),
      momentum(u),
      slope(u),
      last(u),
      law(u),
      law_free(u),
      laws(model::Vector<K>::Zero(model.contacts())),
      node_u(u),
      bias(model::Vector<K>::Zero(model.contacts())),
      place(model.make_place()),
      joint_place(model.make_place()),
      joints(model.contacts()),
      put(model.contacts()),
      lasting(model, q),
      claim(model.contacts()),
      guides(model) {
  constexpr int kUsual = 64;  // contacts at once; more grow the storage when they come
  const int contacts = std::min(model.contacts(), kUsual);
  weights.setZero(contacts);
  if (constexpr int kFewJoints = 6; model.joints() <= kFewJoints) {
    const int held = model.joints() > 0 ? model.joints() + 1 : 0;
    joint_responses.setZero(model.dofs(), held);
    joint_factor.setZero(held, held);
    joint_impulses.setZero(held);
  }
  touched.reserve(static_cast<std::size_t>(model.contacts()));
  problem.reserve(model.dofs(), contacts);
  solver.reserve(model.dofs(), contacts);
}

/// What a step takes over from the one before, before it is made: `next` has the memory of `s`, and
/// the scheme changes it.
template <model::Model M>
[[gnu::always_inline]] inline void carry_memory(const model::StateOf<M>& s, model::StateOf<M>& next,
                                                Workspace<M>& w) {
  next.memory.steps = s.memory.steps + 1;
  if constexpr (M::kContacts != 1) w.warm = &next.memory.scheme.warm;
  // One or two contacts without friction are solved in closed form, and nothing is remembered but
  // which of them touched, anew in each step.
  constexpr bool kFew = M::kContacts == 1 || M::kContacts == 2;
  if constexpr (M::kSlips > 0 || !kFew || !M::kPlain) {
    if (!s.memory.scheme.is_empty() || !next.memory.scheme.is_empty()) {
      next.memory.scheme.take(s.memory.scheme);
    }
  }
}

/// Where the mass varies, `next` remembers the last two velocities before its own.
template <model::Model M>
void keep_past(const M& model, const model::StateOf<M>& s, model::StateOf<M>& next) {
  if (model.has_constant_mass()) return;
  const std::vector<double>& before = s.memory.scheme.past;
  std::vector<double>& after = next.memory.scheme.past;
  const auto dofs = static_cast<std::size_t>(s.u.size());
  const std::size_t kept = std::min(dofs, before.size());
  after.resize(dofs + kept);
  std::copy_n(before.begin(), kept, after.end() - static_cast<std::ptrdiff_t>(kept));
  std::copy_n(s.u.data(), dofs, after.begin());
}

/// One step of a scheme, from `s` at rest of all it remembers to `next`, whose time is set.
template <class S, model::Model M>
requires(M::kPlain) [[gnu::always_inline]] inline problem::Report
    make_step(const S& scheme, const M& model, const model::StateOf<M>& s, double h,
              model::StateOf<M>& next, Workspace<M>& w) {
  carry_memory(s, next, w);
  return advance(scheme, model, s, h, next, w);
}

/// The same for models of any size, whose steps are long: compiled once for all loops.
template <class S, model::Model M>
requires(!M::kPlain) [[gnu::noinline]] problem::Report
    make_step(const S& scheme, const M& model, const model::StateOf<M>& s, double h,
              model::StateOf<M>& next, Workspace<M>& w) {
  carry_memory(s, next, w);
  keep_past(model, s, next);
  return advance(scheme, model, s, h, next, w);
}

}  // namespace ricochet::step
