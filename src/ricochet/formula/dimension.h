#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ricochet/formula/scope.h"
#include "ricochet/formula/syntax.h"

namespace ricochet::formula {

/// A product of powers of metre, kilogram, second, kelvin and ampere. Angles are numbers.
struct Dimension {
  std::array<double, 5> powers{};
  bool is_any{false};  // of the number 0 and of numbers as they are written: they go with all

  bool is_number() const { return !is_any && powers == std::array<double, 5>{}; }
  bool fits(const Dimension& other) const {
    return is_any || other.is_any || powers == other.powers;
  }
  Dimension times(const Dimension& other, double power = 1.0) const;
  Dimension to_the(double power) const { return Dimension{}.times(*this, power); }
  std::string text() const;  // "kg m^2/s^2"; "a number"
};

/// A unit, "m/s^2" or "kN mm": its dimension, and how much of the unit of that it is. Nothing where
/// a word in it is not known.
struct Unit {
  Dimension dimension;
  double size{1.0};
};
std::optional<Unit> parse_unit(std::string_view text);

/// A number with a unit, "9.81 m/s^2": the number and the text of the unit. Nothing where the text
/// is something else.
std::optional<std::pair<double, std::string>> split_quantity(const std::string& text);

/// What names stand for; velocities follow from their coordinates. Definitions are looked through.
/// Of what rows and summaries have besides, such as wall.gap and energy.end, the ending tells.
struct Dimensions {
  std::map<std::string, Dimension> names;
  std::map<std::string, Definition> definitions;
  std::map<std::string, Dimension> gaps;  // by contact, families by their name
};

/// The dimension of a formula. Throws FormulaError where what is added or compared does not fit, or
/// a function is given what is no number.
Dimension dimension_of(const Syntax& syntax, const Dimensions& known);

}  // namespace ricochet::formula
