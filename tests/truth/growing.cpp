// Motions that grow, are driven or braked, and are resolved by their steps: nothing is to be
// refused here. Joints, and friction between bodies of very different masses.

#include <cmath>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

/// A force on one coordinate, as `force` or as `potential`.
std::string particle(double m, const std::string& law, double x, double v) {
  return fill(R"toml([system]
coordinates = ["x"]
mass = [$m]
$law
[start]
position = { x = $x }
velocity = { x = $v }
)toml",
              {{"m", m}, {"law", law}, {"x", x}, {"v", v}});
}

const char* any_growing(Draw& draw) {
  return draw.pick(
      {"moreau", "moreau-jean", "mabrouk", "penalty", "paoli-schatzman", "event-driven", "elast"});
}

/// Of first order, with a constant for what grows meanwhile.
double off(const std::string& scheme, double h, double rate, double size) {
  return scheme == "event-driven" ? 1e-5 * size : 6.0 * h * rate * size;
}

/// Away from an unstable place: cosh. Its kinetic energy grows by powers of ten.
Scene leaves(Draw& draw, int number) {
  const double m = draw.unit(), k = draw.log(0.5, 20), turns = draw.in(3, 9), until = turns / k;
  const double l = draw.unit(), x = draw.in(0.01, 1) * l,
               v = draw.coin() ? 0 : draw.in(-0.2, 1) * k * x;
  const std::string scheme = any_growing(draw);
  const int steps = int(draw.log(3000, 20000));
  const Values values = {{"c", m * k * k}};
  const std::string law = number % 2 == 0 ? fill("force = { x = \"$c*x\" }", values)
                                          : fill("potential = \"-0.5*$c*x^2\"", values);
  const double end = x * std::cosh(turns) + v / k * std::sinh(turns);
  return {particle(m, law, x, v) + run(scheme, until, steps),
          {},
          {{"x", end, off(scheme, until / steps, k * (1 + turns), std::abs(end))}}};
}

/// A force of time alone, from rest; and resonance, t/(2 w) sin(w t).
Scene driven(Draw& draw, int number) {
  const double m = draw.unit(), w = draw.log(1, 50), a = draw.log(0.1, 100);
  const std::string scheme = any_growing(draw);
  const double turns = draw.in(5, 60), until = turns / w;
  const int steps = int(turns * draw.log(30, 500));
  const Values values = {{"f", m * a}, {"w", w}, {"k", m * w * w}};
  const bool resonance = number % 2 == 0;
  const std::string law =
      fill(resonance ? "force = { x = \"$f*cos($w*t)\" }\npotential = \"0.5*$k*x^2\""
                     : "force = { x = \"$f*sin($w*t)\" }",
           values);
  const double end = resonance ? a * until / (2 * w) * std::sin(turns)
                               : a / w * until - a / (w * w) * std::sin(turns);
  const double size = a / w * until;
  return {particle(m, law, 0, 0) + run(scheme, until, steps),
          {},
          {{"x", end, off(scheme, until / steps, w * (resonance ? 1 + turns : 1), size)}}};
}

/// Brakes, linear and quadratic; a thrust from rest.
Scene braked(Draw& draw, int number) {
  const double m = draw.unit(), l = draw.unit(), c = draw.log(0.1, 10), v = draw.in(0.5, 5) * l;
  const double until = draw.in(1, 8) / c;
  const std::string scheme = any_growing(draw);
  const int steps = int(draw.log(500, 8000));
  std::string law;
  double end;
  if (number % 3 == 0) {
    law = fill("force = { x = \"-$c*x'\" }", {{"c", m * c}});
    end = -v / c * std::expm1(-c * until);
  } else if (number % 3 == 1) {
    law = fill("force = { x = \"-$c*abs(x')*x'\" }", {{"c", m * c / l}});
    end = l / c * std::log1p(c * v / l * until);
  } else {
    law = fill("force = { x = \"$c\" }", {{"c", m * c * l}});
    end = v * until + 0.5 * c * l * until * until;
  }
  return {particle(m, law, 0, v) + run(scheme, until, steps),
          {},
          {{"x", end, off(scheme, until / steps, c * (1 + v / l), std::abs(end) + v * until)}}};
}

/// A pendulum as a joint, in the plane: Runge-Kutta for its angle.
Scene joint(Draw& draw, int) {
  const double g = 9.81, r = draw.in(0.5, 2), a0 = draw.in(0.2, 2.5), b0 = draw.in(-2, 2);
  const double until = draw.in(1, 4), dt = until / 20000, k = g / r;
  double a = a0, b = b0;
  for (int i = 0; i < 20000; ++i) {
    const double a2 = a + dt / 2 * b, b2 = b - dt / 2 * k * std::sin(a);
    const double a3 = a + dt / 2 * b2, b3 = b - dt / 2 * k * std::sin(a2);
    const double a4 = a + dt * b3, b4 = b - dt * k * std::sin(a3);
    const double sines = std::sin(a) + 2 * std::sin(a2) + 2 * std::sin(a3) + std::sin(a4);
    a += dt / 6 * (b + 2 * b2 + 2 * b3 + b4);
    b -= dt / 6 * k * sines;
  }
  const std::string scheme = draw.pick({"moreau", "inel", "elast"});
  const int steps = int(draw.log(5000, 20000));
  const double m = draw.unit();
  const std::string text =
      fill(R"toml([system]
coordinates = ["x", "y"]
mass = [$m, $m]
potential = "$w*y"
[hold.rod]
zero = "$zero"
[start]
position = { x = $x, y = $y }
velocity = { x = $u, y = $v }
)toml",
           {{"m", m},
            {"w", m * g},
            {"zero", fill(draw.coin() ? "hypot(x, y) - $r" : "x^2 + y^2 - $r^2", {{"r", r}})},
            {"x", r * std::sin(a0)},
            {"y", -r * std::cos(a0)},
            {"u", r * b0 * std::cos(a0)},
            {"v", r * b0 * std::sin(a0)}});
  const double tolerance = 40 * until / steps * until * r;
  return {text + run(scheme, until, steps),
          {},
          {{"x", r * std::sin(a), tolerance}, {"y", -r * std::cos(a), tolerance}}};
}

