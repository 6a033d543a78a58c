// Inequalities that are written badly: flat, huge, not a number, or not a length.

#include <cmath>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

const std::string kDrop = R"toml([system]
coordinates = ["x"]
mass = [1]
potential = "$g*x"
[contact.floor]
keep = "$keep"
$more
restitution = $e
[start]
position = { x = $x }
velocity = { x = $v }
)toml";

/// A ball over x >= 0, said in some other way.
Scene ball(Draw& draw, const std::string& keep, const std::string& more, const char* scheme,
           bool honest) {
  const double g = draw.in(5, 20), e = draw.coin() ? draw.in(0.4, 0.9) : 1.0, x = draw.in(0.5, 1.5);
  const double until = clear_time(draw, x, 0.0, g, e, 1 + draw.below(3));
  const Fall end = fall(x, 0.0, g, e, until);
  const int steps = int(draw.log(300, 5000));
  const std::string text =
      fill(kDrop, {{"g", g}, {"keep", keep}, {"more", more}, {"e", e}, {"x", x}, {"v", 0.0}});
  const bool events = std::string(scheme) == "event-driven";
  return {text + run(scheme, until, events ? 20 : steps),
          {},
          {{"x", end.z, slack(scheme, until / steps, std::sqrt(2 * g * x), x, end.impacts)}},
          honest};
}

const char* any_direct(Draw& draw) {
  return draw.pick({"moreau", "moreau-jean", "mabrouk", "event-driven", "paoli-schatzman"});
}

Scene flat(Draw& draw, int number) {
  static const std::array<const char*, 5> kForms = {"if(x > 0, 1, -1) >= 0", "sign(x) >= 0",
                                                    "tanh($k*x) >= 0", "if(x > 0, $k, -$k) >= 0",
                                                    "max(min(x, 1e-4), -1e-4) >= 0"};
  return ball(draw, fill(kForms[static_cast<std::size_t>(number) % 5], {{"k", draw.log(1e4, 1e8)}}),
              "", any_direct(draw), false);
}

Scene overflowing(Draw& draw, int number) {
  const double power = number % 2 == 0 ? draw.in(80, 300) : -draw.in(80, 300);
  return ball(draw, fill("$k*x >= 0", {{"k", std::pow(10.0, power)}}), "", any_direct(draw), false);
}

Scene scaled(Draw& draw, int) {
  return ball(draw, fill("$k*x >= 0", {{"k", draw.log(1e-8, 1e8)}}), "", any_direct(draw), true);
}

Scene nan_where(Draw& draw, int number) {
  static const std::array<const char*, 4> kForms = {"sqrt(x) < 10", "log(x) < 10",
                                                    "sqrt(x)*sqrt(3 - x) > -1", "x^0.5 < 5"};
  return ball(draw, "x >= 0",
              std::string("where = \"") + kForms[static_cast<std::size_t>(number) % 4] + "\"",
              draw.pick({"moreau", "moreau-jean", "mabrouk", "event-driven", "penalty"}), false);
}

/// Gaps that are steep where the motion starts and gentle at the wall.
Scene steep_start(Draw& draw, int number) {
  static const std::array<const char*, 3> kForms = {"exp($k*x) >= 1", "sinh($k*x) >= 0",
                                                    "x + $k*x^9 >= 0"};
  const double k = draw.log(0.5, 3);
  const double x = number % 3 == 2 ? draw.in(30, 60) : draw.in(28, 36) / k;
  const double v = draw.in(0.5, 2), after = draw.in(0.5, 3);
  const double until = x / v + after;
  const int steps = int(draw.log(3000, 30000));
  const char* scheme = draw.pick({"moreau", "elast", "mabrouk", "moreau-jean", "event-driven"});
  const std::string text =
      fill(kDrop, {{"g", 0.0},
                   {"keep", fill(kForms[static_cast<std::size_t>(number) % 3], {{"k", k}})},
                   {"more", ""},
                   {"e", 1.0},
                   {"x", x},
                   {"v", -v}});
  return {text + run(scheme, until, scheme == std::string("event-driven") ? 40 : steps),
          {},
          {{"x", v * after, slack("moreau", until / steps, v, 1, 1)}},
          false};
}

/// Springs in place of walls that are not linear, or too stiff for the step.
Scene penalty(Draw& draw, int number) {
  static const std::array<const char*, 5> kForms = {
      "exp($k*x) >= 1", "sinh($k*x) >= 0", "1 - 1/(1 + x) >= 0", "x^3 >= 0", "log(1 + x) >= 0"};
  return ball(draw, fill(kForms[static_cast<std::size_t>(number) % 5], {{"k", draw.log(1, 100)}}),
              "", "penalty", false);
}

/// Slip along the normal, or longer or shorter than it is.
Scene slip_rows(Draw& draw, int number) {
  static const std::array<const char*, 5> kForms = {"y'", "$c*x'", "x' + $c*y'", "-$c*x'", "0*x'"};
  const double g = draw.in(5, 20), mu = draw.in(0.1, 0.6), v = draw.in(0.5, 2);
  const double stop = v / (mu * g);
  const double until = stop * draw.in(1.2, 2);
  const double c = draw.coin() ? draw.in(1.2, 5) : draw.in(0.1, 0.8);
  const int steps = int(draw.log(500, 5000));
  const char* scheme = draw.pick({"moreau", "moreau-jean"});
  const std::string text =
      fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "$g*y"
[contact.floor]
keep = "y >= 0"
slip = ["$slip"]
friction = $mu
[start]
position = { x = 0, y = 0 }
velocity = { x = $v }
)toml",
           {{"g", g},
            {"slip", fill(kForms[static_cast<std::size_t>(number) % 5], {{"c", c}})},
            {"mu", mu},
            {"v", v}});
  return {text + run(scheme, until, steps),
          {},
          {{"x", 0.5 * v * stop, slack(scheme, until / steps, v, 1, 1)}},
          false};
}

}  // namespace

const std::vector<Family>& hard_gaps() {
  static const std::vector<Family> kAll = {
      {"flat gaps", "closed form", 10, flat},
      {"gaps that overflow", "closed form", 8, overflowing},
      {"gaps in other units", "closed form", 8, scaled},
      {"`where` not a number", "closed form", 8, nan_where},
      {"gaps steep at the start", "closed form", 9, steep_start},
      {"springs for walls", "closed form", 10, penalty},
      {"slip that is no unit tangent", "closed form", 10, slip_rows},
  };
  return kAll;
}

}  // namespace ricochet::truth
