#include "error_bar_scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace ricochet::testing {
namespace {

using base::Random;
using Numbers = std::vector<double>;

double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

template <class T>
T pick(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + random.below(static_cast<int>(choices.size())));
}

/// A restitution; one in five is 1, one in ten is 0.
double random_restitution(Random& random) {
  const int choice = random.below(10);
  if (choice < 2) return 1.0;
  return choice == 2 ? 0.0 : random.uniform(0.0, 0.95);
}

/// Schemes without friction that take restitutions of one contact each, and those for e = 1 alone.
std::string impact_scheme(Random& random, double e) {
  if (e == 1.0 && random.below(3) == 0) return "elast";
  return pick<std::string>(random, {"moreau", "moreau", "mabrouk", "moreau-jean", "paoli-schatzman",
                                    "event-driven", e > 0.1 ? "penalty" : "moreau"});
}

std::string friction_scheme(Random& random) {
  return pick<std::string>(random, {"moreau", "moreau-jean"});
}

/// [run] over a time, with a random number of steps; one run in eight of moreau's controls them.
std::string run_table(Random& random, const std::string& scheme, double time, double fewest = 150,
                      double most = 20000) {
  const double steps = std::round(log_uniform(random, fewest, most));
  const double h = time / steps;
  std::string text = fmt::format("[run]\nscheme = \"{}\"\n", scheme);
  if (scheme == "moreau" && random.below(8) == 0) {
    text += fmt::format(
        "step = {{ max = {:.17g}, min = {:.17g}, tolerance = {:.3g} }}\nuntil = {:.17g}\n", 4.0 * h,
        1e-4 * h, log_uniform(random, 1e-6, 1e-3), time);
    return text;
  }
  text += fmt::format("step = {:.17g}\nsteps = {:.0f}\n", h, steps);
  if (scheme == "event-driven") text += "zeno = \"contact\"\naccuracy = 1e-9\n";
  return text;
}

std::string start_table(const Numbers& q, const Numbers& u, const std::vector<std::string>& names) {
  std::string places;
  std::string speeds;
  for (std::size_t i = 0; i < names.size(); ++i) {
    places += fmt::format("{}{} = {:.17g}", i == 0 ? "" : ", ", names[i], q[i]);
    speeds += fmt::format("{}{} = {:.17g}", i == 0 ? "" : ", ", names[i], u[i]);
  }
  return fmt::format("[start]\nposition = {{ {} }}\nvelocity = {{ {} }}\n", places, speeds);
}

/// Where f falls through zero between two places, to rounding.
double root_in(double low, double high, const std::function<double(double)>& f) {
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (f(middle) > 0.0 ? low : high) = middle;
  }
  return high;
}

/// The first such place after `from`, looked for in steps of dt; infinity where there is none
/// before `to`.
double first_root(double from, double to, double dt, const std::function<double(double)>& f) {
  double value = f(from);
  for (double left = from; left < to;) {
    const double right = std::min(to, left + dt);
    const double next = f(right);
    if (value > 0.0 && next <= 0.0) return root_in(left, right, f);
    left = right;
    value = next;
  }
  return std::numeric_limits<double>::infinity();
}

/// Height and velocity over a floor after a time, under gravity, with restitution e.
struct Fall {
  double z{0.0};
  double w{0.0};
  double impact_at{-1.0};  // of the last impact
};
Fall fall(double z, double w, double g, double e, double time) {
  double t = 0.0;
  for (int bounces = 0; bounces < 100000; ++bounces) {
    const double flight = (w + std::sqrt(w * w + 2.0 * g * z)) / g;
    if (t + flight >= time) {
      const double s = time - t;
      return {z + w * s - 0.5 * g * s * s, w - g * s, bounces > 0 ? t : -1.0};
    }
    t += flight;
    w = e * (g * flight - w);
    z = 0.0;
    if (w < 1e-14) break;
  }
  return {0.0, 0.0, t};
}

/// Time from the start until the ball rests; that of eight bounces where it never does.
double time_to_rest(double z, double w, double g, double e) {
  const double speed = std::sqrt(w * w + 2.0 * g * z);
  const double first = (w + speed) / g;
  if (e > 0.9) return first + 2.0 * speed / g * 6.0;
  return first + 2.0 * speed / g * e / (1.0 - e);
}

KnownScene ball(Random& random) {
  const double g = random.uniform(1.0, 20.0);
  const double e = random_restitution(random);
  const double z = random.uniform(0.2, 5.0);
  const double w = random.uniform(-2.0, 2.0);
  const double time = time_to_rest(z, w, g, e) * random.uniform(0.3, 1.3);
  const Fall end = fall(z, w, g, e, time);
  KnownScene scene{.kind = "bouncing ball", .text = {}, .q = {end.z}, .u = {end.w}};
  scene.text = fmt::format(
                   "[system]\ncoordinates = [\"z\"]\nmass = [2]\npotential = \"2*{:.17g}*z\"\n"
                   "[contact.floor]\nkeep = \"z >= 0\"\nrestitution = {:.17g}\n",
                   g, e) +
               start_table({z}, {w}, {"z"}) + run_table(random, impact_scheme(random, e), time);
  return scene;
}

