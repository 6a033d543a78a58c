#include "ricochet/study/force_probe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ricochet::study {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMatters = 0.01;     // of the largest momentum of a coordinate
constexpr double kDelay = 0.005;      // of the time, by which a mass that is not seen matters
constexpr double kHeld = 0.01;        // of what static friction holds against
constexpr double kPart = 1.0 / 16.0;  // of what matters
constexpr double kNoise = 1e-12;      // of a value
constexpr double kSmallPart = 0.1;    // of what matters: less is not summed up
constexpr int kMostPieces = 8000;
constexpr int kMostOfSteps = 4000;  // of a few steps
constexpr int kDeepest = 24;        // halves of a step
constexpr std::size_t kMostCoordinates = 32;
constexpr std::size_t kMostInstructions = 2000;

}  // namespace

std::array<std::size_t, 3> friction_registers(const model::FormulaModel& model, int a) {
  std::size_t at = model.friction_output(a);
  const model::Pattern& pattern = model.slip_pattern();
  for (int j = 0; j < model.slips(a); ++j) {
    at += pattern.end(2 * a + j) - pattern.begin(2 * a + j) + 1;
  }
  const auto& outputs = model.friction_tape().outputs(0);
  return {outputs[at], outputs[at + 1], outputs[at + 2]};
}

ForceProbe::ForceProbe(const model::FormulaModel& model, const Trace& trace, const Pushes& pushes,
                       double h, bool in_middle, bool nets)
    : model_(model), trace_(trace), pushes_(pushes), h_(h), in_middle_(in_middle), nets_(nets) {
  for (std::vector<double>* v : {&limits_, &from_.q, &from_.u, &to_.q, &to_.u}) {
    v->assign(trace.positions(), 0.0);
  }
}

bool ForceProbe::has_work(const model::FormulaModel& model) {
  if (static_cast<std::size_t>(model.dofs()) > kMostCoordinates || model.outside() != nullptr) {
    return false;
  }
  const auto varies = [](const formula::Tape& tape) {
    const auto& outputs = tape.outputs(0);
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](std::size_t at) { return !tape.is_constant(at); });
  };
  return varies(model.force_tape()) || (model.has_friction() && varies(model.friction_tape())) ||
         !model.has_constant_mass();
}

bool ForceProbe::holds_statically() const {
  for (int a = 0; model_.has_friction() && a < model_.contacts(); ++a) {
    if (model_.slip(a).friction.kind == model::FrictionKind::StaticDynamic) return true;
  }
  return false;
}

void ForceProbe::run_tape(const formula::Tape& tape, const Place& place,
                          std::vector<double>& registers) {
  registers[0] = place.t;
  const auto after = std::copy(place.q.begin(), place.q.end(), registers.begin() + 1);
  std::copy(place.u.begin(), place.u.end(), after);
  tape.run(0, registers.data());
}

void ForceProbe::momenta_at(const Place& place, std::span<double> out) {
  if (!model_.has_constant_mass()) {
    std::vector<double> registers = model_.momentum_tape().registers();
    run_tape(model_.momentum_tape(), place, registers);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = registers[model_.momentum_tape().outputs(0)[i]];
    }
    return;
  }
  model::Vector<model::kDynamic> u(model_.dofs()), p(model_.dofs());
  for (int i = 0; i < u.size(); ++i) u[i] = place.u[static_cast<std::size_t>(i)];
  model_.mass().apply(u, p);
  std::copy(p.data(), p.data() + p.size(), out.begin());
}

/// What matters: a part of the largest momentum of a coordinate.
void ForceProbe::take_momenta() {
  std::vector<double> p(limits_.size());
  for (std::size_t k = 0; k < trace_.marks(); ++k) {
    place_at(trace_.since_start(k), to_);
    momenta_at(to_, p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      limits_[i] = std::max(limits_[i], kMatters * std::abs(p[i]));
    }
  }
}

