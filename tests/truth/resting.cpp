// What is at rest stays at rest; what is damped comes to rest where its potential is least.

#include <cmath>
#include <numbers>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

const char* any_resting(Draw& draw) {
  return draw.pick({"moreau", "inel", "moreau-jean", "mabrouk", "event-driven", "paoli-schatzman"});
}

/// Balls on top of each other.
Scene column(Draw& draw, int) {
  const int n = 2 + draw.below(8);
  const double l = draw.unit(), g = draw.in(5, 20), d = draw.in(0.1, 1) * l,
               base = draw.coin() ? 0.0 : draw.in(-100, 100) * l;
  const std::string scheme = any_resting(draw);
  const int steps = scheme == "event-driven" ? 1 + draw.below(30) : int(draw.log(100, 3000));
  const double until = draw.in(0.5, 2);
  const char* mass = draw.pick({"1", "(1 + i)", "10^i", "10^(-2*i)"});
  const std::string text =
      fill(R"toml([system]
coordinates = ["z[1..N]"]
parameters = { N = $n, d = $d, b = $b }
kinetic = "sum(i, 1, N, 0.5*$mass*z[i]'^2)"
potential = "sum(i, 1, N, $mass*$g*z[i])"
[contact.floor]
keep = "z[1] >= b"
restitution = $e
[contact.ball]
for = "i in 1..N-1"
keep = "z[i+1] - z[i] >= d"
restitution = $e
[start]
position = { z = "b + (i - 1)*d" }
)toml",
           {{"n", double(n)},
            {"d", d},
            {"b", base},
            {"g", g * l},
            {"mass", mass},
            {"e", scheme == "inel" || scheme == "paoli-schatzman" ? 0.0 : draw.in(0, 0.9)}});
  Scene scene{
      text + run(scheme, until, steps), {}, {}, std::string(mass).find('^') == std::string::npos};
  for (int i = 1; i <= n; ++i)
    scene.checks.push_back(
        {"z[" + std::to_string(i) + "]", base + (i - 1) * d,
         1e-9 * (std::abs(base) + n * d + g * l) +
             (scheme == "mabrouk" ? 2 * n * g * l * until * until / steps / steps : 0)});
  return scene;
}

/// A particle in the corner of two slopes, at the origin or away from it, with friction or not.
Scene wedge(Draw& draw, int number) {
  const double a = draw.in(0.1, 1.3), b = draw.in(0.1, 1.3), g = draw.in(5, 20);
  const bool rough = number % 3 == 2, away = number % 2 == 1;
  const double x = away ? draw.in(-50, 50) : 0, y = away ? draw.in(-50, 50) : 0;
  const std::string scheme = rough ? draw.pick({"moreau", "moreau-jean"}) : any_resting(draw);
  const double until = draw.in(0.5, 2);
  const int steps = scheme == "event-driven" ? 1 + draw.below(30) : int(draw.log(100, 3000));
  std::string text =
      fill(R"toml([system]
coordinates = ["x", "y"]
mass = [$m, $m]
potential = "$w*y"
[contact.left]
keep = "(x - ($x))*sin($a) + (y - ($y))*cos($a) >= 0"
$rougha
[contact.right]
keep = "-(x - ($x))*sin($b) + (y - ($y))*cos($b) >= 0"
$roughb
[start]
position = { x = $x, y = $y }
)toml",
           {{"m", draw.unit()},
            {"w", g},
            {"x", x},
            {"y", y},
            {"a", a},
            {"b", b},
            {"rougha", rough ? fill("slip = [\"x'*cos($a) - y'*sin($a)\"]\nfriction = $mu",
                                    {{"a", a}, {"mu", draw.in(0.1, 1)}})
                             : ""},
            {"roughb", rough ? fill("slip = [\"x'*cos($b) + y'*sin($b)\"]\nfriction = $mu",
                                    {{"b", b}, {"mu", draw.in(0.1, 1)}})
                             : ""}});
  const double off = 1e-8 * (1 + std::abs(x) + std::abs(y));
  return {text + run(scheme, until, steps), {}, {{"x", x, off}, {"y", y, off}}};
}

/// A masonry arch of few thick stones stands.
Scene arch(Draw& draw, int) {
  const int n = 6 + draw.below(8);
  const double thick = draw.in(0.13, 0.25), mu = draw.in(0.6, 1);
  const std::string joint = R"toml([contact.$name]
for = "i in 1..N-1"
keep = "cos(p[i]+h)*(y[i+1] + $r*sin(p[i+1]-h) - c*sin(p[i+1]) - y[i]) - sin(p[i]+h)*(x[i+1] + $r*cos(p[i+1]-h) - c*cos(p[i+1]) - x[i]) >= c*sin(h)"
friction = $mu
body = { position = ["x[i+1]", "y[i+1]"], angle = "p[i+1]", point = ["x[i+1] + $r*cos(p[i+1]-h) - c*cos(p[i+1])", "y[i+1] + $r*sin(p[i+1]-h) - c*sin(p[i+1])"], against = { position = ["x[i]", "y[i]"], angle = "p[i]" } }
)toml";
  const std::string foot = R"toml([contact.$name]
