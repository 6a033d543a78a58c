#include "ricochet/plot/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "ricochet/formula/letters.h"
#include "ricochet/plot/walls.h"

namespace ricochet::plot {
namespace {

using Kind = scene::PlotPanel::Kind;
using ScaleKind = scene::PlotPanel::Scale;

constexpr double kDot = 3.6;   // radius of the dots at start and end [px]
constexpr double kBar = 15.0;  // height of an event bar [px]
constexpr double kBarSpacing = 24.0;
constexpr double kLeastStripe = 0.05;  // of a bar that is drawn [px]
constexpr double kRangeMargin = 0.06;  // of a range, on both sides
constexpr double kSmooth = 0.15;       // what a curve may be off to have fewer points [px]
constexpr Range kNoRange{std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity()};

void take_in(Range& range, double value) {
  range = {std::min(range.low, value), std::max(range.high, value)};
}

std::string labelled(const scene::PlotFormula& formula, const std::string& label) {
  const std::string words = label.empty() ? formula::typeset(formula.text) : label;
  return label.empty() && !formula.unit.empty() ? fmt::format("{} [{}]", words, formula.unit)
                                                : words;
}

bool is_log_x(const scene::PlotPanel& plan) {
  return plan.scale == ScaleKind::LogX || plan.scale == ScaleKind::LogLog;
}
bool is_log_y(const scene::PlotPanel& plan) {
  return plan.scale == ScaleKind::LogY || plan.scale == ScaleKind::LogLog;
}

/// Short strokes towards the forbidden side, which is on the right of the curve.
void draw_hatch(Svg& svg, const std::vector<Point>& curve) {
  constexpr double kSpacing = 9.0;  // [px]
  constexpr double kStroke = 5.0;
  std::vector<std::vector<Point>> strokes;
  double until = 0.5 * kSpacing;
  for (std::size_t k = 1; k < curve.size(); ++k) {
    const double dx = curve[k].x - curve[k - 1].x;
    const double dy = curve[k].y - curve[k - 1].y;
    const double length = std::hypot(dx, dy);
    for (; length > 0.0 && until <= length; until += kSpacing) {
      const Point foot = {curve[k - 1].x + dx * until / length,
                          curve[k - 1].y + dy * until / length};
      // In pixels, y down, the right hand side of (dx, dy) is (-dy, dx).
      strokes.push_back({foot,
                         {foot.x + (-dy - dx) / length * kStroke * 0.75,
                          foot.y + (dx - dy) / length * kStroke * 0.75}});
    }
    until -= length;
  }
  if (!strokes.empty()) svg.path(strokes, "hatch");
}

/// A little beyond the first of some points, away from the second: a place for a number.
Point beyond(const std::vector<Point>& points) {
  constexpr double kAway = 10.0;  // [px]
  const Point a = points[0];
  const Point b = points.size() > 1 ? points[1] : Point{a.x - 1.0, a.y + 1.0};
  const double length = std::max(std::hypot(a.x - b.x, a.y - b.y), 1e-9);
  return {a.x + kAway * (a.x - b.x) / length, a.y + kAway * (a.y - b.y) / length};
}

const char* state_name(std::size_t state, bool friction) {
  constexpr const char* kWith[] = {"free", "stick", "slip", "shock", "touched between two rows"};
  return state == States::kContact && !friction ? "contact" : kWith[state];
}

}  // namespace

PowerLaw fit_power_law(const std::vector<Point>& points) {
  double n = 0.0;
  double sx = 0.0;
  double sy = 0.0;
  double sxx = 0.0;
  double sxy = 0.0;
  for (const Point& p : points) {
    if (!(p.x > 0.0) || !(p.y > 0.0)) continue;
    const double x = std::log(p.x);
    const double y = std::log(p.y);
    n += 1.0;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const double det = n * sxx - sx * sx;
  if (!(det > 0.0)) return {};
  const double slope = (n * sxy - sx * sy) / det;
  return {slope, std::exp((sy - slope * sx) / n)};
}

std::string PanelView::class_of(std::size_t run, std::size_t curve) const {
  const std::size_t number = block_.runs.size() > 1 ? run : curve;
  return fmt::format("s{}", number % kSeriesColours);
}

std::string PanelView::title() const {
  std::string own = plan().title;
  // Bars and areas of several runs would cover each other: the first one's are shown.
  const bool shows_first = plan().kind != Kind::Curves && block_.runs.size() > 1;
  if (shows_first) own += (own.empty() ? "of " : ", of ") + block_.runs[0].label;
  bool is_first = true;
  for (std::size_t k = 0; k < panel_; ++k) is_first = is_first && !PanelView(block_, k).is_shown();
  if (!is_first || block_.heading.empty()) return own;
  return own.empty() ? block_.heading : block_.heading + ": " + own;
}

std::vector<std::pair<std::string, std::string>> PanelView::legend() const {
  std::vector<std::pair<std::string, std::string>> entries;
  if (plan().kind == Kind::Events) {
    std::array<bool, States::kCount> seen{};
    for (const States& states : data(block_.runs[0]).states) {
      for (const States::Run& r : states.runs()) {
        for (std::size_t s = 0; s < seen.size(); ++s) seen[s] = seen[s] || r.time[s] > 0.0;
      }
    }
    const certify::Certificate* certificate = block_.runs[0].certificate;
    const bool has_shocks = certificate != nullptr && !certificate->shocks.empty();
    const bool friction = seen[2] || seen[States::kShock];
    for (std::size_t s = 0; s < seen.size(); ++s) {
      // A step in the state of a shock is drawn in the colour of the strokes.
      if (!seen[s] || (s == States::kShock && has_shocks)) continue;
      entries.emplace_back(fmt::format("state{}", s), state_name(s, friction));
    }
    if (has_shocks) entries.emplace_back("shock", "shock");
    return entries;
  }
  if (plan().kind == Kind::Energy) {
    const bool with_potential = plan().y.size() > 1;
    if (with_potential) entries.emplace_back("area-v", plan().labels[0]);
    entries.emplace_back("area-t", plan().labels.back());
    if (with_potential) entries.emplace_back("area-lost", "what T + V has lost");
    return entries;
  }
  constexpr std::size_t kMost = 8;
  if (block_.runs.size() > kMost) return {};
  if (block_.runs.size() > 1) {
    for (std::size_t r = 0; r < block_.runs.size(); ++r) {
      entries.emplace_back(class_of(r, 0), block_.runs[r].label);
    }
  } else if (plan().y.size() > 1 && plan().y.size() <= kMost) {
    for (std::size_t j = 0; j < plan().y.size(); ++j) {
      entries.emplace_back(class_of(0, j), plan().labels[j]);
    }
  }
  return entries;
}

std::vector<std::vector<Point>> PanelView::pieces(const ShownRun& run, std::size_t curve) const {
  const PanelData& panel = data(run);
  if (plan().dots) {
    std::vector<std::vector<Point>> dots;
    for (const Point& p : panel.dots[curve].points()) dots.push_back({p});
    return dots;
  }
  return panel.series.empty() ? panel.trails[curve].pieces() : panel.series[curve].pieces();
}

Range PanelView::positive_range(bool of_x) const {
  Range range = kNoRange;
  for (const ShownRun& run : block_.runs) {
    for (std::size_t j = 0; j < plan().y.size(); ++j) {
      for (const std::vector<Point>& piece : pieces(run, j)) {
        for (const Point& p : piece) {
          const bool both = (!is_log_x(plan()) || p.x > 0.0) && (!is_log_y(plan()) || p.y > 0.0);
          if (both) take_in(range, of_x ? p.x : p.y);
        }
      }
    }
  }
  if (!(range.low <= range.high)) return {0.1, 1.0};
  return range.low < range.high ? range : Range{0.5 * range.low, 2.0 * range.high};
}

std::pair<Range, Range> PanelView::hulls() const {
  Range x = kNoRange;
  Range y = kNoRange;
  const auto take = [](Range& hull, const Range& part) {
    take_in(hull, part.low);
    take_in(hull, part.high);
  };
  for (const ShownRun& run : block_.runs) {
    const PanelData& panel = data(run);
    for (const Series& series : panel.series) {
      if (series.empty()) continue;
      take(x, series.times());
      take(y, series.values());
    }
    for (const Trail& trail : panel.trails) {
      if (trail.empty()) continue;
      take(x, trail.x());
      take(y, trail.y());
    }
    for (const Dots& dots : panel.dots) {
      if (dots.points().empty()) continue;
      take(x, dots.x());
      take(y, dots.y());
    }
    for (const States& states : panel.states) {
      for (const States::Run& r : states.runs()) take(x, {r.begin, r.end});
    }
    if (!plan().shows_body() || !run.data->body().is_known) continue;
    take(x, run.data->body().x);
    take(y, run.data->body().y);
  }
  return {x, y};
}

/// One of the two directions is nothing beside the other; where they are of different kinds, of
/// themselves.
bool PanelView::is_flat() const {
  constexpr double kFlat = 0.02;
  const auto [x, y] = hulls();
  if (!(x.low <= x.high)) return false;
  if (plan().equal) return std::min(x.size(), y.size()) <= kFlat * std::max(x.size(), y.size());
  const auto rests = [](const Range& range) {
    return range.size() <= 1e-9 * std::max(std::abs(range.low), std::abs(range.high));
  };
  return rests(x) || rests(y);
}

bool PanelView::is_shown() const {
  if (plan().only_played) return false;
  if (plan().gives_way) return !is_flat();
  if (plan().instead_of < 0) return true;
  const PanelView plane(block_, static_cast<std::size_t>(plan().instead_of));
  if (!plane.is_flat()) return false;
  const auto [x, y] = plane.hulls();
  const double own = plan().is_of_y ? y.size() : x.size();
  const double other = plan().is_of_y ? x.size() : y.size();
  // Of the two the one that moves; where neither does, or their kinds differ, both.
  return own >= other || !plane.plan().equal;
}

/// A plane that the program has chosen shows a long thin motion larger than life across.
bool PanelView::is_equal() const {
  constexpr double kLong = 12.0;
  if (!plan().equal || block_.plan->is_written) return plan().equal;
  const auto [x, y] = hulls();
  const double least = std::min(x.size(), y.size());
  return least <= 0.02 * std::max(x.size(), y.size()) ||
         std::max(x.size(), y.size()) <= kLong * least;
}

Range PanelView::energy_range(const Range& hull) const {
  double lowest = 0.0;  // areas stand on the lowest potential, or on zero
  if (plan().y.size() > 1) {
    lowest = std::numeric_limits<double>::infinity();
    for (const ShownRun& run : block_.runs) {
      lowest = std::min(lowest, data(run).series[0].values().low);
    }
  }
  const double high = hull.high - lowest;
  return {0.0, high > 0.0 ? 1.06 * high : 1.0};
}

std::pair<Range, Range> PanelView::ranges() const {
  constexpr double kThin = 0.2;  // of the other direction, where a unit is as long in both
  auto [x, y] = hulls();
  if (!(x.low <= x.high)) x = {0.0, 1.0};
  if (!(y.low <= y.high)) y = {0.0, 1.0};
  if (is_equal()) {
    const auto fatten = [](Range& thin, const Range& other) {
      const double lack = 0.5 * std::max(0.0, kThin * other.size() - thin.size());
      thin = {thin.low - lack, thin.high + lack};
    };
    const Range as_it_was = x;
    fatten(x, y);
    fatten(y, as_it_was);
  }
  if (!plan().is_history() || x.size() <= 0.0) {
    x = widened(x, plan().is_history() ? 0.0 : kRangeMargin);
  }
  y = plan().kind == Kind::Energy ? energy_range(y) : widened(y, kRangeMargin);
  if (is_log_x(plan())) x = positive_range(true);
  if (is_log_y(plan())) {
    y = positive_range(false);
    y = {y.low / 1.2, y.high * 1.2};
  }
  if (plan().x_range) x = {plan().x_range->first, plan().x_range->second};
  if (plan().y_range) y = {plan().y_range->first, plan().y_range->second};
  return {x, y};
}

void PanelView::set_axes(Frame& frame) const {
  std::tie(frame.x.range, frame.y.range) = ranges();
  frame.x.is_log = is_log_x(plan());
  frame.x.label = labelled(plan().x, plan().x_label);
  frame.x.is_bare = plan().x.text.empty();
  frame.y.is_bare = !plan().y.empty() && plan().y[0].text.empty();
  if (plan().kind == Kind::Events) {
    frame.y.range = {0.0, 1.0};
    return;
  }
  frame.y.is_log = is_log_y(plan());
  if (plan().kind == Kind::Energy) {
    frame.y.label = "energy";
  } else if (!plan().y_label.empty() || plan().y.size() == 1) {
    frame.y.label = labelled(plan().y[0], plan().y_label);
  } else {
    const std::string& unit = plan().y[0].unit;
    frame.y.label = unit.empty() ? "" : fmt::format("[{}]", unit);
  }
  if (is_equal() && frame.height > 0.0) frame.equalise();
}

double PanelView::height_for(double width, double most) const {
  if (plan().kind == Kind::Events) {
    return 10.0 + kBarSpacing * static_cast<double>(std::max<std::size_t>(plan().y.size(), 1));
  }
  if (plan().kind == Kind::Energy) return std::min(most, 210.0);
  if (!is_equal()) {
    const double usual = plan().is_history() ? 0.30 * width : 0.60 * width;
    return std::clamp(usual, 130.0, most);
  }
  const auto [x, y] = ranges();
  const double wanted = width * y.size() / x.size();
  const bool is_given = plan().x_range && plan().y_range;  // then both are kept, if at all possible
  return std::clamp(wanted, 110.0, is_given ? 2.0 * most : most);
}

double PanelView::left_room(const Frame& frame) const {
  if (plan().kind != Kind::Events) return frame.left_room();
  double widest = 0.0;
  for (const std::string& label : plan().labels) {
    widest = std::max(widest, text_width(label, kLabelSize));
  }
  return std::min(widest, 140.0) + 17.0;
}

void PanelView::draw(Svg& svg, const Frame& frame) const {
  if (plan().kind == Kind::Events) return draw_events(svg, frame);
  frame.draw(svg);
  svg.begin_clip(frame.corner, frame.width, frame.height);
  if (plan().kind == Kind::Energy) {
    draw_energy(svg, frame);
    svg.end_clip();
  } else {
    draw_walls(svg, frame);
    draw_shocks(svg, frame);
    draw_bands(svg, frame);
    draw_curves(svg, frame);
    if (plan().scale == ScaleKind::LogLog) draw_slopes(svg, frame);
    draw_snapshots(svg, frame);
    svg.end_clip();
    draw_ends(svg, frame);
    draw_marks(svg, frame);
  }
  frame.draw_border(svg);
}

/// Where coordinates are shown against time: how far they may be off.
void PanelView::draw_bands(Svg& svg, const Frame& frame) const {
  const ShownRun& run = block_.runs[0];
  if (!plan().is_history() || run.bar == nullptr || run.bar->times.empty()) return;
  if (block_.runs.size() > 1 || is_log_y(plan())) return;
  const record::ErrorBar& bar = *run.bar;
  const std::size_t count = bar.middle.size() / bar.times.size();
  const auto& columns = block_.plan->columns;
  for (std::size_t j = 0; j < plan().y.size(); ++j) {
    const auto column = std::find(columns.begin(), columns.end(), plan().y[j].text);
    const auto i = static_cast<std::size_t>(column - columns.begin());  // t comes first
    if (i == 0 || i > count) continue;
    std::vector<Point> above;
    std::vector<Point> below;
    double widest = 0.0;
    for (std::size_t k = 0; k < bar.times.size(); ++k) {
      const std::size_t at = k * count + i - 1;
      const auto edge = [&](double side) {
        const double y = bar.middle[at] + side * bar.band[at];
        return Point{bar.times[k], std::clamp(y, frame.y.range.low, frame.y.range.high)};
      };
      above.push_back(edge(1.0));
      below.push_back(edge(-1.0));
      widest = std::max(widest, bar.band[at]);
    }
    if (widest / frame.y.range.size() * frame.height < kSmooth) continue;  // nothing to be seen
    std::vector<Point> outline = simplified(frame.at(above), kSmooth);
    const std::vector<Point> lower = simplified(frame.at(below), kSmooth);
    outline.insert(outline.end(), lower.rbegin(), lower.rend());
    svg.polygon(outline, fmt::format("band {}", class_of(0, j)));
  }
}

void PanelView::draw_curves(Svg& svg, const Frame& frame) const {
  // Where the body itself is drawn, the way of one of its points would be in the way.
  if (plan().snapshots.is_on() || plan().is_line()) return;
  for (std::size_t r = 0; r < block_.runs.size(); ++r) {
    for (std::size_t j = 0; j < plan().y.size(); ++j) {
      std::vector<std::vector<Point>> drawn;
      for (const std::vector<Point>& piece : pieces(block_.runs[r], j)) {
        std::vector<Point> points = simplified(frame.at(piece), kSmooth);
        if (!points.empty()) drawn.push_back(std::move(points));
      }
      constexpr std::size_t kFew = 400;  // dots that may be large
      const char* const dots = !plan().dots ? "" : drawn.size() > kFew ? "dots " : "dots few ";
      svg.path(drawn, fmt::format("curve {}{}", dots, class_of(r, j)));
    }
  }
}

void PanelView::draw_walls(Svg& svg, const Frame& frame) const {
  const ShownRun& run = block_.runs[0];
  if (run.model == nullptr || run.data->rows() == 0) return;
  const Window window{frame.x.range, frame.y.range, frame.width, frame.height};
  svg.begin_group("class=\"walls\"");
  for (const WallCurve& wall :
       find_walls(*run.model, *block_.plan, plan(), window, run.data->last_row())) {
    const std::vector<Point> curve = frame.at(wall.points);
    svg.polyline(simplified(curve, 0.1), "wall");
    draw_hatch(svg, curve);
  }
  svg.end_group();
}

void PanelView::draw_ends(Svg& svg, const Frame& frame) const {
  if (plan().snapshots.is_on() || (plan().is_line() && block_.runs[0].data->rows() > 1)) return;
  for (const ShownRun& run : block_.runs) {
    for (const Trail& trail : data(run).trails) {
      if (trail.empty()) continue;
      for (const bool first : {true, false}) {
        const Point at = frame.at(first ? trail.first() : trail.last());
        if (frame.holds(at)) svg.circle(at, kDot, first ? "start" : "end");
      }
    }
  }
}

/// Numbers stand beside the curve, on the left of the way to the next mark.
void PanelView::draw_marks(Svg& svg, const Frame& frame) const {
  constexpr double kBeside = 9.0;  // [px]
  const scene::Every& every = plan().marks;
  if (!every.is_on()) return;
  for (const ShownRun& run : block_.runs) {
    const std::vector<Mark>& marks = data(run).marks;
    for (std::size_t k = 0; k < marks.size(); ++k) {
      const Point at = frame.at(marks[k].at);
      if (!frame.holds(at)) continue;
      svg.mark(at, "+", 3.0, "mark");
      if (every.numbers == 0 || marks[k].number % every.numbers != 0) continue;
      const Point before = frame.at(marks[k == 0 ? 0 : k - 1].at);
      const Point after = frame.at(marks[std::min(k + 1, marks.size() - 1)].at);
      const double length = std::max(std::hypot(after.x - before.x, after.y - before.y), 1e-9);
      const Point beside = {at.x + kBeside * (after.y - before.y) / length,
                            at.y - kBeside * (after.x - before.x) / length};
      svg.text({beside.x, beside.y + 3.5}, std::to_string(marks[k].number), "middle", "number");
    }
  }
}

void PanelView::draw_snapshots(Svg& svg, const Frame& frame) const {
  if (!plan().snapshots.is_on()) return;
  const double scale = frame.width / frame.x.range.size();
  for (const ShownRun& run : block_.runs) {
    for (const Snapshot& snapshot : data(run).snapshots) {
      std::size_t next = 0;
      Point number_at;
      for (const scene::BodyPart& part : block_.plan->body) {
        DrawnPart drawn = part_at(part, snapshot.values, next);
        std::vector<Point> points = frame.at(drawn.points);
        if (points.size() != part.points.size()) continue;
        if (&part == &block_.plan->body.front()) number_at = beyond(points);
        using PartKind = scene::BodyPart::Kind;
        if (part.kind == PartKind::Circle) svg.circle(points[0], drawn.radius * scale, "body");
        const std::vector<Point> ends = points;
        if (part.kind == PartKind::Outline) points.push_back(points.front());
        if (points.size() > 1) svg.polyline(points, "body");
        for (std::size_t k = 0; k < part.marks.size(); ++k) {
          svg.mark(ends[k], part.marks[k], 3.5, "mark");
        }
      }
      const long long every = plan().snapshots.numbers;
      if (every == 0 || snapshot.number % every != 0) continue;
      svg.text({number_at.x, number_at.y + 3.5}, std::to_string(snapshot.number), "middle",
               "number");
    }
  }
}

void PanelView::draw_shocks(Svg& svg, const Frame& frame) const {
  if (!plan().is_history() || block_.runs.size() > 1) return;
  const certify::Certificate* certificate = block_.runs[0].certificate;
  if (certificate == nullptr || certificate->shocks.empty()) return;
  std::vector<std::vector<Point>> strokes;
  for (const certify::Shock& shock : certificate->shocks) {
    const double px = frame.corner.x + frame.x.part(shock.t) * frame.width;
    if (!strokes.empty() && std::abs(strokes.back()[0].x - px) < 0.5) continue;
    strokes.push_back({{px, frame.bottom()}, {px, frame.bottom() - 9.0}});
  }
  svg.path(strokes, "shock");
}

void PanelView::draw_slopes(Svg& svg, const Frame& frame) const {
  double line = 0.0;
  for (std::size_t r = 0; r < block_.runs.size(); ++r) {
    for (std::size_t j = 0; j < plan().y.size(); ++j) {
      std::vector<Point> points;
      for (const std::vector<Point>& piece : pieces(block_.runs[r], j)) {
        points.insert(points.end(), piece.begin(), piece.end());
      }
      const PowerLaw law = fit_power_law(points);
      if (!(law.factor > 0.0)) continue;
      const auto value = [&](double x) { return Point{x, law.factor * std::pow(x, law.exponent)}; };
      svg.polyline(frame.at({value(frame.x.range.low), value(frame.x.range.high)}), "fit");
      svg.text({frame.right() - 8.0, frame.corner.y + 16.0 + 15.0 * line},
               fmt::format("{}: slope {:.2f}", plan().labels[j], law.exponent), "end", "note");
      line += 1.0;
    }
  }
}

/// Painted from the back: what is lost, kinetic energy on top of potential energy, and their sum.
/// The areas are transparent, so each stands on a piece of paper of its own shape.
void PanelView::draw_energy(Svg& svg, const Frame& frame) const {
  const PanelData& panel = data(block_.runs[0]);
  const Series& total = panel.series.back();
  const bool with_potential = panel.series.size() > 1;
  const double lowest = with_potential ? panel.series[0].values().low : 0.0;
  const auto above_lowest = [&](std::vector<std::vector<Point>> pieces) {
    for (std::vector<Point>& piece : pieces) {
      for (Point& p : piece) p.y -= lowest;
      piece = simplified(frame.at(piece), kSmooth);
    }
    return pieces;
  };
  const auto area = [&](const std::vector<std::vector<Point>>& pieces, const char* css_class) {
    for (std::vector<Point> points : above_lowest(pieces)) {
      if (points.size() < 2) continue;
      points.push_back({points.back().x, frame.bottom()});
      points.push_back({points.front().x, frame.bottom()});
      svg.polygon(points, "paper");
      svg.polygon(points, css_class);
    }
  };
  if (with_potential) {
    const double top = total.values().high;
    area({{{total.times().low, top}, {total.times().high, top}}}, "area-lost");
  }
  area(total.pieces(), "area-t");
  if (with_potential) area(panel.series[0].pieces(), "area-v");
  svg.path(above_lowest(total.pieces()), "curve s6");
}

void PanelView::draw_events(Svg& svg, const Frame& frame) const {
  const Scale scale = frame.x_scale();
  for (std::size_t k = 0; k < scale.values.size(); ++k) {
    const double px = frame.corner.x + frame.x.part(scale.values[k]) * frame.width;
    svg.line({px, frame.bottom()}, {px, frame.bottom() + 5.0}, "tick");
    svg.text({px, frame.bottom() + 18.0}, scale.texts[k], "middle", "label");
  }
  svg.text({frame.corner.x + 0.5 * frame.width, frame.bottom() + 35.0}, frame.x.label, "middle",
           "note");
  const PanelData& panel = data(block_.runs[0]);
  for (std::size_t j = 0; j < panel.states.size(); ++j) {
    const double top = frame.corner.y + 8.0 + kBarSpacing * static_cast<double>(j);
    svg.text({frame.corner.x - 9.0, top + 12.0}, plan().labels[j], "end", "label");
    for (const States::Run& run : panel.states[j].runs()) {
      const double left = frame.corner.x + frame.x.part(run.begin) * frame.width;
      const double right = frame.corner.x + frame.x.part(run.end) * frame.width;
      double whole = 0.0;
      for (const double time : run.time) whole += time;
      double at = top;  // a run with several states is striped, by the time in each
      for (std::size_t s = 0; s < run.time.size(); ++s) {
        const double height = kBar * run.time[s] / whole;
        if (!(height >= kLeastStripe)) continue;
        svg.rectangle({std::min(left, right), at}, std::max(std::abs(right - left), 0.4), height,
                      fmt::format("state{}", s));
        at += height;
      }
    }
  }
  const certify::Certificate* certificate = block_.runs[0].certificate;
  if (certificate == nullptr) return;
  std::vector<std::vector<Point>> strokes;
  for (const certify::Shock& shock : certificate->shocks) {
    const auto contact = static_cast<std::size_t>(shock.contact);
    if (contact >= panel.states.size()) continue;
    const double px = frame.corner.x + frame.x.part(shock.t) * frame.width;
    const double top = frame.corner.y + 8.0 + kBarSpacing * static_cast<double>(contact);
    strokes.push_back({{px, top - 4.0}, {px, top + kBar + 4.0}});
  }
  if (!strokes.empty()) svg.path(strokes, "shock");
}

}  // namespace ricochet::plot
