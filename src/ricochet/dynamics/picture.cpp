#include "ricochet/dynamics/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/plot/axes.h"
#include "ricochet/plot/raster.h"

namespace ricochet::dynamics {
namespace {

using plot::Frame;
using plot::Point;
using plot::Raster;
using plot::Svg;

constexpr double kMargin = 16.0;
constexpr double kWidth = 820.0;
constexpr double kHead = 44.0;
constexpr double kHeight = 440.0;

plot::Range range_of(double low, double high) {
  if (!(high > low)) {
    const double room = std::max(0.5 * std::abs(low), 1e-3);
    return {low - room, high + room};
  }
  const double room = 0.04 * (high - low);
  return {low - room, high + room};
}

struct Extremes {
  double low{std::numeric_limits<double>::infinity()};
  double high{-std::numeric_limits<double>::infinity()};
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  plot::Range range() const { return range_of(low, high); }
};

/// Dots of a frame, by how many fall on a point: the more, the darker. Each kind has a colour.
class Cloud {
 public:
  Cloud(const Frame& frame, int kinds)
      : frame_(frame),
        width_(static_cast<int>(frame.width)),
        height_(static_cast<int>(frame.height)),
        counts_(static_cast<std::size_t>(kinds),
                std::vector<int>(static_cast<std::size_t>(width_ * height_), 0)) {}

  /// A dot `wide` points wide.
  void add(int kind, Point value, int wide = 1) {
    const Point at = frame_.at(value);
    const int left = static_cast<int>(at.x - frame_.corner.x) - wide / 2;
    const int y = static_cast<int>(at.y - frame_.corner.y);
    if (y < 0 || y >= height_) return;
    for (int x = std::max(0, left); x < std::min(width_, left + wide); ++x) {
      ++counts_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(y * width_ + x)];
    }
  }

  void draw(Svg& svg) const {
    Raster raster(width_, height_);
    for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
      for (int y = 0; y < height_; ++y) {
        for (int x = 0; x < width_; ++x) {
          const int count = counts_[kind][static_cast<std::size_t>(y * width_ + x)];
          if (count == 0) continue;
          const int shade = std::min(kShades - 1, static_cast<int>(std::log2(count)));
          raster.at(x, y) = static_cast<std::uint8_t>(1 + static_cast<int>(kind) * kShades + shade);
        }
      }
    }
    std::vector<Raster::Colour> palette = {{0, 0}};
    for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
      for (int shade = 0; shade < kShades; ++shade) {
        palette.push_back({kColours[kind % kColours.size()],
                           static_cast<std::uint8_t>(110 + 145 * shade / (kShades - 1))});
      }
    }
    svg.image(frame_.corner, frame_.width, frame_.height, raster.data_address(palette));
  }

  static constexpr std::array<std::uint32_t, 8> kColours = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                                            0xe69f00, 0x56b4e9, 0x6b6b6b, 0x8c510a};

 private:
  static constexpr int kShades = 6;
  const Frame& frame_;
  int width_;
  int height_;
  std::vector<std::vector<int>> counts_;
};

Frame make_frame(double top, double height, const plot::Axis& x, const plot::Axis& y) {
  Frame frame;
  frame.height = height;
  frame.x = x;
  frame.y = y;
  frame.corner = {kMargin + frame.left_room(), top};
  frame.width = kWidth - 2.0 * kMargin - frame.left_room();
  return frame;
}

Svg begin(const std::string& title, const std::string& note, double height) {
  Svg svg(kWidth, height, title);
  svg.text({kMargin, 24.0}, title, "start", "title");
  if (!note.empty()) svg.text({kWidth - kMargin, 24.0}, note, "end", "note");
  return svg;
}

}  // namespace

std::string draw(const SectionResult& found, const scene::Scene& scene) {
  if (found.rows.empty()) return "";
  const bool is_plane = found.names.size() > 1;
  Extremes xs, ys;
  const auto point = [&](std::size_t k) {
    return is_plane ? Point{found.rows[k][0], found.rows[k][1]}
                    : Point{found.times[k], found.rows[k][0]};
  };
  for (std::size_t k = 0; k < found.rows.size(); ++k) {
    xs.add(point(k).x);
    ys.add(point(k).y);
  }
  Svg svg = begin(scene.title,
                  found.period > 0 ? fmt::format("period {}", found.period)
                                   : fmt::format("{} sections", found.rows.size()),
                  kHead + kHeight + plot::kAxisBottom + kMargin);
  const Frame frame =
      make_frame(kHead, kHeight, {xs.range(), false, is_plane ? found.names[0] : "t"},
                 {ys.range(), false, found.names[is_plane ? 1 : 0]});
  frame.draw(svg);
  if (found.rows.size() > 3000) {
    Cloud cloud(frame, 1);
    for (std::size_t k = 0; k < found.rows.size(); ++k) cloud.add(0, point(k));
    cloud.draw(svg);
  } else {
    for (std::size_t k = 0; k < found.rows.size(); ++k)
      svg.circle(frame.at(point(k)), 1.2, "state1");
  }
  frame.draw_border(svg);
  return svg.finish();
}

