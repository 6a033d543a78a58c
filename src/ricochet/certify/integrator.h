#pragma once

#include <array>
#include <optional>

namespace ricochet::certify {

/// How a step is made up. The list is closed: a scheme names one of these, and times, points and
/// weights follow from (t, q, u, h, q+, u+) and from what the scene states. With q_M = q + h/2 u,
/// q' = q_M + A_V h u and F = Q - c:
enum class Integrator : char {
  /// Moreau's middles: q+ = q_M + h/2 u+, forces and active contacts at q_M, gradients at q'; a
  /// mass
  /// that varies by the equations of the discrete Lagrangian.          [Moreau 1986, par. 6-7]
  Middle,
  /// The same with active contacts at q', and forces there too where a contact is active.
  ///                                                                    [Moreau 1986, par. 10]
  MiddleAhead,
  /// q+ = q + h u, then M(q+) (u+ - u) = h F(t+, q+, u+) + J^T p, contacts at q+.
  ///                                                                    [Mabrouk 1998 (6)-(9)]
  End,
  /// M(q_M) (u+ - u) = h [theta F+ + (1 - theta) F] + G^T R, q+ = q + h [theta u+ + (1 - theta) u],
  /// contacts at q_M.                                                   [Jean 1999]
  Theta,
  /// M(q) (u+ - u) = h F(t, q, average of u and u+) + J^T p, q+ = q + h u+, p by the mean position
  /// (q+ + e q-)/(1 + e); the first step without contacts.              [Paoli 2001 (3.1)-(3.3)]
  MeanPosition,
  /// Newmark's method on a linear structure: Moreau's middles U = q_M with loads (f- + 2 f + f+)/4
  /// around t_M, p by the mean of the next and the last of them, (U+ + e U-)/(1 + e).
  ///                                                                    [Paoli 2001 (3.9)-(3.15)]
  AveragePosition,
  /// Moreau's middles with F(t_M, q_M, u) and walls of springs and dashpots where q_M is beyond.
  Spring,
  /// Arcs of du/dt = M^-1 (F + J^T r), and impacts at instants.         [Paoli 2001, par. 2]
  Arcs,
  /// Pieces of affine velocity, and impacts at instants inside the step; with v = (u + u+)/2:
  /// q+ = q + h v, M(q_M) (u+ - u) = h F(t_M, q_M, v) + J^T p, J the mean along q+ - q, contacts
  /// that last by 0 <= p, J v + dg/dt >= 0 and one of them 0.            [Moreau 1986, par. 6]
  Affine,
  /// The same with q+ = q + h v, M v = (M(q) u + M(q+) u+)/2, M and forces at q + h/2 v, and a
  /// force
  /// along v that makes the change of T + V the work of forces without a potential. [Gonzalez 1996]
  Conserving,
};

/// Whether pieces are made up of affine velocities, between impacts inside the steps.
inline constexpr bool is_split(Integrator integrator) {
  return integrator == Integrator::Affine || integrator == Integrator::Conserving;
}
/// Whether impacts happen at instants that are located.
inline constexpr bool is_located(Integrator integrator) {
  return integrator == Integrator::Arcs || is_split(integrator);
}

/// Whether laws of contacts are about mean positions, not velocities.
inline constexpr bool takes_means(Integrator integrator) {
  return integrator == Integrator::MeanPosition || integrator == Integrator::AveragePosition;
}

/// What the velocities of active contacts and joints obey, U_ref by name.
enum class ImpactRule : char {
  Newton,   // 0 <= p, U+ + e U >= 0, p (U+ + e U) = 0
  Free,     // the same with U(u') of the free motion in place of U
  Elastic,  // the same with e = 1; of a single contact U+ + U = 0 where U(u') < 0, else p = 0
  Passive,  // Newton's, with 1 in place of e where U > 0: then p (U + U+) <= 0, always
};

/// The velocity at which forces are taken between two positions.     [Paoli 2001 (3.3), Rem. 4.4]
enum class Average : char {
  Central,   // (q+ - q-)/2h: second order; implicit where forces depend on velocities
  Backward,  // (q - q-)/h: explicit
  Forward,   // (q+ - q)/h
};

/// A scheme as a judge knows it: an integrator, and the settings that the scene states.
struct Method {
  Integrator integrator{Integrator::Middle};
  ImpactRule impact{ImpactRule::Newton};
  std::optional<double> restitution{};  // e that the scheme implies; none: each contact states it
  bool contacts_last{false};            // where gaps open by no more than a step's curve
  bool looks_ahead{false};              // contacts with e = 0 act before they are entered
  bool balances_energy{true};           // false for a scheme known to drift
  double anticipation{0.0};             // A_V, of the middles
  bool corrects{false};                 // violations of q_M are put right
  bool corrects_by_pushes{false};       // by pushes alone
  double start_weight{1.0};             // End: part of a step's force in the first velocity
  double theta{0.5};
  Average average{Average::Central};
  double stiffness{0.0};   // of springs, force over gap; 0: by the length of the step
  double accuracy{1e-10};  // of arcs, relative
};

/// What is judged at once. All but the first are refused where the integrator has none.
enum class Piece : char {
  Step,
  Start,   // End: velocities at the start, time stands still; MeanPosition: the first step
  Arc,     // Arcs, Affine, Conserving: between two impacts
  Impact,  // the same, at an instant
  Rest,    // an impact that ends infinitely many; contacts stay as if e were 0
};

/// Where arcs are looked at: the five points of Lobatto's rule, exact to degree 7.
inline constexpr int kArcNodes = 5;
inline constexpr std::array<double, kArcNodes> kArcPoints = {0.0, 0.17267316464601142810, 0.5,
                                                             0.82732683535398857190, 1.0};
inline constexpr std::array<double, kArcNodes> kArcWeights = {1.0 / 20.0, 49.0 / 180.0, 16.0 / 45.0,
                                                              49.0 / 180.0, 1.0 / 20.0};

}  // namespace ricochet::certify