void ForceProbe::follow(const formula::Tape& tape, std::vector<Channel> channels) {
  tape_ = &tape;
  channels_ = std::move(channels);
  registers_ = tape.registers();
  ranges_ = tape.range_registers();
  for (std::vector<double>* v : {&low_, &high_, &value_, &missed_, &floors_, &totals_}) {
    v->assign(channels_.size(), 0.0);
  }
}

void ForceProbe::follow_forces() {
  std::vector<Channel> channels;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const std::size_t at = model_.force_tape().outputs(0)[i];
    if (model_.force_tape().is_constant(at)) continue;
    channels.push_back({at, limits_[i], kInfinity, -1, false, i});
  }
  follow(model_.force_tape(), std::move(channels));
  if (!holds_statically()) return;
  std::vector<double> largest(channels_.size(), 0.0);
  for (std::size_t k = 0; k < trace_.marks(); ++k) {
    values_at(trace_.since_start(k));
    for (std::size_t i = 0; i < largest.size(); ++i) {
      largest[i] = std::max(largest[i], std::abs(value_[i]));
    }
  }
  for (std::size_t i = 0; i < largest.size(); ++i) channels_[i].peak = kHeld * largest[i];
}

/// The coefficients that vary.
void ForceProbe::follow_friction() {
  std::vector<Channel> channels;
  const formula::Tape& tape = model_.friction_tape();
  for (int a = 0; a < model_.contacts(); ++a) {
    if (model_.slips(a) == 0) continue;
    const auto registers = friction_registers(model_, a);
    for (std::size_t k = model_.slip(a).load >= 0 ? 0 : 1; k < registers.size(); ++k) {
      if (tape.is_constant(registers[k])) continue;
      channels.push_back({registers[k], kInfinity, kInfinity, a, k == 0});
    }
  }
  follow(tape, std::move(channels));
}

/// A coefficient matters by the momentum that the contact's push makes of it.
void ForceProbe::limit_friction(const Piece& piece) {
  const model::Pattern& pattern = model_.slip_pattern();
  values_at(piece.from);
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    Channel& channel = channels_[c];
    const int a = channel.contact;
    channel.most = channel.peak = kInfinity;
    const double force = channel.is_load ? std::abs(registers_[friction_registers(model_, a)[1]])
                                         : pushes_.force(piece.mark, a);
    if (!(force > 0.0)) continue;
    std::size_t output = model_.friction_output(a);
    for (int j = 0; j < model_.slips(a); ++j, ++output) {
      for (std::size_t e = pattern.begin(2 * a + j); e < pattern.end(2 * a + j); ++e) {
        const double slope = std::abs(registers_[tape_->outputs(0)[output++]]);
        const auto i = static_cast<std::size_t>(pattern.coordinates[e]);
        if (slope > 0.0) channel.most = std::min(channel.most, limits_[i] / (slope * force));
      }
    }
    // Of what rests, a part of what steps see friction do.
    const double seen = std::max(std::abs(low_[c]), std::abs(high_[c]));
    channel.most = std::max(channel.most, kMatters * h_ * seen);
    if (model_.slip(a).friction.kind == model::FrictionKind::StaticDynamic) {
      channel.peak = kHeld * seen;
    }
  }
}

/// A heavy place delays what passes it.
void ForceProbe::follow_masses() {
  std::vector<Channel> channels;
  for (const std::size_t at : model_.mass_tape().outputs(0)) {
    if (!model_.mass_tape().is_constant(at)) channels.push_back({at, 0.0, kInfinity});
  }
  follow(model_.mass_tape(), std::move(channels));
  for (std::size_t k = 0; k < trace_.marks(); ++k) {
    values_at(trace_.since_start(k));
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      const double most = kDelay * trace_.length() * std::abs(value_[c]);
      channels_[c].most = std::max(channels_[c].most, most);
    }
  }
}

