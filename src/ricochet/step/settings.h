#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ricochet/certify/certificate.h"

namespace ricochet::step {

/// What to do with a position beyond a wall.               [Moreau 1986, par. 10 Rem. 2]
enum class Correction {
  None,
  Project,  // where one is violated, move q_M to the intersection of the active surfaces
};

/// The impact laws a scheme can honour.
enum class Laws {
  OneConstant,  // one number e for all contacts
  Constants,    // a number e for each
  All,          // formulas, Poisson's, sequential reflections, a law of the user's
};

/// One law of reflection at the end of the step; its energy drifts.   [Moreau 1986 (7.4)]
struct Billiard {
  static constexpr bool kStaggered = true;
  static constexpr Laws kLaws = Laws::Constants;
  static constexpr const char* kName = "billiard";
  static constexpr double kDefaultAnticipation = 0.0;
  static constexpr double kRestitution = 1.0;  // the impact law it implies
  static constexpr bool kBalancesEnergy = false;
  static constexpr bool kHasFriction = false;
  static constexpr bool kGainsByCorrection = false;  // lasting contacts only are better for it
  double anticipation{kDefaultAnticipation};         // A_V [-]
  Correction correction{Correction::None};
};

/// Elastic. For a constant mass without joints the energy of each step is balanced exactly.
/// [Moreau 1986, par. 7]
struct Elast {
  static constexpr bool kStaggered = true;
  static constexpr Laws kLaws = Laws::Constants;
  static constexpr const char* kName = "elast";
  static constexpr double kDefaultAnticipation = 0.0;
  static constexpr double kRestitution = 1.0;
  static constexpr bool kBalancesEnergy = true;
  static constexpr bool kHasFriction = false;
  static constexpr bool kGainsByCorrection = false;
  double anticipation{kDefaultAnticipation};
  Correction correction{Correction::None};
};

/// Standard inelastic, any number of contacts.              [Moreau 1986, par. 10]
struct Inel {
  static constexpr bool kStaggered = true;
  static constexpr Laws kLaws = Laws::Constants;
  static constexpr const char* kName = "inel";
  static constexpr double kDefaultAnticipation = 0.5;
  static constexpr double kRestitution = 0.0;
  static constexpr bool kBalancesEnergy = true;
  static constexpr bool kHasFriction = false;
  static constexpr bool kGainsByCorrection = true;
  double anticipation{kDefaultAnticipation};
  Correction correction{Correction::None};
};

/// Dry friction and restitution, any number of contacts.    [Moreau 1986, par. 11-13]
struct Moreau {
  static constexpr bool kStaggered = true;
  static constexpr Laws kLaws = Laws::All;
  static constexpr const char* kName = "moreau";
  static constexpr double kDefaultAnticipation = 0.0;
  static constexpr double kRestitution = certify::kOwnRestitution;
  static constexpr bool kBalancesEnergy = true;
  static constexpr bool kHasFriction = true;
  static constexpr bool kGainsByCorrection = true;
  double anticipation{kDefaultAnticipation};
  Correction correction{Correction::None};
};

/// Velocities at the end of steps, e-averaged; no friction.   [Mabrouk 1998; Paoli 2001, par. 4]
struct Mabrouk {
  static constexpr bool kStaggered = false;
  static constexpr Laws kLaws = Laws::All;
  static constexpr const char* kName = "mabrouk";
  static constexpr double kRestitution = certify::kOwnRestitution;
  static constexpr bool kBalancesEnergy = true;
  static constexpr bool kHasFriction = false;
};

/// The velocity at which forces are taken between two positions.     [Paoli 2001 (3.3), Rem. 4.4]
enum class Average {
  Central,   // (q+ - q-)/2h: second order; implicit where forces depend on velocities
  Backward,  // (q - q-)/h: explicit
  Forward,   // (q+ - q)/h
};

/// Positions alone, projected on the admissible set.           [Paoli 2001, par. 3]
struct PaoliSchatzman {
  static constexpr bool kStaggered = false;
  static constexpr Laws kLaws = Laws::OneConstant;
  static constexpr const char* kName = "paoli-schatzman";
  static constexpr double kRestitution = certify::kOwnRestitution;
  static constexpr bool kBalancesEnergy = true;
  static constexpr bool kHasFriction = false;
  Average average{Average::Central};
};

/// The theta-method of contact dynamics codes, with friction.  [Jean 1999]
struct MoreauJean {
  static constexpr bool kStaggered = false;
  static constexpr Laws kLaws = Laws::All;
  static constexpr const char* kName = "moreau-jean";
  static constexpr double kRestitution = certify::kOwnRestitution;
  static constexpr bool kBalancesEnergy = true;
  static constexpr bool kHasFriction = true;
  double theta{0.5};  // in [1/2, 1]: 1/2 is of second order in smooth motion
};

/// A comparator: walls are springs with dashpots.
struct Penalty {
  static constexpr bool kStaggered = false;
  static constexpr Laws kLaws = Laws::Constants;
  static constexpr const char* kName = "penalty";
  static constexpr double kRestitution = certify::kOwnRestitution;
  static constexpr bool kBalancesEnergy = false;
  static constexpr bool kHasFriction = false;
  double stiffness{0.0};  // force over gap; 0: such that a contact lasts kDefaultSteps steps
  static constexpr double kDefaultSteps = 20.0;
  static constexpr double kFewestSteps = 10.0;  // of a contact, else the step is too large
};

/// What becomes of impacts that accumulate.
enum class Zeno {
  Stop,     // the run ends there, and says so
  Contact,  // the contact lasts from then on
};

/// A comparator: smooth motion up to each impact, whose time is found.
struct EventDriven {
  static constexpr bool kStaggered = false;
  static constexpr Laws kLaws = Laws::All;
  static constexpr const char* kName = "event-driven";
  static constexpr double kRestitution = certify::kOwnRestitution;
  static constexpr bool kBalancesEnergy = true;
  static constexpr bool kHasFriction = false;
  Zeno zeno{Zeno::Stop};
  double accuracy{1e-10};  // of the integration, relative
};

/// The scheme of a run: chosen once, outside the loop.
using Scheme = std::variant<Billiard, Elast, Inel, Moreau, Mabrouk, PaoliSchatzman, MoreauJean,
                            Penalty, EventDriven>;

std::vector<std::string> scheme_names();
Scheme make_scheme(const std::string& name);  // throws base::InputError for an unknown name
std::string name_of(const Scheme& scheme);
double implied_restitution(const Scheme& scheme);  // certify::kOwnRestitution: what contacts state
bool has_friction(const Scheme& scheme);
bool is_staggered(const Scheme& scheme);  // one of Moreau's: joints, step control, going back
Laws laws_of(const Scheme& scheme);

/// Where contacts are looked for ahead, and what is done with violations: of staggered schemes.
double anticipation_of(const Scheme& scheme);
bool corrects(const Scheme& scheme);

/// What to try after a failure: certify's words, and what this scheme could do besides.
std::string remedy_of(certify::Failure failure, const Scheme& scheme);

/// Steps chosen as the motion goes: two half steps and a whole one may differ by `tolerance` in any
/// coordinate, and a contact may be crossed by no more before it acts.
struct StepControl {
  double smallest{0.0};   // h [s]; taken whatever the error
  double tolerance{0.0};  // in units of the coordinates; 0: no control
  bool is_on() const { return tolerance > 0.0; }
};

/// How long to run, and what to keep.
struct RunSettings {
  double step{0.0};      // h [s], > 0; the largest one under step control
  long long steps{0};    // number of steps; under step control of the largest ones
  double end_time{0.0};  // [s], under step control
  StepControl control{};
  bool backward{false};       // into the past; see model::TimeReversed
  double start_time{0.0};     // [s]
  long long record_every{1};  // a row every N steps; 0: first and last only
  bool certify{true};         // off only to measure what certificates cost
  certify::Limits limits{};
};

/// Number of steps to the first step time >= until - 1e-6 step.
long long steps_until(double start_time, double until, double step);

}  // namespace ricochet::step
