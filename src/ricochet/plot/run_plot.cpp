#include "ricochet/plot/run_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/plot/walls.h"
#include "ricochet/plot/world_plot.h"

namespace ricochet::plot {

std::string remarks_on(const scene::PlotPlan& plan, const Collector& data,
                       const model::FormulaModel* model) {
  constexpr long long kFew = 50;
  if (data.rows() == 0) return "";
  std::string remarks;
  for (const scene::PlotPanel& panel : plan.panels) {
    if (model == nullptr || panel.only_played || !has_moving_walls(*model, panel, plan)) continue;
    double t = data.last_row()[0];
    for (const auto& [slot, value] : panel.at) {
      if (slot == model::FormulaSystem::kTimeSlot) t = value;
    }
    remarks += fmt::format("; moving walls as at t = {:g}", t);
    break;
  }
  if (data.rows() < kFew) {
    remarks += fmt::format("; {} recorded row{}", data.rows(), data.rows() == 1 ? "" : "s");
  }
  return remarks;
}

RunPicture::RunPicture(const scene::Scene& scene, std::size_t runs) : data_(scene.plot, runs) {
  if (scene.structure() != nullptr && !scene.plot.is_written) structure_.emplace(scene);
}

void RunPicture::add(std::span<const double> row, std::span<const double> pushed) {
  data_.add(row, pushed);
  if (structure_) structure_->add(row);
}

Sheet draw_run(const scene::Scene& scene, const RunPicture& picture,
               const certify::Certificate& certificate,
               const std::optional<record::LineRecord>& line, const std::string& subtitle,
               const record::ErrorBar* bar) {
  if (line && picture.structure() != nullptr) {
    return picture.structure()->draw(scene, *line, subtitle);
  }
  const Block block{&scene.plot, {{&picture.data(), "", scene.formulas(), &certificate, bar}}, ""};
  return draw_sheet(
      {block}, {scene.title, subtitle + remarks_on(scene.plot, picture.data(), scene.formulas()),
                scene.plot.caption});
}

namespace {

/// Of the planes of a picture those in which the start can be seen, with the body in its place.
scene::PlotPlan plan_of_start(const scene::PlotPlan& plan) {
  scene::PlotPlan planes = plan;
  std::erase_if(planes.panels, [](const scene::PlotPanel& panel) {
    const bool is_plane = panel.kind == scene::PlotPanel::Kind::Curves && !panel.is_history();
    return !is_plane || panel.instead_of >= 0 || !panel.equal;
  });
  for (scene::PlotPanel& panel : planes.panels) {
    panel.gives_way = panel.only_played = false;
    panel.marks = {};
    panel.snapshots.rows = plan.body.empty() ? 0 : 1;
    panel.snapshots.numbers = 0;
  }
  planes.is_written = true;
  return planes;
}

/// Room around the body, so that walls near it are seen. A point alone has no size: what is between
/// it and the origin is shown.
void give_size(scene::PlotPanel& panel, const Collector& data, std::size_t number) {
  if (panel.x_range || panel.y_range) return;
  const auto widen = [](Range range, double reach) {
    return std::pair{range.low - 0.4 * reach, range.high + 0.4 * reach};
  };
  if (panel.shows_body() && data.body().is_known) {
    const BodyExtent& body = data.body();
    const double reach = std::max(body.x.size(), body.y.size());
    if (!(reach > 0.0)) return;
    panel.x_range = widen(body.x, reach);
    panel.y_range = widen(body.y, reach);
    return;
  }
  const Point p = data.panels()[number].trails[0].last();
  const double reach = std::max(std::abs(p.x), std::abs(p.y));
  if (!(reach > 0.0)) return;
  const auto range = [&](double value, bool is_idle) {
    return is_idle ? std::pair{-reach, reach}
                   : widen({std::min(value, 0.0), std::max(value, 0.0)}, reach);
  };
  panel.x_range = range(p.x, panel.x.text.empty());
  panel.y_range = range(p.y, panel.y[0].text.empty());
}

}  // namespace

std::optional<Sheet> draw_start(const scene::Scene& scene) {
  if (scene.world() != nullptr) return draw_world_start(scene);
  scene::PlotPlan plan = plan_of_start(scene.plot);
  if (plan.panels.empty() || scene.formulas() == nullptr) return std::nullopt;
  std::vector<double> row(plan.columns.size(), 0.0);
  row[0] = scene.start.t;
  std::copy(scene.start.q.begin(), scene.start.q.end(), row.begin() + 1);
  std::copy(scene.start.u.begin(), scene.start.u.end(), row.begin() + 1 + scene.start.q.size());
  Collector data(plan);
  data.add(row);
  data.close();
  for (std::size_t k = 0; k < plan.panels.size(); ++k) give_size(plan.panels[k], data, k);
  const Block block{&plan, {{&data, "", scene.formulas(), nullptr}}, ""};
  return draw_sheet({block},
                    {scene.title, fmt::format("as it starts, t = {:g}", scene.start.t), ""});
}

}  // namespace ricochet::plot
