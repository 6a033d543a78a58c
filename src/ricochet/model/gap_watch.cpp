#include "ricochet/model/gap_watch.h"

#include <array>

#include "ricochet/base/index.h"

namespace ricochet::model {
namespace {

using base::index;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
constexpr double kReach = 64.0;          // steps that a box is made for
constexpr double kLoudReach = 512.0;     // at most
constexpr double kQuietReach = 65536.0;  // where the gap is positive in all of it

double most_of(formula::Range range) { return std::max(std::abs(range.low), std::abs(range.high)); }
/// Whether formulas choose between others.
bool has_kinks(const formula::Graph& graph, const std::vector<formula::NodeId>& nodes) {
  using formula::Op;
  return std::any_of(nodes.begin(), nodes.end(), [&](formula::NodeId id) {
    const Op op = graph[id].op;
    return op == Op::Abs || op == Op::Sign || op == Op::Min || op == Op::Max || op == Op::Select ||
           op == Op::Less || op == Op::LessEqual || op == Op::Equal;
  });
}

/// t and q anywhere near the path.
void take_hull(const StepPath& path, std::size_t dofs, std::vector<formula::Range>& inputs) {
  inputs[0] = {path.t, path.t + path.h};
  for (std::size_t i = 0; i < dofs; ++i) {
    const double half = 0.5 * path.h * std::max(std::abs(path.u0[i]), std::abs(path.u1[i]));
    inputs[1 + i] = {std::min(path.q0[i], path.q1[i]) - half,
                     std::max(path.q0[i], path.q1[i]) + half};
  }
}

/// The nodes that roots are made of. Constants are left out: their values are set here.
std::vector<formula::NodeId> varying_nodes(const formula::Graph& graph,
                                           const std::vector<formula::NodeId>& roots,
                                           std::vector<formula::Range>& values) {
  std::vector<formula::NodeId> nodes = graph.reachable(roots);
  std::erase_if(nodes, [&](formula::NodeId id) {
    if (graph[id].op != formula::Op::Constant) return false;
    values[index(id)] = {graph[id].value, graph[id].value};
    return true;
  });
  return nodes;
}

}  // namespace

GapWatch::GapWatch(const FormulaModel& model)
    : model_(model),
      pattern_(model.pattern()),
      boxes_(pattern_.coordinates.size(), {kInfinity, -kInfinity}),
      slopes_(pattern_.coordinates.size(), kInfinity),
      rates_(index(model.contacts()), 0.0),
      until_(index(model.contacts()), -kInfinity),
      reach_(index(model.contacts()), kReach),
      quiet_(index(model.contacts()), 0),
      far_(index(model.contacts()), 0),
      curves_(model.curves().size(), kInfinity),
      most_(index(model.dofs()), 0.0),
      legs_(2) {
  const formula::Graph& graph = model.system().graph;
  std::size_t first = 0;
  for (int row = 0; row < model.contacts() - model.joints(); ++row) {
    bool affine = true;
    for (std::size_t e = pattern_.begin(row); e <= pattern_.end(row); ++e) {
      affine = affine && graph[model.slopes()[e + index(row)]].op == formula::Op::Constant;
    }
    affine_.push_back(affine ? 1 : 0);
    const bool ends = model.has_where() && model.system().where[index(row)] >= 0;
    if ((!affine || ends) && model.outside_gap(row) < 0) rows_.push_back(row);
    const std::size_t n = pattern_.end(row) - pattern_.begin(row) + 1;
    first_.push_back(first);
    first += n * (n + 1) / 2;
  }
  if (rows_.empty()) return;
  loud_.reserve(rows_.size());
  absent_.reserve(rows_.size());
  common_.resize(most_.size());
  shared_.reserve(most_.size());
  gather();
  plans_.resize(index(model.contacts()));
  inputs_.resize(index(model.system().inputs()));
  values_.resize(graph.size());
  pieces_.reserve(64);
  tube_.resize(most_.size());
  first_speeds_.reserve(most_.size());
  normal_.reserve(most_.size() + 1);
  for (Leg& leg : legs_) {
    leg.from.resize(most_.size());
    leg.way.resize(most_.size());
  }
  constexpr std::size_t kFew = 64;  // of more, most are never looked at
  for (const int row : rows_) {
    if (rows_.size() <= kFew) plan(row);
  }
}

const GapWatch::Plan& GapWatch::plan(int row) {
  Plan& plan = plans_[index(row)];
  if (plan.is_made) return plan;
  plan.is_made = true;
  const FormulaSystem& system = model_.system();
  Nodes roots = {system.gaps[index(row)]};
  const Nodes gap_nodes = system.graph.reachable(roots);
  if (model_.has_where() && system.where[index(row)] >= 0) {
    roots.push_back(system.where[index(row)]);
    const std::vector<int> inputs = system.graph.inputs_of(roots.back());
    const auto is_of_box = [&](int slot) {
      const auto begin = pattern_.coordinates.begin();
      const auto first = begin + static_cast<std::ptrdiff_t>(pattern_.begin(row));
      const auto last = begin + static_cast<std::ptrdiff_t>(pattern_.end(row));
      return std::find(first, last, slot - system.position_slot(0)) != last;
    };
    plan.ends_in_box = std::all_of(inputs.begin(), inputs.end(), is_of_box);
  }
  plan.gap = varying_nodes(system.graph, roots, values_);
  for (std::size_t e = pattern_.begin(row); e <= pattern_.end(row); ++e) {
    roots.push_back(model_.slopes()[e + index(row)]);
  }
  plan.slopes = varying_nodes(system.graph, roots, values_);
  plan.moves = system.graph.depends_on(roots[0], FormulaSystem::kTimeSlot, 1);
  plan.has_kinks = has_kinks(system.graph, gap_nodes);
  if (curves_.empty() || plan.has_kinks) return plan;
  const std::size_t n = pattern_.end(row) - pattern_.begin(row) + 1;
  const auto from = model_.curves().begin() + static_cast<std::ptrdiff_t>(first_[index(row)]);
  const auto entries = static_cast<std::ptrdiff_t>(n * (n + 1) / 2);
  plan.curves = varying_nodes(system.graph, {from, from + entries}, values_);
  return plan;
}

void GapWatch::evaluate(const Nodes& nodes) {
  const formula::Graph& graph = model_.system().graph;
  for (const formula::NodeId id : nodes) {
    const formula::Node& node = graph[id];
    formula::Range& value = values_[index(id)];
    const auto of = [&](std::size_t k) {
      return node.operands[k] < 0 ? formula::Range{} : values_[index(node.operands[k])];
    };
    if (node.op == formula::Op::Input) {
      value = inputs_[index(node.input)];
    } else {
      const bool same = node.operands[0] == node.operands[1];
      value = formula::bound(node.op, of(0), of(1), of(2), same);
    }
  }
}

formula::Range GapWatch::gap(int row) const {
  return values_[index(model_.system().gaps[index(row)])];
}
formula::Range GapWatch::slope(int row, std::size_t e) const {
  return values_[index(model_.slopes()[e + index(row)])];
}
bool GapWatch::may_exist(int row) const {
  if (!model_.has_where() || model_.system().where[index(row)] < 0) return true;
  const formula::Range holds = values_[index(model_.system().where[index(row)])];
  return holds.low != 0.0 || holds.high != 0.0;
}

bool GapWatch::is_outside(const StepPath& path, int row) const {
  if (!(path.t + 2.0 * path.h <= until_[index(row)])) return true;
  for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
    const auto i = index(pattern_.coordinates[e]);
    const double way = 2.0 * moved(path, i);
    if (path.q1[i] - way < boxes_[e].low || path.q1[i] + way > boxes_[e].high) return true;
  }
  return false;
}

