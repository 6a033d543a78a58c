// Forces: too fast for the step, kinked, through velocities, or chaotic with an impact.

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

Scene magnetic(Draw& draw, int number) {
  static const std::array<const char*, 6> kSchemes = {
      "moreau", "mabrouk", "penalty", "paoli-schatzman", "moreau-jean", "event-driven"};
  const std::string scheme = kSchemes[static_cast<std::size_t>(number) % 6];
  const bool fine = number % 4 == 0;
  const double w = draw.log(1, 30), turn = fine ? draw.log(1e-4, 1e-3) : draw.log(0.01, 3);
  const int steps = int(fine ? draw.in(2, 10) / turn : draw.log(300, 3000));
  const double until = steps * turn / w;
  const double s = draw.in(0.5, 2);
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
force = { x = "$w*y'", y = "-$w*x'" }
[start]
position = { x = 0, y = 0 }
velocity = { x = $s }
)toml",
                                {{"w", w}, {"s", s}});
  const bool events = scheme == "event-driven";
  const double off = s * (events ? 1e-5 : std::min(0.1, 2 * turn * (1 + w * until)));
  return {text + run(scheme, until, steps),
          {},
          {{"d_x", s * std::cos(w * until), off}, {"d_y", -s * std::sin(w * until), off}},
          fine || events};
}

Scene aliased(Draw& draw, int number) {
  const double f = draw.log(5, 200), w = 2 * kPi * f, a = draw.log(1, 100);
  const bool fine = number % 4 == 3;
  const int whole = 1 + draw.below(3);
  const double h = fine ? 0.005 / f : whole / f * (draw.coin() ? 1.0 : draw.in(0.9999, 1.0001));
  const int steps = fine ? 4000 : int(draw.log(200, 2000));
  const double until = steps * h;
  const std::string scheme = draw.pick({"moreau", "moreau-jean", "mabrouk", "elast", "penalty"});
  const bool shifted = draw.coin();  // sin in place of cos drifts
  const double x = shifted ? a / w * until - a / (w * w) * std::sin(w * until)
                           : a / (w * w) * (1 - std::cos(w * until));
  const std::string text = fill(R"toml([system]
coordinates = ["x"]
mass = [1]
force = { x = "$a*$f(2*pi*$freq*t)" }
[start]
position = { x = 0 }
)toml",
                                {{"a", a}, {"f", shifted ? "sin" : "cos"}, {"freq", f}});
  return {text + run(scheme, until, steps),
          {},
          {{"x", x, a / (w * w) + a / w * until * (fine ? 5 * w * h : 0.1)}},
          fine};
}

/// A spring, or a brake, as `force`: h omega beyond what the scheme bears, or well below.
Scene stiff_force(Draw& draw, int number) {
  const bool brake = number % 3 == 2, fine = number % 4 == 1;
  const double w = draw.log(10, 1000);
  const double turn = fine ? draw.log(1e-4, 2e-3) : draw.in(2.2, 5);
  const int steps = int(fine ? draw.in(3, 10) / turn : draw.log(20, 400));
  const double until = steps * turn / w;
  const std::string scheme =
      draw.pick({"moreau", "moreau-jean", "mabrouk", "penalty", "elast", "paoli-schatzman"});
  const double c = brake && !fine ? w : 0;
  const std::string text =
      fill(R"toml([system]
coordinates = ["x"]
mass = [1]
force = { x = "$law" }
[start]
position = { x = $x }
velocity = { x = $v }
)toml",
           {{"law", c > 0 ? fill("-$c*x'", {{"c", c}}) : fill("-$k*x", {{"k", w * w}})},
            {"x", c > 0 ? 0.0 : 1.0},
            {"v", c > 0 ? w : 0.0}});
  const double x = c > 0 ? -std::expm1(-w * until) : std::cos(w * until);
  return {text + run(scheme, until, steps),
          {},
          {{"x", x, std::min(0.1, 3 * turn * (1 + w * until))}},
          fine};
}

