"""The files of a run, opened by those who read them: pandas, numpy, h5py, VTK."""

import csv
import importlib
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("RICOCHET_PROGRAM", "build/bin/ricochet")

# A ball that lands at sqrt(2/10) s, bounces with e = 1/2 at sqrt(2/10) (1 + 2 (1/2 + 1/4 + ...)), and
# slides on.
SCENE = """
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "10*y"
[contact.floor]
keep        = "y >= 0"
slip        = ["x'"]
friction    = 0.1
restitution = 0.5
[start]
position = { x = 0, y = 1 }
velocity = { x = 3 }
[run]
step  = 0.001
until = 4
[record]
formats = ["csv", "npz", "hdf5", "vtp"]
points  = [["x", "y"], ["x + 1", "y", "2*t"]]
"""

# A box that turns in the air and a ball that rolls.
BODIES = """
[world]
dimension = 3
gravity   = [0, 0, -10]
[pair]
default = { friction = 0.5, rolling = 0.002 }
[body.box]
box      = [0.2, 0.3, 0.4]
mass     = 1
inertia  = [0.02, 0.03, 0.04]
at       = [0, 0, 2]
rates    = [1, 2, 3]
[body.ball]
sphere   = 0.1
mass     = 1
inertia  = [0.004, 0.004, 0.004]
at       = [1, 0, 0.1]
velocity = [0.5, 0, 0]
spin     = [0, 5, 0]
[body.floor]
fixed      = true
half_space = { point = [0, 0, 0], normal = [0, 0, 1] }
[run]
step   = 0.001
until  = 0.2
record = 10
[write]
bodies   = { every = 0.01, format = "FORMAT" }
contacts = { every = 0.01, format = "FORMAT" }
"""


