#include "ricochet/dynamics/lyapunov.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ricochet/base/error.h"
#include "ricochet/base/json.h"
#include "ricochet/base/text.h"
#include "ricochet/base/version.h"
#include "ricochet/flow/flow.h"

namespace ricochet::dynamics {
namespace {

/// Growth of each column in blocks of equal length; when there are too many, two become one.
class Blocks {
 public:
  static constexpr std::size_t kMost = 64;

  void add(const std::vector<double>& growth, double impacts) {
    rows_.push_back(growth);
    impacts_.push_back(impacts);
  }
  bool are_full() const { return rows_.size() == kMost; }
  void halve() {
    for (std::size_t k = 0; 2 * k + 1 < rows_.size(); ++k) {
      rows_[k] = rows_[2 * k];
      for (std::size_t i = 0; i < rows_[k].size(); ++i) rows_[k][i] += rows_[2 * k + 1][i];
      impacts_[k] = impacts_[2 * k] + impacts_[2 * k + 1];
    }
    rows_.resize(rows_.size() / 2);
    impacts_.resize(rows_.size());
  }
  double mean(std::size_t i, double length) const {
    double sum = 0.0;
    for (const std::vector<double>& row : rows_) sum += row[i];
    return sum / (length * static_cast<double>(rows_.size()));
  }
  double error(std::size_t i, double length) const {
    return error_of_mean([&](std::size_t k) { return rows_[k][i] / length; });
  }
  double error_of_rate(double length) const {
    return error_of_mean([&](std::size_t k) { return impacts_[k] / length; });
  }
  void keep_columns(std::size_t count) {
    for (std::vector<double>& row : rows_) row.resize(count);
  }
  std::size_t size() const { return rows_.size(); }

 private:
  template <class Value>
  double error_of_mean(const Value& value) const {
    const auto count = static_cast<double>(rows_.size());
    double sum = 0.0, squares = 0.0;
    for (std::size_t k = 0; k < rows_.size(); ++k) sum += value(k);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      squares += (value(k) - sum / count) * (value(k) - sum / count);
    }
    return count > 1.0 ? std::sqrt(squares / (count - 1.0) / count) : 0.0;
  }

  std::vector<std::vector<double>> rows_;
  std::vector<double> impacts_;  // of each block
};

class Measurement {
 public:
  Measurement(const scene::Scene& scene, const LyapunovSettings& settings, step::Monitor* monitor)
      : settings_(settings),
        monitor_(monitor),
        equations_(*scene.formulas(), true, {}),
        flow_(equations_, {.period = scene.dynamics.period}),
        period_(scene.dynamics.period) {
    flow_.start(scene.start.t, scene.start.q, scene.start.u);
    columns_ = 2 * (equations_.dofs() - equations_.joints());
  }

  Lyapunov run() {
    settle();
    double block = settings_.until > 0.0 ? settings_.until / Blocks::kMost : 20.0 * unit_;
    start_ = flow_.elapsed();
    const double trace = flow_.trace(), determinants = flow_.log_determinants();
    impacts_ = impacts_before_ = events_ = 0;
    base_ = last_ = flow_.growth();
    while (pass(block) && !flow_.growth().empty()) {
      take();
      if (!blocks_.are_full()) continue;
      if (settings_.until > 0.0 || is_known(block) || events_ > settings_.most_events) break;
      blocks_.halve();
      block *= 2.0;
    }
    if (flow_.growth().empty()) {  // nothing is left to grow: the rate is still of interest
      (void)pass(settings_.until > 0.0 ? settings_.until : 1000.0 * unit_);
    }
    conclude(block, trace, determinants);
    return std::move(found_);
  }

 private:
  bool is_stopped() {
    if (monitor_ != nullptr) monitor_->steps = events_;
    found_.interrupted = monitor_ != nullptr && monitor_->stop;
    return found_.interrupted;
  }

