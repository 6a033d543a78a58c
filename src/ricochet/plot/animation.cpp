#include "ricochet/plot/animation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ricochet/formula/tape.h"
#include "ricochet/plot/sheet.h"
#include "ricochet/plot/walls.h"

namespace ricochet::plot {
namespace {

constexpr std::size_t kMostFrames = 900;
constexpr std::size_t kMostWithMovingWalls = 240;

/// Whether the body belongs into a panel: where it is drawn, else where a unit is as long in both
/// directions.
bool has_body(const scene::PlotPlan& plan, const scene::PlotPanel& panel) {
  if (plan.body.empty() || panel.kind != scene::PlotPanel::Kind::Curves) return false;
  return panel.snapshots.is_on() || (panel.equal && !panel.is_history());
}

/// The panel that shows the motion best: one with the body, a plane in which things move, else the
/// first curve.
std::size_t panel_to_play(const scene::PlotPlan& plan) {
  for (std::size_t k = 0; k < plan.panels.size(); ++k) {
    if (plan.panels[k].snapshots.is_on() || plan.panels[k].only_played) return k;
  }
  for (std::size_t k = 0; k < plan.panels.size(); ++k) {
    if (has_body(plan, plan.panels[k])) return k;
  }
  for (std::size_t k = 0; k < plan.panels.size(); ++k) {
    const scene::PlotPanel& panel = plan.panels[k];
    if (panel.kind == scene::PlotPanel::Kind::Curves && !panel.is_history()) return k;
  }
  for (std::size_t k = 0; k < plan.panels.size(); ++k) {
    if (plan.panels[k].kind == scene::PlotPanel::Kind::Curves) return k;
  }
  return plan.panels.size();
}

/// The plan with that panel alone, without what is drawn at many instants.
scene::PlotPlan plan_to_play(const scene::PlotPlan& plan) {
  scene::PlotPlan played = plan;
  played.panels = {plan.panels[panel_to_play(plan)]};
  played.panels[0].plays_body = has_body(plan, played.panels[0]);
  if (!played.panels[0].plays_body) played.body.clear();
  played.panels[0].gives_way = played.panels[0].only_played = false;
  played.panels[0].instead_of = -1;
  played.panels[0].snapshots = {};
  played.panels[0].marks = {};
  played.side_by_side = 1;
  return played;
}

void append_number(double value, std::string& text) {
  const double rounded = std::round(value * 10.0) / 10.0;
  text += fmt::format("{:.6g}", rounded == 0.0 ? 0.0 : rounded);
}

void append_point(Point p, std::string& text) {
  append_number(p.x, text);
  text += ',';
  append_number(p.y, text);
}

/// A finite place, however wild the formula.
Point tamed(Point p) {
  constexpr double kFar = 1e5;
  const auto tame = [=](double v) { return std::isfinite(v) ? std::clamp(v, -kFar, kFar) : kFar; };
  return {tame(p.x), tame(p.y)};
}

/// Writes what moves, frame by frame, in pixels of the picture.
class FrameWriter {
 public:
  FrameWriter(const scene::Scene& scene, const scene::PlotPlan& plan, const Frame& frame,
              const Frames& frames)
      : scene_(scene), plan_(plan), panel_(plan.panels[0]), frame_(frame), frames_(frames) {
    if (scene.formulas() != nullptr) pushes_.emplace(*scene.formulas(), plan, panel_);
    std::vector<formula::NodeId> nodes = {panel_.x.node};
    for (const scene::PlotFormula& y : panel_.y) nodes.push_back(y.node);
    const std::vector<formula::NodeId> body = body_nodes(plan.body);
    tape_ = formula::Tape(plan.graph, static_cast<int>(plan.columns.size()), {nodes, body});
    registers_ = tape_.registers();
    moving_walls_ =
        scene.formulas() != nullptr && has_moving_walls(*scene.formulas(), panel_, plan);
  }

