#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <unordered_map>

#include "commands.h"
#include "converter.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/formula/error.h"
#include "ricochet/host/input_file.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/csv_reader.h"
#include "scene_file.h"

namespace ricochet::app {
namespace {

host::InputFile open_trajectory(const std::string& file) {
  const std::string remedy = "name a trajectory.csv that ricochet run wrote";
  return {file, {remedy, remedy}};
}

/// The columns of a plan among those of a file, for those that are used; -1 for the others.
std::vector<int> places_of(const scene::PlotPlan& plan, const std::vector<int>& used,
                           const std::vector<std::string>& columns, const std::string& file) {
  std::unordered_map<std::string, int> numbers;
  for (std::size_t k = 0; k < columns.size(); ++k) numbers.emplace(columns[k], static_cast<int>(k));
  std::vector<int> places(plan.columns.size(), -1);
  for (const int slot : used) {
    const std::string& name = plan.columns[static_cast<std::size_t>(slot)];
    const auto found = numbers.find(name);
    if (found == numbers.end()) {
      throw base::InputError("", fmt::format("{} has no column '{}'", file, name),
                             fmt::format("its columns: {}", base::list_names(columns, 20)));
    }
    places[static_cast<std::size_t>(slot)] = found->second;
  }
  return places;
}

/// One trajectory as a plan wants it.
plot::Collector collect(const std::string& file, const scene::PlotPlan& plan, std::size_t runs,
                        bool all_columns) {
  host::InputFile pieces = open_trajectory(file);
  record::CsvReader reader(file);
  std::string_view text = pieces.more();
  while (reader.columns().empty()) {
    const std::size_t used = reader.read_header(text, pieces.is_last());
    pieces.use(used);
    text = pieces.more();
  }
  plot::Collector data(plan, runs);
  std::vector<int> used = data.columns_used();
  if (all_columns) {  // walls need to know where everything stands
    for (std::size_t k = 0; k < plan.columns.size(); ++k) used.push_back(static_cast<int>(k));
  }
  const std::vector<int> places = places_of(plan, used, reader.columns(), file);
  std::vector<int> wanted;
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < places.size(); ++slot) {
    if (places[slot] < 0) continue;
    wanted.push_back(places[slot]);
    slots.push_back(slot);
  }
  reader.want(wanted);
  std::vector<double> row(plan.columns.size(), 0.0);
  const auto take = [&](std::span<const double> values) {
    for (std::size_t k = 0; k < slots.size(); ++k) row[slots[k]] = values[k];
    data.add(row);
  };
  while (!text.empty()) {
    const std::size_t done = reader.read_rows(text, pieces.is_last(), take);
    const bool ended = pieces.is_last();
    pieces.use(done);
    if (ended) break;
    text = pieces.more();
  }
  data.close();
  if (data.rows() == 0) {
    throw base::InputError("", fmt::format("{} has no rows", file), "run the scene again");
  }
  return data;
}

std::vector<std::string> columns_of_file(const std::string& file) {
  host::InputFile pieces = open_trajectory(file);
  record::CsvReader reader(file);
  while (reader.columns().empty()) (void)reader.read_header(pieces.more(), pieces.is_last());
  return reader.columns();
}

/// Curves of formulas given on the command line instead of the panels of the plan.
void draw_formulas(const PlotArguments& arguments, scene::PlotPlan& plan) {
  if (arguments.y.empty() && arguments.x.empty()) return;
  const auto read = [&](const std::string& text, const char* option) {
    try {
      return scene::plot_formula(text, plan);
    } catch (const formula::FormulaError& error) {
      throw base::InputError(fmt::format("{} \"{}\"", option, text), error.what(),
                             error.remedy().empty() ? "mend the formula" : error.remedy());
    }
  };
  if (arguments.y.empty()) {
    throw base::InputError("--x", "is given without --y", "say what to draw, such as --y \"x'\"");
  }
  scene::PlotPanel panel;
  panel.x = read(arguments.x.empty() ? "t" : arguments.x, "--x");
  for (const std::string& text : arguments.y) {
    panel.y.push_back(read(text, "--y"));
    panel.labels.push_back(text);
  }
  panel.equal = arguments.equal;
  if (arguments.log == "x") panel.scale = scene::PlotPanel::Scale::LogX;
  if (arguments.log == "y") panel.scale = scene::PlotPanel::Scale::LogY;
  if (arguments.log == "xy") panel.scale = scene::PlotPanel::Scale::LogLog;
  plan.panels = {panel};
  plan.caption.clear();
}

std::string label_of(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  const std::string folder = file.parent_path().filename().string();
  if (folder.empty()) return stem;
  return stem == "trajectory" ? folder : folder + "/" + stem;
}

std::filesystem::path place_of_picture(const PlotArguments& arguments) {
  if (!arguments.out.empty()) return arguments.out;
  const std::filesystem::path first = arguments.files[0];
  const std::string stem = first.stem().string();
  return first.parent_path() / (stem == "trajectory" ? "plot.svg" : stem + ".svg");
}

}  // namespace

int command_plot(const PlotArguments& arguments) {
  const std::filesystem::path place = place_of_picture(arguments);
  check_picture_place(place, "--out");
  std::optional<scene::Scene> scene;
  if (!arguments.scene.file.empty()) scene = read_scene(arguments.scene);
  scene::PlotPlan plan =
      scene ? scene->plot : scene::default_plan(columns_of_file(arguments.files[0]));
  draw_formulas(arguments, plan);
  std::vector<plot::Collector> data;
  for (const std::string& file : arguments.files) {
    data.push_back(collect(file, plan, arguments.files.size(), scene.has_value()));
  }
  plot::Block block{&plan, {}, ""};
  long long rows = 0;
  for (std::size_t k = 0; k < data.size(); ++k) {
    block.runs.push_back(
        {&data[k], label_of(arguments.files[k]), scene ? scene->formulas() : nullptr, nullptr});
    rows += data[k].rows();
  }
  const std::string title = scene ? scene->title : label_of(arguments.files[0]);
  std::string subtitle =
      data.size() == 1 ? arguments.files[0] : fmt::format("{} runs", data.size());
  if (scene) subtitle += plot::remarks_on(plan, data[0], scene->formulas());
  const plot::Sheet sheet = plot::draw_sheet({block}, {title, subtitle, plan.caption});
  write_picture(place, sheet.svg, "--out");
  std::string written = place.string();
  if (arguments.png && place.extension() != ".png") {
    const std::filesystem::path png = std::filesystem::path(place).replace_extension(".png");
    write_picture(png, sheet.svg, "--png");
    written += ", " + png.string();
  }
  if (!arguments.quiet) {
    fmt::print("{}", entry("drawn", fmt::format("{} of {}", counted(rows, "row"),
                                                data.size() == 1 ? "one trajectory"
                                                                 : fmt::format("{} trajectories",
                                                                               data.size()))));
    fmt::print("{}", entry("written", written));
  }
  return kFine;
}

}  // namespace ricochet::app
