#include "ricochet/scene/shape_gaps.h"

#include <algorithm>
#include <cmath>

#include "ricochet/formula/derivative.h"

namespace ricochet::scene {
namespace {

using formula::NodeId;
using formula::Op;

std::vector<double> unit_between(const std::vector<double>& from, const std::vector<double>& to) {
  std::vector<double> way;
  double square = 0.0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    way.push_back(to[i] - from[i]);
    square += way[i] * way[i];
  }
  for (double& component : way) component /= std::sqrt(square);
  return way;
}

}  // namespace

std::string why_apart(const Piece& a, const Piece& b, int dimension) {
  if (a.kind != Piece::Kind::Core && b.kind != Piece::Kind::Core) return "both are without end";
  if (a.kind != Piece::Kind::Core || b.kind != Piece::Kind::Core) return "";
  const std::size_t most = std::max(a.corners.size(), b.corners.size());
  const std::size_t least = std::min(a.corners.size(), b.corners.size());
  const bool is_flat = dimension == 2;
  if (!is_flat && least > 1) {
    return "in space capsules, boxes and polytopes know spheres, points, half-spaces and hollows";
  }
  const bool is_sharp = a.round + b.round == 0.0;
  if (is_sharp && (most <= 2 || least == 2)) return "both are without thickness: give one a radius";
  return "";
}

/// x + R p.
NodeVector ShapeGaps::placed(const Carrier& carrier, const std::vector<double>& point) {
  return sum(graph_, carrier.x, turned(carrier, constants(graph_, point)));
}

NodeVector ShapeGaps::turned(const Carrier& carrier, const NodeVector& local) {
  NodeVector made;
  for (const NodeVector& row : carrier.R) made.push_back(dot(graph_, row, local));
  return made;
}

NodeVector ShapeGaps::turned_back(const Carrier& carrier, const NodeVector& world) {
  NodeVector made;
  for (std::size_t i = 0; i < world.size(); ++i) {
    NodeVector column;
    for (const NodeVector& row : carrier.R) column.push_back(row[i]);
    made.push_back(dot(graph_, column, world));
  }
  return made;
}

NodeVector ShapeGaps::local_of(const Carrier& carrier, const NodeVector& place) {
  return turned_back(carrier, difference(graph_, place, carrier.x));
}

ShapeGaps::Corner ShapeGaps::corner_of(const Carrier& carrier, const Piece& piece, std::size_t k) {
  Corner corner{placed(carrier, piece.corners[k]), piece.round, {}};
  const std::size_t n = piece.corners.size();
  if (n < 3 || carrier.x.size() != 2) return corner;
  for (const std::size_t other : {(k + 1) % n, (k + n - 1) % n}) {
    const std::vector<double> way = unit_between(piece.corners[k], piece.corners[other]);
    corner.sides.push_back(turned(carrier, constants(graph_, way)));
  }
  return corner;
}

Touch ShapeGaps::against_half_space(const Corner& corner, const Carrier& b, const Piece& other) {
  const NodeVector normal = turned(b, constants(graph_, other.normal));
  const NodeVector way = difference(graph_, corner.place, placed(b, other.corners[0]));
  const NodeId height = dot(graph_, normal, way);
  const NodeId gap = graph_.subtract(height, graph_.constant(corner.round));
  return {gap, -1, normal, difference(graph_, corner.place, times(graph_, height, normal))};
}

/// A ball, whose surface is touched from outside, or a hollow.
Touch ShapeGaps::against_centre(const Corner& corner, const Carrier& b, const Piece& other) {
  const NodeVector centre = placed(b, other.corners[0]);
  NodeVector way = difference(graph_, corner.place, centre);
  const NodeId distance = length(graph_, way);
  for (NodeId& component : way) component = graph_.make(Op::Ratio, component, distance);
  if (other.kind == Piece::Kind::Hollow) {
    const NodeId room = graph_.constant(other.round - corner.round);
    const NodeVector place = sum(graph_, centre, times(graph_, graph_.constant(other.round), way));
    return {graph_.subtract(room, distance), -1, times(graph_, graph_.constant(-1.0), way), place};
  }
  const NodeId gap = graph_.subtract(distance, graph_.constant(corner.round + other.round));
  const NodeId half = graph_.multiply(graph_.constant(0.5), gap);
  const NodeId reach = graph_.add(graph_.constant(other.round), half);
  return {gap, -1, way, sum(graph_, centre, times(graph_, reach, way))};
}

