#include "ricochet/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ricochet/base/text.h"

namespace ricochet::base {
namespace {

/// The offending line with a caret line under it, both behind a margin with the line number. Long
/// lines are shown around the fault only.
std::string excerpt(const Spot& spot) {
  constexpr int kWidth = 72;  // keeps the excerpt within 80 columns
  const int column = std::clamp(spot.column, 1, display_width(spot.line_text) + 1);
  const int first = column > kWidth - 12 ? column - kWidth / 2 : 1;
  const std::string shown = slice(spot.line_text, first - 1, kWidth);
  const int pad = column - first;
  const int room = std::max(1, display_width(shown) - pad);
  const std::string margin = std::to_string(spot.line);
  return fmt::format("{} | {}\n{:>{}} | {:>{}}^{:~>{}}\n", margin, shown, "", margin.size(), "",
                     pad, "", std::clamp(spot.length, 1, room) - 1);
}

std::string render(const std::string& key, const std::string& message, const std::string& remedy,
                   const Spot& spot) {
  std::string text;
  if (!spot.file.empty()) {
    text += spot.file;
    if (spot.line > 0) text += fmt::format(":{}:{}", spot.line, std::max(1, spot.column));
    text += ": ";
  }
  text += "error: ";
  if (!key.empty()) text += key + ": ";
  text += message + "\n";
  if (spot.line > 0 && !spot.line_text.empty()) text += excerpt(spot);
  if (!remedy.empty()) text += "remedy: " + remedy + "\n";
  text.pop_back();
  return text;
}

}  // namespace

InputError::InputError(std::string key, std::string message, std::string remedy, Spot spot)
    : std::runtime_error(render(key, message, remedy, spot)),
      key_(std::move(key)),
      message_(std::move(message)),
      remedy_(std::move(remedy)),
      spot_(std::move(spot)) {}

}  // namespace ricochet::base
