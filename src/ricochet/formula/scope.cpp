#include "ricochet/formula/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cctype>

#include "ricochet/formula/lower.h"

namespace ricochet::formula {

std::optional<NodeId> Scope::find(const std::string& name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return std::nullopt;
  return found->second;
}

void Scope::define_member(const std::string& name, NodeId node) {
  const std::size_t open = name.find('[');
  const std::size_t close = name.find(']');
  if (open == std::string::npos || close == std::string::npos) return define(name, node);
  const int index = std::stoi(name.substr(open + 1, close - open - 1));
  Family& family = families_[name.substr(0, open + 1) + name.substr(close)];
  if (family.nodes.empty()) family.first = index;
  assert(index == family.first + static_cast<int>(family.nodes.size()));
  family.nodes.push_back(node);
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
    all.push_back(describe_family(name, family));
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::string describe_family(const std::string& name, const Scope::Family& family) {
  const int last = family.first + static_cast<int>(family.nodes.size()) - 1;
  const std::size_t end = name.find("[]");
  const std::string rest = end == std::string::npos ? "" : name.substr(end + 2);
  return fmt::format("{}[{}..{}]{}", name.substr(0, end), family.first, last, rest);
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
