// What is narrower than a step: posts in other forms than distances, patches of friction and of
// restitution, loads that static friction holds or not, heavy places, bumps, plates and steps.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

const std::string kPlane = R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
)toml";

/// A straight flight at unit speed along x, past a post at (d, b), of radius r, that is written in
/// many ways; it strikes where |b| < r.
Scene forms(Draw& draw, int number) {
  static const std::array<const char*, 8> kForms = {
      "(x - $d)^2 + (y - ($b))^2 >= $r^2",
      "sqrt((x - $d)^2 + (y - ($b))^2) >= $r",
      "((x - $d)^2 + (y - ($b))^2)^2 >= $r^4",
      "((x - $d)^2 + (y - ($b))^2)^1.5 >= $r^3",
      "$r^2/((x - $d)^2 + (y - ($b))^2) <= 1",
      "log(((x - $d)^2 + (y - ($b))^2)/$r^2) >= 0",
      "((x - $d)^2 + (y - ($b))^2 - $r^2)*(hypot(x - $d, y - 3) - 1) >= 0",
      "min(hypot(x - $d, y - ($b)) - $r, hypot(x - $d, y - 3) - 1) >= 0"};
  static const std::array<const char*, 7> kSchemes = {
      "moreau", "event-driven", "elast", "moreau-jean", "mabrouk", "paoli-schatzman", "penalty"};
  const std::string scheme = kSchemes[static_cast<std::size_t>(number) % 7];
  const int steps = int(draw.log(20, 2000));
  const double until = draw.in(1.2, 1.8), d = 1, h = until / steps;
  const double r = h * draw.log(1e-3, 1);
  const bool hits = draw.coin(), clears = !hits && draw.coin();
  double b = r * draw.in(-0.95, 0.95);
  if (!hits) b = r * draw.in(1.05, 2);
  if (clears) b = 4 * std::max(r, h);
  const double inward = hits ? std::sqrt(r * r - b * b) : 0;
  const double nx = -inward / r, ny = -b / r;  // it leaves at the angle at which it comes
  const double time = until - (d - inward);
  const double x = hits ? d - inward + time * (1 - 2 * nx * nx) : until;
  const double y = hits ? -2 * nx * ny * time : 0;
  const std::string wall =
      fill(kForms[static_cast<std::size_t>(draw.below(8))], {{"d", d}, {"b", b}, {"r", r}});
  const std::string text =
      kPlane +
      fill(
          "[contact.post]\nkeep = \"$wall\"\nrestitution = 1\n[start]\nposition = { x = 0, "
          "y = 0 }\nvelocity = { x = 1 }\n",
          {{"wall", wall}});
  const bool events = scheme == "event-driven";
  const double off = hits ? (events ? 1e-6 / r : 8 * h) : 1e-9;
  return {text + run(scheme, until, steps),
          {},
          {{"x", x, off}, {"y", y, off}},
          events ? r > 1e-5 : clears};
}

const std::string kFloor = R"toml(potential = "9.81*y"
[contact.floor]
keep = "y >= 0"
slip = ["x' - $belt"]
friction = $mu
[start]
position = { x = 0, y = 0 }
velocity = { x = $v }
)toml";

/// A block that slides over a patch of more friction, shorter than a step or well seen.
Scene patch(Draw& draw, int number) {
  const bool fine = number % 3 == 0;
  const double g = 9.81, v = draw.log(0.1, 10), until = draw.log(0.1, 3);
  const int steps = int(draw.log(50, 2000)) * (fine ? 8 : 1);
  const double h = until / steps, at = draw.in(0.2, 0.7) * until * v;
  const double width = v * h * (fine ? draw.in(15, 40) : draw.log(1e-3, 0.5));
  const double lost = draw.in(0.05, 0.9);  // of its kinetic energy
  const double mu = lost * v * v / (2 * g * width), slow = v * std::sqrt(1 - lost);
  if (mu > 9e5 || at + width > 0.9 * v * until) return patch(draw, number);
  const std::string law =
      draw.coin() ? fill("if(abs(x - $c) < $w, $mu, 0)",
                         {{"c", at + width / 2}, {"w", width / 2}, {"mu", mu}})
                  : fill("$mu*(x > $a and x < $b)", {{"mu", mu}, {"a", at}, {"b", at + width}});
  const double time = until - at / v - 2 * width / (v + slow);
  if (time < 0) return patch(draw, number);
  const double end = at + width + time * slow;
  const std::string text =
      kPlane + fill(kFloor, {{"belt", "0"}, {"mu", "\"" + law + "\""}, {"v", v}});
  const double off = fine ? 0.05 : 0.02;
  return {text + run(draw.pick({"moreau", "moreau-jean"}), until, steps),
          {},
          {{"x", end, off * (v * until - end)}, {"d_x", slow, off * (v - slow)}},
          fine};
}

