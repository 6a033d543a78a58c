#include "ricochet/study/gallery_structures.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "ricochet/study/structure_run.h"

namespace ricochet::study {
namespace {

StructureRun show_one(const std::string& name, Exhibit& exhibit) {
  StructureRun run = run_builtin_structure(name);
  long long impacts = 0;
  for (const structure::GuideStatistics& guide : run.outcome.statistics.guides()) {
    impacts += guide.impacts;
  }
  exhibit.table.push_back(fmt::format(
      "{:<22}{:>8}{:>8}{:>10}{:>9}{:>12.1e}", name, run.model->size(), run.model->guides.size(),
      run.outcome.run.steps, impacts, run.outcome.books.closure.value()));
  const certify::Certificate& c = run.outcome.run.certificate;
  if (!c.ok()) {
    exhibit.facts.push_back(
        {name + ": the run is certified",
         fmt::format("{} at t = {:g}", certify::describe(c.failure).name, c.failure_time), false});
    return run;
  }
  for (Fact fact : check_expectations(run)) {
    fact.statement = name + ", " + fact.statement;
    exhibit.facts.push_back(std::move(fact));
  }
  return run;
}

/// Whether two estimates agree within three standard errors.
Fact agreement(const std::string& name, const structure::Estimate& a,
               const structure::Estimate& b) {
  return {fmt::format("tube-20: the {} agrees between h and h/2 within its sampling error", name),
          fmt::format("{:.4g} ± {:.1g} and {:.4g} ± {:.1g}", a.value, a.error, b.value, b.error),
          std::abs(a.value - b.value) <= 3.0 * std::hypot(a.error, b.error)};
}

}  // namespace

Exhibit show_structures(const Runner&) {
  Exhibit exhibit;
  exhibit.table.push_back(fmt::format("{:<22}{:>8}{:>8}{:>10}{:>9}{:>12}", "", "coords", "guides",
                                      "steps", "impacts", "closure"));
  for (const char* name :
       {"tube-10", "tube-20", "tube-three-supports", "string-obstacle", "bar-wall"}) {
    const StructureRun run = show_one(name, exhibit);
    exhibit.plates.push_back({.name = name,
                              .title = run.scene.title,
                              .caption = run.scene.source,
                              .structure = name,
                              .about = {name}});
  }
  const std::vector<std::string> longer = {"run.until=8", "run.record=0"};
  std::vector<std::string> finer = longer;
  finer.push_back("run.step=5e-6");
  const StructureRun whole = run_builtin_structure("tube-20", longer);
  const StructureRun half = run_builtin_structure("tube-20", finer);
  const structure::GuideStatistics a = whole.outcome.statistics.guides()[0];
  const structure::GuideStatistics b = half.outcome.statistics.guides()[0];
  exhibit.facts.push_back(agreement("impact rate", a.rate, b.rate));
  exhibit.facts.push_back(agreement("work rate", a.work_normal, b.work_normal));
  exhibit.facts.push_back(agreement("rms of the tip", whole.outcome.statistics.points()[1].rms,
                                    half.outcome.statistics.points()[1].rms));
  const double apart = std::abs(whole.point(1) - half.point(1));
  exhibit.facts.push_back({"tube-20: the points themselves do not (exponential sensitivity)",
                           fmt::format("tips {:.2g} apart at the end", apart), apart > 1e-5});
  return exhibit;
}

}  // namespace ricochet::study
