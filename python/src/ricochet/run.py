"""Runs: what was computed, as arrays, and what is proved about it."""

import base64
import html
import json
import types

from . import _optional
from .bodies import BodyRecord, JointRecord

_STATES = ("free", "stick", "slip", "shock")


class Certificate:
    """What a run proves about itself.

    Every step is recomputed from the definition of the motion by a judge that knows neither the
    scheme nor the solver. ``certificate["key"]`` has everything of ``summary.json``.

    >>> import ricochet
    >>> run = ricochet.builtin("essai-04").run()
    >>> run.certificate.ok, run.certificate.residual <= 1e-10
    (True, True)
    """

    def __init__(self, summary):
        self._summary = summary

    @property
    def status(self):
        """``"ok"``, ``"unresolved"`` (the law holds, the digits do not), ``"uncertified"``,
        ``"interrupted"``, or the name of what failed."""
        return self._summary["status"]

    @property
    def ok(self):
        """Whether every step that was made holds."""
        return "failure" not in self._summary

    @property
    def failure(self):
        """What failed (``kind``, ``time``, ``meaning``, ``try``), or None."""
        return self._summary.get("failure")

    @property
    def residual(self):
        """The largest scale-free residual of a step: impulses and velocities obey the law."""
        return self._summary["residual"]["max"]

    @property
    def balance(self):
        """The largest relative defect of momentum and positions."""
        return self._summary["balance"]["max"]

    @property
    def violation(self):
        """How far a gap went below 0, in its own unit."""
        return self._summary["violation"]["max"]

    @property
    def energy(self):
        """Where the energy went: a dictionary of works, by what did them."""
        return self._summary["energy"]

    @property
    def shocks(self):
        """How many shocks each contact had."""
        return dict(self._summary["shocks"]["count"])

    @property
    def steps(self):
        """Steps done, all of them certified."""
        return self._summary["steps"]

    def __getitem__(self, key):
        return self._summary[key]

    def __repr__(self):
        return (f"Certificate({self.status!r}, residual={self.residual:.2g}, "
                f"balance={self.balance:.2g}, violation={self.violation:.3g}, "
                f"shocks={self.shocks})")


class ContactRecord:
    """One contact (or joint) over a run: ``run["wall"]``.

    >>> import ricochet
    >>> wall = ricochet.builtin("essai-10-200").run(until=0.2)["wall"]
    >>> wall
    <contact 'wall': 201 rows, 2 shocks>
    >>> wall.impulse.shape, wall.slip.shape, sorted(set(wall.states))
    ((201,), (201, 1), ['free', 'shock'])
    """

    def __init__(self, run, name):
        self._run = run
        self.name = name

    def _columns(self, what):
        names = self._run.columns
        found = [k for k, name in enumerate(names) if name in
                 (f"{self.name}.{what}", f"{self.name}.{what}1", f"{self.name}.{what}2")]
        if not found:
            raise AttributeError(f"the contact '{self.name}' has no friction, so no {what}")
        return self._run.table[:, found[0]:found[-1] + 1]

    @property
    def gap(self):
        """The gap at each row, in the unit of its formula."""
        return self._columns("gap")[:, 0]

    @property
    def impulse(self):
        """The normal impulse, summed since the row before."""
        return self._columns("impulse_n")[:, 0]

    @property
    def tangential(self):
        """The impulse of friction, one column in the plane, two in space."""
        return self._columns("impulse_t")

    @property
    def slip(self):
        """The sliding velocity, one column in the plane, two in space."""
        return self._columns("slip")

    @property
    def state(self):
        """0 free, 1 stick, 2 slip, 3 shock, as numbers."""
        return self._columns("state")[:, 0]

    @property
    def states(self):
        """The same in words."""
        return [_STATES[int(state)] for state in self.state]

    @property
    def shocks(self):
        """Its shocks, the first thousand of the run: dictionaries with t, approach, impulse."""
        return [shock for shock in self._run.certificate["shocks"]["instants"]
                if shock["contact"] == self.name]

    @property
    def shock_count(self):
        """How many shocks it had."""
        return self._run.certificate.shocks[self.name]

    def __repr__(self):
        count = self._run.certificate.shocks.get(self.name)
        more = "" if count is None else f", {count} shock{'' if count == 1 else 's'}"
        return f"<contact '{self.name}': {len(self._run)} rows{more}>"


_TOLD = ("names", "text", "summary", "status", "failure", "svg", "wall_seconds", "steps", "warnings",
         "title", "coordinates", "contacts", "bodies", "joints")


def _known(those, name, noun):
    """What has this name, or a KeyError that lists the names."""
    if name in those:
        return those[name]
    names = ", ".join(list(those)[:12]) + (", ..." if len(those) > 12 else "")
    raise KeyError(f"the run has no {noun} '{name}'; it has {names or 'none'}")


def _shortest(number):
    """As few digits as read back as the same number; of whole ones no ".0"."""
    text = repr(float(number))
    return text[:-2] if text.endswith(".0") else text


def _unpacked(told, numbers, shape):
    """A run that another process made: the same numbers and words, in place of the engine's."""
    rows = memoryview(numbers).cast("d", shape=shape)
    return Run(types.SimpleNamespace(rows=rows, **told))