/// Friction for a moment: it slows a block, or a belt that jerks takes it along.
Scene moment(Draw& draw, int number) {
  const bool fine = number % 3 == 0, jerks = number % 2 == 1;
  const double g = 9.81, v = draw.log(0.1, 10), until = draw.log(0.1, 3);
  const int steps = int(draw.log(50, 2000)) * (fine ? 8 : 1);
  const double h = until / steps, at = draw.in(0.2, 0.8) * until;
  const double width = h * (fine ? draw.in(15, 30) : draw.log(1e-3, 0.3));
  const double change = v * draw.in(0.1, 0.9);
  const std::string law =
      jerks || draw.coin()
          ? fill("if(abs(t - $at) < $w, $mu, 0)",
                 {{"at", at}, {"w", width / 2}, {"mu", change / (g * width)}})
          : fill("$mu*exp(-((t - $at)/$w)^2)",
                 {{"at", at}, {"w", width / std::sqrt(kPi)}, {"mu", change / (g * width)}});
  if (change / (g * width) > 9e5) return moment(draw, number);
  const std::string text =
      kPlane + fill(kFloor, {{"belt", jerks ? fill("$v", {{"v", 3 * v}}) : "0"},
                             {"mu", "\"" + law + "\""},
                             {"v", jerks ? 0.0 : v}});
  const double end = jerks ? change : v - change;
  const double place = (jerks ? 0 : v * until) + (jerks ? 1 : -1) * change * (until - at);
  const double off = (fine ? 0.1 : 0.03) * change;
  return {text + run(draw.pick({"moreau", "moreau-jean"}), until, steps),
          {},
          {{"x", place, off * until}, {"d_x", end, off}},
          fine && !jerks};
}

/// A ball that strikes where restitution is another one, or next to it.
Scene rubber(Draw& draw, int number) {
  const double g = 9.81, z = draw.log(0.3, 3), u = draw.log(0.3, 5);
  const double falls = std::sqrt(2 * z / g), until = falls * draw.in(1.4, 1.9);
  const int steps = int(draw.log(50, 2000));
  const std::string scheme = draw.pick({"moreau", "moreau-jean", "mabrouk", "event-driven"});
  const bool inside = number % 4 != 3, fine = number % 3 == 0, events = scheme == "event-driven";
  const double way = u * until / steps;
  const double width = way * (fine ? draw.in(30, 60) : draw.log(1e-3, 2));
  const double e = draw.in(0.8, 1), other = draw.in(0.1, 0.3);
  const double centre =
      u * falls + (inside ? draw.in(-0.3, 0.3) * width : -width / 2 - (fine ? 10 : 0.5) * way);
  const std::string law = fill("if(abs(x - $c) < $w, $e, $o)",
                               {{"c", centre}, {"w", width / 2}, {"e", e}, {"o", other}});
  // Where the ball is struck once more it is struck outside.
  double time = until - falls, up = (inside ? e : other) * g * falls;
  while (time > 2 * up / g && up > 1e-9) {
    time -= 2 * up / g;
    up *= other;
  }
  const std::string text = kPlane + fill(R"toml(potential = "9.81*y"
[contact.floor]
keep = "y >= 0"
restitution = "$law"
[start]
position = { x = 0, y = $z }
velocity = { x = $u }
)toml",
                                         {{"law", law}, {"z", z}, {"u", u}});
  const double y = up > 1e-9 ? up * time - 0.5 * g * time * time : 0;
  const bool slows = !inside;  // a chatter: `zeno`
  return {text + run(scheme, until, steps),
          {},
          {{"y", y, events ? 1e-6 : 16 * g * falls * until / steps}},
          !slows && (fine || events)};
}

