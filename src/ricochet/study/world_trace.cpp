#include "ricochet/study/world_trace.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/random.h"
#include "ricochet/scene/world_reader.h"
#include "ricochet/study/closer_run.h"
#include "ricochet/study/touching.h"
#include "ricochet/study/watch_values.h"

namespace ricochet::study {
namespace {

/// Whether turning changes nothing of a body: discs and spheres about the mass centre.
template <int D>
bool is_round(const body::World<D>& world, const body::Body<D>& body) {
  for (int k = 0; k < body.shapes; ++k) {
    const shape::Shape<D>& shape = world.solid(body.first_shape + k).shape;
    if (shape.kind != shape::Kind::Core || shape.corners.size() != 1) return false;
    constexpr double kOff = 1e-9;
    if ((shape.corners[0] - body.centre).norm() > kOff * body.size) return false;
  }
  return true;
}

/// Two points that lie on the axis about which a shape is symmetric; false where there is none.
bool axis_points(const shape::Shape<3>& shape, const body::Vec<3>& centre, body::Vec<3>& a,
                 body::Vec<3>& b) {
  const bool is_cylinder = shape.kind == shape::Kind::Cylinder;
  if (is_cylinder) {
    a = shape.centre;
    b = shape.centre + body::Vec<3>::UnitZ();
    return true;
  }
  if (shape.kind != shape::Kind::Core || shape.corners.empty() || shape.corners.size() > 2) {
    return false;
  }
  a = shape.corners[0];
  b = shape.corners.size() == 2 ? shape.corners[1] : centre;
  return true;
}

/// The axis through the mass centre about which shapes and moments of inertia are symmetric; 0
/// where there is none.
body::Vec<3> axis_of(const body::World<3>& world, const body::Body<3>& body) {
  constexpr double kOff = 1e-9;
  body::Vec<3> axis = body::Vec<3>::Zero();
  for (int k = 0; k < body.shapes; ++k) {
    body::Vec<3> a;
    body::Vec<3> b;
    if (!axis_points(world.solid(body.first_shape + k).shape, body.centre, a, b)) {
      return body::Vec<3>::Zero();
    }
    if (axis.isZero() && (b - a).norm() > kOff * body.size) axis = (b - a).normalized();
    for (const body::Vec<3>& point : {a, b}) {
      if ((point - body.centre).cross(axis).norm() > kOff * body.size) return axis * 0.0;
    }
  }
  if (axis.isZero()) return axis;
  const body::Vec<3> one = axis.unitOrthogonal();
  const body::Vec<3> other = axis.cross(one);
  const double scale = body.inertia.norm();
  const body::Vec<3> spun = body.inertia * one - one.dot(body.inertia * one) * one;
  const double differ = one.dot(body.inertia * one) - other.dot(body.inertia * other);
  return spun.norm() + std::abs(differ) > kOff * scale ? body::Vec<3>::Zero() : axis;
}
body::Vec<3> axis_of(const body::World<2>&, const body::Body<2>&) { return body::Vec<3>::Zero(); }

template <int D>
WorldLayout layout_in(const scene::WorldPart& part, const body::World<D>& world) {
  WorldLayout layout;
  layout.dimension = D;
  layout.places = body::Figures<D>::kPlaces;
  double size = std::numeric_limits<double>::infinity();
  double weight = 0.0;  // [N] and [kg]
  for (int i = 0; i < world.count(); ++i) {
    const body::Body<D>& body = world.body(i);
    layout.names.push_back(body.name);
    if (!body.moves()) continue;
    layout.bodies.push_back({i, body.is_free(), !is_round(world, body), axis_of(world, body),
                             body.size, std::max(body.reach, body.size)});
    if (body.is_free() && body.size > 0.0) size = std::min(size, body.size);
    if (body.is_free()) weight += body.mass;
  }
  if (!std::isfinite(size)) size = 0.0;
  constexpr double kNoFigure = 1e-3;
  for (const scene::Watch& watch : part.watches) {
    using Kind = scene::Watch::Kind;
    const std::size_t first = layout.watches.size();
    const auto names = scene::names_of(watch);
    for (std::size_t k = 0; k < names.size(); ++k) {
      TracedWatch& traced = layout.watches.emplace_back();
      traced.name = names[k];
      traced.first = first;
      traced.count = watch.kind == Kind::Joint ? (k < D ? D : 1) : names.size();
      if (watch.kind == Kind::Joint && k >= D) traced.first = first + k;
      traced.is_mean = watch.kind == Kind::ForceOn || (watch.kind == Kind::Joint && k < D);
      traced.is_count = watch.kind == Kind::Touching;
      const bool is_place = watch.kind == Kind::Displacement || watch.kind == Kind::Height ||
                            watch.kind == Kind::Centre;
      traced.floor = is_place ? kNoFigure * size : 1e-9 * weight;
    }
  }
  return layout;
}

/// Copies of what a step's end shows, between two of which marks may lie.
template <int D>
class WorldTracer {
 public:
  using Sample = step::BodySample<D>;
  WorldTracer(const scene::Scene& scene, const WorldLayout& layout, const WorldMarks& marks,
              WorldPath& path)
      : part_(*scene.world()),
        world_(world_of(part_)),
        layout_(layout),
        window_(marks.window),
        path_(path),
        watches_(part_, world_),
        pairs_(world_, scene.run.step),
        loads_(part_, world_, scene.run.step),
        now_(layout.width()),
        before_(layout.width()) {
    path_.start = scene.run.start_time;
    path_.step = scene.run.step;
    path_.length = static_cast<double>(scene.run.steps) * scene.run.step;
    path_.marks = marks.count;
    path_.values.resize((marks.count + 1) * layout.width());
    path_.events.resize(layout.bodies.size());
    path_.late.resize(layout.bodies.size());
    moves_.resize(layout.bodies.size());
    const double slots = kHistory - 2;
    const double shown = window_ > 0.0 ? window_ : path_.length;
    every_ = std::max(1LL, static_cast<long long>(std::ceil(shown / path_.step / slots)));
  }

