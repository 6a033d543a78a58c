"""Runs of bodies from Python: places, spins, joints and their forces, series of files."""

import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest

import numpy as np

import ricochet

PROGRAM = os.environ.get("RICOCHET_PROGRAM", "")

ROD = """
[world]
dimension = 2
gravity   = [0, -10]
[pair]
default = "none"
[body.rod]
box     = [1, 0.1]
mass    = 3
inertia = "3/12"
at      = [0.5, 0]
[joint.pivot]
kind    = "hinge"
between = ["ground", "rod"]
at      = [0, 0]
WATCH
[run]
step  = 0.0005
until = 0.4
"""

SPACE = """
[world]
dimension = 3
gravity   = [0, 0, -10]
[pair]
default = "none"
[body.top]
box      = [0.1, 0.2, 0.3]
mass     = 1
inertia  = [0.01, 0.02, 0.025]
at       = [1, 2, 3]
axis_angle = [[1, 2, 2], 0.7]
velocity = [0.5, 0, 0]
spin     = [1, -2, 3]
[body.wall]
fixed = true
box   = [1, 1, 0.1]
at    = [0, 0, -5]
angle = "pi/2"
[run]
step  = 0.001
until = 0.1
[write]
bodies   = { every = 0.01, format = "FORMAT" }
contacts = { every = 0.02, format = "FORMAT" }
"""


class Bodies(unittest.TestCase):
    def test_names(self):
        run = ricochet.loads(SPACE.replace("FORMAT", "vtk")).run()
        self.assertEqual(run.bodies, ["top", "wall"])
        self.assertEqual(run.joints, [])
        self.assertEqual(repr(run["wall"]), "<body 'wall': fixed, 101 rows>")
        self.assertEqual((run["top"].mass, run["top"].dimension), (1.0, 3))
        with self.assertRaisesRegex(KeyError, "no body 'bottom'; it has top, wall"):
            run.body("bottom")
        with self.assertRaisesRegex(KeyError, "no joint 'pivot'; it has none"):
            run.joint("pivot")
        self.assertEqual(ricochet.builtin("dropped-ball").run().bodies, [])

    def test_a_free_body_in_space(self):
        run = ricochet.loads(SPACE.replace("FORMAT", "vtk")).run()
        top = run["top"]
        t = run.t
        # The parabola, which Moreau's step has exactly.
        np.testing.assert_allclose(top.place[:, 0], 1 + 0.5 * t, atol=1e-13)
        np.testing.assert_allclose(top.place[:, 2], 3 - 5 * t ** 2, atol=1e-12)
        np.testing.assert_allclose(top.velocity[:, 2], -10 * t, atol=1e-12)
        np.testing.assert_allclose(top.spin[0], [1, -2, 3], atol=1e-14)
        # The moment of momentum in space, R I Rᵀ ω, stays.
        moments = []
        for k in (0, 50, 100):
            axes = np.stack([top.point(e)[k] - top.place[k] for e in np.eye(3)], axis=1)
            np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-14)
            moments.append(axes @ np.diag([0.01, 0.02, 0.025]) @ axes.T @ top.spin[k])
        np.testing.assert_allclose(moments[1], moments[0], atol=1e-14)
        np.testing.assert_allclose(moments[2], moments[0], atol=1e-14)
        # By Rodrigues' formula with the axis (1, 2, 2)/3.
        axis = np.array([1, 2, 2]) / 3
        e = np.array([0.3, -0.1, 0.2])
        turned = (e * np.cos(0.7) + np.cross(axis, e) * np.sin(0.7)
                  + axis * (axis @ e) * (1 - np.cos(0.7)))
        np.testing.assert_allclose(top.point(e)[0], np.array([1, 2, 3]) + turned, atol=1e-14)
        with self.assertRaisesRegex(AttributeError, "has a quaternion"):
            _ = top.angle

    def test_a_fixed_body(self):
        run = ricochet.loads(SPACE.replace("FORMAT", "vtk")).run()
        wall = run["wall"]
        self.assertEqual(wall.place.shape, (101, 3))
        np.testing.assert_allclose(wall.point([1, 0, 0])[-1], [0, 1, -5], atol=1e-15)
        self.assertFalse(wall.velocity.any() or wall.spin.any())

    def test_bodies_that_rows_leave_out(self):
        run = ricochet.builtin("body-pendulum-chain").run(until=0.001)  # 28 that move
        self.assertEqual(len(run.bodies), 29)
        with self.assertRaisesRegex(KeyError, "up to 24 bodies that move"):
            _ = run["rod[1]"].place