keep = "y[$k] + $r*sin(p[$k]$s h) - c*sin(p[$k]) >= 0"
friction = $mu
body = { position = ["x[$k]", "y[$k]"], angle = "p[$k]", point = ["x[$k] + $r*cos(p[$k]$s h) - c*cos(p[$k])", "y[$k] + $r*sin(p[$k]$s h) - c*sin(p[$k])"] }
)toml";
  std::string text = fill(R"toml([system]
coordinates = ["x[1..N]", "y[1..N]", "p[1..N]"]
parameters = { N = $n, tR = $thick, h = "pi/(2*N)", o = "1 + tR/2", q = "1 - tR/2", A = "(o^2 - q^2)*h", c = "2/3*(o^3 - q^3)/(o^2 - q^2)*sin(h)/h", J = "0.5*(o^4 - q^4)*h - A*c^2" }
kinetic = "sum(i, 1, N, 0.5*A*(x[i]'^2 + y[i]'^2) + 0.5*J*p[i]'^2)"
potential = "sum(i, 1, N, A*9.81*y[i])"
)toml",
                          {{"n", double(n)}, {"thick", thick}});
  for (const char* r : {"q", "o"}) {
    text += fill(joint, {{"name", std::string("j") + r}, {"r", r}, {"mu", mu}});
    text +=
        fill(foot, {{"name", std::string("r") + r}, {"r", r}, {"mu", mu}, {"k", "1"}, {"s", "-"}});
    text +=
        fill(foot, {{"name", std::string("l") + r}, {"r", r}, {"mu", mu}, {"k", "N"}, {"s", "+"}});
  }
  text += R"toml([start]
position = { x = "c*cos(pi*(i - 0.5)/N)", y = "c*sin(pi*(i - 0.5)/N)", p = "pi*(i - 0.5)/N" }
)toml";
  const double h = std::numbers::pi / (2 * n), o = 1 + thick / 2, q = 1 - thick / 2;
  const double c = 2.0 / 3 * (o * o * o - q * q * q) / (o * o - q * q) * std::sin(h) / h;
  const int k = (n + 1) / 2;
  return {text + run(draw.pick({"moreau", "moreau", "moreau-jean"}), 0.5, int(draw.log(200, 800))),
          {},
          {{"y[" + std::to_string(k) + "]", c * std::sin(std::numbers::pi * (k - 0.5) / n), 1e-4}}};
}

/// Three discs, one on two: with enough friction (mu > tan 15 degrees everywhere) they stay.
Scene discs(Draw& draw, int) {
  const double l = draw.unit(), r = draw.in(0.2, 1) * l, mu = draw.in(0.32, 0.9);
  const std::string body = R"toml([contact.f$i]
keep = "y[$i] >= $r"
friction = $mu
body = { position = ["x[$i]", "y[$i]"], angle = "p[$i]", point = ["x[$i]", "y[$i] - $r"] }
[contact.c$i]
keep = "hypot(x[3] - x[$i], y[3] - y[$i]) >= 2*$r"
friction = $mu
body = { position = ["x[3]", "y[3]"], angle = "p[3]", point = ["(x[3] + x[$i])/2", "(y[3] + y[$i])/2"], against = { position = ["x[$i]", "y[$i]"], angle = "p[$i]" } }
)toml";
  const double m = draw.unit(), g = draw.in(5, 20) * l;
  std::string text = fill(R"toml([system]
coordinates = ["x[1..3]", "y[1..3]", "p[1..3]"]
kinetic = "sum(i, 1, 3, 0.5*$m*(x[i]'^2 + y[i]'^2) + 0.25*$m*$r^2*p[i]'^2)"
potential = "sum(i, 1, 3, $m*$g*y[i])"
)toml",
                          {{"m", m}, {"g", g}, {"r", r}});
  for (const char* i : {"1", "2"}) text += fill(body, {{"i", i}, {"r", r}, {"mu", mu}});
  text +=
      fill("[start]\nposition = { x = [$a, $r, 0], y = [$r, $r, \"$r + sqrt(3)*$r\"], p = 0 }\n",
           {{"a", -r}, {"r", r}});
  return {
      text + run(draw.pick({"moreau", "moreau-jean"}), draw.in(0.5, 2), int(draw.log(100, 2000))),
      {},
      {{"y[3]", r + std::sqrt(3.0) * r, 1e-6 * r}, {"x[1]", -r, 1e-6 * r}}};
}

