#!/usr/bin/env python3
"""studies.py PROGRAM OUT [collapse|hopper|packing ...]: runs the scenes beside this file with several
seeds and measures what the literature has measured. Prints the tables of README.md, which it writes
there, with their pictures, where no study is named. Runs that OUT has are not made again. JOBS is how
many are made side by side (one for each core)."""
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys

import h5py
import numpy

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = (1, 2, 3)
D = 0.01          # diameter of a grain, in the mean [m]
DENSITY = 1000.0  # [kg/m^2]
GRAVITY = 9.81


class Run:
    """One run of a scene, made or found: `t`, `place[instant, grain, :]`, `there`, `radius`."""

    def __init__(self, program, out, study, name, values):
        self.folder = out / f"{study}-{name}"
        if not (self.folder / "summary.json").exists():
            words = [program, "run", str(HERE / f"{study}.toml"), "--quiet", "--out", str(self.folder)]
            for key, value in values.items():
                words += ["--set", f"{key}={value}"]
            subprocess.run(words, check=True)
        summary = json.loads((self.folder / "summary.json").read_text())
        if summary["status"] != "ok":
            sys.exit(f"{self.folder}: status {summary['status']}")
        with h5py.File(self.folder / "bodies-series.h5") as file:
            names = file["names"][()].decode().splitlines()
            self.grains = [k for k, name in enumerate(names) if name.startswith("grain")]
            self.t = file["t"][()]
            self.place = file["place"][:, self.grains]
            self.there = file["there"][:, self.grains] != 0
            self.radius = numpy.sqrt(file["mass"][()][self.grains] / (DENSITY * math.pi))

    def pushes(self):
        """Pairs of bodies that push each other at the end, as numbers of bodies."""
        with h5py.File(self.folder / "contacts-series.h5") as file:
            last = slice(int(file["start"][-2]), int(file["start"][-1]))
            return file["a"][last], file["b"][last]


def fit(x, y):
    """Least squares y = k x + c: k, and its standard error."""
    x, y = numpy.asarray(x, float), numpy.asarray(y, float)
    dx = x - x.mean()
    k = (dx @ y) / (dx @ dx)
    left = y - y.mean() - k * dx
    return k, math.sqrt((left @ left) / max(1, len(x) - 2) / (dx @ dx))


def table(head, rows):
    lines = [" | ".join(head), "|".join("---" for _ in head)] + [" | ".join(row) for row in rows]
    return "\n".join(f"| {line} |" if "---" not in line else f"|{line}|" for line in lines) + "\n"


def spread(values):
    return f"{numpy.mean(values):.3g} ± {numpy.std(values, ddof=1):.1g}"


# A column of discs collapses ---------------------------------------------------------------------------
COLUMNS = {0.5: 16, 1: 16, 1.5: 14, 2: 12, 3: 10, 5: 9, 8: 8, 12: 7}  # aspect ratio: half-width in grains


def end_of_heap(run, core):
    """The farthest end of the grains that hang together, gaps below d/10, with those nearer the wall than `core`."""
    at, radius = run.place[-1, :, :2], run.radius
    left = at[:, 0] > core
    front = numpy.flatnonzero(~left).tolist()
    end = 0.0
    while front:
        here = front.pop()
        end = max(end, at[here, 0] + radius[here])
        gap = numpy.hypot(*(at - at[here]).T) - radius - radius[here]
        near = numpy.flatnonzero(left & (gap < 0.1 * D))
        left[near] = False
        front += near.tolist()
    return end


def collapse(program, out, ratio, seed):
    w = COLUMNS[ratio]
    fall = math.sqrt(2 * w * D * ratio / GRAVITY)
    opens = math.ceil(10 * (1.6 * fall + 0.15)) / 10
    until = opens + math.ceil(10 * (4 * fall + 0.4)) / 10
    run = Run(program, out, "collapse", f"{ratio}-{seed}",
              {"a": ratio, "w": w, "n": round(1.03 * w * w * ratio), "opens": f"{opens:.1f}",
               "run.until": f"{until:.1f}", "fill.grain.seed": seed})
    height = 2 * run.place[numpy.argmin(abs(run.t - opens)), :, 1].mean()
    width = w * D
    moved = numpy.median(numpy.hypot(*(run.place[-1] - run.place[-2])[:, :2].T)) / D
    return {"a": height / width, "n": len(run.radius), "w": w, "runout": end_of_heap(run, width / 2) / width - 1,
            "top": (run.place[-1, :, 1] + run.radius).max() / width, "moved": moved}


