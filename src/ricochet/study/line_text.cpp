#include "ricochet/study/line_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ricochet/base/text.h"

namespace ricochet::study {
namespace {

using base::counted;
using base::entry;

constexpr std::size_t kMostPlaces = 8;

std::string describe_frequencies(const std::vector<double>& frequencies) {
  std::string words;
  for (const double frequency : frequencies) {
    words += fmt::format("{}{:.6g}", words.empty() ? "" : ", ", frequency);
  }
  return entry("modes", words + " Hz, without guides");
}

std::string with_error(const structure::Estimate& estimate) {
  return fmt::format("{:.4g} ± {:.1g}", estimate.value, estimate.error);
}

std::string words_of(const structure::GuideStatistics& guide, int planes) {
  if (guide.impacts == 0) return guide.name + ": not touched";
  std::string words = fmt::format(
      "{}: {}, rate {} 1/s, in contact {} of the time, impulse {:.4g} (mean {:.3g}, rms {:.3g}, "
      "max {:.3g}), force up to {:.4g}, work rate {} normal",
      guide.name, counted(guide.impacts, "impact"), with_error(guide.rate),
      with_error(guide.contact_ratio), guide.impulse, guide.impulse_mean, guide.impulse_rms,
      guide.impulse_max, guide.force_max, with_error(guide.work_normal));
  if (planes == 2) words += ", " + with_error(guide.work_sliding) + " sliding";
  return words;
}

/// The first few of a list, each behind the label or below it, and how many more there are.
template <class List, class Words>
std::string list_entries(const std::string& label, const List& list, Words&& words) {
  std::string text;
  for (std::size_t k = 0; k < std::min(list.size(), kMostPlaces); ++k) {
    text += entry(k == 0 ? label : "", words(list[k], k));
  }
  if (list.size() > kMostPlaces) {
    text += entry("", fmt::format("... and {} more", list.size() - kMostPlaces));
  }
  return text;
}

std::string describe_reduction(const record::Reduced& reduced) {
  std::string words = fmt::format("{} and {}", counted(reduced.modes, "mode"),
                                  counted(reduced.corrections, "static correction"));
  for (std::size_t k = 0; k < std::min(reduced.points.size(), kMostPlaces); ++k) {
    const record::ReducedPoint& point = reduced.points[k];
    words += fmt::format("; {}: off the whole model by {:.2g} (rms), {:.2g} of its motion",
                         point.name, point.rms, point.whole > 0.0 ? point.rms / point.whole : 0.0);
  }
  return entry("reduced", words);
}

}  // namespace

std::string kind_of(const scene::StructurePart& part) {
  constexpr std::array kKinds = {"beam", "string", "bar"};
  constexpr std::array kBeam = {"differences as printed", "differences, ends corrected",
                                "Hermite elements"};
  constexpr std::array kOther = {"lumped masses", "lumped masses", "consistent masses"};
  const auto kind = static_cast<std::size_t>(part.line.kind);
  const auto form = static_cast<std::size_t>(part.line.form);
  return fmt::format("{} of {} cells, {}, {}", kKinds[kind], part.line.cells,
                     kind == 0 ? kBeam[form] : kOther[form],
                     counted(part.model->size(), "coordinate"));
}

std::string describe_part(const scene::StructurePart& part) {
  return describe_frequencies(part.frequencies) +
         list_entries("guides", part.model->guides, [](const structure::Guide& guide, std::size_t) {
           std::string words = fmt::format("{} at x = {:g}", guide.name, guide.at);
           if (guide.has_lower()) words += fmt::format(", {:g} below", -guide.lower);
           if (guide.has_upper()) words += fmt::format(", {:g} above", guide.upper);
           words += fmt::format(", restitution {:g}", guide.restitution);
           if (guide.friction > 0.0) words += fmt::format(", friction {:g}", guide.friction);
           return words;
         });
}

std::string describe_average(const Motion& motion) {
  const certify::Certificate& books = motion.outcome.certificate;
  if (motion.scene.columns.contacts.empty() || !std::isfinite(books.average_gap)) return "";
  const bool kept = books.average_gap >= -books.average_allowed;
  return entry("average",
               fmt::format("position {} its guides at every step (least gap {:.1e}, rounding "
                           "{:.1e})",
                           kept ? "within" : "BEYOND", books.average_gap, books.average_allowed));
}

std::string describe_works(const Motion& motion) {
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  return entry("energy", fmt::format("T + V {:.6g} -> {:.6g}, highest {:.6g}",
                                     ledger.kinetic_start + ledger.potential_start,
                                     ledger.kinetic_end + ledger.potential_end, ledger.highest)) +
         entry("",
               fmt::format("work of loads {:.6g}, damping {:.6g}, contacts {:.6g} (friction "
                           "{:.3g}, created {:.2g}), closure {:.1e}",
                           ledger.loads.value(), ledger.damping.value(), ledger.contacts.value(),
                           ledger.friction.value(), ledger.gain.value(), ledger.closure.value()));
}

std::string describe_statistics(const Motion& motion) {
  const record::LineRecord& line = *motion.structure;
  std::string text = list_entries("guides", line.guides,
                                  [&](const structure::GuideStatistics& guide, std::size_t) {
                                    return words_of(guide, line.line.planes);
                                  });
  text += list_entries(
      "points", line.points, [&](const structure::PointStatistics& point, std::size_t k) {
        return fmt::format("{} = {:.9g} at the end; rms {}, from {:.4g} to {:.4g}{}", point.name,
                           motion.final_state.q[static_cast<Eigen::Index>(k)],
                           with_error(point.rms), point.lowest, point.highest,
                           point.main_frequency > 0.0
                               ? fmt::format(", strongest at {:.4g} ± {:.2g} Hz",
                                             point.main_frequency, 0.5 * point.resolution)
                               : "");
      });
  if (line.reduction) text += describe_reduction(*line.reduction);
  return text + describe_frequencies(line.frequencies);
}

}  // namespace ricochet::study
