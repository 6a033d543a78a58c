// A lie for every field of a claim and every scheme, at three sizes, and schemes with a fault: the
// judge refuses them all. The tables of docs/theory/lies.md are what is found here.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "places.h"
#include "ricochet/step/affine.h"
#include "ricochet/step/billiard.h"
#include "ricochet/step/conserving.h"
#include "ricochet/step/elast.h"
#include "ricochet/step/event_driven.h"
#include "ricochet/step/inel.h"
#include "ricochet/step/mabrouk.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/moreau_jean.h"
#include "ricochet/step/paoli_schatzman.h"
#include "ricochet/step/penalty.h"
#include "ricochet/step/simulate.h"

namespace ricochet::certify::lies_test {
namespace {

/// What is wrong with the world that a scheme sees; its judge sees the true one.
enum class Fault {
  None,
  ForceSign,
  ForceLeftOut,
  ForceHalved,
  ForceEarly,      // taken half a step too early
  ForceElsewhere,  // taken where the step began
  Heavier,
  GradientSign,
  GradientLong,  // not divided by its length
  GradientTurned,
  WallNear,  // a hundredth too near
  WallGone,
  Inverse,    // 1/e for e
  Inelastic,  // e forgotten
  Squared,    // e^2 for e
  Slippery,   // half the friction
  Sticky,     // twice the friction
};

/// A particle over a curved floor and beside a wall, in a field that depends on place and time.
struct World {
  static constexpr int kDofs = 3;
  static constexpr int kContacts = 2;
  using Vec = Eigen::Vector3d;
  Fault fault{Fault::None};
  double h{0.0};
  double bend{0.1};
  convex::DiagonalMetric<3> metric{Vec(2.0, 2.0, 2.0)};

  explicit World(Fault what = Fault::None, double step = 0.0) : fault(what), h(step) {
    if (fault == Fault::Heavier) metric = convex::DiagonalMetric<3>(Vec(2.2, 2.2, 2.2));
  }
  double gap(int contact, double, const Vec& q) const {
    if (fault == Fault::WallGone) return 1.0;
    const double near = fault == Fault::WallNear ? 1e-2 : 0.0;
    return (contact == 0 ? q[2] + bend * q[0] * q[0] : q[0] + 1.0) - near;
  }
  Vec gap_gradient(int contact, double, const Vec& q) const {
    Vec slope = contact == 0 ? Vec(2.0 * bend * q[0], 0.0, 1.0) : Vec(1.0, 0.0, 0.0);
    if (fault == Fault::GradientSign) slope = -slope;
    if (fault == Fault::GradientLong) slope *= 2.0;
    if (fault == Fault::GradientTurned) slope[1] += 1e-3;
    return slope;
  }
  Vec force(double t, const Vec& q, const Vec& u) const {
    if (fault == Fault::ForceLeftOut) return Vec::Zero();
    const double when = fault == Fault::ForceEarly ? t - 0.5 * h : t;
    const Vec at = fault == Fault::ForceElsewhere ? Vec(q - 0.5 * h * u) : q;
    const Vec force(-at[0] + 3.0 * std::cos(3.0 * when), -at[1], -20.0);
    if (fault == Fault::ForceSign) return -force;
    return fault == Fault::ForceHalved ? Vec(0.5 * force) : force;
  }
  double potential(double, const Vec& q) const {
    return 0.5 * q.head<2>().squaredNorm() + 20 * q[2];
  }
  const convex::DiagonalMetric<3>& mass() const { return metric; }
  double restitution(int) const {
    if (fault == Fault::Inverse) return 2.0;
    if (fault == Fault::Inelastic) return 0.0;
    return fault == Fault::Squared ? 0.25 : 0.5;
  }
};

/// The same with dry friction on a flat floor.
struct RoughWorld : World {
  static constexpr int kSlips = 2;
  explicit RoughWorld(Fault what = Fault::None, double step = 0.0) : World(what, step) {
    bend = 0.0;
  }
  Vec slip_gradient(int contact, int direction, double, const Vec&) const {
    return Vec::Unit(contact == 0 ? direction : 1 + direction);
  }
  convex::Section friction(int, double, const Vec&, double, bool) const {
    const double factor = fault == Fault::Slippery ? 0.5 : fault == Fault::Sticky ? 2.0 : 1.0;
    return convex::Disc{0.2 * factor};
  }
};

constexpr double kStep = 0.01;
constexpr std::array<double, 3> kSizes = {1e-6, 1e-3, 1.0};

template <class W>
using ModelOf = model::InlineModel<W>;
template <class W>
using ClaimOf = Claim<3, 2, ModelOf<W>::kSlips>;
using State = model::State<3>;

State start_of(double z, double down) { return {0.3, {0.1, 0.2, z}, {2.0, 1.0, -down}}; }

/// A piece of motion as a scheme tells it.
template <class S, class W>
struct Told {
  S scheme{};
  ModelOf<W> truth{W{}};  // what the judge sees
  ModelOf<W> model{W{}};  // what the scheme sees
  State before = start_of(0.002, 1.0);
  State after = before;
  double h{kStep};
  problem::WarmStart warm;
  step::Workspace<ModelOf<W>> w{model, before.q};

