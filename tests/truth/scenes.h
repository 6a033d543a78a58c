// Scenes whose motion is known beforehand: random numbers in closed forms, or in references that
// are integrated here, by other means than those of the library.

#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/base/random.h"

namespace ricochet::truth {

/// A quantity of summary.json, by its place there: "x" stands for final.x.
struct Check {
  std::string name;
  double value{0.0};
  double tolerance{0.0};  // how far the discretisation may be off
};

struct Scene {
  std::string text;                    // TOML
  std::vector<std::string> arguments;  // of `ricochet run`, besides
  std::vector<Check> checks;
  bool honest{true};  // nothing is wrong with it: refusing it is a fault
};

/// Random numbers, and scales of units.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  double in(double low, double high) { return random_.uniform(low, high); }
  double log(double low, double high) { return low * std::pow(high / low, random_.uniform()); }
  bool coin() { return random_.below(2) == 0; }
  int below(int count) { return random_.below(count); }
  template <class T, std::size_t N>
  T pick(const std::array<T, N>& from) {
    return from[static_cast<std::size_t>(random_.below(static_cast<int>(N)))];
  }
  const char* pick(std::initializer_list<const char*> from) {
    return *(from.begin() + random_.below(static_cast<int>(from.size())));
  }
  /// 1, or every second time a power of ten between 1e-3 and 1e3.
  double unit() { return coin() ? 1.0 : log(1e-3, 1e3); }

 private:
  base::Random random_;
};

inline constexpr double kPi = std::numbers::pi;

struct Family {
  const char* name;
  const char* truth;  // where the expected values come from
  int count;
  Scene (*make)(Draw& draw, int number);
};

/// What stands for a $name in a scene: a number with all its digits, or words.
struct Value {
  Value(double number);                                 // NOLINT: to be given as it is
  Value(const char* words) : text(words) {}             // NOLINT
  Value(std::string words) : text(std::move(words)) {}  // NOLINT
  std::string text;
};
using Values = std::vector<std::pair<std::string, Value>>;

std::string fill(const std::string& text, const Values& values);
/// The table [run] for `steps` steps up to `until`.
std::string run(const std::string& scheme, double until, int steps, const std::string& more = {});
/// What a scheme with steps h may be off after so many shocks, at a speed and a size of the motion.
double slack(const std::string& scheme, double h, double speed, double size, int shocks);

/// Free fall on a floor at 0.
struct Fall {
  double z{0.0};
  double v{0.0};
  int impacts{0};
  double since{0.0};  // the last impact
};
Fall fall(double z, double v, double g, double e, double time);
/// A time at which a bouncing ball is clear of its floor: of `impacts` bounces.
double clear_time(Draw& draw, double z, double v, double g, double e, int impacts);

const std::vector<Family>& bounces();
const std::vector<Family>& hard_gaps();
const std::vector<Family>& frictions();
const std::vector<Family>& walls();
const std::vector<Family>& resting();
const std::vector<Family>& smooth();
const std::vector<Family>& mechanisms();
const std::vector<Family>& growing();
const std::vector<Family>& unseen();
const std::vector<Family>& narrow();

}  // namespace ricochet::truth