/// x'' + 2 d x' + w^2 x = f cos(p t), from (x, v) at time t0: closed form.
struct Oscillation {
  double d{0.0};
  double w{1.0};
  double f{0.0};
  double p{1.0};
  double t0{0.0};
  double x0{0.0};
  double v0{0.0};

  void state(double t, double& x, double& v) const {
    const double a = w * w - p * p;
    const double b = 2.0 * d * p;
    const double scale = f == 0.0 ? 0.0 : f / (a * a + b * b);
    const auto forced = [&](double at) {
      return scale * (a * std::cos(p * at) + b * std::sin(p * at));
    };
    const auto forced_rate = [&](double at) {
      return scale * p * (-a * std::sin(p * at) + b * std::cos(p * at));
    };
    const double y = x0 - forced(t0);
    const double z = v0 - forced_rate(t0);
    const double own = std::sqrt(w * w - d * d);
    const double s = t - t0;
    const double c = std::cos(own * s);
    const double n = std::sin(own * s);
    const double fading = std::exp(-d * s);
    const double k = (z + d * y) / own;
    x = fading * (y * c + k * n) + forced(t);
    v = fading * (-d * (y * c + k * n) + own * (-y * n + k * c)) + forced_rate(t);
  }
  double place(double t) const {
    double x = 0.0;
    double v = 0.0;
    state(t, x, v);
    return x;
  }
};

/// Follows an oscillation against the wall x <= wall. At most `most` impacts: then `time` is cut to
/// lie between two of them.
void bounce(Oscillation flow, double wall, double e, int most, double& time, double& x, double& v) {
  const double dt = 0.002 / std::max(flow.w, flow.f == 0.0 ? 0.0 : flow.p);
  for (int impacts = 0;; ++impacts) {
    const double hit =
        first_root(flow.t0 + 1e-9, time, dt, [&](double t) { return wall - flow.place(t); });
    if (hit > time) break;
    if (impacts == most) {
      time = flow.t0 + 0.6 * (hit - flow.t0);
      break;
    }
    double at = 0.0;
    double speed = 0.0;
    flow.state(hit, at, speed);
    flow.t0 = hit;
    flow.x0 = wall;
    flow.v0 = -e * speed;
  }
  flow.state(time, x, v);
}

KnownScene wall_oscillator(Random& random, bool forced) {
  Oscillation flow;
  flow.w = random.uniform(0.7, 8.0);
  flow.d = random.below(2) == 0 ? 0.0 : flow.w * random.uniform(0.01, 0.15);
  if (forced) {
    flow.f = flow.w * flow.w * random.uniform(0.1, 0.6);
    flow.p = flow.w * random.uniform(1.3, 3.0);
  }
  flow.x0 = random.uniform(-1.5, -0.5);
  flow.v0 = flow.w * random.uniform(-1.0, 1.0);
  const double wall = random.uniform(0.0, 0.5);
  const double e = forced ? random.uniform(0.4, 1.0) : random_restitution(random);
  double time = 2.0 * std::numbers::pi / flow.w * random.uniform(0.5, 4.0);
  KnownScene scene{.kind = forced ? "driven oscillator and wall" : "oscillator and wall",
                   .text = {},
                   .q = {0.0},
                   .u = {0.0}};
  bounce(flow, wall, e, 6, time, scene.q[0], scene.u[0]);
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*{:.17g}^2*x^2\"\n"
      "force = {{ x = \"{:.17g}*cos({:.17g}*t) - 2*{:.17g}*x'\" }}\n"
      "[contact.wall]\nkeep = \"x <= {:.17g}\"\nrestitution = {:.17g}\n",
      flow.w, flow.f, flow.p, flow.d, wall, e);
  scene.text +=
      start_table({flow.x0}, {flow.v0}, {"x"}) + run_table(random, impact_scheme(random, e), time);
  return scene;
}

KnownScene smooth(Random& random) {
  Oscillation flow;
  flow.w = random.uniform(0.7, 8.0);
  flow.d = random.below(2) == 0 ? 0.0 : flow.w * random.uniform(0.01, 0.3);
  flow.f = random.below(2) == 0 ? 0.0 : flow.w * flow.w * random.uniform(0.1, 2.0);
  flow.p = flow.w * random.uniform(1.3, 3.0);
  flow.x0 = random.uniform(-1.5, 1.5);
  flow.v0 = flow.w * random.uniform(-1.0, 1.0);
  const double time = 2.0 * std::numbers::pi / flow.w * random.uniform(0.5, 8.0);
  KnownScene scene{.kind = "smooth oscillator", .text = {}, .q = {0.0}, .u = {0.0}};
  flow.state(time, scene.q[0], scene.u[0]);
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\"]\nmass = [3]\npotential = \"1.5*{:.17g}^2*x^2\"\n"
      "force = {{ x = \"3*({:.17g}*cos({:.17g}*t) - 2*{:.17g}*x')\" }}\n",
      flow.w, flow.f, flow.p, flow.d);
  const std::string scheme = pick<std::string>(
      random, {"moreau", "mabrouk", "moreau-jean", "paoli-schatzman", "event-driven", "inel"});
  scene.text += start_table({flow.x0}, {flow.v0}, {"x"}) + run_table(random, scheme, time);
  return scene;
}

