#include "ricochet/step/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::step {
namespace {

template <class... S>
std::vector<Scheme> all_schemes(const std::variant<S...>*) {
  return {S{}...};
}

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> all = all_schemes(static_cast<const Scheme*>(nullptr));
  return all;
}

}  // namespace

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const Scheme& scheme : schemes()) names.push_back(name_of(scheme));
  return names;
}

Scheme make_scheme(const std::string& name) {
  for (const Scheme& scheme : schemes()) {
    if (name_of(scheme) == name) return scheme;
  }
  const std::vector<std::string> known = scheme_names();
  if (name == "newmark") {
    throw base::InputError("run.scheme", "newmark is for scenes with a [structure]",
                           fmt::format("known schemes: {}", base::list_names(known)));
  }
  std::string remedy = fmt::format("known schemes: {}", base::list_names(known));
  if (const auto near = base::nearest_name(name, known)) {
    remedy = fmt::format("did you mean '{}'? {}", *near, remedy);
  }
  throw base::InputError("run.scheme", fmt::format("unknown scheme '{}'", name), remedy);
}

std::string name_of(const Scheme& scheme) {
  return std::visit([](const auto& s) { return std::string(s.kName); }, scheme);
}

double implied_restitution(const Scheme& scheme) {
  return std::visit([](const auto& s) { return s.kRestitution; }, scheme);
}

bool has_friction(const Scheme& scheme) {
  return std::visit([](const auto& s) { return s.kHasFriction; }, scheme);
}

bool is_staggered(const Scheme& scheme) {
  return std::visit([](const auto& s) { return s.kStaggered; }, scheme);
}

Laws laws_of(const Scheme& scheme) {
  return std::visit([](const auto& s) { return s.kLaws; }, scheme);
}

double anticipation_of(const Scheme& scheme) {
  return std::visit(
      [](const auto& s) {
        if constexpr (s.kStaggered) return s.anticipation;
        return 0.0;
      },
      scheme);
}

bool corrects(const Scheme& scheme) {
  return std::visit(
      [](const auto& s) {
        if constexpr (s.kStaggered) return s.correction == Correction::Project;
        return false;
      },
      scheme);
}

std::string remedy_of(certify::Failure failure, const Scheme& scheme) {
  const std::string remedy = certify::describe(failure).remedy;
  const bool may_correct = std::visit(
      [](const auto& s) {
        if constexpr (s.kStaggered) {
          return s.kGainsByCorrection && s.correction == Correction::None;
        }
        return false;
      },
      scheme);
  if (failure != certify::Failure::Violation || !may_correct) return remedy;
  return remedy + " or correction = \"project\"";
}

long long steps_until(double start_time, double until, double step) {
  const double exact = (until - start_time) / step - 1e-6;
  return std::max(0LL, static_cast<long long>(std::ceil(exact)));
}

}  // namespace ricochet::step
