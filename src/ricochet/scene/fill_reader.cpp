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
using Vec2 = body::Vec<2>;

/// Places for balls of given radii within a box; fewer than asked for where no more fit.
class Places {
 public:
  Places(const Vec2& low, const Vec2& high, const std::vector<double>& radii)
      : low_(low), high_(high), radii_(radii) {
    for (const double r : radii) largest_ = std::max(largest_, r);
  }

  std::vector<Vec2> in_rows(bool hexagonal) const {
    constexpr double kApart = 1.0 + 1e-9;
    std::vector<Vec2> places;
    const double d = 2.0 * largest_ * kApart;
    const double rise = hexagonal ? d * std::sqrt(0.75) : d;
    for (int row = 0; places.size() < radii_.size(); ++row) {
      const double y = low_[1] + largest_ + rise * row;
      if (y + largest_ > high_[1] * (1.0 + 1e-12)) break;
      const double shift = hexagonal && row % 2 == 1 ? 0.5 * d : 0.0;
      for (int k = 0; places.size() < radii_.size(); ++k) {
        const double x = low_[0] + largest_ + shift + d * k;
        if (x + largest_ > high_[0] + 1e-12 * std::abs(high_[0])) break;
        places.emplace_back(x, y);
      }
    }
    return places;
  }

  /// One after the other, each where it overlaps none before: the larger ones first.
  std::vector<Vec2> at_random(base::Random& random) const {
    constexpr int kTries = 20000;
    std::vector<std::size_t> order(radii_.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return radii_[a] > radii_[b]; });
    const double cell = 2.0 * largest_;
    const int across = std::max(1, static_cast<int>((high_[0] - low_[0]) / cell));
    const int up = std::max(1, static_cast<int>((high_[1] - low_[1]) / cell));
    const Vec2 size((high_[0] - low_[0]) / across, (high_[1] - low_[1]) / up);
    std::vector<std::vector<std::size_t>> cells(index(across) * index(up));
    std::vector<Vec2> places(radii_.size());
    for (std::size_t done = 0; done < order.size(); ++done) {
      const std::size_t k = order[done];
      const double r = radii_[k];
      bool found = false;
      for (int tries = 0; tries < kTries && !found; ++tries) {
        const Vec2 p(random.uniform(low_[0] + r, high_[0] - r),
                     random.uniform(low_[1] + r, high_[1] - r));
        const int i = std::min(across - 1, static_cast<int>((p[0] - low_[0]) / size[0]));
        const int j = std::min(up - 1, static_cast<int>((p[1] - low_[1]) / size[1]));
        found = true;
        for (int b = std::max(0, j - 1); b <= std::min(up - 1, j + 1) && found; ++b) {
          for (int a = std::max(0, i - 1); a <= std::min(across - 1, i + 1) && found; ++a) {
            for (const std::size_t other : cells[index(b) * index(across) + index(a)]) {
              if ((places[other] - p).norm() < (r + radii_[other]) * (1.0 + 1e-9)) found = false;
            }
          }
        }
        if (!found) continue;
        places[k] = p;
        cells[index(j) * index(across) + index(i)].push_back(k);
      }
      if (!found) return std::vector<Vec2>(done);
    }
    return places;
  }

 private:
  Vec2 low_;
  Vec2 high_;
  const std::vector<double>& radii_;
  double largest_{0.0};
};

/// A regular polygon with its corners on a circle, so that it overlaps no other one.
shape::Shape<2> regular(int sides, double r) {
  std::vector<Vec2> corners;
  for (int k = 0; k < sides; ++k) {
    const double a = 2.0 * std::numbers::pi * k / sides;
    corners.emplace_back(r * std::cos(a), r * std::sin(a));
  }
  return shape::polygon(corners);
}