/// x'' = -k sign(x): parabolas; or a spring that is stiffer on one side: half sines.
Scene kinks(Draw& draw, int number) {
  const std::string scheme =
      number % 2 == 0 ? "event-driven" : draw.pick({"moreau", "moreau-jean", "mabrouk"});
  const double k1 = draw.log(1, 20), k2 = draw.log(1, 20), a = draw.in(0.5, 2);
  const bool parabola = number % 4 < 2;
  double x, speed, until;
  std::string potential;
  if (parabola) {
    const double quarter = std::sqrt(2 * a / k1);
    until = quarter * draw.in(2, 12);
    double s = std::fmod(until, 4 * quarter);
    const bool lower = s > quarter && s < 3 * quarter;
    s = s < quarter ? s : (lower ? s - 2 * quarter : s - 4 * quarter);
    x = (lower ? -1 : 1) * (a - 0.5 * k1 * s * s);
    speed = std::sqrt(2 * k1 * a);
    potential = fill("$k*abs(x)", {{"k", k1}});
  } else {
    const double w1 = std::sqrt(k1), w2 = std::sqrt(k2);
    const double period = kPi / w1 + kPi / w2;
    until = period * draw.in(0.7, 4);
    double s = std::fmod(until + 0.5 * kPi / w1, period);
    speed = a * w1;
    x = s < kPi / w1 ? a * std::sin(w1 * s) : -speed / w2 * std::sin(w2 * (s - kPi / w1));
    potential = draw.coin()
                    ? fill("0.5*$a*max(0, x)^2 + 0.5*$b*min(0, x)^2", {{"a", k1}, {"b", k2}})
                    : fill("if(x > 0, 0.5*$a*x^2, 0.5*$b*x^2)", {{"a", k1}, {"b", k2}});
  }
  const int steps = int(draw.log(2000, 10000));
  const bool events = scheme == "event-driven";
  const std::string text = fill(R"toml([system]
coordinates = ["x"]
mass = [1]
potential = "$V"
[start]
position = { x = $a }
)toml",
                                {{"V", potential}, {"a", a}});
  const int rows = 1 + draw.below(100);
  return {text + run(scheme, until, events ? rows : steps),
          {},
          {{"x", x, events ? 1e-4 * a : 10 * until / steps * speed}}};
}

/// Equal balls over springs that only push, struck by the first: integrated here by the
/// fourth-order rule of Runge with steps 1e-4 of the fastest swing.
Scene cradle(Draw& draw, int number) {
  const int n = 3 + number % 3;
  const std::array<double, 4> powers = {1, 1.5, 2, 1};
  const double power = powers[static_cast<std::size_t>(number) % 4], k = draw.log(1, 100);
  using Vector = std::vector<double>;
  const std::size_t size = static_cast<std::size_t>(n);
  Vector y(2 * size);
  for (std::size_t i = 0; i < size; ++i) y[i] = double(i + 1);
  y[size] = draw.in(0.5, 2);
  const double v = y[size];
  const double until = draw.in(0.5, 3) * n * 3 / std::pow(k, 1 / (power + 1));
  const auto rate = [&](const Vector& a) {
    Vector d(2 * size);
    for (std::size_t i = 0; i < size; ++i) d[i] = a[size + i];
    for (std::size_t i = 0; i + 1 < size; ++i) {
      const double f = k * std::pow(std::max(0.0, 1 - (a[i + 1] - a[i])), power);
      d[size + i] -= f;
      d[size + i + 1] += f;
    }
    return d;
  };
  const auto plus = [](Vector a, double s, const Vector& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += s * b[i];
    return a;
  };
  const int fine = 20000;
  const double dt = until / fine;
  for (int i = 0; i < fine; ++i) {
    const Vector a = rate(y), b = rate(plus(y, dt / 2, a)), c = rate(plus(y, dt / 2, b)),
                 d = rate(plus(y, dt, c));
    y = plus(plus(plus(plus(y, dt / 6, a), dt / 3, b), dt / 3, c), dt / 6, d);
  }
  const std::string scheme =
      number % 2 == 0 ? "event-driven" : draw.pick({"moreau", "moreau-jean", "elast"});
  const int steps = scheme == "event-driven" ? 1 + draw.below(100) : 10000;
  const std::string text =
      fill(R"toml([system]
coordinates = ["x[1..N]"]
parameters = { N = $n }
mass = { x = 1 }
potential = "sum(i, 1, N-1, $c*max(0, 1 - (x[i+1] - x[i]))^$p)"
[start]
position = { x = "i" }
velocity = { "x[1]" = $v }
)toml",
           {{"n", double(n)}, {"c", k / (power + 1)}, {"p", power + 1}, {"v", v}});
  Scene scene{text + run(scheme, until, steps), {}, {}};
  const double off = scheme == "event-driven" ? 1e-5 * (1 + v * until) : 20 * v * until / steps;
  for (std::size_t i = 0; i < size; ++i)
    scene.checks.push_back({"x[" + std::to_string(i + 1) + "]", y[i], off});
  return scene;
}

