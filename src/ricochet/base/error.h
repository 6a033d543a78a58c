#pragma once

#include <stdexcept>
#include <string>

namespace ricochet::base {

/// A place in a text the user wrote. Lines and columns count from 1; 0 means unknown.
struct Spot {
  std::string file;       // as the user named it; empty when the text has no file
  int line{0};            // [-]
  int column{0};          // [-]
  int length{1};          // number of characters to underline, >= 1
  std::string line_text;  // the whole line, shown above the caret; may be empty
};

/// Bad input. `what()` is the whole message: place, key, what is wrong, the line with a caret under
/// the fault, and the remedy.
class InputError : public std::runtime_error {
 public:
  InputError(std::string key, std::string message, std::string remedy = {}, Spot spot = {});

  const std::string& key() const { return key_; }
  const std::string& message() const { return message_; }
  const std::string& remedy() const { return remedy_; }
  const Spot& spot() const { return spot_; }

 private:
  std::string key_;
  std::string message_;
  std::string remedy_;
  Spot spot_;
};

}  // namespace ricochet::base
