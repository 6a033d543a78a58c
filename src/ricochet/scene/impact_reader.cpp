#include "ricochet/scene/impact_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ricochet/base/text.h"
#include "ricochet/formula/range.h"
#include "ricochet/scene/coordinate_values.h"

namespace ricochet::scene {
namespace {

using formula::NodeId;
using model::ImpactKind;

std::vector<std::string> schemes_with(step::Laws least) {
  std::vector<std::string> able;
  for (const step::SchemeInfo* info : step::all_schemes()) {
    if (info->runs_systems && !info->restitution && info->laws >= least)
      able.emplace_back(info->name);
  }
  return able;
}

std::vector<std::string> schemes_with_restitution(double e) {
  std::vector<std::string> able;
  for (const step::SchemeInfo* info : step::all_schemes()) {
    if (info->runs_systems && info->restitution.value_or(e) == e) able.emplace_back(info->name);
  }
  return able;
}

constexpr const char* kKinds =
    "write \"newton\", \"poisson\", \"sequential\", \"impulse-time\", or the velocities after an "
    "impact as a list "
    "of formulas or a table { x = \"-0.5*x'\" }";

}  // namespace

ImpactReader::Law ImpactReader::read(TableReader& contact, const formula::Locals& locals) {
  Stated stated;
  read_restitution(contact, locals, stated);
  read_kind(contact, locals, stated);
  read_ending(contact, stated);
  if (stated.value != nullptr) stated_.push_back(stated);
  return stated.law;
}

/// { normal = ..., tangential = ... }: returns the normal part.
const Value* ImpactReader::read_parts(TableReader& contact, const Value& parts,
                                      const formula::Locals& locals, Stated& stated) {
  TableReader table(document_, parts, contact.full("restitution"));
  const Value& normal = table.require("normal", "write { normal = 0.5, tangential = 0.2 }");
  if (const Value* tangential = table.find("tangential")) {
    const double e = formulas_.number(*tangential, table.full("tangential"), locals);
    if (!(e >= 0.0 && e <= 1.0)) {
      table.fail(*tangential, "tangential", fmt::format("must lie in [0, 1], not {}", e),
                 "0 stops the slip where friction can, 1 turns it round");
    }
    stated.law.tangential = e;
  }
  table.finish();
  return &normal;
}

/// e as a number or a formula of t, q, q' and `approach`; or the index d, e = (1 - d)/(1 + d).
void ImpactReader::read_restitution(TableReader& contact, const formula::Locals& locals,
                                    Stated& stated) {
  const Value* restitution = contact.find("restitution");
  const Value* index = contact.find("dissipation_index");
  if (restitution != nullptr && index != nullptr) {
    contact.fail(*index, "dissipation_index", "is given beside restitution",
                 "keep one of the two: e = (1 - d)/(1 + d)");
  }
  stated.value = restitution != nullptr ? restitution : index;
  if (stated.value == nullptr) return;
  const std::string name = restitution != nullptr ? "restitution" : "dissipation_index";
  stated.key = contact.full(name);
  stated.has_restitution = true;
  if (restitution != nullptr && restitution->kind == Value::Kind::Table) {
    stated.value = read_parts(contact, *restitution, locals, stated);
  }
  formula::Graph& graph = formulas_.graph();
  NodeId node = formulas_.formula_of(*stated.value, stated.key, locals, "approach",
                                     graph.input(system_.approach_slot()));
  const formula::Range range = formula::range_of(graph, node);
  if (!(range.high >= 0.0 && range.low <= 1.0) ||
      (graph.is_constant(node) && !(range.low >= 0.0 && range.high <= 1.0))) {
    const std::string is = graph.is_constant(node)
                               ? fmt::format("must lie in [0, 1], not {}", graph[node].value)
                               : "never lies in [0, 1]";
    contact.fail(*stated.value, name, is,
                 index != nullptr ? "0 is elastic, 1 inelastic" : "0 is inelastic, 1 elastic");
  }
  if (index != nullptr) {
    const NodeId one = graph.constant(1.0);
    node = graph.divide(graph.subtract(one, node), graph.add(one, node));
  }
  if (graph.is_constant(node)) {
    stated.law.restitution = graph[node].value;
    if (graph.varies(node)) stated.law.node = node;
  } else {
    stated.law.impact.restitution = node;
    graph.pin_all();  // what it may be was looked at
  }
}

void ImpactReader::read_kind(TableReader& contact, const formula::Locals& locals, Stated& stated) {
  const Value* value = contact.find("law");
  if (value == nullptr) return;
  model::ImpactLaw& law = stated.law.impact;
  if (value->kind == Value::Kind::Text) {
    const std::vector<std::string> words = {"newton", "poisson", "sequential", "", "impulse-time"};
    const auto found = std::find(words.begin(), words.end(), value->text);
    if (found == words.end() || value->text.empty()) {
      contact.fail(*value, "law", fmt::format("'{}' is not known", value->text), kKinds);
    }
    law.kind = static_cast<ImpactKind>(found - words.begin());
  } else {
    if (stated.has_restitution) {
      contact.fail(*value, "law", "is given beside a restitution", "keep one of the two");
    }
    read_own(contact, *value, locals, law);
  }
  stated.value = value;
  stated.key = contact.full("law");
}

/// What e compares in a shock that is followed: "newton", "poisson" or "stronge", the standard.
void ImpactReader::read_ending(TableReader& contact, Stated& stated) {
  const Value* value = contact.find("restitution_kind");
  if (value == nullptr) return;
  const std::vector<std::string> words = {"newton", "poisson", "stronge"};
  const auto found = std::find(words.begin(), words.end(), value->text);
  if (value->kind != Value::Kind::Text || found == words.end()) {
    contact.fail(*value, "restitution_kind", "is not known",
                 "write \"newton\", \"poisson\" or \"stronge\"");
  }
  if (stated.law.impact.kind != ImpactKind::ImpulseTime) {
    contact.fail(*value, "restitution_kind", "is of shocks that are followed",
                 "add law = \"impulse-time\", or leave it out");
  }
  stated.law.impact.ending = static_cast<problem::Restitution>(found - words.begin());
}

/// Coordinates that a table leaves out keep their velocities.
void ImpactReader::read_own(TableReader& contact, const Value& value, const formula::Locals& locals,
                            model::ImpactLaw& law) {
  law.kind = ImpactKind::Own;
  formula::Graph& graph = formulas_.graph();
  for (int i = 0; i < system_.dofs(); ++i) {
    law.after.push_back(graph.input(system_.velocity_slot(i)));
  }
  CoordinateValues(document_, groups_)
      .for_each(value, contact.full("law"), kKinds,
                [&](int i, const Value& entry, const std::string& key, const formula::Locals& own) {
                  formula::Locals all = locals;
                  all.insert(all.end(), own.begin(), own.end());
                  law.after[static_cast<std::size_t>(i)] = formulas_.formula_of(
                      entry, key, all, "approach", graph.input(system_.approach_slot()));
                });
}

void ImpactReader::refuse(const Stated& stated, const std::string& message,
                          const std::string& remedy) const {
  throw base::InputError(stated.key, message, remedy, document_.spot_of(*stated.value));
}

void ImpactReader::check(const step::Scheme& scheme, bool has_friction) const {
  for (const Stated& stated : stated_) check_number(scheme, stated);
  check_kinds(scheme, has_friction);
}

/// A scheme that implies an e has no other.
void ImpactReader::check_number(const step::Scheme& scheme, const Stated& stated) const {
  const std::optional<double> implied = scheme.info().restitution;
  const bool plain = stated.law.impact.is_plain();
  if (implied && plain && stated.law.restitution != *implied) {
    refuse(stated,
           fmt::format("the scheme {} has restitution {}, not {}", step::name_of(scheme), *implied,
                       stated.law.restitution),
           fmt::format("schemes that have it: {}",
                       base::list_names(schemes_with_restitution(stated.law.restitution))));
  }
  const bool able = !implied && scheme.info().laws == step::Laws::All;
  if (!plain && !able) {
    refuse(stated,
           fmt::format("the scheme {} has impact laws with a constant restitution only",
                       step::name_of(scheme)),
           fmt::format("schemes that have others: {}",
                       base::list_names(schemes_with(step::Laws::All))));
  }
}

/// Shocks in impulse time are of contacts with friction of one coefficient in each direction.
void ImpactReader::check_followed(const step::Scheme& scheme, const Stated& stated) const {
  if (!scheme.info().follows_shocks) {
    std::vector<std::string> able;
    for (const step::SchemeInfo* info : step::all_schemes()) {
      if (info->runs_systems && info->follows_shocks) able.emplace_back(info->name);
    }
    refuse(stated, fmt::format("the scheme {} follows no shocks", step::name_of(scheme)),
           fmt::format("schemes that do: {}", base::list_names(able)));
  }
  for (std::size_t a = 0; a < system_.slips.size(); ++a) {
    if (system_.laws[a].kind != ImpactKind::ImpulseTime) continue;
    const model::Slip& slip = system_.slips[a];
    if (slip.velocities.empty()) {
      refuse(stated, "follows the friction of a shock, and the contact has none",
             "add slip and friction, or leave `law` out");
    }
    if (slip.friction.kind == model::FrictionKind::StaticDynamic ||
        slip.friction.kind == model::FrictionKind::Polygonal) {
      refuse(stated, "does not go with static and dynamic coefficients, nor with polygons",
             "write one coefficient, two ways or an ellipse");
    }
    if (slip.restitution > 0.0) {
      refuse(stated, "does not go with a tangential restitution", "write restitution as a number");
    }
  }
}

void ImpactReader::check_kinds(const step::Scheme& scheme, bool has_friction) const {
  const auto contacts = system_.contacts.size() - static_cast<std::size_t>(system_.joints);
  for (const Stated& stated : stated_) {
    const ImpactKind kind = stated.law.impact.kind;
    if (kind == ImpactKind::Newton) continue;
    if (kind == ImpactKind::ImpulseTime) {
      check_followed(scheme, stated);
    } else if (has_friction) {
      refuse(stated, "an impact law of another kind than newton does not go with friction",
             "leave `law` out, or the friction");
    }
    if (system_.joints > 0) {
      refuse(stated, "an impact law of another kind than newton does not go with joints",
             "leave `law` out, or choose coordinates that need no [hold] or [roll]");
    }
    for (std::size_t a = 0; a < contacts; ++a) {
      if (system_.laws[a].kind == kind) continue;
      refuse(stated,
             fmt::format("the contact {} has an impact law of another kind", system_.contacts[a]),
             "contacts may be struck together: write the same kind of `law` for all of them");
    }
  }
  if (scheme.info().laws != step::Laws::OneConstant) return;
  for (std::size_t a = 1; a < contacts; ++a) {
    if (system_.restitution[a] == system_.restitution[0]) continue;
    const auto other = std::find_if(stated_.begin(), stated_.end(), [&](const Stated& stated) {
      return stated.law.restitution != 0.0;
    });
    refuse(*other,
           fmt::format("the scheme {} has one restitution for all contacts, and {} has {}, {} {}",
                       step::name_of(scheme), system_.contacts[0], system_.restitution[0],
                       system_.contacts[a], system_.restitution[a]),
           fmt::format("write the same for all, or run {}",
                       base::list_names(schemes_with(step::Laws::Constants))));
  }
}

}  // namespace ricochet::scene