/// Bounds of the gap and its slopes over a box around the end of the step, and what the gap may
/// change in it, with its rounding.
double GapWatch::take_box(const StepPath& path, int row, double reach) {
  const auto a = index(row);
  const Plan& plan = this->plan(row);
  inputs_[0] = {path.t - path.h, path.t + reach * path.h};
  until_[a] = plan.moves ? inputs_[0].high : kInfinity;
  for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
    const auto i = index(pattern_.coordinates[e]);
    most_[i] = std::max(most_[i], moved(path, i));
    const double r = reach * most_[i] + kRounding * std::abs(path.q1[i]);
    inputs_[1 + i] = boxes_[e] = {path.q1[i] - r, path.q1[i] + r};
  }
  evaluate(plan.slopes);
  rates_[a] = most_of(slope(row, pattern_.end(row)));
  double change = rates_[a] * (reach + 1.0) * path.h;
  double rounding = 1024.0 * kRounding * rates_[a] * std::abs(path.t);
  for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
    const double size = std::abs(path.q1[index(pattern_.coordinates[e])]);
    slopes_[e] = most_of(slope(row, e));
    change += slopes_[e] * (0.5 * (boxes_[e].high - boxes_[e].low) + 1024.0 * kRounding * size);
    rounding += 1024.0 * kRounding * slopes_[e] * (size + boxes_[e].high - boxes_[e].low);
    if (!(slopes_[e] < kInfinity)) rates_[a] = kInfinity;
  }
  const bool is_open = gap(row).low > 0.0 || (!plan.has_kinks && path.g1[row] > change);
  const bool is_absent = plan.ends_in_box && !may_exist(row);
  quiet_[a] = is_open ? kOpen : is_absent ? kAbsent : 0;
  far_[a] = is_open && std::max(gap(row).low, path.g1[row] - change) > rounding ? 1 : 0;
  return change;
}