class Run:
    """A run that is over. Its arrays share memory with the engine, which keeps it for as long as
    any of them lives; they cannot be written to.

    >>> import ricochet
    >>> run = ricochet.builtin("dropped-ball").run()
    >>> run.status, run.t[-1], run.q.shape == (len(run), 1)
    ('ok', 1.6, True)
    """

    def __init__(self, engine):
        self._engine = engine
        self._summary = None
        self._columns = None
        self.coordinates = list(engine.coordinates)
        self.contacts = list(engine.contacts)
        self._bodies = {told["name"]: told for told in engine.bodies}
        self._joints = {told["name"]: told for told in engine.joints}
        self.bodies = list(self._bodies)
        self.joints = list(self._joints)

    def __reduce__(self):
        """Runs go from process to process; one that came so does not know what its scheme
        remembered."""
        rows = memoryview(self._engine.rows)
        return _unpacked, ({name: getattr(self._engine, name) for name in _TOLD}, rows.tobytes(),
                           list(rows.shape))

    # -- numbers

    @property
    def columns(self):
        """Names of the columns of ``table``: those of trajectory.csv, and ``energy``, T + V."""
        if self._columns is None:
            self._columns = list(self._engine.names)
        return self._columns

    @property
    def table(self):
        """Everything that was recorded, a row for each instant."""
        return _optional.array(self._engine.rows, "an array")

    def rows(self):
        """The same as a list of lists: needs no numpy."""
        return memoryview(self._engine.rows).tolist()

    @property
    def t(self):
        """Times."""
        return self.table[:, 0]

    @property
    def q(self):
        """Positions, a column for each coordinate."""
        return self.table[:, 1:1 + len(self.coordinates)]

    @property
    def u(self):
        """Velocities, each just after its time."""
        n = len(self.coordinates)
        return self.table[:, 1 + n:1 + 2 * n]

    @property
    def kinetic(self):
        """The kinetic energy T."""
        return self._column("energy.kinetic")

    @property
    def potential(self):
        """The potential energy V. A system without one has none."""
        return self._column("energy.potential")

    @property
    def energy(self):
        """T + V; T where there is no potential."""
        return self.table[:, -1]

    def _column(self, name):
        try:
            return self.table[:, self.columns.index(name)]
        except ValueError:
            raise KeyError(f"the run has no '{name}'; it has {', '.join(self.columns)}") from None

    def __getitem__(self, name):
        """A contact or a body by its name, or a column: ``run["wall"]``, ``run["x"]``,
        ``run["d_x"]``."""
        if name in self._bodies:
            return self.body(name)
        return ContactRecord(self, name) if name in self.contacts else self._column(name)

    def body(self, name):
        """A body of a scene with [world], by its name."""
        return BodyRecord(self, _known(self._bodies, name, "body"))

    def joint(self, name):
        """A joint between bodies, by its name."""
        return JointRecord(self, _known(self._joints, name, "joint"))

    def __len__(self):
        return len(self._engine.rows)

    @property
    def final(self):
        """The state at the end: t, coordinates by name, velocities as ``d_x``."""
        return self.summary["final"]

    # -- what is proved

    @property
    def summary(self):
        """What summary.json has, as a dictionary."""
        if self._summary is None:
            self._summary = json.loads(self._engine.summary)
        return self._summary

    @property
    def certificate(self):
        """What the run proves about itself."""
        return Certificate(self.summary)

    @property
    def status(self):
        """``"ok"``, ``"unresolved"`` (the law holds, the digits do not), ``"uncertified"``,
        ``"interrupted"`` after Ctrl-C, or the name of what failed."""
        return self._engine.status

    @property
    def ok(self):
        """Whether it reached its end, certified."""
        return self.status in ("ok", "unresolved")

    @property
    def error_bar(self):
        """How far the final state may be off: by the names of ``final``, absolute. None where the
        two runs with longer steps that tell it were not made, or one of them failed."""
        return self.summary["error_bar"]

    @property
    def horizon(self):
        """The time after which runs with longer steps are farther off than the size of the motion;
        None where there is no such time."""
        return self.summary["resolution"]["horizon"]

    @property
    def steps(self):
        """Steps done."""
        return self._engine.steps

    @property
    def facts(self):
        """The facts of the scene's [expect], checked: dictionaries with statement, found, holds."""
        return self.summary.get("facts", [])

    @property
    def warnings(self):
        """What may not be meant."""
        return list(self._engine.warnings)

    @property
    def title(self):
        """Of the scene."""
        return self._engine.title

    @property
    def wall_seconds(self):
        """What the steps took."""
        return self._engine.wall_seconds

    # -- to see it

    def to_dataframe(self):
        """A pandas DataFrame with t as its index."""
        pandas = _optional.need("pandas", "to_dataframe")
        frame = pandas.DataFrame(self.table, columns=self.columns, copy=False)
        return frame.set_index("t")

    def write_series(self, folder):
        """Writes what [write] of the scene asks for, series of bodies and contacts for ParaView or
        in HDF5, as the command line does. Gives the names of the files."""
        write = getattr(self._engine, "write_series", None)
        if write is None:
            raise RuntimeError("a run that came from another process has no series of bodies\n"
                               "remedy: write them where the run is made")
        return write(str(folder))

    def to_csv(self, file):
        """Writes the trajectory as the command line does: as few digits as read back as the same
        number."""
        with open(file, "w", encoding="utf-8", newline="\n") as out:
            out.write(",".join(self.columns[:-1]) + "\n")
            for row in self.rows():
                out.write(",".join(_shortest(number) for number in row[:-1]) + "\n")

    @property
    def svg(self):
        """The picture that the command line draws: what the scene's [plot] says, or what suits."""
        return self._engine.svg

    def plot(self, x=None, y=None, axes=None, **style):
        """Draws with matplotlib.

        Without names: coordinates, velocities and energy over time. With names of columns, y over x
        (x is t when it is left out; y may be a list), in ``axes`` or in axes of its own. Returns
        the axes.
        """
        if isinstance(axes, str):
            raise TypeError("plot: x and y are two names; several curves are a list, "
                            f"plot({x!r}, [{y!r}, {axes!r}])")
        pyplot = _optional.need("matplotlib.pyplot", "plot")
        if y is None and x is None:
            return self._plot_all(pyplot, style)
        names = [y] if isinstance(y, str) else list(y or [])
        if not names:
            raise ValueError("plot: give y, the name of a column, or neither x nor y")
        if axes is None:
            _, axes = pyplot.subplots()
        across = "t" if x is None else x
        for name in names:
            axes.plot(self._column(across), self._column(name), label=name, **style)
        axes.set_xlabel(across)
        if len(names) == 1:
            axes.set_ylabel(names[0])
        else:
            axes.legend()
        return axes

    def _plot_all(self, pyplot, style):
        figure, axes = pyplot.subplots(3, 1, sharex=True, figsize=(7, 7))
        velocities = ["d_" + name for name in self.coordinates]
        for ax, names, label in ((axes[0], self.coordinates, "position"),
                                 (axes[1], velocities, "velocity"),
                                 (axes[2], ["energy", "energy.kinetic"], "energy")):
            for name in names[:12]:
                ax.plot(self.t, self._column(name), label=name, **style)
            ax.set_ylabel(label)
            ax.legend(loc="best", fontsize="small")
        axes[2].set_xlabel("t")
        figure.suptitle(self.title)
        return axes

    def __str__(self):
        return self._engine.text.rstrip("\n")

    def __repr__(self):
        return (f"<Run of '{self.title}': {self.status}, {self.steps} steps, {len(self)} rows>")

    def _repr_html_(self):
        picture = base64.b64encode(self.svg.encode()).decode()
        return (f'<img style="max-width: 100%; background: white" alt="{html.escape(self.title)}" '
                f'src="data:image/svg+xml;base64,{picture}"/>'
                f"<pre>{html.escape(str(self))}</pre>")


