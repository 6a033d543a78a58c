#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <unordered_map>

#include "commands.h"
#include "converter.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/formula/error.h"
#include "ricochet/host/input_file.h"
#include "ricochet/plot/animation.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/csv_reader.h"
#include "ricochet/study/family.h"
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

/// Which rows of a trajectory are drawn, and what they have beside the columns of the file.
struct Reading {
  bool all_columns{false};        // walls need to know where everything stands
  std::vector<double> more{};     // the last columns of the plan, the same in all rows
  std::optional<double> after{};  // rows from this time on
  std::vector<std::vector<double>>* last{nullptr};  // has the last row; nothing is drawn yet
  plot::Frames* frames{nullptr};                    // sees the rows too
};

/// Rows of one trajectory as a plan wants them; how many there were.
void collect(const std::string& file, const scene::PlotPlan& plan, const Reading& reading,
             plot::Collector& data) {
  host::InputFile pieces = open_trajectory(file);
  record::CsvReader reader(file);
  std::string_view text = pieces.more();
  while (reader.columns().empty()) {
    const std::size_t used = reader.read_header(text, pieces.is_last());
    pieces.use(used);
    text = pieces.more();
  }
  const std::size_t own = plan.columns.size() - reading.more.size();
  std::vector<int> used = data.columns_used();
  for (std::size_t k = 0; k < own && reading.all_columns; ++k) used.push_back(static_cast<int>(k));
  std::erase_if(used, [&](int slot) { return static_cast<std::size_t>(slot) >= own; });
  const std::vector<int> places = places_of(plan, used, reader.columns(), file);
  std::vector<int> wanted;
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < places.size(); ++slot) {
    if (places[slot] < 0) continue;
    wanted.push_back(places[slot]);
    slots.push_back(slot);
  }
  reader.want(wanted);
  std::vector<double> row(own, 0.0);
  row.insert(row.end(), reading.more.begin(), reading.more.end());
  long long rows = 0;
  const auto take = [&](std::span<const double> values) {
    ++rows;
    for (std::size_t k = 0; k < slots.size(); ++k) row[slots[k]] = values[k];
    if (reading.last != nullptr || row[0] < reading.after.value_or(row[0])) return;
    data.add(row);
    if (reading.frames != nullptr) reading.frames->add(row);
  };
  while (!text.empty()) {
    const std::size_t done = reader.read_rows(text, pieces.is_last(), take);
    const bool ended = pieces.is_last();
    pieces.use(done);
    if (ended) break;
    text = pieces.more();
  }
  if (rows == 0) {
    throw base::InputError("", fmt::format("{} has no rows", file), "run the scene again");
  }
  if (reading.last != nullptr) reading.last->push_back(row);
}

std::vector<std::string> columns_of_file(const std::string& file) {
  host::InputFile pieces = open_trajectory(file);
  record::CsvReader reader(file);
  while (reader.columns().empty()) (void)reader.read_header(pieces.more(), pieces.is_last());
  const auto& columns = reader.columns();
  if (columns.size() > 2 && columns[1] == "contact" && columns[2] == "event") {
    throw base::InputError("", fmt::format("{} lists events, which are no rows of a motion", file),
                           "name the trajectory.csv beside it; its picture shows them");
  }
  return columns;
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
  if (std::filesystem::is_directory(first)) return first / "scatter.svg";
  const std::string stem = first.stem().string();
  return first.parent_path() / (stem == "trajectory" ? "plot.svg" : stem + ".svg");
}

/// The picture that was drawn, and of how many rows of how many trajectories.
struct Drawn {
  std::string svg;
  long long rows{0};
  std::size_t trajectories{0};
};

Drawn draw_trajectories(const PlotArguments& arguments, const std::optional<scene::Scene>& scene) {
  scene::PlotPlan plan =
      scene ? scene->plot : scene::default_plan(columns_of_file(arguments.files[0]));
  draw_formulas(arguments, plan);
  Reading reading;
  reading.all_columns = scene.has_value();
  reading.after = arguments.after;
  std::vector<plot::Collector> data;
  for (const std::string& file : arguments.files) {
    data.emplace_back(plan, arguments.files.size());
    collect(file, plan, reading, data.back());
    data.back().close();
  }
  plot::Block block{&plan, {}, ""};
  Drawn drawn;
  drawn.trajectories = data.size();
  for (std::size_t k = 0; k < data.size(); ++k) {
    block.runs.push_back(
        {&data[k], label_of(arguments.files[k]), scene ? scene->formulas() : nullptr, nullptr});
    drawn.rows += data[k].rows();
  }
  const std::string title = scene ? scene->title : label_of(arguments.files[0]);
  std::string subtitle =
      data.size() == 1 ? arguments.files[0] : fmt::format("{} runs", data.size());
  if (scene) subtitle += plot::remarks_on(plan, data[0], scene->formulas());
  drawn.svg = plot::draw_sheet({block}, {title, subtitle, plan.caption}).svg;
  return drawn;
}

/// What varies of a member, as further columns; words are no numbers.
std::vector<double> values_of(const scene::Family& family, std::size_t member) {
  std::vector<double> values;
  for (std::size_t key = 0; key < family.keys.size(); ++key) {
    const scene::Value& value = family.value(member, key);
    values.push_back(value.kind == scene::Value::Kind::Text ? std::nan("") : value.number);
  }
  return values;
}

