#include <algorithm>

#include "ricochet/base/index.h"
#include "ricochet/body/rows.h"
#include "ricochet/step/moreau_bodies.h"
#include "ricochet/step/moreau_parts.h"

namespace ricochet::step {

using base::index;
using body::Vec;
namespace {

Eigen::MatrixXd inertia_of(const body::Ease<2>& ease) {
  return Eigen::MatrixXd::Constant(1, 1, ease.inertia);
}
Eigen::MatrixXd inertia_of(const body::Ease<3>& ease) { return ease.inverse.inverse(); }

/// Entries of sparse matrices, and where each free body that rows reach begins.
template <int D>
class Assembly {
 public:
  static constexpr int kFreedoms = D + body::kSpins<D>;
  using Entries = std::vector<Eigen::Triplet<double>>;

  Assembly(const body::World<D>& world, const std::vector<body::Ease<D>>& eases,
           const std::vector<body::Motion<D>>& free)
      : world_(world), eases_(eases), free_(free), begin_(world.bodies.size(), -1) {}

  /// Its columns (n, t) of H: (1, arm ×) of the impulses on a body, less those on the other.
  void add(const body::Row<D>& row, int contact) {
    for (const bool of_a : {true, false}) {
      const int b = of_a ? row.body_a : row.body_b;
      if (!world_.body(b).is_free()) continue;
      const int at = place(b);
      for (int k = 0; k < D; ++k) {
        const Vec<D> p = (of_a ? 1.0 : -1.0) * body::in_space(row, Vec<D>(Vec<D>::Unit(k)));
        Eigen::Matrix<double, kFreedoms, 1> column;
        column << p, body::moment(of_a ? row.arm_a : row.arm_b, p);
        for (int i = 0; i < kFreedoms; ++i) H_.emplace_back(at + i, D * contact + k, column[i]);
      }
    }
  }

  /// M v = H r + f, u = H^T v + w with v without impulses as given and q = H^T v + w.
  problem::GlobalForm made(const Eigen::VectorXd& q) const {
    problem::GlobalForm form;
    form.M.resize(size_, size_);
    form.M.setFromTriplets(M_.begin(), M_.end());
    form.H.resize(size_, q.size());
    form.H.setFromTriplets(H_.begin(), H_.end());
    Eigen::VectorXd v(size_);
    for (std::size_t b = 0; b < begin_.size(); ++b) {
      if (begin_[b] >= 0) v.segment<kFreedoms>(begin_[b]) << free_[b].v, free_[b].spin;
    }
    form.f = form.M * v;
    form.w = q - form.H.transpose() * v;
    return form;
  }

 private:
  int place(int b) {
    int& at = begin_[index(b)];
    if (at >= 0) return at;
    at = size_;
    size_ += kFreedoms;
    for (int k = 0; k < D; ++k) M_.emplace_back(at + k, at + k, world_.body(b).mass);
    const Eigen::MatrixXd inertia = inertia_of(eases_[index(b)]);
    for (int i = 0; i < body::kSpins<D>; ++i) {
      for (int j = 0; j < body::kSpins<D>; ++j) {
        if (inertia(i, j) != 0.0) M_.emplace_back(at + D + i, at + D + j, inertia(i, j));
      }
    }
    return at;
  }

  const body::World<D>& world_;
  const std::vector<body::Ease<D>>& eases_;
  const std::vector<body::Motion<D>>& free_;
  std::vector<int> begin_;
  int size_{0};
  Entries M_;
  Entries H_;
};

}  // namespace

template <int D>
problem::Report MoreauBodies<D>::capture(const State& s, double h,
                                         problem::ContactProblem& contacts) {
  certify::BodyClaim<D> claim;
  Parts& p = *parts_;
  BodyStep<D>& step = p.step;
  step.level = std::max(first_level_, static_cast<certify::Level>(s.effort.level));
  step.begin(s, h);
  contacts = {};
  contacts.dim = D;
  p.sleeping.wake_all();
  const problem::Report report = find_contacts(s, claim);
  if (report.status != problem::Status::Solved) return report;
  p.turns.begin();
  p.problem.begin();
  for (const int i : step.who) step.free_velocity(index(i));
  if (!p.turns.linearise()) return {.status = problem::Status::NoConvergence};
  p.problem.pose(s, true);
  Assembly<D> assembly(step.world, p.contacts.eases(), step.after);
  for (std::size_t k = 0; k < step.rows.size(); ++k) {
    assembly.add(step.rows[k], static_cast<int>(k));
    contacts.mu.push_back(p.contacts.friction()[k]);
  }
  contacts.q = p.contacts.free().head(contacts.rows());
  contacts.matrix = assembly.made(contacts.q);
  return report;
}

template problem::Report MoreauBodies<2>::capture(const State&, double, problem::ContactProblem&);
template problem::Report MoreauBodies<3>::capture(const State&, double, problem::ContactProblem&);

}  // namespace ricochet::step