  /// Keeps the hardest shocks, for path.look_closer.
  void keep_shocks(const step::RunSettings& run) {
    closer_ = std::make_shared<CloserLook<D>>(world_, run);
    path_.merges = [closer = closer_] { return closer->any(); };
    path_.look_closer = [closer = closer_](step::Monitor* monitor) {
      return closer->find(monitor);
    };
  }

  void add(const Sample& s, bool is_last, bool stops) {
    watches_.add_forces(s);
    path_.touched = path_.touched || !s.claim.pushes.empty();
    const auto is_free = [&](int shape) { return world_.body(world_.solid(shape).body).is_free(); };
    path_.collided =
        path_.collided ||
        std::any_of(s.claim.pushes.begin(), s.claim.pushes.end(), [&](const body::Push<D>& push) {
          return is_free(push.key.a) && is_free(push.key.b);
        });
    follow(s);
    const bool may_be_told = part_.stop.exists() || window_ <= 0.0 ||
                             s.state.t > path_.start + path_.length - window_ - path_.step;
    if (closer_ != nullptr && may_be_told) loads_.add(s);
    if (s.state.steps % every_ == 0) remember(s.state.t);
    const double t = s.state.t;
    const double slack = 1e-9 * path_.step;
    const auto is_due = [&](double by) {
      return path_.reached <= path_.marks && path_.time(path_.reached) <= by + slack;
    };
    if (is_due(t) || is_due(t + path_.step) || is_last) {
      fill(s);
      while (is_due(t)) store(t);
      std::swap(before_, now_);
      before_t_ = t;
    }
    if (is_last) finish(s, stops);
  }

  /// The condition of the scene, where it has one.
  typename WatchValues<D>::Stop has_to_stop(const Sample& s) {
    const std::vector<double> total = watches_.given();
    open_window(s.state.t);
    watches_.set(s);
    const auto found = watches_.has_to_stop(s.state);
    close_window(total);
    return found;
  }

 private:
  static const body::World<D>& world_of(const scene::WorldPart& part) {
    if constexpr (D == 2) return *part.plane;
    if constexpr (D == 3) return *part.space;
  }

