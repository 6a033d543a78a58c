#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/scene/world_reader.h"

namespace ricochet::scene {
namespace {

using base::index;
/// Places for balls of given radii within a box; fewer than asked for where no more fit.
template <int D>
class Places {
 public:
  using Vec = body::Vec<D>;
  Places(const Vec& low, const Vec& high, const std::vector<double>& radii)
      : low_(low), high_(high), radii_(radii) {
    for (const double r : radii) largest_ = std::max(largest_, r);
  }

  /// Rows of balls side by side; hexagonal ones lie in the gaps of the rows below, in space in
  /// those of the row beside and of the layer below.
  std::vector<Vec> in_rows(bool hexagonal) const {
    std::vector<Vec> places;
    const double d = 2.0 * largest_ * (1.0 + 1e-9);
    const double rise = hexagonal ? d * std::sqrt(D == 2 ? 0.75 : 2.0 / 3.0) : d;
    for (int row = 0; places.size() < radii_.size(); ++row) {
      Vec p = low_;
      p[D - 1] = low_[D - 1] + largest_ + rise * row;
      if (p[D - 1] + largest_ > high_[D - 1] * (1.0 + 1e-12)) break;
      const bool is_odd = hexagonal && row % 2 == 1;
      if constexpr (D == 2) add_row(is_odd ? 0.5 * d : 0.0, d, p, places);
      if constexpr (D == 3) add_layer(hexagonal, is_odd, d, p, places);
    }
    return places;
  }

  /// One after the other, each where it overlaps none before: the larger ones first.
  std::vector<Vec> at_random(base::Random& random) const {
    constexpr int kTries = 20000;
    std::vector<std::size_t> order(radii_.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return radii_[a] > radii_[b]; });
    const Cells cells(low_, high_, 2.0 * largest_);
    std::vector<std::vector<std::size_t>> members(cells.size());
    std::vector<Vec> places(radii_.size());
    for (std::size_t done = 0; done < order.size(); ++done) {
      const std::size_t k = order[done];
      bool found = false;
      for (int tries = 0; tries < kTries && !found; ++tries) {
        const Vec p = somewhere(radii_[k], random);
        found = true;
        cells.each_near(p, [&](std::size_t cell) {
          for (const std::size_t other : members[cell]) {
            const double apart = (radii_[k] + radii_[other]) * (1.0 + 1e-9);
            if ((places[other] - p).norm() < apart) found = false;
          }
        });
        if (!found) continue;
        places[k] = p;
        members[cells.of(p)].push_back(k);
      }
      if (!found) return std::vector<Vec>(done);
    }
    return places;
  }

 private:
  /// A grid of cells no smaller than asked for.
  class Cells {
   public:
    Cells(const Vec& low, const Vec& high, double cell) : low_(low) {
      for (int k = 0; k < D; ++k) {
        count_[index(k)] = std::max(1, static_cast<int>((high[k] - low[k]) / cell));
        side_[k] = (high[k] - low[k]) / count_[index(k)];
      }
    }
    std::size_t size() const {
      std::size_t all = 1;
      for (const int n : count_) all *= index(n);
      return all;
    }
    std::size_t of(const Vec& p) const {
      std::size_t cell = 0;
      for (int k = D - 1; k >= 0; --k) cell = cell * index(count_[index(k)]) + index(at(p, k));
      return cell;
    }
    template <class Work>
    void each_near(const Vec& p, Work&& work) const {
      constexpr int kBeside = D == 2 ? 9 : 27;
      for (int n = 0; n < kBeside; ++n) {
        std::size_t cell = 0;
        bool inside = true;
        for (int k = D - 1, power = kBeside / 3; k >= 0; --k, power /= 3) {
          const int i = at(p, k) + n / power % 3 - 1;
          inside = inside && i >= 0 && i < count_[index(k)];
          cell = cell * index(count_[index(k)]) + index(std::max(0, i));
        }
        if (inside) work(cell);
      }
    }

   private:
    int at(const Vec& p, int k) const {
      return std::min(count_[index(k)] - 1, static_cast<int>((p[k] - low_[k]) / side_[k]));
    }
    Vec low_;
    Vec side_;
    std::array<int, D> count_{};
  };

  void add_row(double shift, double d, Vec p, std::vector<Vec>& places) const {
    for (int k = 0; places.size() < radii_.size(); ++k) {
      p[0] = low_[0] + largest_ + shift + d * k;
      if (p[0] + largest_ > high_[0] + 1e-12 * std::abs(high_[0])) break;
      places.push_back(p);
    }
  }

