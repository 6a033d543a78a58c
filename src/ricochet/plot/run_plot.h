#pragma once

#include <optional>
#include <span>
#include <string>

#include "ricochet/certify/certificate.h"
#include "ricochet/plot/sheet.h"
#include "ricochet/plot/structure_plot.h"
#include "ricochet/scene/scene.h"

namespace ricochet::plot {

/// Sees the rows of a run and keeps what its picture needs: the data of the scene's plan, and of a
/// structure without a [plot] what its own picture shows.
class RunPicture {
 public:
  RunPicture() = default;
  /// `runs` is how many runs one picture will show.
  explicit RunPicture(const scene::Scene& scene, std::size_t runs = 1);

  /// `pushed` is that of the row's step::Sample.
  void add(std::span<const double> row, std::span<const double> pushed = {});
  void close() { data_.close(); }

  const Collector& data() const { return data_; }
  /// What a picture of several runs needs.
  template <class Archive>
  void visit(Archive& archive) {
    archive(data_);
  }
  const StructurePicture* structure() const { return structure_ ? &*structure_ : nullptr; }

 private:
  Collector data_;
  std::optional<StructurePicture> structure_;
};

/// The picture of a run: what the scene's [plot] says, or what suits it. Walls are drawn from the
/// inequalities themselves; those that move, in a plane without time, as they are at the end, which
/// the caption says. `line` is there for runs of structures. With an error bar coordinates over
/// time have its band.
Sheet draw_run(const scene::Scene& scene, const RunPicture& picture,
               const certify::Certificate& certificate,
               const std::optional<record::LineRecord>& line, const std::string& subtitle,
               const record::ErrorBar* bar = nullptr);

/// The mechanism as it starts: the planes of the picture, with body and walls, before anything is
/// run. Nothing where the scene has no such plane.
std::optional<Sheet> draw_start(const scene::Scene& scene);

/// What a picture does not show by itself: when its walls stood there, that rows are few.
std::string remarks_on(const scene::PlotPlan& plan, const Collector& data,
                       const model::FormulaModel* model);

}  // namespace ricochet::plot