/// A block on a slope, x downwards: slides, stops, sticks or slides back.
KnownScene slope(Random& random) {
  const double g = random.uniform(2.0, 20.0);
  const double a = random.below(3) == 0 ? 0.0 : random.uniform(0.05, 0.7);
  const double mu = random.uniform(0.1, 1.2);
  const double v = random.uniform(-5.0, 5.0);
  const double pull = g * std::sin(a);
  const double rub = mu * g * std::cos(a);
  const double sign = v < 0.0 ? -1.0 : 1.0;
  const double slowing = rub - sign * pull;  // of |v|
  const double stop = slowing > 0.0 ? std::abs(v) / slowing : 3.0;
  const double time = stop * random.uniform(0.4, 2.0);
  double x = v * time - sign * 0.5 * slowing * time * time;
  double u = v - sign * slowing * time;
  if (slowing > 0.0 && time > stop) {
    x = 0.5 * v * stop;
    u = 0.0;
    if (pull > rub) {  // turns, slides down
      const double s = time - stop;
      x += 0.5 * (pull - rub) * s * s;
      u = (pull - rub) * s;
    }
  }
  KnownScene scene{.kind = "block on a slope", .text = {}, .q = {x, 0.0}, .u = {u, 0.0}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1.5, 1.5]\n"
      "potential = \"1.5*({:.17g}*y - {:.17g}*x)\"\n"
      "[contact.floor]\nkeep = \"y >= 0\"\nslip = [\"x'\"]\nfriction = {:.17g}\n",
      g * std::cos(a), pull, mu);
  scene.text += start_table({0.0, 0.0}, {v, 0.0}, {"x", "y"}) +
                run_table(random, friction_scheme(random), time);
  return scene;
}

/// A block on a plane in space slides straight on until it stops.
KnownScene slide_in_space(Random& random) {
  const double g = random.uniform(2.0, 20.0);
  const double mu = random.uniform(0.1, 1.0);
  const double vx = random.uniform(-5.0, 5.0);
  const double vy = random.uniform(-5.0, 5.0);
  const double v = std::hypot(vx, vy);
  const double stop = v / (mu * g);
  const double time = stop * random.uniform(0.4, 1.5);
  const double s = std::min(time, stop);
  const double way = v * s - 0.5 * mu * g * s * s;
  const double speed = time < stop ? v - mu * g * s : 0.0;
  KnownScene scene{.kind = "slide in space",
                   .text = {},
                   .q = {way * vx / v, way * vy / v, 0.0},
                   .u = {speed * vx / v, speed * vy / v, 0.0}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\", \"z\"]\nmass = [1, 1, 1]\npotential = \"{:.17g}*z\"\n"
      "[contact.floor]\nkeep = \"z >= 0\"\nslip = [\"x'\", \"y'\"]\nfriction = {:.17g}\n",
      g, mu);
  scene.text += start_table({0.0, 0.0, 0.0}, {vx, vy, 0.0}, {"x", "y", "z"}) +
                run_table(random, friction_scheme(random), time);
  return scene;
}

/// A block held by a spring on a rough floor: each swing is half a cosine about +-mu g/w^2.
KnownScene coulomb_oscillator(Random& random) {
  const double g = random.uniform(2.0, 20.0);
  const double w = random.uniform(1.0, 10.0);
  const double mu = random.uniform(0.05, 0.5);
  const double reach = mu * g / (w * w);  // where it can stick
  const double x0 = reach * random.uniform(2.0, 12.0);
  const double half = std::numbers::pi / w;
  const double time = half * random.uniform(0.5, 1.2 * (x0 / (2.0 * reach) + 1.0));
  double turn = x0;
  double t = 0.0;
  double x = x0;
  double u = 0.0;
  while (std::abs(turn) > reach && t < time) {
    const double middle = turn > 0.0 ? reach : -reach;
    const double s = std::min(half, time - t);
    x = middle + (turn - middle) * std::cos(w * s);
    u = -w * (turn - middle) * std::sin(w * s);
    t += half;
    if (t < time) {
      turn = 2.0 * middle - turn;
      x = turn;
      u = 0.0;
    }
  }
  KnownScene scene{.kind = "spring and dry friction", .text = {}, .q = {x, 0.0}, .u = {u, 0.0}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n"
      "potential = \"{:.17g}*y + 0.5*{:.17g}^2*x^2\"\n"
      "[contact.floor]\nkeep = \"y >= 0\"\nslip = [\"x'\"]\nfriction = {:.17g}\n",
      g, w, mu);
  scene.text += start_table({x0, 0.0}, {0.0, 0.0}, {"x", "y"}) +
                run_table(random, friction_scheme(random), time);
  return scene;
}