  void add_layer(bool hexagonal, bool is_odd, double d, Vec p, std::vector<Vec>& places) const {
    const double step = hexagonal ? d * std::sqrt(0.75) : d;
    for (int row = 0; places.size() < radii_.size(); ++row) {
      p[1] = low_[1] + largest_ + step * row + (is_odd ? d * std::sqrt(1.0 / 12.0) : 0.0);
      if (p[1] + largest_ > high_[1] + 1e-12 * std::abs(high_[1])) break;
      const bool shifts = hexagonal && (row % 2 == 1) != is_odd;
      add_row(shifts ? 0.5 * d : 0.0, d, p, places);
    }
  }

  /// In the plane the last number is drawn first: the places of all scenes so far.
  Vec somewhere(double r, base::Random& random) const {
    Vec p;
    for (int k = 0; k < D; ++k) {
      const int axis = D == 2 ? D - 1 - k : k;
      p[axis] = random.uniform(low_[axis] + r, high_[axis] - r);
    }
    return p;
  }

  Vec low_;
  Vec high_;
  const std::vector<double>& radii_;
  double largest_{0.0};
};

/// A regular polygon with its corners on a circle, so that it overlaps no other one.
shape::Shape<2> regular(int sides, double r) {
  std::vector<body::Vec<2>> corners;
  for (int k = 0; k < sides; ++k) {
    const double a = 2.0 * std::numbers::pi * k / sides;
    corners.emplace_back(r * std::cos(a), r * std::sin(a));
  }
  return shape::polygon(corners);
}

/// A disc or a sphere, or what has its corners on it.
shape::Shape<2> grain_of(const std::string& kind, double r, body::Vec<2>) {
  const int sides = kind == "square" ? 4 : kind == "hexagon" ? 6 : kind == "triangle" ? 3 : 0;
  return sides == 0 ? shape::ball<2>(r) : regular(sides, r);
}
shape::Shape<3> grain_of(const std::string& kind, double r, body::Vec<3>) {
  if (kind == "sphere") return shape::ball<3>(r);
  return shape::box<3>(body::Vec<3>::Constant(2.0 * r / std::sqrt(3.0)));
}

template <int D>
void add_grain(const body::Body<D>& common, shape::Shape<D> shape, double r, double density,
               body::World<D>& world) {
  const shape::MassProperties<D> made = shape::mass_of(shape, density);
  body::Body<D> grain = common;
  grain.mass = made.mass;
  if constexpr (D == 2) grain.inertia = made.inertia(0, 0);
  if constexpr (D == 3) grain.inertia = made.inertia;
  body::settle_inertia(grain);
  grain.size = grain.reach = r;
  grain.first_shape = static_cast<int>(world.solids.size());
  grain.shapes = 1;
  world.solids.push_back({world.count(), std::move(shape)});
  world.bodies.push_back(std::move(grain));
}

}  // namespace

/// A number, or one of a distribution: { uniform = [a, b] }, { normal = [mean, deviation] },
/// { list = [...] }.
template <int D>
double WorldReader<D>::read_radius(TableReader& table, const Value& value, base::Random& random,
                                   std::size_t k) {
  if (value.kind != Value::Kind::Table) return number(table, value, "radius");
  TableReader one(document_, value, table.full("radius"));
  const auto list_of = [&](const Value& list, std::size_t least) -> const std::vector<Value>& {
    if (list.kind == Value::Kind::Array && list.items.size() >= least) return list.items;
    one.fail(list, "radius", "must be a list of numbers", "write { uniform = [0.9, 1.1] }");
  };
  const auto read = [&](const Value& item) { return formulas_.number(item, one.path()); };
  double found = 0.0;
  if (const Value* uniform = one.find("uniform")) {
    const auto& ends = list_of(*uniform, 2);
    found = random.uniform(read(ends[0]), read(ends[1]));
  } else if (const Value* normal = one.find("normal")) {
    const auto& ends = list_of(*normal, 2);
    const double mean = read(ends[0]);
    const double deviation = read(ends[1]);
    do found = mean + deviation * random.normal();
    while (!(found > 0.1 * mean) && mean > 0.0);
  } else {
    const auto& sizes = list_of(one.require("list", "write list = [0.1, 0.2], or uniform"), 1);
    found = read(sizes[k % sizes.size()]);
  }
  one.finish();
  return found;
}

template <int D>
std::vector<double> WorldReader<D>::fill_radii(TableReader& table, base::Random& random) {
  const double count = number(table, table.require("count", "write count = 100"), "count");
  if (!(count >= 1.0 && count <= 1e6 && count == std::floor(count))) {
    table.fail(*table.find("count"), "count", "must be a whole number from 1 to a million",
               "write count = 100");
  }
  const Value& radius = table.require("radius", "write radius = 0.1, or { uniform = [0.9, 1.1] }");
  std::vector<double> radii;
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    radii.push_back(read_radius(table, radius, random, k));
    if (radii.back() > 0.0) continue;
    table.fail(radius, "radius", "must be positive", "write a number > 0");
  }
  return radii;
}

