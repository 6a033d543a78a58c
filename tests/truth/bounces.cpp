// A ball on a floor, in many guises.

#include <cmath>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

const std::string kBall = R"toml([system]
coordinates = ["z"]
mass = [$m]
potential = "$w*z"
[contact.floor]
keep = "z >= $floor"
restitution = $e
[start]
position = { z = $z }
velocity = { z = $v }
)toml";

struct Ball {
  double m, g, e, z, v, l, t;
  explicit Ball(Draw& draw)
      : m(draw.unit()),
        g(draw.in(5, 20)),
        e(draw.in(0.3, 0.95)),
        z(draw.in(0.3, 3)),
        v(draw.in(-2, 2)),
        l(draw.unit()),
        t(draw.unit()) {
    g *= l / (t * t);
    z *= l;
    v *= l / t;
  }
  double speed() const { return std::sqrt(v * v + 2.0 * g * z); }
  std::string text(double floor = 0.0) const {
    return fill(kBall,
                {{"m", m}, {"w", m * g}, {"floor", floor}, {"e", e}, {"z", z + floor}, {"v", v}});
  }
};

Scene bouncing(Draw& draw, int number) {
  static const std::array<const char*, 6> kSchemes = {
      "moreau", "moreau-jean", "mabrouk", "paoli-schatzman", "penalty", "event-driven"};
  Ball ball(draw);
  const std::string scheme = kSchemes[static_cast<std::size_t>(number) % 6];
  if (scheme == "penalty") ball.e = draw.in(0.7, 0.95);
  const double until = clear_time(draw, ball.z, ball.v, ball.g, ball.e, draw.below(5));
  const int steps = int(draw.log(2000, 20000));
  const Fall end = fall(ball.z, ball.v, ball.g, ball.e, until);
  const double tolerance = slack(scheme, until / steps, ball.speed(), ball.z, end.impacts);
  return {ball.text() + run(scheme, until, scheme == "event-driven" ? 1 + draw.below(50) : steps),
          {},
          {{"z", end.z, tolerance}}};
}

Scene to_rest(Draw& draw, int number) {
  static const std::array<const char*, 5> kSchemes = {"moreau", "moreau-jean", "mabrouk",
                                                      "event-driven", "event-driven"};
  Ball ball(draw);
  const std::string scheme = kSchemes[static_cast<std::size_t>(number) % 5];
  const double first = (ball.v + ball.speed()) / ball.g;
  const double accumulation = first + 2.0 * ball.speed() / ball.g * ball.e / (1.0 - ball.e);
  const double until = accumulation * draw.in(1.1, 3.0);
  const bool events = scheme == "event-driven";
  const int steps = events ? 1 + draw.below(40) : int(draw.log(2000, 20000));
  return {ball.text() + run(scheme, until, steps, events ? "zeno = \"contact\"" : ""),
          {},
          {{"z", 0.0, slack(scheme, until / steps, ball.speed(), ball.z, 0)}}};
}

/// The past of a ball that has bounced: it came faster than it went, by 1/e each time.
Scene past(Draw& draw, int number) {
  Ball ball(draw);
  ball.v = std::abs(ball.v);
  const int impacts = 1 + number % 2;
  double arc = (-ball.v + ball.speed()) / ball.g;
  double left = ball.speed();  // upwards, just after the impact
  double until = arc;
  for (int i = 1; i < impacts; ++i) {
    left /= ball.e;
    until += 2.0 * left / ball.g;
  }
  const double arrival = left / ball.e;
  const double s = draw.in(0.1, 0.9) * 2.0 * arrival / ball.g;
  until += s;
  const std::string scheme = "moreau";
  const int steps = int(draw.log(3000, 30000));
  return {ball.text() + run(scheme, until, steps),
          {"--backward"},
          {{"z", arrival * s - 0.5 * ball.g * s * s,
            (impacts + 1) * slack("moreau", until / steps, arrival, ball.z, impacts)}},
          false};
}

/// Impacts at times that are rows of the table, to the bit.
Scene at_rows(Draw& draw, int number) {
  const double g = std::ldexp(10.0, draw.below(7) - 3);
  const int rows = 1 + draw.below(4);  // from the start to the first impact
  const double row = std::ldexp(1.0, draw.below(9) - 4);
  const double drop = rows * row;
  const double z = 0.5 * g * drop * drop;
  const bool half = number % 3 == 2;
  const double e = half ? 0.5 : 1.0;
  const int steps = half ? 2 * rows : rows * (1 + 2 * draw.below(4));
  const Fall end = fall(z, 0.0, g, e, steps * row);
  const std::string text =
      fill(kBall, {{"m", 1.0}, {"w", g}, {"floor", 0.0}, {"e", e}, {"z", z}, {"v", 0.0}});
  return {text + run("event-driven", steps * row, steps, half ? "zeno = \"contact\"" : ""),
          {},
          {{"z", half ? end.z : (steps / rows % 2 == 1 ? 0.0 : z), 1e-6 * z},
           {"violation.max", 0.0, 1e-9 * z}}};
}