/// A block on a plank that is pulled: carried, or left behind.
Scene plank(Draw& draw, int number) {
  const double m = draw.unit(), big = m * draw.log(0.1, 1e6), g = draw.in(5, 20),
               mu = draw.in(0.1, 0.8);
  const bool carried = number % 2 == 0;
  const double pull = (m + big) * mu * g * (carried ? draw.in(0.2, 0.9) : draw.in(1.2, 3));
  const double until = draw.in(0.5, 2);
  const int steps = int(draw.log(300, 4000));
  const double block = carried ? pull / (m + big) : mu * g;
  const double below = carried ? block : (pull - mu * m * g) / big;
  const std::string text = fill(R"toml([system]
coordinates = ["X", "x", "y"]
mass = [$M, $m, $m]
potential = "$w*y"
force = { X = "$F" }
[contact.plank]
keep = "y >= 0"
slip = ["x' - X'"]
normal = "y'"
friction = $mu
[start]
position = { X = 0, x = 0, y = 0 }
)toml",
                                {{"M", big}, {"m", m}, {"w", m * g}, {"F", pull}, {"mu", mu}});
  const double s = 0.5 * until * until, tolerance = 4 * until / steps * below * until;
  return {text + run(draw.pick({"moreau", "moreau-jean"}), until, steps),
          {},
          {{"X", below * s, tolerance}, {"x", block * s, tolerance}}};
}

/// A spinning disc that strikes the floor: slides through the impact, or sticks in it.
Scene spinning(Draw& draw, int number) {
  const double m = draw.unit(), r = draw.in(0.2, 1), g = draw.in(5, 20), e = draw.in(0.3, 0.95);
  const double z = draw.in(0.3, 1.5), u = draw.in(-2, 2), w = draw.in(-10, 10);
  const double down = std::sqrt(2 * g * z), slip = u + r * w;
  const double need = std::abs(slip) / 3 / ((1 + e) * down);  // of mu, for sticking: p = m slip/3
  const double mu = number % 2 == 0 ? need * draw.in(1.1, 3) + 0.01 : need * draw.in(0.2, 0.9);
  const double p = std::min(mu * (1 + e) * down, std::abs(slip) / 3) * (slip > 0 ? -1 : 1);
  const double fell = down / g, after = draw.in(0.2, 0.8) * 2 * e * down / g, until = fell + after;
  const int steps = int(draw.log(1000, 8000));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y", "phi"]
mass = [$m, $m, $J]
potential = "$w*y"
[contact.floor]
keep = "y >= $R"
body = { position = ["x", "y"], angle = "phi", point = ["x", "y - $R"] }
friction = $mu
restitution = $e
[start]
position = { x = 0, y = $y, phi = 0 }
velocity = { x = $u, phi = $spin }
)toml",
                                {{"m", m},
                                 {"J", 0.5 * m * r * r},
                                 {"w", m * g},
                                 {"R", r},
                                 {"mu", mu},
                                 {"e", e},
                                 {"y", r + z},
                                 {"u", u},
                                 {"spin", w}});
  const double tolerance = 6 * until / steps * (down + std::abs(u) + std::abs(r * w));
  return {text + run(draw.pick({"moreau", "moreau-jean"}), until, steps),
          {},
          {{"x", u * until + p * after, tolerance},
           {"y", r + e * down * after - 0.5 * g * after * after, tolerance},
           {"d_phi", w + 2 * p / r, 1e-9 + 8 * mu * (1 + e) * g * until / steps / r}}};
}

/// Friction that differs from one way to the other.
Scene two_ways(Draw& draw, int number) {
  const double g = draw.in(5, 20), forward = draw.in(0.1, 0.5), backward = draw.in(0.1, 0.5);
  const double v = draw.in(0.5, 3) * (number % 2 == 0 ? 1 : -1);
  const double mu = v > 0 ? forward : backward, stop = std::abs(v) / (mu * g);
  const double until = stop * draw.in(1.2, 3);
  const int steps = int(draw.log(300, 4000));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "$g*y"
[contact.floor]
keep = "y >= 0"
slip = ["x'"]
friction = { forward = $f, backward = $b }
[start]
position = { x = 0, y = 0 }
velocity = { x = $v }
)toml",
                                {{"g", g}, {"f", forward}, {"b", backward}, {"v", v}});
  return {text + run(draw.pick({"moreau", "moreau-jean"}), until, steps),
          {},
          {{"x", 0.5 * v * stop, 3 * until / steps * std::abs(v)}}};
}

}  // namespace

const std::vector<Family>& growing() {
  static const std::vector<Family> kAll = {
      {"away from an unstable place", "closed form", 8, leaves},
      {"driven, resolved", "closed form", 10, driven},
      {"braked, or pushed from rest", "closed form", 9, braked},
      {"pendulum on a joint", "Runge-Kutta, 20 000 steps", 6, joint},
      {"block on a plank that is pulled", "closed form", 8, plank},
      {"spinning disc that bounces", "closed form", 8, spinning},
      {"friction of two ways", "closed form", 4, two_ways},
  };
  return kAll;
}

}  // namespace ricochet::truth