/// Bounds of second derivatives over the box that was just taken.
void GapWatch::take_curves(int row) {
  if (plan(row).curves.empty()) return;
  evaluate(plan(row).curves);
  const std::size_t n = pattern_.end(row) - pattern_.begin(row) + 1;
  const std::size_t first = first_[index(row)];
  for (std::size_t k = first; k < first + n * (n + 1) / 2; ++k) {
    curves_[k] = most_of(values_[index(model_.curves()[k])]);
  }
}

/// A box that the motion left is followed by a larger one, and one whose bounds did not prove what
/// they should by a smaller one. Where that is not quiet, one is tried in which the gap should be.
void GapWatch::renew_box(const StepPath& path, int row) {
  constexpr double kFew = 16.0;
  double& reach = reach_[index(row)];
  const bool was_quiet = is_quiet(row);
  const double most = was_quiet ? kQuietReach : kLoudReach;
  reach = is_outside(path, row) ? std::min(4.0 * reach, most) : std::max(0.25 * reach, kReach);
  const double change = take_box(path, row, reach);
  if (is_quiet(row)) return;
  const double fit = 0.5 * reach * path.g1[row] / change;
  if (fit >= kFew) take_box(path, row, fit);
  if (is_quiet(row)) {
    reach = fit;
    return;
  }
  if (was_quiet) reach = kReach;
  if (was_quiet || fit >= kFew) take_box(path, row, reach);
  while (!(rates_[index(row)] < kInfinity) && reach > 1.0) take_box(path, row, reach /= 8.0);
  if (!is_quiet(row)) take_curves(row);
}

/// Of a row that exists nowhere near the path: whether that holds for a few steps.
void GapWatch::try_few(const StepPath& path, int row) {
  constexpr double kFew = 8.0;
  double& reach = reach_[index(row)];
  take_box(path, row, kFew);
  if (is_quiet(row)) {
    reach = kFew;
  } else {
    take_box(path, row, reach);
    if (!is_quiet(row)) take_curves(row);
  }
}

void GapWatch::gather() {
  constexpr double kMost = std::numeric_limits<double>::max();
  loud_.clear();
  absent_.clear();
  shared_.assign(common_.size(), {-kMost, kMost});
  common_until_ = kInfinity;
  all_far_ = !model_.has_where() && static_cast<int>(rows_.size()) == model_.contacts();
  for (const int row : rows_) {
    all_far_ = all_far_ && is_quiet(row) && far_[index(row)] != 0;
    if (!is_quiet(row)) {
      loud_.push_back(row);
      continue;
    }
    if (!is_open(row)) absent_.push_back(row);
    common_until_ = std::min(common_until_, until_[index(row)]);
    for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
      formula::Range& box = shared_[index(pattern_.coordinates[e])];
      box = {std::max(box.low, boxes_[e].low), std::min(box.high, boxes_[e].high)};
    }
  }
  for (std::size_t i = 0; i < common_.size(); ++i) {
    const double center = 0.5 * shared_[i].low + 0.5 * shared_[i].high;
    const double radius = std::min(center - shared_[i].low, shared_[i].high - center);
    common_[i] = {center, radius - kRounding * (std::abs(center) + radius)};
  }
}

void GapWatch::take_legs(const StepPath& path) {
  const std::size_t n = most_.size();
  const double h = path.bends ? 0.5 * path.h : path.h;
  for (Leg& leg : legs_) {
    leg.t = path.t;
    leg.dt = h;
    leg.from.assign(path.q0, path.q0 + n);
    leg.way.resize(n);
  }
  legs_[1].t += h;
  for (std::size_t i = 0; i < n; ++i) {
    if (!path.bends) {
      legs_[0].way[i] = path.q1[i] - path.q0[i];
      continue;
    }
    legs_[0].way[i] = h * path.u0[i];
    legs_[1].way[i] = h * path.u1[i];
    legs_[1].from[i] = path.q1[i] - h * path.u1[i];
  }
}

