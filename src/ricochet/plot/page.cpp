#include "ricochet/plot/page.h"

#include <fmt/format.h>

#include "ricochet/base/version.h"
#include "ricochet/plot/animation.h"
#include "ricochet/plot/svg.h"

namespace ricochet::plot {
namespace {

constexpr std::string_view kLight =
    "--ink: #23282f; --soft: #5d6570; --ground: #f6f7f9; --paper: #ffffff; --line: #dfe3e8; "
    "--link: #005f99; --good: #00785a; --bad: #b34700; --accent: #0072b2";
constexpr std::string_view kDark =
    "--ink: #e3e6ea; --soft: #a3abb6; --ground: #0d0f13; --paper: #14171c; --line: #2b313a; "
    "--link: #7cc4f5; --good: #35cfa3; --bad: #ff8a3d; --accent: #5eb5ec";

constexpr std::string_view kPageStyle = R"css(
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, Helvetica, Arial, sans-serif }
main, header, footer { max-width: 72rem; margin: 0 auto; padding: 0 1rem }
header { padding-top: 1.5rem } footer { padding: 2rem 1rem; color: var(--soft); font-size: .875rem }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem }
h3 { font-size: 1.05rem; margin: 1.4rem 0 .4rem } p { margin: .4rem 0 } a { color: var(--link) }
.soft { color: var(--soft) } nav.parts a { margin-right: 1rem; white-space: nowrap }
figure { margin: 0 0 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .5rem; overflow: hidden }
figure svg.rico, .player svg.rico, figure img { display: block; width: 100%; height: auto; max-width: 60rem; margin: 0 auto }
figcaption { padding: .4rem .5rem .2rem; color: var(--soft); font-size: .9rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
.scroll { overflow-x: auto }
pre { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .8rem; overflow-x: auto; font-size: .85rem; line-height: 1.4 }
ul.facts { list-style: none; padding: 0; margin: 0 } ul.facts li { padding: .45rem 0; border-bottom: 1px solid var(--line) }
ul.facts .found { display: block; color: var(--soft); font-size: .92rem }
.verdict { display: inline-block; min-width: 4.2rem; font-weight: 600 } .agrees { color: var(--good) } .differs { color: var(--bad) }
.status { display: inline-block; padding: .1rem .6rem; border-radius: 1rem; border: 1px solid currentColor; font-weight: 600 }
.player { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .5rem; max-width: 62rem; margin: 0 auto }
.player:focus-visible { outline: 3px solid var(--accent) }
.controls { display: flex; gap: .6rem; align-items: center; padding: .5rem; flex-wrap: wrap } .controls[hidden] { display: none }
.controls button, .controls select { font: inherit; min-width: 2.75rem; min-height: 2.75rem; border: 1px solid var(--line); border-radius: 6px; background: var(--ground); color: var(--ink) }
.controls .scrub { flex: 1 1 10rem; min-height: 2.75rem; accent-color: var(--accent) } .controls .time { min-width: 7rem; font-variant-numeric: tabular-nums }
.rico .live .dot { fill: #d55e00; stroke: none } .rico .live .dot1 { fill: #009e73 } .rico .live .dot2 { fill: #cc79a7 }
.rico .live .trail { fill: none; stroke: #d55e00; stroke-width: 2.2; stroke-opacity: .65; stroke-linejoin: round }
.rico .live .cursor { stroke: #d55e00; stroke-width: 1 } .rico .live .moving { fill: none; stroke: #d55e00; stroke-width: 3; stroke-linecap: round; stroke-linejoin: round }
.rico .live .arrow { fill: none; stroke: #009e73; stroke-width: 2; stroke-linecap: round } .rico .live .flash { fill: #f0b429; fill-opacity: .55 }
.space { position: relative; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; max-width: 62rem; margin: 0 auto; overflow: hidden }
.space:focus-visible { outline: 3px solid var(--accent) } .space canvas { display: block; width: 100%; touch-action: none; cursor: grab }
.theme { position: absolute; top: .8rem; right: 1rem; font: inherit; min-width: 2.75rem; min-height: 2.75rem; border: 1px solid var(--line); border-radius: 6px; background: var(--paper); color: var(--ink) }
.theme[hidden] { display: none }
.columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(16rem, 2fr); gap: 1.2rem; align-items: start }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .7rem; display: flex; flex-direction: column; gap: .3rem; color: inherit; text-decoration: none }
.card img { width: 100%; height: 12rem; object-fit: contain; background: var(--paper) } .card:hover, .card:focus-visible { border-color: var(--accent) }
.card .name { font-weight: 600 }
@media (max-width: 52rem) { .columns { grid-template-columns: minmax(0, 1fr) } }
@media print { .controls, nav.parts { display: none } }
)css";

/// The rules of pictures for a page whose reader has chosen between light and dark.
std::string chosen(std::string_view rules, const char* theme) {
  const std::string root = fmt::format(":root[data-theme=\"{}\"] ", theme);
  std::string text;
  for (std::size_t at = 0; at < rules.size();) {
    const std::size_t next = rules.find(".rico", at);
    text += rules.substr(at, next - at);
    if (next == std::string_view::npos) break;
    text += root + ".rico";
    at = next + 5;
  }
  return text;
}

/// Light or dark: as the system says, unless the reader chooses.
std::string themes() {
  constexpr std::string_view kQuery = "@media (prefers-color-scheme: dark) {";
  const std::string_view style = picture_style();
  const std::size_t at = style.find(kQuery);
  const std::string_view dark =
      style.substr(at + kQuery.size(), style.rfind('}') - at - kQuery.size());
  return fmt::format(
      ":root {{ color-scheme: light dark; {0} }}\n{2} :root {{ {1} }} }}\n"
      ":root[data-theme=\"light\"] {{ color-scheme: light; {0} }}\n"
      ":root[data-theme=\"dark\"] {{ color-scheme: dark; {1} }}\n{3}{4}",
      kLight, kDark, kQuery, chosen(style.substr(0, at), "light"), chosen(dark, "dark"));
}

}  // namespace

std::string make_page(const std::string& title, const std::string& body) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" "
      "href=\"data:,\">\n<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n"
      "<button type=\"button\" class=\"theme\" hidden aria-label=\"Light or dark\">◐</button>\n",
      escape(title), themes(), kPageStyle);
  page += body;
  page += fmt::format("<footer>Ricochet {}</footer>\n", base::kVersion);
  page += "<script>" + player_script() + "</script>\n";
  return page + "</body>\n</html>\n";
}

std::string figure(const std::string& svg, const std::string& caption, std::string_view css_class) {
  return fmt::format("<figure{}>\n{}{}</figure>\n",
                     css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class), svg,
                     caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", caption));
}

std::string fact_list(const std::vector<record::StatedFact>& facts) {
  std::string text = "<ul class=\"facts\">\n";
  for (const record::StatedFact& fact : facts) {
    text += fmt::format(
        "<li><span class=\"verdict {0}\">{0}</span> {1}<span class=\"found\">{2}</span></li>\n",
        fact.holds ? "agrees" : "differs", escape(fact.statement), escape(fact.found));
  }
  return text + "</ul>\n";
}

std::string pair_table(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string text = "<div class=\"scroll\"><table>\n";
  for (const auto& [name, value] : rows) {
    text +=
        fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(value));
  }
  return text + "</table></div>\n";
}

}  // namespace ricochet::plot
