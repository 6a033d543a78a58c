#include "ricochet/study/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "ricochet/study/run_report.h"

namespace ricochet::study {
namespace {

/// What is kept of a member that was read and not run.
struct Reading {
  long long steps{0};
  double rows{0.0};
  double bytes{0.0};
  record::FamilyCommon common;
  bool same_coordinates{true};
  std::exception_ptr error;
};

Reading reading_of(const scene::Scene& first, const scene::Scene& scene) {
  Reading reading;
  reading.steps = scene.run.steps;
  reading.rows = record::expected_rows(scene.run);
  reading.bytes = record::estimate_bytes(scene.columns, reading.rows);
  reading.common = record::compare_settings(settings_of(first), settings_of(scene));
  reading.same_coordinates = scene.columns.coordinates == first.columns.coordinates;
  return reading;
}

/// Lowers `value` to `other` if that is less.
void lower_to(std::atomic<std::size_t>& value, std::size_t other) {
  std::size_t now = value.load();
  while (other < now && !value.compare_exchange_weak(now, other)) {
  }
}

}  // namespace

void run_in_order(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t k = 0; k < count; ++k) work(k);
}

FamilyPlan plan_family(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
                       const Executor& executor) {
  std::vector<Reading> readings(scene.family.size());
  std::atomic<std::size_t> first_fault{readings.size()};
  executor(readings.size(), [&](std::size_t k) {
    if (k > first_fault.load()) return;
    try {
      readings[k] = reading_of(scene, scene::read_member(scene, overrides, k));
    } catch (...) {
      readings[k].error = std::current_exception();
      lower_to(first_fault, k);
    }
  });
  FamilyPlan plan;
  for (const Reading& reading : readings) {
    if (reading.error) std::rethrow_exception(reading.error);
    plan.steps += static_cast<double>(reading.steps);
    plan.rows += reading.rows;
    plan.bytes += reading.bytes;
    plan.common.scheme = plan.common.scheme && reading.common.scheme;
    plan.common.step = plan.common.step && reading.common.step;
    plan.common.settings = plan.common.settings && reading.common.settings;
    plan.same_coordinates = plan.same_coordinates && reading.same_coordinates;
  }
  return plan;
}

std::string member_file(std::size_t number, std::size_t members) {
  const std::size_t digits = std::max<std::size_t>(3, std::to_string(members).size());
  return fmt::format("trajectory-{:0{}}.csv", number, digits);
}

}  // namespace ricochet::study
