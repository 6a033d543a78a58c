#include "ricochet/foreign/import.h"

#include <fmt/format.h>

#include "ricochet/foreign/mjcf.h"
#include "ricochet/foreign/scene_text.h"
#include "ricochet/foreign/source.h"
#include "ricochet/foreign/urdf.h"

namespace ricochet::foreign {

Imported import_model(const std::string& name, const std::string& text,
                      const ImportSettings& settings) {
  Source source;
  const Element& root = source.read(name, text);
  Mechanism mechanism;
  if (root.name == "robot") {
    mechanism = read_urdf(source, root, settings.fixed_base);
  } else if (root.name == "mujoco") {
    mechanism = read_mjcf(source, root, settings.read_file);
  } else {
    source.fail(root, "is neither a <robot> of URDF nor a <mujoco> of MJCF",
                "these two formats are read; convert the file to one of them");
  }
  return scene_text(source, mechanism, name, settings.until);
}

}  // namespace ricochet::foreign
