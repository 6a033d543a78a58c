#include "ricochet/dynamics/defect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"

namespace ricochet::dynamics {
namespace {

constexpr std::size_t kMostRows = 512;  // that are looked at
constexpr std::size_t kMostPassed = 8;  // rows between which only one of both met a wall
constexpr double kSafety = 2.5;
constexpr double kSquares = 2.0;
constexpr double kSpread = 4.0;    // times what rounding makes of a mean square
constexpr double kLarge = 0.5;     // of the motion: a bar that tells nothing
constexpr double kAlike = 0.05;    // of the motion: defects of other numbers of slow impacts
constexpr double kExact = 1e-13;   // of the motion: what a series loses
constexpr double kSlowest = 2e-3;  // of the fastest impact: slower ones do not count
constexpr double kNear = 3.0;      // times what E makes of the time of an impact

}  // namespace

DefectBar::DefectBar(const scene::Scene& scene, bool is_wanted)
    : scene_(scene), is_wanted_(is_wanted) {
  if (!is_wanted) {
    not_made_ = "not asked for";
    return;
  }
  if (scene.formulas() == nullptr) {
    not_made_ = "defects are those of systems of coordinates";
    return;
  }
  n_ = scene.formulas()->dofs();
  if (n_ > kMostDofs) not_made_ = fmt::format("defects are for {} coordinates at most", kMostDofs);
  if (scene.run.backward) not_made_ = "defects are those of runs forwards";
}

void DefectBar::add(const step::Sample& sample) {
  if (!not_made_.empty()) return;
  last_.t = sample.t;
  last_.y.resize(2 * n_);
  std::copy(sample.q.begin(), sample.q.end(), last_.y.data());
  std::copy(sample.u.begin(), sample.u.end(), last_.y.data() + n_);
  if (seen_++ % every_ != 0) return;
  rows_.push_back(last_);
  if (rows_.size() <= 2 * kMostRows) return;
  every_ *= 2;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < rows_.size(); k += 2) rows_[kept++] = rows_[k];
  rows_.resize(kept);
}

/// Half of what each coordinate and velocity covers; none is less than a hundredth of the others'.
void DefectBar::take_sizes() {
  Eigen::VectorXd low = rows_[0].y, high = low;
  for (const Row& row : rows_) {
    low = low.cwiseMin(row.y);
    high = high.cwiseMax(row.y);
  }
  sizes_ = 0.5 * (high - low);
  for (const Eigen::Index first : {Eigen::Index{0}, n_}) {
    const double place = low.cwiseAbs().cwiseMax(high.cwiseAbs()).segment(first, n_).maxCoeff();
    const double least =
        std::max({1e-2 * sizes_.segment(first, n_).maxCoeff(), 1e-6 * place, 1e-14});
    sizes_.segment(first, n_) = sizes_.segment(first, n_).cwiseMax(least);
  }
}

int DefectBar::shocks_between(double from, double to) const {
  const auto first = std::upper_bound(shocks_.begin(), shocks_.end(), from);
  return static_cast<int>(std::upper_bound(first, shocks_.end(), to) - first);
}

/// The exact motion for so long; false where it ends.
bool DefectBar::advance(flow::Flow& flow, double time, int& impacts) {
  const double end = flow.elapsed() + time;
  for (int events = 0; flow.elapsed() < end && events < 100000; ++events) {
    const flow::Event event = flow.advance(end - flow.elapsed());
    if (event.kind == flow::EventKind::End) break;
    if (event.kind == flow::EventKind::Failure) {
      why_ = "the exact motion cannot be followed: " + flow.failure();
      return false;
    }
    if (event.kind != flow::EventKind::Impact) continue;
    if (event.approach >= slow_) ++impacts;
    struck_ = flow.elapsed();
    approach_ = event.approach;
    jump_ = (flow.u() - flow.u_before()).cwiseAbs();
  }
  flow.orthonormalise();  // columns up to here; they are kept as they are
  if (!flow.broken().empty()) why_ = "there is no derivative: " + flow.broken();
  return why_.empty();
}

/// From a row to the next one at which both met as many walls, or that is nearest to it.
bool DefectBar::follow(flow::Flow& flow, std::size_t from, Window& best) {
  const Row& row = rows_[from];
  flow.start(row.t, row.y.head(n_), row.y.tail(n_));
  best.off = std::numeric_limits<double>::infinity();
  struck_ = -std::numeric_limits<double>::infinity();
  int impacts = 0;
  for (std::size_t to = from + 1; to < rows_.size() && to <= from + kMostPassed; ++to) {
    if (!advance(flow, rows_[to].t - rows_[to - 1].t, impacts)) return false;
    Window window{to, impacts, rows_[to].y, flow.columns()};
    window.defect.head(n_) -= flow.q();
    window.defect.tail(n_) -= flow.u();
    window.off = window.defect.cwiseQuotient(sizes_).cwiseAbs().maxCoeff();
    const bool alike = impacts == shocks_between(row.t, rows_[to].t);
    if (window.off < best.off || alike) best = std::move(window);
    if (alike) return true;
  }
  if (best.off <= kAlike || best.end + 1 == rows_.size()) return true;
  why_ = fmt::format("it meets walls where the exact motion does not, after t = {:.6g}", row.t);
  return false;
}