/// Stick-slip on a belt of speed v: sticks until the spring pulls with mu_s g, slips along a sine
/// about mu_d g/w^2 until it is as fast as the belt again.
KnownScene belt(Random& random) {
  const double g = random.uniform(2.0, 20.0);
  const double w = random.uniform(2.0, 12.0);
  const double dynamic = random.uniform(0.1, 0.4);
  const double held = dynamic * random.uniform(1.2, 2.0);
  const double middle = dynamic * g / (w * w);
  const double off = held * g / (w * w);
  const double v = w * (off - middle) * random.uniform(0.2, 1.5);
  const double a = off - middle;
  const double stick = 2.0 * a / v;
  const double slip = (2.0 * std::numbers::pi - 2.0 * std::atan2(a * w, v)) / w;
  const double period = stick + slip;
  const double time = period * random.uniform(0.2, 4.0);
  const double start = random.uniform(-0.5, 0.95);  // of the stick, from middle
  double x = middle + a * start;
  double u = v;
  const double first = a * (1.0 - start) / v;
  if (time <= first) {
    x += v * time;
  } else {
    const double s = std::fmod(time - first, period);
    if (s < slip) {
      x = middle + a * std::cos(w * s) + v / w * std::sin(w * s);
      u = -a * w * std::sin(w * s) + v * std::cos(w * s);
    } else {
      x = middle - a + v * (s - slip);
      u = v;
    }
  }
  KnownScene scene{.kind = "stick-slip on a belt", .text = {}, .q = {x, 0.0}, .u = {u, 0.0}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n"
      "potential = \"{:.17g}*y + 0.5*{:.17g}^2*x^2\"\n"
      "[contact.belt]\nkeep = \"y >= 0\"\nslip = [\"x' - {:.17g}\"]\n"
      "friction = {{ static = {:.17g}, dynamic = {:.17g} }}\n",
      g, w, v, held, dynamic);
  scene.text += start_table({middle + a * start, 0.0}, {v, 0.0}, {"x", "y"}) +
                run_table(random, friction_scheme(random), time, 400);
  return scene;
}

/// A pendulum, maybe with a wall; Runge-Kutta steps far below those of the run.
KnownScene pendulum(Random& random) {
  const double g = random.uniform(2.0, 20.0);
  const double l = random.uniform(0.3, 3.0);
  const double w2 = g / l;
  double p = random.uniform(-2.0, -0.3);
  double v = std::sqrt(w2) * random.uniform(-0.5, 0.5);
  const double p0 = p;
  const double v0 = v;
  const bool has_wall = random.below(3) != 0;
  const double wall = random.uniform(0.02, 0.5);  // where it cannot rest
  const double e = random_restitution(random);
  const double period = 2.0 * std::numbers::pi / std::sqrt(w2);
  const double time = period * random.uniform(0.4, 3.0);
  const auto step = [&](double h, double& angle, double& rate) {
    const auto pull = [&](double at) { return -w2 * std::sin(at); };
    const double k1 = rate;
    const double l1 = pull(angle);
    const double k2 = rate + 0.5 * h * l1;
    const double l2 = pull(angle + 0.5 * h * k1);
    const double k3 = rate + 0.5 * h * l2;
    const double l3 = pull(angle + 0.5 * h * k2);
    const double k4 = rate + h * l3;
    const double l4 = pull(angle + h * k3);
    angle += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    rate += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
  };
  const double h = 5e-5 * period;
  double since = 0.0;  // the start, or the last impact
  for (double steps = 0.0; since + steps * h < time;) {
    const double s = std::min(h, time - since - steps * h);
    double angle = p;
    double rate = v;
    step(s, angle, rate);
    if (has_wall && angle > wall && rate > 0.0) {
      const auto part = root_in(0.0, s, [&](double length) {
        angle = p;
        rate = v;
        step(length, angle, rate);
        return wall - angle;
      });
      since += steps * h + part;
      steps = 0.0;
      p = wall;
      v = -e * rate;
      continue;
    }
    p = angle;
    v = rate;
    steps += 1.0;
  }
  KnownScene scene{.kind = "pendulum", .text = {}, .q = {p}, .u = {v}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"p\"]\nkinetic = \"0.5*{0:.17g}^2*p'^2\"\n"
      "potential = \"-{1:.17g}*{0:.17g}*cos(p)\"\n",
      l, g);
  if (has_wall) {
    scene.text +=
        fmt::format("[contact.wall]\nkeep = \"p <= {:.17g}\"\nrestitution = {:.17g}\n", wall, e);
  }
  const std::string scheme =
      has_wall ? impact_scheme(random, e)
               : pick<std::string>(random, {"moreau", "mabrouk", "moreau-jean", "event-driven"});
  scene.text += start_table({p0}, {v0}, {"p"}) + run_table(random, scheme, time);
  return scene;
}

