#include "ricochet/plot/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/plot/animation.h"
#include "ricochet/plot/page.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/plot/space.h"
#include "ricochet/plot/world_plot.h"

namespace ricochet::plot {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string contact_name(const record::Summary& summary, int contact) {
  return contact < 0 ? "" : summary.columns.contacts[static_cast<std::size_t>(contact)];
}

std::string head(const scene::Scene& scene, const record::Summary& s) {
  const std::string status = record::status_of(s);
  std::string text = fmt::format("<header>\n<h1>{}</h1>\n<p class=\"soft\">{}</p>\n",
                                 escape(scene.title), escape(scene.source));
  text += fmt::format(
      "<p><span class=\"status {}\">{}</span> {}, step {:g}, {} steps, t = {:g} to {:g}</p>\n",
      status == "ok" ? "agrees" : "differs", escape(status), escape(step::name_of(s.scheme)),
      s.run.step, s.outcome.steps, s.run.start_time, s.final_state.t);
  if (!scene.notes.empty()) text += fmt::format("<p>{}</p>\n", escape(scene.notes));
  return text +
         "<nav class=\"parts\"><a href=\"#motion\">Motion</a> <a href=\"#pictures\">Pictures</a> "
         "<a href=\"#certificate\">Certificate</a> " +
         (s.structure ? "<a href=\"#structure\">Guides and points</a> " : "") +
         "<a href=\"#energy\">Energy</a> "
         "<a href=\"#scene\">Scene</a> <a href=\"#timing\">Timing</a></nav>\n</header>\n<main>\n";
}

/// What is not proved, and how far it is known.
std::string error_words(const record::Summary& s) {
  const record::ErrorBar& bar = s.error_bar;
  if (!bar.made) {
    return fmt::format(
        "That the step is short enough is not proved, and how far the motion is off is not known: "
        "{}.",
        bar.not_made);
  }
  const std::string runs =
      fmt::format("runs with {} and {} steps over the same time", bar.steps[0], bar.steps[1]);
  if (!bar.unresolved.empty()) {
    return fmt::format("The digits do not hold, as {} tell: {}{}{}.", runs, bar.unresolved,
                       bar.horizon ? fmt::format("; horizon t = {:.6g}", *bar.horizon) : "",
                       record::watches_that_hold(bar));
  }
  if (s.columns.coordinates.empty() && !bar.farthest_of.empty()) {
    return fmt::format(
        "That the step is short enough is not proved; {} tell the error at the end: ± {} in places "
        "at most, that of {}.",
        runs, base::rounded_up(bar.farthest), bar.farthest_of);
  }
  std::string words = fmt::format(
      "That the step is short enough is not proved; {} tell the error "
      "at the end:",
      runs);
  constexpr std::size_t kMostNames = 12;
  const auto& names = s.columns.coordinates;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    words += fmt::format("{} {} = {}", i == 0 ? "" : ",", names[i],
                         base::with_bar(s.final_state.q[at], bar.position[i]));
  }
  return words + (names.size() > kMostNames ? ", ..." : ".");
}

/// Whether the law was obeyed, and how far the digits hold.
std::vector<std::string> verdict_words(const record::Summary& s) {
  const certify::Certificate& c = s.outcome.certificate;
  std::vector<std::string> words;
  if (!c.ok()) {
    const certify::FailureText failure = certify::describe(c.failure);
    words.push_back(fmt::format("The run was stopped at t = {:.9g}: {}. What to try: {}.",
                                c.failure_time, failure.meaning, failure.remedy));
    return words;
  }
  words.push_back(
      s.outcome.certified
          ? fmt::format("All {} steps were recomputed from the formulas of the scene by a judge "
                        "that knows neither the scheme nor the solver: each obeys the law.",
                        s.outcome.steps)
          : "The run was not judged: nothing is proved.");
  if (c.lost_displacement > s.run.limits.lost) {
    words.push_back(fmt::format(
        "Rounding swallowed {:.2g} of the way of a coordinate: its digits are not there.",
        c.lost_displacement));
  }
  words.push_back(s.outcome.interrupted ? "The run was interrupted; what is here is whole."
                                        : error_words(s));
  return words;
}

