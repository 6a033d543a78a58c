#include "ricochet/scene/record_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ricochet/base/text.h"

namespace ricochet::scene {
namespace {

constexpr const char* kFormats = "write some of \"csv\", \"npz\", \"hdf5\", \"vtp\"";

class RecordReader {
 public:
  RecordReader(const Document& document, FormulaReader& formulas, const step::Columns& columns)
      : document_(document),
        formulas_(formulas),
        coordinates_(columns.coordinates.size()),
        names_(step::names_of(columns)) {}

  RecordPlan read(const Value* table) {
    plan_.columns.resize(names_.size());
    std::iota(plan_.columns.begin(), plan_.columns.end(), 0);
    if (table == nullptr) return std::move(plan_);
    TableReader reader(document_, *table, "record");
    if (const Value* value = reader.find("columns")) read_columns(reader, *value);
    if (const Value* value = reader.find("formats")) read_formats(reader, *value);
    const Value* points = reader.find("points");
    if (points != nullptr && !plan_.vtp) {
      reader.fail(*points, "points", "is for .vtp files", "write formats = [\"csv\", \"vtp\"]");
    }
    if (plan_.vtp) read_points(reader, points);
    reader.finish();
    return std::move(plan_);
  }

 private:
  /// "x", "floor.gap", or with a star at the end, "floor.*".
  void read_columns(TableReader& reader, const Value& value) {
    std::vector<char> kept(names_.size(), 0);
    kept[0] = 1;  // t
    for (const std::string& name : words_of(reader, value, "columns", "write names of columns")) {
      const bool is_head = name.ends_with('*');
      const std::string head = name.substr(0, name.size() - (is_head ? 1 : 0));
      bool found = false;
      for (std::size_t k = 0; k < names_.size(); ++k) {
        if (is_head ? !names_[k].starts_with(head) : names_[k] != name) continue;
        kept[k] = 1;
        found = true;
      }
      if (found) continue;
      const auto near = base::nearest_name(name, names_);
      reader.fail(
          value, "columns", fmt::format("there is no column '{}'", name),
          fmt::format("{}columns: {}", near ? fmt::format("did you mean '{}'? ", *near) : "",
                      base::list_names(names_, 20)));
    }
    plan_.columns.clear();
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (kept[k] != 0) plan_.columns.push_back(k);
    }
  }

  void read_formats(TableReader& reader, const Value& value) {
    plan_.csv = false;
    for (const std::string& word : words_of(reader, value, "formats", kFormats)) {
      bool* const flag = word == "csv"    ? &plan_.csv
                         : word == "npz"  ? &plan_.npz
                         : word == "hdf5" ? &plan_.hdf5
                         : word == "vtp"  ? &plan_.vtp
                                          : nullptr;
      if (flag == nullptr) {
        reader.fail(value, "formats", fmt::format("'{}' is not known", word), kFormats);
      }
      *flag = true;
    }
  }

  /// Without points: the first coordinates, up to three.
  void read_points(TableReader& reader, const Value* value) {
    plan_.graph = formulas_.graph();
    const formula::NodeId zero = plan_.graph.constant(0.0);
    if (value == nullptr) {
      std::array<formula::NodeId, 3> point{zero, zero, zero};
      for (std::size_t i = 0; i < std::min<std::size_t>(3, coordinates_); ++i) {
        point[i] = plan_.graph.input(static_cast<int>(1 + i));
      }
      plan_.points.push_back(point);
      return;
    }
    constexpr const char* kForm = "write points = [[\"x\", \"y\"]], two or three formulas each";
    const std::vector<std::string> extra(
        names_.begin() + static_cast<std::ptrdiff_t>(1 + 2 * coordinates_), names_.end());
    const bool is_list = value->kind == Value::Kind::Array && !value->items.empty();
    if (!is_list) reader.fail(*value, "points", "must be a list of points", kForm);
    for (const Value& item : value->items) {
      const bool is_point =
          item.kind == Value::Kind::Array && item.items.size() >= 2 && item.items.size() <= 3;
      if (!is_point) reader.fail(item, "points", "a point has two or three formulas", kForm);
      std::array<formula::NodeId, 3> point{zero, zero, zero};
      for (std::size_t k = 0; k < item.items.size(); ++k) {
        point[k] = formulas_.row_formula(item.items[k], "record.points", extra, plan_.graph);
      }
      plan_.points.push_back(point);
    }
  }

  static std::vector<std::string> words_of(TableReader& reader, const Value& value,
                                           const std::string& key, const std::string& remedy) {
    const bool is_list = value.kind == Value::Kind::Array && !value.items.empty();
    if (!is_list) reader.fail(value, key, "must be a list of strings", remedy);
    std::vector<std::string> words;
    for (const Value& item : value.items) {
      if (item.kind != Value::Kind::Text) {
        reader.fail(item, key, fmt::format("must have strings, not {}", item.kind_name()), remedy);
      }
      words.push_back(item.text);
    }
    return words;
  }

  const Document& document_;
  FormulaReader& formulas_;
  std::size_t coordinates_;
  std::vector<std::string> names_;
  RecordPlan plan_;
};

}  // namespace

RecordPlan read_record(const Document& document, const Value* table, FormulaReader& formulas,
                       const step::Columns& columns) {
  return RecordReader(document, formulas, columns).read(table);
}

}  // namespace ricochet::scene