/// Particles on a line between two walls, impact after impact.
KnownScene line(Random& random) {
  const int n = 1 + random.below(3);
  const double e = random.below(5) == 0 ? 1.0 : random.uniform(0.3, 0.95);
  Numbers x;
  Numbers v;
  Numbers m;
  for (int i = 0; i < n; ++i) {
    x.push_back(i + random.uniform(0.2, 0.8));
    v.push_back(random.uniform(-2.0, 2.0));
    m.push_back(random.uniform(0.5, 3.0));
  }
  const Numbers x0 = x;
  const Numbers v0 = v;
  const auto size = static_cast<std::size_t>(n);
  const int impacts = 1 + random.below(7);
  double t = 0.0;
  double last = 0.0;
  for (int k = 0;; ++k) {
    double soonest = 1e9;
    std::size_t which = 0;
    for (std::size_t i = 0; i <= size; ++i) {  // gap i: between i - 1 and i
      const double gap = (i == size ? static_cast<double>(n) : x[i]) - (i == 0 ? 0.0 : x[i - 1]);
      const double rate = (i == size ? 0.0 : v[i]) - (i == 0 ? 0.0 : v[i - 1]);
      if (rate < 0.0 && -gap / rate < soonest) {
        soonest = std::max(0.0, -gap / rate);
        which = i;
      }
    }
    if (soonest > 20.0) soonest = 20.0;
    if (k == impacts || soonest == 20.0) {
      last = soonest * random.uniform(0.05, 0.95);
      for (std::size_t i = 0; i < size; ++i) x[i] += v[i] * last;
      t += last;
      break;
    }
    for (std::size_t i = 0; i < size; ++i) x[i] += v[i] * soonest;
    t += soonest;
    if (which == 0) {
      v[0] *= -e;
      x[0] = 0.0;
    } else if (which == size) {
      v[size - 1] *= -e;
      x[size - 1] = n;
    } else {
      const double a = m[which - 1];
      const double b = m[which];
      const double p = (1.0 + e) * (v[which - 1] - v[which]) * a * b / (a + b);
      v[which - 1] -= p / a;
      v[which] += p / b;
    }
  }
  KnownScene scene{.kind = "particles on a line", .text = {}, .q = x, .u = v};
  std::vector<std::string> names;
  std::string list;
  std::string masses;
  for (std::size_t i = 0; i < size; ++i) {
    names.push_back(fmt::format("x{}", i + 1));
    list += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i]);
    masses += fmt::format("{}{:.17g}", i == 0 ? "" : ", ", m[i]);
  }
  scene.text = fmt::format("[system]\ncoordinates = [{}]\nmass = [{}]\n", list, masses);
  for (std::size_t i = 0; i <= size; ++i) {
    scene.text +=
        fmt::format("[contact.c{}]\nkeep = \"{} <= {}\"\nrestitution = {:.17g}\n", i,
                    i == 0 ? "0" : names[i - 1], i == size ? std::to_string(n) : names[i], e);
  }
  const std::string scheme =
      pick<std::string>(random, {"moreau", "moreau-jean", "mabrouk", "event-driven"});
  scene.text += start_table(x0, v0, names) + run_table(random, scheme, t);
  return scene;
}

/// A particle in a box under gravity: across it reflects, up and down it bounces.
KnownScene box(Random& random) {
  const double g = random.uniform(1.0, 15.0);
  const double e = random_restitution(random);
  const double wide = random.uniform(0.5, 3.0);
  const double x0 = wide * random.uniform(0.1, 0.9);
  const double v0 = random.uniform(-3.0, 3.0);
  const double z0 = random.uniform(0.2, 3.0);
  const double w0 = random.uniform(-1.0, 1.0);
  const double time = time_to_rest(z0, w0, g, e) * random.uniform(0.3, 0.9);
  const Fall down = fall(z0, w0, g, e, time);
  double x = x0;
  double v = v0;
  double t = 0.0;
  for (;;) {
    const double until = v > 0.0 ? (wide - x) / v : x / -v;
    if (t + until > time) break;
    t += until;
    x = v > 0.0 ? wide : 0.0;
    v *= -e;
    if (v == 0.0) break;
  }
  x += v * (time - t);
  KnownScene scene{.kind = "particle in a box", .text = {}, .q = {x, down.z}, .u = {v, down.w}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"z\"]\nmass = [1, 1]\npotential = \"{:.17g}*z\"\n"
      "[contact.floor]\nkeep = \"z >= 0\"\nrestitution = {:.17g}\n"
      "[contact.left]\nkeep = \"x >= 0\"\nrestitution = {:.17g}\n"
      "[contact.right]\nkeep = \"x <= {:.17g}\"\nrestitution = {:.17g}\n",
      g, e, e, wide, e);
  scene.text += start_table({x0, z0}, {v0, w0}, {"x", "z"}) +
                run_table(random, impact_scheme(random, e), time);
  return scene;
}