  void fill(const Sample& s) {
    const std::size_t positions = layout_.positions();
    for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
      const body::Motion<D>& m = s.state.bodies[base::index(layout_.bodies[b].body)];
      const auto places = body::places_of(m);
      const auto rates = body::rates_of(m);
      std::copy(places.begin(), places.end(), now_.begin() + static_cast<long>(b * places.size()));
      std::copy(rates.begin(), rates.end(),
                now_.begin() + static_cast<long>(positions + b * places.size()));
    }
    const std::vector<double> total = watches_.given();
    open_window(s.state.t);
    watches_.set(s);
    close_window(total);
    for (std::size_t w = 0; w < layout_.watches.size(); ++w) {
      now_[2 * positions + w] = layout_.watches[w].is_mean ? total[w] : watches_.values()[w];
    }
  }

  /// Forces become means over the last window, until `close_window` gives back their sums.
  void open_window(double t) {
    const double from = window_ > 0.0 ? std::max(path_.start, t - window_) : path_.start;
    std::vector<double> since = watches_.given();
    if (!since.empty() && from > path_.start) subtract_until(from, since);
    watches_.begin_window(from);
    watches_.given() = since;
  }
  void close_window(const std::vector<double>& total) { watches_.given() = total; }

  void remember(double t) {
    if (watches_.given().empty() || window_ <= 0.0) return;
    History& slot = history_[base::index(static_cast<int>(kept_ % kHistory))];
    slot.t = t;
    slot.given = watches_.given();
    ++kept_;
  }
  /// Takes away what was given up to an instant.
  void subtract_until(double t, std::vector<double>& since) const {
    const History* after = nullptr;
    const double slack = 1e-6 * path_.step;
    for (long long k = kept_ - 1; k >= std::max(0LL, kept_ - kHistory); --k) {
      const History& slot = history_[base::index(static_cast<int>(k % kHistory))];
      if (slot.t <= t + slack) {
        const double part =
            after == nullptr ? 0.0 : std::clamp((t - slot.t) / (after->t - slot.t), 0.0, 1.0);
        for (std::size_t i = 0; i < since.size(); ++i) {
          since[i] -= slot.given[i];
          if (part > 0.0) since[i] -= part * (after->given[i] - slot.given[i]);
        }
        return;
      }
      after = &slot;
    }
  }

  /// Velocities linear between two steps, positions their integral.
  void store(double t) {
    double* const values = path_.values.data() + path_.reached * layout_.width();
    const double mark = path_.time(path_.reached);
    ++path_.reached;
    const double h = t - before_t_;
    const double s = path_.reached == 1 || h <= 0.0 ? 1.0 : (mark - before_t_) / h;
    if (s > 1.0 - 1e-9) {
      std::copy(now_.begin(), now_.end(), values);
      return;
    }
    const std::size_t positions = layout_.positions();
    for (std::size_t i = 0; i < now_.size(); ++i) {
      values[i] = before_[i] + s * (now_[i] - before_[i]);
      if (i >= positions) continue;
      values[i] -= 0.5 * h * s * (1.0 - s) * (now_[positions + i] - before_[positions + i]);
    }
  }

  void finish(const Sample& s, bool stops) {
    path_.end.assign(before_.begin(), before_.end());
    for (std::size_t w = 0; w < layout_.watches.size(); ++w) {
      path_.end[2 * layout_.positions() + w] = watches_.values()[w];
    }
    path_.end_time = s.state.t;
    path_.stopped = stops;
    const std::vector<LateContact> late = late_contacts(world_, s, path_.step);
    for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
      path_.late[b] = late[base::index(layout_.bodies[b].body)];
    }
    look_at_touching(s);
  }

