#pragma once

#include <string>
#include <vector>

namespace ricochet::foreign {

/// Where something stands: in which of the files that were read, counted from 0, and where there.
struct Place {
  int file{0};
  int line{0};    // from 1
  int column{0};  // from 1
};

struct Attribute {
  std::string name;
  std::string value;  // entities replaced
  Place place;        // of its name
};

/// What stands between the tags of an element besides other elements is not kept: neither format
/// has a use for it.
struct Element {
  std::string name;
  std::vector<Attribute> attributes;
  std::vector<Element> children;
  Place place;  // of its <
};

/// The root of an XML text, read strictly: a fault throws base::InputError with line and remedy.
/// Refused besides: document types with declarations of their own, and elements more than 200 deep.
Element read_xml(const std::string& name, const std::string& text, int file);

}  // namespace ricochet::foreign
