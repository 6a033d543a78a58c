"""Attractors from Python: the numbers of the commands' files; families by executors."""

import concurrent.futures
import csv
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest

import numpy as np

import ricochet

PROGRAM = os.environ.get("RICOCHET_PROGRAM", "")
needs_program = unittest.skipUnless(PROGRAM, "RICOCHET_PROGRAM does not name the program")

OSCILLATOR = """
[system]
coordinates = ["x"]
parameters  = { w = 2.8 }
mass        = [1]
potential   = "0.5*x^2"
force       = ["cos(w*t)"]
period      = "2*pi/w"
[contact.stop]
keep        = "x <= 0"
restitution = 0.8
[section]
at   = "impact of stop"
keep = ["phase", "stop.approach"]
[start]
position = { x = -0.1 }
velocity = { x = 0.1 }
[run]
scheme = "moreau"
step   = "2*pi/w/100"
steps  = 40000
"""

WELL = """
[system]
coordinates = ["x"]
mass        = [1]
potential   = "0.25*x^4 - 0.5*x^2"
damping     = "0.2*x'^2"
[section]
every = 1
[start]
position = { x = 0.5 }
"""


class SameAsTheFiles(unittest.TestCase):
    def files(self, command, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            scene = pathlib.Path(folder) / "scene.toml"
            scene.write_text(text, encoding="utf-8")
            done = subprocess.run([PROGRAM, command, scene, "--out", folder, *arguments],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return {file.name: file.read_bytes() for file in pathlib.Path(folder).iterdir()}

    def table(self, data):
        rows = list(csv.reader(data.decode().splitlines()))
        return rows[0], rows[1:]

    @needs_program
    def test_exponents(self):
        found = ricochet.loads(OSCILLATOR, name="scene.toml").lyapunov(until=500)
        told = json.loads(self.files("lyapunov", OSCILLATOR, "--for", "500")["lyapunov.json"])
        self.assertEqual(found.exponents, told["exponents"])
        self.assertEqual(found.errors, told["errors"])
        self.assertEqual(found.table[-1, 1], found["exponent"][-1])
        self.assertIn("<svg", found.svg)

    @needs_program
    def test_a_section(self):
        found = ricochet.loads(OSCILLATOR).section(settle=10, show=30)
        head, rows = self.table(self.files("section", OSCILLATOR, "--settle", "10", "--show",
                                           "30")["section.csv"])
        self.assertEqual(found.columns, head)
        np.testing.assert_array_equal(found.table, np.array(rows, dtype=float))
        self.assertEqual(found.period, 0)

    @needs_program
    def test_a_diagram(self):
        found = ricochet.loads(OSCILLATOR).bifurcate(w=(2.6, 2.8, 3), settle=20, show=5,
                                                     follow="both")
        head, rows = self.table(self.files(
            "bifurcate", OSCILLATOR, "--over", "w=2.6..2.8:3", "--settle", "20", "--show", "5",
            "--follow", "both")["diagram.csv"])
        self.assertEqual(found.columns, head)
        directions = {"forward": 1.0, "backward": -1.0, "fresh": 0.0}
        numbers = [[float(directions.get(word, word)) for word in row] for row in rows]
        np.testing.assert_array_equal(found.table, np.array(numbers))
        self.assertEqual(len(found.branches), 6)

    @needs_program
    def test_a_basin(self):
        found = ricochet.loads(WELL + "[run]\nstep = 1\nuntil = 1\n").basin(
            {"start.position.x": (-1.9, 1.9, 10), "start.velocity.x": (-1, 1, 10)})
        files = self.files("basin", WELL, "--over", "start.position.x=-1.9..1.9:10", "--over",
                           "start.velocity.x=-1..1:10")
        self.assertEqual(found.fractions, json.loads(files["basin.json"])["fractions"])
        with tempfile.NamedTemporaryFile(suffix=".npz") as archive:
            archive.write(files["basin.npz"])
            archive.flush()
            labels = np.load(archive.name)["labels"]
        np.testing.assert_array_equal(found.labels, labels if labels.shape == found.labels.shape
                                      and (labels == found.labels).all() else labels.T)
        self.assertEqual(found.fractions, [0.5, 0.5])

    @needs_program
    def test_invariants(self):
        found = ricochet.loads(OSCILLATOR, name="scene.toml").invariants(
            ["moreau"], per_period=[100, 100.618], periods=1500)
        told = json.loads(self.files("invariants", OSCILLATOR, "--schemes", "moreau",
                                     "--per-period", "100,100.618", "--periods",
                                     "1500")["invariants.json"])
        self.assertEqual(found.schemes, told["rows"])
        self.assertEqual([row["locked"] for row in found.schemes], [True, False])
        self.assertEqual(found.schemes[0]["recurrence"], 169)

    def test_bad_input(self):
        with self.assertRaisesRegex(ricochet.SceneError, "states no period"):
            ricochet.builtin("dropped-ball").section()
        with self.assertRaisesRegex(ricochet.SceneError, "no parameter"):
            ricochet.loads(OSCILLATOR).bifurcate(B=(0, 1, 3))
        with self.assertRaisesRegex(ValueError, "per_period"):
            ricochet.loads(OSCILLATOR).invariants(["moreau"])


class Locks(unittest.TestCase):
    def test_a_run_that_locks_says_so(self):
        for record in (1, 100, 7, 0):  # also where rows are not kept at whole periods
            run = ricochet.loads(OSCILLATOR).run(record=record, steps=150000, strict=False)
            words = [one for one in run.warnings if "169 periods" in one]
            self.assertEqual(len(words), 1, f"record {record}: {run.warnings}")
            self.assertIn("no whole number", words[0])

    def test_others_do_not(self):
        run = ricochet.loads(OSCILLATOR).run(step="2*pi/w/100.618", steps=150000, strict=False)
        self.assertEqual([one for one in run.warnings if "repeats" in one], [])


class Executors(unittest.TestCase):
    def same(self, executor):
        ball = ricochet.builtin("dropped-ball")
        values = {"H": [1, 1.5, 2, 3]}
        here = ball.family(values, until=0.8)
        there = ball.family(values, until=0.8, executor=executor)
        self.assertEqual(here.values, there.values)
        self.assertEqual(there.status, "ok")
        for one, other in zip(here, there):
            np.testing.assert_array_equal(one.table, other.table)
            self.assertEqual(one.final, other.final)
            self.assertEqual(one["floor"].shock_count, other["floor"].shock_count)

    def test_threads_and_processes(self):
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            self.same(executor)
        with concurrent.futures.ProcessPoolExecutor(2) as executor:
            self.same(executor)

    def test_mpi(self):
        try:
            from mpi4py.futures import MPIPoolExecutor
        except ImportError:
            self.skipTest("mpi4py is not there")
        with MPIPoolExecutor(max_workers=1, main=False) as executor:  # not the tests again
            self.same(executor)

    def test_dask(self):
        try:
            from dask.distributed import Client
        except ImportError:
            self.skipTest("dask is not there")
        with Client(processes=False, n_workers=1, dashboard_address=None) as client:
            self.same(client.get_executor())

    def test_a_run_is_packed_whole(self):
        run = ricochet.builtin("dropped-ball").run(until=0.5)
        again = pickle.loads(pickle.dumps(run))
        np.testing.assert_array_equal(run.table, again.table)
        self.assertEqual((str(again), again.svg, again.columns), (str(run), run.svg, run.columns))

    def test_functions_stay(self):
        system = ricochet.System(["x"], mass=[1], force=lambda t, q, u: [-1.0], position=[1],
                                 step=0.1, until=1, scheme="moreau")
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            with self.assertRaisesRegex(TypeError, "stay in their process"):
                system.family({"start.position.x": [1, 2]}, executor=executor)


if __name__ == "__main__":
    unittest.main()
