#pragma once

#include <vector>

#include "ricochet/model/arc_sizes.h"
#include "ricochet/model/gap_path.h"
#include "ricochet/step/node_stages.h"

namespace ricochet::step {

/// What arcs of all kinds have in common: contacts that last, the end, the sizes of the motion.
template <model::Model M>
class ArcBase {
 public:
  static constexpr int K = M::kContacts;
  using Vec = model::Vector<M::kDofs>;
  using State = model::StateOf<M>;

  ArcBase(const M& model, const State& start, Workspace<M>& w)
      : model_(model),
        w_(w),
        path_(model, start.q, start.u),
        bends_(model, start.q),
        bend_(model::Vector<K>::Zero(model.contacts())),
        held_(model.contacts()),
        end_(start) {
    const model::EventMemory& memory = start.memory.events;
    for (const model::Key a : memory.held) {
      if (static_cast<int>(a) < model.contacts()) held_.push(static_cast<int>(a));
    }
    sizes_ = memory.sizes;
    Vec size = start.u;
    model::grow(sizes_, model_, start.q, size);
    model::open_gaps(sizes_, model_, start.t, start.q);
    trial_sizes_ = sizes_;
  }

  void remember(model::EventMemory& memory) const {
    memory.held.clear();
    for (const int a : held_) memory.held.push_back(static_cast<model::Key>(a));
    memory.sizes = sizes_;
  }

  model::IndexList<K>& held() { return held_; }
  double reach() const { return 0.0; }  // [s], of arcs that are series
  const State& end() const { return end_; }
  model::ArcPath<M>& path() { return path_; }
  const model::ArcSizes& sizes() const { return sizes_; }
  /// The last step is made.
  void keep() {
    sizes_ = trial_sizes_;
    model_.gaps(end_.t, end_.q, w_.place);
    model::follow_gaps(sizes_, w_.place.gap);
  }
  /// The gap of contact a at the place that was looked at last; of a start beyond a wall from
  /// there.
  double gap(int a) const {
    if (is_joint(a)) return w_.place.gap[a];
    return w_.place.gap[a] - sizes_.beyond[static_cast<std::size_t>(a)];
  }
  bool is_joint(int a) const { return a >= model_.contacts() - model_.joints(); }
  /// Joints act in all that is solved.
  void add_joints() {
    for (int a = model_.contacts() - model_.joints(); a < model_.contacts(); ++a) {
      w_.claim.active.push(a);
    }
  }

 protected:
  /// d2g/dt2 of contact a under an acceleration.
  double closing_by(const State& s, int a, const Vec& acceleration) {
    w_.claim.active.clear();
    w_.claim.active.push(a);
    bends_.take(s.t, s.q, s.u, w_.claim.active, time_, bend_);
    model_.gaps(s.t, s.q, w_.place);
    model_.gradients(w_.claim.active, w_.place);
    return w_.place.normals.dot(a, acceleration) + bend_[a];
  }

  const M& model_;
  Workspace<M>& w_;
  model::ArcPath<M> path_;
  model::GapBends<M> bends_;
  model::Vector<K> bend_;
  double time_{0.0};          // [s], in which little changes
  model::IndexList<K> held_;  // contacts that last
  State end_;
  model::ArcSizes sizes_;        // of the motion so far
  model::ArcSizes trial_sizes_;  // with the last step
};

}  // namespace ricochet::step
