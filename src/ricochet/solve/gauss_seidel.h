#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/problem/contact.h"
#include "ricochet/solve/contact_local.h"

namespace ricochet::solve {

struct GaussSeidelSettings {
  // A contact that has changed less than this part of the mean change of the last sweep is quiet
  // and is left out of a number of sweeps that doubles each time, up to `longest_rest`. 0: none is.
  double quiet{0.05};
  int longest_rest{8};
  bool coloured{false};  // contacts of one colour do not touch, so that threads may share them
};

/// Block Gauss-Seidel: each contact in turn is solved exactly (LocalContact) with the others held
/// [Jourdan 1998]. With colours the order is colour by colour, within one the contacts may be done
/// at the same time, and the digits do not depend on who does which.
template <int D>
class GaussSeidel {
 public:
  /// The problem must outlive this.
  GaussSeidel(const problem::LocalProblem& problem, const GaussSeidelSettings& settings,
              base::Executor executor = {});

  /// Takes the problem anew, whose numbers and size may have changed since; without colours nothing
  /// allocates once the largest problem was there.
  void refresh();

  /// One sweep over all contacts that do not rest; r is changed in place. Returns the change,
  /// sqrt of the sum of |dr_i|^2 / rho_i.
  double sweep(Eigen::VectorXd& r);

  /// The next sweep takes every contact.
  void wake();

  /// The mean change of the last sweep, which says what is quiet in the next: it may come from the
  /// problem before.
  double mean_change() const { return mean_change_; }
  void set_mean_change(double change) { mean_change_ = change; }

  /// Contacts solved so far, those that rested not counted.
  std::int64_t solved() const { return solved_; }
  int colours() const { return static_cast<int>(colour_start_.size()) - 1; }

 private:
  using Vector = Eigen::Matrix<double, D, 1>;

  struct Contact {
    LocalContact<D> local;
    double weight{0.0};  // 1 / rho_i
    double lambda{0.0};  // where its last search ended
    int diagonal{0};     // its own block
  };
  struct Chunk {
    int begin{0};  // in order_
    int end{0};
  };
  struct Tally {
    double change{0.0};
    std::int64_t solved{0};
  };
  void colour();
  Tally sweep_chunk(Chunk chunk, Eigen::VectorXd& r);
  void add_blocks(int begin, int end, const double* r, Vector& u) const;
  double solve_contact(int i, double* r);
  void rest(int i, double change);

  problem::LocalProblem problem_;
  GaussSeidelSettings settings_;
  base::Executor executor_;
  std::vector<Contact> contacts_;
  std::vector<std::uint8_t> rests_;
  std::vector<std::uint8_t> next_rest_;
  std::vector<int> order_;         // empty: as they come
  std::vector<int> colour_start_;  // of each colour in chunks_
  std::vector<Chunk> chunks_;
  std::vector<Tally> tallies_;  // by chunk
  double mean_change_{0.0};     // of |dr_i|^2 / rho_i in the last sweep
  std::int64_t solved_{0};
};

extern template class GaussSeidel<2>;
extern template class GaussSeidel<3>;

}  // namespace ricochet::solve