/// From the nearest point of a segment, v + s (w - v) with 0 <= s <= 1, to the point.
NodeVector ShapeGaps::from_segment(const NodeVector& point, const std::vector<double>& from,
                                   const std::vector<double>& to) {
  const NodeVector v = constants(graph_, from);
  const NodeVector e = difference(graph_, constants(graph_, to), v);
  const NodeId part =
      graph_.divide(dot(graph_, difference(graph_, point, v), e), dot(graph_, e, e));
  const NodeId s =
      graph_.make(Op::Max, graph_.constant(0.0), graph_.make(Op::Min, graph_.constant(1.0), part));
  return difference(graph_, point, sum(graph_, v, times(graph_, s, e)));
}

/// A ray from the core of the other shape, in its frame, to a corner.
Touch ShapeGaps::touch_at(const Corner& corner, const Carrier& b, const Piece& other,
                          const Ray& ray) {
  Touch touch;
  touch.gap = graph_.subtract(ray.gap, graph_.constant(corner.round + other.round));
  touch.normal = turned(b, ray.normal);
  const NodeId reach = graph_.subtract(ray.gap, graph_.constant(other.round));
  touch.place = difference(graph_, corner.place, times(graph_, reach, touch.normal));
  return touch;
}

Touch ShapeGaps::against_segment(const Corner& corner, const Carrier& b, const Piece& other) {
  NodeVector way = from_segment(local_of(b, corner.place), other.corners[0], other.corners[1]);
  const NodeId distance = length(graph_, way);
  for (NodeId& component : way) component = graph_.make(Op::Ratio, component, distance);
  return touch_at(corner, b, other, {distance, way});
}

/// Whether the foot of a point on the plane of a face lies in the face.
NodeId ShapeGaps::is_over(const NodeVector& point, const Piece& other, std::size_t face) {
  const std::vector<int>& around = other.faces[face];
  const NodeVector n = constants(graph_, other.normals[face]);
  NodeId over = graph_.constant(1.0);
  for (std::size_t k = 0; k < around.size(); ++k) {
    const NodeVector v = constants(graph_, other.corner(around[k]));
    const NodeVector w = constants(graph_, other.corner(around[(k + 1) % around.size()]));
    const NodeVector e = difference(graph_, w, v);
    const auto cross = [&](std::size_t i, std::size_t j) {
      return graph_.subtract(graph_.multiply(n[i], e[j]), graph_.multiply(n[j], e[i]));
    };
    const NodeVector inwards = {cross(1, 2), cross(2, 0), cross(0, 1)};
    const NodeId depth = dot(graph_, inwards, difference(graph_, point, v));
    over = graph_.make(Op::And, over, graph_.make(Op::LessEqual, graph_.constant(0.0), depth));
  }
  return over;
}

/// A ball against a polytope: inside it and over its faces the largest distance from a face's
/// plane, else the distance from the nearest edge.
Touch ShapeGaps::against_polytope(const Corner& corner, const Carrier& b, const Piece& other) {
  const NodeVector point = local_of(b, corner.place);
  const NodeId zero = graph_.constant(0.0);
  std::vector<Ray> faces;
  NodeId by_face = zero;
  for (std::size_t k = 0; k < other.faces.size(); ++k) {
    const NodeVector normal = constants(graph_, other.normals[k]);
    const NodeVector v = constants(graph_, other.corner(other.faces[k][0]));
    faces.push_back({dot(graph_, normal, difference(graph_, point, v)), normal});
    const NodeId above = graph_.make(Op::Less, zero, faces.back().gap);
    by_face = graph_.make(Op::Or, by_face, graph_.make(Op::And, above, is_over(point, other, k)));
  }
  const Ray plain = furthest_edge(faces);
  if (corner.round + other.round == 0.0) return touch_at(corner, b, other, plain);
  by_face = graph_.make(Op::Or, by_face, graph_.make(Op::LessEqual, plain.gap, zero));
  NodeVector nearest;
  NodeId least = -1;
  for (const auto& [from, to] : other.edges) {
    const NodeVector way = from_segment(point, other.corner(from), other.corner(to));
    const NodeId square = dot(graph_, way, way);
    const NodeId less = least < 0 ? graph_.constant(1.0) : graph_.make(Op::Less, square, least);
    nearest = least < 0 ? way : select(graph_, less, way, nearest);
    least = least < 0 ? square : choose(less, square, least);
  }
  const NodeId distance = length(graph_, nearest);
  for (NodeId& component : nearest) component = graph_.make(Op::Ratio, component, distance);
  return touch_at(
      corner, b, other,
      {choose(by_face, plain.gap, distance), select(graph_, by_face, plain.normal, nearest)});
}

