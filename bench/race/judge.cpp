// One measure for all engines of the race, from places, velocities and impulses alone: how deep
// bodies overlap, how far impulses and velocities of spheres are from Coulomb's law, how far bodies
// move that should rest, and what a step takes.

#include <fmt/format.h>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frames.h"
#include "overlap.h"
#include "picture.h"
#include "scene.h"

namespace {

using race::Vec;
using race::vec;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Nearest point of { |r_T| <= mu r_N }, n a unit vector.
Vec nearest_in_cone(double mu, const Vec& n, const Vec& z) {
  const double normal = n.dot(z);
  const Vec tangential = z - normal * n;
  const double slip = tangential.norm();
  if (normal >= 0.0 && slip <= mu * normal) return z;
  if (mu * slip <= -normal) return Vec::Zero();
  const double part = (normal + mu * slip) / (1.0 + mu * mu);
  return part * (n + mu / slip * tangential);
}

/// What is measured in one phase.
struct Found {
  double seconds{0.0};
  int steps{0};
  std::vector<double> creep;  // of all pairs of spheres that push or touch, all frames [m/s]
  double overlap{0.0};        // the deepest, of the smaller body's size
  double momentum{0.0};       // the most that a body has and nobody gave, of m g h
  double carried{0.0};        // by the walls: sum over frames, of the weight
  double height{0.0};         // mean of the mass centres in the last frame [m]
  double moved{0.0};  // the farthest from the scene's start, in the last frame, of its reach
  double drift{0.0};  // the fastest from the first frame to the last [m/s]
  long long contacts{0};
  int frames{0};
  race::Frame first;
};

class Judge {
 public:
  explicit Judge(const race::Scene& scene) : scene_(scene) {
    for (const race::Body& body : scene.bodies) reach_.push_back(body.reach());
  }

  void look(const race::Frame& frame, Found& found) {
    frame_ = &frame;
    if (found.frames++ == 0) found.first = frame;
    find_pairs();
    if (scene_.has_spheres()) {
      measure_spheres(found);
    } else {
      for (const auto& [a, b] : pairs_) {
        const double depth = race::overlap(scene_, frame, a, b);
        found.overlap = std::max(found.overlap, depth / smaller(a, b));
      }
      std::set<std::pair<int, int>> touching;
      for (const race::Contact& contact : frame.contacts) {
        if (vec(contact.impulse) != Vec::Zero()) touching.insert(std::minmax(contact.a, contact.b));
      }
      found.contacts += static_cast<long long>(touching.size());
    }
    balance(found);
    compare(found);
  }

 private:
  double smaller(int a, int b) const {
    const double one = scene_.bodies[at(a)].size();
    return b < 0 ? one : std::min(one, scene_.bodies[at(b)].size());
  }

  void measure_spheres(Found& found) {
    impulses_.clear();
    for (const race::Contact& contact : frame_->contacts) {
      Vec& sum = impulses_.try_emplace({contact.a, contact.b}, Vec::Zero()).first->second;
      sum += vec(contact.impulse);
    }
    for (const auto& [a, b] : pairs_) measure(a, b, found);
  }

  /// Unit normal from b towards a, and the gap, of spheres.
  double gap(int a, int b, Vec& n) const {
    const Vec x = vec(frame_->places[at(a)]);
    const double r = scene_.bodies[at(a)].r;
    if (b >= 0) {
      const Vec way = x - vec(frame_->places[at(b)]);
      n = way.normalized();
      return way.norm() - r - scene_.bodies[at(b)].r;
    }
    const race::Wall& wall = scene_.walls[at(-1 - b)];
    n = vec(wall.normal);
    return n.dot(x) - wall.offset - r;
  }

  /// All pairs whose balls are within a step's way of each other, by cells; and walls.
  void find_pairs() {
    pairs_.clear();
    const int count = static_cast<int>(scene_.bodies.size());
    double fastest = 0.0;
    for (const auto& v : frame_->after) fastest = std::max(fastest, vec(v).norm());
    const double way = 2.0 * fastest * scene_.step;
    const double size = 2.0 * *std::max_element(reach_.begin(), reach_.end()) + way;
    std::map<std::array<int, 3>, std::vector<int>> cells;
    const auto cell_of = [&](int i) {
      const Vec x = vec(frame_->places[at(i)]) / size;
      return std::array<int, 3>{static_cast<int>(std::floor(x[0])),
                                static_cast<int>(std::floor(x[1])),
                                static_cast<int>(std::floor(x[2]))};
    };
    for (int i = 0; i < count; ++i) cells[cell_of(i)].push_back(i);
    for (int i = 0; i < count; ++i) {
      const Vec x = vec(frame_->places[at(i)]);
      for (int k = 0; k < static_cast<int>(scene_.walls.size()); ++k) {
        const race::Wall& wall = scene_.walls[at(k)];
        const double distance = vec(wall.normal).dot(x) - wall.offset;
        if (distance <= reach_[at(i)] + way) pairs_.emplace_back(i, -1 - k);
      }
      const auto own = cell_of(i);
      for (int code = 0; code < 27; ++code) {
        const auto cell =
            cells.find({own[0] + code % 3 - 1, own[1] + code / 3 % 3 - 1, own[2] + code / 9 - 1});
        if (cell == cells.end()) continue;
        for (const int j : cell->second) {
          const double distance = (x - vec(frame_->places[at(j)])).norm();
          if (j > i && distance <= reach_[at(i)] + reach_[at(j)] + way) pairs_.emplace_back(i, j);
        }
      }
    }
  }