class Joints(unittest.TestCase):
    def test_the_force_of_a_rod_that_falls(self):
        """A rod of mass m that starts level, at the angle θ below: 5/2 m g sin θ along it, m g cos θ / 4
        across, from the energy and the moments about the hinge."""
        run = ricochet.loads(ROD.replace("WATCH", "[watch.load]\njoint = \"pivot\"")).run()
        pivot = run.joint("pivot")
        self.assertEqual((pivot.kind, pivot.between), ("hinge", ("ground", "rod")))
        angle = run["rod"].angle
        below = -0.5 * (angle[1:] + angle[:-1])  # mean over a step, as the force is
        outward = np.stack([np.cos(below), -np.sin(below)], axis=1)
        across = np.stack([np.sin(below), np.cos(below)], axis=1)
        force = pivot.force[1:]
        along = -(force * outward).sum(axis=1)
        self.assertGreater(np.max(below), 1.0)
        np.testing.assert_allclose(along, 2.5 * 30 * np.sin(below), atol=2e-3)
        np.testing.assert_allclose((force * across).sum(axis=1), 30 / 4 * np.cos(below), atol=2e-3)
        np.testing.assert_allclose(pivot.value, angle, atol=1e-12)
        np.testing.assert_allclose(pivot.at, np.zeros((len(run), 2)), atol=1e-6)
        np.testing.assert_allclose(pivot.ends[0], np.zeros((len(run), 2)), atol=0)
        np.testing.assert_allclose(run["rod"].spin, run["d_rod.angle"], atol=0)

    def test_a_joint_that_nothing_watches(self):
        run = ricochet.loads(ROD.replace("WATCH", "")).run(until=0.01)
        self.assertEqual(run.joint("pivot").at.shape, (21, 2))
        with self.assertRaisesRegex(AttributeError, r"write \[watch.load\] with joint = \"pivot\""):
            _ = run.joint("pivot").force

    def test_other_processes(self):
        run = ricochet.loads(ROD.replace("WATCH", "")).run(until=0.01)
        copy = pickle.loads(pickle.dumps(run))
        np.testing.assert_array_equal(copy.joint("pivot").at, run.joint("pivot").at)
        with self.assertRaisesRegex(RuntimeError, "came from another process"):
            copy.write_series("nowhere")


class Series(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def written(self, form):
        out = self.folder / f"python-{form}"
        names = ricochet.loads(SPACE.replace("FORMAT", form)).run().write_series(out)
        self.assertEqual(sorted(names), sorted(os.listdir(out)))
        return {name: (out / name).read_bytes() for name in names}

    def test_vtk(self):
        files = self.written("vtk")
        bodies = [name for name in files if name.startswith("bodies-")]
        self.assertEqual(len(bodies), 11)
        self.assertEqual(len([name for name in files if name.startswith("contacts-")]), 6)
        self.assertIn("bodies.pvd", files)

    @unittest.skipUnless(PROGRAM, "RICOCHET_PROGRAM does not name the program")
    def test_the_files_are_those_of_the_program(self):
        for form in ("vtk", "hdf5"):
            files = self.written(form)
            scene = self.folder / "scene.toml"
            scene.write_text(SPACE.replace("FORMAT", form))
            subprocess.run([PROGRAM, "run", scene, "--out", self.folder / form, "--quiet"],
                           check=True, cwd=self.folder)
            for name, content in files.items():
                self.assertEqual((self.folder / form / name).read_bytes(), content, name)

    def test_a_scene_that_asks_for_none(self):
        run = ricochet.loads(ROD.replace("WATCH", "")).run(until=0.01)
        with self.assertRaisesRegex(ricochet.InputError, "asks for no series"):
            run.write_series(self.folder)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
