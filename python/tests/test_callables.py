"""Models of Python functions: the motion of formulas, and every way to get a function wrong."""

import math
import operator
import time
import traceback
import unittest

import numpy as np

import ricochet

R = 40.0
G = 1000.0
START = {"position": [0.0, -R], "velocity": [math.sqrt(200.0) * R, 0.0]}
RUN = {"scheme": "elast", "step": 0.005, "until": 1}


def pendulum(**changes):
    """Moreau's unilateral pendulum (1986, essai 4) as functions."""
    parts = {"gap": lambda t, q: R * R - q[0] * q[0] - q[1] * q[1],
             "gradient": lambda t, q: -2.0 * q, "rate": 0}
    parts.update(changes.pop("contact", {}))
    keys = {"mass": [1, 1], "force": lambda t, q, u: (0.0, -G)}
    keys.update(changes)
    return ricochet.System(["x", "y"], contacts=[ricochet.Contact("wall", **parts)], **keys,
                           **START)


def formula():
    return ricochet.System(["x", "y"], mass=[1, 1], force=[0, -G],
                           contacts={"wall": f"x^2 + y^2 <= {R}^2"}, **START)


class Motion(unittest.TestCase):
    def assert_same(self, one, other, limit=1e-12):
        self.assertEqual(one.status, "ok")
        self.assertEqual(one.q.shape, other.q.shape)
        apart = np.abs(one.q - other.q).max() / R
        self.assertLess(apart, limit)
        self.assertLess(np.abs(one.u - other.u).max() / np.abs(other.u).max(), limit)
        return apart

    def test_equals_that_of_formulas(self):
        for scheme in ("elast", "inel", "moreau"):
            with self.subTest(scheme):
                run = {**RUN, "scheme": scheme}
                apart = self.assert_same(pendulum().run(**run), formula().run(**run))
                print(f"\n{scheme}: functions and formulas differ by {apart:.1e} of R")

    def test_of_other_schemes(self):
        for scheme in ("mabrouk", "moreau-jean", "paoli-schatzman"):
            with self.subTest(scheme):
                run = {**RUN, "scheme": scheme}
                self.assert_same(pendulum().run(**run), formula().run(**run))

    def test_under_step_control_and_backward(self):
        # Formulas are bounded between the ends of a step, and steps shortened there: a few differ.
        run = {**RUN, "step": {"max": 0.01, "min": 1e-6, "tolerance": 1e-4}}
        one, other = pendulum().run(**run), formula().run(**run)
        self.assertEqual((one.status, other.status), ("ok", "ok"))
        self.assertEqual(one.t[-1], other.t[-1])
        apart = np.abs(one.q[-1] - other.q[-1]).max() / R
        print(f"\nstep control: functions and formulas differ by {apart:.1e} of R")
        self.assertLess(apart, 1e-5)
        run = {**RUN, "backward": True, "until": 0.2}
        self.assert_same(pendulum().run(**run), formula().run(**run))

    def test_gradients_by_differences(self):
        by_differences = pendulum(contact={"gradient": None, "rate": None})
        self.assert_same(by_differences.run(**RUN), formula().run(**RUN), 1e-9)

    def test_beside_formulas(self):
        mixed = ricochet.System(
            ["x", "y"], kinetic="0.5*(x'^2 + y'^2)", potential="g*y", parameters={"g": G},
            contacts={"wall": lambda t, q: R * R - q @ q, "ceiling": "y <= 100"}, **START)
        run = mixed.run(**RUN)
        self.assertEqual(run.contacts, ["wall", "ceiling"])
        other = formula().run(**RUN)
        self.assertLess(np.abs(run.q - other.q).max() / R, 1e-9)
        self.assertTrue(np.allclose(run.potential, G * run.q[:, 1], rtol=0, atol=1e-9))

    def test_a_moving_wall(self):
        # exact: a floor that rises as 0.1 t carries a mass that rests on it
        floor = {"floor": lambda t, q: q[0] - 0.1 * t}
        run = ricochet.System(["y"], mass=[1], force=lambda t, q, u: [-9.81], contacts=floor,
                              position=[0], velocity=[0.1]).run(scheme="inel", step=0.01, until=1)
        self.assertLess(abs(run.q[-1, 0] - 0.1), 1e-3)
        self.assertAlmostEqual(run.u[-1, 0], 0.1, 9)

    def test_a_mass_that_varies(self):
        """A double pendulum, whose mass matrix is a function of the angles."""
        formulas = ricochet.builtin("double-pendulum")
        kinetic = next(line for line in formulas.text.splitlines() if line.startswith("kinetic"))
        self.assertIn("cos", kinetic)
        system = ricochet.System(
            ["a", "b"], kinetic="a'^2 + 0.5*b'^2 + a'*b'*cos(a - b)",
            potential="-2*9.81*cos(a) - 9.81*cos(b)", position=[1.0, 0.5])
        functions = ricochet.System(
            ["a", "b"], mass=lambda q: [[2.0, math.cos(q[0] - q[1])],
                                        [math.cos(q[0] - q[1]), 1.0]],
            potential="-2*9.81*cos(a) - 9.81*cos(b)", position=[1.0, 0.5])
        for scheme in ("inel", "moreau-jean"):
            run = {"scheme": scheme, "step": 0.002, "until": 0.5}
            one, other = functions.run(**run), system.run(**run)
            self.assertEqual(one.status, "ok")
            self.assertLess(np.abs(one.q - other.q).max(), 1e-9, scheme)

    def test_a_constant_mass_as_a_function(self):
        run = pendulum(mass=lambda q: [1.0, 1.0]).run(**RUN)
        self.assertLess(np.abs(run.q - formula().run(**RUN).q).max() / R, 1e-9)

    def test_studies_take_functions(self):
        family = pendulum().family({"start.velocity.x": [500, 565]}, scheme="elast", step=0.005,
                                   until=0.2)
        self.assertTrue(family.ok)
        found = pendulum(scheme="elast", step=0.005, until=0.2).converge([0.01, 0.005, 0.0025])
        other = formula().set({"run.scheme": "elast", "run.step": 0.005, "run.until": 0.2})
        same = other.converge([0.01, 0.005, 0.0025])
        for measure, errors in found.errors.items():
            for one, two in zip(errors, same.errors[measure]):
                self.assertAlmostEqual(one, two, delta=1e-6 * abs(two) + 1e-9)
        with self.assertRaisesRegex(ricochet.SceneError, "have no second"):
            pendulum(scheme="elast", step=0.005, until=0.2).inspect()

    def test_arrays_that_are_kept_do_not_change(self):
        kept = []
        pendulum(contact={"gap": lambda t, q: (kept.append((t, q)), R * R - q @ q)[1]}).run(**RUN)
        places = {tuple(q) for _, q in kept}
        self.assertGreater(len(places), 100)