  std::string write() {
    std::string t;
    std::string points;
    std::string bodies;
    std::string pushes;
    std::string walls;
    find_largest_push();
    for (std::size_t k = 0; k < frames_.size(); ++k) {
      const std::string_view comma = k == 0 ? "" : ",";
      const std::span<const double> row = frames_.row(k);
      std::copy(row.begin(), row.end(), registers_.begin());
      tape_.run(0, registers_.data());
      t += fmt::format("{}{:.6g}", comma, row[0]);
      points += fmt::format("{}[{}]", comma, points_now());
      if (!plan_.body.empty()) bodies += fmt::format("{}[{}]", comma, body_now());
      pushes += fmt::format("{}[{}]", comma, pushes_of(row));
      if (moving_walls_) walls += fmt::format("{}\"{}\"", comma, walls_of_row(row));
    }
    return fmt::format("\"t\":[{}],\n\"p\":[{}],\n\"b\":[{}],\n\"a\":[{}],\n\"w\":[{}]", t, points,
                       bodies, pushes, walls);
  }

 private:
  /// A place for each curve.
  std::string points_now() {
    const double x = registers_[tape_.outputs(0)[0]];
    std::string text;
    for (std::size_t j = 0; j < panel_.y.size(); ++j) {
      if (j > 0) text += ',';
      append_point(tamed(frame_.at({x, registers_[tape_.outputs(0)[j + 1]]})), text);
    }
    return text;
  }

  /// The numbers of all parts, in their order.
  std::string body_now() {
    tape_.run(1, registers_.data());
    std::vector<double> values;
    for (const std::size_t output : tape_.outputs(1)) values.push_back(registers_[output]);
    std::string text;
    std::size_t next = 0;
    for (const scene::BodyPart& part : plan_.body) {
      const DrawnPart drawn = part_at(part, values, next);
      for (const Point& p : drawn.points) {
        if (!text.empty()) text += ',';
        append_point(tamed(frame_.at(p)), text);
      }
      if (part.radius >= 0) {
        text += ',';
        append_number(drawn.radius * frame_.width / frame_.x.range.size(), text);
      }
    }
    return text;
  }

  std::vector<Push> pushes_at(std::span<const double> row) {
    return pushes_ ? pushes_->at(row) : std::vector<Push>();
  }

  void find_largest_push() {
    for (std::size_t k = 0; k < frames_.size(); ++k) {
      for (const Push& push : pushes_at(frames_.row(k))) {
        largest_push_ = std::max(largest_push_, std::hypot(push.impulse.x, push.impulse.y));
      }
    }
  }

  /// Foot and tip of each arrow. Shocks and lasting contact differ by orders of magnitude: the
  /// length goes with the square root.
  std::string pushes_of(std::span<const double> row) {
    constexpr double kLongest = 70.0;  // [px]
    std::string text;
    for (const Push& push : pushes_at(row)) {
      const double size = std::hypot(push.impulse.x, push.impulse.y);
      if (!(size > 0.0)) continue;
      const double length = 8.0 + (kLongest - 8.0) * std::sqrt(size / largest_push_);
      const Point foot = tamed(frame_.at(push.at));
      const Point tip = {foot.x + length * push.impulse.x / size,
                         foot.y - length * push.impulse.y / size};
      if (!text.empty()) text += ',';
      append_point(foot, text);
      text += ',';
      append_point(tip, text);
    }
    return text;
  }

  std::string walls_of_row(std::span<const double> row) {
    const Window window{frame_.x.range, frame_.y.range, frame_.width / 2.0, frame_.height / 2.0};
    std::string text;
    for (const WallCurve& wall : find_walls(*scene_.formulas(), plan_, panel_, window, row)) {
      const std::vector<Point> points = simplified(frame_.at(wall.points), 0.3);
      for (std::size_t k = 0; k < points.size(); ++k) {
        text += k == 0 ? 'M' : 'L';
        append_number(points[k].x, text);
        text += ' ';
        append_number(points[k].y, text);
      }
    }
    return text;
  }

