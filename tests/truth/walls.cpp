// Walls and posts in the plane: what is met, what is passed, what is stepped over.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "scenes.h"

namespace ricochet::truth {
namespace {

struct Point {
  double x, y;
};

/// A straight flight reflected once by a post at (d, 0) of radius r, at the height b.
Point past_post(double d, double r, double b, double v, double time) {
  const double inward = std::sqrt(r * r - b * b);
  const double met = (d - inward) / v;
  const double nx = -inward / r, ny = b / r, un = v * nx;
  const double ux = v - 2 * un * nx, uy = -2 * un * ny;
  return {d - inward + (time - met) * ux, b + (time - met) * uy};
}

const std::string kPost = R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
[contact.post]
keep = "hypot(x - $d, y) >= $r"
restitution = 1
[start]
position = { x = 0, y = $b }
velocity = { x = $v }
)toml";

struct Post {
  double l, v, r, b, d, until;
  Point end;
  Post(Draw& draw, double small, double large)
      : l(draw.unit()),
        v(draw.in(0.5, 2) * l),
        r(draw.log(small, large) * l),
        b(draw.coin() ? 0.0 : draw.in(-0.7, 0.7) * r),
        d(draw.in(5, 15) * l),
        until(d / v * draw.in(1.3, 1.9)),
        end(past_post(d, r, b, v, until)) {}
  std::string text() const { return fill(kPost, {{"d", d}, {"r", r}, {"b", b}, {"v", v}}); }
};

Scene post_events(Draw& draw, int) {
  const Post post(draw, 1e-4, 0.5);
  const double tolerance = 1e-5 * post.d * (post.b == 0 ? 1 : post.l / post.r);
  return {post.text() + run("event-driven", post.until, 1 + draw.below(200)),
          {},
          {{"x", post.end.x, tolerance}, {"y", post.end.y, tolerance}}};
}

Scene post_control(Draw& draw, int) {
  const Post post(draw, 0.01, 0.5);
  const double tolerance = draw.log(1e-7, 1e-5) * post.l;
  const std::string settings = fill(
      "[run]\nscheme = \"$s\"\nstep = { max = $max, min = $min, tolerance = $tol }\nuntil = "
      "$until\nrecord = 0\n",
      {{"s", draw.pick({"moreau", "elast"})},
       {"max", draw.log(0.01, 1) * post.l / post.v},
       {"min", 1e-9 * post.until},
       {"tol", tolerance},
       {"until", post.until}});
  const double off = 20 * tolerance * post.d / post.r + 1e-6 * post.l;
  return {post.text() + settings, {}, {{"x", post.end.x, off}, {"y", post.end.y, off}}};
}

/// Steps longer than the post is wide.
Scene post_stepped_over(Draw& draw, int) {
  Post post(draw, 0.005, 0.3);
  post.b = 0;
  post.end = past_post(post.d, post.r, 0, post.v, post.until);
  const int steps = std::max(20, int(post.until * post.v / (post.r * draw.in(0.5, 20))));
  return {
      post.text() + run(draw.pick({"moreau", "elast", "moreau-jean", "mabrouk", "inel", "penalty"}),
                        post.until, steps),
      {},
      {{"x", post.end.x, 4 * post.v * post.until / steps}},
      false};
}

/// A thin bar, as max(): stepped over or met.
Scene thin_bar(Draw& draw, int number) {
  const double l = draw.unit(), v = draw.in(0.5, 2) * l, d = draw.in(3, 8) * l;
  const double thick = draw.log(1e-4, 0.3) * l, until = d / v * draw.in(1.2, 1.8);
  static const std::array<const char*, 3> kSchemes = {"moreau", "event-driven", "elast"};
  const std::string scheme = kSchemes[static_cast<std::size_t>(number) % 3];
  const int steps = int(draw.log(30, 3000));
  const std::string text =
      fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
[contact.bar]
keep = "max(abs(x - $d) - $half, abs(y) - $l) >= 0"
restitution = 1
[start]
position = { x = 0, y = $y }
velocity = { x = $v }
)toml",
           {{"d", d}, {"half", thick / 2}, {"l", l}, {"v", v}, {"y", draw.in(-0.6, 0.6) * l}});
  const double x = 2 * (d - thick / 2) - v * until;
  return {text + run(scheme, until, steps),
          {},
          {{"x", x, slack(scheme, until / steps, v, d, 1)}},
          scheme == "event-driven"};
}