  Vec impulse(int a, int b) const {
    if (const auto one = impulses_.find({a, b}); one != impulses_.end()) return one->second;
    if (const auto one = impulses_.find({b, a}); one != impulses_.end()) return -one->second;
    return Vec::Zero();
  }

  /// delta = |r - P_K(r - rho û)| / rho of a pair, û = U + (max(0, g)/h + mu |U_T|) n.
  void measure(int a, int b, Found& found) const {
    Vec n;
    const double g = gap(a, b, n);
    const race::Body& one = scene_.bodies[at(a)];
    // Both bodies of a pair are pushed at one point, in the middle of their gap.
    const double arm = b >= 0 ? one.r + 0.5 * g : one.r;
    Vec u = vec(frame_->after[at(a)]) - arm * vec(frame_->spins[at(a)]).cross(n);
    double trace = 3.0 / one.mass + 2.0 * arm * arm / one.inertia[0];
    if (b >= 0) {
      const race::Body& other = scene_.bodies[at(b)];
      const double its = other.r + 0.5 * g;
      u -= vec(frame_->after[at(b)]) + its * vec(frame_->spins[at(b)]).cross(n);
      trace += 3.0 / other.mass + 2.0 * its * its / other.inertia[0];
    }
    found.overlap = std::max(found.overlap, -g / smaller(a, b));
    const double rho = 3.0 / trace;
    const double mu = scene_.friction;
    const Vec r = impulse(a, b);
    const Vec slip = u - n.dot(u) * n;
    const Vec lifted = u + (std::max(0.0, g) / scene_.step + mu * slip.norm()) * n;
    const double creep = (r - nearest_in_cone(mu, n, r - rho * lifted)).norm() / rho;
    if (r == Vec::Zero() && creep == 0.0) return;
    found.creep.push_back(creep);
    ++found.contacts;
  }

  /// m (v+ - v) = h m g + sum of impulses, body by body; and what walls carry.
  void balance(Found& found) const {
    std::vector<Vec> given(scene_.bodies.size(), Vec::Zero());
    Vec by_walls = Vec::Zero();
    for (const race::Contact& contact : frame_->contacts) {
      given[at(contact.a)] += vec(contact.impulse);
      if (contact.b >= 0) given[at(contact.b)] -= vec(contact.impulse);
      if (contact.b < 0) by_walls += vec(contact.impulse);
    }
    const Vec gh = scene_.step * vec(scene_.gravity);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const double m = scene_.bodies[i].mass;
      const Vec change = vec(frame_->after[i]) - vec(frame_->before[i]) - gh;
      found.momentum = std::max(found.momentum, (m * change - given[i]).norm() / (m * gh.norm()));
    }
    found.carried -= by_walls.dot(gh.normalized()) / (scene_.weight() * scene_.step);
  }

  /// Places against those of the scene's start and of the phase's first frame.
  void compare(Found& found) const {
    found.height = found.moved = found.drift = 0.0;
    const double time = scene_.step * (frame_->step - found.first.step);
    const auto count = static_cast<double>(scene_.bodies.size());
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) {
      const race::Body& body = scene_.bodies[i];
      const Vec x = vec(frame_->places[i]);
      found.height += x[2] / count;
      found.moved = std::max(found.moved, (x - vec(body.at)).norm() / reach_[i]);
      double way = (x - vec(found.first.places[i])).norm();
      if (!frame_->turns.empty()) {
        const double angle =
            race::turn(frame_->turns[i]).angularDistance(race::turn(found.first.turns[i]));
        way += reach_[i] * angle;
      }
      if (time > 0.0) found.drift = std::max(found.drift, way / time);
    }
  }

  const race::Scene& scene_;
  const race::Frame* frame_{nullptr};
  std::vector<double> reach_;  // by body
  std::map<std::pair<int, int>, Vec> impulses_;
  std::vector<std::pair<int, int>> pairs_;
};