std::string draw(const Diagram& found, const scene::Scene& scene) {
  Extremes ys, exponents;
  for (const auto* part : {&found.forward, &found.backward, &found.fresh}) {
    for (const Branch& branch : *part) {
      for (const std::vector<double>& row : branch.rows) ys.add(row[0]);
      if (found.has_exponents) exponents.add(branch.exponent);
    }
  }
  if (ys.empty()) return "";
  const bool has_below = !exponents.empty();
  constexpr double kBelow = 130.0;
  const double below = has_below ? kBelow + plot::kAxisBottom : 0.0;
  std::string note;
  if (!found.forward.empty() && !found.backward.empty()) note = "forward blue, backward orange";
  Svg svg = begin(scene.title, note, kHead + kHeight + plot::kAxisBottom + below + kMargin);
  const plot::Range range = range_of(found.values.front(), found.values.back());
  const Frame frame = make_frame(kHead, kHeight, {range, false, has_below ? "" : found.parameter},
                                 {ys.range(), false, found.names[0]});
  frame.draw(svg);
  Cloud cloud(frame, 3);
  const int wide = std::clamp(
      static_cast<int>(0.8 * frame.width / static_cast<double>(found.values.size())), 1, 6);
  int kind = 0;
  for (const auto* part : {&found.forward, &found.backward, &found.fresh}) {
    for (const Branch& branch : *part) {
      for (const std::vector<double>& row : branch.rows) {
        cloud.add(kind, {found.values[branch.value], row[0]}, wide);
      }
    }
    ++kind;
  }
  cloud.draw(svg);
  frame.draw_border(svg);
  if (!has_below) return svg.finish();
  exponents.add(0.0);
  Frame lower = make_frame(kHead + kHeight + plot::kAxisBottom, kBelow,
                           {range, false, found.parameter}, {exponents.range(), false, "exponent"});
  lower.corner.x = frame.corner.x;
  lower.width = frame.width;
  lower.draw(svg);
  kind = 0;
  for (const auto* part : {&found.forward, &found.backward, &found.fresh}) {
    std::vector<Point> points;
    for (const Branch& branch : *part) {
      if (!std::isfinite(branch.exponent) || branch.seed > 0) continue;
      points.push_back(lower.at({found.values[branch.value], branch.exponent}));
    }
    svg.polyline(points, fmt::format("curve s{}", kind++));
  }
  svg.line(lower.at({range.low, 0.0}), lower.at({range.high, 0.0}), "axis");
  lower.draw_border(svg);
  return svg.finish();
}

std::string draw(const Basin& found, const scene::Scene& scene) {
  const auto columns = static_cast<int>(found.values[0].size());
  const auto rows = static_cast<int>(found.values[1].size());
  Raster raster(columns, rows);
  std::vector<Raster::Colour> palette = {{0, 0}, {0x000000, 255}, {0xbbbbbb, 255}};
  constexpr int kMost = 200;
  const int attractors = std::min(kMost, static_cast<int>(found.attractors.size()));
  for (int k = 0; k < attractors; ++k) {
    palette.push_back({Cloud::kColours[static_cast<std::size_t>(k) % Cloud::kColours.size()], 200});
  }
  for (int x = 0; x < columns; ++x) {
    for (int y = 0; y < rows; ++y) {
      const int label = found.labels[static_cast<std::size_t>(x * rows + y)];
      raster.at(x, rows - 1 - y) =
          static_cast<std::uint8_t>(label >= 0                   ? 3 + std::min(label, kMost - 1)
                                    : label == Basin::kEscapes   ? 2
                                    : label == Basin::kUndecided ? 1
                                                                 : 0);
    }
  }
  Svg svg = begin(scene.title, fmt::format("{} attractors", attractors),
                  kHead + kHeight + plot::kAxisBottom + kMargin);
  const auto axis = [&](std::size_t k) {
    const std::vector<double>& values = found.values[k];
    return plot::Axis{{values.front(), values.back()}, false, found.keys[k]};
  };
  const Frame frame = make_frame(kHead, kHeight, axis(0), axis(1));
  frame.draw(svg);
  svg.image(frame.corner, frame.width, frame.height, raster.data_address(palette));
  const auto place = [&](const std::string& key) -> Eigen::Index {  // in a state
    const std::vector<std::string>& names = scene.columns.coordinates;
    if (key.size() < 15) return -1;
    const auto at = std::find(names.begin(), names.end(), key.substr(15));
    if (at == names.end() || !key.starts_with("start.")) return -1;
    const auto coordinate = static_cast<Eigen::Index>(at - names.begin());
    return coordinate + (key[6] == 'v' ? static_cast<Eigen::Index>(names.size()) : 0);
  };
  const Eigen::Index first = place(found.keys[0]), second = place(found.keys[1]);
  for (const Attractor& attractor : found.attractors) {
    for (std::size_t k = 0; first >= 0 && second >= 0 && k < attractor.states.size(); ++k) {
      if (k == 500) break;
      const Point at = frame.at({attractor.states[k][first], attractor.states[k][second]});
      if (frame.holds(at)) svg.circle(at, attractor.period > 0 ? 4.0 : 1.5, "mark");
    }
  }
  frame.draw_border(svg);
  return svg.finish();
}

