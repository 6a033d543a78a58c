#include "ricochet/plot/collector.h"

#include <algorithm>
#include <cassert>
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

Collector::Collector(const scene::PlotPlan& plan, std::size_t runs)
    : plans_(plan.panels), inputs_(plan.columns.size()), panels_(plan.panels.size()) {
  std::vector<formula::NodeId> roots;
  for (const scene::PlotPanel& panel : plans_) {
    roots.push_back(panel.x.node);
    for (const scene::PlotFormula& y : panel.y) roots.push_back(y.node);
  }
  const std::vector<formula::NodeId> body = body_nodes(plan.body);
  tape_ = formula::Tape(plan.graph, static_cast<int>(inputs_), {roots, body});
  registers_ = tape_.registers();
  make_panels(std::max<std::size_t>(runs, 1));
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
    if (plans_[k].kind == scene::PlotPanel::Kind::Events) {
      panels_[k].states.resize(plans_[k].y.size());
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

void Collector::add(std::span<const double> row) {
  assert(row.size() == inputs_);
  if (rows_ == 0) first_row_.assign(row.begin(), row.end());
  last_row_.assign(row.begin(), row.end());
  std::copy(row.begin(), row.end(), registers_.begin());
  tape_.run(kCurves, registers_.data());
  for (std::size_t k = 0; k < panels_.size(); ++k) add_to(k);
  for (std::size_t k = 0; k < panels_.size(); ++k) add_snapshot(k);
  ++rows_;
}

void Collector::add_to(std::size_t panel) {
  PanelData& data = panels_[panel];
  const Outputs& out = outputs_[panel];
  const scene::PlotPanel& plan = plans_[panel];
  const double x = registers_[out.x];
  for (std::size_t j = 0; j < data.series.size(); ++j) data.series[j].add(x, registers_[out.y[j]]);
  for (std::size_t j = 0; j < data.trails.size(); ++j) {
    data.trails[j].add({x, registers_[out.y[j]]});
  }
  for (std::size_t j = 0; j < data.states.size(); ++j) data.states[j].add(x, registers_[out.y[j]]);
  if (plan.marks.is_on() && rows_ % plan.marks.rows == 0 && data.marks.size() < kMostMarks) {
    data.marks.push_back({{x, registers_[out.y[0]]}, rows_ / plan.marks.rows});
  }
}

void Collector::add_snapshot(std::size_t panel) {
  const scene::Every& every = plans_[panel].snapshots;
  std::vector<Snapshot>& taken = panels_[panel].snapshots;
  if (!every.is_on() || rows_ % every.rows != 0 || taken.size() >= kMostSnapshots) return;
  taken.push_back(snapshot());
  taken.back().number = rows_ / every.rows;
}

Snapshot Collector::snapshot() {
  tape_.run(kBody, registers_.data());
  Snapshot taken;
  for (const std::size_t output : tape_.outputs(kBody)) taken.values.push_back(registers_[output]);
  return taken;
}

Collector Collector::only(std::size_t panel) const {
  Collector one;
  one.panels_ = {panels_[panel]};
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
