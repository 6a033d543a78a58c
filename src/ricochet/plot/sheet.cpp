#include "ricochet/plot/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ricochet::plot {
namespace {

constexpr double kSheetMargin = 24.0;
constexpr double kTitleSize = 15.0;
constexpr double kRight = 18.0;  // beyond a frame, for half a tick's text
constexpr double kLegendLine = 18.0;

/// A panel with what is known of its place.
struct Slot {
  PanelView view;
  std::size_t block{0};
  int column{0};
  bool begins_row{false};
  Frame frame;
  std::vector<std::vector<std::pair<std::string, std::string>>> legend;  // lines of entries
  double head{0.0};  // what title and legend take above the frame
};

double entry_width(const std::string& words) { return 26.0 + text_width(words, kLabelSize) + 14.0; }

/// The entries of a legend in lines no wider than the frame.
void break_legend(Slot& slot) {
  slot.legend.clear();
  double used = 0.0;
  for (const auto& entry : slot.view.legend()) {
    const double width = entry_width(entry.second);
    if (slot.legend.empty() || used + width > slot.frame.width) {
      slot.legend.emplace_back();
      used = 0.0;
    }
    slot.legend.back().push_back(entry);
    used += width;
  }
  slot.head = 8.0 + kLegendLine * static_cast<double>(slot.legend.size()) +
              (slot.view.title().empty() ? 0.0 : 20.0);
}

/// Panels in a row of a block: no more than there are to be shown.
int columns_of(const Block& block) {
  int shown = 0;
  for (std::size_t k = 0; k < block.plan->panels.size(); ++k) {
    const bool is_wide = block.plan->panels[k].kind == scene::PlotPanel::Kind::Events;
    if (!is_wide && PanelView(block, k).is_shown()) ++shown;
  }
  return std::max(1, std::min(block.plan->side_by_side, shown));
}

std::vector<Slot> make_slots(const std::vector<Block>& blocks) {
  std::vector<Slot> slots;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const int columns = columns_of(blocks[b]);
    int column = 0;
    for (std::size_t k = 0; k < blocks[b].plan->panels.size(); ++k) {
      if (!PanelView(blocks[b], k).is_shown()) continue;
      // Events belong below everything else of the block, over its whole width.
      const bool is_wide =
          blocks[b].plan->panels[k].kind == scene::PlotPanel::Kind::Events && columns > 1;
      if (is_wide) column = 0;
      slots.push_back({PanelView(blocks[b], k), b, column, column == 0, {}, {}, 0.0});
      column = is_wide ? 0 : (column + 1) % columns;
    }
  }
  return slots;
}

/// Widths, ranges and heights. The room on the left of a column depends on the texts of its ticks,
/// which depend on the ranges, which may depend on the width: three rounds settle it.
void size_slots(std::vector<Slot>& slots, const std::vector<Block>& blocks, double width) {
  std::vector<double> left(4, 56.0);
  for (int round = 0; round < 3; ++round) {
    std::vector<double> needed(4, 40.0);
    for (Slot& slot : slots) {
      const int columns = columns_of(blocks[slot.block]);
      const bool is_wide = slot.view.plan().kind == scene::PlotPanel::Kind::Events;
      const double whole = (width - 2.0 * kSheetMargin + kRight) / (is_wide ? 1 : columns);
      const double room = left[static_cast<std::size_t>(slot.column)];
      slot.frame.width = whole - room - kRight;
      slot.frame.height = 0.0;
      slot.view.set_axes(slot.frame);
      const double tallest = width < 400.0 ? 0.55 * width : (columns > 1 ? 400.0 : 560.0);
      slot.frame.height = slot.view.height_for(slot.frame.width, tallest);
      slot.view.set_axes(slot.frame);
      double& most = needed[static_cast<std::size_t>(slot.column)];
      most = std::max(most, slot.view.left_room(slot.frame));
      slot.frame.corner.x = kSheetMargin + (is_wide ? 0.0 : slot.column * whole) + room;
    }
    left = needed;
  }
}

/// Row by row from `top`; returns where the last one ends.
double place_rows(std::vector<Slot>& slots, double top) {
  double y = top;
  for (std::size_t begin = 0; begin < slots.size();) {
    std::size_t end = begin + 1;
    while (end < slots.size() && !slots[end].begins_row) ++end;
    double head = 0.0;
    double height = 0.0;
    for (std::size_t k = begin; k < end; ++k) {
      break_legend(slots[k]);
      head = std::max(head, slots[k].head);
      height = std::max(height, slots[k].frame.height);
    }
    for (std::size_t k = begin; k < end; ++k) slots[k].frame.corner.y = y + head;
    y += head + height + kAxisBottom + 6.0;
    begin = end;
  }
  return y;
}

