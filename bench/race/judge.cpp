// One measure for all engines of the race, from places, velocities and impulses alone: how deep
// spheres overlap, how far impulses and velocities are from Coulomb's law, and what a step takes.

#include <fmt/format.h>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "frames.h"
#include "picture.h"
#include "scene.h"

namespace {

using Vec = Eigen::Vector3d;

Vec vec(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }
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
  std::vector<double> creep;  // of all pairs that push or touch, all frames [m/s]
  double overlap{0.0};        // the deepest, of the smaller radius
  double momentum{0.0};       // the most that a body has and nobody gave, of m g h
  long long contacts{0};
  int frames{0};
};

class Judge {
 public:
  explicit Judge(const race::Scene& scene) : scene_(scene) {}

  void look(const race::Frame& frame, Found& found) {
    frame_ = &frame;
    impulses_.clear();
    for (const race::Contact& contact : frame.contacts) {
      Vec& sum = impulses_.try_emplace({contact.a, contact.b}, Vec::Zero()).first->second;
      sum += vec(contact.impulse);
    }
    find_pairs();
    for (const auto& [a, b] : pairs_) measure(a, b, found);
    balance(found);
    ++found.frames;
  }

 private:
  /// Unit normal from b towards a, and the gap.
  double gap(int a, int b, Vec& n) const {
    const Vec x = vec(frame_->places[at(a)]);
    const double r = scene_.spheres[at(a)].r;
    if (b >= 0) {
      const Vec way = x - vec(frame_->places[at(b)]);
      n = way.normalized();
      return way.norm() - r - scene_.spheres[at(b)].r;
    }
    const double w = scene_.width;
    const std::array<Vec, 5> normals = {Vec(0, 0, 1), Vec(1, 0, 0), Vec(-1, 0, 0), Vec(0, 1, 0),
                                        Vec(0, -1, 0)};
    n = normals[at(-1 - b)];
    const double beyond = b == -3 || b == -5 ? w : 0.0;
    return n.dot(x) + beyond - r;
  }

