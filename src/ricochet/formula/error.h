#pragma once

#include <stdexcept>
#include <string>

namespace ricochet::formula {

/// A stretch of a formula's text, in bytes from its start.
struct Extent {
  int begin{0};
  int length{0};
};

/// What is wrong in a formula, where, and what to do about it. The scene adds file and line.
class FormulaError : public std::runtime_error {
 public:
  FormulaError(const std::string& message, Extent extent, std::string remedy = {})
      : std::runtime_error(message), extent_(extent), remedy_(std::move(remedy)) {}

  Extent extent() const { return extent_; }
  const std::string& remedy() const { return remedy_; }

 private:
  Extent extent_;
  std::string remedy_;
};

}  // namespace ricochet::formula