double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0.0;
  const auto k = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + k, values.end());
  return values[static_cast<std::size_t>(k)];
}

std::vector<Found> read(const race::Scene& scene, const std::string& path) {
  std::vector<Found> found(scene.phases.size());
  Judge judge(scene);
  race::Reader reader(path);
  race::Frame frame;
  double seconds = 0.0;
  bool is_frame = false;
  while (reader.next(seconds, frame, is_frame)) {
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (!scene.phases[k].has(frame.step)) continue;
      if (is_frame) judge.look(frame, found[k]);
      if (!is_frame) found[k].seconds += seconds;
      if (!is_frame) ++found[k].steps;
    }
  }
  return found;
}

/// What has a body farther than this from where it was put has fallen [of its reach].
constexpr double kFallen = 0.25;

/// One row of a table, and its mark in the picture.
std::string row_of(const race::Scene& scene, const race::Phase& phase, std::string name,
                   Found& found, race::Mark& mark) {
  const int all = phase.last - phase.first + 1;
  mark.name = name;
  mark.ms = 1e3 * found.seconds / found.steps;
  if (found.steps < all) name += fmt::format(" ({} of {} steps)", found.steps, all);
  const long long contacts = found.contacts / found.frames;
  const double carried = found.carried / found.frames;
  if (scene.has_spheres()) {
    mark.creep = quantile(found.creep, 1.0);
    return fmt::format(
        "| {} | {:.2f} | {} | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {:.4f} | {:.4f} |\n", name,
        mark.ms, contacts, mark.creep, quantile(found.creep, 0.5), found.overlap, found.momentum,
        carried, found.height);
  }
  mark.creep = found.drift;
  const std::string drift = found.frames > 1 ? fmt::format("{:.1e}", found.drift) : "–";
  return fmt::format("| {} | {:.2f} | {} | {} | {:.1e} | {} | {:.1e} | {:.1e} | {:.4f} |\n", name,
                     mark.ms, contacts, drift, found.moved,
                     found.moved < kFallen ? "stands" : "falls", found.overlap, found.momentum,
                     carried);
}

const char* head_of(const race::Scene& scene) {
  return scene.has_spheres()
             ? "| engine | ms a step | pairs | δ max [m/s] | δ median [m/s] | overlap / r | "
               "momentum / mgh | walls carry / weight | mean height [m] |\n"
               "|---|---|---|---|---|---|---|---|---|\n"
             : "| engine | ms a step | pairs | drift [m/s] | moved / reach | at the end | overlap "
               "/ "
               "size | momentum / mgh | walls carry / weight "
               "|\n|---|---|---|---|---|---|---|---|---|\n";
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    fmt::print(stderr, "usage: race-judge PICTURE.svg SCENE:NAME=FILE...\n");
    return 2;
  }
  std::vector<std::string> names;  // of scenes, in their order
  std::map<std::string, std::vector<std::string>> entries;
  for (int k = 2; k < count; ++k) {
    const std::string word = words[k];
    const std::string name = word.substr(0, word.find(':'));
    if (entries[name].empty()) names.push_back(name);
    entries[name].push_back(word.substr(name.size() + 1));
  }
  std::vector<race::Panel> panels;
  for (const std::string& name : names) {
    const race::Scene scene = race::scene_of(name);
    std::vector<std::string> tables(scene.phases.size());
    std::vector<race::Panel> own(scene.phases.size());
    for (const std::string& entry : entries[name]) {
      const std::size_t split = entry.find('=');
      std::vector<Found> found = read(scene, entry.substr(split + 1));
      for (std::size_t k = 0; k < found.size(); ++k) {
        if (found[k].frames == 0) continue;
        race::Mark mark;
        tables[k] += row_of(scene, scene.phases[k], entry.substr(0, split), found[k], mark);
        if (scene.has_spheres() || found[k].frames > 1) own[k].marks.push_back(mark);
      }
    }
    for (std::size_t k = 0; k < own.size(); ++k) {
      own[k].title = fmt::format("{}, {}", scene.title, scene.phases[k].name);
      own[k].unit = scene.has_spheres() ? "δ max [m/s]" : "drift [m/s]";
      fmt::print("### {}\n\n{}{}\n", own[k].title, head_of(scene), tables[k]);
      if (!own[k].marks.empty()) panels.push_back(own[k]);
    }
  }
  std::ofstream(words[1]) << race::picture(panels);
  return 0;
}
