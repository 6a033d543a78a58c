#pragma once

#include "ricochet/step/outcome.h"
#include "ricochet/study/gallery.h"

namespace ricochet::app {

/// The experiments of `study`, and attractors: a diagram, a basin, exponents, a section, schemes.
/// They end early once the monitor says stop; null: they do not.
std::vector<study::GalleryEntry> gallery_entries(step::Monitor* monitor = nullptr);

/// One of them; throws base::InputError for an unknown name.
study::GalleryEntry gallery_entry(const std::string& name, step::Monitor* monitor);

}  // namespace ricochet::app
