#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ricochet/formula/error.h"

namespace ricochet::formula {

/// A formula as it was written: a tree whose nodes remember their place in the text. Names are not
/// yet looked up, so that one text can be lowered many times (for each i of a sum).
struct Syntax {
  enum class Kind {
    Number,    // value
    Name,      // text, primes; children when indexed: the indices, and what follows: suffix
    Call,      // text: the function; children: the arguments
    Unary,     // text: "-", "+" or "not"
    Binary,    // text: "+", "-", "*", "/", "^", "and", "or"
    Relation,  // operators: "<", "<=", ...; children: operators.size() + 1 sides
  };
  Kind kind{Kind::Number};
  std::string text;
  double value{0.0};
  int primes{0};       // of a Name: 1 is a velocity
  std::string suffix;  // of an indexed Name: "gap" of stack[3].gap
  std::vector<std::string> operators;
  std::vector<Syntax> children;
  Extent extent;
};

/// Reads a formula. Throws FormulaError.
///
///   relation  <  and, or, not bind weaker; + - then * / then unary minus then ^ bind tighter,
///   and ^ groups to the right: -x^2 is -(x^2), 2^3^2 is 2^9.
Syntax parse(std::string_view text);

}  // namespace ricochet::formula
