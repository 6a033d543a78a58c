#include "error_bar_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "error_bar_scenes.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/companions.h"
#include "ricochet/study/family.h"

namespace ricochet::testing {
namespace {

void try_one(const KnownScene& known, BarRow& row) {
  const scene::Scene scene = scene::read_scene("known.toml", known.text);
  study::Companions companions(scene, study::BarChoice::Auto);
  const study::Motion motion = companions.run(false, {}, nullptr);
  const record::ErrorBar bar = companions.compare(motion, study::run_in_order, nullptr);
  ++row.tried;
  if (!bar.made) {
    ++row.refused;
    return;
  }
  if (!bar.unresolved.empty()) {
    ++row.unresolved;
    return;
  }
  bool within = true;
  const auto hold = [&](double found, double exact, double width) {
    constexpr double kRounding = 1e-12;
    const double error = std::abs(found - exact);
    within = within && error <= width;
    if (error > kRounding) row.ratios.push_back(width / error);
  };
  for (std::size_t i = 0; i < known.q.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    hold(motion.final_state.q[at], known.q[i], bar.position[i]);
    hold(motion.final_state.u[at], known.u[i], bar.velocity[i]);
  }
  row.within += within ? 1 : 0;
}

void add(const BarRow& row, BarRow& sum) {
  sum.tried += row.tried;
  sum.refused += row.refused;
  sum.unresolved += row.unresolved;
  sum.within += row.within;
  sum.ratios.insert(sum.ratios.end(), row.ratios.begin(), row.ratios.end());
}

}  // namespace

double BarRow::median() const {
  if (ratios.empty()) return 0.0;
  std::vector<double> sorted = ratios;
  const auto middle = sorted.begin() + static_cast<long>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::vector<BarRow> try_known_scenes(std::uint64_t seed, int count) {
  base::Random random(seed);
  std::vector<BarRow> rows(kKnownKinds);
  BarRow all;
  all.kind = "all";
  for (int kind = 0; kind < kKnownKinds; ++kind) {
    BarRow& row = rows[static_cast<std::size_t>(kind)];
    for (int k = 0; k < count; ++k) {
      const KnownScene known = random_known_scene(kind, random);
      row.kind = known.kind;
      try_one(known, row);
    }
    add(row, all);
  }
  rows.push_back(all);
  return rows;
}

std::string markdown_of(const std::vector<BarRow>& rows) {
  std::string text =
      "| scenes | tried | refused | unresolved | within the bar | bar over true error, median |\n"
      "|---|---|---|---|---|---|\n";
  for (const BarRow& row : rows) {
    text += fmt::format("| {} | {} | {} | {} | {} of {} | {:.1f} |\n", row.kind, row.tried,
                        row.refused, row.unresolved, row.within, row.given(), row.median());
  }
  return text;
}

}  // namespace ricochet::testing