  /// All pairs within a step's way of each other: by cells, and whoever has an impulse.
  void find_pairs() {
    pairs_.clear();
    double fastest = 0.0;
    double largest = 0.0;
    for (std::size_t i = 0; i < scene_.spheres.size(); ++i) {
      fastest = std::max(fastest, vec(frame_->after[i]).norm());
      largest = std::max(largest, scene_.spheres[i].r);
    }
    const double reach = 2.0 * fastest * scene_.step;
    const double size = 2.0 * largest + reach;
    std::map<std::array<int, 3>, std::vector<int>> cells;
    const auto cell_of = [&](int i) {
      const Vec x = vec(frame_->places[at(i)]) / size;
      return std::array<int, 3>{static_cast<int>(std::floor(x[0])),
                                static_cast<int>(std::floor(x[1])),
                                static_cast<int>(std::floor(x[2]))};
    };
    const int count = static_cast<int>(scene_.spheres.size());
    for (int i = 0; i < count; ++i) cells[cell_of(i)].push_back(i);
    Vec n;
    const auto try_pair = [&](int a, int b) {
      if (gap(a, b, n) <= reach) pairs_.emplace_back(a, b);
    };
    for (int i = 0; i < count; ++i) {
      for (int wall = -5; wall <= -1; ++wall) try_pair(i, wall);
      const auto own = cell_of(i);
      for (int code = 0; code < 27; ++code) {
        const auto cell =
            cells.find({own[0] + code % 3 - 1, own[1] + code / 3 % 3 - 1, own[2] + code / 9 - 1});
        if (cell == cells.end()) continue;
        for (const int j : cell->second) {
          if (j > i) try_pair(i, j);
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
    const race::Sphere& one = scene_.spheres[at(a)];
    // Both bodies of a pair are pushed at one point, in the middle of their gap.
    const double arm = b >= 0 ? one.r + 0.5 * g : one.r;
    Vec u = vec(frame_->after[at(a)]) - arm * vec(frame_->spins[at(a)]).cross(n);
    double trace = 3.0 / scene_.mass(one) + 2.0 * arm * arm / scene_.inertia(one);
    double smaller = one.r;
    if (b >= 0) {
      const race::Sphere& other = scene_.spheres[at(b)];
      const double its = other.r + 0.5 * g;
      u -= vec(frame_->after[at(b)]) + its * vec(frame_->spins[at(b)]).cross(n);
      trace += 3.0 / scene_.mass(other) + 2.0 * its * its / scene_.inertia(other);
      smaller = std::min(smaller, other.r);
    }
    found.overlap = std::max(found.overlap, -g / smaller);
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

  /// m (v+ - v) = h m g + sum of impulses, body by body.
  void balance(Found& found) {
    std::vector<Vec> given(scene_.spheres.size(), Vec::Zero());
    for (const race::Contact& contact : frame_->contacts) {
      given[at(contact.a)] += vec(contact.impulse);
      if (contact.b >= 0) given[at(contact.b)] -= vec(contact.impulse);
    }
    const double gh = scene_.gravity * scene_.step;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const double m = scene_.mass(scene_.spheres[i]);
      const Vec change = vec(frame_->after[i]) - vec(frame_->before[i]) + Vec(0, 0, gh);
      found.momentum = std::max(found.momentum, (m * change - given[i]).norm() / (m * gh));
    }
  }

  const race::Scene& scene_;
  const race::Frame* frame_{nullptr};
  std::map<std::pair<int, int>, Vec> impulses_;
  std::vector<std::pair<int, int>> pairs_;
};

double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0.0;
  const auto k = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + k, values.end());
  return values[static_cast<std::size_t>(k)];
}

std::array<Found, 2> read(const race::Scene& scene, const std::string& path) {
  std::array<Found, 2> found;
  Judge judge(scene);
  race::Reader reader(path);
  race::Frame frame;
  double seconds = 0.0;
  bool is_frame = false;
  int step = 0;
  while (reader.next(seconds, frame, is_frame)) {
    if (!is_frame) ++step;
    for (std::size_t k = 0; k < 2; ++k) {
      if (k == 0 ? !scene.settles(step) : !scene.rests(step)) continue;
      if (is_frame) judge.look(frame, found[k]);
      if (!is_frame) found[k].seconds += seconds;
      if (!is_frame) ++found[k].steps;
    }
  }
  return found;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    fmt::print(stderr, "usage: race-judge SPHERES PICTURE.svg NAME=FILE...\n");
    return 2;
  }
  const race::Scene scene = race::spheres(std::atoi(words[1]));
  std::array<std::vector<race::Mark>, 2> marks;
  std::array<std::string, 2> tables;
  for (int k = 3; k < count; ++k) {
    const std::string word = words[k];
    const std::string name = word.substr(0, word.find('='));
    std::array<Found, 2> phases = read(scene, word.substr(word.find('=') + 1));
    for (std::size_t phase = 0; phase < 2; ++phase) {
      Found& found = phases[phase];
      const double ms = 1e3 * found.seconds / std::max(1, found.steps);
      const double most = quantile(found.creep, 1.0);
      tables[phase] += fmt::format("| {} | {:.2f} | {} | {:.1e} | {:.1e} | {:.1e} | {:.1e} |\n",
                                   name, ms, found.contacts / std::max(1, found.frames), most,
                                   quantile(found.creep, 0.5), found.overlap, found.momentum);
      marks[phase].push_back({name, ms, most});
    }
  }
  constexpr std::array<const char*, 2> kPhases = {"settling", "at rest"};
  for (std::size_t phase = 0; phase < 2; ++phase) {
    fmt::print(
        "{} spheres, {}\n\n| engine | ms a step | contacts | δ max [m/s] | δ median [m/s] | "
        "overlap / r "
        "| momentum / mgh |\n|---|---|---|---|---|---|---|\n{}\n",
        scene.spheres.size(), kPhases[phase], tables[phase]);
  }
  std::ofstream(words[2]) << race::picture(fmt::format("{} spheres", scene.spheres.size()),
                                           {kPhases[0], kPhases[1]}, marks);
  return 0;
}
