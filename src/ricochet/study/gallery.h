#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ricochet/study/facts.h"

namespace ricochet::study {

/// An experiment of the literature, recomputed and held against what its author states.
struct Exhibit {
  std::vector<std::string> table;  // lines to print, at most 80 columns; may be empty
  std::vector<Fact> facts;
};

struct GalleryEntry {
  std::string name;
  std::string title;
  std::string source;
  std::function<Exhibit(const Runner&)> show;
};

/// All experiments, in the order of their sources.
const std::vector<GalleryEntry>& gallery();

/// One of them; throws base::InputError for an unknown name, with the nearest known one.
const GalleryEntry& gallery_entry(const std::string& name);

}  // namespace ricochet::study
