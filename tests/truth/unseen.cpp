// What no step of any like length sees: motions that the scheme itself damps away, forces and
// walls that are met between the instants that steps look at, and impacts at the very end.

#include <cmath>
#include <numbers>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

/// A scheme with a setting under which it damps to first order in the step.
struct Damping {
  const char* scheme;
  const char* setting;
};
Damping damping(Draw& draw) {
  static const std::array<Damping, 4> kAll = {{{"moreau-jean", "theta = 1"},
                                               {"moreau-jean", "theta = 0.7"},
                                               {"mabrouk", ""},
                                               {"paoli-schatzman", "average = \"forward\""}}};
  return draw.pick(kAll);
}

/// Two oscillators, or turns in a magnetic field, that have nothing to do with each other: one is
/// light and fast, and is damped by the scheme, or not.
Scene damped(Draw& draw, int number) {
  const bool fine = number % 3 == 0, magnetic = number % 2 == 1;
  const double w = draw.log(3, 30), slow = draw.log(0.1, 0.5), heavy = draw.log(1, 1e4);
  const double turn = fine ? draw.log(2e-4, 1e-3) : draw.log(0.02, 0.5);
  const double until = (fine ? draw.in(0.5, 2) : draw.in(2, 40) / turn) / w;
  const int steps = int(w * until / turn);
  const double s = draw.in(0.5, 2), c = std::cos(w * until), v = std::sin(w * until);
  const Damping how = damping(draw);
  const std::string text = fill(
      R"toml([system]
coordinates = ["x", "y", "z"]
mass = [1, 1, $heavy]
potential = "$k*z^2$spring"
$force
[start]
position = { x = $x, y = 0, z = 1 }
velocity = { x = $s, y = 0, z = 0 }
)toml",
      {{"heavy", heavy},
       {"k", 0.5 * heavy * slow * slow},
       {"spring", magnetic ? "" : fill(" + $k*x^2", {{"k", 0.5 * w * w}})},
       {"force", magnetic ? fill("force = { x = \"$w*y'\", y = \"-$w*x'\" }", {{"w", w}}) : ""},
       {"x", magnetic ? 0.0 : 1.0},
       {"s", magnetic ? s : 0.0}});
  const double off = fine ? 3 * turn * (1 + w * until) : 0.02;
  if (magnetic) {
    return {text + run(how.scheme, until, steps, how.setting),
            {},
            {{"d_x", s * c, s * off}, {"d_y", -s * v, s * off}, {"x", s * v / w, s * off / w}},
            fine};
  }
  return {text + run(how.scheme, until, steps, how.setting),
          {},
          {{"x", c, off}, {"d_x", -w * v, w * off}},
          fine};
}

/// A pulse of a force that is shorter than a step, or well seen.
Scene pulse(Draw& draw, int number) {
  const bool fine = number % 3 == 0;
  const std::string scheme =
      draw.pick({"moreau", "mabrouk", "moreau-jean", "paoli-schatzman", "elast", "penalty"});
  const int steps = int(draw.log(30, 3000)) * (fine ? 10 : 1);
  const double until = draw.log(0.1, 10), h = until / steps, at = draw.in(0.2, 0.8) * until;
  const double width = h * (fine ? draw.in(20, 30) : draw.log(1e-4, 0.2));
  const double v = draw.in(-1, 1), gained = draw.in(0.2, 5) * (draw.coin() ? 1 : -1);
  const double size = gained / (width * std::sqrt(kPi));
  const std::string law =
      fill("$a*exp(-((t - $at)/$w)^2)", {{"a", size}, {"at", at}, {"w", width}});
  const std::string text = fill(R"toml([system]
coordinates = ["x"]
mass = [1]
$force
[start]
position = { x = 0 }
velocity = { x = $v }
)toml",
                                {{"force", draw.coin() ? "potential = \"-x*" + law + "\""
                                                       : "force = { x = \"" + law + "\" }"},
                                 {"v", v}});
  const double off = 0.02 * std::abs(gained);
  return {text + run(scheme, until, steps),
          {},
          {{"x", v * until + gained * (until - at), off * until}, {"d_x", v + gained, off}},
          fine};
}