/// Between two marks, or a little beyond the ends of the run: velocities linear, positions their
/// integral.
void ForceProbe::place_at(double time, Place& place) const {
  const auto is_here = [&](std::size_t mark) {
    return mark + 2 < trace_.marks() && trace_.since_start(mark) <= time &&
           time < trace_.since_start(mark + 1);
  };
  std::size_t k = is_here(last_) ? last_ : last_ + 1;  // most are asked for in their order
  if (!is_here(k)) {
    k = 0;
    for (std::size_t end = trace_.marks() - 1; k + 1 < end;) {  // the last mark that is not later
      const std::size_t middle = k + (end - k) / 2;
      (trace_.since_start(middle) <= time ? k : end) = middle;
    }
  }
  last_ = k;
  place.t = trace_.time(0) + trace_.sign() * time;
  if (ways_[k] == Way::Kinked) return place_at_kink(k, time, place);
  const double dt = trace_.since_start(k + 1) - trace_.since_start(k);
  const double s = (time - trace_.since_start(k)) / dt;
  const std::span<const double> a = trace_.values(k), b = trace_.values(k + 1);
  const std::size_t n = limits_.size();
  for (std::size_t i = 0; i < n; ++i) {
    place.q[i] =
        a[i] + s * (b[i] - a[i]) - 0.5 * trace_.sign() * dt * s * (1.0 - s) * (b[n + i] - a[n + i]);
    place.u[i] = a[n + i] + s * (b[n + i] - a[n + i]);
  }
}

/// On lines by the velocities of two marks, from one to the other where they are nearest.
void ForceProbe::place_at_kink(std::size_t mark, double time, Place& place) const {
  const std::span<const double> a = trace_.values(mark), b = trace_.values(mark + 1);
  const double since = trace_.sign() * (time - trace_.since_start(mark));
  const double dt = trace_.time(mark + 1) - trace_.time(mark);
  const std::size_t n = limits_.size();
  double along = 0.0, square = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double jump = a[n + i] - b[n + i];
    along += jump * (b[i] - a[i] - dt * b[n + i]);
    square += jump * jump;
  }
  const bool is_after = square > 0.0 && trace_.sign() * since > trace_.sign() * along / square;
  for (std::size_t i = 0; i < n; ++i) {
    place.u[i] = is_after ? b[n + i] : a[n + i];
    place.q[i] = is_after ? b[i] - (dt - since) * b[n + i] : a[i] + since * a[n + i];
  }
}

/// How the way goes from each mark to the next: over few steps it may have a kink, else it is not
/// known where it is not smooth.
void ForceProbe::follow_way() {
  constexpr double kFewSteps = 3.1;
  ways_.assign(trace_.marks(), Way::Smooth);
  for (std::size_t k = 0; k + 1 < trace_.marks(); ++k) {
    if (is_followed(k)) continue;
    const double time = trace_.since_start(k + 1) - trace_.since_start(k);
    ways_[k] = time < kFewSteps * h_ ? Way::Kinked : Way::Unknown;
  }
}

/// Whether the way between two marks is nearly what their velocities say.
bool ForceProbe::is_followed(std::size_t mark) const {
  constexpr double kNearly = 0.05;
  const std::span<const double> a = trace_.values(mark), b = trace_.values(mark + 1);
  const double dt = trace_.time(mark + 1) - trace_.time(mark);
  const std::size_t n = limits_.size();
  double off = 0.0;
  double way = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    off = std::max(off, std::abs(b[i] - a[i] - 0.5 * dt * (a[n + i] + b[n + i])));
    way = std::max(way, std::abs(dt) * std::max(std::abs(a[n + i]), std::abs(b[n + i])));
  }
  return off <= kNearly * way;
}

void ForceProbe::values_at(double time) {
  place_at(time, to_);
  run_tape(*tape_, to_, registers_);
  for (std::size_t c = 0; c < channels_.size(); ++c) value_[c] = registers_[channels_[c].output];
}

