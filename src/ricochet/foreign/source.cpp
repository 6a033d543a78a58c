#include "ricochet/foreign/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"

namespace ricochet::foreign {

using base::index;

const Element& Source::read(const std::string& name, const std::string& text) {
  const int file = static_cast<int>(files_.size());
  files_.push_back({name, text, read_xml(name, text, file)});
  ask(files_.back().root);
  return files_.back().root;
}

void Source::include(const std::function<std::string(const std::string&)>& read_file) {
  include_below(files_[0].root, read_file);
}

void Source::include_below(Element& element,
                           const std::function<std::string(const std::string&)>& read_file) {
  std::vector<Element> children;
  for (Element& one : element.children) {
    if (one.name != "include") {
      include_below(one, read_file);
      children.push_back(std::move(one));
      continue;
    }
    const auto name = std::find_if(one.attributes.begin(), one.attributes.end(),
                                   [](const Attribute& each) { return each.name == "file"; });
    if (name == one.attributes.end()) fail(one, "names no file", "write <include file=\"...\"/>");
    const bool again = std::any_of(files_.begin(), files_.end(),
                                   [&](const File& file) { return file.name == name->value; });
    if (again) fail(*name, fmt::format("'{}' is included twice", name->value), "remove one");
    if (!read_file) {
      fail(*name, "there are no files here to include from", "put its text in place of it");
    }
    const int file = static_cast<int>(files_.size());
    const std::string text = read_file(name->value);
    files_.push_back({name->value, text, read_xml(name->value, text, file)});
    include_below(files_.back().root, read_file);
    for (Element& inner : files_[index(file)].root.children) children.push_back(std::move(inner));
  }
  element.children = std::move(children);
}

base::Spot Source::spot(const Place& place, std::size_t length) const {
  const File& file = files_[index(place.file)];
  return {file.name, place.line, place.column, static_cast<int>(length),
          std::string(base::line_of(file.text, place.line))};
}

void Source::fail(const Element& element, const std::string& message,
                  const std::string& remedy) const {
  throw base::InputError(fmt::format("<{}>", element.name), message, remedy,
                         spot(element.place, element.name.size() + 1));
}

void Source::fail(const Attribute& attribute, const std::string& message,
                  const std::string& remedy) const {
  throw base::InputError(attribute.name, message, remedy,
                         spot(attribute.place, attribute.name.size()));
}

const Attribute* Source::find(const Element& element, const std::string& name) {
  for (const Attribute& attribute : element.attributes) {
    if (attribute.name != name) continue;
    ask(attribute);
    return &attribute;
  }
  return nullptr;
}

const Element* Source::child(const Element& element, const std::string& name) {
  const std::vector<const Element*> all = children(element, name);
  if (all.size() > 1)
    fail(*all[1], fmt::format("stands twice in <{}>", element.name), "remove one");
  return all.empty() ? nullptr : all[0];
}

std::vector<const Element*> Source::children(const Element& element, const std::string& name) {
  std::vector<const Element*> found;
  for (const Element& one : element.children) {
    if (one.name != name) continue;
    ask(one);
    found.push_back(&one);
  }
  return found;
}

void Source::ask(const Element& element, bool inside) {
  asked_.insert(&element);
  if (!inside) return;
  for (const Attribute& attribute : element.attributes) ask(attribute);
  for (const Element& one : element.children) ask(one, true);
}

std::vector<double> Source::numbers(const Attribute& attribute, std::size_t least,
                                    std::size_t most) const {
  const std::string wanted = least == most ? base::counted(static_cast<long long>(least), "number")
                                           : fmt::format("{} to {} numbers", least, most);
  constexpr const char* kBlanks = " \t\n\r";
  std::vector<double> found;
  const std::string& text = attribute.value;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::optional<double> number = base::parse_number(word[0] == '+' ? word.substr(1) : word);
    if (!number || !std::isfinite(*number)) {
      fail(attribute, fmt::format("'{}' is no number", word), fmt::format("write {}", wanted));
    }
    found.push_back(*number);
    at = text.find_first_not_of(kBlanks, end);
  }
  if (found.size() < least || found.size() > most) {
    fail(attribute, fmt::format("has {} numbers", found.size()), fmt::format("write {}", wanted));
  }
  return found;
}

Vec3 Source::vector(const Attribute& attribute) const {
  const std::vector<double> found = numbers(attribute, 3, 3);
  return {found[0], found[1], found[2]};
}

bool Source::truth(const Attribute& attribute) const {
  if (attribute.value == "true" || attribute.value == "enable") return true;
  if (attribute.value == "false" || attribute.value == "disable") return false;
  fail(attribute, fmt::format("'{}' is neither true nor false", attribute.value),
       "write true or false");
}

double Source::number(const Element& element, const std::string& name, double otherwise) {
  const Attribute* found = find(element, name);
  return found == nullptr ? otherwise : number(*found);
}

Vec3 Source::vector(const Element& element, const std::string& name, const Vec3& otherwise) {
  const Attribute* found = find(element, name);
  return found == nullptr ? otherwise : vector(*found);
}

void Source::note(const Place& place, const std::string& words) {
  auto same = std::find_if(notes_.begin(), notes_.end(),
                           [&](const Note& one) { return one.words == words; });
  if (same == notes_.end()) same = notes_.insert(same, Note{words, {}});
  same->places.push_back(place);
}

void Source::note_rest(const Element& element,
                       const std::function<std::string(const Element&, const Attribute*)>& words) {
  if (!asked_.contains(&element)) {
    note(element.place, words(element, nullptr));
    return;
  }
  for (const Attribute& attribute : element.attributes) {
    if (!asked_.contains(&attribute)) note(attribute.place, words(element, &attribute));
  }
  for (const Element& one : element.children) note_rest(one, words);
}

std::vector<std::string> Source::notes() const {
  const auto key = [](const Place& place) { return std::tuple(place.file, place.line); };
  std::vector<Note> sorted = notes_;
  for (Note& one : sorted) {
    std::sort(one.places.begin(), one.places.end(),
              [&](const Place& a, const Place& b) { return key(a) < key(b); });
  }
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Note& a, const Note& b) {
    return key(a.places[0]) < key(b.places[0]);
  });
  std::vector<std::string> told;
  for (const Note& one : sorted) {
    std::vector<std::string> places;
    for (const Place& place : one.places) {
      const std::string& name = files_[index(place.file)].name;
      std::string next =
          place.file == 0 ? fmt::format("{}", place.line) : fmt::format("{}:{}", name, place.line);
      if (places.empty() || places.back() != next) places.push_back(std::move(next));
    }
    told.push_back(fmt::format("line{} {}: {}", places.size() == 1 ? "" : "s",
                               base::list_names(places, 40), one.words));
  }
  return told;
}

}  // namespace ricochet::foreign
