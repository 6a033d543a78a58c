#include "ricochet/body/joints.h"

#include "ricochet/body/rows.h"

namespace ricochet::body {
namespace {

/// Where the two points of a joint are, and its arms.
template <int D>
struct Seats {
  Vec<D> arm_a;
  Vec<D> arm_b;
  Vec<D> way;  // from the point of a to that of b
  double size{0.0};

  Seats(const Joint<D>& joint, const Motion<D>& a, const Motion<D>& b) {
    if constexpr (D == 2) {
      arm_a = Eigen::Rotation2Dd(a.angle) * joint.on_a;
      arm_b = Eigen::Rotation2Dd(b.angle) * joint.on_b;
    } else {
      arm_a = a.turn * joint.on_a;
      arm_b = b.turn * joint.on_b;
    }
    way = (b.x - a.x) + (arm_b - arm_a);
    size = joint.size + a.x.norm() + b.x.norm() + arm_a.norm() + arm_b.norm();
  }
};

/// A difference of the two points along a fixed direction.
template <int D>
JointRow<D> point_row(const Seats<D>& seats, const Vec<D>& along) {
  return {seats.way.dot(along), along, moment(seats.arm_a, along), moment(seats.arm_b, along),
          seats.size};
}

/// The same along a direction that turns with a: its impulse acts at the point of b on both.
template <int D>
JointRow<D> rail_row(const Seats<D>& seats, const Vec<D>& along) {
  return {seats.way.dot(along), along, moment(Vec<D>(seats.arm_a + seats.way), along),
          moment(seats.arm_b, along), seats.size};
}

template <int D>
JointRow<D> length_row(const Seats<D>& seats) {
  const double length = seats.way.norm();
  const Vec<D> along = length > 0.0 ? Vec<D>(seats.way / length) : Vec<D>(Vec<D>::Unit(0));
  JointRow<D> row = point_row<D>(seats, along);
  row.gap = length;
  return row;
}

/// one · other of axes of a and b.
JointRow<3> axis_row(const Vec<3>& of_a, const Vec<3>& of_b) {
  const Vec<3> about = of_b.cross(of_a);
  return {of_a.dot(of_b), Vec<3>::Zero(), about, about, 4.0};
}

template <int D>
int add_points(const Seats<D>& seats, JointRows<D>& rows) {
  for (int k = 0; k < D; ++k) {
    rows.held[static_cast<std::size_t>(k)] = point_row<D>(seats, Vec<D>::Unit(k));
  }
  return D;
}

template <int D>
void add_length(const Joint<D>& joint, const Seats<D>& seats, JointRows<D>& rows) {
  rows.free = length_row<D>(seats);
  rows.held[0] = rows.free;
  rows.held[0].gap -= joint.length;
  rows.held[0].size += joint.length;
}

constexpr double kTurn = 6.283185307179586;

/// The angle of a hinge in space is known up to turns: it is taken half a turn about the middle of
/// its limits, so that nobody comes beyond one from the other side.
double middle_of(const Joint<3>& joint) {
  return joint.has_limits ? 0.5 * (joint.low + joint.high) : joint.start;
}

}  // namespace

JointRows<2> rows_of(const Joint<2>& joint, const Motion<2>& a, const Motion<2>& b) {
  const Seats<2> seats(joint, a, b);
  const double at_a = a.angle + joint.frame_a;
  const double at_b = b.angle + joint.frame_b;
  const JointRow<2> angle{at_b - at_a, Vec<2>::Zero(), 1.0, 1.0,
                          std::abs(a.angle) + std::abs(joint.frame_a) + std::abs(b.angle) +
                              std::abs(joint.frame_b) + 1.0};
  JointRows<2> rows;
  switch (joint.kind) {
    case JointKind::Ball:
    case JointKind::Hinge:
      add_points(seats, rows);
      rows.free = angle;
      rows.free.gap += joint.start;
      break;
    case JointKind::Weld:
      add_points(seats, rows);
      rows.held[2] = angle;
      break;
    case JointKind::Slider: {
      const Vec<2> axis(std::cos(at_a), std::sin(at_a));
      rows.held[0] = rail_row<2>(seats, Vec<2>(-axis[1], axis[0]));
      rows.held[1] = angle;
      rows.free = rail_row<2>(seats, axis);
      rows.free.gap += joint.start;
      break;
    }
    case JointKind::Distance: add_length(joint, seats, rows); break;
  }
  return rows;
}

JointRows<3> rows_of(const Joint<3>& joint, const Motion<3>& a, const Motion<3>& b) {
  const Seats<3> seats(joint, a, b);
  const shape::Mat<3> of_a = a.turn.toRotationMatrix() * joint.frame_a;
  const shape::Mat<3> of_b = b.turn.toRotationMatrix() * joint.frame_b;
  JointRows<3> rows;
  const auto keep_turn = [&](std::size_t first) {  // right angles between axes of a and of b
    for (int k = 0; k < 3; ++k) {
      rows.held[first + static_cast<std::size_t>(k)] = axis_row(of_a.col(k), of_b.col((k + 1) % 3));
    }
  };
  switch (joint.kind) {
    case JointKind::Ball: add_points(seats, rows); break;
    case JointKind::Hinge: {
      add_points(seats, rows);
      rows.held[3] = axis_row(of_a.col(1), of_b.col(0));
      rows.held[4] = axis_row(of_a.col(2), of_b.col(0));
      const Vec<3> axis = of_a.col(0);
      const double angle = std::atan2(of_a.col(2).dot(of_b.col(1)), of_a.col(1).dot(of_b.col(1)));
      const double middle = middle_of(joint) - joint.start;
      rows.free = {middle + std::remainder(angle - middle, kTurn) + joint.start, Vec<3>::Zero(),
                   axis, axis, 4.0};
      break;
    }
    case JointKind::Weld:
      add_points(seats, rows);
      keep_turn(3);
      break;
    case JointKind::Slider:
      rows.held[0] = rail_row<3>(seats, of_a.col(1));
      rows.held[1] = rail_row<3>(seats, of_a.col(2));
      keep_turn(2);
      rows.free = rail_row<3>(seats, of_a.col(0));
      rows.free.gap += joint.start;
      break;
    case JointKind::Distance: add_length(joint, seats, rows); break;
  }
  return rows;
}

}  // namespace ricochet::body