/// e < 1 above a speed, 1 below: the ball never comes to rest.
Scene for_ever(Draw& draw, int) {
  const double g = draw.in(5, 20);
  const double e = draw.in(0.7, 0.95);
  const double threshold = draw.in(0.3, 1.5);
  const double z = draw.in(0.5, 2);
  double v = std::sqrt(2.0 * g * z);
  double time = v / g;
  const double end = time + draw.log(50, 600);
  for (;;) {
    if (v > threshold) v *= e;
    if (time + 2.0 * v / g > end) break;
    time += 2.0 * v / g;
  }
  const double until = time + draw.in(0.2, 0.8) * 2.0 * v / g;
  const double s = until - time;
  const std::string text =
      fill(kBall, {{"m", 1.0},
                   {"w", g},
                   {"floor", 0.0},
                   {"e", fill("\"if(approach > $c, $e, 1)\"", {{"c", threshold}, {"e", e}})},
                   {"z", z},
                   {"v", 0.0}});
  return {
      text + run("event-driven", until, 1 + draw.below(20), "zeno = \"contact\""),
      {},
      {{"z", v * s - 0.5 * g * s * s, 1e-4 * z}, {"energy.total_end", 0.5 * v * v, 1e-4 * g * z}}};
}

/// Far from the origin, so slow that a step moves less than the last digit of a coordinate.
Scene far_away(Draw& draw, int number) {
  const double place = draw.log(1e5, 1e9);
  const double ulp = std::nextafter(place, 2 * place) - place;
  const int steps = 100000;
  const double u = draw.in(0.05, 0.9) * ulp * (draw.coin() ? 1 : -1);  // a step
  const double h = draw.log(1e-6, 1e-3);
  const std::string scheme = draw.pick({"moreau", "elast", "moreau-jean", "mabrouk"});
  const bool wall = number % 3 == 2;
  const double at = 0.4 * steps * std::abs(u);
  std::string text = fill(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\n[start]\nposition = { x = $x }\nvelocity = { x "
      "= $v }\n",
      {{"x", place}, {"v", wall ? std::abs(u) / h : u / h}});
  if (wall)
    text += fill("[contact.wall]\nkeep = \"x - $x <= $at\"\nrestitution = 1\n",
                 {{"x", place}, {"at", at}});
  const double moved = wall ? 2.0 * at - steps * std::abs(u) : steps * u;
  return {text + run(scheme, h * steps, steps),
          {},
          {{"x", place + moved, 2e-3 * steps * std::abs(u) + 4.0 * ulp}},
          false};
}

/// Two bodies that know nothing of each other, one of them a planet.
Scene light_and_heavy(Draw& draw, int number) {
  const double heavy = draw.log(1e6, 1e14);
  Ball ball(draw);
  const double g = draw.in(5, 20);
  const double until = clear_time(draw, ball.z, ball.v, ball.g, ball.e, draw.below(4));
  const std::string scheme = draw.pick({"moreau", "moreau-jean", "mabrouk"});
  const int steps = int(draw.log(1000, 5000));
  const Fall end = fall(ball.z, ball.v, ball.g, ball.e, until);
  const bool last = number % 2 == 0;
  const std::string text = fill(R"toml([system]
coordinates = ["$a", "$b"]
mass = { x = $heavy, z = $m }
potential = "$heavy*$g*x + $w*z"
[contact.first]
keep = "x >= 0"
restitution = 0
[contact.second]
keep = "z >= 0"
restitution = $e
[start]
position = { x = 0, z = $z }
velocity = { z = $v }
)toml",
                                {{"a", last ? "x" : "z"},
                                 {"b", last ? "z" : "x"},
                                 {"g", g},
                                 {"heavy", heavy * ball.m},
                                 {"m", ball.m},
                                 {"w", ball.m * ball.g},
                                 {"e", ball.e},
                                 {"z", ball.z},
                                 {"v", ball.v}});
  return {text + run(scheme, until, steps),
          {},
          {{"z", end.z, slack(scheme, until / steps, ball.speed(), ball.z, end.impacts)},
           {"x", 0.0, 1e-6 * g * until * until}}};
}

/// A table that ends: bounces on it, then falls past it.
Scene table_with_an_edge(Draw& draw, int) {
  const double g = draw.in(5, 20), e = draw.in(0.5, 0.95), z = draw.in(0.5, 2), v = draw.in(0.5, 2);
  const std::string scheme = draw.pick({"moreau", "moreau-jean", "event-driven", "mabrouk"});
  // The edge is passed in the middle of an arc; the ball then falls to a floor far below.
  const int impacts = 1 + draw.below(3);
  const double edge = clear_time(draw, z, 0.0, g, e, impacts);
  const Fall there = fall(z, 0.0, g, e, edge);
  const double after = draw.in(0.5, 1.5);
  const double until = edge + after;
  const int steps = int(draw.log(2000, 10000));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "z"]