  /// For this time; false when the motion ends.
  bool pass(double time) {
    const double end = flow_.elapsed() + time;
    while (flow_.elapsed() < end) {
      const flow::Event event = flow_.advance(end - flow_.elapsed());
      if (event.kind == flow::EventKind::Failure) return false;
      if (event.kind == flow::EventKind::Impact) ++impacts_;
      if (event.kind != flow::EventKind::End) ++events_;
      if (is_stopped()) return false;
    }
    flow_.orthonormalise();
    return true;
  }

  /// Lets the motion settle, and finds a time that is natural to it.
  void settle() {
    constexpr double kUnits = 200.0;
    unit_ = period_;
    const bool has_times = settings_.settle >= 0.0 && settings_.until > 0.0;
    if (!(unit_ > 0.0) && !has_times) {
      double time = 0.0;
      int events = 0;
      while (events < 100 && time < 1e4) {
        const flow::Event event = flow_.advance(1e2);
        if (event.kind == flow::EventKind::Failure) break;
        time = flow_.elapsed();
        if (event.kind != flow::EventKind::End) ++events;
      }
      unit_ = events > 0 ? time / events : 1.0;
    }
    const double wanted = settings_.settle >= 0.0 ? settings_.settle : kUnits * unit_;
    if (wanted > flow_.elapsed()) (void)pass(wanted - flow_.elapsed());
  }

  void take() {
    std::vector<double> growth = flow_.growth();
    blocks_.keep_columns(growth.size());
    base_.resize(growth.size());
    std::vector<double> change(growth.size());
    for (std::size_t i = 0; i < growth.size(); ++i) change[i] = growth[i] - last_[i];
    blocks_.add(change, static_cast<double>(impacts_ - impacts_before_));
    impacts_before_ = impacts_;
    last_ = std::move(growth);
    found_.history.emplace_back(flow_.elapsed() - start_,
                                (last_[0] - base_[0]) / (flow_.elapsed() - start_));
  }

  bool is_known(double block) const {
    double largest = 0.0;
    for (std::size_t i = 0; i < last_.size(); ++i) {
      largest = std::max(largest, std::abs(blocks_.mean(i, block)));
    }
    return blocks_.error(0, block) <= settings_.tolerance * largest;
  }

  void conclude(double block, double trace, double determinants) {
    found_.settled = start_;
    found_.time = flow_.elapsed() - start_;
    found_.impacts = impacts_;
    found_.rate = found_.time > 0.0 ? static_cast<double>(impacts_) / found_.time : 0.0;
    found_.rate_error = blocks_.error_of_rate(block);
    found_.broken = flow_.broken();
    found_.failure = flow_.failure();
    found_.largest_factor = flow_.largest_factor();
    found_.lost = columns_ - static_cast<int>(flow_.growth().size());
    if (blocks_.size() < 2 || !found_.broken.empty()) return;
    std::vector<std::size_t> order(flow_.growth().size());
    std::iota(order.begin(), order.end(), 0);
    blocks_.keep_columns(order.size());
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return blocks_.mean(a, block) > blocks_.mean(b, block);
    });
    for (const std::size_t i : order) {
      found_.exponents.push_back(blocks_.mean(i, block));
      found_.errors.push_back(blocks_.error(i, block));
    }
    found_.dimension = kaplan_yorke(found_.exponents);
    found_.has_sum = !flow_.has_lost_rank() && found_.failure.empty() && !found_.interrupted;
    if (!found_.has_sum) return;
    found_.trace = (flow_.trace() - trace) / found_.time;
    found_.of_impacts = (flow_.log_determinants() - determinants) / found_.time;
    found_.sum_residual = found_.sum() - found_.trace - found_.of_impacts;
  }

  LyapunovSettings settings_;
  step::Monitor* monitor_;
  flow::Equations equations_;
  flow::Flow flow_;
  double period_;
  double unit_{1.0};
  double start_{0.0};
  int columns_{0};  // variations that there are without contacts
  long long impacts_{0};
  long long impacts_before_{0};  // the block that is being filled
  long long events_{0};
  Blocks blocks_;
  std::vector<double> base_, last_;
  Lyapunov found_;
};

}  // namespace

double Lyapunov::sum() const { return std::accumulate(exponents.begin(), exponents.end(), 0.0); }

