#include <Eigen/Geometry>
#include <algorithm>

#include "ricochet/shape/build.h"

namespace ricochet::shape {

/// Corners of a chain as joints between its faces, and of each face which joints it has.
static void add_joints(Shape<2>& shape, bool closed) {
  const int count = static_cast<int>(shape.corners.size());
  const int faces = static_cast<int>(shape.faces.size());
  for (int k = 0; k < count; ++k) {
    const int before = k > 0 ? k - 1 : (closed ? faces - 1 : -1);
    const int after = k < faces ? k : -1;
    Edge joint{k, k, before, after, 1};
    if (before >= 0 &&
        after >= 0) {  // walking with the free side to the left, right turns stick out
      const Vec<2>& n = shape.faces[static_cast<std::size_t>(before)].normal;
      const double sine = cross(n, shape.faces[static_cast<std::size_t>(after)].normal);
      joint.turn = sine < -kSmooth ? 1 : (sine > kSmooth ? -1 : 0);
    }
    shape.edges.push_back(joint);
    if (k < faces) shape.beside.insert(shape.beside.end(), {(k + 1) % count, k});
  }
}

/// The edges of each corner.
static void add_fans(Shape<3>& shape) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  shape.fans.assign(shape.corners.size() + 1, 0);
  for (const Edge& edge : shape.edges) {
    ++shape.fans[at(edge.from) + 1];
    ++shape.fans[at(edge.to) + 1];
  }
  for (std::size_t j = 1; j < shape.fans.size(); ++j) shape.fans[j] += shape.fans[j - 1];
  shape.fan.resize(2 * shape.edges.size());
  std::vector<int> next(shape.fans.begin(), shape.fans.end() - 1);
  for (std::size_t e = 0; e < shape.edges.size(); ++e) {
    for (const int j : {shape.edges[e].from, shape.edges[e].to}) {
      shape.fan[at(next[at(j)]++)] = static_cast<int>(e);
    }
  }
}

/// Faces that follow each other in groups, each within a ball.
template <int D>
static void gather(Shape<D>& shape) {
  constexpr std::size_t kTogether = 32;
  const auto corner = [&](int k) {
    return shape.corners[static_cast<std::size_t>(shape.around[static_cast<std::size_t>(k)])];
  };
  for (std::size_t begin = 0; begin < shape.faces.size(); begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, shape.faces.size());
    Shape<D> part;
    double longest = 0.0;
    for (std::size_t f = begin; f < end; ++f) {
      const Face<D>& face = shape.faces[f];
      for (int k = face.begin; k < face.end; ++k) {
        part.corners.push_back(corner(k));
        longest = std::max(longest, (corner(k) - corner(face.begin)).norm());
      }
    }
    enclose(part);
    shape.groups.push_back(
        {part.centre, part.extent, longest, static_cast<int>(begin), static_cast<int>(end)});
  }
}

Shape<2> chain(const std::vector<Vec<2>>& points, bool closed, double round) {
  demand_round(round, "chain");
  demand_finite<2>(points, "chain");
  demand(points.size() >= (closed ? 3U : 2U), "chain", "too few points",
         "a chain has two points or more, a closed one three");
  Shape<2> made;
  made.kind = Kind::Surface;
  made.round = round;
  made.corners = points;
  enclose(made);
  const int count = static_cast<int>(points.size());
  for (int k = 0; k + (closed ? 0 : 1) < count; ++k) {
    const int next = (k + 1) % count;
    const Vec<2> along =
        points[static_cast<std::size_t>(next)] - points[static_cast<std::size_t>(k)];
    demand(along.norm() > kFlat * made.extent, "chain",
           "points " + std::to_string(k + 1) + " and " + std::to_string(next + 1) + " are the same",
           "give each point once");
    add_face(made, next, k);
  }
  add_joints(made, closed);
  gather(made);
  return made;
}

Shape<3> mesh(const std::vector<Vec<3>>& points, const std::vector<std::array<int, 3>>& triangles,
              double round) {
  demand_round(round, "mesh");
  demand_finite<3>(points, "mesh");
  demand(!points.empty() && !triangles.empty(), "mesh", "it has no triangle", "give one or more");
  Shape<3> made;
  made.kind = Kind::Surface;
  made.round = round;
  made.corners = points;
  enclose(made);
  for (std::size_t f = 0; f < triangles.size(); ++f) {
    const std::string which = "triangle " + std::to_string(f + 1);
    std::array<Vec<3>, 3> p;
    for (std::size_t k = 0; k < 3; ++k) {
      const int i = triangles[f][k];
      demand(i >= 0 && i < static_cast<int>(points.size()), "mesh",
             which + " has a corner that is not there", "corners are counted from 0");
      p[k] = points[static_cast<std::size_t>(i)];
    }
    const Vec<3> area = (p[1] - p[0]).cross(p[2] - p[0]);
    const double longest = std::max((p[1] - p[0]).norm(), (p[2] - p[0]).norm());
    demand(area.norm() > kFlat * longest * longest, "mesh", which + " has no area", "leave it out");
    const int begin = static_cast<int>(made.around.size());
    made.around.insert(made.around.end(), triangles[f].begin(), triangles[f].end());
    made.faces.push_back({area.normalized(), begin, begin + 3});
  }
  add_edges(made);
  add_fans(made);
  gather(made);
  return made;
}

Shape<3> heightfield(int columns, int rows, double dx, double dy,
                     const std::vector<double>& heights) {
  demand(columns >= 2 && rows >= 2 && dx > 0.0 && dy > 0.0, "heightfield",
         "it needs two columns and rows or more, and distances > 0", "");
  const auto count = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  demand(heights.size() == count, "heightfield", std::to_string(count) + " heights are needed",
         "columns times rows, row by row");
  std::vector<Vec<3>> points;
  std::vector<std::array<int, 3>> triangles;
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < columns; ++i) {
      const int k = i + columns * j;
      points.push_back({dx * i, dy * j, heights[static_cast<std::size_t>(k)]});
      if (i + 1 == columns || j + 1 == rows) continue;
      triangles.push_back({k, k + 1, k + columns + 1});
      triangles.push_back({k, k + columns + 1, k + columns});
    }
  }
  return mesh(points, triangles);
}

}  // namespace ricochet::shape