/// Adds a body that is a disc, or a regular polygon in it.
void add_grain(const body::Body<2>& common, int sides, double r, double density,
               body::World<2>& world) {
  shape::Shape<2> shape = sides == 0 ? shape::ball<2>(r) : regular(sides, r);
  const shape::MassProperties<2> made = shape::mass_of(shape, density);
  body::Body<2> grain = common;
  grain.mass = made.mass;
  grain.inertia = made.inertia(0, 0);
  grain.size = grain.reach = r;
  grain.first_shape = static_cast<int>(world.solids.size());
  grain.shapes = 1;
  world.solids.push_back({world.count(), std::move(shape)});
  world.bodies.push_back(std::move(grain));
}

}  // namespace

/// A number, or one of a distribution: { uniform = [a, b] }, { normal = [mean, deviation] },
/// { list = [...] }.
double WorldReader::read_radius(TableReader& table, const Value& value, base::Random& random,
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

std::vector<double> WorldReader::fill_radii(TableReader& table, base::Random& random) {
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

std::vector<WorldReader::Vec> WorldReader::fill_places(TableReader& table,
                                                       const std::vector<double>& radii,
                                                       base::Random& random) {
  const Value& inside = table.require("inside", "write inside = { box = [[0, 0], [1, 1]] }");
  TableReader room(document_, inside, table.full("inside"));
  const Value& box = room.require("box", "write box = [[0, 0], [1, 1]]");
  if (box.kind != Value::Kind::Array || box.items.size() != 2) {
    room.fail(box, "box", "must be two corners", "write box = [[0, 0], [1, 1]]");
  }
  const Vec low = vector(box.items[0], room.full("box"), {});
  const Vec high = vector(box.items[1], room.full("box"), {});
  room.finish();
  const std::string pattern = table.text("pattern").value_or("random");
  const Places places(low, high, radii);
  std::vector<Vec> found;
  if (pattern == "grid" || pattern == "hexagonal") {
    found = places.in_rows(pattern == "hexagonal");
  } else if (pattern == "random") {
    found = places.at_random(random);
  } else if (pattern == "rain") {
    for (const double r : radii) {
      found.emplace_back(random.uniform(low[0] + r, high[0] - r), high[1] - r);
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

void WorldReader::read_fill(const std::string& name, const Value& value, World& world,
                            WorldPart& part) {
  const std::string path = "fill." + name;
  formulas_.check_new_name(name, path, value);
  TableReader table(document_, value, path);
  const Value* seed = table.find("seed");
  base::Random random(
      seed == nullptr ? 1U : static_cast<std::uint64_t>(at_least(table, *seed, "seed", 0.0)));
  const std::vector<double> radii = fill_radii(table, random);
  const std::vector<Vec> places = fill_places(table, radii, random);
  const std::string kind = table.text("shape").value_or("disc");
  const int sides = kind == "square" ? 4 : kind == "hexagon" ? 6 : kind == "triangle" ? 3 : 0;
  if (sides == 0 && kind != "disc") {
    table.fail(*table.find("shape"), "shape", fmt::format("'{}' is not known", kind),
               "write \"disc\", \"triangle\", \"square\" or \"hexagon\"");
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
  if (const Value* angle = table.find("angle")) {
    common.start.angle = number(table, *angle, "angle");
  }
  const Value* rate = table.find("rate");
  const double per_second = rate == nullptr ? 0.0 : number(table, *rate, "rate");
  const bool rains = table.text("pattern").value_or("") == "rain";
  if (rains != (per_second > 0.0)) {
    throw base::InputError(table.full("rate"),
                           rains ? "is missing, or 0" : "is for pattern = \"rain\"",
                           "write rate = 100, in bodies a second", document_.spot_of_key(value));
  }
  table.finish();
  part.families.push_back({name, world.count(), static_cast<int>(radii.size())});
  for (std::size_t k = 0; k < radii.size(); ++k) {
    if (rains) common.born = static_cast<double>(k) / per_second;
    common.name = fmt::format("{}[{}]", name, k + 1);
    common.start.x = places[k];
    add_grain(common, sides, radii[k], density, world);
  }
}

}  // namespace ricochet::scene
