#pragma once

#include <string>

#include "ricochet/study/companions.h"
#include "ricochet/study/family.h"
#include "ricochet/study/run_report.h"
#include "support.h"

namespace ricochet::testing {

/// A run with its error bar.
struct Barred {
  study::Motion motion;
  study::ErrorBar bar;
  template <class Index>  // of loops, with a sign or without
  double place(Index k) const {
    return motion.final_state.q[static_cast<Eigen::Index>(k)];
  }
  template <class Index>
  double rate(Index k) const {
    return motion.final_state.u[static_cast<Eigen::Index>(k)];
  }
};

inline Barred run_barred(const std::string& text,
                         study::BarChoice choice = study::BarChoice::Auto) {
  study::Companions companions(read_text(text), choice);
  Barred barred;
  barred.motion = companions.run(false, {}, nullptr);
  barred.bar = companions.compare(barred.motion, study::run_in_order, nullptr);
  return barred;
}

inline std::string describe(const Barred& barred) {
  study::RunReport report;
  report.motion = barred.motion;
  report.error_bar = barred.bar;
  return study::describe(report);
}

}  // namespace ricochet::testing
