#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// An experiment by its name, and how to show it.
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
