#pragma once

#include <array>
#include <string>
#include <vector>

#include "ricochet/scene/vector_formulas.h"

namespace ricochet::scene {

/// A shape in the frame that carries it.
struct Piece {
  enum class Kind {
    Core,       // convex hull of corners (a point, a segment, a polygon), rounded
    HalfSpace,  // all p with normal . (p - corner 0) <= 0
    Hollow,     // all p with |p - corner 0| >= round: what is inside stays inside
  };
  Kind kind{Kind::Core};
  std::vector<std::vector<double>> corners;  // of a polygon counterclockwise [m]
  std::vector<double> normal;                // of a half-space: unit, out of the solid
  // Of a polytope in space: faces as corners, counterclockwise as seen from outside, their unit
  // normals, and edges as pairs of corners.
  std::vector<std::vector<int>> faces;
  std::vector<std::vector<double>> normals;
  std::vector<std::array<int, 2>> edges;
  double round{0.0};   // [m]
  double extent{0.0};  // [m] radius of a ball that contains it

  const std::vector<double>& corner(int k) const { return corners[static_cast<std::size_t>(k)]; }
};

/// What carries shapes: its place as formulas of t and coordinates.
struct Carrier {
  enum class Kind { Frame, Free, Placed };  // Placed: fixed or driven
  Kind kind{Kind::Frame};
  std::string name;
  int material{0};
  NodeVector x;               // of the origin of its frame
  std::vector<NodeVector> R;  // rows of its rotation
  formula::NodeId angle{-1};  // in the plane
  bool moves{true};           // with coordinates
  std::vector<Piece> pieces;
};

/// One feature of a shape against another shape, as formulas.
struct Touch {
  formula::NodeId gap{-1};    // [m] distance, negative inside
  formula::NodeId where{-1};  // where the row exists; -1: everywhere
  NodeVector normal;          // unit, from the second shape to the first
  NodeVector place;           // where they touch
};

/// Why no gap is known between two shapes in a plane or space; empty: it is known.
std::string why_apart(const Piece& a, const Piece& b, int dimension);

/// Gaps between shapes, built in a graph from the formulas of their frames:
/// - corners and centres against half-spaces, hollows, balls and segments: distances less the
/// radii;
/// - against a convex polygon: inside it and beside its edges the largest distance from an edge's
///   line, beyond its corners the distance from the corner;
/// - against a polytope in space: the same, and beyond its edges the distance from the edge;
/// - segments and polygons against each other: the corners of each against the other. A sharp
/// corner
///   against a sharp polygon has the distance from the edge below it, and exists over that edge.
class ShapeGaps {
 public:
  explicit ShapeGaps(formula::Graph& graph) : graph_(graph) {}

  std::vector<Touch> touches(const Carrier& a, const Piece& one, const Carrier& b,
                             const Piece& other);

  /// Of the particle of a carrier that is at a place. Velocities follow the positions in the slots.
  NodeVector velocity_at(const Carrier& carrier, const NodeVector& place, int dofs);

 private:
  using NodeId = formula::NodeId;

  /// A corner of a shape: its place, the radius about it, and unit vectors to its neighbours.
  struct Corner {
    NodeVector place;
    double round{0.0};
    std::vector<NodeVector> sides;
  };
  /// A direction with the distance along it.
  struct Ray {
    NodeId gap{-1};
    NodeVector normal;
  };

  NodeVector placed(const Carrier& carrier, const std::vector<double>& point);
  NodeVector turned(const Carrier& carrier, const NodeVector& local);
  NodeVector turned_back(const Carrier& carrier, const NodeVector& world);
  NodeVector local_of(const Carrier& carrier, const NodeVector& place);
  Corner corner_of(const Carrier& carrier, const Piece& piece, std::size_t k);
  Touch against(const Corner& corner, const Carrier& b, const Piece& other);
  Touch against_half_space(const Corner& corner, const Carrier& b, const Piece& other);
  Touch against_centre(const Corner& corner, const Carrier& b, const Piece& other);
  Touch against_segment(const Corner& corner, const Carrier& b, const Piece& other);
  Touch against_polygon(const Corner& corner, const Carrier& b, const Piece& other);
  Touch against_polytope(const Corner& corner, const Carrier& b, const Piece& other);
  NodeId is_over(const NodeVector& point, const Piece& other, std::size_t face);
  NodeVector from_segment(const NodeVector& point, const std::vector<double>& from,
                          const std::vector<double>& to);
  Touch touch_at(const Corner& corner, const Carrier& b, const Piece& other, const Ray& ray);
  Ray furthest_edge(const std::vector<Ray>& edges);
  Ray edge_below(const Corner& corner, const Carrier& b, const Piece& other,
                 const std::vector<Ray>& edges, NodeId& where);
  Ray or_corner(const NodeVector& point, const Piece& other, Ray ray);
  NodeId dips(const Corner& corner, const Carrier& b, const NodeVector& normal);
  NodeId rate(NodeId node, int dofs);
  NodeId choose(NodeId condition, NodeId a, NodeId b) {
    return graph_.make(formula::Op::Select, condition, a, b);
  }

  formula::Graph& graph_;
};

}  // namespace ricochet::scene
