#include "number_option.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::app {

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  if (list.empty()) return words;
  std::size_t begin = 0;
  for (std::size_t comma = list.find(','); comma != std::string::npos;
       comma = list.find(',', begin)) {
    words.push_back(base::trimmed(list.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  words.push_back(base::trimmed(list.substr(begin)));
  return words;
}

double positive_option(const std::string& option, const std::string& text) {
  if (text.empty()) return 0.0;
  const std::optional<double> number = base::parse_number(text);
  if (!number || !std::isfinite(*number)) {
    throw base::InputError(option, fmt::format("'{}' is not a number", text),
                           "write a decimal number, as 0.001");
  }
  if (*number > 0.0) return *number;
  throw base::InputError(option, fmt::format("must be positive, not {}", text),
                         "write a number > 0");
}

int whole_option(const std::string& option, const std::string& text) {
  const std::optional<double> number = base::parse_number(text);
  if (number && *number >= 0.0 && *number <= 1e9 && *number == std::floor(*number)) {
    return static_cast<int>(*number);
  }
  throw base::InputError(option, fmt::format("'{}' is not a whole number >= 0", text),
                         "write 0, 1, 2, ...");
}

}  // namespace ricochet::app