def tell_collapse(rows, picture):
    lines = []
    for ratio, w in COLUMNS.items():
        same = [row for row in rows if row["case"] == ratio]
        runouts = [row["runout"] for row in same]
        a = numpy.mean([row["a"] for row in same])
        lines.append([f"{a:.2f}", str(w), str(same[0]["n"]), spread(runouts), f"{numpy.mean(runouts) / a:.2f}",
                      f"{numpy.mean(runouts) / a ** 0.7:.2f}", spread([row["top"] for row in same])])
    text = table(["a", "r₀/d", "grains", "(r∞ − r₀)/r₀", "… over a", "… over a^0.7", "h∞/r₀"], lines)
    wide = [row for row in rows if 0.7 < row["a"] < 2.5]
    tall = [row for row in rows if row["a"] > 1.8]
    for name, some, band in (("1 ≤ a ≤ 2", wide, "1"), ("a ≥ 2", tall, "0.65 to 0.73")):
        k, error = fit(numpy.log([row["a"] for row in some]), numpy.log([row["runout"] for row in some]))
        text += f"\nExponent for {name}: {k:.2f} ± {error:.2f} (literature: {band})."
    if picture:
        axes = picture("column's aspect ratio a", "run-out (r∞ − r₀)/r₀")
        axes.loglog([row["a"] for row in rows], [row["runout"] for row in rows], "ko", ms=3)
        x = numpy.geomspace(0.5, 2, 9)
        axes.loglog(x, 2.5 * x, "C0", label="2.5 a")
        x = numpy.geomspace(2, 13, 9)
        axes.loglog(x, 3.25 * x ** 0.7, "C3", label="3.25 a^0.7")
        axes.legend(frameon=False)
    return text


# Discs flow out of a silo ------------------------------------------------------------------------------
OPENINGS = (5, 6.5, 8, 10, 12)  # in grains; of three runs with 4 two clogged
SILO = {"n": 700, "w": 24}


def hopper(program, out, opening, seed):
    until = 0.5 + math.ceil(16 * (5 / opening) ** 1.5) / 10
    run = Run(program, out, "hopper", f"{opening}-{seed}",
              {**SILO, "D": opening, "run.until": f"{until:.1f}", "fill.grain.seed": seed})
    y = run.place[:, :, 1]
    out_of = ((y < -D) | ~run.there).sum(axis=1)
    inside = numpy.where((y > 0) & run.there, y, 0.0)
    filling = numpy.sort(inside, axis=1)[:, -SILO["w"]:].mean(axis=1) / D  # the height of the surface
    flows = (run.t > 0.55) & (filling > 1.2 * opening)
    first, last = numpy.flatnonzero(flows)[[0, -1]]
    middle = (first + last) // 2
    rate = [fit(run.t[a:b + 1], out_of[a:b + 1])[0] for a, b in ((first, last), (first, middle), (middle, last))]
    area = math.pi * (run.radius ** 2).mean()
    scale = area / math.sqrt(GRAVITY) / D ** 1.5
    return {"rate": rate[0] * scale, "early": rate[1] * scale, "late": rate[2] * scale,
            "n": int(out_of[last] - out_of[first]), "lasts": run.t[last] - run.t[first]}


