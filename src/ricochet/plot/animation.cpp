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

  /// What moves, at a frame, as part of the picture: the way before it, walls, body and places.
  std::string draw(std::size_t k) {
    constexpr std::size_t kWay = 60;  // frames
    std::string way;
    std::vector<Point> places;
    const std::size_t first = panel_.is_history() || k < kWay ? 0 : k - kWay;
    for (std::size_t f = first; f <= k; ++f) {
      load(f);
      places = places_now();
      way += fmt::format("{}{:.1f} {:.1f}", f == first ? "M" : "L", places[0].x, places[0].y);
    }
    std::string text;
    if (!panel_.is_line()) text = fmt::format("<path class=\"trail\" d=\"{}\"/>\n", way);
    if (moving_walls_) {
      text += fmt::format("<path class=\"wall\" d=\"{}\"/>\n", walls_of_row(frames_.row(k)));
    }
    if (!plan_.body.empty()) text += draw_body();
    for (const Point& p : places) {
      text += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", p.x,
                          p.y, panel_.is_line() ? 8 : (plan_.body.empty() ? 5 : 3));
    }
    return text;
  }

  bool moves_walls() const { return moving_walls_; }

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
      load(k);
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
  void load(std::size_t k) {
    const std::span<const double> row = frames_.row(k);
    std::copy(row.begin(), row.end(), registers_.begin());
    tape_.run(0, registers_.data());
  }

  /// A place for each curve.
  std::vector<Point> places_now() const {
    const double x = registers_[tape_.outputs(0)[0]];
    std::vector<Point> places;
    for (std::size_t j = 0; j < panel_.y.size(); ++j) {
      places.push_back(tamed(frame_.at({x, registers_[tape_.outputs(0)[j + 1]]})));
    }
    return places;
  }
  std::string points_now() const {
    std::string text;
    for (const Point& p : places_now()) {
      if (!text.empty()) text += ',';
      append_point(p, text);
    }
    return text;
  }

  /// All parts in pixels, in their order.
  std::vector<DrawnPart> parts_now() {
    tape_.run(1, registers_.data());
    std::vector<double> values;
    for (const std::size_t output : tape_.outputs(1)) values.push_back(registers_[output]);
    std::vector<DrawnPart> parts;
    std::size_t next = 0;
    for (const scene::BodyPart& part : plan_.body) {
      parts.push_back(part_at(part, values, next));
      for (Point& p : parts.back().points) p = tamed(frame_.at(p));
      parts.back().radius *= frame_.width / frame_.x.range.size();
    }
    return parts;
  }
  std::string body_now() {
    std::string text;
    const std::vector<DrawnPart> parts = parts_now();
    for (std::size_t k = 0; k < parts.size(); ++k) {
      for (const Point& p : parts[k].points) {
        if (!text.empty()) text += ',';
        append_point(p, text);
      }
      if (plan_.body[k].radius < 0) continue;
      text += ',';
      append_number(parts[k].radius, text);
    }
    return text;
  }
  std::string draw_body() {
    std::string text;
    const std::vector<DrawnPart> parts = parts_now();
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::vector<Point>& points = parts[k].points;
      if (plan_.body[k].kind == scene::BodyPart::Kind::Circle) {
        text += fmt::format("<circle class=\"moving\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n",
                            points[0].x, points[0].y, std::abs(parts[k].radius));
        continue;
      }
      text += "<path class=\"moving\" d=\"";
      for (std::size_t p = 0; p < points.size(); ++p) {
        text += fmt::format("{}{:.1f} {:.1f}", p == 0 ? "M" : "L", points[p].x, points[p].y);
      }
      const bool closes = plan_.body[k].kind == scene::BodyPart::Kind::Outline;
      text += fmt::format("{}\"/>\n", closes ? "Z" : (points.size() == 1 ? "h0" : ""));
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

namespace {

/// The panel to be played, drawn alone, with what moves in it.
struct Stage {
  scene::PlotPlan plan;
  Collector alone;
  Sheet sheet;

  Stage(const scene::Scene& scene, const Collector& data, const certify::Certificate* certificate,
        const SheetText& text)
      : plan(plan_to_play(scene.plot)), alone(data.only(panel_to_play(scene.plot))) {
    const Block block{&plan, {{&alone, "", scene.formulas(), certificate}}, ""};
    sheet = draw_sheet({block}, text);
  }
  const Frame& frame() const { return sheet.panels[0].frame; }
};

bool can_play(const scene::Scene& scene, const Frames& frames) {
  return panel_to_play(scene.plot) < scene.plot.panels.size() && frames.size() >= 2;
}

}  // namespace

std::string make_player(const scene::Scene& scene, const Collector& data, const Frames& frames,
                        const certify::Certificate& certificate) {
  if (!can_play(scene, frames)) return "";
  const Stage stage(scene, data, &certificate, {});
  FrameWriter writer(scene, stage.plan, stage.frame(), frames);
  const Frame& frame = stage.frame();
  const std::string json = fmt::format(
      "{{\"box\":[{:.1f},{:.1f},{:.1f},{:.1f}],\"history\":{},\"trail\":{},\n\"parts\":[{}],"
      "\n\"shocks\":[{}],"
      "\n{}}}",
      frame.corner.x, frame.corner.y, frame.width, frame.height, stage.plan.panels[0].is_history(),
      !stage.plan.panels[0].is_line(), parts_json(stage.plan.body), shocks_json(certificate),
      writer.write());
  return wrap_player(scene.title, stage.sheet.svg, frames.row(0)[0], json);
}

void draw_frames(const scene::Scene& scene, const Collector& data, const Frames& frames,
                 double frames_per_second, const std::function<void(const std::string&)>& take) {
  constexpr std::string_view kLive =
      "<style>.live .trail { fill: none; stroke: #d55e00; stroke-width: 2.2; stroke-opacity: .65 "
      "}\n"
      ".live .dot { fill: #d55e00 } .live .moving { fill: none; stroke: #d55e00; stroke-width: 3; "
      "stroke-linecap: round; stroke-linejoin: round }</style>\n";
  if (!can_play(scene, frames)) return;
  const Stage stage(scene, data, nullptr, {scene.title, "", ""});
  FrameWriter writer(scene, stage.plan, stage.frame(), frames);
  std::string still = stage.sheet.svg;
  if (writer.moves_walls()) {  // those that stand for the end
    const std::size_t at = still.find("<g class=\"walls\"");
    still.insert(at + 2, " display=\"none\"");
  }
  const double first = frames.row(0)[0];
  const double span = frames.row(frames.size() - 1)[0] - first;
  const auto count = static_cast<int>(std::lround(played_seconds(span) * frames_per_second));
  const Frame& frame = stage.frame();
  std::size_t k = 0;
  for (int n = 0; n <= count; ++n) {
    const double part = static_cast<double>(n) / count;
    while (k + 1 < frames.size() && (frames.row(k + 1)[0] - first) / span <= part) ++k;
    std::string svg = still;
    const std::string clip = fmt::format(
        "<svg x=\"{0:.2f}\" y=\"{1:.2f}\" width=\"{2:.2f}\" height=\"{3:.2f}\" "
        "viewBox=\"{0:.2f} {1:.2f} {2:.2f} {3:.2f}\" overflow=\"hidden\">",
        frame.corner.x, frame.corner.y, frame.width, frame.height);
    svg.insert(svg.rfind("</svg>"),
               fmt::format("{}<g class=\"live\">{}{}</g></svg>\n<text class=\"note\" x=\"{:.0f}\" "
                           "y=\"{:.0f}\" text-anchor=\"end\">t = {:.3g}</text>\n",
                           clip, kLive, writer.draw(k), frame.right(), frame.corner.y - 8.0,
                           frames.row(k)[0]));
    take(svg);
  }
}

double played_seconds(double span) {
  const double seconds = std::abs(span);
  return seconds >= 3.0 && seconds <= 20.0 ? seconds : 8.0;
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
