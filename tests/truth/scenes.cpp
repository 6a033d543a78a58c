#include "scenes.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace ricochet::truth {

Value::Value(double number) {
  std::array<char, 40> digits{};
  std::snprintf(digits.data(), digits.size(), "%.17g", number);
  text = digits.data();
}

std::string fill(const std::string& text, const Values& values) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      out += text[i++];
      continue;
    }
    std::size_t end = ++i;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string name = text.substr(i, end - i);
    bool found = false;
    for (const auto& [key, value] : values) {
      if (key != name) continue;
      out += value.text;
      found = true;
    }
    if (!found) throw std::logic_error("no value for $" + name);
    i = end;
  }
  return out;
}

std::string run(const std::string& scheme, double until, int steps, const std::string& more) {
  return fill("[run]\nscheme = \"$scheme\"\nstep = $h\nsteps = $n\nrecord = 0\n",
              {{"scheme", scheme}, {"h", until / steps}, {"n", double(steps)}}) +
         more + "\n";
}

double slack(const std::string& scheme, double h, double speed, double size, int shocks) {
  if (scheme == "event-driven") return 1e-6 * size * (1 + shocks);
  return (scheme == "penalty" ? 60.0 : 4.0) * h * speed * (1 + shocks) + 1e-9 * size;
}

Fall fall(double z, double v, double g, double e, double time) {
  Fall out;
  double arc = (v + std::sqrt(v * v + 2.0 * g * z)) / g;
  while (time > arc) {
    time -= arc;
    v = e * std::abs(v - g * arc);
    z = 0.0;
    arc = 2.0 * v / g;
    ++out.impacts;
    if (v * v < 1e-16 * g * g * arc * arc + 1e-300 || out.impacts > 100000) return out;
  }
  out.z = z + v * time - 0.5 * g * time * time;
  out.v = v - g * time;
  out.since = time;
  return out;
}

double clear_time(Draw& draw, double z, double v, double g, double e, int impacts) {
  double time = 0.0;
  double arc = (v + std::sqrt(v * v + 2.0 * g * z)) / g;
  double up = std::abs(v - g * arc);
  for (int i = 0; i < impacts; ++i) {
    time += arc;
    up *= e;
    arc = 2.0 * up / g;
  }
  return time + draw.in(0.2, 0.8) * arc;
}

}  // namespace ricochet::truth