/// A steep bank in the way, passed in less than a step: a particle that is too slow turns round.
Scene bank(Draw& draw, int number) {
  const bool fine = number % 3 == 0;
  const std::string scheme =
      draw.pick({"moreau", "mabrouk", "moreau-jean", "paoli-schatzman", "elast", "penalty"});
  const int steps = int(draw.log(30, 2000)) * (fine ? 10 : 1);
  const double until = draw.log(0.1, 10), v = draw.log(0.1, 10), way = v * until;
  const double at = draw.in(0.3, 0.7) * way;
  const double width = way / steps * (fine ? draw.in(30, 50) : draw.log(1e-3, 0.1));
  const double height = 0.5 * v * v * draw.log(1.5, 20);
  // It turns where V = v^2/2; what it is late by there is of the order of width/v.
  const double turns = at - width * std::sqrt(std::log(2 * height / (v * v)));
  const std::string text = fill(R"toml([system]
coordinates = ["x"]
mass = [1]
potential = "$V*exp(-((x - $at)/$w)^2)"
[start]
position = { x = 0 }
velocity = { x = $v }
)toml",
                                {{"V", height}, {"at", at}, {"w", width}, {"v", v}});
  return {text + run(scheme, until, steps),
          {},
          {{"x", 2 * turns - way, 3 * width}, {"d_x", -v, 0.03 * v}},
          fine};
}

/// A ball thrown against a ceiling that it touches at a small speed, or misses by little.
Scene graze(Draw& draw, int number) {
  const std::string scheme =
      draw.pick({"moreau", "elast", "moreau-jean", "mabrouk", "paoli-schatzman", "event-driven"});
  const double g = 9.81, v = draw.in(1, 10), top = 0.5 * v * v / g;
  const int steps = int(draw.log(50, 5000));
  const double until = v / g * draw.in(1.3, 1.8), h = until / steps;
  const double over = g * h * h * draw.log(0.01, 3) * (number % 4 == 0 ? -1 : 1);
  const double speed = over > 0 ? std::sqrt(2 * g * over) : 0, ti = (v - speed) / g, s = until - ti;
  const double z =
      over > 0 ? top - over - speed * s - 0.5 * g * s * s : v * until - 0.5 * g * until * until;
  const std::string text = fill(R"toml([system]
coordinates = ["z"]
mass = [1]
potential = "9.81*z"
[contact.ceiling]
keep = "z <= $top"
restitution = 1
[start]
position = { z = 0 }
velocity = { z = $v }
)toml",
                                {{"top", top - over}, {"v", v}});
  const bool events = scheme == "event-driven";
  return {text + run(scheme, until, steps), {}, {{"z", z, events ? 1e-9 * top : 0.0}}, events};
}

/// An impact at the end of the run, a little before it, or a little after.
Scene at_end(Draw& draw, int number) {
  const std::string scheme =
      draw.pick({"moreau", "moreau-jean", "mabrouk", "paoli-schatzman", "event-driven"});
  const double g = 9.81, z = draw.in(0.2, 2), falls = std::sqrt(2 * z / g);
  const double part = number % 4 == 0 ? 0.0 : draw.log(1e-12, 1e-2) * (draw.coin() ? 1 : -1);
  const double until = falls * (1 + part), s = until - falls;
  const double e = draw.pick(std::array<double, 3>{0.0, 0.5, 1.0});
  const double end =
      s <= 0 ? z - 0.5 * g * until * until : std::max(0.0, e * g * falls * s - 0.5 * g * s * s);
  const std::string text = fill(R"toml([system]
coordinates = ["z"]
mass = [1]
potential = "9.81*z"
[contact.floor]
keep = "z >= 0"
restitution = $e
[start]
position = { z = $z }
)toml",
                                {{"z", z}, {"e", e}});
  return {text + run(scheme, until, int(draw.log(10, 5000))), {}, {{"z", end, 1e-12 * z}}};
}

/// A floor that is taken away.
Scene trap_door(Draw& draw, int) {
  const std::string scheme =
      draw.pick({"moreau", "inel", "moreau-jean", "mabrouk", "event-driven"});
  const double g = 9.81, opens = draw.in(0.3, 0.8), until = opens + draw.in(0.1, 0.5);
  const double s = until - opens;
  const int steps = int(draw.log(50, 20000));
  const std::string text = fill(R"toml([system]
coordinates = ["z"]
mass = [1]
potential = "9.81*z"
[contact.floor]
keep = "z >= 0"
where = "t < $opens"
[start]
position = { z = 0 }
)toml",
                                {{"opens", opens}});
  const double off = scheme == "event-driven" ? 1e-9 : 0.0;
  return {text + run(scheme, until, steps), {}, {{"z", -0.5 * g * s * s, off}}};
}

}  // namespace

const std::vector<Family>& unseen() {
  static const std::vector<Family> kAll = {
      {"damped by the scheme, or not", "closed form", 18, damped},
      {"pulse of a force", "closed form", 12, pulse},
      {"steep bank", "conservation of energy", 12, bank},
      {"ball that grazes a ceiling", "closed form", 12, graze},
      {"impact at the end", "closed form", 12, at_end},
      {"floor that is taken away", "closed form", 10, trap_door},
  };
  return kAll;
}

}  // namespace ricochet::truth
