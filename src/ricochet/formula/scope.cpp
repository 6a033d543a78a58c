#include "ricochet/formula/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ricochet/formula/lower.h"

namespace ricochet::formula {

std::optional<NodeId> Scope::find(const std::string& name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return std::nullopt;
  return found->second;
}

const Scope::Family* Scope::find_family(const std::string& name) const {
  const auto found = families_.find(name);
  return found == families_.end() ? nullptr : &found->second;
}

std::optional<std::string> Scope::why_forbidden(const std::string& name) const {
  const auto found = forbidden_.find(name);
  if (found == forbidden_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> all;
  for (const auto& [name, node] : nodes_) all.push_back(name);
  for (const auto& [name, family] : families_) {
    const int last = family.first + static_cast<int>(family.nodes.size()) - 1;
    all.push_back(fmt::format("{}[{}..{}]", name, family.first, last));
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool is_reserved(const std::string& name) {
  return name == "t" || name == "pi" || name == "and" || name == "or" || name == "not" ||
         is_function(name);
}

bool is_plain_name(const std::string& name) {
  if (name.empty()) return false;
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto letter_or_digit = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  };
  return letter(name[0]) && std::all_of(name.begin(), name.end(), letter_or_digit);
}

}  // namespace ricochet::formula