/// Parabolas, reflected by a round post as often as they meet it.
Point thrown(Point at, Point u, double g, Point post, double r, double left) {
  const double dt = left / 20000;
  for (int impacts = 0; impacts < 10; ++impacts) {
    const auto gap = [&](double s) {
      return std::hypot(at.x + u.x * s - post.x, at.y + u.y * s - 0.5 * g * s * s - post.y) - r;
    };
    double s = dt;
    while (s < left && gap(s) > 0) s += dt;
    double low = s - dt;
    const bool met = s < left;
    for (int i = 0; i < 60 && met; ++i) (gap(0.5 * (low + s)) > 0 ? low : s) = 0.5 * (low + s);
    s = met ? low : left;
    at = {at.x + u.x * s, at.y + u.y * s - 0.5 * g * s * s};
    u.y -= g * s;
    left -= s;
    if (!met) return at;
    const double nx = (at.x - post.x) / r, ny = (at.y - post.y) / r, un = u.x * nx + u.y * ny;
    u = {u.x - 2 * un * nx, u.y - 2 * un * ny};
  }
  return {NAN, NAN};  // it hops along the post
}

/// A parabola over a round post, that clears it by little or strikes it.
Scene over_a_post(Draw& draw, int number) {
  const double g = draw.in(5, 20), u = draw.in(1, 3), w = draw.in(1, 3), r = draw.in(0.05, 0.4);
  const double top = w / g, until = 1.9 * top;
  const double high = 0.5 * w * w / g;
  double x = u * top + draw.in(-0.2, 0.2) * u * top, y = high;
  // Where the parabola is nearest to the post, and how near: the post is moved below it.
  const bool clears = number % 2 == 0;
  const double margin = draw.log(1e-5, 1e-2) * r;
  const auto distance = [&](double t, double below) {
    return std::hypot(u * t - x, w * t - 0.5 * g * t * t - (y - below)) - r;
  };
  const auto least = [&](double below) {
    double best = 1e9;
    for (int i = 0; i <= 20000; ++i) best = std::min(best, distance(until * i / 20000.0, below));
    return best;
  };
  double low = 0, up = high + 2 * r;
  const double aim = clears ? margin : -30 * margin;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + up);
    (least(middle) > aim ? up : low) = middle;
  }
  y -= up;
  const Point end = thrown({0, 0}, {u, w}, g, {x, y}, r, until);
  if (std::isnan(end.x)) return over_a_post(draw, number);
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "$g*y"
[contact.post]
keep = "hypot(x - $x, y - ($y)) >= $r"
restitution = 1
[start]
position = { x = 0, y = 0 }
velocity = { x = $u, y = $w }
)toml",
                                {{"g", g}, {"x", x}, {"y", y}, {"r", r}, {"u", u}, {"w", w}});
  return {text + run("event-driven", until, 1 + draw.below(60)),
          {},
          {{"x", end.x, 1e-4}, {"y", end.y, 1e-4}}};
}

double unfolded(double x, double v, double width, double t) {
  double place = std::fmod(x + v * t, 2 * width);
  if (place < 0) place += 2 * width;
  return place > width ? 2 * width - place : place;
}

Scene box(Draw& draw, int) {
  const double l = draw.unit(), a = draw.in(0.5, 2) * l, b = draw.in(0.5, 2) * l;
  const double u = draw.in(-2, 2) * l, v = draw.in(-2, 2) * l, x = draw.in(0.1, 0.9) * a,
               y = draw.in(0.1, 0.9) * b;
  const double until = draw.in(3, 10);
  const std::string scheme =
      draw.pick({"moreau", "elast", "event-driven", "moreau-jean", "mabrouk"});
  const int steps = int(draw.log(5000, 20000));
  const int impacts = 2 + int(until * (std::abs(u) / a + std::abs(v) / b));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
[contact.a]
keep = "0 <= x <= $a"
restitution = 1
[contact.b]
keep = "0 <= y <= $b"
restitution = 1
[start]
position = { x = $x, y = $y }
velocity = { x = $u, y = $v }
)toml",
                                {{"a", a}, {"b", b}, {"x", x}, {"y", y}, {"u", u}, {"v", v}});
  const double off = slack(scheme, until / steps, 2 * l, l, impacts);
  return {text + run(scheme, until, scheme == "event-driven" ? 1 + draw.below(100) : steps),
          {},
          {{"x", unfolded(x, u, a, until), off}, {"y", unfolded(y, v, b, until), off}}};
}

