#include "inspect_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report_text.h"

namespace ricochet::app {
namespace {

using study::ActiveRow;
using study::Inspection;

constexpr std::size_t kMostWords = 12;
constexpr std::size_t kMostRows = 20;

/// Words joined by commas; what is beyond `most` is counted.
std::string list(const std::vector<std::string>& words, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < most; ++i) {
    text += (i == 0 ? "" : ", ") + words[i];
  }
  if (words.size() > most) text += fmt::format(", ... and {} more", words.size() - most);
  return text;
}

/// "x'' = 1, y'' = 0", with `primes` primes.
std::string by_coordinate(const scene::Scene& scene, const Inspection::Vec& v,
                          const std::string& primes) {
  std::vector<std::string> words;
  const std::vector<std::string>& names = scene.columns.coordinates;
  for (std::size_t i = 0; i < names.size(); ++i) {
    words.push_back(
        fmt::format("{}{} = {:.9g}", names[i], primes, v[static_cast<Eigen::Index>(i)]));
  }
  return list(words, kMostWords);
}

const std::string& name_of(const scene::Scene& scene, const ActiveRow& row) {
  return scene.columns.contacts[static_cast<std::size_t>(row.row)];
}

/// One number in the plane, (a, b) in space.
std::string components(const Eigen::Vector2d& v, int count) {
  return count == 1 ? fmt::format("{:.9g}", v[0]) : fmt::format("({:.9g}, {:.9g})", v[0], v[1]);
}

std::string describe_active(const Inspection& found, const scene::Scene& scene) {
  std::string rule = "gap <= 0, to rounding (1e-9 of its size)";
  if (found.step > 0.0) {
    rule = fmt::format("gap <= 0, to what it may change in {} {:.3g}",
                       scene.run.control.is_on() ? "a time of" : "one step of", found.step);
  }
  if (found.active.empty()) return entry("active", "none: no " + rule);
  std::string text = entry("active", rule);
  for (std::size_t k = 0; k < found.active.size() && k < kMostRows; ++k) {
    const ActiveRow& row = found.active[k];
    text += entry("", fmt::format("{}: gap {:.6g} (closed below {:.2g}), changing at {:.6g} (0 "
                                  "within {:.2g}){}",
                                  name_of(scene, row), row.gap, row.gap_tolerance, row.velocity,
                                  row.velocity_tolerance,
                                  found.ok() ? ": " + study::name_of(row.standing) : ""));
    if (row.slips == 0) continue;
    text += entry("", fmt::format("    slip {} (0 within {:.2g}), changing at {}",
                                  components(row.slip, row.slips), row.slip_tolerance,
                                  components(row.slip_acceleration, row.slips)));
  }
  if (found.active.size() > kMostRows) {
    text += entry("", fmt::format("... and {} more", found.active.size() - kMostRows));
  }
  return text;
}

/// Generators of the normal cone, without their zeros.
std::string describe_normals(const Inspection& found, const scene::Scene& scene) {
  std::string text;
  for (std::size_t k = 0; k < found.active.size() && k < kMostRows; ++k) {
    const ActiveRow& row = found.active[k];
    std::vector<std::string> words;
    for (Eigen::Index i = 0; i < row.generator.size(); ++i) {
      if (row.generator[i] == 0.0) continue;
      words.push_back(fmt::format(
          "{} {:.6g}", scene.columns.coordinates[static_cast<std::size_t>(i)], row.generator[i]));
    }
    text += entry(k == 0 ? "normals" : "",
                  fmt::format("{}: {}{}", name_of(scene, row),
                              words.empty() ? "none, the gradient is 0" : list(words, kMostWords),
                              row.is_joint ? ", and its opposite" : ""));
  }
  return text;
}

std::string describe_velocity(const Inspection& found, const scene::Scene& scene) {
  if (found.in_tangent_cone) return entry("cone", "the velocity is in the tangent cone");
  std::vector<std::string> violated;
  std::vector<std::string> impulses;
  for (const ActiveRow& row : found.active) {
    const double into = row.is_joint ? -std::abs(row.velocity) : row.velocity;
    if (into < -row.velocity_tolerance) violated.push_back(name_of(scene, row));
    impulses.push_back(fmt::format("{} {:.9g}", name_of(scene, row), row.impulse));
    if (row.slips > 0) {
      impulses.back() += " and friction " + components(row.friction_impulse, row.slips);
    }
  }
  std::string text = entry(
      "cone", "the velocity is not in the tangent cone; it violates " + list(violated, kMostRows));
  if (found.shock.status != problem::Status::Solved) return text;
  text += entry("shock", "inelastic: " + by_coordinate(scene, found.right_velocity, "'"));
  text += entry("", "impulses " + list(impulses, kMostRows) +
                        (found.shock.unique ? "" : "; others do the same (not unique)"));
  return text;
}

/// Angles of gradients where contacts touch together, and the velocities that follow where one of
/// them is met first.
std::string describe_corner(const Inspection& found, const scene::Scene& scene) {
  const study::Corner& corner = found.corner;
  if (corner.pairs.empty()) return "";
  std::vector<std::string> angles;
  for (const study::CornerPair& pair : corner.pairs) {
    const double cosine = std::min(1.0, std::max(-1.0, pair.cosine));
    angles.push_back(fmt::format("{} and {}: {:.4g}°", name_of(scene, found.active[pair.first]),
                                 name_of(scene, found.active[pair.second]),
                                 std::acos(cosine) * 180.0 / 3.14159265358979323846));
  }
  std::string text = entry("angles", "of gradients in the metric 1/M: " + list(angles, kMostWords));
  text += entry("", corner.is_continuous
                        ? "the motion depends continuously on its data here (orthogonal, or e = 0 "
                          "and none acute) [Paoli 2005]"
                        : "not orthogonal, or acute with e = 0: the motion need not depend "
                          "continuously on its data [Paoli 2005]");
  for (std::size_t k = 0; k < corner.limits.size() && k < kMostRows; ++k) {
    const study::CornerLimit& limit = corner.limits[k];
    text += entry(k == 0 ? "limits" : "",
                  fmt::format("{} is met first: {}", name_of(scene, found.active[limit.first]),
                              by_coordinate(scene, limit.velocity, "'")));
  }
  return text;
}

std::string describe_motion(const Inspection& found, const scene::Scene& scene) {
  std::vector<std::string> reactions;
  std::vector<std::string> opening;
  for (const ActiveRow& row : found.active) {
    reactions.push_back(fmt::format("{} {:.9g}", name_of(scene, row), row.reaction));
    if (row.slips > 0) reactions.back() += " and friction " + components(row.friction, row.slips);
    if (row.opens) opening.push_back(name_of(scene, row));
  }
  const char* after = found.in_tangent_cone ? "" : ", after the shock";
  std::string text = entry("free", by_coordinate(scene, found.free_acceleration, "''") + after);
  text += entry("motion", by_coordinate(scene, found.acceleration, "''") + after);
  if (found.active.empty()) return text;
  text += entry("reactions", list(reactions, kMostRows) +
                                 (found.gauss.unique ? "" : "; others do the same (not unique)"));
  return text + entry("opens", opening.empty() ? "nothing" : list(opening, kMostRows));
}

/// Every way in which the contacts of the next step can obey the law of friction.
std::string describe_next(const Inspection& found, const scene::Scene& scene) {
  if (!found.next) return "";
  const study::NextStep& next = *found.next;
  const std::size_t count = next.solutions.size();
  std::string text =
      entry("next step", fmt::format("of {:.3g}: with friction its contacts have {}", next.length,
                                     count == 0   ? "no solution"
                                     : count == 1 ? "one solution"
                                                  : fmt::format("{} solutions", count)));
  for (std::size_t i = 0; i < count; ++i) {
    const solve::ContactSolution& one = next.solutions[i];
    std::vector<std::string> words;
    for (std::size_t k = 0; k < next.rows.size(); ++k) {
      const std::string& name = scene.columns.contacts[static_cast<std::size_t>(next.rows[k])];
      const auto r = one.impulses.segment(next.dim * static_cast<Eigen::Index>(k), next.dim);
      const bool is_free = one.grips[k] == problem::Grip::Free;
      words.push_back(fmt::format("{} {}", name, is_free ? "free" : ""));
      if (is_free) continue;
      words.back() += one.grips[k] == problem::Grip::Stick ? "sticks" : "slips";
      words.back() += fmt::format(" ({:.6g} normal, {:.6g} along)", r[0],
                                  next.dim == 2 ? r[1] : r.tail(2).norm());
    }
    text += entry(
        "", fmt::format(
                "{}{}{}", list(words, kMostWords),
                one.free > 0 ? fmt::format("; one of a continuum of dimension {}", one.free) : "",
                next.taken == i && count > 1 ? "; taken" : ""));
  }
  if (count < 2) return text;
  return text + entry("",
                      "rule: what pushed keeps pushing, all others are free; of several that "
                      "push, the one that leaves the least energy");
}

std::string describe_failure(const Inspection& found) {
  const bool at_shock = found.shock.status != problem::Status::Solved;
  const std::string what = at_shock ? "velocity" : "acceleration";
  if (found.status == problem::Status::Infeasible) {
    return entry("FAILED", fmt::format("no {} satisfies all active rows: they contradict each "
                                       "other, or one must push whose gradient is 0",
                                       what));
  }
  return entry("FAILED",
               fmt::format("no {}: a force or a derivative of a gap is not finite", what));
}

}  // namespace

std::string describe_inspection(const Inspection& found, const scene::Scene& scene) {
  std::string text = scene.title;
  if (!scene.source.empty()) text += fmt::format("  [{}]", scene.source);
  text += found.step > 0.0 ? fmt::format("\nt = {:.9g}, reached by {} with {}\n\n", found.state.t,
                                         step::name_of(scene.scheme), describe_step(scene.run))
                           : fmt::format("\nt = {:.9g}, the start\n\n", found.state.t);
  text += entry("position", by_coordinate(scene, found.state.q, ""));
  text += entry("velocity", by_coordinate(scene, found.state.u, "'"));
  text += describe_active(found, scene) + describe_normals(found, scene);
  if (!found.active.empty()) text += describe_velocity(found, scene);
  text += describe_corner(found, scene);
  text += found.ok() ? describe_motion(found, scene) : describe_failure(found);
  if (!scene.columns.has_friction()) return text;
  if (scene.structure() != nullptr) {
    text += entry("friction", "of guides is left out here; run a few steps to see it act");
  }
  return text + describe_next(found, scene);
}

}  // namespace ricochet::app
