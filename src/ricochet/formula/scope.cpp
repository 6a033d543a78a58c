#include "ricochet/formula/scope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "ricochet/formula/letters.h"
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
  const bool is_member = open != std::string::npos && close != std::string::npos;
  if (!is_member || name.find('[', close) != std::string::npos) return define(name, node);
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

const Definition* Scope::find_indexed(const std::string& name) const {
  const auto found = indexed_.find(name);
  return found == indexed_.end() ? nullptr : &found->second;
}

bool Scope::has(const std::string& name) const {
  return nodes_.contains(name) || families_.contains(name) || indexed_.contains(name) ||
         forbidden_.contains(name);
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
  for (const auto& [name, definition] : indexed_) {
    all.push_back(fmt::format("{}[{}]", name, fmt::join(definition.indices, "][")));
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
  const std::string_view text = name;
  std::size_t end = 0;
  while (const std::size_t more = name_character(text.substr(end), end == 0)) end += more;
  return end > 0 && end == name.size() && kept_name(name) == name;
}

}  // namespace ricochet::formula