/// Whether a side of the corner goes under a face by more than 30 degrees: then, of two faces that
/// are as near, the corner does not lie on this one.
NodeId ShapeGaps::dips(const Corner& corner, const Carrier& b, const NodeVector& normal) {
  const NodeId least = graph_.constant(-0.5);
  NodeId found = graph_.constant(0.0);
  for (const NodeVector& side : corner.sides) {
    const NodeId rise = dot(graph_, turned_back(b, side), normal);
    found = graph_.make(Op::Or, found, graph_.make(Op::Less, rise, least));
  }
  return found;
}

/// The largest distance of a point, in the frame of the polygon, from the lines of its edges.
ShapeGaps::Ray ShapeGaps::furthest_edge(const std::vector<Ray>& edges) {
  Ray best = edges[0];
  for (std::size_t k = 1; k < edges.size(); ++k) {
    const NodeId more = graph_.make(Op::Less, best.gap, edges[k].gap);
    best = {choose(more, edges[k].gap, best.gap),
            select(graph_, more, edges[k].normal, best.normal)};
  }
  return best;
}

/// Of a sharp corner against a sharp polygon: the edge that it lies on, which no side of it goes
/// under; the row exists where the corner is over that edge, that is inside the lines of the
/// others.
ShapeGaps::Ray ShapeGaps::edge_below(const Corner& corner, const Carrier& b, const Piece& other,
                                     const std::vector<Ray>& edges, NodeId& where) {
  const NodeId zero = graph_.constant(0.0);
  const NodeId dipping = graph_.constant(4.0 * other.extent);
  Ray best;
  NodeId score = -1;
  NodeId others = -1;  // the largest distance from all but the best
  for (const Ray& edge : edges) {
    const NodeId penalty = choose(dips(corner, b, edge.normal), dipping, zero);
    const NodeId own = graph_.subtract(edge.gap, penalty);
    if (score < 0) {
      best = edge;
      score = own;
      continue;
    }
    const NodeId more = graph_.make(Op::Less, score, own);
    const NodeId lesser = choose(more, best.gap, edge.gap);
    others = others < 0 ? lesser : graph_.make(Op::Max, others, lesser);
    best = {choose(more, edge.gap, best.gap), select(graph_, more, edge.normal, best.normal)};
    score = choose(more, own, score);
  }
  where = graph_.make(Op::LessEqual, others, graph_.constant(1e-9 * other.extent));
  const Ray plain = furthest_edge(edges);
  return {choose(where, best.gap, plain.gap), select(graph_, where, best.normal, plain.normal)};
}

/// The distance from the corner of a polygon where the point is beyond it.
ShapeGaps::Ray ShapeGaps::or_corner(const NodeVector& point, const Piece& other, Ray ray) {
  const std::size_t n = other.corners.size();
  const NodeId zero = graph_.constant(0.0);
  const auto side = [&](std::size_t k) {
    return constants(graph_, unit_between(other.corners[k], other.corners[(k + 1) % n]));
  };
  for (std::size_t k = 0; k < n; ++k) {
    const NodeVector way = difference(graph_, point, constants(graph_, other.corners[k]));
    const NodeId before = graph_.make(Op::Less, dot(graph_, way, side(k)), zero);
    const NodeId after = graph_.make(Op::Less, zero, dot(graph_, way, side((k + n - 1) % n)));
    const NodeId here = graph_.make(Op::And, before, after);
    const NodeId distance = length(graph_, way);
    NodeVector normal = way;
    for (NodeId& component : normal) component = graph_.make(Op::Ratio, component, distance);
    ray = {choose(here, distance, ray.gap), select(graph_, here, normal, ray.normal)};
  }
  return ray;
}