double DefectBar::rounding(Eigen::Index i) const { return kSpread * std::sqrt(spread_(i, i)); }

/// The error and what rounding adds, in the sizes of the motion.
double DefectBar::part() const {
  double largest = 0.0;
  for (Eigen::Index i = 0; i < sizes_.size(); ++i) {
    largest = std::max(largest, (std::abs(error_[i]) + rounding(i)) / sizes_[i]);
  }
  return largest;
}

double DefectBar::width(Eigen::Index i) const {
  const double square = part() * part();
  return kSafety * std::abs(error_[i]) + kSquares * square * sizes_[i] + rounding(i);
}

void DefectBar::note(const Row& row, record::ErrorBar& bar) const {
  bar.times.push_back(row.t);
  for (Eigen::Index i = 0; i < n_; ++i) {
    bar.middle.push_back(row.y[i]);
    bar.band.push_back(width(i));
  }
}

/// Bars at the end; a shock beside it may have happened or not.
void DefectBar::finish(flow::Flow& flow, record::ErrorBar& bar) {
  const double end = flow.elapsed();
  const double way = error_.head(n_).norm() + 2.0 * scene_.run.step * flow.u().norm();
  const auto near = [&] { return kNear * way / std::max(approach_, 1e-300); };
  bool may_miss = end - struck_ <= near();
  Eigen::VectorXd jump = may_miss ? jump_ : Eigen::VectorXd::Zero(n_);
  int impacts = 0;
  struck_ = -1.0;
  flow.keep_columns(true);
  const double ahead = std::min(kNear * way / std::max(flow.u().norm(), 1e-300),
                                0.05 * (rows_.back().t - rows_[0].t));
  if (advance(flow, ahead, impacts) && struck_ > end && struck_ - end <= near()) {
    jump = jump.size() == n_ ? jump.cwiseMax(jump_).eval() : jump_;
  }
  why_.clear();
  for (Eigen::Index i = 0; i < n_; ++i) {
    bar.position.push_back(width(i));
    bar.velocity.push_back(width(n_ + i) + jump[i]);
  }
}

record::ErrorBar DefectBar::take(const step::Outcome& outcome) {
  if (!outcome.certificate.ok() || outcome.interrupted) not_made_ = "the run did not reach its end";
  if (not_made_.empty() && last_.t > rows_.back().t) rows_.push_back(last_);
  if (not_made_.empty() && rows_.size() < 3) not_made_ = "it has fewer than 3 rows";
  if (!not_made_.empty()) return record::ErrorBar::none(not_made_);
  record::ErrorBar bar;
  double fastest = 0.0;
  for (const auto& shock : outcome.certificate.shocks) fastest = std::max(fastest, shock.approach);
  slow_ = kSlowest * fastest;
  for (const auto& shock : outcome.certificate.shocks) {
    const bool counts = !shock.tangential && !shock.transmitted && shock.approach >= slow_;
    if (counts) shocks_.push_back(shock.t);
  }
  take_sizes();
  error_ = Eigen::VectorXd::Zero(2 * n_);
  spread_ = Eigen::MatrixXd::Zero(2 * n_, 2 * n_);
  jump_ = Eigen::VectorXd::Zero(n_);
  try {
    flow::Equations equations(*scene_.formulas(), true, {});
    flow::Flow flow(equations, {});
    flow.keep_columns(true);
    bar.made = true;
    note(rows_[0], bar);
    for (std::size_t k = 0; k + 1 < rows_.size() && why_.empty();) {
      Window window;
      if (!follow(flow, k, window)) {
        bar.horizon = rows_[k].t;
        break;
      }
      spread_ = window.columns * spread_ * window.columns.transpose();
      spread_.diagonal() += (kExact * sizes_).cwiseAbs2();
      error_ = window.columns * error_ + window.defect;
      k = window.end;
      note(rows_[k], bar);
      if (part() <= kLarge) continue;
      bar.horizon = rows_[k].t;
      why_ = "its error is more than half as large as the motion";
    }
    bar.unresolved = why_;
    finish(flow, bar);
  } catch (const base::InputError& error) {
    return record::ErrorBar::none(error.message());
  }
  return bar;
}

}  // namespace ricochet::dynamics