  using Tamper = std::function<void(State&, double&, ClaimOf<W>&)>;
  Failure judge(const Tamper& tamper = {}) {
    State told = after;
    ClaimOf<W> claim = w.claim;
    double length = h;
    if (tamper) tamper(told, length, claim);
    Judge<ModelOf<W>> judge(truth, scheme.method(), Limits{}, before);
    (void)judge.template check<S::kInfo.integrator>(before, told, length, claim);
    return judge.certificate().failure;
  }

 protected:
  explicit Told(Fault fault = Fault::None) : model(W{fault, kStep}) { w.warm = &warm; }
};

/// A step into the floor.
template <class S, class W = World>
struct Landed : Told<S, W> {
  Landed() {
    this->before.memory.steps = 1;
    this->after.t = this->before.t + kStep;
    (void)step::make_step(this->scheme, this->model, this->before, kStep, this->after, this->w);
  }
};

/// A step whose middle is put back on the floor.
template <class S>
struct Corrected : Told<S, World> {
  Corrected() {
    this->scheme.correction = step::Correction::Project;
    this->before = start_of(-0.05, 1.0);
    this->after = this->before;
    this->after.t += kStep;
    (void)step::make_step(this->scheme, this->model, this->before, kStep, this->after, this->w);
  }
};

/// An arc of event location: above the floor, along it, or through it.
struct Arc : Told<step::EventDriven, World> {
  enum class Way { Above, Along, Through };
  explicit Arc(Way way, Fault fault = Fault::None) : Told(fault) {
    const bool held = way == Way::Along;
    if (way == Way::Above) before.q[2] = 0.5;
    if (held) {
      before.q[2] = -0.1 * before.q[0] * before.q[0];
      before.u[2] = -0.2 * before.q[0] * before.u[0];
    }
    step::EventArc<ModelOf<World>> arc(model, before, scheme.accuracy, w);
    if (held) arc.held().push(0);
    double error = 0.0;
    int stray = -1;
    (void)arc.open(before, h);
    (void)arc.advance_by(before, h, error);
    (void)arc.complete(before, h, w.reactions, error, stray);
    after = arc.end();
    step::open_nodes(before.t, w, Piece::Arc);
    if (held) w.claim.reactions = &w.reactions;
  }
};

/// An impact of event location.
struct Impact : Told<step::EventDriven, World> {
  explicit Impact(Fault fault = Fault::None) : Told(fault) {
    h = 0.0;
    before.q[2] = -0.1 * before.q[0] * before.q[0] + (fault == Fault::WallNear ? 1e-2 : 0.0);
    after = before;
    step::open_nodes(before.t, w, Piece::Impact);
    model.gaps(before.t, before.q, w.place);
    w.claim.active.push(0);
    model.gradients(w.claim.active, w.place);
    w.free = before.u;
    (void)step::push(model, before, after.u, w);
  }
};

/// A piece of affine velocity: above the floor, along it, or through it.
template <class S>
struct SplitPiece : Told<S, World> {
  explicit SplitPiece(Arc::Way way, Fault fault = Fault::None) : Told<S, World>(fault) {
    const bool held = way == Arc::Way::Along;
    auto& [t, q, u, memory] = this->before;
    if (way == Arc::Way::Above) q[2] = 0.5;
    if (held) {
      q[2] = -0.1 * q[0] * q[0];
      u[2] = -0.2 * q[0] * u[0];
    }
    auto arc = this->scheme.arc(this->model, this->before, this->w);
    if (held) arc.held().push(0);
    double error = 0.0;
    (void)arc.advance_by(this->before, this->h, error);
    this->after = arc.end();
    step::open_nodes(t, this->w, Piece::Arc);
    arc.claim(held);
  }
};

/// An impact inside a step.
template <class S>
struct SplitImpact : Told<S, World> {
  explicit SplitImpact(Fault fault = Fault::None) : Told<S, World>(fault) {
    Impact impact(fault);
    this->h = 0.0;
    this->before = impact.before;
    this->after = impact.after;
    this->w.claim = impact.w.claim;
    this->w.place = impact.w.place;
  }
};

/// "kinematics", or what was found at each size.
class Table {
 public:
  void add(const std::string& row, const std::string& column, Failure failure) {
    const std::string name = failure == Failure::None ? "PASSED" : describe(failure).name;
    if (rows_.find(row) == rows_.end()) order_.push_back(row);
    std::string& cell = rows_[row][column];
    if (cell.find(name) == std::string::npos) cell += (cell.empty() ? "" : ", ") + name;
  }
  std::string write(const std::string& first, const std::vector<std::string>& columns) const {
    std::string text = "| " + first + " |";
    for (const std::string& column : columns) text += " `" + column + "` |";
    text += "\n|---|";
    for (std::size_t i = 0; i < columns.size(); ++i) text += "---|";
    for (const std::string& row : order_) {
      text += "\n| " + row + " |";
      for (const std::string& column : columns) {
        const auto& cells = rows_.at(row);
        const auto found = cells.find(column);
        text += " " + (found == cells.end() ? std::string("–") : found->second) + " |";
      }
    }
    return text + "\n";
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::map<std::string, std::string>> rows_;
};

/// Every lie about one honest piece.
template <class S, class W>
class Lies {
 public:
  Lies(Told<S, W>& told, Table& table) : told_(told), table_(table) {
    EXPECT_EQ(told.judge(), Failure::None) << std::string(S::kInfo.name);
  }

