#include "ricochet/step/newmark.h"

#include <limits>

namespace ricochet::step {

problem::Report NewmarkStages::advance(StructureStep& s, const structure::Motion& now, double t_mid,
                                       structure::Motion& next) {
  const double h = s.h_;
  s.smooth_loads(t_mid);                // F' = (G- + 2 G + G+)/4                  (3.13)
  s.middle_ = now.q + 0.5 * h * now.u;  // U
  s.find_free(now, s.middle_);          // A^-1 h (F' - C u - K U): the step without guides
  s.read_guides(now, 0.5);
  for (Eigen::Index k = 0; k < s.free_.size(); ++k) {
    // U+ + e U- = (1 + e) U + h (u+ - e u) between (1 + e) times the clearances  (3.10)-(3.12)
    const structure::Guide& guide = s.structure_.guides[static_cast<std::size_t>(k)];
    const double e = guide.restitution;
    s.low_[k] = e * s.before_[k] + (1.0 + e) * (guide.lower - s.place_[k]) / h;
    s.high_[k] = e * s.before_[k] + (1.0 + e) * (guide.upper - s.place_[k]) / h;
  }
  const problem::Report report = s.solve_guides();  // Lemma 3.2                   (3.15)
  s.push(now, next);                                // u+ = u + A^-1 (r + G^T p)
  next.q = s.middle_ + 0.5 * h * next.u;
  return report;
}

/// 0 <= p, u+ + e u >= 0 where a side touches; no bound elsewhere.
void StructureStages::bound_touching(StructureStep& s) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (Eigen::Index k = 0; k < s.free_.size(); ++k) {
    const structure::Guide& guide = s.structure_.guides[static_cast<std::size_t>(k)];
    const double back = -guide.restitution * s.before_[k];
    s.low_[k] = s.place_[k] <= guide.lower ? back : -kInfinity;
    s.high_[k] = s.place_[k] >= guide.upper ? back : kInfinity;
  }
}

problem::Report StructureStages::advance_moreau(StructureStep& s, const structure::Motion& now,
                                                double t_mid, structure::Motion& next) {
  s.take_loads(t_mid);
  s.middle_ = now.q + 0.5 * s.h_ * now.u;  // q_M
  s.find_free(now, s.middle_);             // u' with K (q + q+)/2 and C (u + u+)/2
  s.read_guides(now, 0.5);
  bound_touching(s);  // active: g(q_M) <= 0
  const problem::Report report = s.solve_guides();
  s.push(now, next);
  next.q = s.middle_ + 0.5 * s.h_ * next.u;
  return report;
}

problem::Report StructureStages::advance_mabrouk(StructureStep& s, const structure::Motion& now,
                                                 double t_mid, structure::Motion& next) {
  s.take_loads(t_mid + 0.5 * s.h_);
  next.q = now.q + s.h_ * now.u;
  s.find_free(now, next.q);  // forces at q+ and C u+
  s.read_guides(now, 1.0);
  bound_touching(s);  // active: g(q+) <= 0
  const problem::Report report = s.solve_guides();
  s.push(now, next);
  return report;
}

problem::Report StructureStages::advance_penalty(StructureStep& s, const structure::Motion& now,
                                                 double t_mid, structure::Motion& next) {
  s.take_loads(t_mid);
  s.middle_ = now.q + 0.5 * s.h_ * now.u;
  s.find_free(now, s.middle_);
  s.read_guides(now, 0.5);
  const problem::Report report = s.solve_springs();
  s.push(now, next);
  next.q = s.middle_ + 0.5 * s.h_ * next.u;
  return report;
}

}  // namespace ricochet::step
