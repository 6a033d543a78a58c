#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ricochet/study/motion.h"

namespace ricochet::study {

/// A force that a program sets between steps, beside what formulas and functions give.
class Steering : public model::Outside {
 public:
  /// Stands before the functions the system has already; null: none. `has_force`: it uses theirs.
  Steering(std::shared_ptr<const model::Outside> inner, bool has_force, int dofs)
      : inner_(std::move(inner)),
        has_inner_force_(has_force),
        force_(static_cast<std::size_t>(dofs), 0.0) {}

  std::span<double> force() { return force_; }

  int find_gap(const std::string& contact) const override {
    return inner_ ? inner_->find_gap(contact) : -1;
  }
  bool has_force() const override { return true; }
  bool has_mass() const override { return inner_ && inner_->has_mass(); }
  bool force_uses_velocity() const override {
    return has_inner_force_ && inner_->force_uses_velocity();
  }
  double gap(int number, double t, std::span<const double> q) const override {
    return inner_->gap(number, t, q);
  }
  double slope(int number, double t, std::span<const double> q,
               std::span<double> slope) const override {
    return inner_->slope(number, t, q, slope);
  }
  void add_force(double t, std::span<const double> q, std::span<const double> u,
                 std::span<double> force) const override {
    if (has_inner_force_) inner_->add_force(t, q, u, force);
    for (std::size_t i = 0; i < force.size(); ++i) force[i] += force_[i];
  }
  void mass(std::span<const double> q,
            model::Matrix<model::kDynamic, model::kDynamic>& mass) const override {
    inner_->mass(q, mass);
  }

 private:
  std::shared_ptr<const model::Outside> inner_;
  bool has_inner_force_;
  std::vector<double> force_;
};

/// A scene that is run a few steps at a time, for control loops: between two calls of `step` a
/// program reads the state and sets a force, which is constant over the steps. Every step is
/// certified as in `run_scene`, and without a force has the same bits.
class Simulation {
 public:
  /// `observe` sees the start and the end of every `step`. Throws base::InputError for a structure,
  /// a run backwards, step control, and a scheme whose steps are not of one length.
  explicit Simulation(const scene::Scene& scene, step::Observer observe = {});
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// False when a step does not hold what it claims: `certificate` says why, and the simulation
  /// stands where the last step ended that does.
  bool step(long long steps = 1) { return run_->advance(steps); }

  double t() const { return now_.t; }
  const std::vector<double>& q() const { return now_.q; }
  const std::vector<double>& u() const { return now_.u; }
  const std::vector<double>& gaps() const { return now_.gaps; }
  const std::vector<double>& impulses() const { return now_.impulses; }  // of the last `step`
  const Row& row() const { return now_; }
  long long steps() const { return steps_; }
  const certify::Certificate& certificate() const { return run_->certificate(); }

  /// Added to all other forces from now on, one number a coordinate, in the unit of the energies
  /// divided by that of the coordinate.
  std::span<double> force() { return steering_->force(); }
  const std::shared_ptr<Steering>& steering() const { return steering_; }
  void set_force(std::span<const double> force);

  /// Ends it. Nothing else may be asked any more.
  Motion finish();

 private:
  void take(const step::Sample& sample);

  Motion motion_;  // the scene, with the force
  std::shared_ptr<Steering> steering_;
  step::Observer observe_;
  Row now_;
  long long steps_{0};
  std::unique_ptr<step::SteppedRun> run_;
};

}  // namespace ricochet::study