double GapWatch::gap_at(int row, double t, const double* q, const double* u, double dt) {
  inputs_[0] = {t + dt, t + dt};
  for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
    const auto i = index(pattern_.coordinates[e]);
    inputs_[1 + i] = {q[i] + dt * u[i], q[i] + dt * u[i]};
  }
  evaluate(plan(row).slopes);
  return 0.5 * (gap(row).low + gap(row).high);
}

double GapWatch::tolerance(const StepPath& path, int row) {
  const double d = path.h / 16.0;
  double allowed = kInfinity;
  double rounding = 0.0;
  for (const bool end : {false, true}) {
    const double* q = end ? path.q1 : path.q0;
    const double* u = end ? path.u1 : path.u0;
    const double t = end ? path.t + path.h : path.t;
    const double curve = gap_at(row, t, q, u, d) + gap_at(row, t, q, u, -d);
    const double here = gap_at(row, t, q, u, 0.0);
    const double bend = std::abs(curve - 2.0 * here) * 256.0 / 6.0;
    double fall = 0.0;
    double lost = 0.0;
    for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
      const auto i = index(pattern_.coordinates[e]);
      fall += most_of(slope(row, e)) * 0.25 * path.h * std::abs(path.u1[i] - path.u0[i]);
      lost += most_of(slope(row, e)) * 1024.0 * kRounding * std::abs(q[i]);
    }
    if (lost < kInfinity) rounding = std::max(rounding, lost);
    if (here > 0.0) allowed = std::min(allowed, bend + fall);
  }
  return (allowed < kInfinity ? allowed : 0.0) + rounding;
}

bool GapWatch::exists_at(double t, const double* q, int row) {
  if (!model_.has_where()) return true;
  inputs_[0] = {t, t};
  for (std::size_t i = 0; i < most_.size(); ++i) inputs_[1 + i] = {q[i], q[i]};
  evaluate(plan(row).gap);
  return may_exist(row);
}

bool GapWatch::turns(const StepPath& path, int row, double before) {
  double dot = 0.0, moves = 0.0;
  std::array<double, 2> squares{};
  for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
    if (end == 0) {
      gap_at(row, path.t, path.q0, path.u0, -before * path.h);
    } else {
      gap_at(row, path.t + path.h, path.q1, path.u1, 0.0);
    }
    normal_.resize(pattern_.end(row) - pattern_.begin(row) + 1);
    for (std::size_t e = pattern_.begin(row); e <= pattern_.end(row); ++e) {
      const bool is_time = e == pattern_.end(row);
      const double way = is_time ? path.h : moved(path, index(pattern_.coordinates[e]));
      if (!is_time) moves += way;
      const formula::Range range = slope(row, e);
      const double part = 0.5 * (range.low + range.high) * way;
      double& start = normal_[e - pattern_.begin(row)];
      if (end == 0) start = part;
      dot += end == 0 ? 0.0 : start * part;
      squares[end] += part * part;
    }
  }
  return (moves > 0.0 || plan(row).moves) &&
         !(dot > 0.9 * std::sqrt(squares[0]) * std::sqrt(squares[1]));
}

/// Forces bend the motion within the step, and rounding moves it.
void GapWatch::take_tube(const StepPath& path, bool is_rough) {
  for (std::size_t i = 0; i < tube_.size(); ++i) {
    const double bent = 0.25 * path.h * std::abs(path.u1[i] - path.u0[i]);
    const double late = 0.5 * path.h * std::abs(path.u0[i] - first_speeds_[i]);
    tube_[i] = bent + (is_rough ? late : 0.0) +
               1024.0 * kRounding * std::max(std::abs(path.q0[i]), std::abs(path.q1[i]));
  }
}

/// The inputs of a row between two places of a piece, with the tube around it.
void GapWatch::place_at(const Piece& piece, int row, double from, double to) {
  const Leg& leg = *piece.leg;
  inputs_[0] = {leg.t + from * leg.dt, leg.t + to * leg.dt};
  const auto take = [&](std::size_t i) {
    const double one = leg.from[i] + from * leg.way[i];
    const double other = leg.from[i] + to * leg.way[i];
    const double r = from < to ? kRounding * std::abs(leg.from[i]) + tube_[i] : 0.0;
    inputs_[1 + i] = {std::min(one, other) - r, std::max(one, other) + r};
  };
  if (model_.has_where()) {  // of any coordinates
    for (std::size_t i = 0; i < most_.size(); ++i) take(i);
  } else {
    for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
      take(index(pattern_.coordinates[e]));
    }
  }
}

