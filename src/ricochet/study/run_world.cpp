#include "ricochet/study/run_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/body/joints.h"
#include "ricochet/body/rows.h"
#include "ricochet/scene/world_reader.h"
#include "ricochet/step/run_bodies.h"
#include "ricochet/study/watch_values.h"

namespace ricochet::study {
namespace {

/// Sees every step of bodies, and makes of them rows, watches and frames.
template <int D>
class WorldWatch {
 public:
  using Sample = step::BodySample<D>;
  using Vec = body::Vec<D>;
  WorldWatch(const scene::Scene& scene, const body::World<D>& world, const step::Observer& observe,
             const WorldLook& look, record::WorldRecord& record)
      : part_(*scene.world()),
        world_(world),
        run_(scene.run),
        observe_(observe),
        look_(look),
        record_(record),
        watches_(part_, world),
        q_(kPlaces * part_.told.size()),
        u_(q_.size()) {
    constexpr double kMostNumbers = 6e5;
    const double most = kMostNumbers / std::max(1.0, static_cast<double>(world_.count()));
    frames_ = static_cast<long long>(std::clamp(most, 2.0, 600.0));
  }

  bool operator()(const Sample& s) {
    watches_.add_forces(s);
    const long long step = s.state.steps;
    const bool is_row = step == 0 || (run_.record_every > 0 && step % run_.record_every == 0);
    if (is_row || part_.stop.exists()) watches_.set(s);
    const bool stops = part_.stop.exists() && has_to_stop(s.state);
    const bool is_last = stops || step == run_.steps;
    if (look_.of<D>()) look_.of<D>()(s, is_last, stops);
    if (is_row || is_last) tell(s);
    const bool is_frame = step * (frames_ - 1) >= shown_ * std::max(1LL, run_.steps);
    if (is_frame || is_last) keep_frame(s);
    const auto is_due = [&](const scene::SeriesPlan& plan) {
      return plan.exists() && (step % plan.stride == 0 || is_last);
    };
    if (is_due(part_.write_bodies)) keep_bodies(s);
    if (is_due(part_.write_contacts)) keep_contacts(s);
    if (stops && record_.stop_fault.empty()) {
      record_.stopped = fmt::format("at t = {:.9g}", s.state.t);
      record_.stopped_between = stopped_between_;
    }
    return !stops;
  }

  /// The last row of a run that was interrupted between two rows.
  void tell_end(const Sample& s) {
    if (s.state.steps != told_) tell(s);
  }

 private:
  bool has_to_stop(const body::WorldState<D>& state) {
    using Stop = typename WatchValues<D>::Stop;
    const Stop stop = watches_.has_to_stop(state);
    stopped_between_ = stop == Stop::HeldBetween;
    if (stop != Stop::NoNumber) return stop != Stop::GoesOn;
    record_.stop_fault = fmt::format(
        "run.stop (line {}) neither holds nor fails at t = {:.9g}: it is not a number, and the run "
        "ends there; write a condition that can be computed at all times of the run",
        part_.stop_spot.line, state.t);
    return true;
  }

  void tell(const Sample& s) {
    watches_.set(s);
    for (std::size_t k = 0; k < part_.told.size(); ++k) {
      const body::Motion<D>& m = s.state.bodies[base::index(part_.told[k])];
      const auto place = body::places_of(m);
      const auto rate = body::rates_of(m);
      std::copy(place.begin(), place.end(), q_.begin() + static_cast<std::ptrdiff_t>(kPlaces * k));
      std::copy(rate.begin(), rate.end(), u_.begin() + static_cast<std::ptrdiff_t>(kPlaces * k));
    }
    step::Sample row;
    told_ = s.state.steps;
    row.step = s.state.steps;
    row.t = s.state.t;
    row.q = q_;
    row.u = u_;
    row.kinetic = s.kinetic;
    row.potential = s.potential;
    row.watches = watches_.values();
    if (observe_) observe_(row);
    watches_.begin_window(s.state.t);
    record_.watches.clear();
    std::size_t at = 0;
    for (const scene::Watch& watch : part_.watches) {
      for (const std::string& name : scene::names_of(watch)) {
        record_.watches.emplace_back(name, watches_.values()[at++]);
      }
    }
  }

