#include "ricochet/plot/world_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ricochet/base/index.h"
#include "ricochet/plot/outlines.h"
#include "ricochet/plot/space_bodies.h"

namespace ricochet::plot {
namespace {

using World = body::World<2>;
using Vec = body::Vec<2>;
using base::index;

Vec place_of(const record::BodyFrame& frame, std::size_t body, const Vec& p) {
  const double* at = frame.places.data() + 3 * body;
  return shape::pose({at[0], at[1]}, at[2]).place(p);
}

struct Box {
  Range x{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  Range y{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  void add(double px, double py, double r) {
    x = {std::min(x.low, px - r), std::max(x.high, px + r)};
    y = {std::min(y.low, py - r), std::max(y.high, py + r)};
  }
};

/// What moves, with some room; what stands beside it is cut off.
Box box_of(const World& world, std::span<const record::BodyFrame> frames) {
  Box box;
  for (const record::BodyFrame& frame : frames) {
    for (std::size_t i = 0; i < world.bodies.size(); ++i) {
      if (!world.bodies[i].moves()) continue;
      box.add(frame.places[3 * i], frame.places[3 * i + 1], world.bodies[i].reach);
    }
  }
  if (!(box.x.high >= box.x.low)) box.add(0.0, 0.0, 1.0);
  const double room = 0.08 * std::max({box.x.high - box.x.low, box.y.high - box.y.low, 1e-12});
  box.x = {box.x.low - room, box.x.high + room};
  box.y = {box.y.low - room, box.y.high + room};
  return box;
}

double reach_of(const Box& box) {
  return 4.0 *
         (std::abs(box.x.low) + std::abs(box.x.high) + std::abs(box.y.low) + std::abs(box.y.high));
}

/// A ring where a joint holds each of its bodies; a slider has its way too.
void add_joint(const body::Joint<2>& joint, double radius,
               std::vector<std::vector<Outline>>& outlines) {
  constexpr int kCorners = 12;
  const auto ring = [&](int on, const Vec& at) {
    Outline outline;
    for (int k = 0; k < kCorners; ++k) {
      const double turn = 2.0 * std::numbers::pi * k / kCorners;
      outline.points.emplace_back(at + radius * Vec(std::cos(turn), std::sin(turn)));
    }
    outlines[index(on)].push_back(std::move(outline));
  };
  if (joint.kind == body::JointKind::Distance) ring(joint.a, joint.on_a);
  ring(joint.b, joint.on_b);
  if (joint.kind != body::JointKind::Slider) return;
  const Vec way = 8.0 * radius * Vec(std::cos(joint.frame_a), std::sin(joint.frame_a));
  Outline line;
  line.is_closed = false;
  line.points = {joint.on_a - way, joint.on_a + way};
  outlines[index(joint.a)].push_back(std::move(line));
}

std::vector<std::vector<Outline>> all_outlines(const World& world, const Box& box) {
  constexpr double kRing = 0.01;  // of the picture
  auto outlines = outlines_of(world, reach_of(box));
  const double size = std::max(box.x.high - box.x.low, box.y.high - box.y.low);
  for (const body::Joint<2>& joint : world.joints) add_joint(joint, kRing * size, outlines);
  return outlines;
}

void draw_bodies(Svg& svg, const Frame& frame, const World& world,
                 const std::vector<std::vector<Outline>>& outlines, const record::BodyFrame& at) {
  for (const bool moving : {false, true}) {
    std::vector<std::vector<Point>> lines;
    for (std::size_t i = 0; i < outlines.size(); ++i) {
      if (world.bodies[i].moves() != moving || world.bodies[i].born > at.t) continue;
      for (const Outline& outline : outlines[i]) {
        std::vector<Point> line;
        for (const Vec& point : outline.points) {
          const Vec p = place_of(at, i, point);
          line.push_back(frame.at(Point{p[0], p[1]}));
        }
        if (outline.is_circle) {
          const Vec rim = place_of(at, i, outline.points[0] + Vec(outline.radius, 0.0));
          const Point edge = frame.at(Point{rim[0], rim[1]});
          const double r = std::hypot(edge.x - line[0].x, edge.y - line[0].y);
          svg.circle(line[0], std::max(r, 0.8), moving ? "body" : "wall");
          if (r > 3.0) lines.push_back({line[0], edge});  // which shows how it turns
        } else {
          if (outline.is_closed) line.push_back(line[0]);
          lines.push_back(std::move(line));
        }
      }
    }
    if (!lines.empty()) svg.path(lines, moving ? "body" : "wall");
  }
}

/// Where a line of force ends: in the mass centres of what moves, else at the contact.
std::array<Vec, 2> ends_of(const World& world, const record::BodyFrame& at,
                           const record::ForceLine& force) {
  std::array<Vec, 2> ends;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::size_t i = index(k == 0 ? force.a : force.b);
    const bool shown = world.bodies[i].moves();
    ends[k] = shown ? Vec(at.places[3 * i], at.places[3 * i + 1]) : Vec(force.at[0], force.at[1]);
  }
  return ends;
}

double size_of(const record::ForceLine& force) {
  return body::Vec<3>::Map(force.impulse.data()).norm();
}

double largest_force(const record::BodyFrame& at) {
  double largest = 0.0;
  for (const record::ForceLine& force : at.forces) largest = std::max(largest, size_of(force));
  return largest;
}

void draw_forces(Svg& svg, const Frame& frame, const World& world, const record::BodyFrame& at) {
  constexpr double kWidest = 6.0;  // [px]
  const double largest = largest_force(at);
  for (const record::ForceLine& force : at.forces) {
    const double part = size_of(force) / largest;
    if (!(part > 0.01)) continue;
    const std::array<Vec, 2> ends = ends_of(world, at, force);
    svg.begin_group(fmt::format("stroke-width=\"{:.2f}\" stroke-opacity=\"0.6\"", kWidest * part));
    svg.line(frame.at(Point{ends[0][0], ends[0][1]}), frame.at(Point{ends[1][0], ends[1][1]}),
             "s1");
    svg.end_group();
  }
}

void append(double value, std::string& text) {
  if (!text.empty() && text.back() != '[') text += ',';
  text += fmt::format("{:.6g}", value);
}

std::string outlines_json(const World& world, const std::vector<std::vector<Outline>>& outlines) {
  std::string text;
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    std::string parts;
    for (const Outline& outline : outlines[i]) {
      std::string points = "[";
      for (const Vec& p : outline.points) {
        append(p[0], points);
        append(p[1], points);
      }
      if (outline.is_circle) append(outline.radius, points);
      parts += fmt::format("{}{{\"k\":{},\"p\":{}]}}", parts.empty() ? "" : ",",
                           outline.is_circle ? 0 : (outline.is_closed ? 1 : 2), points);
    }
    text += fmt::format("{}{{\"m\":{},\"b\":{},\"o\":[{}]}}", i == 0 ? "" : ",\n",
                        world.bodies[i].moves() ? 1 : 0,
                        std::isfinite(world.bodies[i].born) ? world.bodies[i].born : -1e300, parts);
  }
  return text;
}

/// Pictures beside each other, or below where they are wide, each with its axes.
template <class Draw>
Sheet lay_out(const scene::Scene& scene, const std::string& subtitle,
              std::span<const record::BodyFrame> shown, const Frame& axes, Draw&& draw) {
  constexpr double kWidth = 900.0;
  constexpr double kMargin = 24.0;
  constexpr double kLeft = 66.0;  // of a frame, for its scale
  constexpr double kHead = 84.0;
  Sheet sheet;
  const std::size_t count = shown.size();
  const double ratio = axes.y.range.size() / axes.x.range.size();
  const bool beside = ratio > 0.45 && count == 2;
  const double width = (kWidth - kMargin) / (beside ? 2.0 : 1.0) - kLeft;
  const double height = std::clamp(ratio * width, 90.0, 640.0);
  sheet.width = kWidth;
  sheet.height = kHead + (beside || count == 1 ? 1.0 : 2.0) * (height + kAxisBottom + 30.0);
  Svg svg(sheet.width, sheet.height, scene.title);
  const auto title = fit_lines(scene.title, kWidth - 2.0 * kMargin, 15.0, 1);
  if (!title.empty()) svg.text({kMargin, 26.0}, title[0], "start", "title");
  const auto below = fit_lines(subtitle, kWidth - 2.0 * kMargin, kLabelSize, 1);
  if (!below.empty()) svg.text({kMargin, 46.0}, below[0], "start", "note");
  for (std::size_t k = 0; k < count; ++k) {
    Frame frame = axes;
    const auto step = static_cast<double>(k);
    frame.corner = {kLeft + (beside ? step * (width + kLeft) : 0.0),
                    kHead + (beside ? 0.0 : step * (height + kAxisBottom + 30.0))};
    frame.width = width;
    frame.height = height;
    frame.equalise();
    if (!frame.x.is_bare) frame.draw(svg);
    svg.text({frame.corner.x, frame.corner.y - 8.0}, fmt::format("t = {:g}", shown[k].t), "start",
             "heading");
    svg.begin_clip(frame.corner, frame.width, frame.height);
    draw(svg, frame, k);
    svg.end_clip();
    frame.draw_border(svg);
  }
  sheet.svg = svg.finish();
  return sheet;
}

std::vector<record::BodyFrame> first_and_last(const record::WorldRecord& record) {
  std::vector<record::BodyFrame> shown = {record.frames.front()};
  if (record.frames.size() > 1) shown.push_back(record.frames.back());
  return shown;
}

template <int D>
record::BodyFrame start_of(const body::World<D>& world, double t) {
  record::BodyFrame frame;
  frame.t = t;
  for (const body::Body<D>& body : world.bodies) {
    body::Motion<D> place = body.start;
    if (body.drive) body.drive(t, place);
    const auto numbers = body::places_of(place);
    frame.places.insert(frame.places.end(), numbers.begin(), numbers.end());
  }
  return frame;
}

/// Times, places and lines of force of all frames, as the page reads them.
template <class Ends>
std::string frames_json(const record::WorldRecord& record, Ends&& ends) {
  double largest = 0.0;
  for (const record::BodyFrame& frame : record.frames) {
    largest = std::max(largest, largest_force(frame));
  }
  std::string times = "[";
  std::string places;
  std::string forces;
  for (const record::BodyFrame& frame : record.frames) {
    append(frame.t, times);
    std::string row = "[";
    for (const double value : frame.places) append(value, row);
    std::string lines = "[";
    for (const record::ForceLine& force : frame.forces) {
      const double part = size_of(force) / largest;
      if (!(part > 0.003)) continue;
      for (const auto& end : ends(frame, force)) {
        for (Eigen::Index k = 0; k < end.size(); ++k) append(end[k], lines);
      }
      append(part, lines);
    }
    places += fmt::format("{}{}]", places.empty() ? "" : ",\n", row);
    forces += fmt::format("{}{}]", forces.empty() ? "" : ",\n", lines);
  }
  return fmt::format("\"t\":{}],\n\"q\":[{}],\n\"f\":[{}]", times, places, forces);
}

std::string player(const scene::Scene& scene, const char* kind, const std::string& json) {
  return fmt::format(
      "<div class=\"{}\" tabindex=\"0\" role=\"group\" aria-label=\"Bodies of {}\">\n"
      "<canvas></canvas>\n<div class=\"controls\" hidden>\n"
      "<button type=\"button\" class=\"play\" aria-label=\"Play\">▶</button>\n"
      "<input class=\"scrub\" type=\"range\" min=\"0\" max=\"1000\" value=\"0\" step=\"1\" "
      "aria-label=\"Time\">\n<output class=\"time\"></output>\n</div>\n"
      "<script type=\"application/json\">{{{}}}</script>\n</div>\n",
      kind, escape(scene.title), json);
}

}  // namespace

Sheet draw_world(const scene::Scene& scene, const record::WorldRecord& record,
                 const std::string& subtitle) {
  if (record.frames.empty()) return {};
  const std::vector<record::BodyFrame> shown = first_and_last(record);
  Frame axes;
  if (scene.world()->space != nullptr) {
    const SpacePicture picture(*scene.world()->space, shown);
    axes.x = {picture.across(), false, "", true};
    axes.y = axes.x;
    return lay_out(scene, subtitle, shown, axes, [&](Svg& svg, const Frame& frame, std::size_t k) {
      picture.draw(svg, frame, shown[k], k == 1);
    });
  }
  const World& world = *scene.world()->plane;
  const Box box = box_of(world, shown);
  const auto outlines = all_outlines(world, box);
  axes.x = {box.x, false, "x"};
  axes.y = {box.y, false, "y"};
  return lay_out(scene, subtitle, shown, axes, [&](Svg& svg, const Frame& frame, std::size_t k) {
    if (k == 1) draw_forces(svg, frame, world, shown[k]);
    draw_bodies(svg, frame, world, outlines, shown[k]);
  });
}

Sheet draw_world_start(const scene::Scene& scene) {
  record::WorldRecord record;
  scene.world()->visit(
      [&](const auto& world) { record.frames.push_back(start_of(world, scene.run.start_time)); });
  return draw_world(scene, record, "as it starts");
}

std::string play_world(const scene::Scene& scene, const record::WorldRecord& record) {
  if (record.frames.size() < 2) return "";
  if (scene.world()->space != nullptr) {
    const body::World<3>& world = *scene.world()->space;
    const std::string frames = frames_json(
        record, [&](const auto& frame, const auto& force) { return ends_of(world, frame, force); });
    return player(scene, "space solids",
                  frames + ",\n" + SpacePicture(world, record.frames).json());
  }
  const World& world = *scene.world()->plane;
  const Box box = box_of(world, record.frames);
  const std::string frames = frames_json(
      record, [&](const auto& frame, const auto& force) { return ends_of(world, frame, force); });
  return player(scene, "space bodies",
                fmt::format("{},\n\"box\":[{:.6g},{:.6g},{:.6g},{:.6g}],\n\"bodies\":[{}]", frames,
                            box.x.low, box.x.high, box.y.low, box.y.high,
                            outlines_json(world, all_outlines(world, box))));
}

}  // namespace ricochet::plot