/// A particle thrown on a rough floor: each bounce takes up to mu (1 + e) of the slip; after the
/// last it slides to rest.
KnownScene rough_bounces(Random& random) {
  const double g = random.uniform(2.0, 15.0);
  const double e = random.uniform(0.2, 0.8);
  const double mu = random.uniform(0.02, 0.5);
  const double v0 = random.uniform(-4.0, 4.0);
  const double z0 = random.uniform(0.2, 2.0);
  const double rest = time_to_rest(z0, 0.0, g, e);
  const double time = rest * random.uniform(0.3, 2.0);
  double x = 0.0;
  double v = v0;
  double t = 0.0;
  double w = 0.0;
  double z = z0;
  bool rests = false;
  for (;;) {
    const double flight = (w + std::sqrt(w * w + 2.0 * g * z)) / g;
    if (t + flight > time) break;
    t += flight;
    x += v * flight;
    const double arrival = g * flight - w;
    z = 0.0;
    w = e * arrival;
    const double taken = mu * (1.0 + e) * arrival;
    v = std::abs(v) <= taken ? 0.0 : v - std::copysign(taken, v);
    rests = w < 1e-13;
    if (rests) break;
  }
  const double s = time - t;
  if (rests) {
    const double slide = std::min(s, std::abs(v) / (mu * g));
    x += v * slide - std::copysign(0.5 * mu * g * slide * slide, v);
    v = slide < s ? 0.0 : v - std::copysign(mu * g * slide, v);
    z = w = 0.0;
  } else {
    x += v * s;
    z += w * s - 0.5 * g * s * s;
    w -= g * s;
  }
  KnownScene scene{.kind = "bounces on a rough floor", .text = {}, .q = {x, z}, .u = {v, w}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"z\"]\nmass = [1, 1]\npotential = \"{:.17g}*z\"\n"
      "[contact.floor]\nkeep = \"z >= 0\"\nslip = [\"x'\"]\nfriction = {:.17g}\n"
      "restitution = {:.17g}\n",
      g, mu, e);
  scene.text += start_table({0.0, z0}, {v0, 0.0}, {"x", "z"}) +
                run_table(random, friction_scheme(random), time);
  return scene;
}

/// A particle falls on a smooth slope without rebound, slides down to a wall that stands upright,
/// and on a level floor it would rest: velocities lose what points into each.
KnownScene valley(Random& random) {
  const double g = random.uniform(2.0, 15.0);
  const double a = random.uniform(0.2, 1.1);  // the slope y = -x tan a, wall at x = wide
  const double wide = random.uniform(0.5, 3.0);
  const double drop = random.uniform(0.1, 2.0);
  const double v0 = random.uniform(0.0, 1.0);
  // Free fall until y = -x tan a.
  const double tan_a = std::tan(a);
  const double landing = (v0 * tan_a + std::sqrt(v0 * v0 * tan_a * tan_a + 2.0 * g * drop)) / g;
  const double x1 = v0 * landing;
  const double along = v0 * std::cos(a) + g * landing * std::sin(a);  // speed down the slope after
  const double pull = g * std::sin(a);
  const double left = (wide - x1) / std::cos(a);
  const double slide =
      left > 0.0 ? (-along + std::sqrt(along * along + 2.0 * pull * left)) / pull : 0.0;
  const double whole = landing + slide;
  const double time = whole * random.uniform(0.5, 1.4);
  KnownScene scene{.kind = "valley", .text = {}, .q = {}, .u = {}};
  if (left <= 0.0) return valley(random);
  if (time < landing) {
    scene.q = {v0 * time, drop - 0.5 * g * time * time};
    scene.u = {v0, -g * time};
  } else {
    const double s = std::min(time - landing, slide);
    const double way = along * s + 0.5 * pull * s * s;
    const double speed = time - landing < slide ? along + pull * s : 0.0;
    scene.q = {x1 + way * std::cos(a), -(x1 + way * std::cos(a)) * tan_a};
    scene.u = {speed * std::cos(a), -speed * std::sin(a)};
  }
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"{0:.17g}*y\"\n"
      "[contact.slope]\nkeep = \"y*cos({1:.17g}) + x*sin({1:.17g}) >= 0\"\n"
      "[contact.wall]\nkeep = \"x <= {2:.17g}\"\n",
      g, a, wide);
  const std::string scheme =
      pick<std::string>(random, {"inel", "inel", "moreau", "mabrouk", "moreau-jean"});
  scene.text += start_table({0.0, drop}, {v0, 0.0}, {"x", "y"}) + run_table(random, scheme, time);
  return scene;
}

/// A planet on its ellipse: Kepler's equation.
KnownScene planet(Random& random) {
  const double eccentricity = random.uniform(0.05, 0.6);
  const double time = 2.0 * std::numbers::pi * random.uniform(0.3, 3.0);
  double anomaly = time;
  for (int i = 0; i < 60; ++i) {
    anomaly -= (anomaly - eccentricity * std::sin(anomaly) - time) /
               (1.0 - eccentricity * std::cos(anomaly));
  }
  const double b = std::sqrt(1.0 - eccentricity * eccentricity);
  const double rate = 1.0 / (1.0 - eccentricity * std::cos(anomaly));
  KnownScene scene{.kind = "planet",
                   .text = {},
                   .q = {std::cos(anomaly) - eccentricity, b * std::sin(anomaly)},
                   .u = {-std::sin(anomaly) * rate, b * std::cos(anomaly) * rate}};
  scene.text =
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"-1/hypot(x, y)\"\n";
  const std::string scheme = pick<std::string>(
      random, {"moreau", "mabrouk", "moreau-jean", "paoli-schatzman", "event-driven"});
  scene.text +=
      start_table({1.0 - eccentricity, 0.0},
                  {0.0, std::sqrt((1.0 + eccentricity) / (1.0 - eccentricity))}, {"x", "y"}) +
      run_table(random, scheme, time, 500, 20000);
  return scene;
}

