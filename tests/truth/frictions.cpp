// Dry friction with closed forms.

#include <cmath>
#include <numbers>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

const char* either(Draw& draw) { return draw.pick({"moreau", "moreau", "moreau-jean"}); }

/// A block on a spring: half swings about +-d, until the spring is weaker than static friction.
Scene block_on_spring(Draw& draw, int) {
  const double m = draw.unit(), l = draw.unit(), g = draw.in(5, 20), k = draw.log(20, 500) * m;
  const double mu = draw.in(0.1, 0.5), ratio = draw.in(1.3, 3);
  const double d = mu * m * g / k;
  const double period = std::numbers::pi * std::sqrt(m / k);
  double x0, x;
  int swings;
  bool clear;
  do {
    x0 = d * draw.in(1.1 * ratio, 12);
    x = x0;
    swings = 0;
    clear = true;
    while (std::abs(x) > ratio * d) {
      x = -x + std::copysign(2.0 * d, x);
      ++swings;
      clear = clear && std::abs(std::abs(x) / (ratio * d) - 1.0) > 0.03;
    }
  } while (!clear);
  const double until = period * (swings + draw.in(0.5, 6));
  const int steps = int((swings + 3) * draw.log(100, 3000));
  const std::string text =
      fill(R"toml([system]
coordinates = ["x", "y"]
mass = [$m, $m]
potential = "$w*y + 0.5*$k*x^2"
[contact.floor]
keep = "y >= 0"
slip = ["x'"]
friction = { static = $s, dynamic = $mu }
[start]
position = { x = $x, y = 0 }
)toml",
           {{"m", m}, {"w", m * g * l}, {"k", k}, {"s", ratio * mu}, {"mu", mu}, {"x", x0 * l}});
  const double h = until / steps;
  return {text + run(either(draw), until, steps),
          {},
          {{"x", x * l, l * x0 * std::min(0.3, 10.0 * h * std::sqrt(k / m))}}};
}

/// A slope in a lift that sinks, gently or swinging: it sticks, or slides as in less gravity.
Scene lift(Draw& draw, int number) {
  const double g = draw.in(5, 20), a = draw.in(0.1, 0.5), tan = std::tan(a);
  const bool swings = number % 2 == 1, sticks = number % 3 != 2;
  const double s = sticks ? tan * draw.in(1.1, 2) : tan * draw.in(0.6, 0.9);
  const double mu = (sticks ? tan : s) * draw.in(0.3, 0.9);
  const double w = draw.in(1, 6);
  const double b = swings ? draw.in(0.05, 0.6) * g / (w * w) : draw.in(0.005, 0.4) * g;
  const double until = draw.in(1, 4);
  const int steps = int(draw.log(500, 8000));
  const double lowered = swings ? -b * (1 - std::cos(w * until)) : -0.5 * b * until * until;
  const double slid =
      sticks ? 0.0 : (std::sin(a) - mu * std::cos(a)) * (0.5 * g * until * until + lowered);
  const std::string where = swings ? "-$b*(1 - cos($w*t))" : "-0.5*$b*t^2";
  const std::string rate = swings ? "-$b*$w*sin($w*t)" : "-$b*t";
  const Values motion = {{"b", b}, {"w", w}};
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
parameters = { a = $a }
define = { Y = "$where" }
kinetic = "0.5*(x'^2 + y'^2)"
potential = "$g*y"
[contact.slope]
keep = "-x*sin(a) + (y - Y)*cos(a) >= 0"
slip = ["x'*cos(a) + (y' - ($rate))*sin(a)"]
friction = { static = $s, dynamic = $mu }
[start]
position = { x = 0, y = 0 }
)toml",
                                {{"a", a},
                                 {"g", g},
                                 {"where", fill(where, motion)},
                                 {"rate", fill(rate, motion)},
                                 {"s", s},
                                 {"mu", mu}});
  const double tolerance = 5.0 * until / steps * g * until;
  return {text + run(either(draw), until, steps),
          {},
          {{"x", -slid * std::cos(a), tolerance}, {"y", lowered - slid * std::sin(a), tolerance}}};
}