/// The gap at the middle of a piece; infinite where the contact does not exist.
double GapWatch::value_at(const Piece& piece, int row) {
  const double middle = 0.5 * (piece.from + piece.to);
  place_at(piece, row, middle, middle);
  evaluate(plan(row).gap);
  return may_exist(row) ? 0.5 * (gap(row).low + gap(row).high) : kInfinity;
}

/// By the bound of the gap, or by its value at the middle and the bound of its slope on the way.
bool GapWatch::is_free(const Piece& piece, int row, double allowed) {
  middle_ = value_at(piece, row);
  place_at(piece, row, piece.from, piece.to);
  evaluate(plan(row).slopes);
  if (!may_exist(row) || gap(row).low >= -allowed) return true;
  spread_ = 0.0;
  formula::Range change =
      slope(row, pattern_.end(row)) * formula::Range{piece.leg->dt, piece.leg->dt};
  for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
    const double way = piece.leg->way[index(pattern_.coordinates[e])];
    change = change + slope(row, e) * formula::Range{way, way};
    spread_ += most_of(slope(row, e)) * tube_[index(pattern_.coordinates[e])];
  }
  const double least = middle_ - 0.5 * (piece.to - piece.from) * most_of(change) - spread_;
  return middle_ < kInfinity && least >= -allowed;  // it may exist beside the middle
}

void GapWatch::open(const StepPath& path) {
  pieces_.clear();
  if (path.bends) pieces_.push_back({&legs_[1], 0.0, 1.0});
  pieces_.push_back({&legs_[0], 0.0, 1.0});
}

GapWatch::Finding GapWatch::search(const StepPath& path, int row, double allowed) {
  constexpr double kShortest = 0x1p-30;
  open(path);
  int left = 400;  // pieces to look at
  Finding finding;
  while (!pieces_.empty()) {
    const Piece piece = pieces_.back();
    pieces_.pop_back();
    if (is_free(piece, row, allowed)) continue;
    if (middle_ < -allowed - spread_) return {Verdict::Crossed, row, middle_};
    if (--left <= 0 || piece.to - piece.from < kShortest) {
      finding = {Verdict::Undecided, row, middle_};
      if (left <= 0) return finding;
      continue;
    }
    const double middle = 0.5 * (piece.from + piece.to);
    pieces_.push_back({piece.leg, middle, piece.to});
    pieces_.push_back({piece.leg, piece.from, middle});
  }
  return finding;
}

GapWatch::Finding GapWatch::look(const StepPath& path, std::span<const int> suspects) {
  if (first_speeds_.empty()) first_speeds_.assign(path.u0, path.u0 + most_.size());
  take_legs(path);
  Finding worst;
  for (const int row : suspects) {
    if (is_outside(path, row) || reach_[index(row)] > kReach) {
      renew_box(path, row);
      if (is_clear(path, row)) continue;
    }
    if (model_.has_where()) {
      take_hull(path, most_.size(), inputs_);
      evaluate(plan(row).gap);
      if (!may_exist(row)) {  // nowhere near the path
        if (plan(row).ends_in_box) try_few(path, row);
        continue;
      }
    }
    const bool is_small = turns(path, row);
    if (is_small) take_tube(path, path.rough);
    const Finding finding = is_small ? search(path, row, 0.0) : follow(path, row);
    tube_.assign(tube_.size(), 0.0);
    if (finding.verdict == Verdict::Crossed) return finding;
    if (finding.verdict != Verdict::Clear) worst = finding;
  }
  return worst;
}

/// Of a wall that is larger than the step. Gaps that fall below 0 by no more than the step's own
/// error are no crossing.
GapWatch::Finding GapWatch::follow(const StepPath& path, int row) {
  open(path);
  const bool clear = std::all_of(pieces_.begin(), pieces_.end(),
                                 [&](const Piece& piece) { return is_free(piece, row, 0.0); });
  if (clear) return {};
  Finding finding = search(path, row, tolerance(path, row));
  if (finding.verdict != Verdict::Clear) return finding;
  double bent = 0.0;  // no deeper than a chord is below its arc
  take_tube(path, false);
  for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
    bent += most_of(slope(row, e)) * tube_[index(pattern_.coordinates[e])];
  }
  tube_.assign(tube_.size(), 0.0);
  finding = search(path, row, bent);
  if (finding.verdict == Verdict::Crossed) finding.verdict = Verdict::Undecided;
  return finding;
}

}  // namespace ricochet::model
