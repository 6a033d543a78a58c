#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/foreign/mechanism.h"
#include "ricochet/foreign/xml.h"

namespace ricochet::foreign {

/// The files of a model, what was asked of them, and notes of what a scene does not take over.
/// What nobody asked for becomes a note: nothing is left out in silence.
class Source {
 public:
  /// Reads a file; its elements live as long as this object.
  const Element& read(const std::string& name, const std::string& text);

  /// Puts the files that <include file="..."/> names in its place, each once; before anything is
  /// asked for.
  void include(const std::function<std::string(const std::string&)>& read_file);

  base::Spot spot(const Place& place, std::size_t length = 1) const;
  [[noreturn]] void fail(const Element& element, const std::string& message,
                         const std::string& remedy) const;
  [[noreturn]] void fail(const Attribute& attribute, const std::string& message,
                         const std::string& remedy) const;

  /// The attribute of that name; null: there is none. It counts as asked for.
  const Attribute* find(const Element& element, const std::string& name);
  /// The only child of that name; null: there is none. It counts as asked for.
  const Element* child(const Element& element, const std::string& name);
  std::vector<const Element*> children(const Element& element, const std::string& name);
  /// Of an element that has been understood; or, `inside`, that is passed over with all it has.
  void ask(const Element& element, bool inside = false);
  void ask(const Attribute& attribute) { asked_.insert(&attribute); }

  std::vector<double> numbers(const Attribute& attribute, std::size_t least,
                              std::size_t most) const;
  double number(const Attribute& attribute) const { return numbers(attribute, 1, 1)[0]; }
  Vec3 vector(const Attribute& attribute) const;
  bool truth(const Attribute& attribute) const;  // "true" or "false"
  double number(const Element& element, const std::string& name, double otherwise);
  Vec3 vector(const Element& element, const std::string& name, const Vec3& otherwise);

  void note(const Place& place, const std::string& words);
  /// Notes of all that was not asked for, in an element and below.
  void note_rest(const Element& element,
                 const std::function<std::string(const Element&, const Attribute*)>& words);
  /// "line 3: ..." or "lines 3, 7: ...", in the order of their first lines.
  std::vector<std::string> notes() const;

 private:
  struct File {
    std::string name;
    std::string text;
    Element root;
  };
  struct Note {
    std::string words;
    std::vector<Place> places;
  };

  void include_below(Element& element,
                     const std::function<std::string(const std::string&)>& read_file);

  std::deque<File> files_;
  std::set<const void*> asked_;
  std::vector<Note> notes_;
};

}  // namespace ricochet::foreign