/// x'' + x = cos(2.8 t), x <= 0, e = 0.8: exact arcs, impacts by bisection in long double.
struct Oscillator {
  long double x, v, t{0};
};
void swing(Oscillator& o, long double e, long double frequency, long double until) {
  const long double c = 1 / (1 - frequency * frequency);
  const auto at = [&](long double s, long double* speed) {
    const long double p = c * std::cos(frequency * o.t),
                      q = -c * frequency * std::sin(frequency * o.t);
    const long double a = o.x - p, b = o.v - q;
    *speed = -a * std::sin(s) + b * std::cos(s) - c * frequency * std::sin(frequency * (o.t + s));
    return a * std::cos(s) + b * std::sin(s) + c * std::cos(frequency * (o.t + s));
  };
  while (o.t < until) {
    const long double dt = 1e-3L;
    long double s = dt, speed = 0;
    while (o.t + s < until && at(s, &speed) <= 0) s += dt;
    if (o.t + s >= until) s = until - o.t;
    if (at(s, &speed) > 0) {
      long double low = s - dt, high = s;
      for (int i = 0; i < 70; ++i) {
        const long double m = (low + high) / 2;
        (at(m, &speed) <= 0 ? low : high) = m;
      }
      s = low;
      (void)at(s, &speed);
      o.t += s;
      o.x = 0;
      o.v = -e * speed;
      const long double push = std::fmod(frequency * o.t + kPi / 2, 2 * kPi);
      if (o.v > -1e-10L && push < kPi) {  // at rest until the force turns round
        o.v = 0;
        o.t = std::min(until, o.t + (kPi - push) / frequency);
      }
    } else {
      o.x = at(s, &speed);
      o.v = speed;
      o.t = until;
    }
  }
}

Scene chaos(Draw& draw, int number) {
  const double e = draw.in(0.7, 0.9), frequency = draw.in(2.6, 3), x = -draw.in(0.2, 1);
  const double until = number % 2 == 0 ? draw.in(5, 15) : draw.in(60, 200);
  const int steps = int(until * draw.log(300, 2000));
  const bool events = number % 5 == 4;
  Oscillator end{x, 0};
  swing(end, e, frequency, until);
  // Others, of which start and impacts are as far off as the scheme may err, show what comes of it.
  const double error = events ? 1e-6 : 4 * until / steps;
  double off = 10 * error;
  for (const double part : {-1.0, -0.1, 0.1, 1.0}) {
    Oscillator other{x + part * error, 0};
    swing(other, e * (1 + part * error), frequency, until);
    off = std::max(off, 10 * std::abs(double(other.x - end.x)));
  }
  const std::string text = fill(R"toml([system]
coordinates = ["x"]
mass = [1]
potential = "0.5*x^2"
force = { x = "cos($w*t)" }
[contact.stop]
keep = "x <= 0"
restitution = $e
[start]
position = { x = $x }
)toml",
                                {{"w", frequency}, {"e", e}, {"x", x}});
  return {text + run(events ? "event-driven" : draw.pick({"moreau", "moreau-jean", "mabrouk"}),
                     until, events ? int(until * 10) : steps, events ? "zeno = \"contact\"" : ""),
          {},
          {{"x", double(end.x), std::min(0.1, off)}},
          off < 0.1};
}

}  // namespace

const std::vector<Family>& smooth() {
  static const std::vector<Family> kAll = {
      {"magnetic force", "closed form", 12, magnetic},
      {"force faster than the step", "closed form", 12, aliased},
      {"stiff force", "closed form", 12, stiff_force},
      {"kinks", "closed form", 10, kinks},
      {"cradle over springs", "Runge-Kutta, 20 000 steps", 8, cradle},
      {"driven oscillator at a stop", "exact arcs in 80 bits", 10, chaos},
  };
  return kAll;
}

}  // namespace ricochet::truth