template <int D>
std::vector<typename WorldReader<D>::Vec> WorldReader<D>::fill_places(
    TableReader& table, const std::vector<double>& radii, base::Random& random) {
  const char* words = D == 2 ? "write inside = { box = [[0, 0], [1, 1]] }"
                             : "write inside = { box = [[0, 0, 0], [1, 1, 1]] }";
  const Value& inside = table.require("inside", words);
  TableReader room(document_, inside, table.full("inside"));
  const Value& box = room.require("box", words);
  if (box.kind != Value::Kind::Array || box.items.size() != 2) {
    room.fail(box, "box", "must be two corners", words);
  }
  const Vec low = vector(box.items[0], room.full("box"), {});
  const Vec high = vector(box.items[1], room.full("box"), {});
  const std::string pattern = table.text("pattern").value_or("random");
  const double widest = 2.0 * *std::max_element(radii.begin(), radii.end());
  const double least = (high - low).head(pattern == "rain" ? D - 1 : D).minCoeff();
  if (!(widest <= least * (1.0 + 1e-12))) {
    room.fail(box, "box",
              fmt::format("is {:.6g} wide at its narrowest, and the largest body is {:.6g}", least,
                          widest),
              "take a smaller radius, or a larger box");
  }
  room.finish();
  const Places<D> places(low, high, radii);
  std::vector<Vec> found;
  if (pattern == "grid" || pattern == "hexagonal") {
    found = places.in_rows(pattern == "hexagonal");
  } else if (pattern == "random") {
    found = places.at_random(random);
  } else if (pattern == "rain") {
    for (const double r : radii) {
      Vec& p = found.emplace_back(high);
      for (int k = 0; k < D - 1; ++k) p[k] = random.uniform(low[k] + r, high[k] - r);
      p[D - 1] -= r;
    }
  } else {
    table.fail(*table.find("pattern"), "pattern", fmt::format("'{}' is not known", pattern),
               "write \"grid\", \"hexagonal\", \"random\" or \"rain\"");
  }
  if (found.size() < radii.size()) {
    table.fail(
        *table.find("count"), "count",
        fmt::format("{} of {} do not fit into the box", radii.size() - found.size(), radii.size()),
        "take fewer or smaller ones, a larger box, or pattern = \"hexagonal\"");
  }
  return found;
}

template <int D>
void WorldReader<D>::read_fill(const std::string& name, const Value& value, World& world,
                               WorldPart& part) {
  const std::string path = "fill." + name;
  formulas_.check_new_name(name, path, value);
  TableReader table(document_, value, path);
  const Value* seed = table.find("seed");
  base::Random random(
      seed == nullptr ? 1U : static_cast<std::uint64_t>(at_least(table, *seed, "seed", 0.0)));
  const std::vector<double> radii = fill_radii(table, random);
  const std::vector<Vec> places = fill_places(table, radii, random);
  const std::string kind = table.text("shape").value_or(D == 2 ? "disc" : "sphere");
  const std::vector<std::string> known =
      D == 2 ? std::vector<std::string>{"disc", "triangle", "square", "hexagon"}
             : std::vector<std::string>{"sphere", "cube"};
  if (std::find(known.begin(), known.end(), kind) == known.end()) {
    table.fail(*table.find("shape"), "shape", fmt::format("'{}' is not known", kind),
               fmt::format("write one of {}", base::list_names(known)));
  }
  Body common;
  common.material = material_of(table, world);
  const double density = densities_[index(common.material)];
  if (!(density > 0.0)) {
    throw base::InputError(table.full("material"), "is missing, or has no density",
                           "write material = \"glass\", and [material.glass] with density",
                           document_.spot_of_key(value));
  }
  if (const Value* v = table.find("velocity")) {
    common.start.v = vector(*v, table.full("velocity"), {});
  }
  (void)read_turn(table, {}, common.start);
  const Value* rate = table.find("rate");
  const double per_second = rate == nullptr ? 0.0 : number(table, *rate, "rate");
  const bool rains = table.text("pattern").value_or("") == "rain";
  if (rains != (per_second > 0.0)) {
    throw base::InputError(table.full("rate"),
                           rains ? "is missing, or 0" : "is for pattern = \"rain\"",
                           "write rate = 100, in bodies a second", document_.spot_of_key(value));
  }
  table.finish();
  part.families.push_back({name, world.count(), static_cast<int>(radii.size()), per_second});
  for (std::size_t k = 0; k < radii.size(); ++k) {
    if (rains) common.born = static_cast<double>(k) / per_second;
    common.name = fmt::format("{}[{}]", name, k + 1);
    common.start.x = places[k];
    add_grain<D>(common, grain_of(kind, radii[k], common.start.x), radii[k], density, world);
  }
}

template void WorldReader<2>::read_fill(const std::string&, const Value&, World&, WorldPart&);
template void WorldReader<3>::read_fill(const std::string&, const Value&, World&, WorldPart&);

}  // namespace ricochet::scene
