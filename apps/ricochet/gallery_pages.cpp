#include "gallery_pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "old_files.h"
#include "ricochet/host/output_file.h"
#include "ricochet/plot/animation.h"
#include "ricochet/plot/page.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/plot/table.h"
#include "ricochet/plot/world_plot.h"

namespace ricochet::app {
namespace {

using plot::escape;

constexpr const char* kFeatured = "essai-08/inel";  // what moves on the index

std::string card(const std::string& link, const std::string& picture, const std::string& name,
                 const std::string& words, const std::string& verdict) {
  return fmt::format(
      "<a class=\"card\" href=\"{}\"><img src=\"{}\" alt=\"{}\" loading=\"lazy\">"
      "<span class=\"name\">{}</span><span class=\"soft\">{}</span>{}</a>\n",
      escape(link), escape(picture), escape(name), escape(name), escape(words), verdict);
}

std::string verdict_of(std::size_t agreeing, std::size_t facts) {
  if (facts == 0) return "";
  return fmt::format("<span class=\"{}\">{} of {} stated facts agree</span>",
                     agreeing == facts ? "agrees" : "differs", agreeing, facts);
}

std::size_t count_agreeing(const std::vector<study::Fact>& facts) {
  return static_cast<std::size_t>(std::count_if(
      facts.begin(), facts.end(), [](const study::Fact& fact) { return fact.holds; }));
}

}  // namespace

KeptRun keep_run(const std::string& label, FolderRun& run) {
  KeptRun kept{label,
               run.motion.scene,
               run.picture,
               run.motion.outcome.certificate,
               run.report.frames(),
               run.motion.structure,
               ""};
  if (run.motion.world) {
    kept.bodies = plot::draw_world(kept.scene, *run.motion.world, "").svg;
  }
  return kept;
}

void GalleryPages::choose_player() {
  for (const KeptRun& run : runs_) {
    if (run.label != kFeatured && !player_.empty()) continue;
    player_ = plot::make_player(run.scene, run.picture.data(), run.frames, run.certificate);
    player_title_ = run.scene.title;
  }
}

std::vector<const KeptRun*> GalleryPages::find_all(const study::PlateRun& wanted) const {
  std::vector<const KeptRun*> found;
  for (const KeptRun& run : runs_) {
    const bool same = wanted.all ? run.label.starts_with(wanted.label) : run.label == wanted.label;
    if (same) found.push_back(&run);
  }
  return found;
}

GalleryPages::Picture GalleryPages::draw(const study::Plate& plate) const {
  if (!plate.svg.empty()) return {plate.svg, plate.svg};
  if (!plate.rows.empty()) {
    return {plot::draw_table(plate.title, plate.caption, plate.header, plate.rows), ""};
  }
  std::vector<plot::Block> blocks;
  for (const study::PlateRun& wanted : plate.runs) {
    const std::vector<const KeptRun*> together = find_all(wanted);
    if (together.empty()) continue;
    const KeptRun& first = *together[0];
    if (!first.bodies.empty()) return {first.bodies, first.bodies};
    if (first.line) {  // a structure has a picture of its own
      const std::string words =
          fmt::format("{}; {}, {}", plate.caption, step::name_of(first.scene.scheme),
                      study::describe_step(first.scene.run));
      return {plot::draw_run(first.scene, first.picture, first.certificate, first.line, words).svg,
              thumbnail_of(first)};
    }
    plot::Block block{&together[0]->scene.plot, {}, wanted.heading};
    const bool named = wanted.label.ends_with('/');  // "scene/": its runs go by their own names
    for (const KeptRun* run : together) {
      block.runs.push_back({&run->picture.data(),
                            named ? run->label.substr(wanted.label.size()) : "",
                            run->scene.formulas(), &run->certificate});
    }
    blocks.push_back(std::move(block));
  }
  return {plot::draw_sheet(blocks, {plate.title, "", plate.caption}).svg,
          blocks.empty() ? "" : plot::draw_thumbnail(blocks[0])};
}

std::string GalleryPages::thumbnail_of(const KeptRun& run) {
  if (!run.bodies.empty()) return run.bodies;
  return plot::draw_thumbnail(
      {&run.scene.plot, {{&run.picture.data(), "", run.scene.formulas(), &run.certificate}}, ""});
}

/// Beside the run; returns where it is.
std::string GalleryPages::write_thumbnail(const KeptRun& run) const {
  const std::string file = fmt::format("{}/thumbnail.svg", run.label);
  host::write_file(folder_ / file, thumbnail_of(run));
  return file;
}

std::string GalleryPages::runs_of_entry() const {
  std::string text = "<h2>Runs</h2>\n<div class=\"cards\">\n";
  for (const KeptRun& run : runs_) {
    text += card(fmt::format("../{}/{}", run.label, kReport), "../" + write_thumbnail(run),
                 run.label, run.scene.title, "");
  }
  return text + "</div>\n";
}

std::filesystem::path GalleryPages::add(const study::GalleryEntry& entry,
                                        const study::Exhibit& exhibit, std::vector<KeptRun> runs) {
  runs_ = std::move(runs);
  choose_player();
  const std::size_t agreeing = count_agreeing(exhibit.facts);
  std::string body = fmt::format(
      "<header><p><a href=\"../index.html\">All experiments</a></p>\n<h1>{}</h1>\n"
      "<p class=\"soft\">{}</p>\n<p>{}</p></header>\n<main>\n",
      escape(entry.title), escape(entry.source), verdict_of(agreeing, exhibit.facts.size()));
  Card shown{entry.name, entry.title, entry.source, "", exhibit.facts.size(), agreeing};
  for (const study::Plate& plate : exhibit.plates) {
    const auto [svg, small] = draw(plate);
    host::write_file(folder_ / fmt::format("plates/{}.svg", plate.name), svg);
    if (shown.picture.empty() && !small.empty()) {
      shown.picture = fmt::format("plates/{}-small.svg", plate.name);
      host::write_file(folder_ / shown.picture, small);
    }
    body +=
        fmt::format("<h2 id=\"{}\">{}</h2>\n<div class=\"columns\">\n{}<div>\n{}</div>\n</div>\n",
                    escape(plate.name), escape(plate.title), plot::figure(svg, "", "picture"),
                    plot::fact_list(exhibit.facts_of(plate)));
  }
  if (exhibit.plates.empty()) {
    body += "<h2>What is stated, and what we find</h2>\n" + plot::fact_list(exhibit.facts);
  }
  if (!exhibit.table.empty()) {
    std::string table;
    for (const std::string& line : exhibit.table) table += line + "\n";
    body += fmt::format("<h2>Figures</h2>\n<pre>{}</pre>\n", escape(table));
  }
  if (shown.picture.empty() && !runs_.empty()) {
    shown.picture = write_thumbnail(runs_[0]);
  }
  if (!runs_.empty()) body += runs_of_entry();
  const std::filesystem::path place = folder_ / entry.name / "index.html";
  host::write_file(place, plot::make_page(entry.title, body + "</main>\n"));
  cards_.push_back(std::move(shown));
  runs_.clear();
  return place;
}

std::filesystem::path GalleryPages::write_index() const {
  std::size_t all = 0;
  std::size_t agreeing = 0;
  std::string cards;
  for (const Card& shown : cards_) {
    all += shown.facts;
    agreeing += shown.agreeing;
    cards += card(shown.name + "/index.html", shown.picture, shown.title, shown.source,
                  verdict_of(shown.agreeing, shown.facts));
  }
  std::string body =
      "<header><h1>Ricochet: published experiments, recomputed</h1>\n"
      "<p class=\"soft\">Write the energies and the inequalities; get the motion, with the "
      "proof.</p>\n";
  body += fmt::format("<p>{} experiments; {}.</p></header>\n<main>\n", cards_.size(),
                      verdict_of(agreeing, all));
  if (!player_.empty()) {
    body += fmt::format(
        "<h2>{}</h2>\n{}<p class=\"soft\">Space plays and pauses, ← and → go from "
        "frame to frame.</p>\n",
        escape(player_title_), player_);
  }
  body += "<h2>Experiments</h2>\n<div class=\"cards\">\n" + cards + "</div>\n</main>\n";
  const std::filesystem::path place = folder_ / "index.html";
  host::write_file(place, plot::make_page("Ricochet gallery", body));
  return place;
}

}  // namespace ricochet::app
