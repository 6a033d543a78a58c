#include "run_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "family_page.h"
#include "family_text.h"
#include "old_files.h"
#include "progress.h"
#include "ricochet/base/archive.h"
#include "ricochet/host/folder_lock.h"
#include "ricochet/host/member_monitors.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/ranks.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/host/threads.h"
#include "ricochet/plot/run_plot.h"
#include "scene_file.h"

namespace ricochet::app {
namespace {

constexpr std::size_t kMostPaths = 50;  // in one picture

/// What all threads share: each writes to the places of its own members, and `stop_with` is
/// guarded.
class FamilyRunner {
 public:
  FamilyRunner(const RunArguments& arguments, const FolderOptions& options,
               const scene::Scene& scene, const std::filesystem::path& folder,
               const study::FamilyPlan& plan, step::Monitor& whole)
      : scene_(scene),
        changes_(changes_of(arguments.scene)),
        options_(options),
        folder_(folder),
        plan_(plan),
        whole_(whole),
        draws_all_(plan.same_coordinates && scene.family.size() <= kMostPaths),
        members_(scene.family.size()),
        data_(draws_all_ ? scene.family.size() : 1) {}

  void run(const base::Ranks& ranks, const study::Executor& executor) {
    const base::Stopwatch clock;
    host::MemberMonitors monitors(whole_, members_.size());
    const auto work = [&](std::size_t k) {
      try {
        run_member(k, monitors[k]);
      } catch (const host::OutputError& error) {
        stop_with(k, error.what(), nullptr);
      } catch (...) {
        stop_with(k, "", std::current_exception());
      }
    };
    (void)base::run_all(
        ranks, executor, members_.size(), work, [&](std::size_t k) { return pass({}, k); },
        [&](std::size_t k, const std::string& bytes) { pass(base::Archive(bytes), k); });
    seconds_ = clock.seconds();
    if (fault_.exception) std::rethrow_exception(fault_.exception);
  }

  /// The picture and the summary; throws host::OutputError after the summary has said why.
  record::FamilySummary write() const {
    record::FamilySummary summary = summarise();
    if (summary.output_error.empty() && first_) {
      const std::string svg = picture();
      summary.output_error = host::try_to_write(folder_ / kPlot, svg);
      if (options_.report && summary.output_error.empty()) {
        summary.output_error =
            host::try_to_write(folder_ / kReport, family_page(scene_, summary, members_, svg));
      }
    }
    const std::string last = host::try_to_write(folder_ / kSummary, record::to_json(summary));
    if (summary.output_error.empty()) summary.output_error = last;
    if (!summary.output_error.empty()) throw host::OutputError(summary.output_error);
    return summary;
  }

  const std::vector<std::optional<MemberRun>>& members() const { return members_; }

 private:
  /// The first member, in their order, that ended it for all.
  struct Fault {
    std::size_t member{0};
    std::string output_error;
    std::exception_ptr exception;
  };

  void stop_with(std::size_t member, const std::string& output_error, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    const bool is_first = fault_.output_error.empty() && !fault_.exception;
    if (is_first || member < fault_.member) fault_ = {member, output_error, std::move(error)};
    whole_.stop.store(true);
  }

  /// What is kept of a member, from one process to another, or what ended it.
  std::string pass(base::Archive archive, std::size_t k) {
    Fault fault;
    {
      const std::lock_guard lock(mutex_);
      if (fault_.member == k) fault = fault_;
    }
    std::string words = words_of(fault.exception);
    const bool had_fault = !fault.output_error.empty() || !words.empty();
    archive(fault.output_error, words);
    MemberRun kept = members_[k].value_or(MemberRun{});
    archive(kept);
    if (k < data_.size()) archive(data_[k]);
    if (!had_fault && !fault.output_error.empty()) stop_with(k, fault.output_error, nullptr);
    if (!had_fault && !words.empty()) {
      stop_with(k, "", std::make_exception_ptr(std::runtime_error(words)));
    }
    if (!kept.row.json.empty()) members_[k] = std::move(kept);
    return archive.bytes();
  }