std::string draw(const Lyapunov& found, const scene::Scene& scene) {
  if (found.history.size() < 2) return "";
  Extremes xs, ys;
  std::vector<Point> points;
  for (const auto& [time, exponent] : found.history) {
    points.push_back({time, exponent});
    xs.add(time);
    ys.add(exponent);
  }
  Svg svg = begin(scene.title, "the first exponent, up to each time",
                  kHead + kHeight + plot::kAxisBottom + kMargin);
  const Frame frame =
      make_frame(kHead, kHeight, {xs.range(), false, "time"}, {ys.range(), false, "exponent"});
  frame.draw(svg);
  svg.polyline(frame.at(points), "curve s0");
  frame.draw_border(svg);
  return svg.finish();
}

std::string draw(const InvariantTable& found, const scene::Scene& scene) {
  constexpr double kPanel = 230.0;
  using Field = double Invariants::*;
  constexpr Field kFields[] = {&Invariants::rate, &Invariants::exponent};
  constexpr const char* kNames[] = {"impacts a period", "exponent"};
  std::vector<std::string> schemes;
  Extremes xs, ys[2];
  const auto place = [&](const Invariants& row) { return scene.dynamics.period / row.step; };
  for (int k = 0; k < 2; ++k) ys[k].add(found.exact.*kFields[k]);
  for (const Invariants& row : found.rows) {
    if (!row.failure.empty()) continue;
    if (std::find(schemes.begin(), schemes.end(), row.scheme) == schemes.end()) {
      schemes.push_back(row.scheme);
    }
    xs.add(place(row));
    for (int k = 0; k < 2; ++k) ys[k].add(row.*kFields[k]);
  }
  if (xs.empty()) return "";
  std::string note = "dashes exact; rings locked";
  for (std::size_t s = 0; s < std::min<std::size_t>(schemes.size(), 4); ++s) {
    constexpr const char* kWords[] = {"blue", "orange", "green", "purple"};
    note = fmt::format("{} {}; ", schemes[s], kWords[s]) + note;
  }
  Svg svg = begin(scene.title, note, kHead + 2.0 * (kPanel + plot::kAxisBottom) + kMargin);
  const plot::Range range{0.8 * xs.low, 1.25 * xs.high};
  for (int k = 0; k < 2; ++k) {
    const Frame frame = make_frame(kHead + k * (kPanel + plot::kAxisBottom), kPanel,
                                   {range, true, k == 1 ? "steps a period" : ""},
                                   {ys[k].range(), false, kNames[k]});
    frame.draw(svg);
    const double exact = found.exact.*kFields[k];
    svg.line(frame.at({range.low, exact}), frame.at({range.high, exact}), "fit");
    for (const Invariants& row : found.rows) {
      if (!row.failure.empty()) continue;
      const auto scheme = std::find(schemes.begin(), schemes.end(), row.scheme) - schemes.begin();
      const Point at = frame.at({place(row), row.*kFields[k]});
      svg.mark(at, "x", 5.0, fmt::format("curve s{}", scheme % 4));
      if (row.is_locked) svg.mark(at, "o", 8.0, "mark");
    }
    frame.draw_border(svg);
  }
  return svg.finish();
}

}  // namespace ricochet::dynamics