class Wrong(unittest.TestCase):
    def fails(self, words, kind=ricochet.CallableError, cause=None, **changes):
        with self.assertRaises(kind) as caught:
            pendulum(**changes).run(**RUN)
        error = caught.exception
        self.assertRegex(" ".join(str(error).split()), words)  # however its lines are broken
        self.assertRegex(str(error), "at t = ")
        if cause is not None:
            self.assertIsInstance(error.__cause__, cause)
        return error

    def test_a_gap_that_raises(self):
        def gap(t, q):
            if t > 0.5:
                raise ZeroDivisionError("my fault")
            return R * R - q @ q
        error = self.fails("gap of contact 'wall' at t = 0.50.*ZeroDivisionError: my fault",
                           cause=ZeroDivisionError, contact={"gap": gap})
        self.assertEqual(error.callable, "gap of contact 'wall'")
        self.assertGreater(error.time, 0.5)
        frames = traceback.extract_tb(error.__cause__.__traceback__)
        self.assertEqual([frame.name for frame in frames], ["gap"])  # where it went wrong

    def test_a_gap_that_is_no_number(self):
        for value, words in ((math.nan, "returned nan"), (math.inf, "returned inf"),
                             ("far", "must return a number, not 'far'"),
                             (None, "must return a number, not None"),
                             (np.zeros(2), r"not an array of shape \(2,\)"),
                             ([1.0, 2.0], "not a list of 2")):
            with self.subTest(words):
                self.fails(f"gap of contact 'wall' at t = .*{words}",
                           contact={"gap": lambda t, q, value=value: value})

    def test_a_gap_of_other_arguments(self):
        self.fails("gap of contact 'wall' at t = .*TypeError", cause=TypeError,
                   contact={"gap": lambda q: 1.0})

    def test_a_force_that_is_wrong(self):
        for value, words in (([0.0], "must return 2 numbers, one for each coordinate, not a list of 1"),
                             (np.zeros((2, 2)), r"not an array of shape \(2, 2\)"),
                             ([0.0, math.nan], "returned nan for coordinate 2"),
                             (3.0, "must return 2 numbers"), (None, "not None"),
                             (["a", "b"], "must return 2 numbers")):
            with self.subTest(words):
                self.fails(f"force at t = .*{words}", force=lambda t, q, u, value=value: value)

    def test_a_mass_that_is_wrong(self):
        for value, words in (([1.0], "must return 2 masses or a matrix"),
                             ([[1.0, 0.5], [0.1, 1.0]], "not symmetric"),
                             ([[1.0, math.nan], [math.nan, 1.0]], "returned nan")):
            with self.subTest(words):
                self.fails(f"mass at t = .*{words}", mass=lambda q, value=value: value)
        with self.assertRaisesRegex(ricochet.SceneError, "not positive definite"):
            pendulum(mass=lambda q: [1.0, -1.0]).run(**RUN)

    def test_a_gradient_that_is_wrong(self):
        error = self.fails("gradient of contact 'wall'.*differences of the gap say",
                           ricochet.GradientError, contact={"gradient": lambda t, q: 2.0 * q})
        self.assertIn("by coordinate", str(error))
        self.fails("rate of contact 'wall'", ricochet.GradientError, contact={"rate": 1.0})
        self.fails("gradient of contact 'wall' at t = .*must return 2 numbers",
                   contact={"gradient": lambda t, q: [1.0]})

    def test_a_gap_that_is_not_smooth(self):
        self.fails("differences do not tell its gradient",
                   contact={"gap": lambda t, q: R - 1e5 * abs(q[0] + 1e-4), "gradient": None,
                            "rate": None})

    def test_a_start_in_the_wall(self):
        with self.assertRaisesRegex(ricochet.SceneError, "violates 'wall'"):
            pendulum(contact={"gap": lambda t, q: -1.0 - q[0], "gradient": None}).run(**RUN)

    def test_what_is_no_function(self):
        with self.assertRaisesRegex(TypeError, "must be a function"):
            ricochet.Contact("wall", gap=3.0)
        with self.assertRaisesRegex(TypeError, "give keep="):
            ricochet.Contact("wall")
        with self.assertRaisesRegex(TypeError, "are derived"):
            ricochet.Contact("wall", keep="x >= 0", gradient=lambda t, q: [1.0])

    def test_friction_needs_a_formula(self):
        with self.assertRaisesRegex(ricochet.SceneError, "friction"):
            pendulum(contact={"friction": 0.5}).run(scheme="moreau", step=0.01, until=1)

    def test_that_exits_is_not_swallowed(self):
        def leave(t, q):
            raise SystemExit(3)
        with self.assertRaises(SystemExit):
            pendulum(contact={"gap": leave}).run(**RUN)

    def test_what_cannot_even_be_shown(self):
        class Odd:
            def __repr__(self):
                raise ValueError("no")
        self.fails("must return a number, not what cannot be shown",
                   contact={"gap": lambda t, q: Odd()})


class Speed(unittest.TestCase):
    def test_a_hundred_thousand_gaps_a_second(self):
        system = pendulum()
        best = 0.0
        for _ in range(3):
            before = system._functions.evaluations
            start = time.process_time()  # the machine may have other work
            system.run(scheme="elast", step=1e-4, until=1)
            seconds = time.process_time() - start
            best = max(best, (system._functions.evaluations - before) / seconds)
        print(f"\n{best / 1e6:.2f} million gap evaluations a second")
        self.assertGreater(best, 1e5)

    def test_functions_written_in_c(self):
        run = ricochet.System(["y"], mass=[1], potential="9.81*y", position=[1],
                              contacts={"floor": lambda t, q: operator.getitem(q, 0)}).run(
                                  scheme="inel", step=0.001, until=1)
        self.assertLess(abs(run.q[-1, 0]), 1e-4)


if __name__ == "__main__":
    unittest.main()