/// A block held by a spring on a floor with mu_s > mu_d: each swing is half a cosine about
/// +-mu_d g/w^2, and it stays where it turns within mu_s g/w^2.
KnownScene held_block(Random& random) {
  const double g = random.uniform(2.0, 20.0);
  const double w = random.uniform(1.0, 10.0);
  const double dynamic = random.uniform(0.05, 0.4);
  const double held = dynamic * random.uniform(1.1, 3.0);
  const double middle = dynamic * g / (w * w);
  const double reach = held * g / (w * w);
  const double x0 = reach * random.uniform(1.05, 8.0);
  const double half = std::numbers::pi / w;
  const double time = half * random.uniform(0.5, 1.2 * (x0 / (2.0 * middle) + 1.0));
  double turn = x0;
  double t = 0.0;
  double x = x0;
  double u = 0.0;
  while (std::abs(turn) > reach && t < time) {
    const double about = turn > 0.0 ? middle : -middle;
    const double s = std::min(half, time - t);
    x = about + (turn - about) * std::cos(w * s);
    u = -w * (turn - about) * std::sin(w * s);
    t += half;
    if (t < time) {
      turn = 2.0 * about - turn;
      x = turn;
      u = 0.0;
    }
  }
  KnownScene scene{.kind = "block that is held", .text = {}, .q = {x, 0.0}, .u = {u, 0.0}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n"
      "potential = \"{:.17g}*y + 0.5*{:.17g}^2*x^2\"\n"
      "[contact.floor]\nkeep = \"y >= 0\"\nslip = [\"x'\"]\n"
      "friction = {{ static = {:.17g}, dynamic = {:.17g} }}\n",
      g, w, held, dynamic);
  scene.text += start_table({x0, 0.0}, {0.0, 0.0}, {"x", "y"}) +
                run_table(random, friction_scheme(random), time);
  return scene;
}

/// Two balls, one above the other: between impacts both fall alike, so that their distance is
/// linear in time.
KnownScene column(Random& random) {
  const double g = random.uniform(2.0, 15.0);
  const double e = random.below(4) == 0 ? 1.0 : random.uniform(0.3, 0.9);
  const double m1 = random.uniform(0.5, 4.0);
  const double m2 = random.uniform(0.5, 4.0);
  double z1 = random.uniform(0.2, 1.5);
  double z2 = z1 + random.uniform(0.1, 1.0);
  double w1 = random.uniform(-1.0, 1.0);
  double w2 = random.uniform(-1.0, 1.0);
  const Numbers z0 = {z1, z2};
  const Numbers w0 = {w1, w2};
  const int impacts = 1 + random.below(5);
  double time = 0.0;
  double shortest = 1e9;
  for (int k = 0;; ++k) {
    const double floor = (w1 + std::sqrt(w1 * w1 + 2.0 * g * z1)) / g;
    const double meet = w2 < w1 ? (z2 - z1) / (w1 - w2) : 1e9;
    const bool on_floor = floor < meet;
    const double next = std::min(floor, meet);
    shortest = std::min(shortest, next);
    const double s = k == impacts ? next * random.uniform(0.1, 0.9) : next;
    z1 += w1 * s - 0.5 * g * s * s;
    z2 += w2 * s - 0.5 * g * s * s;
    w1 -= g * s;
    w2 -= g * s;
    time += s;
    if (k == impacts) break;
    if (on_floor) {
      z1 = 0.0;
      w1 *= -e;
    } else {
      const double p = (1.0 + e) * (w1 - w2) * m1 * m2 / (m1 + m2);
      z2 = z1;
      w1 -= p / m1;
      w2 += p / m2;
    }
  }
  if (shortest < 0.01 * time) return column(random);
  KnownScene scene{.kind = "column of two balls", .text = {}, .q = {z1, z2}, .u = {w1, w2}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"z1\", \"z2\"]\nmass = [{0:.17g}, {1:.17g}]\n"
      "potential = \"{2:.17g}*({0:.17g}*z1 + {1:.17g}*z2)\"\n"
      "[contact.floor]\nkeep = \"z1 >= 0\"\nrestitution = {3:.17g}\n"
      "[contact.pair]\nkeep = \"z2 >= z1\"\nrestitution = {3:.17g}\n",
      m1, m2, g, e);
  const std::string scheme =
      pick<std::string>(random, {"moreau", "moreau-jean", "mabrouk", "event-driven"});
  scene.text += start_table(z0, w0, {"z1", "z2"}) + run_table(random, scheme, time, 400);
  return scene;
}