Touch ShapeGaps::against_polygon(const Corner& corner, const Carrier& b, const Piece& other) {
  const std::size_t n = other.corners.size();
  const NodeVector point = local_of(b, corner.place);
  std::vector<Ray> edges;
  for (std::size_t k = 0; k < n; ++k) {
    const std::vector<double> e = unit_between(other.corners[k], other.corners[(k + 1) % n]);
    const NodeVector normal = constants(graph_, {e[1], -e[0]});
    const NodeVector v = constants(graph_, other.corners[k]);
    edges.push_back({dot(graph_, normal, difference(graph_, point, v)), normal});
  }
  const bool is_round = corner.round + other.round > 0.0;
  if (is_round) return touch_at(corner, b, other, or_corner(point, other, furthest_edge(edges)));
  if (corner.sides.empty()) return touch_at(corner, b, other, furthest_edge(edges));
  NodeId where = -1;
  const Ray below = edge_below(corner, b, other, edges, where);
  Touch touch = touch_at(corner, b, other, below);
  touch.where = where;
  return touch;
}

Touch ShapeGaps::against(const Corner& corner, const Carrier& b, const Piece& other) {
  if (other.kind == Piece::Kind::HalfSpace) return against_half_space(corner, b, other);
  if (other.corners.size() == 1) return against_centre(corner, b, other);
  if (other.corners.size() == 2) return against_segment(corner, b, other);
  return other.faces.empty() ? against_polygon(corner, b, other)
                             : against_polytope(corner, b, other);
}

std::vector<Touch> ShapeGaps::touches(const Carrier& a, const Piece& one, const Carrier& b,
                                      const Piece& other) {
  const bool is_core = one.kind == Piece::Kind::Core;
  const bool other_is_core = other.kind == Piece::Kind::Core;
  const bool both_ways =
      is_core && other_is_core && one.corners.size() > 1 && other.corners.size() > 1;
  std::vector<Touch> found;
  if (is_core && (!other_is_core || one.corners.size() == 1 || both_ways)) {
    for (std::size_t k = 0; k < one.corners.size(); ++k) {
      found.push_back(against(corner_of(a, one, k), b, other));
    }
    if (!both_ways) return found;
  }
  for (std::size_t k = 0; k < other.corners.size(); ++k) {
    found.push_back(against(corner_of(b, other, k), a, one));
    found.back().normal = times(graph_, graph_.constant(-1.0), found.back().normal);
  }
  return found;
}

/// The rate along the motion: df/dt + sum of df/dq_i u_i.
NodeId ShapeGaps::rate(NodeId node, int dofs) {
  constexpr int kTimeSlot = 0;
  const std::vector<int> slots = graph_.inputs_of(node);
  const std::vector<NodeId> slopes = formula::gradient(graph_, node, slots);
  NodeId sum = graph_.constant(0.0);
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const NodeId part = slots[k] == kTimeSlot
                            ? slopes[k]
                            : graph_.multiply(slopes[k], graph_.input(slots[k] + dofs));
    sum = graph_.add(sum, part);
  }
  return sum;
}

/// v + spin x (place - x) in the plane, v + R' R^T (place - x) in space.
NodeVector ShapeGaps::velocity_at(const Carrier& carrier, const NodeVector& place, int dofs) {
  NodeVector velocity;
  for (const NodeId node : carrier.x) velocity.push_back(rate(node, dofs));
  const NodeVector arm = difference(graph_, place, carrier.x);
  if (carrier.x.size() == 2) {
    const NodeId spin = rate(carrier.angle, dofs);
    return {graph_.subtract(velocity[0], graph_.multiply(spin, arm[1])),
            graph_.add(velocity[1], graph_.multiply(spin, arm[0]))};
  }
  const NodeVector local = turned_back(carrier, arm);
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    NodeVector row;
    for (const NodeId node : carrier.R[i]) row.push_back(rate(node, dofs));
    velocity[i] = graph_.add(velocity[i], dot(graph_, row, local));
  }
  return velocity;
}

}  // namespace ricochet::scene