  const scene::Scene& scene_;
  const scene::PlotPlan& plan_;
  const scene::PlotPanel& panel_;
  const Frame frame_;
  const Frames& frames_;
  std::optional<Pushes> pushes_;
  formula::Tape tape_;
  std::vector<double> registers_;
  bool moving_walls_{false};
  double largest_push_{0.0};
};

/// What kind of thing each part of the body is, and how many points it has.
std::string parts_json(const std::vector<scene::BodyPart>& body) {
  std::string text;
  for (const scene::BodyPart& part : body) {
    using Kind = scene::BodyPart::Kind;
    const char* kind = part.kind == Kind::Outline  ? "outline"
                       : part.kind == Kind::Circle ? "circle"
                       : part.kind == Kind::Point  ? "point"
                                                   : "line";
    text += fmt::format("{}{{\"kind\":\"{}\",\"points\":{}}}", text.empty() ? "" : ",", kind,
                        part.points.size());
  }
  return text;
}

}  // namespace

std::size_t most_frames(const scene::Scene& scene) {
  const scene::PlotPlan& plan = scene.plot;
  const std::size_t k = panel_to_play(plan);
  const bool moving = k < plan.panels.size() && scene.formulas() != nullptr &&
                      has_moving_walls(*scene.formulas(), plan.panels[k], plan);
  // Rows of thousands of columns would make a large file of what one cannot see.
  const std::size_t bounded = std::max<std::size_t>(100, 2'000'000 / plan.columns.size());
  return std::min(bounded, moving ? kMostWithMovingWalls : kMostFrames);
}

std::string make_player(const scene::Scene& scene, const Collector& data, const Frames& frames,
                        const certify::Certificate& certificate) {
  const std::size_t number = panel_to_play(scene.plot);
  if (number >= scene.plot.panels.size() || frames.size() < 2) return "";
  const scene::PlotPlan plan = plan_to_play(scene.plot);
  const Collector alone = data.only(number);
  const Block block{&plan, {{&alone, "", scene.formulas(), &certificate}}, ""};
  const Sheet sheet = draw_sheet({block}, {});
  FrameWriter writer(scene, plan, sheet.panels[0].frame, frames);
  const Frame& frame = sheet.panels[0].frame;
  const std::string json = fmt::format(
      "{{\"box\":[{:.1f},{:.1f},{:.1f},{:.1f}],\"history\":{},\n\"parts\":[{}],\n\"shocks\":[{}],"
      "\n{}}}",
      frame.corner.x, frame.corner.y, frame.width, frame.height, plan.panels[0].is_history(),
      parts_json(plan.body), shocks_json(certificate), writer.write());
  return wrap_player(scene.title, sheet.svg, frames.row(0)[0], json);
}

std::string shocks_json(const certify::Certificate& certificate) {
  std::string text;
  for (const certify::Shock& shock : certificate.shocks) {
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ",", shock.t);
  }
  return text;
}

std::string wrap_player(const std::string& title, std::string svg, double start,
                        const std::string& json) {
  svg.insert(svg.rfind("</svg>"), "<g class=\"live\"></g>\n");
  return fmt::format(
      "<div class=\"player\" tabindex=\"0\" role=\"group\" aria-label=\"Animation of {0}\">\n{1}"
      "<div class=\"controls\" hidden>\n"
      "<button type=\"button\" class=\"play\" aria-label=\"Play\">▶</button>\n"
      "<input class=\"scrub\" type=\"range\" min=\"0\" max=\"1000\" value=\"0\" step=\"1\" "
      "aria-label=\"Time\">\n"
      "<output class=\"time\">t = {2:.4g}</output>\n"
      "<select class=\"speed\" aria-label=\"Speed\"><option value=\"0.1\">× 0.1</option>"
      "<option value=\"0.25\">× 0.25</option><option value=\"0.5\">× 0.5</option>"
      "<option value=\"1\" selected>× 1</option><option value=\"2\">× 2</option>"
      "<option value=\"4\">× 4</option></select>\n</div>\n"
      "<noscript><p>The picture can be played where scripts are allowed.</p></noscript>\n"
      "<script type=\"application/json\">{3}</script>\n</div>\n",
      escape(title), svg, start, json);
}

}  // namespace ricochet::plot