  /// What the slack of contacts makes of places and watches, and which forces are one of many.
  void look_at_touching(const Sample& s) {
    const std::vector<body::Motion<D>> shifts = shifts_to_touch(world_, s.state);
    body::WorldState<D> there = s.state;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      if (world_.bodies[i].is_free()) there.bodies[i].shift(shifts[i].v, shifts[i].spin);
    }
    for (const TracedBody& traced : layout_.bodies) {
      const body::Motion<D>& by = shifts[base::index(traced.body)];
      TouchOff& off = path_.off.emplace_back();
      for (std::size_t k = 0; k < D; ++k) off.way[k] = std::abs(by.v[static_cast<long>(k)]);
      off.turn = body::size_of(by.spin);
    }
    watches_.set(s);
    const std::vector<double> here = watches_.values();
    watches_.set({there, s.rows, s.asleep, s.claim, s.kinetic, s.potential});
    for (std::size_t w = 0; w < here.size(); ++w) {
      const double off = std::abs(watches_.values()[w] - here[w]);
      path_.watch_off.push_back(std::isfinite(off) ? off : 0.0);
    }
    if (closer_ == nullptr) return;  // companions are not asked
    const double from = window_ > 0.0 ? s.state.t - window_ : path_.start;
    const auto end = path_.end.begin() + static_cast<std::ptrdiff_t>(2 * layout_.positions());
    path_.left_open = loads_.left_open(from + 1e-6 * path_.step, s.state,
                                       std::vector<double>(end, path_.end.end()));
  }

  static constexpr std::size_t kRates = D == 2 ? 3 : 6;
  struct Followed {  // velocity and spin of a body
    std::array<double, kRates> v{};
    std::array<double, kRates> gained{};  // in the last step
    double kick{0.0};                     // the same, spin times reach
    double smooth{0.0};                   // the largest so far outside shocks
    double usual{0.0};                    // what the last one is held against
    bool shocked{false};
  };

  /// Looks for changes of acceleration.
  void follow(const Sample& s) {
    const double gh = world_.gravity(s.state.t).norm() * path_.step;
    double kick = 0.0;
    double usual = 0.0;
    const std::vector<char> thrown =
        closer_ != nullptr ? pairs_.thrown(s) : std::vector<char>(world_.bodies.size(), 0);
    find_bends(s);
    for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
      const TracedBody& traced = layout_.bodies[b];
      if (!traced.is_free) continue;
      const body::Motion<D>& m = s.state.bodies[base::index(traced.body)];
      std::array<double, kRates> v{};
      for (std::size_t k = 0; k < D; ++k) v[k] = m.v[static_cast<long>(k)];
      if constexpr (D == 2) v[2] = m.spin;
      if constexpr (D == 3) {
        for (std::size_t k = 0; k < 3; ++k) v[3 + k] = m.spin[static_cast<long>(k)];
      }
      if (s.state.steps > 0) compare(b, v, gh, s.state.t, s.state.steps > 1);
      moves_[b].v = v;
      // Before the first step nobody knows what is smooth: there contacts tell a shock.
      const bool begins = s.state.steps == 1 && moves_[b].kick > kShock * gh && pairs_.any(s);
      const bool is_thrown = thrown[base::index(traced.body)] != 0 && s.state.steps > 0;
      if ((moves_[b].shocked || begins || is_thrown) && moves_[b].kick > kick) {
        kick = moves_[b].kick;
        usual = moves_[b].usual;
      }
    }
    if (closer_ != nullptr) closer_->add(s, kick, usual);
  }

  /// By how much directions of shocks turn that are a step late, where round bodies push each
  /// other.
  void find_bends(const Sample& s) {
    bends_.assign(world_.bodies.size(), 0.0);
    s.each_push([&](const body::Row<D>& row, const body::Push<D>& push) {
      const shape::Shape<D>& a = world_.solid(push.key.a).shape;
      const shape::Shape<D>& b = world_.solid(push.key.b).shape;
      const auto is_ball = [](const shape::Shape<D>& one) {
        return one.kind == shape::Kind::Core && one.corners.size() == 1;
      };
      if (!is_ball(a) || !is_ball(b)) return;
      double speeds = 0.0;
      const std::array<std::size_t, 2> both = {base::index(world_.solid(push.key.a).body),
                                               base::index(world_.solid(push.key.b).body)};
      for (const std::size_t i : both) {
        const body::Vec<D>& v = s.state.bodies[i].v;
        speeds += (v - row.normal.dot(v) * row.normal).norm();
      }
      for (const std::size_t i : both) {
        bends_[i] = std::max(bends_[i], path_.step * speeds / (a.extent + b.extent));
      }
    });
  }

  double length_of(const std::array<double, kRates>& v, double reach) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < kRates; ++k) {
      const double one = k < D ? v[k] : reach * v[k];
      sum += one * one;
    }
    return std::sqrt(sum);
  }

  void compare(std::size_t b, const std::array<double, kRates>& v, double gh, double t,
               bool has_before) {
    constexpr double kKink = 0.05;   // of what a step gains
    constexpr double kFaint = 0.02;  // of the most that it gained
    constexpr double kRounding = 1e-9;
    Followed& body = moves_[b];
    const double reach = layout_.bodies[b].reach;
    std::array<double, kRates> gained{};
    std::array<double, kRates> change{};
    for (std::size_t k = 0; k < kRates; ++k) {
      gained[k] = v[k] - body.v[k];
      change[k] = gained[k] - body.gained[k];
    }
    const double kick = length_of(gained, reach);
    const double speed = std::max(length_of(v, reach), length_of(body.v, reach));
    const double tiny = kRounding * speed;
    // After a shock what was smooth before it is what a step is held against.
    const double usual = std::max(gh, body.shocked ? 0.0 : body.kick);
    body.usual = usual;
    const bool is_shock = kick > kShock * usual + tiny && has_before;
    const double moved = length_of(change, reach);
    const bool is_kink = has_before && !is_shock && !body.shocked &&
                         moved > kKink * std::max(kick, body.kick) &&
                         moved > kFaint * body.smooth + tiny;
    if (is_shock || is_kink) add_event(b, t, is_shock, is_shock ? gained : change);
    if (!is_shock) body.smooth = std::max(body.smooth, kick);
    body.kick = kick;
    body.gained = gained;
    body.shocked = is_shock;
  }

  void add_event(std::size_t b, double t, bool is_shock, const std::array<double, kRates>& jump) {
    BodyEvents& events = path_.events[b];
    std::rotate(events.last.rbegin(), events.last.rbegin() + 1, events.last.rend());
    BodyEvents::Event& event = events.last[0];
    event.t = t;
    event.is_shock = is_shock;
    event.bend = is_shock ? bends_[base::index(layout_.bodies[b].body)] : 0.0;
    event.jump.fill(0.0);
    std::copy(jump.begin(), jump.end(), event.jump.begin());
    ++events.count;
  }

  static constexpr double kShock = 4.0;  // times what is smooth
  static constexpr long long kHistory = 64;
  struct History {
    double t{0.0};
    std::vector<double> given;
  };
  const scene::WorldPart& part_;
  const body::World<D>& world_;
  const WorldLayout& layout_;
  double window_;
  WorldPath& path_;
  WatchValues<D> watches_;
  ShockPairs<D> pairs_;
  SharedLoads<D> loads_;
  std::vector<double> now_;
  std::vector<double> before_;  // at the last step that was filled in
  double before_t_{0.0};
  std::vector<Followed> moves_;
  std::vector<double> bends_;  // by body of the world: see find_bends
  std::shared_ptr<CloserLook<D>> closer_;
  std::array<History, kHistory> history_;
  long long kept_{0};
  long long every_{1};
};

