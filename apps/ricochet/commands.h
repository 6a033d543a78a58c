#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ricochet::app {

/// What a command leaves behind, as the process' exit code.
enum ExitCode : int {
  kFine = 0,
  kFailed = 1,  // a certificate failed, a stated fact is not met
  kBadInput = 2,
  kInternal = 3,
  kInterrupted = 130,
};

struct SceneArguments {
  std::string file;
  std::string text;  // of the file, read once: a pipe cannot be read again
  std::string scheme;
  std::string step;
  std::string until;
  std::string steps;
  std::vector<std::string> set;
};

struct RunArguments {
  SceneArguments scene;
  std::string out;
  bool backward{false};  // into the past
  bool quiet{false};
  bool report{false};
  std::string error_bar;  // none, pair; empty: up to a million steps
  int threads{0};         // for the members of a family, 0: one for each core; for a world, 0: one
  std::vector<std::pair<std::string, std::string>> dumps;  // steps, and files for their contacts
};

struct InspectArguments {
  SceneArguments scene;
  std::string at;
  bool json{false};
};

struct GalleryArguments {
  std::string name;
  bool all{false};
  std::string out;
  bool report{false};
};

struct ConvergeArguments {
  SceneArguments scene;
  std::string steps;  // "0.01,0.005"
  std::string reference;
  std::string window;
  std::string out;
  bool json{false};
};

struct CompareArguments {
  SceneArguments scene;
  std::string schemes;  // "elast,inel"
  std::string reference;
  std::string reference_scheme;
  std::string window;
  std::string out;
  bool json{false};
};

/// Of the studies of attractors.
struct DynamicsArguments {
  SceneArguments scene;
  std::string time;
  std::string settle;
  std::string show;
  std::vector<std::string> over;  // "A=0.3..1.2:900"
  std::string follow;
  std::string seeds;
  std::string schemes;     // of invariants
  std::string steps;       // "0.01,0.005"
  std::string per_period;  // "100,400.618"
  std::string periods;
  std::string out;
  bool lyapunov{false};  // exponents under a diagram
  bool json{false};
  int threads{0};  // 0: one for each core
  int lanes{64};   // of a sweep
};

struct ImportArguments {
  std::string file;
  std::string out;    // empty: standard output
  std::string until;  // end of the scene's run
  bool fixed_base{false};
};

struct PlotArguments {
  std::vector<std::string> files;
  SceneArguments scene;  // file may be empty
  std::string x;
  std::vector<std::string> y;
  std::string log;
  std::optional<double> after;  // [s]
  bool equal{false};
  std::string out;
  bool png{false};
  bool quiet{false};
};

struct SolveArguments {
  std::vector<std::string> files;
  std::string solver;
  std::string tolerance;
  std::string time_limit;
  std::string out;
  bool json{false};
  bool rank{false};
  int threads{0};  // 0: one for each core
};

int command_new(const std::string& file);
int command_import(const ImportArguments& arguments);
int command_schemes();
int command_run(const RunArguments& arguments);
/// `picture`: where the start is drawn; empty: nowhere.
int command_check(const SceneArguments& arguments, const std::string& picture);
int command_inspect(const InspectArguments& arguments);
int command_gallery(const GalleryArguments& arguments);
int command_converge(const ConvergeArguments& arguments);
int command_compare(const CompareArguments& arguments);
int command_lyapunov(const DynamicsArguments& arguments);
int command_section(const DynamicsArguments& arguments);
int command_bifurcate(const DynamicsArguments& arguments);
int command_basin(const DynamicsArguments& arguments);
int command_invariants(const DynamicsArguments& arguments);
int command_sweep(const DynamicsArguments& arguments);
int command_solve(const SolveArguments& arguments);
int command_plot(const PlotArguments& arguments);

}  // namespace ricochet::app
