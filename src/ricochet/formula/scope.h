#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/formula/graph.h"
#include "ricochet/formula/syntax.h"

namespace ricochet::formula {

/// A named formula; one of indices, d[i] = ..., is read anew for each value of them that is used.
struct Definition {
  std::vector<std::string> indices;
  Syntax body;
};

/// The names a formula may use, and what each stands for. A velocity is stored under its primed
/// name, "x'". Names that exist but have no place here are kept with the reason, for the message.
class Scope {
 public:
  /// z[first], z[first + 1], ...; one whose members are called stack[i].gap is kept as
  /// "stack[].gap".
  struct Family {
    int first{1};
    std::vector<NodeId> nodes;
  };

  void define(const std::string& name, NodeId node) { nodes_[name] = node; }
  void define_family(const std::string& name, Family family) {
    families_[name] = std::move(family);
  }
  void define_indexed(const std::string& name, Definition definition) {
    indexed_[name] = std::move(definition);
  }
  /// One of a family by its name, "stack[3].gap"; those of a family come in order. Any other name,
  /// and "pair[1][2].gap", is defined as it is.
  void define_member(const std::string& name, NodeId node);
  void forbid(const std::string& name, const std::string& why) { forbidden_[name] = why; }

  std::optional<NodeId> find(const std::string& name) const;
  const Family* find_family(const std::string& name) const;
  const Definition* find_indexed(const std::string& name) const;
  /// Whether the name stands for anything here, or for something that cannot be used here.
  bool has(const std::string& name) const;
  std::optional<std::string> why_forbidden(const std::string& name) const;

  /// All usable names, sorted, families as "z[1..9]".
  std::vector<std::string> names() const;

 private:
  std::map<std::string, NodeId> nodes_;
  std::map<std::string, Family> families_;
  std::map<std::string, Definition> indexed_;
  std::map<std::string, std::string> forbidden_;
};

/// "stack[3..7].gap" of "stack[].gap", "z[1..9]" of "z".
std::string describe_family(const std::string& name, const Scope::Family& family);

/// Whether `name` is a word of the language (a function, pi, t, and, or, not): no name for users.
bool is_reserved(const std::string& name);

/// Whether `name` can be the name of a coordinate, parameter or definition.
bool is_plain_name(const std::string& name);

}  // namespace ricochet::formula
