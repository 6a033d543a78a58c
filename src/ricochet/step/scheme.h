#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/certify/integrator.h"

namespace ricochet::step {

/// The impact laws a scheme can honour.
enum class Laws {
  OneConstant,  // one number e for all contacts
  Constants,    // a number e for each
  All,          // formulas, Poisson's, sequential reflections, a law of the user's
};

/// A number or a word that a scene may choose for a scheme.
struct Setting {
  std::string_view name;
  std::string_view meaning;  // one sentence
  double standard{0.0};      // unless the scene says otherwise; of a word, its place
  bool is_automatic{false};  // the standard is no number: the scheme chooses
  double least{-std::numeric_limits<double>::infinity()};
  double most{std::numeric_limits<double>::infinity()};
  bool is_positive{false};                    // > 0
  bool of_structures{false};                  // they have it too
  std::optional<double> unnamed{};            // the standard where the scene names no scheme
  std::string_view remedy{};                  // what to write, where a number is out of its range
  std::span<const std::string_view> words{};  // of a choice; else empty

  constexpr bool is_choice() const { return !words.empty(); }
};

/// A scheme as data: all that is known of it outside its own file.
struct SchemeInfo {
  std::string_view name;
  std::string_view meaning;  // where positions and velocities are taken
  std::string_view use;      // what it is good for
  certify::Integrator integrator{certify::Integrator::Middle};  // what its judge makes steps of
  certify::ImpactRule impact{certify::ImpactRule::Newton};
  bool is_staggered{false};  // on Moreau's middles: joints, step control, going back
  bool has_joints{false};    // others that have them
  bool has_rolls{false};     // and keep velocities at 0
  Laws laws{Laws::All};
  std::optional<double> restitution{};  // the e it implies; none: what contacts state
  bool has_friction{false};
  bool follows_shocks{false};       // with friction, in impulse time
  bool contacts_last{false};        // see model::Lasting
  bool balances_energy{true};       // a gain of energy is a fault
  bool gains_by_correction{false};  // lasting contacts are better for it
  bool is_default{false};           // of systems, where it runs any; else of structures, where it
                                    // has friction of those with it
  bool has_lanes{false};            // free steps of many runs together: see `run_lanes`
  bool runs_systems{true};
  bool runs_structures{false};
  std::span<const Setting> settings{};
};

/// What a judge has to know of a scheme, without its settings.
constexpr certify::Method method_of(const SchemeInfo& info) {
  return {.integrator = info.integrator,
          .impact = info.impact,
          .restitution = info.restitution,
          .contacts_last = info.contacts_last,
          .balances_energy = info.balances_energy};
}

/// The scheme of a run, with its settings: chosen once, outside the loop.
class Scheme {
 public:
  Scheme();  // the first of the table
  explicit Scheme(const SchemeInfo& info);

  const SchemeInfo& info() const { return *info_; }
  /// The value of a setting; of a choice, the place of its word. 0 where it has no such setting.
  double value(std::string_view setting) const;
  template <class Choice>
  Choice choice(std::string_view setting) const {
    return static_cast<Choice>(static_cast<int>(value(setting)));
  }
  /// Does nothing where the scheme has no such setting.
  void set(std::string_view setting, double value);

 private:
  const SchemeInfo* info_;
  std::vector<double> values_;  // by setting
};

/// All schemes, in the order of schemes.list.
std::span<const SchemeInfo* const> all_schemes();

/// Of those that run systems, or structures.
std::vector<std::string> scheme_names(bool of_structures = false);
std::vector<std::string> staggered_names();  // of those that have joints, step control, going back
/// Throws base::InputError for a name that is unknown, or that does not run such scenes.
Scheme make_scheme(const std::string& name, bool of_structure = false);
/// Of a scene that names none.
Scheme default_scheme(bool of_structure, bool has_friction = true);
std::string name_of(const Scheme& scheme);
/// All settings of all schemes by name, each once.
std::vector<std::string> setting_names();
/// "e = 1", "one e", "all; friction": what it can honour, in words.
std::string laws_in_words(const SchemeInfo& info);
/// Its row in the guide: name, meaning, laws, settings, use.
std::string guide_row(const SchemeInfo& info);

/// What to try after a failure: certify's words, and what this scheme could do besides.
std::string remedy_of(certify::Failure failure, const Scheme& scheme);

}  // namespace ricochet::step
