#include "browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace ricochet::testing {

using nlohmann::json;

bool Chromium::is_installed() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

Chromium::Chromium() {
  int down[2] = {-1, -1};
  int up[2] = {-1, -1};
  if (::pipe(down) != 0 || ::pipe(up) != 0) return;
  const std::string profile = "--user-data-dir=" + profile_.path().string();
  child_ = ::fork();
  if (child_ == 0) {
    // The protocol has the numbers 3 and 4; the pipes may have them the other way round.
    const int in = ::fcntl(down[0], F_DUPFD, 10);
    const int out = ::fcntl(up[1], F_DUPFD, 10);
    ::dup2(in, 3);
    ::dup2(out, 4);
    for (int k = 5; k < 20; ++k) ::close(k);
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, 1);
    ::dup2(nothing, 2);
    ::execlp("chromium", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", profile.c_str(),
             static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_ = down[1];
  from_ = up[0];
}

Chromium::~Chromium() {
  if (child_ <= 0) return;
  (void)call("Browser.close", json::object());
  ::close(to_);
  ::close(from_);
  for (int k = 0; k < 500; ++k) {
    if (::waitpid(child_, nullptr, WNOHANG) != 0) return;
    ::usleep(10'000);
  }
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

json Chromium::receive() {
  constexpr int kPatience = 30'000;  // [ms]
  while (received_.find('\0') == std::string::npos) {
    pollfd waiting{from_, POLLIN, 0};
    if (::poll(&waiting, 1, kPatience) <= 0) return nullptr;
    char piece[1 << 16];
    const ssize_t count = ::read(from_, piece, sizeof piece);
    if (count <= 0) return nullptr;
    received_.append(piece, static_cast<std::size_t>(count));
  }
  const std::size_t end = received_.find('\0');
  json message = json::parse(received_.substr(0, end));
  received_.erase(0, end + 1);
  return message;
}

json Chromium::call(const std::string& method, json parameters, const std::string& session) {
  json message = {{"id", ++last_id_}, {"method", method}, {"params", std::move(parameters)}};
  if (!session.empty()) message["sessionId"] = session;
  const std::string text = message.dump();
  if (::write(to_, text.c_str(), text.size() + 1) < 0) return nullptr;
  for (json answer = receive(); !answer.is_null(); answer = receive()) {
    if (answer.value("id", 0) == last_id_) return answer.value("result", json::object());
    events_.push_back(std::move(answer));
  }
  return nullptr;
}

Seen Chromium::open(const std::filesystem::path& page, int width, int height,
                    const std::string& expression) {
  Seen seen;
  events_.clear();
  const json target = call("Target.createTarget", {{"url", "about:blank"}});
  if (!target.contains("targetId")) return seen;
  const json attached =
      call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}});
  const std::string session = attached.value("sessionId", "");
  for (const char* domain : {"Runtime.enable", "Log.enable", "Page.enable"}) {
    (void)call(domain, json::object(), session);
  }
  (void)call("Emulation.setDeviceMetricsOverride",
             {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}},
             session);
  (void)call("Page.navigate", {{"url", "file://" + page.string()}}, session);
  const auto is_loaded = [&] {
    for (const json& event : events_) {
      if (event.value("method", "") == "Page.loadEventFired") return true;
    }
    return false;
  };
  while (!is_loaded()) {
    json event = receive();
    if (event.is_null()) return seen;
    events_.push_back(std::move(event));
  }
  const json answer =
      call("Runtime.evaluate",
           {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}}, session);
  if (answer.contains("result")) seen.answer = answer["result"].value("value", json());
  for (const json& event : events_) {
    const std::string method = event.value("method", "");
    const json parameters = event.value("params", json::object());
    const bool is_error =
        method == "Runtime.exceptionThrown" ||
        (method == "Runtime.consoleAPICalled" && parameters.value("type", "") != "log") ||
        (method == "Log.entryAdded" && parameters["entry"].value("level", "") == "error");
    if (is_error) seen.complaints.push_back(parameters.dump());
  }
  (void)call("Target.closeTarget", {{"targetId", target["targetId"]}});
  return seen;
}

}  // namespace ricochet::testing