def needs(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not there") from None


class Files(unittest.TestCase):
    def run_scene(self, text, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        (path / "ball.toml").write_text(text)
        ended = subprocess.run(
            [os.path.abspath(PROGRAM), "run", "ball.toml", "--error-bar", "none", *options],
            cwd=path, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return path / "out" / "ball"

    def rows(self, out):
        with open(out / "trajectory.csv", newline="") as file:
            rows = list(csv.reader(file))
        return rows[0], [[float(cell) for cell in row] for row in rows[1:]]

    def test_npz(self):
        numpy = needs("numpy")
        out = self.run_scene(SCENE)
        names, rows = self.rows(out)
        with numpy.load(out / "trajectory.npz") as archive:
            self.assertEqual(sorted(archive), sorted(names))
            for k, name in enumerate(names):
                self.assertTrue(numpy.array_equal(archive[name], [row[k] for row in rows]), name)

    def test_hdf5(self):
        h5py = needs("h5py")
        out = self.run_scene(SCENE)
        names, rows = self.rows(out)
        with h5py.File(out / "trajectory.h5") as file:
            self.assertEqual(sorted(file["trajectory"]), sorted(names))
            for k, name in enumerate(names):
                self.assertEqual(list(file["trajectory"][name]), [row[k] for row in rows], name)

    def test_vtp(self):
        vtk = needs("vtk")
        out = self.run_scene(SCENE)
        names, rows = self.rows(out)
        reader = vtk.vtkXMLPolyDataReader()
        reader.SetFileName(str(out / "trajectory.vtp"))
        reader.Update()
        data = reader.GetOutput()
        self.assertEqual(data.GetNumberOfLines(), 2)
        self.assertEqual(data.GetNumberOfPoints(), 2 * len(rows))
        for k in (0, 17, len(rows) - 1):
            t, x, y = rows[k][:3]
            self.assertEqual(data.GetPoint(k), (x, y, 0.0))
            self.assertEqual(data.GetPoint(len(rows) + k), (x + 1, y, 2 * t))
            gap = data.GetPointData().GetArray("floor.gap").GetValue(len(rows) + k)
            self.assertEqual(gap, rows[k][names.index("floor.gap")])
        line = data.GetCell(1)
        self.assertEqual(line.GetNumberOfPoints(), len(rows))
        self.assertEqual(line.GetPointId(0), len(rows))

    def test_series_of_bodies_in_vtk(self):
        vtk = needs("vtk")
        out = self.run_scene(BODIES.replace("FORMAT", "vtk"))
        names, rows = self.rows(out)
        column = {name: k for k, name in enumerate(names)}
        for k in (0, 7, 20):
            reader = vtk.vtkXMLPolyDataReader()
            reader.SetFileName(str(out / f"bodies-{k:05}.vtp"))
            reader.Update()
            data = reader.GetOutput()
            self.assertEqual(data.GetNumberOfVerts(), 1)
            self.assertEqual(data.GetNumberOfPolys(), 7)
            ball = [rows[k][column[f"ball.{axis}"]] for axis in "xyz"]
            self.assertEqual(list(data.GetPoint(0)), ball)
            self.assertEqual(data.GetPointData().GetArray("radius").GetValue(0), 0.1)
            velocity = data.GetCellData().GetArray("velocity")
            self.assertEqual(velocity.GetTuple(0)[0], rows[k][column["d_ball.x"]])
            side = data.GetCell(1)  # of the box: four corners at their distance from its middle
            box = [rows[k][column[f"box.{axis}"]] for axis in "xyz"]
            self.assertEqual(side.GetNumberOfPoints(), 4)
            for j in range(4):
                corner = side.GetPoints().GetPoint(j)
                far = sum((a - b) ** 2 for a, b in zip(corner, box))
                self.assertAlmostEqual(far, 0.1 ** 2 + 0.15 ** 2 + 0.2 ** 2, delta=1e-14)
            families = data.GetFieldData().GetAbstractArray("families")
            self.assertEqual([families.GetValue(j) for j in range(3)], ["box", "ball", "floor"])
        reader = vtk.vtkXMLPolyDataReader()
        reader.SetFileName(str(out / "contacts-00020.vtp"))
        reader.Update()
        data = reader.GetOutput()
        self.assertEqual((data.GetNumberOfVerts(), data.GetNumberOfLines()), (1, 1))
        impulse = data.GetPointData().GetArray("impulse_n").GetValue(0)
        self.assertAlmostEqual(impulse, 10 * 0.001, delta=1e-14)

    def test_series_of_bodies_in_hdf5(self):
        h5py = needs("h5py")
        out = self.run_scene(BODIES.replace("FORMAT", "hdf5"))
        names, rows = self.rows(out)
        with h5py.File(out / "bodies-series.h5") as file:
            self.assertEqual(file["place"].shape, (21, 3, 7))
            self.assertEqual(file["rate"].shape, (21, 3, 6))
            self.assertEqual(bytes(file["names"][()]).decode().split(), ["box", "ball", "floor"])
            self.assertEqual(list(file["t"]), [row[0] for row in rows])
            self.assertEqual(list(file["mass"]), [1.0, 1.0, 0.0])
            for k, row in enumerate(rows):
                self.assertEqual(list(file["place"][k, 1, :3]),
                                 [row[names.index(f"ball.{axis}")] for axis in "xyz"])
        with h5py.File(out / "contacts-series.h5") as file:
            self.assertEqual(list(file["start"]), [0, *range(21)])  # none at the start
            self.assertEqual(file["impulse"].shape, (20, 3))

    def test_events(self):
        pandas = needs("pandas")
        events = pandas.read_csv(self.run_scene(SCENE) / "events.csv")
        self.assertTrue(events.t.is_monotonic_increasing)
        shocks = events[events.event == "shock"]
        lands = (2 / 10) ** 0.5
        expected = [lands * (1 + 2 * sum(0.5 ** j for j in range(1, k + 1))) for k in range(5)]
        for found, t in zip(shocks.t, expected):
            self.assertAlmostEqual(found, t, delta=1.2e-2)  # a few steps for each bounce
        for k, approach in enumerate(shocks.approach[:5]):
            self.assertAlmostEqual(approach, 10 * lands * 0.5 ** k, delta=0.03)
        # Friction takes mu (1 + e) of the approach from x' in each bounce, then mu g: it slides on
        # from 3 lands, and stops.
        phases = events[events.event.isin(["slip", "stick"])]
        self.assertEqual(list(phases.event), ["slip", "stick"])
        self.assertAlmostEqual(phases.t.iloc[0], 3 * lands, delta=0.03)
        self.assertAlmostEqual(phases.t.iloc[1], 3.0, delta=0.03)  # v = mu g t in all
        self.assertTrue((events[events.event == "open"].approach.isna()).all())

    def test_events_are_not_cut(self):
        pandas = needs("pandas")
        text = """
[system]
coordinates = ["x"]
mass = [1]
[contact.walls]
keep = "0 <= x <= 1"
restitution = 1
[start]
position = { x = 0.5 }
velocity = { x = 100 }
[run]
step   = 1e-4
until  = 30
record = 0
"""
        events = pandas.read_csv(self.run_scene(text) / "events.csv")
        shocks = (events.event == "shock").sum()
        self.assertAlmostEqual(shocks, 3000, delta=60)  # one in every 1/100 s

    def test_events_that_are_located(self):
        pandas = needs("pandas")
        text = SCENE.split("[record]")[0].replace("friction    = 0.1\n", "").replace(
            "slip        = [\"x'\"]\n", "")
        text = text.replace("step  = 0.001", 'scheme = "event-driven"\nzeno = "contact"\nstep = 0.05')
        events = pandas.read_csv(self.run_scene(text) / "events.csv")
        lands = (2 / 10) ** 0.5
        shocks = events[events.event == "shock"]
        self.assertAlmostEqual(shocks.t.iloc[0], lands, delta=1e-9)
        self.assertAlmostEqual(shocks.t.iloc[1], 2 * lands, delta=1e-9)
        # impacts slower than what counts as a shock, halved each time, and then rest from the end of
        # infinitely many bounces on
        lasting = events[events.event == "contact"]
        self.assertLess(len(lasting), 30)
        self.assertAlmostEqual(lasting.t.iloc[-1], 3 * lands, delta=1e-5)
        self.assertEqual(events.event.iloc[-1], "contact")

    def test_declared_sizes_are_not_believed(self):
        h5py = needs("h5py")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bomb.h5"
            with h5py.File(path, "w") as file:
                local = file.create_group("fclib_local")
                local["spacedim"] = [3]
                local["vectors/mu"] = [0.5]
                local.create_dataset("vectors/q", shape=(10**12,), chunks=(1024,), dtype="f8")
                for name, value in (("m", 3), ("n", 3), ("nz", -1), ("nzmax", 3)):
                    local["W/" + name] = [value]
                local["W/p"] = [0, 1, 2, 3]
                local["W/i"] = [0, 1, 2]
                local.create_dataset("W/x", shape=(10**12,), chunks=(1024,), dtype="f8")
            ended = subprocess.run([os.path.abspath(PROGRAM), "solve", str(path)],
                                   capture_output=True, text=True, timeout=60)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn("which the file does not hold", " ".join(ended.stderr.split()))

    def test_columns(self):
        out = self.run_scene(SCENE.replace("[record]", '[record]\ncolumns = ["y", "floor.*"]'))
        names, _ = self.rows(out)
        self.assertEqual(names, ["t", "y", "floor.gap", "floor.impulse_n", "floor.impulse_t",
                                 "floor.slip", "floor.state"])

    def test_only_hdf5(self):
        out = self.run_scene(SCENE.split("[record]")[0] + '[record]\nformats = ["hdf5"]\n')
        self.assertEqual(sorted(p.name for p in out.iterdir()),
                         ["events.csv", "plot.svg", "summary.json", "trajectory.h5"])


if __name__ == "__main__":
    unittest.main()