  void keep_frame(const Sample& s) {
    if (!record_.frames.empty() && record_.frames.back().t == s.state.t) return;
    record::BodyFrame& frame = record_.frames.emplace_back();
    frame.t = s.state.t;
    for (const body::Motion<D>& m : s.state.bodies) {
      const auto place = body::places_of(m);
      frame.places.insert(frame.places.end(), place.begin(), place.end());
    }
    constexpr std::size_t kMostForces = 20000;
    s.each_push([&](const body::Row<D>& row, const body::Push<D>& push) {
      const Vec& p = push.impulse;
      if (frame.forces.size() >= kMostForces) return;
      const Vec on_a = body::in_space(row, p);
      const Vec at = s.state.bodies[base::index(row.body_a)].x + row.arm_a;
      record::ForceLine& line = frame.forces.emplace_back();
      line.a = row.body_a;
      line.b = row.body_b;
      for (std::size_t k = 0; k < D; ++k) {
        line.at[k] = at[static_cast<Eigen::Index>(k)];
        line.impulse[k] = on_a[static_cast<Eigen::Index>(k)];
      }
    });
    ++shown_;
  }

  void keep_bodies(const Sample& s) {
    record::BodySnapshot& shot = record_.body_series.emplace_back();
    shot.t = s.state.t;
    for (std::size_t i = 0; i < world_.bodies.size(); ++i) {
      const body::Motion<D>& m = s.state.bodies[i];
      const auto place = body::places_of(m);
      shot.places.insert(shot.places.end(), place.begin(), place.end());
      shot.rates.insert(shot.rates.end(), m.v.begin(), m.v.end());
      if constexpr (D == 2) shot.rates.push_back(m.spin);
      if constexpr (D == 3) shot.rates.insert(shot.rates.end(), m.spin.begin(), m.spin.end());
      const bool is_there = world_.bodies[i].born <= s.state.t && s.state.gone[i] == 0;
      shot.is_there.push_back(is_there ? 1 : 0);
    }
  }

  void keep_contacts(const Sample& s) {
    record::ContactSnapshot& shot = record_.contact_series.emplace_back();
    shot.t = s.state.t;
    s.each_push([&](const body::Row<D>& row, const body::Push<D>& push) {
      add_contact(s, row, push, shot);
    });
  }

  void add_contact(const Sample& s, const body::Row<D>& row, const body::Push<D>& push,
                   record::ContactSnapshot& shot) const {
    const auto put = [](const Vec& v, std::array<double, 3>& out) {
      std::copy(v.begin(), v.end(), out.begin());
    };
    const bool of_a = world_.body(row.body_a).is_free();
    const bool of_b = world_.body(row.body_b).is_free();
    const Vec a = s.state.bodies[base::index(row.body_a)].x;
    const Vec b = s.state.bodies[base::index(row.body_b)].x;
    const Vec at = of_a ? Vec(a + row.arm_a) : Vec(b + row.arm_b);
    record::ContactSnapshot::Contact& one = shot.contacts.emplace_back();
    one.a = row.body_a;
    one.b = row.body_b;
    put(at, one.at);
    put(row.normal, one.normal);
    put(body::in_space(row, push.impulse), one.impulse);
    put(of_a ? a : at, one.from);
    put(of_b ? b : at, one.to);
    if constexpr (D == 2) one.moment[2] = push.moment;
    if constexpr (D == 3) put(body::in_space(row, push.moment), one.moment);
    one.impulse_n = push.impulse[0];
    one.gap = row.gap;
    constexpr double kInside = 1.0 - 1e-9;
    const double most = world_.law_between(row.body_a, row.body_b).friction * push.impulse[0];
    const bool sticks = push.impulse.template tail<D - 1>().norm() < kInside * most;
    one.state = sticks ? 1 : 2;
  }