/// Steps look there.
void ForceProbe::see(double time) {
  values_at(std::clamp(time, 0.0, trace_.length()));
  for (std::size_t c = 0; c < value_.size(); ++c) {
    low_[c] = std::min(low_[c], value_[c]);
    high_[c] = std::max(high_[c], value_[c]);
  }
}

/// Whether bounds over a piece are beyond what was seen by more than `part` of what matters.
bool ForceProbe::may_matter(const Piece& piece, double part) {
  --left_;
  const std::size_t n = limits_.size();
  place_at(piece.from, from_);
  place_at(piece.to, to_);
  ranges_[0] = {std::min(from_.t, to_.t), std::max(from_.t, to_.t)};
  for (std::size_t i = 0; i < n; ++i) {
    const double out = 0.25 * (piece.to - piece.from) * std::abs(to_.u[i] - from_.u[i]);
    ranges_[1 + i] = {std::min(from_.q[i], to_.q[i]) - out, std::max(from_.q[i], to_.q[i]) + out};
    ranges_[1 + n + i] = {std::min(from_.u[i], to_.u[i]), std::max(from_.u[i], to_.u[i])};
  }
  tape_->bound(0, ranges_.data());
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const formula::Range range = ranges_[channels_[c].output];
    const double rounding = kNoise * std::max(std::abs(low_[c]), std::abs(high_[c]));
    const double beyond = std::max(range.high - high_[c], low_[c] - range.low) - rounding;
    if (beyond * (piece.to - piece.from) > part * channels_[c].most) return true;
    if (beyond > channels_[c].peak) return true;
  }
  return false;
}

/// Whether bounds over the piece that was bounded last are near the values in its middle.
bool ForceProbe::is_known(double length) const {
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const formula::Range range = ranges_[channels_[c].output];
    const double off = std::max(range.high - value_[c], value_[c] - range.low);
    const double most = std::max(kSmallPart * kPart * channels_[c].most, floors_[c]);
    if (!(off * length <= most && off <= channels_[c].peak)) return false;
  }
  return true;
}

/// Whether what steps do not see over a piece of a few steps matters: low_ and high_ are what they
/// see. Where the motion shows it, it was seen.
bool ForceProbe::is_missed(const Piece& steps) {
  int most = kMostOfSteps;
  constexpr double kAtRest = 1e-7;  // of what is beyond: where nothing moves, all of it matters
  missed_.assign(missed_.size(), 0.0);
  std::vector<double> peaks(missed_.size(), 0.0);
  for (std::size_t c = 0; c < floors_.size(); ++c) {
    const formula::Range range = ranges_[channels_[c].output];
    const double beyond = std::max({range.high - high_[c], low_[c] - range.low, 0.0});
    floors_[c] = beyond < kInfinity ? kAtRest * beyond * (steps.to - steps.from) : 0.0;
  }
  std::vector<Piece> pieces = {{steps.from, steps.to, steps.mark, 0}};
  while (!pieces.empty()) {
    const Piece piece = pieces.back();
    pieces.pop_back();
    if (left_ <= 0 || --most < 0) return false;
    if (!may_matter(piece, kSmallPart * kPart)) continue;
    const double middle = 0.5 * (piece.from + piece.to);
    const double length = piece.to - piece.from;
    values_at(middle);
    if (piece.depth < kDeepest && !is_known(length)) {
      pieces.push_back({middle, piece.to, piece.mark, piece.depth + 1});
      pieces.push_back({piece.from, middle, piece.mark, piece.depth + 1});
      continue;
    }
    for (std::size_t c = 0; c < missed_.size(); ++c) {
      const double beyond =
          std::max(value_[c] - high_[c], 0.0) + std::min(value_[c] - low_[c], 0.0);
      if (std::abs(beyond) > channels_[c].peak) return true;
      missed_[c] += length * (nets_ ? beyond : std::abs(beyond));
      peaks[c] = std::max(peaks[c], std::abs(missed_[c]));
    }
  }
  for (std::size_t c = 0; c < missed_.size(); ++c) {
    const double part = std::abs(missed_[c]) / channels_[c].most;
    const bool returns = part <= kSmallPart && peaks[c] > channels_[c].most;
    if (returns || (part > kSmallPart && !is_shown(steps, c))) {
      totals_[c] += peaks[c] / channels_[c].most;
    }
    if (totals_[c] > 1.0) return true;
  }
  return false;
}