/// In a bowl with drag, however slow the units: ends at the bottom.
Scene bowl(Draw& draw, int number) {
  const double l = draw.unit(), t = draw.coin() ? 1.0 : std::ldexp(1.0, draw.below(60) - 30);
  const double m = draw.unit(), r = draw.in(1, 3) * l, drag = draw.in(0.5, 2);
  const double until = draw.in(25, 40) / drag * t;
  const std::string scheme = number % 4 != 3 ? "event-driven" : draw.pick({"moreau", "inel"});
  const bool side = draw.coin();
  std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
kinetic = "0.5*$m*(x'^2 + y'^2)"
potential = "$w*y"
force = { x = "-$c*x'", y = "-$c*y'" }
[contact.bowl]
keep = "hypot(x, y) <= $r"
restitution = $e
[start]
position = { x = $x, y = $y }
velocity = { x = $v }
)toml",
                          {{"m", m},
                           {"w", m * 9.81 * l / (t * t)},
                           {"c", m * drag / t},
                           {"r", r},
                           {"e", scheme == "inel" ? 0 : draw.in(0, 0.8)},
                           {"x", draw.in(-0.5, 0.5) * r},
                           {"y", draw.in(-0.5, 0.5) * r},
                           {"v", draw.in(-3, 3) * l / t}});
  if (side)
    text += fill("[contact.side]\nkeep = \"x <= $at\"\nrestitution = $e\n",
                 {{"at", 0.65 * r}, {"e", scheme == "inel" ? 0 : draw.in(0, 0.8)}});
  const bool events = scheme == "event-driven";
  const int steps = events ? 20 + draw.below(1000) : 20000;
  return {text + run(scheme, until, steps, events ? "zeno = \"contact\"" : ""),
          {},
          {{"x", 0, 5e-3 * r}, {"y", -r, 5e-3 * r}}};
}

/// A valley y >= a x^2 with a mass matrix that varies a little: ends at its bottom.
Scene valley(Draw& draw, int number) {
  const double a = draw.in(0.1, 2), drag = draw.in(0.5, 2), until = draw.in(25, 40) / drag;
  static const std::array<const char*, 3> kTerms = {"1e-300*sin(x)*x'*y'", "0.2*sin(x)*x'*y'",
                                                    "0.1*x^2*x'^2"};
  const std::string scheme = number % 3 != 2 ? "event-driven" : "moreau";
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
kinetic = "0.5*(x'^2 + 2*y'^2) + $term"
potential = "9.81*y + 0.3*x^2"
force = { x = "-$c*x'", y = "-$c*y'" }
[contact.valley]
keep = "y - $a*x^2 >= 0"
restitution = $e
[contact.wall]
keep = "x <= 0.7"
restitution = $e
[start]
position = { x = $x, y = 1.5 }
velocity = { x = $v }
)toml",
                                {{"term", kTerms[static_cast<std::size_t>(draw.below(3))]},
                                 {"c", drag},
                                 {"a", a},
                                 {"e", draw.in(0, 0.8)},
                                 {"x", draw.in(-0.6, 0.6)},
                                 {"v", draw.in(-1, 1)}});
  const bool events = scheme == "event-driven";
  const double off = events ? 5e-3 : 5e-3 + 20 * until / 20000;
  return {text + run(scheme, until, events ? 20 + draw.below(1000) : 20000,
                     events ? "zeno = \"contact\"" : ""),
          {},
          {{"x", 0, 5e-3}, {"y", 0, off}}};
}

/// A mass on a table that shakes: lifts off where the table falls faster than it, lands once.
Scene shaken(Draw& draw, int) {
  const double g = draw.in(5, 20), w = draw.in(5, 20), b = draw.in(1.2, 2.5) * g / (w * w);
  const auto table = [&](double t) { return b * (1 - std::cos(w * t)); };
  const auto speed = [&](double t) { return b * w * std::sin(w * t); };
  const double off = std::acos(-g / (b * w * w)) / w;
  const auto gap = [&](double s) {
    return table(off) + speed(off) * s - 0.5 * g * s * s - table(off + s);
  };
  double s = 1e-3 / w;
  while (gap(s) > 0) s += 1e-3 / w;
  double low = s - 1e-3 / w;
  for (int i = 0; i < 60; ++i) (gap(0.5 * (low + s)) > 0 ? low : s) = 0.5 * (low + s);
  const double until = off + draw.in(0.2, 0.95) * s;
  const double z = table(until) + gap(until - off);
  const std::string scheme =
      draw.pick({"moreau", "inel", "event-driven", "moreau-jean", "mabrouk"});
  const int steps = int(draw.log(1000, 10000));
  const std::string text = fill(R"toml([system]
coordinates = ["z"]
mass = [1]
potential = "$g*z"
[contact.table]
keep = "z >= $b*(1 - cos($w*t))"
[start]
position = { z = 0 }
)toml",
                                {{"g", g}, {"b", b}, {"w", w}});
  const double tolerance = scheme == "event-driven" ? 1e-5 * b : 8 * until / steps * b * w;
  return {text + run(scheme, until, scheme == "event-driven" ? 1 + draw.below(30) : steps),
          {},
          {{"z", z, tolerance}}};
}

}  // namespace

const std::vector<Family>& resting() {
  static const std::vector<Family> kAll = {
      {"column of balls at rest", "statics", 12, column},
      {"wedge at rest", "statics", 12, wedge},
      {"arch at rest", "limit analysis", 5, arch},
      {"three discs at rest", "statics", 6, discs},
      {"bowl with drag", "equilibrium", 10, bowl},
      {"valley, M(q), drag", "equilibrium", 9, valley},
      {"shaken table", "root by bisection", 8, shaken},
  };
  return kAll;
}

}  // namespace ricochet::truth