/// A block that static friction holds; for a moment the load is more than it can hold, or not.
Scene overload(Draw& draw, int number) {
  const double g = 9.81, still = draw.in(0.3, 0.6), sliding = still * draw.in(0.3, 0.8);
  const double load = g * draw.in(1.05 * sliding, 0.97 * still), left = still * g - load;
  const bool fine = number % 3 == 0, slides = number % 4 != 3;
  const int steps = int(draw.log(50, 2000)) * (fine ? 4 : 1);
  const double h = 1.0 / steps, at = draw.in(0.2, 0.6);
  const double width = h * (fine ? draw.in(10, 20) : draw.log(1e-3, 0.3));
  if (4 * width > at) return overload(draw, number);
  const double pulse = left * (slides ? draw.in(1.3, 3) : draw.in(0.2, 0.8));
  const double begins = slides ? at - width * std::sqrt(std::log(pulse / left)) : 1;
  const double net = load - sliding * g, s = 1 - begins, part = (at - begins) / width;
  const double given = pulse * width * std::sqrt(kPi) * 0.5 * (1 + std::erf(part));
  const double x = slides ? 0.5 * net * s * s + given * (1 - at) : 0;
  const std::string text =
      kPlane +
      fill(R"toml(force = { x = "$F + $P*exp(-((t - $at)/$w)^2)" }
)toml",
           {{"F", load}, {"P", pulse}, {"at", at}, {"w", width}}) +
      fill(kFloor, {{"belt", "0"},
                    {"mu", fill("{ static = $s, dynamic = $d }", {{"s", still}, {"d", sliding}})},
                    {"v", 0.0}});
  return {text + run(draw.pick({"moreau", "moreau-jean"}), 1, steps),
          {},
          {{"x", x, slides ? 0.1 * x : 1e-9}},
          fine};
}

/// A place where a particle is heavy delays it: m x' = const where T = m(x)^2 x'^2/2.
Scene heavy(Draw& draw, int) {
  const int steps = int(draw.log(50, 2000));
  const double delay = draw.in(0.05, 0.3), at = draw.in(0.2, 0.5);
  const double width = draw.log(1e-2, 0.3) / steps;
  const std::string text =
      fill(R"toml([system]
coordinates = ["x"]
kinetic = "0.5*(1 + $a*exp(-((x - $at)/$w)^2))^2*x'^2"
[start]
position = { x = 0 }
velocity = { x = 1 }
)toml",
           {{"a", delay / (width * std::sqrt(kPi))}, {"at", at}, {"w", width}});
  const std::string scheme = draw.pick(
      {"moreau", "moreau-jean", "mabrouk", "paoli-schatzman", "penalty", "elast", "event-driven"});
  return {text + run(scheme, 1, steps), {}, {{"x", 1 - delay, 0.02 * delay}}, false};
}

/// A bead on a wire, or a block on a smooth floor, before a bump that is too high for it: it comes
/// back as fast as it went.
Scene bump(Draw& draw, int number) {
  const bool wire = number % 2 == 0;
  const double g = 9.81, v = draw.in(0.5, 1.5), rise = v * v / (2 * g);
  const double d = draw.in(0.2, 0.4), until = d / v + 3 * v / g + 0.3;
  const int steps = int(draw.log(100, 2000));
  const double width = v * until / steps * draw.log(1e-2, 0.2);
  if (width > d / 10) return bump(draw, number);
  const std::string curve =
      fill("$H*exp(-((x - $d)/$w)^2)", {{"H", rise * draw.in(2, 6)}, {"d", d}, {"w", width}});
  const std::string text =
      kPlane + fill(R"toml(potential = "9.81*y"
$wall
[start]
position = { x = 0, y = 0 }
velocity = { x = $v }
)toml",
                    {{"wall", wire ? "[hold.wire]\nzero = \"y - " + curve + "\""
                                   : "[contact.floor]\nkeep = \"y >= " + curve + "\""},
                     {"v", v}});
  const char* scheme = wire ? draw.pick({"moreau", "moreau-jean"})
                            : draw.pick({"moreau", "inel", "moreau-jean", "mabrouk"});
  return {text + run(scheme, until, steps), {}, {{"d_x", -v, 0.05 * v}}, false};
}