/// A rod falls and turns; its two ends meet a smooth floor.
KnownScene rod(Random& random) {
  const double g = random.uniform(2.0, 15.0);
  const double l = random.uniform(0.2, 0.8);  // half its length
  const double inertia = l * l / 3.0;         // of mass 1
  const double e = random.uniform(0.2, 1.0);
  double y = l + random.uniform(0.1, 1.0);
  double v = random.uniform(-1.0, 1.0);
  double p = random.uniform(-1.4, 1.4);
  double w = random.uniform(-3.0, 3.0);
  const Numbers q0 = {y, p};
  const Numbers u0 = {v, w};
  const int impacts = random.below(4);
  double time = 0.0;
  for (int k = 0;; ++k) {
    double next = std::numeric_limits<double>::infinity();
    double side = 1.0;
    for (const double end : {1.0, -1.0}) {
      const double hit = first_root(1e-9, 3.0, 1e-3, [&](double s) {
        return y + v * s - 0.5 * g * s * s + end * l * std::sin(p + w * s);
      });
      if (hit < next) {
        next = hit;
        side = end;
      }
    }
    const bool is_last = k == impacts;
    const double s = is_last ? std::min(next, 1.0) * random.uniform(0.2, 0.9) : next;
    if (!(next > 0.03) || next > 3.0) return rod(random);
    y += v * s - 0.5 * g * s * s;
    p += w * s;
    v -= g * s;
    time += s;
    if (is_last) break;
    const double arm = side * l * std::cos(p);  // of the velocity v + arm w of that end
    const double impulse = -(1.0 + e) * (v + arm * w) / (1.0 + arm * arm / inertia);
    v += impulse;
    w += arm * impulse / inertia;
  }
  KnownScene scene{.kind = "rod", .text = {}, .q = {y, p}, .u = {v, w}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"y\", \"p\"]\nmass = [1, {0:.17g}]\npotential = \"{1:.17g}*y\"\n"
      "[contact.right]\nkeep = \"y + {2:.17g}*sin(p) >= 0\"\nrestitution = {3:.17g}\n"
      "[contact.left]\nkeep = \"y - {2:.17g}*sin(p) >= 0\"\nrestitution = {3:.17g}\n",
      inertia, g, l, e);
  const std::string scheme =
      pick<std::string>(random, {"moreau", "moreau", "mabrouk", "moreau-jean", "event-driven"});
  scene.text += start_table(q0, u0, {"y", "p"}) + run_table(random, scheme, time);
  return scene;
}

/// A ball on a table that shakes, a sin(s t).
KnownScene shaken_ball(Random& random) {
  const double g = random.uniform(5.0, 15.0);
  const double a = random.uniform(0.005, 0.05);
  const double s = random.uniform(2.0, 12.0);
  const double e = random.uniform(0.3, 0.95);
  const double z0 = random.uniform(0.3, 1.5);
  const double w0 = random.uniform(-1.0, 1.0);
  double z = z0;
  double w = w0;
  double t = 0.0;
  const int impacts = 1 + random.below(4);
  for (int k = 0;; ++k) {
    const double from = t;
    const double hit = first_root(1e-9, 5.0, 1e-3, [&](double r) {
      return z + w * r - 0.5 * g * r * r - a * std::sin(s * (from + r));
    });
    if (!(hit > 0.02) || hit > 5.0) return shaken_ball(random);
    const double r = k == impacts ? hit * random.uniform(0.1, 0.9) : hit;
    z += w * r - 0.5 * g * r * r;
    w -= g * r;
    t += r;
    if (k == impacts) break;
    const double table = a * s * std::cos(s * t);
    w = table - e * (w - table);
  }
  KnownScene scene{.kind = "ball on a shaken table", .text = {}, .q = {z}, .u = {w}};
  scene.text = fmt::format(
      "[system]\ncoordinates = [\"z\"]\nmass = [1]\npotential = \"{:.17g}*z\"\n"
      "[contact.table]\nkeep = \"z >= {:.17g}*sin({:.17g}*t)\"\nrestitution = {:.17g}\n",
      g, a, s, e);
  scene.text += start_table({z0}, {w0}, {"z"}) + run_table(random, impact_scheme(random, e), t);
  return scene;
}

}  // namespace

KnownScene random_known_scene(int kind, Random& random) {
  switch (kind) {
    case 0: return ball(random);
    case 1: return wall_oscillator(random, false);
    case 2: return wall_oscillator(random, true);
    case 3: return smooth(random);
    case 4: return slope(random);
    case 5: return slide_in_space(random);
    case 6: return coulomb_oscillator(random);
    case 7: return belt(random);
    case 8: return pendulum(random);
    case 9: return line(random);
    case 10: return box(random);
    case 11: return rough_bounces(random);
    case 12: return valley(random);
    case 13: return planet(random);
    case 14: return held_block(random);
    case 15: return column(random);
    case 16: return rod(random);
    default: return shaken_ball(random);
  }
}

}  // namespace ricochet::testing
