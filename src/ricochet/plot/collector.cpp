#include "ricochet/plot/collector.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>

namespace ricochet::plot {
namespace {

constexpr int kCurves = 0;  // groups of the tape
constexpr int kBody = 1;

}  // namespace

std::vector<formula::NodeId> body_nodes(const std::vector<scene::BodyPart>& body) {
  std::vector<formula::NodeId> nodes;
  for (const scene::BodyPart& part : body) {
    for (const scene::PlotPoint& point : part.points) {
      nodes.insert(nodes.end(), point.begin(), point.end());
    }
    if (part.radius >= 0) nodes.push_back(part.radius);
  }
  return nodes;
}

void BodyExtent::add(Point p, double radius) {
  if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(radius)) return;
  const double r = std::abs(radius);
  const auto take = [&](Range& range, double at) {
    const double low = is_known ? std::min(range.low, at - r) : at - r;
    range = {low, is_known ? std::max(range.high, at + r) : at + r};
  };
  take(x, p.x);
  take(y, p.y);
  is_known = true;
}

void Dots::add(Point p) {
  if (!std::isfinite(p.x) || !std::isfinite(p.y)) return;
  const bool is_first = points_.empty();
  x_ = is_first ? Range{p.x, p.x} : Range{std::min(x_.low, p.x), std::max(x_.high, p.x)};
  y_ = is_first ? Range{p.y, p.y} : Range{std::min(y_.low, p.y), std::max(y_.high, p.y)};
  points_.push_back(p);
  if (points_.size() > most_) thin();
}

void Dots::thin() {
  constexpr double kCells = 1000.0;
  const auto cell = [](double value, const Range& range) {
    return range.size() > 0.0 ? std::floor(kCells * (value - range.low) / range.size()) : 0.0;
  };
  std::set<std::pair<double, double>> seen;
  std::erase_if(points_,
                [&](Point p) { return !seen.emplace(cell(p.x, x_), cell(p.y, y_)).second; });
  most_ = std::max(most_, 2 * points_.size());
}

DrawnPart part_at(const scene::BodyPart& part, const std::vector<double>& values,
                  std::size_t& next) {
  DrawnPart drawn;
  for (std::size_t k = 0; k < part.points.size(); ++k) {
    drawn.points.push_back({values[next], values[next + 1]});
    next += 2;
  }
  if (part.radius >= 0) drawn.radius = values[next++];
  return drawn;
}

Collector::Collector(const scene::PlotPlan& plan, std::size_t runs)
    : plans_(plan.panels),
      parts_(plan.body),
      inputs_(plan.columns.size()),
      panels_(plan.panels.size()) {
  std::vector<formula::NodeId> roots;
  for (const scene::PlotPanel& panel : plans_) {
    roots.push_back(panel.x.node);
    for (const scene::PlotFormula& y : panel.y) roots.push_back(y.node);
  }
  const std::vector<formula::NodeId> body = body_nodes(plan.body);
  tape_ = formula::Tape(plan.graph, static_cast<int>(inputs_), {roots, body});
  registers_ = tape_.registers();
  make_panels(std::max<std::size_t>(runs, 1));
  for (std::size_t k = 0; k < plans_.size(); ++k) {
    if (plans_[k].kind != scene::PlotPanel::Kind::Events) continue;
    for (const scene::PlotFormula& y : plans_[k].y) {  // without friction: whether it pushed
      const bool of_pushes = plan.graph[y.node].op == formula::Op::Less;
      panels_[k].states.emplace_back(plan.rows_are_sums, of_pushes);
    }
  }
  roots.insert(roots.end(), body.begin(), body.end());
  find_columns(plan.graph, roots);
}