/// Draws the ends of members; how many are left out, having stopped before the others. What varies
/// may be how long they run.
std::size_t draw_ends(const std::vector<std::vector<double>>& rows, const scene::Family& family,
                      plot::Collector& data) {
  double end = -std::numeric_limits<double>::infinity();
  for (const auto& row : rows) end = std::max(end, row[0]);
  const bool varies = std::any_of(family.keys.begin(), family.keys.end(),
                                  [](const auto& key) { return key.name.starts_with("run."); });
  std::size_t left_out = 0;
  for (const auto& row : rows) {
    const bool is_whole = varies || row[0] >= end - 1e-6 * std::abs(end);
    is_whole ? data.add(row) : static_cast<void>(++left_out);
  }
  return left_out;
}

/// A dot for the end of every member, or for each of its rows after a time.
Drawn draw_family(const PlotArguments& arguments, const std::optional<scene::Scene>& scene) {
  const std::filesystem::path folder = arguments.files[0];
  if (!scene || scene->family.empty()) {
    throw base::InputError(
        "--scene",
        fmt::format("{} is a folder, and what varies in it is not told", folder.string()),
        "name the scene of its family with --scene, or a trajectory.csv");
  }
  const scene::Family& family = scene->family;
  const auto file_of = [&](std::size_t k) {
    return (folder / study::member_file(k + 1, family.size())).string();
  };
  scene::PlotPlan plan;
  plan.columns = columns_of_file(file_of(0));
  for (const scene::FamilyKey& key : family.keys) plan.columns.push_back(key.name);
  PlotArguments asked = arguments;
  if (asked.x.empty()) asked.x = family.keys[0].name;
  if (asked.y.empty()) asked.y = {plan.columns[1]};
  draw_formulas(asked, plan);
  plan.panels[0].dots = true;
  Reading reading;
  reading.after = arguments.after;
  std::vector<std::vector<double>> ends;
  if (!reading.after) reading.last = &ends;
  plot::Collector data(plan);
  for (std::size_t k = 0; k < family.size(); ++k) {
    if (!std::filesystem::exists(file_of(k))) continue;  // it was not run
    reading.more = values_of(family, k);
    collect(file_of(k), plan, reading, data);
  }
  const std::size_t left_out = draw_ends(ends, family, data);
  data.close();
  std::string what = reading.after ? fmt::format("from t = {:g} on", *reading.after) : "at the end";
  if (left_out > 0) what += fmt::format("; {} that stopped before left out", left_out);
  const plot::Block block{&plan, {{&data, "", nullptr, nullptr}}, ""};
  return {plot::draw_sheet({block},
                           {scene->title, fmt::format("{} members, {}", family.size(), what), ""})
              .svg,
          data.rows(), family.size() - left_out};
}

/// The motion of one run, played.
Drawn write_film(const PlotArguments& arguments, const std::optional<scene::Scene>& scene,
                 const std::filesystem::path& place) {
  if (!scene || arguments.files.size() != 1) {
    throw base::InputError("--out", "a film is of one trajectory and its scene",
                           "name one trajectory.csv, and its scene with --scene");
  }
  plot::Frames frames(scene->plot.columns, plot::most_frames(*scene));
  plot::Collector data(scene->plot);
  Reading reading;
  reading.all_columns = true;
  reading.after = arguments.after;
  reading.frames = &frames;
  collect(arguments.files[0], scene->plot, reading, data);
  data.close();
  FilmWriter film(place);
  plot::draw_frames(*scene, data, frames, FilmWriter::kPerSecond,
                    [&](const std::string& svg) { film.add(svg); });
  film.finish();
  return {"", data.rows(), 1};
}

}  // namespace

int command_plot(const PlotArguments& given) {
  PlotArguments arguments = given;
  for (std::string& file : arguments.files) {  // the folder of a run
    const std::filesystem::path inside = std::filesystem::path(file) / "trajectory.csv";
    if (std::filesystem::exists(inside)) file = inside.string();
  }
  const std::filesystem::path place = place_of_picture(arguments);
  check_picture_place(place, "--out");
  std::optional<scene::Scene> scene;
  if (!arguments.scene.file.empty()) scene = read_scene(arguments.scene);
  const bool is_family =
      arguments.files.size() == 1 && std::filesystem::is_directory(arguments.files[0]);
  const Drawn drawn = is_film(place) ? write_film(arguments, scene, place)
                      : is_family    ? draw_family(arguments, scene)
                                     : draw_trajectories(arguments, scene);
  if (!is_film(place)) write_picture(place, drawn.svg, "--out");
  std::string written = place.string();
  if (arguments.png && !drawn.svg.empty() && place.extension() != ".png") {
    const std::filesystem::path png = std::filesystem::path(place).replace_extension(".png");
    write_picture(png, drawn.svg, "--png");
    written += ", " + png.string();
  }
  if (!arguments.quiet) {
    const std::string of = drawn.trajectories == 1
                               ? "one trajectory"
                               : fmt::format("{} trajectories", drawn.trajectories);
    fmt::print("{}", entry("drawn", fmt::format("{} of {}", counted(drawn.rows, "row"), of)));
    fmt::print("{}", entry("written", written));
  }
  return kFine;
}

}  // namespace ricochet::app
