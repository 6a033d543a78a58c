#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.h"

namespace ricochet::testing {

/// What a browser says of a page.
struct Seen {
  nlohmann::json answer;                // of the question asked of it; null: none came
  std::vector<std::string> complaints;  // exceptions, errors on the console, things not found
};

/// A headless Chromium, spoken to through a pipe in its debugging protocol, in real time.
class Chromium {
 public:
  static bool is_installed();

  Chromium();
  ~Chromium();
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;

  /// Opens a file in a window of that size and evaluates an expression, a promise, when it is
  /// loaded.
  Seen open(const std::filesystem::path& page, int width, int height,
            const std::string& expression);

 private:
  nlohmann::json call(const std::string& method, nlohmann::json parameters,
                      const std::string& session = "");
  /// The next message; null after half a minute of silence.
  nlohmann::json receive();

  Folder profile_;
  pid_t child_{-1};
  int to_{-1};
  int from_{-1};
  int last_id_{0};
  std::string received_;
  std::vector<nlohmann::json> events_;
};

}  // namespace ricochet::testing
