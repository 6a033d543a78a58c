// Strings, rods, polar coordinates and structures.

#include <cmath>
#include <numbers>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

/// A bob on a string of length 1 that is slack at first: parabola, inelastic jerk, pendulum, and
/// a parabola again where the pull ends.
struct Bob {
  double g, x, z, u, w;
  int changes{0};
  bool taut{false};

  double flight(double left) {  // until the string is taut, or the time is over
    const auto slackness = [&](double s) {
      return 1 - std::hypot(x + u * s, z + w * s - 0.5 * g * s * s);
    };
    const double ds = 1e-4;
    double s = changes == 0 ? 0 : 1e-3;
    while (s < left && slackness(s) > 0) s += ds;
    if (s < left) {
      double low = s - ds;
      for (int i = 0; i < 60; ++i) (slackness(0.5 * (low + s)) > 0 ? low : s) = 0.5 * (low + s);
      taut = true;
    }
    s = std::min(s, left);
    x += u * s;
    z += w * s - 0.5 * g * s * s;
    w -= g * s;
    ++changes;
    return s;
  }
  double pendulum(double left) {  // angle from below; until the pull is 0
    double a = std::atan2(x, -z), b = std::cos(a) * u + std::sin(a) * w;
    const double dt = 1e-4;
    double s = 0;
    const auto f = [&](double angle) { return -g * std::sin(angle); };
    while (s < left && b * b + g * std::cos(a) >= 0) {
      const double d = std::min(dt, left - s);
      const double k1 = b, l1 = f(a), k2 = b + d / 2 * l1, l2 = f(a + d / 2 * k1),
                   k3 = b + d / 2 * l2, l3 = f(a + d / 2 * k2), k4 = b + d * l3, l4 = f(a + d * k3);
      a += d / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      b += d / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
      s += d;
    }
    x = std::sin(a), z = -std::cos(a), u = b * std::cos(a), w = b * std::sin(a);
    taut = false;
    if (s < left) ++changes;
    return s;
  }
};

Scene string(Draw& draw, int number) {
  Bob bob{9.81, draw.in(-0.7, 0.7), draw.in(-0.5, 0.5), draw.in(-3, 3), draw.in(-3, 3)};
  const Bob start = bob;
  const double until = draw.in(1, 3);
  for (double left = until; left > 1e-9;) left -= bob.taut ? bob.pendulum(left) : bob.flight(left);
  const std::string scheme =
      number % 3 != 2 ? "event-driven" : draw.pick({"moreau", "inel", "moreau-jean"});
  const bool events = scheme == "event-driven";
  const int steps = events ? 1 + draw.below(300) : int(draw.log(5000, 30000));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "z"]
mass = [1, 1]
potential = "9.81*z"
[contact.string]
keep = "hypot(x, z) <= 1"
restitution = 0
[start]
position = { x = $x, z = $z }
velocity = { x = $u, z = $w }
)toml",
                                {{"x", start.x}, {"z", start.z}, {"u", start.u}, {"w", start.w}});
  const double off = events ? 2e-3 : 2e-3 + 300 * until / steps;
  return {text + run(scheme, until, steps, events && draw.coin() ? "zeno = \"contact\"" : ""),
          {},
          {{"x", bob.x, off}, {"z", bob.z, off}}};
}

/// Free flight in polar coordinates, or in a round wall: chords.
Scene polar(Draw& draw, int number) {
  const std::string scheme =
      draw.pick({"moreau", "elast", "moreau-jean", "mabrouk", "event-driven"});
  const double m = draw.unit(), r = draw.in(0.5, 1), u = draw.in(-1, 1), w = draw.in(0.5, 2);
  const bool wall = number % 2 == 1, tiny = number % 3 == 0;
  double x = r, y = 0, vx = u, vy = w;
  const int steps = tiny ? 20000 : int(draw.log(2000, 20000));
  const double until = tiny ? steps * draw.log(1e-7, 1e-5) : draw.in(0.5, 2);
  double left = until;
  int impacts = 0;
  const double radius = 1.5;
  while (wall) {
    const double b = x * vx + y * vy, c = x * x + y * y - radius * radius, v2 = vx * vx + vy * vy;
    const double s = (-b + std::sqrt(b * b - v2 * c)) / v2;
    if (s > left) break;
    x += s * vx, y += s * vy, left -= s, ++impacts;
    const double n = (x * vx + y * vy) / (radius * radius);
    vx -= 2 * n * x, vy -= 2 * n * y;
  }
  x += left * vx, y += left * vy;
  const std::string text =
      fill(R"toml([system]
coordinates = ["r", "a"]
kinetic = "0.5*$m*(r'^2 + r^2*a'^2)"
$wall
[start]
position = { r = $r, a = 0 }
velocity = { r = $u, a = $w }
)toml",
           {{"m", m},
            {"r", r},
            {"u", u},
            {"w", w / r},
            {"wall", wall ? "[contact.wall]\nkeep = \"r <= 1.5\"\nrestitution = 1" : ""}});
  const bool events = scheme == "event-driven";
  const double off = events ? 1e-5 : 30 * until / steps * (1 + impacts) + 1e-9;
  double angle = std::atan2(y, x);
  while (angle < -1e-9) angle += 2 * kPi;  // counterclockwise, less than a turn
  return {text + run(scheme, until, events ? 1 + draw.below(50) : steps),
          {},
          {{"r", std::hypot(x, y), off}, {"a", angle, 3 * off}},
          !wall || angle < 5.5};
}

