#pragma once

#include <utility>
#include <vector>

#include "ricochet/certify/body_trial.h"

namespace ricochet::certify {

/// The way of bodies from their start to their first middle, x + ½h v. Rows look ahead from one
/// middle to the next, so that none sees it: neither at the start of a run, where all begin, nor at
/// a birth.
template <int D>
class BodyStarts {
 public:
  explicit BodyStarts(BodyTrial<D>& trial);

  /// That no pair, one of which begins in this step, is through at the first middle, or so deep
  /// there that it would be put back on the far side.
  bool check();

 private:
  struct Ball {
    double low{0.0};  // along the first axis
    double high{0.0};
    body::Vec<D> middle = body::Vec<D>::Zero();
    double radius{0.0};  // of the shape, grown by its way
    int solid{0};
  };
  bool any_begins() const;
  bool begins(std::size_t body) const;
  double way_of(std::size_t body) const;
  body::Motion<D> place_at(int body, double part) const;
  bool find_ways();
  void list_balls();
  bool check_pairs();
  bool check_pair(int a, int b);
  bool is_put_back(int a, int b);
  bool refuse(int a, int b, double depth, double step);

  BodyTrial<D>& trial_;
  std::vector<double> births_;        // ascending
  std::vector<double> width_;         // by solid
  double least_width_{0.0};           // of all
  std::vector<double> ways_;          // by body, in this step
  std::vector<char> begins_;          // by body
  std::vector<shape::Row<D>> found_;  // of a pair, for a moment
  std::vector<Ball> balls_;           // by low
};

extern template class BodyStarts<2>;
extern template class BodyStarts<3>;

}  // namespace ricochet::certify
