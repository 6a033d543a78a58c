#include "ricochet/plot/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "ricochet/plot/svg.h"
#include "ricochet/plot/walls.h"

namespace ricochet::plot {
namespace {

using Slots = std::array<int, 3>;   // columns of a row
using Cube = std::array<Range, 3>;  // of equal sides

/// The columns of the particle's place.
std::optional<Slots> place_in_space(const scene::Scene& scene) {
  const std::vector<std::string>& names = scene.columns.coordinates;
  for (const auto& wanted : {std::array{"x", "y", "z"}, std::array{"X", "Y", "Z"}}) {
    Slots slots{};
    bool found = true;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto at = std::find(names.begin(), names.end(), wanted[k]);
      found = found && at != names.end();
      slots[k] = 1 + static_cast<int>(at - names.begin());
    }
    if (found) return slots;
  }
  std::vector<bool> angles = scene.plot.angles;
  angles.resize(names.size(), false);
  for (std::size_t i = 0; i < names.size(); ++i)
    angles[i] = angles[i] || scene::is_angle_name(names[i]);
  const bool has_angle = std::find(angles.begin(), angles.end(), true) != angles.end();
  if (names.size() != 3 || has_angle) return std::nullopt;
  return Slots{1, 2, 3};
}

/// What holds the way, with some room: as long in all directions.
std::optional<Cube> cube_around(const Frames& frames, const Slots& slots) {
  Cube cube;
  double side = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    Range& range = cube[k];
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const double value = frames.row(f)[static_cast<std::size_t>(slots[k])];
      if (!std::isfinite(value)) return std::nullopt;
      range = f == 0 ? Range{value, value}
                     : Range{std::min(range.low, value), std::max(range.high, value)};
    }
    side = std::max(side, range.size());
  }
  if (!(side > 0.0)) return std::nullopt;
  for (Range& range : cube) {
    const double middle = 0.5 * (range.low + range.high);
    range = {middle - 0.6 * side, middle + 0.6 * side};
  }
  return cube;
}

void append_place(const std::array<double, 3>& p, std::string& text) {
  text += fmt::format("{}{:.5g},{:.5g},{:.5g}", text.ends_with('[') ? "" : ",", p[0], p[1], p[2]);
}

/// Sections of the walls across one direction, as lists of places one after the other.
void add_sections(const scene::Scene& scene, const Slots& slots, const Cube& cube,
                  std::span<const double> row, std::size_t across, int count, std::string& text) {
  constexpr double kPixels = 140.0;  // twice as many as points of the grid
  const std::size_t i = (across + 1) % 3;
  const std::size_t j = (across + 2) % 3;
  scene::PlotPlan plan;
  plan.columns = scene.plot.columns;
  scene::PlotPanel panel;
  panel.x = {plan.columns[static_cast<std::size_t>(slots[i])], plan.graph.input(slots[i]), ""};
  panel.y = {{plan.columns[static_cast<std::size_t>(slots[j])], plan.graph.input(slots[j]), ""}};
  for (int k = 0; k < count; ++k) {
    const double at = cube[across].low + (k + 0.5) / count * cube[across].size();
    panel.at = {{slots[across], at}};
    for (const WallCurve& wall :
         find_walls(*scene.formulas(), plan, panel, {cube[i], cube[j], kPixels, kPixels}, row)) {
      const std::vector<Point> curve = simplified(wall.points, 2e-3 * cube[0].size());
      if (curve.size() < 2) continue;
      text += text.ends_with('[') ? "[" : ",[";
      for (const Point& p : curve) {
        std::array<double, 3> place{};
        place[across] = at;
        place[i] = p.x;
        place[j] = p.y;
        append_place(place, text);
      }
      text += ']';
    }
  }
}

}  // namespace

std::string make_space(const scene::Scene& scene, const Frames& frames) {
  if (scene.formulas() == nullptr || frames.size() < 2) return "";
  const std::optional<Slots> slots = place_in_space(scene);
  if (!slots) return "";
  const std::optional<Cube> cube = cube_around(frames, *slots);
  if (!cube) return "";
  std::string times;
  std::string way = "[";
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const std::span<const double> row = frames.row(f);
    const auto at = [&](std::size_t k) { return row[static_cast<std::size_t>((*slots)[k])]; };
    times += fmt::format("{}{:.6g}", f == 0 ? "" : ",", row[0]);
    append_place({at(0), at(1), at(2)}, way);
  }
  std::string walls = "[";
  const std::span<const double> last = frames.row(frames.size() - 1);
  for (const auto& [across, count] : {std::pair{2, 9}, std::pair{0, 7}, std::pair{1, 7}}) {
    add_sections(scene, *slots, *cube, last, static_cast<std::size_t>(across), count, walls);
  }
  std::string sides;
  std::string names;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string& name = scene.plot.columns[static_cast<std::size_t>((*slots)[k])];
    sides += fmt::format("{}[{:.6g},{:.6g}]", k == 0 ? "" : ",", (*cube)[k].low, (*cube)[k].high);
    names += fmt::format("{}\"{}\"", k == 0 ? "" : ",", escape(name));
  }
  return fmt::format(
      "<div class=\"space\" tabindex=\"0\" role=\"group\" aria-label=\"Motion in space of {}\">\n"
      "<canvas></canvas>\n<div class=\"controls\" hidden>\n"
      "<button type=\"button\" class=\"play\" aria-label=\"Play\">▶</button>\n"
      "<input class=\"scrub\" type=\"range\" min=\"0\" max=\"1000\" value=\"1000\" step=\"1\" "
      "aria-label=\"Time\">\n<output class=\"time\"></output>\n</div>\n"
      "<script type=\"application/json\">{{\"t\":[{}],\n\"q\":{}],\n\"walls\":{}],\n"
      "\"box\":[{}],\"names\":[{}]}}</script>\n</div>\n",
      escape(scene.title), times, way, walls, sides, names);
}

}  // namespace ricochet::plot