/// Off by some roundings in all directions.
template <int D>
void disturb(const body::World<D>& world, int which, body::WorldState<D>& state) {
  constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();
  base::Random random(static_cast<std::uint64_t>(1 + which));
  for (int i = 0; i < world.count(); ++i) {
    const body::Body<D>& body = world.body(i);
    if (!body.is_free()) continue;
    body::Motion<D>& m = state.bodies[base::index(i)];
    const auto off = [&] { return kRounding * (2.0 * random.uniform() - 1.0); };
    body::Vec<D> by;
    for (int k = 0; k < D; ++k) by[k] = off() * (body.size + m.x.norm());
    if constexpr (D == 2) m.shift(by, off());
    if constexpr (D == 3) m.shift(by, {off(), off(), off()});
  }
}

template <int D>
WorldPath run_one_beside(const body::World<D>& world, const scene::Scene& scene,
                         const WorldLayout& layout, const WorldMarks& marks, long long most_steps,
                         int which, step::Monitor* monitor) {
  WorldPath path;
  WorldTracer<D> tracer(scene, layout, marks, path);
  body::WorldState<D> state = step::start_of(world, scene.run.start_time);
  disturb(world, which, state);
  const scene::WorldPart& part = *scene.world();
  step::RunSettings run = scene.run;
  run.steps = std::min(run.steps, most_steps);
  step::Monitor own;
  const auto look = [&](const step::BodySample<D>& s) {
    if (monitor != nullptr && monitor->stop.load(std::memory_order_relaxed)) own.stop.store(true);
    using Stop = typename WatchValues<D>::Stop;
    const bool stops = part.stop.exists() && tracer.has_to_stop(s) != Stop::GoesOn;
    tracer.add(s, stops || s.state.steps == run.steps, stops);
    return !stops;
  };
  certify::BodyStatistics told;
  path.outcome = step::run_bodies<D>(world, run, state, look, &own, told);
  return path;
}

