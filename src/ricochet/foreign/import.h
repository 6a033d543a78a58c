#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ricochet::foreign {

struct ImportSettings {
  double until{1.0};       // end of the run, which no file states; [s]
  bool fixed_base{false};  // the root of a robot in URDF is fixed in space
  /// The text of a file that MJCF includes, by the name that stands there; throws
  /// base::InputError. Empty: nothing can be included.
  std::function<std::string(const std::string&)> read_file;
};

struct Imported {
  std::string scene;               // TOML; begins with rules and notes as comments
  std::string summary;             // "URDF: 3 bodies, 2 joints"
  std::vector<std::string> notes;  // what was not understood or left out, with lines
};

/// A model in URDF or MJCF as a scene. `name` is that of the file, for messages. Throws
/// base::InputError with the place of the fault and a remedy.
Imported import_model(const std::string& name, const std::string& text,
                      const ImportSettings& settings = {});

}  // namespace ricochet::foreign