mass = [1, 1]
potential = "$g*z"
[contact.table]
keep = "z >= 0"
where = "x < $edge"
restitution = $e
[start]
position = { x = 0, z = $z }
velocity = { x = $v }
)toml",
                                {{"g", g}, {"e", e}, {"z", z}, {"v", v}, {"edge", v * edge}});
  return {text + run(scheme, until, scheme == "event-driven" ? 1 + draw.below(100) : steps),
          {},
          {{"z", there.z + there.v * after - 0.5 * g * after * after,
            slack(scheme, until / steps, std::sqrt(2 * g * z) + g * after, z, impacts)}}};
}

/// Balls on a line.
struct Line {
  std::vector<double> m, x, v, e;
  std::size_t size() const { return m.size(); }
  double fastest() const {
    double most = 0.0;
    for (const double w : v) most = std::max(most, std::abs(w));
    return most;
  }
  /// Moves to the next impact, or by `left`; what is left then.
  double next(double left) {
    double when = left;
    std::size_t who = size();
    for (std::size_t i = 0; i + 1 < size(); ++i) {
      const double close = v[i] - v[i + 1];
      if (close <= 1e-12 || (x[i + 1] - x[i]) / close >= when) continue;
      when = std::max(0.0, (x[i + 1] - x[i]) / close);
      who = i;
    }
    for (std::size_t i = 0; i < size(); ++i) x[i] += when * v[i];
    if (who == size()) return 0.0;
    const double p = (1 + e[who]) * (v[who] - v[who + 1]) / (1 / m[who] + 1 / m[who + 1]);
    v[who] -= p / m[who];
    v[who + 1] += p / m[who + 1];
    return left - when;
  }
  std::string text() const {
    std::string masses, contacts, places, speeds;
    for (std::size_t i = 0; i < size(); ++i) {
      const std::string comma = i > 0 ? ", " : "";
      masses += comma + fill("\"x[$i]\" = $m", {{"i", double(i + 1)}, {"m", m[i]}});
      places += comma + Value(x[i]).text;
      speeds += comma + Value(v[i]).text;
      if (i + 1 < size())
        contacts += fill("[contact.c$i]\nkeep = \"x[$j] - x[$i] >= 0\"\nrestitution = $e\n",
                         {{"i", double(i + 1)}, {"j", double(i + 2)}, {"e", e[i]}});
    }
    return fill(
        "[system]\ncoordinates = [\"x[1..N]\"]\nparameters = { N = $n }\nmass = { $m }\n$c"
        "[start]\nposition = { x = [$x] }\nvelocity = { x = [$v] }\n",
        {{"n", double(size())}, {"m", masses}, {"c", contacts}, {"x", places}, {"v", speeds}});
  }
};

/// They meet one after the other: an exact list of events.
Scene on_a_line(Draw& draw, int) {
  const int n = 2 + draw.below(3);
  Line line;
  for (int i = 0; i < n; ++i) {
    line.m.push_back(draw.log(0.2, 5));
    line.x.push_back(2.0 * i + draw.in(0.1, 0.9));
    line.v.push_back(draw.in(-1, 1) + (n - 1 - 2.0 * i) * 0.7);
    line.e.push_back(draw.in(0.3, 1));
  }
  const double until = draw.in(2, 5);
  const int steps = 20000;
  const std::string scheme = draw.pick({"moreau", "event-driven", "mabrouk", "moreau-jean"});
  Scene scene{
      line.text() + run(scheme, until, scheme == "event-driven" ? 1 + draw.below(20) : steps),
      {},
      {}};
  double fastest = line.fastest();
  int impacts = -1;
  for (double left = until; left > 0 && impacts < 60; ++impacts) {
    left = line.next(left);
    fastest = std::max(fastest, line.fastest());
  }
  for (std::size_t i = 0; i < line.size(); ++i)
    scene.checks.push_back({"x[" + std::to_string(i + 1) + "]", line.x[i],
                            4 * slack(scheme, until / steps, fastest, 10, impacts)});
  scene.honest = impacts < 12;
  return scene;
}

}  // namespace

const std::vector<Family>& bounces() {
  static const std::vector<Family> kAll = {
      {"ball that bounces", "closed form", 18, bouncing},
      {"ball that comes to rest", "closed form", 10, to_rest},
      {"past of a bounce, 0 < e < 1", "closed form", 8, past},
      {"impacts at row times", "closed form", 12, at_rows},
      {"bounces for ever: e of the speed", "exact list of impacts", 8, for_ever},
      {"far from the origin", "closed form", 9, far_away},
      {"light body beside a heavy one", "closed form", 8, light_and_heavy},
      {"table with an edge", "closed form", 6, table_with_an_edge},
      {"balls on a line", "exact list of impacts", 8, on_a_line},
  };
  return kAll;
}

}  // namespace ricochet::truth