/// A smooth rod between wall and floor, before it leaves the wall at cos a = 2/3 cos a0.
Scene ladder(Draw& draw, int number) {
  const double length = draw.in(1, 3), g = 9.81, a0 = draw.in(0.1, 0.4);
  // a'' = 3 g/(2 L) sin a, a from the vertical
  double a = a0, b = 0, t = 0;
  const double leaves = std::acos(2.0 / 3 * std::cos(a0)),
               stop = a0 + draw.in(0.3, 0.9) * (leaves - a0);
  const double dt = 1e-4, k = 1.5 * g / length;
  while (a < stop) {
    const double a2 = a + dt / 2 * b, b2 = b + dt / 2 * k * std::sin(a);
    const double a3 = a + dt / 2 * b2, b3 = b + dt / 2 * k * std::sin(a2);
    const double a4 = a + dt * b3, b4 = b + dt * k * std::sin(a3);
    const double da = dt / 6 * (b + 2 * b2 + 2 * b3 + b4);
    b += dt / 6 * k * (std::sin(a) + 2 * std::sin(a2) + 2 * std::sin(a3) + std::sin(a4));
    a += da;
    t += dt;
  }
  const std::string scheme = draw.pick({"moreau", "inel", "moreau-jean", "event-driven"});
  const bool events = scheme == "event-driven";
  const bool project = number % 2 == 0 && (scheme == "moreau" || scheme == "inel");
  const int steps = events ? 1 + draw.below(100) : int(draw.log(500, 5000));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y", "a"]
parameters = { s = $s }
kinetic = "0.5*(x'^2 + y'^2 + s^2/3*a'^2)"
potential = "9.81*y"
[contact.wall]
keep = "x - s*sin(a) >= 0"
[contact.floor]
keep = "y - s*cos(a) >= 0"
[start]
position = { x = "s*sin($a)", y = "s*cos($a)", a = $a }
)toml",
                                {{"s", length / 2}, {"a", a0}});
  const double off = events ? 1e-5 : 30 * t / steps;
  return {text + run(scheme, t, steps, project ? "correction = \"project\"" : ""),
          {},
          {{"a", a, off}, {"y", length / 2 * std::cos(a), off}}};
}

/// Painleve's rod (mass 1, half length 1, J = 1/3, g = 10, mu = 5/3), its tip sliding to the left.
struct Rod {
  double x, y, u, v, p, w, t;
  static constexpr double kFriction = 5.0 / 3.0, kGravity = 10.0, kInertia = 1.0 / 3.0;

  static double lever(double a) { return kFriction * std::sin(a) - std::cos(a); }
  /// Normal acceleration of the tip for a unit of reaction: 0 at the singular angle, 45 degrees.
  static double bracket(double a) { return 1 - std::cos(a) * lever(a) / kInertia; }
  static double normal(double a, double b) { return (kGravity - std::sin(a) * b * b) / bracket(a); }
  static double spin(double a, double b) { return normal(a, b) * lever(a) / kInertia; }

  void slide(double until) {  // to an angle, or close to the singular one
    const double dt = 1e-5;
    while (p < until && bracket(p) > 1e-4 && t < 3 && u < 0) {
      const double n1 = normal(p, w), w1 = spin(p, w);
      const double p2 = p + dt / 2 * w, b2 = w + dt / 2 * w1, n2 = normal(p2, b2),
                   w2 = spin(p2, b2);
      const double p3 = p + dt / 2 * b2, b3 = w + dt / 2 * w2, n3 = normal(p3, b3),
                   w3 = spin(p3, b3);
      const double p4 = p + dt * b3, b4 = w + dt * w3, n4 = normal(p4, b4), w4 = spin(p4, b4);
      x += dt * u + dt * dt / 2 * kFriction * n1;
      u += dt / 6 * kFriction * (n1 + 2 * n2 + 2 * n3 + n4);
      p += dt / 6 * (w + 2 * b2 + 2 * b3 + b4);
      w += dt / 6 * (w1 + 2 * w2 + 2 * w3 + w4);
      t += dt;
    }
    y = std::sin(p);
    v = std::cos(p) * w;
  }
  void shock() {  // tangential: it ends the slip
    const double s = std::sin(p);
    const double impulse = -(u + s * w) / (kFriction + s * lever(p) / kInertia);
    u += kFriction * impulse;
    v += impulse;
    w += impulse * lever(p) / kInertia;
  }
  void fly(double time) {
    x += u * time;
    y += v * time - 0.5 * kGravity * time * time;
    p += w * time;
    t += time;
  }
};