double kaplan_yorke(const std::vector<double>& exponents) {
  double sum = 0.0;
  for (std::size_t k = 0; k < exponents.size(); ++k) {
    if (sum + exponents[k] < 0.0) return static_cast<double>(k) + sum / std::abs(exponents[k]);
    sum += exponents[k];
  }
  return static_cast<double>(exponents.size());
}

Lyapunov lyapunov(const scene::Scene& scene, const LyapunovSettings& settings,
                  step::Monitor* monitor) {
  if (scene.world() != nullptr) {
    throw base::InputError("world", "exponents of bodies are not computed",
                           "write the motion as formulas of a [system]");
  }
  if (scene.formulas() == nullptr) {
    throw base::InputError("structure", "exponents are those of a [system] in formulas",
                           "write the structure's modes as a system");
  }
  return Measurement(scene, settings, monitor).run();
}

std::string to_json(const Lyapunov& found, const scene::Scene& scene) {
  base::Json json;
  json["format"] = 1;
  json["scene"] = scene.file;
  json["exponents"] = found.exponents;
  json["errors"] = found.errors;
  json["lost"] = found.lost;
  json["sum"] = found.sum();
  json["trace"] = found.has_sum ? base::Json(found.trace) : base::Json();
  json["impacts_sum"] = found.has_sum ? base::Json(found.of_impacts) : base::Json();
  json["sum_residual"] = found.has_sum ? base::Json(found.sum_residual) : base::Json();
  json["dimension"] = found.dimension;
  json["rate"] = found.rate;
  json["rate_error"] = found.rate_error;
  json["impacts"] = found.impacts;
  json["time"] = found.time;
  json["settled"] = found.settled;
  json["largest_factor"] = found.largest_factor;
  const bool exists = found.broken.empty();
  json["derivative"] = exists ? base::Json() : base::Json("none, " + found.broken);
  json["failure"] = found.failure.empty() ? base::Json() : base::Json(found.failure);
  json["interrupted"] = found.interrupted;
  json["version"] = base::kVersion;
  return json.pretty() + "\n";
}

std::string describe(const Lyapunov& found, const scene::Scene& scene) {
  using base::entry;
  std::string text = scene.title + "\n";
  text += fmt::format("from event to event, {:g} after {:g}: {}\n\n", found.time, found.settled,
                      base::counted(found.impacts, "impact"));
  if (!found.failure.empty()) text += entry("ended", found.failure);
  if (!found.broken.empty()) text += entry("derivative", "none, " + found.broken);
  for (std::size_t i = 0; i < found.exponents.size(); ++i) {
    text += entry(fmt::format("exponent {}", i + 1),
                  base::with_bar(found.exponents[i], found.errors[i]));
  }
  if (found.lost > 0) {
    text += entry("and", fmt::format("{} of -infinity: a lasting contact forgets as much",
                                     base::counted(found.lost, "exponent")));
  }
  if (found.has_sum) {
    text += entry("sum", fmt::format("{:.6g} = {:.6g} of arcs, <tr f_y>, and {:.6g} of events, ln "
                                     "|det S|; residual {:.1e}",
                                     found.sum(), found.trace, found.of_impacts,
                                     std::abs(found.sum_residual)));
  }
  if (!found.exponents.empty()) {
    text += entry("dimension", fmt::format("{:.4f} (Kaplan and Yorke)", found.dimension));
  }
  const auto impacts_per = [&](double time, const char* unit) {
    const double rate = found.rate * time, error = found.rate_error * time;
    return fmt::format(
        "{} per {}", error > 0.0 ? base::with_bar(rate, error) : fmt::format("{:.6g}", rate), unit);
  };
  text += entry("impacts", impacts_per(1.0, "unit of time"));
  if (const double T = scene.dynamics.period; T > 0.0) text += entry("", impacts_per(T, "period"));
  if (found.largest_factor > 0.0) {
    text += entry("slowest", fmt::format("impact at speed {:.2e}", 1.0 / found.largest_factor));
  }
  return text;
}

}  // namespace ricochet::dynamics