/// Whether a momentum changes by what a force gives that steps do not see.
bool ForceProbe::is_shown(const Piece& steps, std::size_t channel) {
  if (!are_forces_) return false;
  std::vector<double> before(limits_.size()), after(limits_.size());
  place_at(steps.from, from_);
  place_at(steps.to, to_);
  momenta_at(from_, before);
  momenta_at(to_, after);
  const double seen = 0.5 * (low_[channel] + high_[channel]) * (steps.to - steps.from);
  const std::size_t i = channels_[channel].coordinate;
  const double own = trace_.sign() * (after[i] - before[i]) - seen;
  return std::abs(own) >= 0.5 * std::abs(missed_[channel]);
}

/// The first time at which one of the channels is missed.
std::optional<double> ForceProbe::scan() {
  if (channels_.empty() || tape_->instructions() > kMostInstructions) return {};
  left_ = kMostPieces + 4 * static_cast<int>(trace_.marks());
  totals_.assign(totals_.size(), 0.0);
  std::vector<Piece> pieces;
  for (std::size_t k = trace_.marks() - 1; k-- > 0;) {
    if (ways_[k] != Way::Unknown)
      pieces.push_back({trace_.since_start(k), trace_.since_start(k + 1), k, 0});
  }
  while (!pieces.empty() && left_ > 0) {
    const Piece piece = pieces.back();
    pieces.pop_back();
    low_.assign(low_.size(), kInfinity);
    high_.assign(high_.size(), -kInfinity);
    const double first = std::floor(piece.from / h_ + 1e-6);
    const double last = std::max(first + 1.0, std::ceil(piece.to / h_ - 1e-6));
    const double shift = in_middle_ ? -0.5 : 0.0;
    see((first + shift) * h_);
    see((last - shift) * h_);
    see((std::floor(0.5 * (first + last)) - shift) * h_);
    if (last - first < 4.0) {
      for (double i = first; i < last; i += 1.0) see((i - shift) * h_);
    }
    if (channels_[0].contact >= 0) limit_friction(piece);
    if (!may_matter(piece, kSmallPart)) continue;
    if (last - first < 4.0) {
      if (is_missed(piece)) return trace_.time(0) + trace_.sign() * piece.from;
      continue;
    }
    const double middle = 0.5 * (piece.from + piece.to);
    pieces.push_back({middle, piece.to, piece.mark, 0});
    pieces.push_back({piece.from, middle, piece.mark, 0});
  }
  return {};
}

std::optional<ForceProbe::Missed> ForceProbe::find() {
  if (limits_.size() > kMostCoordinates || model_.outside() != nullptr || trace_.marks() < 2) {
    return {};
  }
  for (std::size_t k = 0; k < trace_.marks(); ++k) {
    if (!trace_.has(k)) return {};
  }
  follow_way();
  take_momenta();
  are_forces_ = true;
  follow_forces();
  // What is narrow may lie where steps seem to look, and they look next to it.
  for (int k = 0; k < 2; ++k, in_middle_ = !in_middle_) {
    if (const auto t = scan()) return Missed{*t, "a force acts"};
  }
  are_forces_ = false;
  if (model_.has_friction()) follow_friction();
  for (int k = 0; k < 2 && model_.has_friction(); ++k, in_middle_ = !in_middle_) {
    if (const auto t = scan()) return Missed{*t, "a coefficient of friction changes"};
  }
  if (model_.has_constant_mass()) return {};
  follow_masses();
  if (const auto t = scan()) return Missed{*t, "a mass changes"};
  return {};
}

}  // namespace ricochet::study
