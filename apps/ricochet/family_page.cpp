#include "family_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "family_text.h"
#include "ricochet/plot/page.h"
#include "ricochet/plot/sheet.h"
#include "ricochet/plot/svg.h"
#include "ricochet/study/family.h"

namespace ricochet::app {
namespace {

using Members = std::vector<std::optional<MemberRun>>;
using plot::escape;

/// The places at the end over the first key that is a number; "" where none is.
std::string picture_of_ends(const scene::Scene& scene, const Members& members) {
  constexpr std::size_t kMostCoordinates = 6;
  const scene::Family& family = scene.family;
  const auto is_number = [](const scene::FamilyKey& key) {
    return std::all_of(key.values.begin(), key.values.end(), [](const scene::Value& value) {
      return value.kind != scene::Value::Kind::Text;
    });
  };
  const auto key = std::find_if(family.keys.begin(), family.keys.end(), is_number);
  if (key == family.keys.end() || key->values.size() < 2) return "";
  scene::PlotPlan plan;
  plan.columns = {key->name};
  const std::vector<std::string>& names = scene.columns.coordinates;
  const std::size_t count = std::min(names.size(), kMostCoordinates);
  for (std::size_t i = 0; i < count; ++i) {
    plan.columns.push_back(names[i]);
    scene::PlotPanel panel;
    panel.dots = true;
    panel.x = {key->name, plan.graph.input(0), ""};
    panel.y = {{names[i], plan.graph.input(static_cast<int>(1 + i)), ""}};
    panel.labels = {names[i]};
    panel.y_label = names[i] + " at the end";
    plan.panels.push_back(panel);
  }
  plan.side_by_side = count > 1 ? 2 : 1;
  plot::Collector data(plan);
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (!members[k] || members[k]->final_place.size() < count) continue;
    std::vector<double> row = {
        family.value(k, static_cast<std::size_t>(key - family.keys.begin())).number};
    row.insert(row.end(), members[k]->final_place.begin(),
               members[k]->final_place.begin() + static_cast<std::ptrdiff_t>(count));
    data.add(row);
  }
  data.close();
  return plot::draw_sheet({plot::Block{&plan, {{&data, "", nullptr, nullptr}}, ""}}, {}).svg;
}

std::string table_of_members(const scene::Scene& scene, const Members& members) {
  constexpr std::size_t kMost = 1000;
  std::string text =
      "<div class=\"scroll\"><table>\n<tr><th>member</th><th>values</th><th>status</th>"
      "<th>at the end</th><th>residual</th><th>violation</th></tr>\n";
  for (std::size_t k = 0; k < std::min(members.size(), kMost); ++k) {
    const std::string file = study::member_file(k + 1, members.size());
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td>",
        members[k] ? fmt::format("<a href=\"{}\">{}</a>", file, k + 1) : std::to_string(k + 1),
        escape(scene.family.describe(k)));
    text += members[k]
                ? fmt::format("<td>{}</td><td>{}</td><td>{:.2g}</td><td>{:.3g}</td></tr>\n",
                              escape(members[k]->row.status), escape(members[k]->final_words),
                              members[k]->residual, members[k]->violation)
                : std::string("<td>not run</td><td></td><td></td><td></td></tr>\n");
  }
  text += "</table></div>\n";
  if (members.size() > kMost) text += fmt::format("<p>And {} more.</p>\n", members.size() - kMost);
  return text;
}

}  // namespace

std::string family_page(const scene::Scene& scene, const record::FamilySummary& summary,
                        const Members& members, const std::string& picture) {
  std::string body = fmt::format(
      "<header><h1>{}</h1>\n<p class=\"soft\">{}</p>\n<p><span class=\"status\">{}</span> {}</p>"
      "</header>\n<main>\n",
      escape(scene.title), escape(scene.source), escape(record::status_of(summary)),
      escape(describe_members(scene.family)));
  body += "<h2>Runs</h2>\n" + plot::figure(picture, "", "picture");
  const std::string ends = picture_of_ends(scene, members);
  if (!ends.empty()) body += "<h2>Ends</h2>\n" + plot::figure(ends, "", "picture");
  body += "<h2>Members</h2>\n" + table_of_members(scene, members);
  body += fmt::format("<h2>Scene</h2>\n<pre>{}</pre>\n</main>\n", escape(scene.text));
  return plot::make_page(scene.title, body);
}

}  // namespace ricochet::app