  void tell(const std::string& field, const typename Told<S, W>::Tamper& tamper) {
    const Failure failure = told_.judge(tamper);
    EXPECT_NE(failure, Failure::None) << std::string(S::kInfo.name) << ": " << field;
    table_.add(field, std::string(S::kInfo.name), failure);
  }
  void tell_sizes(const std::string& field,
                  const std::function<void(State&, double&, ClaimOf<W>&, double)>& tamper) {
    for (const double size : kSizes) {
      tell(field,
           [&](State& after, double& h, ClaimOf<W>& claim) { tamper(after, h, claim, size); });
    }
  }

  void tell_states() {
    tell_sizes("t⁺",
               [](State& s, double& h, auto&, double size) { s.t += size * std::max(h, kStep); });
    for (const int i : {0, 1, 2}) {
      tell_sizes("q⁺", [i](State& s, double&, auto&, double size) { s.q[i] += size * kStep; });
      tell_sizes("u⁺", [i](State& s, double&, auto&, double size) { s.u[i] += size; });
    }
    tell_sizes("h", [](State&, double& h, auto&, double size) { h += size * kStep; });
    tell("q⁺ not a number", [](State& s, double&, auto&) { s.q[1] = std::nan(""); });
    tell("u⁺ not a number", [](State& s, double&, auto&) { s.u[1] = std::nan(""); });
    tell("unasked correction", [](State&, double&, auto& claim) {
      static const Eigen::VectorXd weights = Eigen::VectorXd::Ones(2);
      if (claim.shift_weights != nullptr) {
        claim.shift_weights = nullptr;
      } else {
        claim.shift_weights = &weights;
      }
    });
  }
  void tell_pieces(const std::vector<Piece>& others) {
    for (const Piece other : others) {
      tell("piece", [other](State&, double&, auto& claim) { claim.piece = other; });
    }
  }
  void tell_contacts() {
    tell("active: one left out", [](State&, double&, auto& claim) { claim.active.clear(); });
    tell("active: one too many", [](State&, double&, auto& claim) {
      claim.impulses[claim.active.size()] = 0.0;
      claim.active.push(1);
    });
    tell("active: another one", [](State&, double&, auto& claim) {
      claim.active.clear();
      claim.active.push(1);
    });
    tell_sizes("p",
               [](State&, double&, auto& claim, double size) { claim.impulses[0] *= 1 + size; });
    tell_sizes("p",
               [](State&, double&, auto& claim, double size) { claim.impulses[0] *= 1 - size; });
    tell("p of the other sign", [](State&, double&, auto& claim) { claim.impulses[0] *= -1.0; });
    tell("p not a number", [](State&, double&, auto& claim) { claim.impulses[0] = std::nan(""); });
    for (const double sign : {1.0, -1.0}) {
      tell_sizes("p with the motion that follows",
                 [&, sign](State& s, double&, auto& claim, double size) {
                   const double more = sign * size * claim.impulses[0];
                   claim.impulses[0] += more;
                   const double moved = more / 2.0;  // the mass is 2
                   s.u += moved * told_.w.place.normals.col(0);
                   s.q += told_.h * drift_ * moved * told_.w.place.normals.col(0);
                 });
    }
  }
  double drift_{0.5};  // of u+ in q+