  static std::string words_of(const std::exception_ptr& exception) {
    try {
      if (exception) std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  void run_member(std::size_t k, step::Monitor& monitor) {
    const scene::Scene scene = scene::read_member(scene_, changes_, k);
    const std::string file = study::member_file(k + 1, members_.size());
    FolderOptions options = options_;
    options.show_progress = options.report = false;
    options.member = file;
    options.runs_in_picture = data_.size();
    FolderRun run = run_into(folder_, scene, options, monitor);
    if (!run.summary.output_error.empty()) stop_with(k, run.summary.output_error, nullptr);
    // What holds for all is said once.
    if (run.summary.facts_not_checked == options_.no_facts) run.summary.facts_not_checked.clear();
    members_[k] = digest(k, file, run);
    if (k < data_.size()) data_[k] = std::move(run.picture);
    if (k > 0) return;
    run.motion.scene.text.clear();
    first_ = std::move(run);
  }

  MemberRun digest(std::size_t k, const std::string& file, const FolderRun& run) const {
    const certify::Certificate& c = run.motion.outcome.certificate;
    record::FamilyMember member{k + 1, {}, file};
    for (std::size_t key = 0; key < scene_.family.keys.size(); ++key) {
      const scene::Value& value = scene_.family.value(k, key);
      auto& [name, held] = member.values.emplace_back(scene_.family.keys[key].name, value.number);
      if (value.kind == scene::Value::Kind::Text) held = value.text;
    }
    MemberRun kept;
    kept.row = record::row_of(member, run.summary, plan_.common);
    kept.steps = run.motion.outcome.steps;
    kept.rows = run.rows;
    kept.residual = c.residual_max;
    kept.violation = c.violation_max;
    kept.failure_time = c.ok() ? 0.0 : c.failure_time;
    for (const study::Fact& fact : run.facts) {
      if (!fact.holds) kept.unmet.push_back(fmt::format("{} ({})", fact.statement, fact.found));
    }
    const auto& q = run.motion.final_state.q;
    kept.final_place.assign(q.begin(), q.end());
    constexpr std::size_t kMostNames = 6;
    const std::vector<std::string>& names = run.motion.scene.columns.coordinates;
    for (std::size_t i = 0; i < names.size() && names.size() <= kMostNames; ++i) {
      kept.final_words += fmt::format("{}{} = {:.6g}", i == 0 ? "" : ", ", names[i],
                                      run.motion.final_state.q[static_cast<Eigen::Index>(i)]);
    }
    return kept;
  }

  record::FamilySummary summarise() const {
    record::FamilySummary summary;
    summary.first = study::settings_of(scene_);
    summary.first.overrides = options_.overrides;
    if (!scene_.expectations.empty()) summary.first.facts_not_checked = options_.no_facts;
    summary.common = plan_.common;
    for (const scene::FamilyKey& key : scene_.family.keys) summary.keys.push_back(key.name);
    summary.members = members_.size();
    for (const std::optional<MemberRun>& member : members_) {
      if (!member) continue;
      summary.rows.push_back(member->row);
      summary.steps += member->steps;
    }
    summary.output_error = fault_.output_error;
    summary.wall_seconds = seconds_;
    return summary;
  }

  /// All paths, where there are not too many; else the first one.
  std::string picture() const {
    const scene::Scene& first = first_->motion.scene;
    std::string subtitle = scene_.source + (scene_.source.empty() ? "" : "; ");
    if (!draws_all_) {
      subtitle += fmt::format("member 1 of {}: {}", members_.size(), scene_.family.describe(0));
      return plot::draw_run(first, data_[0], first_->motion.outcome.certificate,
                            first_->motion.structure, subtitle)
          .svg;
    }
    plot::Block block{&first.plot, {}, ""};
    for (std::size_t k = 0; k < data_.size(); ++k) {
      if (data_[k].data().rows() == 0) continue;
      block.runs.push_back({&data_[k].data(), scene_.family.describe(k), first.formulas(),
                            k == 0 ? &first_->motion.outcome.certificate : nullptr});
    }
    subtitle += describe_members(scene_.family);
    if (first.formulas() != nullptr && !first.columns.contacts.empty())
      subtitle += "; walls of member 1";
    return plot::draw_sheet({block}, {first.title, subtitle, first.plot.caption}).svg;
  }

  const scene::Scene& scene_;
  const std::vector<scene::Override> changes_;
  const FolderOptions options_;
  const std::filesystem::path folder_;
  const study::FamilyPlan plan_;
  step::Monitor& whole_;
  const bool draws_all_;
  std::vector<std::optional<MemberRun>> members_;
  std::vector<plot::RunPicture> data_;
  std::optional<FolderRun> first_;
  std::mutex mutex_;
  Fault fault_;
  double seconds_{0.0};
};

void note_size(const study::FamilyPlan& plan, std::size_t members) {
  if (plan.bytes < 1e9) return;
  fmt::print(stderr,
             "note: these {} runs will write about {:.1f} GB in all; run.record = N keeps\n"
             "every N-th row only\n",
             members, plan.bytes / 1e9);
}

/// Whether a certificate failed or a fact is not met.
bool has_fault(const std::vector<std::optional<MemberRun>>& members) {
  return std::any_of(members.begin(), members.end(), [](const auto& member) {
    if (!member) return false;
    const std::string& status = member->row.status;
    const bool is_fine = status == "ok" || status == "interrupted" || status == "unresolved";
    return !is_fine || !member->unmet.empty();
  });
}

/// Files and words about all members; the exit code.
int conclude(const RunArguments& arguments, const FolderOptions& options, const scene::Scene& scene,
             const std::filesystem::path& folder, const FamilyRunner& runner) {
  const record::FamilySummary summary = runner.write();
  const std::string status = record::status_of(summary), lost = host::lost_ranks();
  const bool fault = has_fault(runner.members());
  if (!arguments.quiet || fault) {
    const char* const pictures = options.report ? "plot.svg, report.html" : "plot.svg";
    fmt::print(arguments.quiet ? stderr : stdout, "{}",
               describe_family(scene, summary, runner.members(), folder, pictures));
  }
  std::fflush(stdout);
  if (fault && !arguments.quiet) {
    fmt::print(stderr, "error: {}\n",
               status == "ok" ? "a stated fact is not met" : "a member failed: " + status);
  }
  if (!lost.empty()) fmt::print(stderr, "error: {}; what was done before is written\n", lost);
  if (fault || !lost.empty()) return kFailed;
  return status == "interrupted" ? kInterrupted : kFine;
}

}  // namespace

int run_family(const RunArguments& arguments, const FolderOptions& options,
               const scene::Scene& scene, const std::filesystem::path& folder) {
  host::StopSignals signals;
  const study::Executor executor = host::make_executor(arguments.threads, signals.monitor().stop);
  const study::FamilyPlan plan = study::plan_family(scene, changes_of(arguments.scene), executor);
  if (signals.monitor().stop.load()) {
    if (!arguments.quiet) fmt::print(stderr, "interrupted: nothing was run or changed\n");
    return kInterrupted;
  }
  const base::Ranks& ranks = host::ranks();
  const bool is_first = ranks.rank == 0;
  std::optional<host::FolderLock> lock;
  if (is_first) {
    if (!arguments.quiet) note_size(plan, scene.family.size());
    lock.emplace(folder);
    { const host::OutputFile probe(folder / kSummary); }  // what cannot be replaced is kept
    remove_old_files(folder);
  }
  host::wait_for_ranks();
  FamilyRunner runner(arguments, options, scene, folder, plan, signals.monitor());
  {
    std::optional<ProgressBar> bar;
    if (!arguments.quiet && is_first) {
      bar.emplace(signals.monitor(), std::llround(std::min(plan.steps / ranks.count, 9e18)));
    }
    runner.run(ranks, executor);
  }
  if (!is_first) return kFine;
  return conclude(arguments, options, scene, folder, runner);
}

}  // namespace ricochet::app
