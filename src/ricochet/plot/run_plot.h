#pragma once

#include <string>

#include "ricochet/certify/certificate.h"
#include "ricochet/plot/sheet.h"
#include "ricochet/scene/scene.h"

namespace ricochet::plot {

/// The picture of a run: what the scene's [plot] says, or what suits it. Walls are drawn from the
/// inequalities themselves; those that move, in a plane without time, as they are at the end, which
/// the caption says. With an error bar coordinates over time have its band.
Sheet draw_run(const scene::Scene& scene, const Collector& data,
               const certify::Certificate& certificate, const std::string& subtitle,
               const record::ErrorBar* bar = nullptr);

/// What a picture does not show by itself: when its walls stood there, that rows are few.
std::string remarks_on(const scene::PlotPlan& plan, const Collector& data,
                       const model::FormulaModel& model);

}  // namespace ricochet::plot