/// A wall that comes at a constant speed, faster than the body.
Scene piston(Draw& draw, int) {
  const double l = draw.unit(), t = draw.unit(), g = draw.in(5, 20) * l / (t * t),
               w = draw.in(-2, 2) * l / t;
  const double z = draw.in(0.3, 2) * l, e = draw.in(0.4, 0.95), v = draw.in(-1, 1) * l / t;
  // In the frame of the piston the ball bounces as on a floor.
  const double until = clear_time(draw, z, v - w, g, e, 1 + draw.below(3));
  const Fall end = fall(z, v - w, g, e, until);
  const std::string scheme = draw.pick({"moreau", "moreau-jean", "event-driven", "mabrouk"});
  const int steps = int(draw.log(2000, 20000));
  const std::string text = fill(R"toml([system]
coordinates = ["z"]
mass = [1]
potential = "$g*z"
[contact.piston]
keep = "z >= $w*t"
restitution = $e
[start]
position = { z = $z }
velocity = { z = $v }
)toml",
                                {{"g", g}, {"w", w}, {"e", e}, {"z", z}, {"v", v}});
  const double speed = std::abs(w) + std::sqrt((v - w) * (v - w) + 2 * g * z);
  return {text + run(scheme, until, scheme == "event-driven" ? 1 + draw.below(50) : steps),
          {},
          {{"z", end.z + w * until, slack(scheme, until / steps, speed, z, end.impacts)}}};
}

/// A wall that leaps into the way for a moment and is gone again.
Scene flash(Draw& draw, int number) {
  const double v = draw.in(0.5, 1.5), at = draw.in(3, 6), width = draw.log(1e-4, 0.05);
  // A bump of height 2 strikes the body, which is at the height 1, when it has grown to that.
  const double until = at + 2;
  static const std::array<const char*, 3> kSchemes = {"event-driven", "moreau", "mabrouk"};
  const std::string scheme = kSchemes[static_cast<std::size_t>(number) % 3];
  const double y = 1;
  const auto wall = [&](double t) { return 2 * std::exp(-std::pow((t - at) / width, 2)); };
  double a = at - 10 * width, b = at;
  for (int i = 0; i < 100; ++i) (wall(0.5 * (a + b)) < y ? a : b) = 0.5 * (a + b);
  const double speed = -2 * (a - at) / (width * width) * wall(a);
  const int steps = scheme == "event-driven" ? 7 : int(draw.log(50, 500));
  const std::string text = fill(R"toml([system]
coordinates = ["x", "y"]
mass = [1, 1]
[contact.wall]
keep = "y >= 2*exp(-((t - $at)/$w)^2)"
restitution = 1
[start]
position = { x = 0, y = $y }
velocity = { x = $v }
)toml",
                                {{"at", at}, {"w", width}, {"y", y}, {"v", v}});
  const double end = y + 2 * speed * (until - a);
  return {text + run(scheme, until, steps),
          {},
          {{"y", end, end * std::min(0.3, 0.01 + 4 * until / steps / width)}},
          false};
}

}  // namespace

const std::vector<Family>& walls() {
  static const std::vector<Family> kAll = {
      {"posts, `event-driven`", "closed form", 12, post_events},
      {"posts, step control", "closed form", 10, post_control},
      {"posts stepped over", "closed form", 12, post_stepped_over},
      {"thin bars", "closed form", 9, thin_bar},
      {"parabola over a post", "root by bisection", 8, over_a_post},
      {"box, elastic", "unfolding", 8, box},
      {"moving piston", "closed form", 8, piston},
      {"wall that leaps into the way", "root by bisection", 6, flash},
  };
  return kAll;
}

}  // namespace ricochet::truth
