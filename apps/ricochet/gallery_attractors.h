#pragma once

#include "ricochet/study/gallery.h"

namespace ricochet::app {

/// The experiments of `study`, and attractors: a diagram, a basin, exponents, a section, schemes.
std::vector<study::GalleryEntry> gallery_entries();

/// One of them; throws base::InputError for an unknown name.
study::GalleryEntry gallery_entry(const std::string& name);

}  // namespace ricochet::app
