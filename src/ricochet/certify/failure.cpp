#include "ricochet/certify/failure.h"

#include <array>
#include <cstddef>

namespace ricochet::certify {
namespace {

/// In the order of Failure.
constexpr std::array kTexts = {
    FailureText{"ok", "every step was checked and holds", ""},
    FailureText{"active_set", "the active contacts are not those with gap <= 0",
                "try a smaller step; if that does not help, please report it with the scene"},
    FailureText{"residual", "impulses and velocities do not satisfy the contact law",
                "try a smaller step, or raise run.residual_limit if this accuracy is enough"},
    FailureText{"balance", "the change of momentum is not that of forces and impulses",
                "try a smaller step; please report it with the scene"},
    FailureText{"kinematics", "the positions do not follow the velocities",
                "positions are too large for double precision; move the origin nearer"},
    FailureText{"energy_gain", "a contact created energy, which its law forbids",
                "try a smaller step"},
    FailureText{"not_finite", "a number became infinite or undefined",
                "try a smaller step; check the formulas for divisions by zero and for sqrt, log, "
                "asin of values out of range"},
    FailureText{
        "diverged", "the energy grew tenfold, and neither forces nor contacts gave it",
        "try a step ten times smaller: stiff forces need h below 2/(largest frequency), and "
        "forces that change with time many steps in each of their periods"},
    FailureText{"violation", "a gap went below run.violation_limit", "try a smaller step"},
    FailureText{"infeasible", "the active constraints leave no velocity that satisfies them all",
                "check the inequalities (and the speed of moving walls) against each other"},
    FailureText{"degenerate", "the gradient of a gap vanishes where the contact has to push",
                "write the inequality so that its gradient is not zero on the wall, for example "
                "x <= R instead of (x - R)^2 >= 0"},
    FailureText{"no_solution", "the contact solver stopped before it was done",
                "try a smaller step; please report it with the scene"},
    FailureText{"law", "an impulse follows another law than the scene states",
                "this is a fault of the program; please report it with the scene"},
    FailureText{"correction", "a violation correction does not put the walls right",
                "try a smaller step"},
    FailureText{"singular_mass", "the mass matrix is not positive definite there",
                "choose coordinates whose kinetic energy is positive for every velocity, "
                "or keep the motion away from that configuration"},
    FailureText{"no_convergence", "the implicit equations of a step did not settle",
                "try a smaller step"},
    FailureText{"jammed", "friction on joints presses them harder than it can hold",
                "try a smaller step; check slip and joint: friction that is not at right angles to "
                "the reaction changes it"},
    FailureText{
        "bad_friction",
        "a coefficient of friction is negative, above a million, or no number there",
        "check the formula of `friction` (or of `normal`) for the slip and place of that step"},
    FailureText{"bad_restitution", "a coefficient of restitution is not between 0 and 1 there",
                "check the formula of `restitution` for the place and approach of that step"},
    FailureText{"law_enters", "an impact law sends the system into the wall: F is not in V(q)",
                "write `law` so that the gap's rate after the impact is not negative"},
    FailureText{"law_pulls",
                "an impact law needs a reaction that is no push: F - u is not in -N(q)",
                "write `law` so that M (F - u) is a positive multiple of the gap's gradient: "
                "tangential velocities must stay as they are"},
    FailureText{"law_gains", "an impact law creates kinetic energy",
                "write `law` so that |F| is at most |u| in the kinetic metric"},
    FailureText{"zeno", "impacts accumulate: infinitely many before that time",
                "run a time-stepping scheme (moreau, mabrouk, ...), which passes through, or "
                "zeno = \"contact\" in [run]"},
    FailureText{"stepped_over",
                "a wall was crossed between the ends of a step, and no scheme saw it",
                "try a smaller step, or step control: step = { max = ..., tolerance = ... }"},
    FailureText{"derivative", "a gap, a potential or a mass does not change as its derivatives say",
                "check the derivatives that a program gives, and formulas with jumps: a wall is "
                "where a continuous gap is zero"},
    FailureText{"too_many_events",
                "more than 200,000 arcs and impacts, or a thousand at one instant, before the "
                "next row",
                "run a time-stepping scheme (moreau, mabrouk, ...), which passes through, or "
                "shorter steps where so many impacts are meant"},
    FailureText{"lasting_friction",
                "a contact with friction lasts, and motions between located impacts have none",
                "run moreau, or end the run before"},
    FailureText{"overlap", "two bodies overlap, and places could not be put right",
                "try a smaller step; check that what is born later, and what is driven, has room"},
    FailureText{"passed_through", "two bodies went through each other between two middles",
                "try a smaller step: one in which no body goes farther than half its size"},
};

}  // namespace

FailureText describe(Failure failure) { return kTexts[static_cast<std::size_t>(failure)]; }

}  // namespace ricochet::certify