void draw_head(Svg& svg, const Slot& slot) {
  double y = slot.frame.corner.y - slot.head;
  if (!slot.view.title().empty()) {
    y += 20.0;
    svg.text({slot.frame.corner.x, y - 4.0}, slot.view.title(), "start", "heading");
  }
  for (const auto& line : slot.legend) {
    y += kLegendLine;
    double x = slot.frame.corner.x;
    for (const auto& [css_class, words] : line) {
      if (css_class == "shock") {
        svg.line({x + 10.0, y - 14.0}, {x + 10.0, y + 2.0}, css_class);
      } else if (css_class.front() == 's' && css_class.rfind("state", 0) != 0) {
        svg.line({x, y - 5.0}, {x + 20.0, y - 5.0}, "curve " + css_class);
      } else {
        svg.rectangle({x, y - 11.0}, 20.0, 11.0, css_class);
      }
      svg.text({x + 26.0, y - 1.0}, words, "start", "label");
      x += entry_width(words);
    }
  }
}

}  // namespace

Sheet draw_sheet(const std::vector<Block>& blocks, const SheetText& text) {
  int columns = 1;
  for (const Block& block : blocks) columns = std::max(columns, columns_of(block));
  Sheet sheet;
  sheet.width = text.width > 0.0 ? text.width : (columns > 1 ? 960.0 : 720.0);
  const double room = sheet.width - 2.0 * kSheetMargin;
  const std::vector<std::string> titles = fit_lines(text.title, room, kTitleSize, 2);
  const std::vector<std::string> notes = fit_lines(text.subtitle, room, kLabelSize, 3);
  const std::vector<std::string> caption = fit_lines(text.caption, room, kLabelSize, 6);
  const double top =
      14.0 + 20.0 * static_cast<double>(titles.size()) + 16.0 * static_cast<double>(notes.size());
  std::vector<Slot> slots = make_slots(blocks);
  const bool has_rows = std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
    return !block.runs.empty() && block.runs[0].data->rows() > 0;
  });
  if (!has_rows) slots.clear();
  size_slots(slots, blocks, sheet.width);
  const double below = place_rows(slots, top);
  sheet.height = below + 16.0 * static_cast<double>(caption.size()) + 10.0;
  Svg svg(sheet.width, sheet.height, text.title);
  double y = 6.0;
  for (const std::string& line : titles)
    svg.text({kSheetMargin, y += 20.0}, line, "start", "title");
  y += 2.0;
  for (const std::string& line : notes) svg.text({kSheetMargin, y += 16.0}, line, "start", "note");
  for (const Slot& slot : slots) {
    draw_head(svg, slot);
    svg.begin_group(
        fmt::format("class=\"panel\" data-panel=\"{}.{}\"", slot.block, slot.view.number()));
    slot.view.draw(svg, slot.frame);
    svg.end_group();
    sheet.panels.push_back({slot.block, slot.view.number(), slot.frame});
  }
  y = below;
  for (const std::string& line : caption)
    svg.text({kSheetMargin, y += 16.0}, line, "start", "note");
  sheet.svg = svg.finish();
  return sheet;
}

std::string draw_thumbnail(const Block& block) {
  constexpr double kWidth = 300.0;
  for (std::size_t k = 0; k < block.plan->panels.size(); ++k) {
    const PanelView view(block, k);
    if (!view.is_shown() || view.plan().kind == scene::PlotPanel::Kind::Events) continue;
    scene::PlotPlan plan = *block.plan;
    plan.panels = {block.plan->panels[k]};
    plan.panels[0].title.clear();
    plan.panels[0].gives_way = false;
    plan.panels[0].instead_of = -1;
    plan.side_by_side = 1;
    std::vector<Collector> data;
    for (const ShownRun& run : block.runs) data.push_back(run.data->only(k));
    Block alone{&plan, block.runs, ""};
    for (std::size_t r = 0; r < data.size(); ++r) alone.runs[r].data = &data[r];
    return draw_sheet({alone}, {"", "", "", kWidth}).svg;
  }
  return "";
}

}  // namespace ricochet::plot