template <int D>
WorldPath run_one_closer(const body::World<D>& world, const scene::Scene& scene,
                         const WorldLayout& layout, const WorldMarks& marks, long long most_steps,
                         step::Monitor* monitor) {
  WorldPath path;
  WorldTracer<D> tracer(scene, layout, marks, path);
  body::WorldState<D> state = step::start_of(world, scene.run.start_time);
  const scene::WorldPart& part = *scene.world();
  step::RunSettings run = scene.run;
  run.steps = std::min(run.steps, most_steps);
  const double end = run.start_time + static_cast<double>(run.steps) * run.step;
  step::Monitor own;
  const auto look = [&](const step::BodySample<D>& s) {
    if (monitor != nullptr && monitor->stop.load(std::memory_order_relaxed)) own.stop.store(true);
    using Stop = typename WatchValues<D>::Stop;
    const bool stops = part.stop.exists() && tracer.has_to_stop(s) != Stop::GoesOn;
    tracer.add(s, stops || s.state.t >= end - 1e-9 * run.step, stops);
    return !stops;
  };
  path.outcome = CloserRun<D>(world, run).go(state, look, &own);
  return path;
}

}  // namespace

WorldLayout layout_of(const scene::WorldPart& part) {
  return part.visit([&](const auto& world) { return layout_in(part, world); });
}

WorldMarks marks_of(const scene::Scene& scene, const WorldLayout& layout) {
  constexpr double kMostKept = 2.5e5;  // numbers of a path
  const auto width = static_cast<double>(std::max<std::size_t>(1, layout.width()));
  const double count = std::clamp(kMostKept / width, 16.0, 512.0);
  WorldMarks marks;
  marks.count = static_cast<std::size_t>(std::min(count, static_cast<double>(scene.run.steps)));
  const long long every = scene.run.record_every;
  if (every <= 0) return marks;
  // The last row may come sooner after the one before it.
  const long long left = scene.run.steps % every;
  marks.window = static_cast<double>(left > 0 ? left : every) * scene.run.step;
  return marks;
}

WorldLook trace_world(const scene::Scene& scene, const WorldLayout& layout, const WorldMarks& marks,
                      WorldPath& path) {
  WorldLook look;
  const auto look_of = [&](auto tracer) {
    tracer->keep_shocks(scene.run);
    return [tracer](const auto& sample, bool is_last, bool stops) {
      tracer->add(sample, is_last, stops);
    };
  };
  if (layout.dimension == 2) {
    look.plane = look_of(std::make_shared<WorldTracer<2>>(scene, layout, marks, path));
  } else {
    look.space = look_of(std::make_shared<WorldTracer<3>>(scene, layout, marks, path));
  }
  return look;
}

WorldPath run_beside(const scene::Scene& scene, const WorldLayout& layout, const WorldMarks& marks,
                     long long most_steps, int which, step::Monitor* monitor) {
  return scene.world()->visit([&](const auto& world) {
    return run_one_beside(world, scene, layout, marks, most_steps, which, monitor);
  });
}

WorldPath run_closer(const scene::Scene& scene, const WorldLayout& layout, const WorldMarks& marks,
                     long long most_steps, step::Monitor* monitor) {
  return scene.world()->visit([&](const auto& world) {
    return run_one_closer(world, scene, layout, marks, most_steps, monitor);
  });
}

}  // namespace ricochet::study