/// Thrown up a slope: stays where it stops, or slides back.
Scene thrown_up(Draw& draw, int number) {
  const double m = draw.unit(), l = draw.unit(), t = draw.unit();
  const double g = draw.in(5, 20) * l / (t * t), a = draw.in(0.1, 0.6), v = draw.in(0.5, 3) * l / t;
  const bool stays = number % 2 == 0;
  const double s = std::tan(a) * (stays ? draw.in(1.1, 2) : draw.in(0.5, 0.95));
  const double mu = s * draw.in(0.3, 0.95);
  const double down = g * (std::sin(a) - mu * std::cos(a)),
               up = g * (std::sin(a) + mu * std::cos(a));
  const double turn = v / up, until = turn * draw.in(1.5, 4);
  const double top = 0.5 * v * turn;
  const double x = stays ? top : top - 0.5 * down * (until - turn) * (until - turn);
  const int steps = int(draw.log(500, 8000));
  const std::string text =
      fill(R"toml([system]
coordinates = ["x", "y"]
mass = [$m, $m]
potential = "$mg*(x*sin($a) + y*cos($a))"
[contact.slope]
keep = "y >= 0"
slip = ["x'"]
friction = { static = $s, dynamic = $mu }
[start]
position = { x = 0, y = 0 }
velocity = { x = $v }
)toml",
           {{"m", m}, {"mg", m * g}, {"a", a}, {"s", s}, {"mu", mu}, {"v", v}});
  return {text + run(either(draw), until, steps),
          {},
          {{"x", x, 6.0 * until / steps * (v + g * until)}}};
}

/// Bounces on a slope with friction until it sticks there; impulses of friction are
/// min(mu (1 + e) v, |slip|).
Scene bounce_and_stick(Draw& draw, int number) {
  const double g = draw.in(5, 20), a = draw.in(0.05, 0.5), mu = std::tan(a) * draw.in(1.3, 3);
  const double e = draw.in(0.2, 0.7), height = draw.in(0.05, 0.5);
  double v = 0, w = 0, x = -height * std::sin(a), time = 0;  // x, v downwards along the slope
  const double gt = g * std::sin(a), gn = g * std::cos(a);
  double z = height * std::cos(a);
  for (int i = 0; i < 200; ++i) {
    const double arc = (w + std::sqrt(w * w + 2 * gn * z)) / gn;
    x += v * arc + 0.5 * gt * arc * arc;
    v += gt * arc;
    w = std::abs(w - gn * arc);
    const double most = mu * (1 + e) * w;
    v = std::abs(v) <= most ? 0.0 : v - std::copysign(most, v);
    w *= e;
    z = 0;
    time += arc;
    if (w < 1e-9) break;
  }
  while (v > 1e-12) {  // slides to rest
    const double brake = mu * gn - gt;
    x += 0.5 * v * v / brake;
    time += v / brake;
    v = 0;
  }
  const double until = time * draw.in(2, 6);
  const int steps = int(draw.log(1000, 10000));
  const bool project = number % 3 != 2;
  const char* scheme = project ? "moreau" : either(draw);
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
parameters = { a = $a }
potential = "$g*y"
[contact.slope]
keep = "x*sin(a) + y*cos(a) >= 0"
slip = ["x'*cos(a) - y'*sin(a)"]
friction = $mu
restitution = $e
[start]
position = { x = 0, y = $y }
)toml",
                                {{"a", a}, {"g", g}, {"mu", mu}, {"e", e}, {"y", height}});
  const double tolerance = 8 * until / steps * std::sqrt(2 * g * height);
  return {text + run(scheme, until, steps, project ? "correction = \"project\"" : ""),
          {},
          {{"x", x * std::cos(a), tolerance}, {"y", -x * std::sin(a), tolerance}}};
}

