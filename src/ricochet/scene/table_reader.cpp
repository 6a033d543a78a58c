#include "ricochet/scene/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ricochet/base/text.h"
#include "ricochet/step/scheme.h"

namespace ricochet::scene {
namespace {

/// The keys of the language, none of which is a typing error of another.
constexpr std::string_view kWords =
    " title source notes system contact hold roll structure start run family plot expect"
    " coordinates parameters define kinetic mass potential force damping"
    " bound tangential keep where for restitution restitution_kind dissipation_index law slip "
    "normal friction body "
    "zero"
    " static dynamic forward backward ellipse polygon angle spin point against"
    " position velocity tolerance scheme step until steps start_time anticipation correction"
    " record shock_speed residual_limit violation_limit fact"
    " theta average stiffness zeno accuracy"
    " panel x y labels x_label y_label x_range y_range equal walls at marks snapshots kind log"
    " caption columns units body every numbers line outline circle point"
    " record formats points columns"
    " length young density section ends nodes form planes guide modes reduction shapes clearance"
    " above below direction ratio ratios compare from to value tension quiet"
    " world dimension gravity sleep material pair fill joint frame watch remove write with vertices"
    " centre born fixed driven inertia disc box capsule half_plane chain round default stop"
    " level residual speed force_on displacement height momentum touching formula ";

bool is_word(const std::string& key) {
  return kWords.find(" " + key + " ") != std::string_view::npos;
}

/// Names that differ in their numbers only, as x1 and x2, are different on purpose.
bool differ_by_number(std::string a, std::string b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::erase_if(a, digit);
  std::erase_if(b, digit);
  return a == b;
}

}  // namespace

std::string what_this_version_runs() {
  return fmt::format("this version runs {}", base::list_names(step::scheme_names()));
}

TableReader::TableReader(const Document& document, const Value& table, std::string path)
    : document_(document), table_(table), path_(std::move(path)) {}

const Value* TableReader::find(const std::string& key) {
  known_.insert(key);
  return table_.find(key);
}

const Value& TableReader::require(const std::string& key, const std::string& remedy) {
  if (const Value* value = find(key)) return *value;
  if (const auto* other = misspelt(key)) {
    throw base::InputError(
        full(key), "is missing",
        fmt::format("{}; did you mean '{}' to be '{}'?", remedy, other->first, key),
        document_.spot_of_key(other->second));
  }
  base::Spot spot = table_.line > 0 || table_.key_line > 0 || !table_.override_text.empty()
                        ? document_.spot_of_key(table_)
                        : base::Spot{document_.file(), 0, 0, 1, ""};
  throw base::InputError(full(key), "is missing", remedy, std::move(spot));
}

const Value::Entry* TableReader::misspelt(const std::string& key) const {
  std::vector<std::string> others;
  for (const auto& [name, value] : table_.entries) {
    if (!known_.contains(name) && !is_word(name) && !differ_by_number(name, key)) {
      others.push_back(name);
    }
  }
  const std::optional<std::string> near = base::nearest_name(key, others);
  if (!near) return nullptr;
  const auto found = std::find_if(table_.entries.begin(), table_.entries.end(),
                                  [&](const auto& entry) { return entry.first == *near; });
  return &*found;
}

std::optional<std::string> TableReader::text(const std::string& key) {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Value::Kind::Text) {
    fail(*value, key, fmt::format("must be a string, not {}", value->kind_name()),
         "put it in double quotes");
  }
  return value->text;
}

const Value* TableReader::table(const std::string& key) {
  const Value* value = find(key);
  if (value == nullptr) return nullptr;
  if (value->kind != Value::Kind::Table) {
    fail(*value, key, fmt::format("must be a table, not {}", value->kind_name()),
         fmt::format("write [{}] and its keys below, or {} = {{ ... }}", full(key), key));
  }
  return value;
}

void TableReader::not_yet(const std::vector<std::string>& keys, const std::string& remedy) {
  for (const std::string& key : keys) {
    if (const Value* value = find(key)) {
      throw base::InputError(full(key), "is not available in this version", remedy,
                             document_.spot_of_key(*value));
    }
  }
}

void TableReader::finish() {
  for (const auto& [key, value] : table_.entries) {
    if (known_.contains(key)) continue;
    const std::vector<std::string> known(known_.begin(), known_.end());
    std::string remedy = fmt::format("known keys here: {}", base::list_names(known, 20));
    if (const auto near = base::nearest_name(key, known)) {
      remedy = fmt::format("did you mean '{}'? {}", *near, remedy);
    }
    throw base::InputError(full(key), "unknown key", remedy, document_.spot_of_key(value));
  }
}

void TableReader::fail(const Value& value, const std::string& key, const std::string& message,
                       const std::string& remedy) const {
  throw base::InputError(full(key), message, remedy, document_.spot_of(value));
}

}  // namespace ricochet::scene