/// Curves share what fits into a picture of less than a megabyte.
void Collector::make_panels(std::size_t runs) {
  constexpr std::size_t kMostSteps = 30'000;  // of all trails; some 20 bytes each
  constexpr std::size_t kMostRuns = 12'000;   // of all series; some 45 bytes each
  std::size_t curves = 0;
  for (const scene::PlotPanel& panel : plans_) curves += runs * panel.y.size();
  curves = std::max<std::size_t>(curves, 1);
  std::size_t next = 0;
  for (std::size_t k = 0; k < plans_.size(); ++k) {
    Outputs& out = outputs_.emplace_back();
    out.x = tape_.outputs(kCurves)[next++];
    for (std::size_t j = 0; j < plans_[k].y.size(); ++j) {
      out.y.push_back(tape_.outputs(kCurves)[next++]);
    }
    if (plans_[k].kind == scene::PlotPanel::Kind::Events) continue;
    if (plans_[k].dots) {
      panels_[k].dots.resize(plans_[k].y.size());
    } else if (plans_[k].is_history()) {
      const std::size_t most = std::min(std::size_t{1024}, kMostRuns / curves);
      panels_[k].series.assign(plans_[k].y.size(), Series(most));
    } else {
      panels_[k].trails.assign(plans_[k].y.size(), Trail(kMostSteps / curves));
    }
  }
}

void Collector::find_columns(const formula::Graph& graph,
                             const std::vector<formula::NodeId>& nodes) {
  std::set<int> used = {0};
  for (const formula::NodeId node : nodes) {
    for (const int slot : graph.inputs_of(node)) used.insert(slot);
  }
  columns_used_.assign(used.begin(), used.end());
}

void Collector::add(std::span<const double> row, std::span<const double> pushed) {
  assert(row.size() == inputs_);
  if (rows_ == 0) first_row_.assign(row.begin(), row.end());
  last_row_.assign(row.begin(), row.end());
  std::copy(row.begin(), row.end(), registers_.begin());
  tape_.run(kCurves, registers_.data());
  for (std::size_t k = 0; k < panels_.size(); ++k) add_to(k, pushed);
  if (!parts_.empty()) add_body();
  for (std::size_t k = 0; k < panels_.size(); ++k) add_snapshot(k);
  ++rows_;
}

void Collector::add_to(std::size_t panel, std::span<const double> pushed) {
  PanelData& data = panels_[panel];
  const Outputs& out = outputs_[panel];
  const scene::PlotPanel& plan = plans_[panel];
  const double x = registers_[out.x];
  for (std::size_t j = 0; j < data.series.size(); ++j) data.series[j].add(x, registers_[out.y[j]]);
  for (std::size_t j = 0; j < data.dots.size(); ++j) data.dots[j].add({x, registers_[out.y[j]]});
  for (std::size_t j = 0; j < data.trails.size(); ++j) {
    data.trails[j].add({x, registers_[out.y[j]]});
  }
  for (std::size_t j = 0; j < data.states.size(); ++j) {
    const double state = registers_[out.y[j]];
    if (j < pushed.size()) {
      data.states[j].add(x, state, pushed[j]);
    } else {
      data.states[j].add(x, state);
    }
  }
  if (plan.marks.is_on() && rows_ % plan.marks.rows == 0 && data.marks.size() < kMostMarks) {
    data.marks.push_back({{x, registers_[out.y[0]]}, rows_ / plan.marks.rows});
  }
}

void Collector::add_snapshot(std::size_t panel) {
  const scene::Every& every = plans_[panel].snapshots;
  std::vector<Snapshot>& taken = panels_[panel].snapshots;
  if (!every.is_on() || rows_ % every.rows != 0 || taken.size() >= kMostSnapshots) return;
  taken.push_back({body_values_, rows_ / every.rows});
}

void Collector::add_body() {
  tape_.run(kBody, registers_.data());
  body_values_.clear();
  for (const std::size_t output : tape_.outputs(kBody)) body_values_.push_back(registers_[output]);
  std::size_t next = 0;
  for (const scene::BodyPart& part : parts_) {
    const DrawnPart drawn = part_at(part, body_values_, next);
    for (const Point& p : drawn.points) body_.add(p, drawn.radius);
  }
}

Collector Collector::only(std::size_t panel) const {
  Collector one;
  one.panels_ = {panels_[panel]};
  one.body_ = body_;
  one.first_row_ = first_row_;
  one.last_row_ = last_row_;
  one.rows_ = rows_;
  return one;
}

void Collector::close() {
  for (PanelData& panel : panels_) {
    for (Trail& trail : panel.trails) trail.close();
  }
}

}  // namespace ricochet::plot