 private:
  Told<S, W>& told_;
  Table& table_;
};

template <class S>
void lie_about_step(Table& table, double drift, const std::vector<Piece>& others) {
  Landed<S> landed;
  ASSERT_EQ(landed.w.claim.active.size(), 1) << std::string(S::kInfo.name);
  ASSERT_GT(landed.w.claim.impulses[0], 0.0) << std::string(S::kInfo.name);
  Lies<S, World> lies(landed, table);
  lies.drift_ = drift;
  lies.tell_states();
  lies.tell_pieces(others);
  lies.tell_contacts();
}

template <class S>
void lie_about_correction(Table& table) {
  Corrected<S> corrected;
  ASSERT_NE(corrected.w.claim.shift_weights, nullptr);
  Lies<S, World> lies(corrected, table);
  lies.tell("correction left out",
            [](State&, double&, auto& claim) { claim.shift_weights = nullptr; });
  lies.tell_sizes("weights of a correction", [](State&, double&, auto& claim, double size) {
    static Eigen::VectorXd weights;
    weights = (1.0 + size) * *claim.shift_weights;
    claim.shift_weights = &weights;
  });
}

template <class S>
void lie_about_friction(Table& table) {
  Landed<S, RoughWorld> landed;
  ASSERT_EQ(landed.w.claim.grip(0), problem::Grip::Slip) << std::string(S::kInfo.name);
  Lies<S, RoughWorld> lies(landed, table);
  for (const int j : {0, 1}) {
    lies.tell_sizes("R_T", [j](State&, double&, auto& claim, double size) {
      claim.tangential[j] *= 1.0 + size;
    });
  }
  lies.tell("R_T not a number",
            [](State&, double&, auto& claim) { claim.tangential[1] = std::nan(""); });
  for (const problem::Grip other : {problem::Grip::Free, problem::Grip::Stick}) {
    lies.tell("grip", [other](State&, double&, auto& claim) { claim.grip(0) = other; });
  }
  Landed<S, RoughWorld> stuck;
  stuck.before.u = {0.05, 0.02, -1.0};
  (void)step::make_step(stuck.scheme, stuck.model, stuck.before, kStep, stuck.after, stuck.w);
  ASSERT_EQ(stuck.w.claim.grip(0), problem::Grip::Stick) << std::string(S::kInfo.name);
  Lies<S, RoughWorld> of_stick(stuck, table);
  for (const problem::Grip other : {problem::Grip::Free, problem::Grip::Slip}) {
    of_stick.tell("grip", [other](State&, double&, auto& claim) { claim.grip(0) = other; });
  }
}

void lie_about_events(Table& table) {
  Arc free(Arc::Way::Above);
  Lies<step::EventDriven, World> of_free(free, table);
  of_free.tell_states();
  of_free.tell_pieces({Piece::Step, Piece::Start, Piece::Impact, Piece::Rest});
  of_free.tell("active: one too many", [](State&, double&, auto& claim) { claim.active.push(1); });
  Arc held(Arc::Way::Along);
  Lies<step::EventDriven, World> of_held(held, table);
  of_held.tell("reactions left out",
               [](State&, double&, auto& claim) { claim.reactions = nullptr; });
  for (std::size_t i = 0; i < kArcNodes; ++i) {
    of_held.tell_sizes("reactions", [i](State&, double&, auto& claim, double size) {
      static ArcReactions<2> reactions;
      reactions = *claim.reactions;
      // At the ends of an arc a reaction weighs a twentieth, and arcs are held to their accuracy.
      reactions[i][0] *= 1.0 + 100.0 * size;
      claim.reactions = &reactions;
    });
  }
  of_held.tell("reactions of the other sign", [](State&, double&, auto& claim) {
    static ArcReactions<2> reactions;
    reactions = *claim.reactions;
    for (auto& r : reactions) r = -r;
    claim.reactions = &reactions;
  });
  of_held.tell("reactions of another contact", [](State&, double&, auto& claim) {
    static ArcReactions<2> reactions;
    reactions = *claim.reactions;
    for (auto& r : reactions) std::swap(r[0], r[1]);
    claim.reactions = &reactions;
  });
  Impact impact;
  Lies<step::EventDriven, World> of_impact(impact, table);
  of_impact.drift_ = 0.0;
  of_impact.tell_states();
  of_impact.tell_pieces({Piece::Step, Piece::Start, Piece::Arc, Piece::Rest});
  of_impact.tell_contacts();
}

template <class S>
void lie_about_pieces(Table& table) {
  SplitPiece<S> free(Arc::Way::Above);
  Lies<S, World> of_free(free, table);
  of_free.tell_states();
  of_free.tell_pieces({Piece::Step, Piece::Start, Piece::Impact, Piece::Rest});
  of_free.tell("active: one too many", [](State&, double&, auto& claim) {
    claim.impulses[0] = 0.0;
    claim.active.push(1);
  });
  SplitPiece<S> held(Arc::Way::Along);
  ASSERT_GT(held.w.claim.impulses[0], 0.0) << std::string(S::kInfo.name);
  Lies<S, World> of_held(held, table);
  of_held.tell_contacts();
  // A contact that approaches does not last: it is struck.
  SplitPiece<S> struck(Arc::Way::Along);
  struck.before.u[2] -= 0.1;
  auto arc = struck.scheme.arc(struck.model, struck.before, struck.w);
  arc.held().push(0);
  double error = 0.0;
  (void)arc.advance_by(struck.before, struck.h, error);
  struck.after = arc.end();
  step::open_nodes(struck.before.t, struck.w, Piece::Arc);
  arc.claim(true);
  const Failure failure = struck.judge();
  EXPECT_NE(failure, Failure::None) << std::string(S::kInfo.name);
  table.add("an impact passed off as lasting", std::string(S::kInfo.name), failure);
  SplitImpact<S> impact;
  Lies<S, World> of_impact(impact, table);
  of_impact.drift_ = 0.0;
  of_impact.tell_states();
  of_impact.tell_pieces({Piece::Step, Piece::Start, Piece::Arc, Piece::Rest});
  of_impact.tell_contacts();
}

std::string lies_table() {
  Table table;
  const std::vector<Piece> none = {Piece::Start, Piece::Arc, Piece::Impact, Piece::Rest};
  lie_about_step<step::Billiard>(table, 0.5, none);
  lie_about_step<step::Elast>(table, 0.5, none);
  lie_about_step<step::Inel>(table, 0.5, none);
  lie_about_step<step::Moreau>(table, 0.5, none);
  lie_about_step<step::Mabrouk>(table, 0.0, none);
  lie_about_step<step::PaoliSchatzman>(table, 1.0, none);
  lie_about_step<step::MoreauJean>(table, 0.5, none);
  lie_about_step<step::Penalty>(table, 0.5, none);
  lie_about_correction<step::Billiard>(table);
  lie_about_correction<step::Elast>(table);
  lie_about_correction<step::Inel>(table);
  lie_about_correction<step::Moreau>(table);
  lie_about_friction<step::Moreau>(table);
  lie_about_friction<step::MoreauJean>(table);
  lie_about_events(table);
  lie_about_pieces<step::Affine>(table);
  lie_about_pieces<step::Conserving>(table);
  return table.write("lie about", step::scheme_names());
}

/// Steps of a scheme in a faulty world, or with a fault of its own, until the judge refuses one.
template <class S, class W, class Judged = S>
Failure run_mutant(Fault fault,
                   const std::function<void(const State&, State&, ClaimOf<W>&)>& break_it,
                   const S& scheme = {}, const Judged& judged = {}) {
  const ModelOf<W> truth(W{});
  const ModelOf<W> seen(W(fault, kStep));
  State now = start_of(0.05, 1.0);
  State next = now;
  step::Workspace<ModelOf<W>> w(seen, now.q);
  Judge<ModelOf<W>> judge(truth, judged.method(), Limits{}, now);
  for (int i = 1; i <= 100; ++i) {
    next.t = now.t + kStep;
    const problem::Report report = step::make_step(scheme, seen, now, kStep, next, w);
    if (report.status != problem::Status::Solved) return Failure::NoSolution;
    if (break_it) break_it(now, next, w.claim);
    if (!judge.template check<Judged::kInfo.integrator>(now, next, kStep, w.claim)) break;
    std::swap(now, next);
  }
  return judge.certificate().failure;
}

struct Mutant {
  const char* name;
  Fault fault;
};
const std::vector<Mutant> kForceMutants = {{"force of the other sign", Fault::ForceSign},
                                           {"force left out", Fault::ForceLeftOut},
                                           {"half the force", Fault::ForceHalved},
                                           {"force half a step too early", Fault::ForceEarly},
                                           {"force where the step began", Fault::ForceElsewhere},
                                           {"a tenth more mass", Fault::Heavier}};
const std::vector<Mutant> kWallMutants = {{"gradient of the other sign", Fault::GradientSign},
                                          {"gradient of twice the length", Fault::GradientLong},
                                          {"gradient turned by 1/1000", Fault::GradientTurned},
                                          {"wall 1/100 too near", Fault::WallNear},
                                          {"wall not seen", Fault::WallGone}};
const std::vector<Mutant> kLawMutants = {
    {"1/e for e", Fault::Inverse}, {"e left out", Fault::Inelastic}, {"e² for e", Fault::Squared}};

template <class S>
void mutate_world(Table& table, bool has_law) {
  EXPECT_EQ((run_mutant<S, World>(Fault::None, {})), Failure::None) << std::string(S::kInfo.name);
  const auto run = [&](const std::vector<Mutant>& mutants) {
    for (const Mutant& mutant : mutants) {
      const Failure failure = run_mutant<S, World>(mutant.fault, {});
      EXPECT_NE(failure, Failure::None) << std::string(S::kInfo.name) << ": " << mutant.name;
      table.add(mutant.name, std::string(S::kInfo.name), failure);
    }
  };
  run(kForceMutants);
  run(kWallMutants);
  if (has_law) run(kLawMutants);
}

/// Faults of the step itself.
template <class S>
void mutate_step(Table& table) {
  using Break = std::function<void(const State&, State&, ClaimOf<World>&)>;
  const std::vector<std::pair<const char*, Break>> faults = {
      {"last half step left out",
       [](const State&, State& next, auto&) { next.q -= 0.5 * kStep * next.u; }},
      {"place not moved", [](const State& now, State& next, auto&) { next.q = now.q; }},
      {"velocity not updated", [](const State& now, State& next, auto&) { next.u = now.u; }},
      {"time not moved", [](const State& now, State& next, auto&) { next.t = now.t; }},
      {"impulses not told", [](const State&, State&, auto& claim) { claim.impulses.setZero(); }},
      {"contacts not told", [](const State&, State&, auto& claim) { claim.active.clear(); }},
  };
  for (const auto& [name, fault] : faults) {
    const Failure failure = run_mutant<S, World>(Fault::None, fault);
    EXPECT_NE(failure, Failure::None) << std::string(S::kInfo.name) << ": " << name;
    table.add(name, std::string(S::kInfo.name), failure);
  }
}

template <class S>
void mutate_friction(Table& table) {
  EXPECT_EQ((run_mutant<S, RoughWorld>(Fault::None, {})), Failure::None)
      << std::string(S::kInfo.name);
  for (const Mutant& mutant : {Mutant{"half the friction", Fault::Slippery},
                               Mutant{"twice the friction", Fault::Sticky}}) {
    const Failure failure = run_mutant<S, RoughWorld>(mutant.fault, {});
    EXPECT_NE(failure, Failure::None) << std::string(S::kInfo.name) << ": " << mutant.name;
    table.add(mutant.name, std::string(S::kInfo.name), failure);
  }
  const Failure backwards = run_mutant<S, RoughWorld>(
      Fault::None, [](const State&, State&, auto& claim) { claim.tangential *= -1.0; });
  EXPECT_NE(backwards, Failure::None);
  table.add("friction along the slip", std::string(S::kInfo.name), backwards);
}

/// One scheme, or setting, passed off as another.
template <class S, class Judged>
void pass_off(Table& table, const char* name, const S& scheme, const Judged& judged) {
  const Failure failure = run_mutant<S, World, Judged>(Fault::None, {}, scheme, judged);
  EXPECT_NE(failure, Failure::None) << name;
  table.add(name, std::string(Judged::kInfo.name), failure);
}

/// Arcs and impacts of a faulty world.
void mutate_events(Table& table) {
  const auto first = [](Failure a, Failure b) { return a != Failure::None ? a : b; };
  for (const auto* mutants : {&kForceMutants, &kWallMutants, &kLawMutants}) {
    for (const Mutant& mutant : *mutants) {
      const Arc::Way way = mutant.fault == Fault::WallGone ? Arc::Way::Through : Arc::Way::Above;
      const Failure arcs =
          first(Arc(way, mutant.fault).judge(), Arc(Arc::Way::Along, mutant.fault).judge());
      const Failure failure = first(arcs, Impact(mutant.fault).judge());
      EXPECT_NE(failure, Failure::None) << mutant.name;
      table.add(mutant.name, std::string(step::EventDriven::kInfo.name), failure);
    }
  }
}

/// Pieces and impacts of a faulty world.
template <class S>
void mutate_pieces(Table& table) {
  const auto first = [](Failure a, Failure b) { return a != Failure::None ? a : b; };
  for (const auto* mutants : {&kForceMutants, &kWallMutants, &kLawMutants}) {
    for (const Mutant& mutant : *mutants) {
      const Arc::Way way = mutant.fault == Fault::WallGone ? Arc::Way::Through : Arc::Way::Above;
      const Failure pieces = first(SplitPiece<S>(way, mutant.fault).judge(),
                                   SplitPiece<S>(Arc::Way::Along, mutant.fault).judge());
      const Failure failure = first(pieces, SplitImpact<S>(mutant.fault).judge());
      EXPECT_NE(failure, Failure::None) << mutant.name << " " << std::string(S::kInfo.name);
      table.add(mutant.name, std::string(S::kInfo.name), failure);
    }
  }
}

std::string mutants_table() {
  Table table;
  mutate_world<step::Billiard>(table, false);
  mutate_world<step::Elast>(table, false);
  mutate_world<step::Inel>(table, false);
  mutate_world<step::Moreau>(table, true);
  mutate_world<step::Mabrouk>(table, true);
  mutate_world<step::PaoliSchatzman>(table, true);
  mutate_world<step::MoreauJean>(table, true);
  mutate_world<step::Penalty>(table, false);
  mutate_events(table);
  mutate_pieces<step::Affine>(table);
  mutate_pieces<step::Conserving>(table);
  mutate_step<step::Billiard>(table);
  mutate_step<step::Elast>(table);
  mutate_step<step::Inel>(table);
  mutate_step<step::Moreau>(table);
  mutate_step<step::Mabrouk>(table);
  mutate_step<step::PaoliSchatzman>(table);
  mutate_step<step::MoreauJean>(table);
  mutate_step<step::Penalty>(table);
  mutate_friction<step::Moreau>(table);
  mutate_friction<step::MoreauJean>(table);
  pass_off(table, "`billiard` passed off", step::Billiard{}, step::Elast{});
  pass_off(table, "`elast` passed off", step::Elast{}, step::Billiard{});
  pass_off(table, "`elast` passed off", step::Elast{}, step::Inel{});
  pass_off(table, "`inel` passed off", step::Inel{}, step::Elast{});
  pass_off(table, "`inel` passed off", step::Inel{}, step::Moreau{});
  pass_off(table, "`moreau` passed off", step::Moreau{}, step::MoreauJean{});
  pass_off(table, "`mabrouk` passed off", step::Mabrouk{}, step::MoreauJean{.theta = 1.0});
  pass_off(table, "another A_V", step::Elast{.anticipation = 0.5}, step::Elast{});
  pass_off(table, "another A_V", step::Inel{.anticipation = 0.0}, step::Inel{});
  pass_off(table, "another A_V", step::Moreau{.anticipation = 0.5}, step::Moreau{});
  pass_off(table, "another θ", step::MoreauJean{.theta = 0.6}, step::MoreauJean{});
  pass_off(table, "another stiffness", step::Penalty{.stiffness = 1e4}, step::Penalty{});
  return table.write("fault", step::scheme_names());
}

// At the end of infinitely many impacts a contact may stay: not sooner.
TEST(Lies, ContactsComeToRestOnlyAfterManyShrinkingImpacts) {
  struct Case {
    int impacts;
    double ratio;
    Failure found;
  };
  for (const Case& c : {Case{40, 0.5, Failure::None}, Case{3, 0.001, Failure::Law},
                        Case{8, 0.9, Failure::Law}, Case{40, 1.0, Failure::Law}}) {
    Impact impact;
    Judge<ModelOf<World>> judge(impact.model, impact.scheme.method(), Limits{}, impact.before);
    double t = impact.before.t;
    double interval = 1.0;
    double speed = 1.0;
    for (int i = 0; i < c.impacts; ++i) {
      State before = impact.before;
      before.t = t;
      before.u = speed * impact.before.u;
      State after = before;
      after.u = speed * impact.after.u;
      ClaimOf<World> claim = impact.w.claim;
      claim.impulses *= speed;
      ASSERT_TRUE(judge.check<Integrator::Arcs>(before, after, 0.0, claim));
      t += interval;
      interval *= c.ratio;
      speed *= c.ratio;
    }
    State before = impact.before;
    before.t = t;
    before.u = speed * impact.before.u;
    State after = before;
    ClaimOf<World> claim = impact.w.claim;
    claim.piece = Piece::Rest;
    claim.impulses *= speed / 1.5;  // e = 0 in place of 1/2
    after.u += (speed / 1.5) * (impact.after.u - impact.before.u);
    (void)judge.check<Integrator::Arcs>(before, after, 0.0, claim);
    EXPECT_EQ(judge.certificate().failure, c.found) << c.impacts << " " << c.ratio;
  }
}

std::string read(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// RICOCHET_WRITE_DOCS=1 writes the page anew.
TEST(Lies, AllAreRefusedAndThePageSaysHow) {
  const std::string page =
      "# Lies, and faults of schemes\n\n"
      "What the judge says to a claim in which one field is wrong, and to a scheme with a fault. "
      "Every\n"
      "entry was tried by `tests/lies_test.cpp`, which writes this page (`make docs`); sizes are "
      "1e-6,\n"
      "1e-3 and 1 of what is at play, and several names are what different sizes or components "
      "met.\n"
      "A dash: the scheme has no such thing.\n\n"
      "## A lie for every field of a claim\n\n" +
      lies_table() + "\n## Schemes with a fault\n\n" + mutants_table();
  EXPECT_EQ(page.find("PASSED"), std::string::npos);
  const std::string file = testing::kSourceFolder + std::string("/docs/theory/lies.md");
  if (std::getenv("RICOCHET_WRITE_DOCS") != nullptr) std::ofstream(file) << page;
  EXPECT_EQ(read(file), page) << "run make docs";
}

}  // namespace
}  // namespace ricochet::certify::lies_test
