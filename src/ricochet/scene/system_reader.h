#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/step/settings.h"

namespace ricochet::scene {

/// Reads [system] and [contact.*] into a formula model.
class SystemReader {
 public:
  SystemReader(const Document& document, FormulaReader& formulas)
      : document_(document), formulas_(formulas) {}

  void read(TableReader& root);

  /// The laws that contacts state must be what the scheme does.
  void check_laws(const step::Scheme& scheme) const;

  /// Derives gradients and forces. To be called once, last.
  std::shared_ptr<const model::FormulaModel> build();

 private:
  struct StatedLaw {
    std::string key;
    double restitution{0.0};
    const Value* value{nullptr};
  };

  void read_coordinates(TableReader& system);
  void read_mass(TableReader& system);
  void read_mass_numbers(const Value& value);
  void read_kinetic(const Value& value);
  void read_forces(TableReader& system);
  void read_contact(const std::string& name, const Value& table);
  void check_mass(const Eigen::MatrixXd& mass, bool diagonal, const std::string& key,
                  const Value& value);

  const Document& document_;
  FormulaReader& formulas_;
  model::FormulaSystem system_;
  std::vector<StatedLaw> laws_;
};

}  // namespace ricochet::scene