/// A plate of some thickness, a plate with edges, a wall with a slit: `where` a flat wall exists.
Scene plate(Draw& draw, int number) {
  const int steps = int(draw.log(30, 1000));
  const double u = draw.in(0.5, 2), v = draw.in(-2, 2), h = 1.0 / steps;
  const double d = draw.in(0.3, 0.7) * u, y = v * d / u;
  const bool thick = number % 3 == 0, slit = number % 3 == 1, inside = thick || draw.coin();
  const double width = h * std::max(0.1, std::abs(thick ? u : v)) * draw.log(1e-2, 10);
  const double centre = y + width * (inside ? draw.in(-0.4, 0.4) : draw.in(0.6, 3));
  const bool hits = inside != slit;
  // Behind the wall it must not come where the wall exists.
  const double last = v, low = std::min(y, last), high = std::max(y, last);
  const bool meets = low < centre + width / 2 && high > centre - width / 2;
  const bool leaves = low < centre - width / 2 || high > centre + width / 2;
  if (!thick && !hits && (slit ? leaves : meets)) return plate(draw, number);
  const std::string where = thick ? fill("x < $b", {{"b", d + width}})
                                  : fill(slit ? "abs(y - ($c)) > $w" : "abs(y - ($c)) < $w",
                                         {{"c", centre}, {"w", width / 2}});
  const std::string scheme =
      draw.pick({"moreau", "elast", "moreau-jean", "mabrouk", "event-driven"});
  const std::string text = kPlane + fill(R"toml([contact.plate]
keep = "x <= $d"
where = "$where"
restitution = 1
[start]
position = { x = 0, y = 0 }
velocity = { x = $u, y = $v }
)toml",
                                         {{"d", d}, {"where", where}, {"u", u}, {"v", v}});
  const bool events = scheme == "event-driven";
  return {text + run(scheme, 1, steps),
          {},
          {{"x", hits ? 2 * d - u : u, events ? 1e-9 : 6 * u * h}},
          events};
}

/// A floor that is higher from somewhere on: the gap of what slides there leaps.
Scene stair(Draw& draw, int) {
  const int steps = int(draw.log(50, 1000));
  const double u = draw.in(0.5, 2), d = draw.in(0.3, 0.7) * u;
  const std::string text = kPlane + fill(R"toml(potential = "9.81*y"
[contact.floor]
keep = "y >= if(x < $d, 0, $H)"
[start]
position = { x = 0, y = 0 }
velocity = { x = $u }
)toml",
                                         {{"d", d}, {"H", draw.log(0.01, 1)}, {"u", u}});
  const char* scheme =
      draw.pick({"moreau", "moreau-jean", "inel", "mabrouk", "paoli-schatzman", "event-driven"});
  return {text + run(scheme, 1, steps), {}, {{"x", d, 4 * u / steps}}, false};
}

}  // namespace

const std::vector<Family>& narrow() {
  static const std::vector<Family> kAll = {
      {"posts in other forms", "closed form", 28, forms},
      {"patch of friction", "conservation of energy", 15, patch},
      {"friction for a moment", "closed form", 12, moment},
      {"restitution of a place", "closed form", 16, rubber},
      {"more than static friction holds, or not", "closed form", 12, overload},
      {"place where a mass is heavy", "closed form", 10, heavy},
      {"bump that is too high", "conservation of energy", 10, bump},
      {"plates and slits", "closed form", 15, plate},
      {"floor with a stair", "closed form", 8, stair},
  };
  return kAll;
}

}  // namespace ricochet::truth
