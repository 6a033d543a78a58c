#include "ricochet/study/gallery_mechanisms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

namespace ricochet::study {
namespace {

/// One line of the table.
std::string line_of(const std::string& name, const Motion& motion) {
  const step::Columns& columns = motion.scene.columns;
  const std::vector<long long>& counts = motion.outcome.certificate.shock_counts;
  return fmt::format("{:<18}{:>11}{:>10}{:>8}{:>8}{:>8}", name, columns.coordinates.size(),
                     counts.size(), columns.joints, motion.outcome.steps,
                     std::accumulate(counts.begin(), counts.end(), 0LL));
}

/// Runs a scene, enters it in the table, and its stated facts that do not hold among the facts.
Motion show_one(const Runner& runner, const std::string& name, Exhibit& exhibit) {
  Motion motion = run_builtin(runner, name, "run");
  add_run_facts(motion, exhibit.facts);
  exhibit.table.push_back(line_of(name, motion));
  for (const Fact& fact : check_expectations(motion)) {
    if (!fact.holds) exhibit.facts.push_back(fact);
  }
  return motion;
}

/// "(1.0000, 2.0000)", and whether the first two coordinates are there.
Fact place_fact(const std::string& statement, const Motion& motion, double x, double y,
                double tolerance) {
  const Eigen::VectorXd& q = motion.final_state.q;
  return {fmt::format("{}: ({:.4f}, {:.4f})", statement, x, y),
          fmt::format("({:.4f}, {:.4f})", q[0], q[1]),
          std::abs(q[0] - x) < tolerance && std::abs(q[1] - y) < tolerance};
}

/// Without clearance a turn takes 0.70239 s, an integral over it; when shocks take energy, longer
/// by the square root of the ratio.
Fact crank_fact(const Motion& motion) {
  const double ideal = 2.0 * std::numbers::pi * motion.final_state.t / 0.70239;
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  const double slow = std::sqrt(ledger.kinetic_end / ledger.kinetic_start);
  const double part = motion.final_state.q[0] / ideal;
  return {fmt::format("crank: turns at {:.3f} to 1 of its speed without clearance", slow),
          fmt::format("{:.3f}", part), slow < part && part < 1.0};
}

/// The farthest tilt of a block on its other side, before it comes back. Its kinetic energy is
/// multiplied by 0.7^2, 0.7 = (a^2 - 2 b^2)/(a^2 + 4 b^2), and V(tilt) = a cos + b sin.
Fact block_fact(const Motion& motion) {
  double farthest = 0.0;
  for (const Row& row : motion.rows) {
    if (row.q[0] > 0.0 && farthest < 0.0) break;
    farthest = std::min(farthest, row.q[0]);
  }
  return {"block: from a tilt of 0.1 it rocks to 0.0428 on the other side",
          fmt::format("{:.4f}", -farthest), std::abs(farthest + 0.04280) < 2e-4};
}

/// How far the balls are from where they started.
Fact column_fact(const Motion& motion) {
  const double moved = (motion.final_state.q - motion.scene.start.q).cwiseAbs().maxCoeff();
  return {"column: a thousand balls at rest stay at rest", fmt::format("moved by {:.1e}", moved),
          moved < 1e-9 * 0.05};
}

/// Runs a structure's scene, with a plate of its own; its stated facts are those of the exhibit.
void show_structure(const Runner& runner, const std::string& name, Exhibit& exhibit) {
  const Motion motion = run_builtin(runner, name, "run");
  const std::vector<structure::GuideStatistics>& guides = motion.structure->guides;
  const long long impacts =
      std::accumulate(guides.begin(), guides.end(), 0LL,
                      [](long long sum, const auto& guide) { return sum + guide.impacts; });
  exhibit.table.push_back(fmt::format(
      "{:<22}{:>8}{:>8}{:>10}{:>9}{:>12.1e}", name, motion.structure->coordinates, guides.size(),
      motion.outcome.steps, impacts, motion.outcome.certificate.ledger.closure.value()));
  exhibit.plates.push_back({.name = name,
                            .title = motion.scene.title,
                            .caption = motion.scene.source,
                            .runs = {{.label = name + "/run"}},
                            .about = {name}});
  add_run_facts(motion, exhibit.facts);
  if (!motion.outcome.certificate.ok()) return;
  for (Fact fact : check_expectations(motion)) {
    fact.statement = name + ", " + fact.statement;
    exhibit.facts.push_back(std::move(fact));
  }
}

/// Whether two estimates agree within three standard errors.
Fact agreement(const std::string& name, const structure::Estimate& a,
               const structure::Estimate& b) {
  return {fmt::format("tube-20: the {} agrees between h and h/2 within its sampling error", name),
          fmt::format("{:.4g} ± {:.1g} and {:.4g} ± {:.1g}", a.value, a.error, b.value, b.error),
          std::abs(a.value - b.value) <= 3.0 * std::hypot(a.error, b.error)};
}

}  // namespace

Exhibit show_mechanisms(const Runner& runner) {
  Exhibit exhibit;
  exhibit.table = {"", "                  coordinates  contacts  joints   steps  shocks"};
  const Motion pendulum = show_one(runner, "double-pendulum", exhibit);
  const Motion arm = show_one(runner, "arm", exhibit);
  const Motion box = show_one(runner, "moving-box", exhibit);
  const Motion crank = show_one(runner, "slider-crank", exhibit);
  const Motion block = show_one(runner, "rocking-block", exhibit);
  const Motion column = show_one(runner, "column", exhibit);
  exhibit.facts.push_back(
      place_fact("pendulum: angles at t = 2, by Runge-Kutta", pendulum, -0.40111, -0.88704, 5e-3));
  exhibit.facts.push_back(place_fact("arm: rests on elbow and hand, (acos(H/L), pi/2)", arm,
                                     std::acos(0.6), 0.5 * std::numbers::pi, 1e-6));
  exhibit.facts.push_back(
      place_fact("box: the ball at t = 3, from impact to impact", box, 0.03392, 0.58505, 0.01));
  exhibit.facts.push_back(crank_fact(crank));
  exhibit.facts.push_back(block_fact(block));
  exhibit.facts.push_back(column_fact(column));
  return exhibit;
}

Exhibit show_structures(const Runner& runner) {
  Exhibit exhibit;
  exhibit.table.push_back(fmt::format("{:<22}{:>8}{:>8}{:>10}{:>9}{:>12}", "", "coords", "guides",
                                      "steps", "impacts", "closure"));
  for (const char* name :
       {"tube-10", "tube-20", "tube-three-supports", "string-obstacle", "bar-wall"}) {
    show_structure(runner, name, exhibit);
  }
  const std::vector<std::string> longer = {"run.until=8", "run.record=0"};
  std::vector<std::string> finer = longer;
  finer.emplace_back("run.step=5e-6");
  const Motion whole = run_builtin(runner, "tube-20", "long", longer);
  const Motion half = run_builtin(runner, "tube-20", "long-half-step", finer);
  for (const Motion* motion : {&whole, &half}) add_run_facts(*motion, exhibit.facts);
  const structure::GuideStatistics& a = whole.structure->guides[0];
  const structure::GuideStatistics& b = half.structure->guides[0];
  exhibit.facts.push_back(agreement("impact rate", a.rate, b.rate));
  exhibit.facts.push_back(agreement("work rate", a.work_normal, b.work_normal));
  exhibit.facts.push_back(
      agreement("rms of the tip", whole.structure->points[1].rms, half.structure->points[1].rms));
  const double apart = std::abs(whole.final_state.q[1] - half.final_state.q[1]);
  exhibit.facts.push_back({"tube-20: the points themselves do not (exponential sensitivity)",
                           fmt::format("tips {:.2g} apart at the end", apart), apart > 1e-5});
  return exhibit;
}

}  // namespace ricochet::study
