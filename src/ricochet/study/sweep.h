#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/scene/members.h"
#include "ricochet/step/lanes.h"

namespace ricochet::study {

/// How the run of a member ended.
struct MemberEnd {
  std::string status;  // "ok", or what failed
  long long steps{0};
  double t{0.0};
  std::vector<double> q, u;
  double residual{0.0};
  double violation{0.0};
  double energy{0.0};             // T + V
  std::vector<long long> shocks;  // by contact
};

struct SweepSettings {
  std::size_t lanes{certify::kLanes};  // runs that go together, where they can; 1: none
  base::Width width{base::widest()};   // of them that the processor takes at once
  /// Sees everything of every member, on the thread that ran it.
  std::function<void(std::size_t member, const step::Outcome&,
                     const model::State<model::kDynamic>&)>
      look{};
};

/// What a sweep did.
struct SweepOutcome {
  std::size_t members{0};  // that were run
  std::size_t failed{0};   // of them
  long long steps{0};
  long long documents{0};  // how often the scene was read for it
  bool interrupted{false};
  double seconds{0.0};
};

/// Runs all members without rows, and tells their ends in their order. The scene is read once where
/// numbers make the members; memory does not grow with their number. Results depend neither on the
/// executor nor on lanes. Throws base::InputError for the first member that is none.
SweepOutcome sweep(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
                   const scene::Family& over, const base::Executor& executor,
                   const std::function<void(std::size_t member, const MemberEnd&)>& tell,
                   const SweepSettings& settings = {}, step::Monitor* monitor = nullptr);

/// Names of the columns of a table of members, and a row of it. Throws base::InputError where two
/// would have the same name.
std::string sweep_header(const scene::Scene& scene, const scene::Family& over);
std::string sweep_row(const scene::Family& over, std::size_t member, const MemberEnd& end);

}  // namespace ricochet::study