/// It slides towards the singular angle, jams there, and leaves.
Scene painleve(Draw& draw, int number) {
  const double p0 = draw.in(30.98, 31.2) * kPi / 180, u0 = draw.in(26, 34);
  Rod rod{0, 0, -u0, 0, p0, 0, 0};
  const bool before = number % 2 == 0;
  rod.slide(before ? p0 + draw.in(0.5, 0.95) * (kPi / 4 - p0) : kPi / 4);
  if (!before) {
    rod.shock();
    rod.fly(draw.in(0.005, 0.03));
  }
  const double until = rod.t;
  const int steps = int(until / draw.log(1e-5, 2e-4));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y", "phi"]
parameters = { g = 10, mu = "5/3" }
kinetic = "0.5*(x'^2 + y'^2) + phi'^2/6"
potential = "g*y"
[contact.tip]
keep = "y - sin(phi) >= 0"
friction = "mu"
body = { position = ["x", "y"], angle = "phi", point = ["x - cos(phi)", "y - sin(phi)"] }
[start]
position = { x = 0, y = "sin($p)", phi = $p }
velocity = { x = $u, y = 0, phi = 0 }
)toml",
                                {{"p", p0}, {"u", -u0}});
  const double h = until / steps;
  return {text + run(draw.pick({"moreau", "moreau-jean"}), until, steps),
          {},
          {{"phi", rod.p, 0.02 + 200 * h}, {"y", rod.y, 0.02 + 200 * h}},
          before};
}

/// A string with a guide at its middle.
const std::string kString = R"toml([structure]
kind = "string"
length = 1
tension = $c2
rho_S = 1
form = "lumped"
ends = ["pinned", "pinned"]
nodes = $n
[structure.guide.g]
at = 0.5
)toml";

/// A string in an elastic guide that nothing drives: T + V cannot grow.
Scene plucked(Draw& draw, int) {
  const double c = draw.log(0.3, 3);  // wave speed
  const int nodes = 4 + draw.below(8);
  const double turn = draw.in(0.05, 0.4);  // h times the highest frequency, about
  const double h = turn / (2 * c * nodes) * 2;
  const std::string text = fill(kString + R"toml(clearance = $gap
restitution = $e
[start]
velocity = "$a*sin(pi*x) + $b*sin(2*pi*x)"
)toml",
                                {{"c2", c * c},
                                 {"n", 2.0 * (nodes / 2)},
                                 {"gap", draw.in(0.02, 0.1)},
                                 {"e", draw.coin() ? 1.0 : draw.in(0.3, 1)},
                                 {"a", draw.in(0.4, 1) * c},
                                 {"b", draw.in(0, 0.5) * c}});
  return {text + run("newmark", h * 4000, 4000),
          {},
          {{"energy.total_max/total_start", 1, 0.011}},
          false};
}

/// The same, off its guide: the first mode of the lumped string, exactly.
Scene mode(Draw& draw, int) {
  const double c = draw.log(0.3, 3);
  const int nodes = 4 + 2 * draw.below(20), k = 1 + draw.below(2);
  const double dx = 1.0 / nodes, w = 2 * c / dx * std::sin(k * kPi * dx / 2);
  const double a = draw.in(0.01, 0.1), until = draw.in(1, 4) * 2 * kPi / w;
  const int steps = int(draw.log(1000, 10000));
  const std::string text = fill(
      kString + R"toml(clearance = 1
[structure.point.p]
at = $at
[start]
velocity = "$v*sin($k*pi*x)"
)toml",
      {{"c2", c * c}, {"n", double(nodes)}, {"at", 1.0 / nodes}, {"v", a * w}, {"k", double(k)}});
  const double h = until / steps;
  return {text + run("newmark", until, steps),
          {},
          {{"p", a * std::sin(w * until) * std::sin(k * kPi * dx),
            a * (10 * w * h * w * until * w * h + 1e-6)}}};
}

}  // namespace

const std::vector<Family>& mechanisms() {
  static const std::vector<Family> kAll = {
      {"slack string", "parabolas and Runge-Kutta", 12, string},
      {"polar coordinates", "straight lines", 12, polar},
      {"rod between wall and floor", "Runge-Kutta", 8, ladder},
      {"Painleve's rod", "Runge-Kutta and the tangential shock", 8, painleve},
      {"string in an elastic guide", "conservation of energy", 6, plucked},
      {"modes of a string", "closed form", 5, mode},
  };
  return kAll;
}

}  // namespace ricochet::truth
