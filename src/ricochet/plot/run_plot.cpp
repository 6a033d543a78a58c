#include "ricochet/plot/run_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "ricochet/plot/walls.h"

namespace ricochet::plot {

std::string remarks_on(const scene::PlotPlan& plan, const Collector& data,
                       const model::FormulaModel* model) {
  constexpr long long kFew = 50;
  if (data.rows() == 0) return "";
  std::string remarks;
  for (const scene::PlotPanel& panel : plan.panels) {
    if (model == nullptr || !has_moving_walls(*model, panel, plan)) continue;
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

}  // namespace ricochet::plot