  static constexpr std::size_t kPlaces = body::Figures<D>::kPlaces;
  const scene::WorldPart& part_;
  const body::World<D>& world_;
  const step::RunSettings& run_;
  const step::Observer& observe_;
  const WorldLook& look_;
  record::WorldRecord& record_;
  WatchValues<D> watches_;
  std::vector<double> q_;
  std::vector<double> u_;
  long long frames_{2};
  long long shown_{0};
  long long told_{-1};  // step of the last row
  bool stopped_between_{false};
};

template <int D>
void run(const body::World<D>& world, Motion& motion, const step::Observer& observe,
         step::Monitor* monitor, const WorldLook& look) {
  record::WorldRecord& record = motion.world.emplace();
  record.bodies = world.count();
  record.shapes = static_cast<int>(world.solids.size());
  record.joints = static_cast<int>(world.joints.size());
  for (const body::Body<D>& body : world.bodies) record.free_bodies += body.is_free() ? 1 : 0;
  body::WorldState<D>& last = record.state<D>();
  last = step::start_of(world, motion.scene.run.start_time);
  WorldWatch<D> watch(motion.scene, world, observe, look, record);
  motion.outcome =
      step::run_bodies<D>(world, motion.scene.run, last, std::ref(watch), monitor, record.told);
  if (motion.outcome.interrupted) {
    const certify::Ledger& ledger = motion.outcome.certificate.ledger;
    watch.tell_end({last, {}, {}, {}, ledger.kinetic_end, ledger.potential_end});
  }
  motion.final_state.t = last.t;
  Eigen::Index at = 0;
  for (const int i : motion.scene.world()->told) {
    const auto places = body::places_of(last.bodies[base::index(i)]);
    const auto rates = body::rates_of(last.bodies[base::index(i)]);
    for (std::size_t k = 0; k < places.size(); ++k, ++at) {
      motion.final_state.q[at] = places[k];
      motion.final_state.u[at] = rates[k];
    }
  }
}

}  // namespace

void run_world(Motion& motion, const step::Observer& observe, step::Monitor* monitor,
               const WorldLook& look) {
  motion.scene.world()->visit(
      [&](const auto& world) { run(world, motion, observe, monitor, look); });
}

namespace {

/// What a spring of a joint does in a step, h times the rate at which both bodies swing on it when
/// nothing else holds them.
template <int D>
double stiffness_in_steps(const body::World<D>& world, const body::Joint<D>& joint, double h) {
  const body::Body<D>& a = world.body(joint.a);
  const body::Body<D>& b = world.body(joint.b);
  const body::JointRow<D> free = body::rows_of(joint, a.start, b.start).free;
  double per_mass = 0.0;
  const auto add = [&](const body::Body<D>& body, const body::Spin<D>& turn) {
    if (!body.is_free()) return;
    per_mass += free.along.squaredNorm() / body.mass;
    if constexpr (D == 2) per_mass += turn * turn / body.inertia;
    if constexpr (D == 3) {
      const body::Vec<3> own = body.start.turn.conjugate() * turn;
      per_mass += own.dot(body.inertia.inverse() * own);
    }
  };
  add(a, free.turn_a);
  add(b, free.turn_b);
  return h * std::sqrt(joint.stiffness * per_mass);
}

void warn_of_springs(const Motion& motion, std::vector<std::string>& warnings) {
  constexpr double kMost = 2.0;
  motion.scene.world()->visit([&](const auto& world) {
    for (const auto& joint : world.joints) {
      if (!(joint.stiffness > 0.0)) continue;
      const double swings = stiffness_in_steps(world, joint, motion.scene.run.step);
      if (swings <= kMost) continue;
      warnings.push_back(fmt::format(
          "the spring of joint '{}' is stiff for the step: h sqrt(k / m) = {:.3g} with the masses "
          "of its two bodies alone, where steps follow it up to 2; take steps below {:.2g}",
          joint.name, swings, motion.scene.run.step * kMost / swings));
    }
  });
}

/// Kinetic energy that is none: of what gravity gives in a step, and rounding of places.
double kinetic_of_a_step(const Motion& motion) {
  constexpr double kPlacesOff = 64.0 * std::numeric_limits<double>::epsilon();
  const double h = motion.scene.run.step;
  double sum = 0.0;
  motion.scene.world()->visit([&](const auto& world) {
    const double g = world.gravity(motion.scene.run.start_time).norm();
    for (const auto& body : world.bodies) {
      if (!body.is_free()) continue;
      const double speed = g * h + kPlacesOff * (body.start.x.norm() + body.reach) / h;
      sum += 0.5 * body.mass * speed * speed;
    }
  });
  return sum;
}

void warn_of_joint_work(const Motion& motion, std::vector<std::string>& warnings) {
  constexpr double kWork = 0.01;  // of the largest kinetic energy: joints that hold do none
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  const double work = ledger.joints.value();
  if (std::abs(work) <= kWork * std::max(ledger.kinetic_max, kinetic_of_a_step(motion))) return;
  warnings.push_back(
      fmt::format("joints did work of {:.2g}, {:.1g} of the largest kinetic energy, where joints "
                  "that hold do none: the step is large; try a smaller one",
                  work, std::abs(work) / ledger.kinetic_max));
}

}  // namespace

void warn_of_world(const Motion& motion, std::vector<std::string>& warnings) {
  const record::WorldRecord& record = *motion.world;
  double size = std::numeric_limits<double>::infinity();
  bool has_driven = false;
  motion.scene.world()->visit([&](const auto& world) {
    for (const auto& body : world.bodies) {
      if (body.is_free() && body.size > 0.0) size = std::min(size, body.size);
      has_driven = has_driven || body.kind == body::Kind::Driven;
    }
  });
  if (!has_driven) warn_of_joint_work(motion, warnings);
  warn_of_springs(motion, warnings);
  if (record.told.ghosts > 0 && !ghosts_matter(record)) {
    warnings.push_back(describe_ghosts(record));
  }
  constexpr double kMuch = 1e-2;
  if (record.told.deepest > kMuch * size) {
    warnings.push_back(
        fmt::format("bodies were {:.2g} inside each other before they were put back, {:.1g} of the "
                    "smallest one: the step is large; try a smaller one",
                    record.told.deepest, record.told.deepest / size));
  }
}

std::string kind_of(const scene::WorldPart& part) {
  return part.visit([&](const auto& world) {
    int free = 0;
    int driven = 0;
    for (const auto& body : world.bodies) {
      free += body.is_free() ? 1 : 0;
      driven += body.kind == body::Kind::Driven ? 1 : 0;
    }
    return fmt::format("{} {} in {}, {} free{}; {}", world.count(),
                       world.count() == 1 ? "body" : "bodies",
                       part.plane != nullptr ? "the plane" : "space", free,
                       driven > 0 ? fmt::format(", {} driven", driven) : "",
                       base::counted(static_cast<long long>(world.solids.size()), "shape"));
  });
}

namespace {

template <int D>
std::string describe_laws(const body::World<D>& world) {
  std::string text;
  double mass = 0.0;
  double lightest = std::numeric_limits<double>::infinity();
  double heaviest = 0.0;
  for (const body::Body<D>& body : world.bodies) {
    if (!body.is_free()) continue;
    mass += body.mass;
    lightest = std::min(lightest, body.mass);
    heaviest = std::max(heaviest, body.mass);
  }
  if (mass > 0.0) {
    text += base::entry("mass", fmt::format("{:.6g} in all, from {:.6g} to {:.6g} a body", mass,
                                            lightest, heaviest));
  }
  const int count = static_cast<int>(world.materials.size());
  for (int a = 0; a < count; ++a) {
    for (int b = a; b < count; ++b) {
      const body::PairLaw& law = world.law(a, b);
      if (!law.is_stated || (count > 1 && a == 0 && b == 0)) continue;
      const auto name = [&](int m) {
        return m == 0 ? std::string("no material") : world.materials[base::index(m)];
      };
      text += base::entry("pair",
                          fmt::format("{}, {}: {}", name(a), name(b),
                                      law.touches ? fmt::format("friction {:g}, restitution {:g}",
                                                                law.friction, law.restitution)
                                                  : "do not touch"));
    }
  }
  return text;
}

}  // namespace

std::string describe_laws(const scene::WorldPart& part) {
  return part.visit([](const auto& world) { return describe_laws(world); });
}

std::string remedy_of_world(const Motion& motion) {
  if (!motion.world) return "";
  using certify::Failure;
  using certify::Level;
  const Failure failure = motion.outcome.certificate.failure;
  const certify::Limits& limits = motion.scene.run.limits;
  const bool is_of_law = failure == Failure::Residual || failure == Failure::NoSolution ||
                         failure == Failure::NoConvergence;
  if (is_of_law && motion.world->told.law == Level::Exact &&
      !limits.may_fall(Level::Tight, motion.world->free_bodies)) {
    return "; or run.level = \"tight\", which asks for less: up to 8 free bodies are exact "
           "unless a level is stated";
  }
  if (failure != Failure::Overlap) return "";
  for (const scene::BodyFamily& family : motion.scene.world()->families) {
    if (!(family.rate > 0.0)) continue;
    const std::string born = fmt::format("'{}[", family.name);
    if (motion.world->told.broken.rfind(born, 0) != 0) continue;
    return fmt::format(
        "; fill.{} rains {:g} bodies a second, more than fall away: write a lower "
        "rate, or a velocity",
        family.name, family.rate);
  }
  return "";
}

std::string describe_level(const Motion& motion) {
  const certify::BodyStatistics& told = motion.world->told;
  const certify::Certificate& c = motion.outcome.certificate;
  using certify::Level;
  if (told.law == Level::Exact) {
    return base::entry(
        "residual",
        fmt::format("{:.2g} at most (limit {:.0e}): impulses and velocities obey the law{}",
                    c.residual_max, motion.scene.run.limits.residual,
                    c.creep_max > 0.0 ? fmt::format(", to a speed of {:.2g}", c.creep_max) : ""));
  }
  const auto since = [&](Level level) { return told.law_since[static_cast<std::size_t>(level)]; };
  std::string words =
      fmt::format("{} from t = {:.6g} on, {}: ", certify::name_of(told.law), since(told.law),
                  motion.scene.run.limits.aim == motion.scene.run.limits.least
                      ? "as stated"
                      : "where impulses that obey the law better were not found");
  std::string reached;
  for (const Level level : certify::kLevels) {
    const long long steps = told.steps[static_cast<std::size_t>(level)];
    if (steps == 0) continue;
    reached += fmt::format("{}{} {}", reached.empty() ? "" : ", ", base::counted(steps, "step"),
                           certify::name_of(level));
  }
  std::string text = base::entry("level", words + reached);
  words = fmt::format(
      "contacts that should stick or stay shut creep at {:.2g} at most (half of them below {:.1g}, "
      "99 % below {:.1g}, 99.9 % below {:.1g}",
      c.creep_max, told.creep[0], told.creep[1], told.creep[2]);
  if (told.law == Level::Bounded) words += fmt::format("; limit {:.2g}", told.creep_limit);
  words += fmt::format("), {:.2g} in all at those speeds; where it leads is not told", told.way);
  const double lost = -c.ledger.contacts.value();
  if (lost > 0.0)
    words += fmt::format("; work left open {:.1g} of what was lost", told.unresolved / lost);
  text += base::entry("creep", words);
  if (told.left_rest > 0) text += base::entry("rest", describe_rest(*motion.world));
  return text;
}

std::string describe_rest(const record::WorldRecord& record) {
  return fmt::format(
      "bodies at rest began to move in steps that are bounded, '{}' first, by t = {:.6g}: whether "
      "they would stand under the exact law is not decided; try level = \"tight\", or another step",
      record.told.left_first, record.told.left_time);
}

bool ghosts_matter(const record::WorldRecord& record) {
  constexpr double kGiven = 0.01;  // of the largest speed of the two
  constexpr double kFar = 0.1;     // of the smaller one
  return record.told.ghost_share > kGiven && record.told.ghost_gap > kFar;
}

/// Energy by which work left open is measured: what contacts took, or what lifts each body by its
/// own size, for those that rest; without gravity what bodies had at most.
static double energy_scale(const Motion& motion) {
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  double lift = 0.0;
  motion.scene.world()->visit([&](const auto& world) {
    const double g = world.gravity(motion.scene.run.start_time).norm();
    for (const auto& body : world.bodies) {
      if (body.is_free() && std::isfinite(body.size)) lift += body.mass * g * body.size;
    }
  });
  const double most = lift > 0.0 ? lift : ledger.kinetic_max;
  return std::max(-ledger.contacts.value(), most);
}

bool open_work_matters(const Motion& motion) {
  return motion.world->told.unresolved > energy_scale(motion);
}

std::string describe_open_work(const Motion& motion) {
  return fmt::format(
      "impulses of bounded steps leave work of {:.2g} open, more than contacts took, or lifts "
      "bodies by their size ({:.2g}): they may be far from those of the law; try level = "
      "\"tight\", a smaller step, or less friction",
      motion.world->told.unresolved, energy_scale(motion));
}

std::string describe_ghosts(const record::WorldRecord& record) {
  const certify::BodyStatistics& told = record.told;
  return fmt::format(
      "bodies pushed each other without coming to touch in {}: {} stayed apart by {:.2g} of the "
      "smaller one near t = {:.6g}, and an impulse gave {:.1g} of their largest speed. In one step "
      "they pass by more than the plane between them holds for; a step below {:.1g} avoids it",
      base::counted(told.ghosts, "step"), told.ghost_pair, told.ghost_gap, told.ghost_time,
      told.ghost_share, told.ghost_step);
}

std::string describe_sunk(const record::WorldRecord& record) {
  const certify::BodyStatistics& told = record.told;
  return fmt::format(
      "{} lay {:.2g} in each other from t = {:.6g} on, deeper than they come in a step: one came "
      "in "
      "where the other has no side, as beyond the end of a chain or the border of a mesh, and no "
      "law says what holds it there; lead the ground on to where nobody comes",
      told.sunk_pair, told.sunk, told.sunk_time);
}

std::string doubt_of_world(const Motion& motion) {
  const record::WorldRecord& record = *motion.world;
  if (!record.stop_fault.empty()) return record.stop_fault;
  if (!record.told.unseen.empty()) return record.told.unseen;
  if (open_work_matters(motion)) return describe_open_work(motion);
  if (record.told.sunk > 0.0) return describe_sunk(record);
  if (ghosts_matter(record)) return describe_ghosts(record);
  // A level that is stated is kept; who states none is told where it decided.
  const certify::Limits& limits = motion.scene.run.limits;
  return record.told.left_rest > 0 && limits.aim != limits.least ? describe_rest(record) : "";
}

/// "load = 981.000 ± 0.002, touching = 4 (does not hold)".
static std::string describe_watches(const record::WorldRecord& record,
                                    const record::ErrorBar& bar) {
  constexpr double kWhole = 0.5;  // a count that is off by less is what it is
  std::string words;
  bool is_open = false;
  for (std::size_t k = 0; k < record.watches.size(); ++k) {
    const auto& [name, value] = record.watches[k];
    words += fmt::format("{}{} = ", words.empty() ? "" : ", ", name);
    if (k < bar.watches.size() && bar.watches[k].is_left_open) {
      words += fmt::format("{:.9g} (one of many)", value);
      is_open = true;
    } else if (k >= bar.watches.size() ||
               (bar.watches[k].is_count && bar.watches[k].width < kWhole)) {
      words += fmt::format("{:.9g}", value);
    } else if (bar.watches[k].holds) {
      words += base::with_bar(value, bar.watches[k].width);
    } else {
      words += fmt::format("{:.9g} (does not hold)", value);
    }
  }
  if (is_open) words += "; one of many: rigid bodies leave open how contacts share this load";
  return words;
}

std::string describe_world(const Motion& motion, const record::ErrorBar& bar) {
  const record::WorldRecord& record = *motion.world;
  const certify::BodyStatistics& told = record.told;
  const certify::Certificate& c = motion.outcome.certificate;
  std::string text = base::entry(
      "pairs",
      fmt::format("all that touch were seen, by a finder of the judge's own; {:.3g} pushed "
                  "in the mean, {} at most; {}",
                  told.pushes_mean, told.pushes_max, base::counted(told.shocks, "shock")));
  if (record.joints > 0) {
    text += base::entry("joints", fmt::format("{}, off by {:.2g} at most",
                                              base::counted(record.joints, "joint"), c.joint_max));
  }
  text += base::entry(
      "overlap",
      told.projected == 0
          ? fmt::format("{:.2g} at most", c.violation_max)
          : fmt::format("{:.2g} at most; put back in {}, by {:.2g} at most", c.violation_max,
                        base::counted(told.projected, "step"), told.shift_max));
  if (!told.where.empty()) text += base::entry("where", told.where);
  if (!record.stopped.empty()) {
    const std::string late =
        bar.end_time ? fmt::format(" ± {}", base::rounded_up(*bar.end_time)) : "";
    const std::string how = record.stopped_between ? ", which held within the step" : "";
    text += base::entry("stopped", record.stopped + late + ", by run.stop" + how);
  }
  const std::string words = describe_watches(record, bar);
  if (!words.empty()) text += base::entry("watches", words);
  return text;
}

}  // namespace ricochet::study