class Family:
    """The runs of a family, in their order.

    >>> import ricochet
    >>> ball = ricochet.builtin("dropped-ball")
    >>> family = ball.family(H=[1, 2], until=0.1)
    >>> [round(run.final["x"], 2) for run in family]
    [0.95, 1.95]
    """

    def __init__(self, runs, values):
        self.runs = runs
        self.values = values

    def __len__(self):
        return len(self.runs)

    def __iter__(self):
        return iter(self.runs)

    def __getitem__(self, member):
        return self.runs[member]

    @property
    def ok(self):
        """Whether every member reached its end, certified."""
        return all(run is not None and run.ok for run in self.runs)

    @property
    def status(self):
        """``"ok"``, or what the first member that is not says; "interrupted" where one was not
        run."""
        for run in self.runs:
            if run is None:
                return "interrupted"
            if not run.ok:
                return run.status
        return "ok"

    def to_dataframe(self):
        """A row for each member: its values, status, and final state."""
        pandas = _optional.need("pandas", "to_dataframe")
        rows = []
        for run, values in zip(self.runs, self.values):
            row = dict(values)
            row["status"] = "not run" if run is None else run.status
            if run is not None:
                row.update(run.final)
            rows.append(row)
        return pandas.DataFrame(rows)

    def __repr__(self):
        keys = ", ".join(self.values[0]) if self.values else ""
        return f"<Family of {len(self)} runs over {keys}: {self.status}>"

    def _repr_html_(self):
        def cell(item):
            shown = f"{item:.9g}" if isinstance(item, float) else str(item)
            return f"<td>{html.escape(shown)}</td>"
        keys = list(self.values[0]) if self.values else []
        names = list(self.runs[0].final) if self.runs and self.runs[0] is not None else []
        head = "".join(f"<th>{html.escape(name)}</th>" for name in keys + ["status"] + names)
        body = ""
        for run, values in zip(self.runs[:200], self.values):
            status = "not run" if run is None else run.status
            final = [] if run is None else run.final.values()
            body += "<tr>" + "".join(cell(v) for v in [*values.values(), status, *final]) + "</tr>"
        return f"<table><tr>{head}</tr>{body}</table>"
