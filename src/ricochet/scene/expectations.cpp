#include "ricochet/scene/expectations.h"

#include <fmt/format.h>

#include "ricochet/base/text.h"
#include "ricochet/scene/document.h"
#include "ricochet/scene/table_reader.h"

namespace ricochet::scene {

std::string stem_of(const std::string& file) {
  const std::size_t slash = file.find_last_of('/');
  const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  const std::size_t dot = name.find_last_of('.');
  const std::string stem = dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
  return stem.find_first_not_of('.') == std::string::npos ? "scene" : stem;  // of ...toml
}

void apply_overrides(Document& document, const std::vector<Override>& overrides) {
  for (const Override& change : overrides) {
    const char* const table = parameter_table(document.root(), change.key);
    const Value* system = document.root().find(table);
    const Value* parameters = system == nullptr ? nullptr : system->find("parameters");
    const bool dotted = change.key.find('.') != std::string::npos;
    const bool is_parameter = !dotted && parameters != nullptr && parameters->find(change.key);
    if (!dotted && !is_parameter) {
      std::vector<std::string> known;
      if (parameters != nullptr) {
        for (const auto& [name, value] : parameters->entries) known.push_back(name);
      }
      std::string remedy = known.empty()
                               ? "the scene has no parameters; name a dotted key such as run.step"
                               : fmt::format(
                                     "parameters of the scene: {}; other keys are dotted, "
                                     "such as run.step",
                                     base::list_names(known));
      throw base::InputError("--set " + change.argument,
                             fmt::format("'{}' is no parameter of the scene", change.key), remedy);
    }
    // The two ways to say how long: the last one said wins.
    if (change.key == "run.until") document.remove("run", "steps");
    if (change.key == "run.steps") document.remove("run", "until");
    document.set(is_parameter ? fmt::format("{}.parameters.{}", table, change.key) : change.key,
                 change.value, change.argument);
  }
}

std::vector<Expectation> read_expectations(const Document& document, const Value* table,
                                           const FormulaReader& formulas,
                                           const std::vector<std::string>& names) {
  std::vector<Expectation> expectations;
  if (table == nullptr) return expectations;
  for (const auto& [name, value] : table->entries) {
    if (name == kMotion) continue;
    Expectation expectation;
    expectation.name = name;
    const std::string path = "expect." + name;
    const Value* fact = &value;
    if (value.kind == Value::Kind::Table) {
      TableReader reader(document, value, path);
      fact = &reader.require("fact", "write fact = \"x > 0\"");
      expectation.source = reader.text("source").value_or("");
      reader.finish();
    }
    if (fact->kind != Value::Kind::Text) {
      throw base::InputError(path, "must be a formula in quotes",
                             "write a comparison, such as \"abs(x - 1.2) < 1e-3\"",
                             document.spot_of(*fact));
    }
    expectation.text = fact->text;
    expectation.syntax = formulas.check_fact(*fact, path, names);
    expectations.push_back(std::move(expectation));
  }
  return expectations;
}

}  // namespace ricochet::scene
