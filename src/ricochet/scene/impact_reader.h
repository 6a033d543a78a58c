#pragma once

#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/step/scheme.h"

namespace ricochet::scene {

/// Reads the impact law of a contact: `restitution` (a number, a formula, or { normal, tangential
/// }) or `dissipation_index`, and `law`.
class ImpactReader {
 public:
  ImpactReader(const Document& document, FormulaReader& formulas, model::FormulaSystem& system,
               const std::vector<CoordinateGroup>& groups)
      : document_(document), formulas_(formulas), system_(system), groups_(groups) {}

  /// One contact's law: e where it is a number (0 where none is stated), and the rest.
  struct Law {
    double restitution{0.0};
    formula::NodeId node{-1};  // of that number, where slots set it
    double tangential{0.0};    // of contacts with friction
    model::ImpactLaw impact;
  };
  Law read(TableReader& contact, const formula::Locals& locals);

  /// What contacts state must be what the scheme does, and go together.
  void check(const step::Scheme& scheme, bool has_friction) const;

 private:
  struct Stated {
    std::string key;
    const Value* value{nullptr};
    Law law;
    bool has_restitution{false};
  };

  void read_restitution(TableReader& contact, const formula::Locals& locals, Stated& stated);
  const Value* read_parts(TableReader& contact, const Value& parts, const formula::Locals& locals,
                          Stated& stated);
  void read_kind(TableReader& contact, const formula::Locals& locals, Stated& stated);
  void read_own(TableReader& contact, const Value& value, const formula::Locals& locals,
                model::ImpactLaw& law);
  void check_number(const step::Scheme& scheme, const Stated& stated) const;
  void read_ending(TableReader& contact, Stated& stated);
  void check_kinds(const step::Scheme& scheme, bool has_friction) const;
  void check_followed(const step::Scheme& scheme, const Stated& stated) const;
  [[noreturn]] void refuse(const Stated& stated, const std::string& message,
                           const std::string& remedy) const;

  const Document& document_;
  FormulaReader& formulas_;
  model::FormulaSystem& system_;
  const std::vector<CoordinateGroup>& groups_;
  std::vector<Stated> stated_;
};

}  // namespace ricochet::scene