def tell_hopper(rows, picture):
    lines = []
    for opening in OPENINGS:
        same = [row for row in rows if row["case"] == opening]
        lines.append([f"{opening:g}", spread([row["rate"] for row in same]),
                      f"{numpy.mean([row['late'] / row['early'] for row in same]):.2f}",
                      f"{numpy.mean([row['n'] for row in same]):.0f}"])
    text = table(["D/d", "W / (√g d^1.5)", "second half over first", "grains counted"], lines)
    x = [row["case"] for row in rows]
    k, _ = fit(x, [row["rate"] ** (2 / 3) for row in rows])
    c = numpy.mean([row["rate"] ** (2 / 3) for row in rows]) - k * numpy.mean(x)
    shift = -c / k
    exponent, error = fit([math.log(D0 - 1.4) for D0 in x], [math.log(row["rate"]) for row in rows])
    text += (f"\nW = {k ** 1.5:.2f} √g (D − {shift:.2f} d)^1.5 by a straight line through W^(2/3); with k = 1.4 the exponent is "
             f"{exponent:.2f} ± {error:.2f} (literature: 1.5, k from 1 to 2).")
    if picture:
        axes = picture("opening D/d", "W^(2/3), W in √g d^1.5")
        axes.plot(x, [row["rate"] ** (2 / 3) for row in rows], "ko", ms=3)
        line = numpy.array([shift, max(x)])
        axes.plot(line, k * line + c, "C3", label=f"slope {k:.2f}, zero at {shift:.2f}")
        axes.legend(frameon=False)
    return text


# Discs settle in a box ---------------------------------------------------------------------------------
FRICTIONS = (0, 0.1, 0.5, 1.5)


def packing(program, out, friction, seed):
    run = Run(program, out, "packing", f"{friction}-{seed}", {"mu": friction, "fill.grain.seed": seed})
    at = run.place[-1, :, :2]
    a, b = run.pushes()
    number = {body: k for k, body in enumerate(run.grains)}
    contacts = numpy.zeros(len(at))
    for body in (*a, *b):
        if body in number:
            contacts[number[body]] += 1
    half, low, high = 8 * D - 3 * D, 3 * D, at[:, 1].max() - 4 * D
    bulk = (abs(at[:, 0]) < half) & (at[:, 1] > low) & (at[:, 1] < high)
    x, y = numpy.meshgrid(numpy.linspace(-half, half, 400), numpy.linspace(low, high, 600))
    covered = numpy.zeros(x.shape, bool)
    for centre, radius in zip(at, run.radius):
        covered |= (x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius ** 2
    return {"z": contacts[bulk].mean(), "phi": covered.mean(), "all": len(a) / len(at), "n": len(at)}


def tell_packing(rows, _):
    lines = []
    for friction in FRICTIONS:
        same = [row for row in rows if row["case"] == friction]
        lines.append([f"{friction:g}"] + [spread([row[key] for row in same]) for key in ("z", "phi", "all")])
    return table(["μ", "contacts of a grain, z", "density φ", "contacts over grains, walls included"], lines)


STUDIES = {"collapse": (collapse, COLUMNS, tell_collapse), "hopper": (hopper, OPENINGS, tell_hopper),
           "packing": (packing, FRICTIONS, tell_packing)}


def draw(name):
    """Axes of a new picture, and how to keep it."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "studies", "svg.fonttype": "none"})
    from matplotlib import pyplot

    def picture(x, y):
        figure, axes = pyplot.subplots(figsize=(5, 3.2), layout="tight")
        axes.set(xlabel=x, ylabel=y)
        picture.keep = lambda: figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
        return axes
    return picture


def main():
    program, out, named = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    readme = (HERE / "README.md").read_text()
    for name in named or STUDIES:
        measure, cases, tell = STUDIES[name]
        jobs = [(case, seed) for seed in SEEDS for case in cases]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
            rows = list(pool.map(lambda job: {"case": job[0], **measure(program, out, *job)}, jobs))
        picture = None if named else draw(name)
        text = tell(rows, picture)
        print(f"{name}\n{text}\n")
        if named:
            continue
        if hasattr(picture, "keep"):
            picture.keep()
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = readme.split(begin)
        readme = before + begin + text + "\n" + end + rest.split(end)[1]
    if not named:
        (HERE / "README.md").write_text(readme)


main()