/// What was proved, in sentences.
std::vector<std::string> certificate_words(const record::Summary& s) {
  const certify::Certificate& c = s.outcome.certificate;
  const certify::Limits& limits = s.run.limits;
  std::vector<std::string> words = verdict_words(s);
  words.push_back(
      fmt::format("Impulses and velocities obey the law of contact with a residual of {:.2g} at "
                  "most; the limit is {:.0e}.",
                  c.residual_max, limits.residual));
  words.push_back(
      fmt::format("Momentum and positions add up to {:.2g} at most; the limit is {:.0e}.",
                  c.balance_max, limits.balance));
  if (c.arc_limit > 0.0) {
    words.push_back(fmt::format(
        "Motions between impacts follow the forces to {:.2g} at most; the limit is {:.0e}.",
        c.arc_max, c.arc_limit));
  }
  if (!s.columns.contacts.empty()) {
    words.push_back(
        c.violation_contact < 0
            ? "No gap was negative at the end of a step."
            : fmt::format("A wall is crossed by {:.3g} at most, by '{}' at t = {:.6g}: a "
                          "smaller step makes it less.",
                          c.violation_depth, contact_name(s, c.violation_contact),
                          c.violation_time));
  }
  if (c.adhesive_count > 0) {
    words.push_back(
        fmt::format("In {} steps a contact pulled, by {:.2g} at most, where it should have opened.",
                    c.adhesive_count, c.adhesive_max));
  }
  if (!c.impulses_unique) {
    words.emplace_back(
        "The impulses are not unique: others give the same motion, or with friction maybe another "
        "one.");
  }
  long long shocks = 0;
  for (const long long count : c.shock_counts) shocks += count;
  if (!c.shock_counts.empty()) {
    words.push_back(shocks == 1 ? "A contact closed at speed once."
                                : fmt::format("Contacts closed at speed {} times.", shocks));
  }
  return words;
}

Rows ledger_rows(const record::Summary& s) {
  const certify::Ledger& ledger = s.outcome.certificate.ledger;
  const auto arrow = [](double a, double b) { return fmt::format("{:.9g} → {:.9g}", a, b); };
  Rows rows = {{"kinetic energy T", arrow(ledger.kinetic_start, ledger.kinetic_end)}};
  if (s.columns.has_potential) {
    rows.emplace_back("potential energy V", arrow(ledger.potential_start, ledger.potential_end));
    rows.emplace_back("T + V", arrow(ledger.kinetic_start + ledger.potential_start,
                                     ledger.kinetic_end + ledger.potential_end));
  }
  rows.emplace_back("work of forces", fmt::format("{:.9g}", ledger.forces.value()));
  if (s.structure) {
    rows.emplace_back("of it, of loads", fmt::format("{:.9g}", ledger.loads.value()));
    rows.emplace_back("of it, of damping", fmt::format("{:.9g}", ledger.damping.value()));
  }
  rows.emplace_back("work of contacts in shocks", fmt::format("{:.9g}", ledger.shocks.value()));
  rows.emplace_back("work of lasting contacts",
                    fmt::format("{:.9g}", ledger.contacts.value() - ledger.shocks.value()));
  if (ledger.joints.value() != 0.0) {
    rows.emplace_back("work of joints", fmt::format("{:.3g}", ledger.joints.value()));
  }
  if (ledger.correction.value() != 0.0) {
    rows.emplace_back("V changed by corrections", fmt::format("{:.3g}", ledger.correction.value()));
  }
  rows.emplace_back("what does not add up", fmt::format("{:.1e}", ledger.defect.value()));
  return rows;
}

Rows timing_rows(const record::Summary& s, long long rows) {
  const double seconds = s.outcome.wall_seconds;
  Rows table = {{"steps", std::to_string(s.outcome.steps)},
                {"rows recorded", std::to_string(rows)},
                {"time", fmt::format("{:.3g} s", seconds)}};
  if (seconds > 0.0) {
    table.emplace_back("steps a second",
                       fmt::format("{:.3g}", static_cast<double>(s.outcome.steps) / seconds));
  }
  return table;
}

std::string pictures(const scene::Scene& scene, const record::Summary& s, const RunPicture& picture,
                     const ReportData& data) {
  const certify::Certificate& c = s.outcome.certificate;
  std::string text = "<h2 id=\"pictures\">Pictures</h2>\n";
  if (s.world) text += figure(draw_world(scene, *s.world, scene.source).svg, "", "picture");
  if (!s.world || scene.plot.is_written || !scene.plot.panels.empty()) {
    text += figure(draw_run(scene, picture, c, s.structure, scene.source, &s.error_bar).svg, "",
                   "picture");
  }
  if (!data.histories_plan().panels.empty()) {
    const Block block{
        &data.histories_plan(), {{&data.histories(), "", scene.formulas(), &c, &s.error_bar}}, ""};
    text += figure(draw_sheet({block}, {"Coordinates, velocities, phase portraits", "", ""}).svg,
                   "", "picture");
  }
  return text;
}

std::string certificate(const record::Summary& s) {
  std::string text = "<h2 id=\"certificate\">Certificate</h2>\n<ul>\n";
  for (const std::string& words : certificate_words(s)) {
    text += fmt::format("<li>{}</li>\n", escape(words));
  }
  text += "</ul>\n";
  for (const std::string& warning : s.warnings) {
    text += fmt::format("<p><strong>Warning:</strong> {}</p>\n", escape(warning));
  }
  if (!s.facts.empty()) text += "<h3>What the scene expects</h3>\n" + fact_list(s.facts);
  if (!s.facts_not_checked.empty()) {
    text += fmt::format("<p class=\"soft\">The facts of the scene were not checked: {}.</p>\n",
                        escape(s.facts_not_checked));
  }
  return text;
}

std::string with_error(const structure::Estimate& estimate) {
  return fmt::format("{:.4g} ± {:.1g}", estimate.value, estimate.error);
}

