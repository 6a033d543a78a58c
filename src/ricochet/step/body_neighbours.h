#pragma once

#include <vector>

#include "ricochet/body/finder.h"
#include "ricochet/step/body_step.h"
#include "ricochet/step/sleeping_bodies.h"

namespace ricochet::step {

/// Where bodies are at the middle of a step, how far they may come in it, and who is near another.
/// Round bodies that are near nobody only fly: the step does nothing else for them.
template <int D>
class BodyNeighbours {
 public:
  using State = body::WorldState<D>;
  BodyNeighbours(BodyStep<D>& step, SleepingBodies<D>& sleeping);
  void use(const base::Executor* executor) { finder_.use(executor); }

  void look_around(const State& s);
  /// All rows but those of islands that sleep; who is near one of them wakes, and is looked for at
  /// least as far as `least`.
  void find_rows(double least, std::vector<body::Row<D>>& rows);
  /// The step's rows, of all bodies as they are placed and reach now.
  void find_anew(double least);
  /// The same with the reach of the step, where places were put back.
  void find_from_new_places();
  /// Rows where bodies that take part reach farther than before, which brings others in; whether
  /// finding them wakes somebody.
  bool find_farther(std::vector<body::Row<D>>& rows);
  /// Bodies are to be put back: all take part, and begin where that puts them.
  void let_all_join();

 private:
  void half_step(std::size_t body);
  void join(std::size_t body);
  void let_join();
  void place_round(std::size_t body, const body::Motion<D>& m, double depth);
  void rouse(std::size_t body, double least);
  void set_reach(std::size_t body, double least);
  void add_reach(std::size_t body, const body::Motion<D>& of);
  void find_span(const State& s);

  BodyStep<D>& step_;
  SleepingBodies<D>& sleeping_;
  body::Finder<D> finder_;
  bool has_endless_{false};  // a driven body without end
  double span_{0.0};         // then: no free body comes farther from the origin [m]
};

extern template class BodyNeighbours<2>;
extern template class BodyNeighbours<3>;

}  // namespace ricochet::step