/// A block on a belt, held by a spring: sticks up to mu_s N / k, swings about mu_d N / k.
Scene belt(Draw& draw, int) {
  const double m = 1, g = draw.in(5, 20), k = draw.log(20, 300), v = draw.in(0.05, 0.5);
  const double mu = draw.in(0.1, 0.4), s = mu * draw.in(1.3, 2.5);
  const double w = std::sqrt(k / m), high = s * m * g / k, low = mu * m * g / k;
  // From x = 0 at the speed of the belt. Slip lasts until the speed of the belt is reached again.
  const double c = high - low;  // x = low + c cos(w s) + (v/w) sin(w s)
  const double slip = 2 * (std::numbers::pi - std::atan2(c * w, v)) / w;
  const double back = low - c;  // by symmetry
  double time = 0, x = 0;
  const double until = draw.in(0.3, 1) * 3 * (slip + (high - back) / v) + high / v;
  int cycles = 0;
  for (;;) {
    const double stick = (high - x) / v;
    if (time + stick >= until) {
      x += v * (until - time);
      break;
    }
    time += stick;
    const double part = until - time;
    if (part <= slip) {
      x = low + c * std::cos(w * part) + v / w * std::sin(w * part);
      break;
    }
    time += slip;
    x = back;
    ++cycles;
  }
  const int steps = int(draw.log(4000, 30000));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "$g*y + 0.5*$k*x^2"
[contact.belt]
keep = "y >= 0"
slip = ["x' - $v"]
friction = { static = $s, dynamic = $mu }
[start]
position = { x = 0, y = 0 }
velocity = { x = $v }
)toml",
                                {{"g", g}, {"k", k}, {"v", v}, {"s", s}, {"mu", mu}});
  return {text + run(either(draw), until, steps),
          {},
          {{"x", x, 6 * (cycles + 1) * until / steps * (c * w + v)}}};
}

/// A disc that slides, then rolls with two thirds of its speed.
Scene rolling(Draw& draw, int) {
  const double l = draw.unit(), m = draw.unit(), radius = draw.in(0.2, 1) * l;
  const double g = draw.in(5, 20) * l, v = draw.in(1, 4) * l, mu = draw.in(0.1, 0.5);
  const double stop = v / (3 * mu * g), until = stop * draw.in(1.5, 4);
  const double x = v * stop - 0.5 * mu * g * stop * stop + (until - stop) * 2 * v / 3;
  const int steps = int(draw.log(300, 5000));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y", "phi"]
mass = [$m, $m, $J]
potential = "$w*y"
[contact.floor]
keep = "y >= $R"
body = { position = ["x", "y"], angle = "phi", point = ["x", "y - $R"] }
friction = $mu
[start]
position = { x = 0, y = $R, phi = 0 }
velocity = { x = $v }
)toml",
                                {{"m", m},
                                 {"J", 0.5 * m * radius * radius},
                                 {"w", m * g},
                                 {"R", radius},
                                 {"mu", mu},
                                 {"v", v}});
  const double h = until / steps;
  return {text + run(either(draw), until, steps),
          {},
          {{"x", x, 3 * h * v}, {"d_phi", -2 * v / (3 * radius), 3 * h * g / radius}}};
}

/// A block thrown over a floor in space stops on a straight line.
Scene in_space(Draw& draw, int) {
  const double g = draw.in(5, 20), mu = draw.in(0.1, 0.8), v = draw.in(0.5, 3);
  const double angle = draw.in(0, 6.28), stop = v / (mu * g), until = stop * draw.in(1.2, 3);
  const int steps = int(draw.log(300, 5000));
  const std::string text =
      fill(R"toml([system]
coordinates = ["x", "y", "z"]
mass = [1, 1, 1]
potential = "$g*z"
[contact.floor]
keep = "z >= 0"
slip = ["x'", "y'"]
friction = $mu
[start]
position = { x = 0, y = 0, z = 0 }
velocity = { x = $u, y = $v }
)toml",
           {{"g", g}, {"mu", mu}, {"u", v * std::cos(angle)}, {"v", v * std::sin(angle)}});
  const double tolerance = 3 * until / steps * v;
  return {text + run(either(draw), until, steps),
          {},
          {{"x", 0.5 * v * stop * std::cos(angle), tolerance},
           {"y", 0.5 * v * stop * std::sin(angle), tolerance}}};
}

}  // namespace

const std::vector<Family>& frictions() {
  static const std::vector<Family> kAll = {
      {"block on a spring, static friction", "closed form", 12, block_on_spring},
      {"slope in a lift", "closed form", 12, lift},
      {"thrown up a slope", "closed form", 8, thrown_up},
      {"bounces on a slope, then sticks", "exact list of impacts", 9, bounce_and_stick},
      {"block on a belt", "closed form", 8, belt},
      {"disc that slides, then rolls", "closed form", 6, rolling},
      {"block thrown in space", "closed form", 6, in_space},
  };
  return kAll;
}

}  // namespace ricochet::truth