/// What engineers ask of a structure: guides, points, modes.
std::string guides_and_points(const record::LineRecord& line) {
  std::string text = "<h2 id=\"structure\">Guides and points</h2>\n";
  text += "<p class=\"soft\">Errors are standard errors, from twenty equal parts of the run.</p>\n";
  Rows rows;
  for (const structure::GuideStatistics& guide : line.guides) {
    rows.emplace_back(
        guide.name,
        guide.impacts == 0
            ? "not touched"
            : fmt::format(
                  "{} impacts, {} a second; in contact {} of the time; impulse {:.4g}, force "
                  "up to {:.4g}; work rate {} normal, {} sliding",
                  guide.impacts, with_error(guide.rate), with_error(guide.contact_ratio),
                  guide.impulse, guide.force_max, with_error(guide.work_normal),
                  with_error(guide.work_sliding)));
  }
  for (const structure::PointStatistics& point : line.points) {
    rows.emplace_back(
        point.name,
        fmt::format("rms {}, from {:.4g} to {:.4g}, strongest at {:.4g} Hz", with_error(point.rms),
                    point.lowest, point.highest, point.main_frequency));
  }
  std::string frequencies;
  for (const double f : line.frequencies) {
    frequencies += fmt::format("{}{:.6g}", frequencies.empty() ? "" : ", ", f);
  }
  rows.emplace_back("modes, without guides", frequencies + " Hz");
  return text + pair_table(rows);
}

std::string energy(const scene::Scene& scene, const record::Summary& s, const ReportData& data) {
  std::string text = "<h2 id=\"energy\">Energy and contacts</h2>\n";
  const Block block{
      &data.energy_plan(), {{&data.energy(), "", scene.formulas(), &s.outcome.certificate}}, ""};
  text += figure(draw_sheet({block}, {"Energy, gaps and impulses", "", ""}).svg, "", "picture");
  return text + pair_table(ledger_rows(s));
}

std::string scene_text(const scene::Scene& scene, const record::Summary& s) {
  std::string text = "<h2 id=\"scene\">Scene</h2>\n";
  if (!s.overrides.empty()) {
    text += "<p>Changed on the command line:";
    for (const std::string& change : s.overrides) {
      text += fmt::format(" <code>{}</code>", escape(change));
    }
    text += "</p>\n";
  }
  return text + fmt::format("<pre>{}</pre>\n", escape(scene.text));
}

}  // namespace

ReportData::ReportData(const scene::Scene& scene)
    : histories_plan_(scene::report_plan(scene.plot)),
      energy_plan_(scene::energy_plan(scene.plot)),
      histories_(histories_plan_),
      energy_(energy_plan_),
      frames_(scene.plot.columns, most_frames(scene)) {}

void ReportData::add(std::span<const double> row) {
  histories_.add(row);
  energy_.add(row);
  frames_.add(row);
}

void ReportData::close() {
  histories_.close();
  energy_.close();
}

std::string make_report(const scene::Scene& scene, const record::Summary& summary,
                        const RunPicture& picture, const ReportData& data) {
  const certify::Certificate& c = summary.outcome.certificate;
  std::string player;
  if (picture.structure() != nullptr) player = play_shapes(scene, *summary.structure, c);
  if (summary.world) player = play_world(scene, *summary.world);
  if (player.empty()) player = make_player(scene, picture.data(), data.frames(), c);
  std::string body = head(scene, summary);
  if (!summary.story.empty()) body += fmt::format("<p>{}</p>\n", escape(summary.story));
  body += "<h2 id=\"motion\">Motion</h2>\n";
  body += player.empty() ? "<p>There are too few recorded rows to show a motion.</p>\n" : player;
  if (!player.empty()) {
    body += fmt::format(
        "<p class=\"soft\">Space plays and pauses, ← and → go from frame to frame, Home and End to "
        "start and end. {}; a shock flashes.</p>\n",
        summary.world ? "Lines are pushes, as wide as their impulse is large"
        : picture.structure() != nullptr
            ? "The curves are the farthest places; arrows show where a guide is struck"
            : "Arrows are impulses since the frame before, their length by the square root");
  }
  const std::string space = make_space(scene, data.frames());
  if (!space.empty()) {
    body += "<h2 id=\"space\">In space</h2>\n" + space;
    body +=
        "<p class=\"soft\">Drag, or use the arrow keys, to turn it; the wheel, or + and -, to come "
        "closer; a double click "
        "to see it as at first. Walls are sections of the surfaces where gaps vanish, as at the "
        "end.</p>\n";
  }
  body += pictures(scene, summary, picture, data);
  body += certificate(summary);
  if (summary.structure) body += guides_and_points(*summary.structure);
  body += energy(scene, summary, data);
  body += scene_text(scene, summary);
  body +=
      "<h2 id=\"timing\">Timing</h2>\n" + pair_table(timing_rows(summary, picture.data().rows()));
  return make_page(scene.title, body + "</main>\n");
}

}  // namespace ricochet::plot
