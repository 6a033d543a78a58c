"""Systems: from scene files, from formulas, from Python functions."""

import json
import os
import re
import sys
import time

from . import _engine, _optional, _toml
from .attractors import Basin, Diagram, Invariants, Lyapunov, Section
from .errors import NotConverged, SceneError
from .run import Family, Run
from .simulation import Simulation
from .study import Comparison, Convergence, Inspection, parse

_OUTSIDE = "outside"  # in place of a formula: a function


class Contact:
    """One inequality: as a formula, or as Python functions of (t, q).

    ``keep`` is an inequality such as ``"y >= 0"``; further keys are those of ``[contact.NAME]``:
    restitution, where, slip, friction, normal, body, ...

    ``gap(t, q)`` is a function instead, kept >= 0. ``gradient(t, q)`` returns dg/dq and
    ``rate(t, q)``, a function or a number, dg/dt; what is not given is found by differences, which
    are checked, and what is given is held against differences at the start.

    >>> import ricochet
    >>> ricochet.Contact("floor", keep="y >= 0", restitution=0.5)
    Contact('floor', keep='y >= 0', restitution=0.5)
    >>> ricochet.Contact("wall", gap=lambda t, q: q[0], gradient=lambda t, q: [1.0], rate=0)
    Contact('wall', gap=<function>, gradient=<function>, rate=0)
    """

    def __init__(self, name, keep=None, *, gap=None, gradient=None, rate=None, **keys):
        if (keep is None) == (gap is None):
            raise TypeError(f"contact '{name}': give keep=, an inequality, or gap=, a function")
        if gap is not None and not callable(gap):
            raise TypeError(f"gap of contact '{name}' must be a function of (t, q); "
                            "an inequality goes to keep=")
        if gap is None and (gradient is not None or rate is not None):
            raise TypeError(f"contact '{name}': the gradient and rate of an inequality are derived; "
                            "they go with gap=, a function")
        if gradient is not None and not callable(gradient):
            raise TypeError(f"gradient of contact '{name}' must be a function of (t, q)")
        self.name = name
        self.keep = keep
        self.gap = gap
        self.gradient = gradient
        self.rate = rate
        self.keys = keys

    def __repr__(self):
        def shown(item):
            return "<function>" if callable(item) else repr(item)
        parts = [repr(self.name)]
        for name in ("keep", "gap", "gradient", "rate"):
            if getattr(self, name) is not None:
                parts.append(f"{name}={shown(getattr(self, name))}")
        parts += [f"{key}={value!r}" for key, value in self.keys.items()]
        return f"Contact({', '.join(parts)})"


def _contacts(given):
    """Contacts in any of the ways they may be given."""
    if isinstance(given, dict):
        return [_contact(name, one) for name, one in given.items()]
    return [one if isinstance(one, Contact) else _contact(None, one) for one in given]


def _contact(name, one):
    if isinstance(one, Contact):
        return one
    if isinstance(one, str) and name is not None:
        return Contact(name, keep=one)
    if callable(one) and name is not None:
        return Contact(name, gap=one)
    if isinstance(one, dict):
        keys = dict(one)
        name = keys.pop("name", name)
        if name is not None:
            return Contact(name, **keys)
    raise TypeError(f"{one!r} is no contact: use Contact(name, keep=...), or a dictionary of "
                    "inequalities by name")


class _Bar:
    """How far a run is, on a terminal."""

    def __init__(self):
        self._start = time.monotonic()
        self._drawn = False

    def __call__(self, done, total):
        if not sys.stderr.isatty() or total <= 0:
            return
        part = min(1.0, done / total)
        seconds = time.monotonic() - self._start
        left = seconds * (1.0 - part) / part if part > 0.0 else 0.0
        sys.stderr.write(f"\r[{'#' * int(30 * part):<30}] {100 * part:5.1f} %  {left:.0f} s left ")
        sys.stderr.flush()
        self._drawn = True

    def close(self):
        if self._drawn:
            sys.stderr.write("\r" + " " * 60 + "\r")


class System:
    """A mechanical system with its start and the settings of its runs.

    ``coordinates``
        their names.
    ``kinetic`` or ``mass``
        the kinetic energy as a formula; or masses, a matrix, or a function ``mass(q)``.
    ``potential``, ``damping``
        formulas V(t, q) and D(t, q, u), whose forces are derived.
    ``force``
        formulas by coordinate, or a function ``force(t, q, u)``; added to those of the potential.
    ``contacts``
        a list of Contact, or a dictionary of inequalities or functions by name.
    ``joints``, ``rolls``
        formulas by name that are kept at 0: of coordinates, and of velocities.
    ``position``, ``velocity``
        the start, by coordinate or in their order; what moves is zero where it is left out.
    ``scheme``, ``step``, ``until`` or ``steps``
        how to run it; ``run`` may say so later. ``settings`` are further keys of [run].

    Formulas are those of scene files, and are read in the same way.

    >>> import ricochet
    >>> ball = ricochet.System(["y"], mass=[1], potential="9.81*y", contacts={"floor": "y >= 0"},
    ...                        position=[1])
    >>> run = ball.run(scheme="inel", step=0.001, until=1)
    >>> run.status, run["floor"].shock_count > 0, abs(run.q[-1, 0]) < 1e-4
    ('ok', True, True)
    """

    def __init__(self, coordinates, *, kinetic=None, mass=None, potential=None, force=None,
                 damping=None, parameters=None, define=None, contacts=(), joints=None, rolls=None,
                 position=None, velocity=None, tolerance=None, title=None, source=None,
                 scheme=None, step=None, until=None, steps=None, settings=None):
        for name, formula in (("kinetic", kinetic), ("potential", potential),
                              ("damping", damping)):
            if callable(formula):
                raise TypeError(f"{name} must be a formula, since it is differentiated; functions "
                                "go to force= and mass=")
        names = [coordinates] if isinstance(coordinates, str) else list(coordinates)
        listed = _contacts(contacts)
        self._file = "<System>"
        self._changes = []
        self._functions = self._make_functions(names, listed, force, mass)
        system = {
            "coordinates": names, "parameters": parameters, "define": define, "kinetic": kinetic,
            "mass": _OUTSIDE if callable(mass) else mass, "potential": potential,
            "force": _OUTSIDE if callable(force) else force, "damping": damping}
        start = {"position": _by_name(names, position), "velocity": _by_name(names, velocity),
                 "tolerance": tolerance}
        run = {"scheme": scheme, "step": step, "until": until, "steps": steps, **(settings or {})}
        lines = _toml.table("", {"title": title or "system", "source": source})
        lines += [""] + _toml.table("system", system)
        for one in listed:
            keep = _OUTSIDE if one.gap is not None else one.keep
            lines += [""] + _toml.table(f"contact.{_toml.key(one.name)}",
                                        {"keep": keep, **one.keys})
        for kind, formulas in (("hold", joints), ("roll", rolls)):
            for name, formula in (formulas or {}).items():
                lines += [""] + _toml.table(f"{kind}.{_toml.key(name)}", {"zero": formula})
        lines += [""] + _toml.table("start", start)
        lines += [""] + _toml.table("run", run)
        self._text = "\n".join(lines) + "\n"
        self._stands = _stand_ins(len(names), listed, force, mass)
        self._check_names()

    @staticmethod
    def _make_functions(names, contacts, force, mass):
        gaps = [(one.name, one.gap, one.gradient, one.rate)
                for one in contacts if one.gap is not None]
        force = force if callable(force) else None
        mass = mass if callable(mass) else None
        if not gaps and force is None and mass is None:
            return None
        if any("[" in name for name in names):
            raise TypeError("functions need coordinates one by one, not families such as 'z[1..N]'")
        _optional.need("numpy", "a model of Python functions")
        return _engine.Functions(len(names), gaps, force, mass)

    @classmethod
    def _of(cls, file, text, changes):
        self = cls.__new__(cls)
        self._file = file
        self._text = text
        self._changes = changes
        self._functions = None
        self._stands = None
        return self

    def _check_names(self):
        """Raises SceneError for what no later argument can mend. Of the start and of the run
        something may still be missing, and functions are not called."""
        changes = [(f"run.{names[0]}", value, f"--{names[0]} {value}")
                   for names, value in ((("step",), "1"), (("steps", "until"), "1"))
                   if not self._says([], *names)]
        try:
            _engine.read(self._file, self._text, self._changes + changes, self._stands, False)
        except SceneError as error:
            later = (error.key or "").split(".")[0] in ("run", "start", "family")
            wrong = ("unknown", "is no coordinate", "is no parameter")
            if not later or any(words in error.message for words in wrong):
                raise

    def set(self, changes=None, /, **named):
        """The same system with other values: parameters by name, all else by dotted key.

        >>> import ricochet
        >>> pendulum = ricochet.builtin("essai-04").set(R=20, **{"run.until": 0.1})
        >>> pendulum.parameters["R"]
        20.0
        """
        other = System._of(self._file, self._text, self._changes + _set(changes, named))
        other._functions = self._functions
        other._stands = self._stands
        other._check_names()
        return other

    def _read(self, changes=(), backward=False, start=None):
        scene = _engine.read(self._file, self._text, self._changes + list(changes),
                             self._functions, backward)
        if isinstance(start, Run) and isinstance(start._engine, _engine.Run):
            scene.go_on_from(start._engine)
        return scene

    # -- what it is

    @property
    def text(self):
        """The scene, as TOML."""
        return self._text

    def check(self):
        """Reads the system for a run, and every member of its family; raises SceneError for what is
        wrong. Returns the system."""
        _engine.plan(self._read())
        return self

    @property
    def title(self):
        """In words."""
        return self._read().title

    @property
    def coordinates(self):
        """Names of the coordinates."""
        return list(self._read().coordinates)

    @property
    def contacts(self):
        """Names of the contacts and, after them, of the joints."""
        return list(self._read().contacts)

    @property
    def parameters(self):
        """Values of the parameters."""
        return dict(self._read().parameters)

    @property
    def scheme(self):
        """The scheme of its runs."""
        return self._read().scheme

    @property
    def step(self):
        """The length of a step."""
        return self._read().step

    @property
    def derived(self):
        """What was derived from the formulas: masses, forces, gradients, as pairs of words."""
        return list(self._read().derived())

    # -- what it does

    def run(self, *, scheme=None, step=None, until=None, steps=None, record=None, position=None,
            velocity=None, start=None, set=None, backward=False, progress=None, strict=True,
            error_bar=None, threads=1):
        """Runs it, and certifies every step.

        Arguments change the scene for this run alone; ``record`` keeps every N-th row, ``set`` is a
        dictionary of parameters and dotted keys. ``progress`` is True for a bar on the terminal, or
        a function of (steps done, steps in all). ``backward`` infers the past. ``error_bar="pair"``
        makes two runs with longer steps beside it, which tell its error. ``threads`` are for a
        world of many bodies (0: one for each core); no digit depends on their number.

        ``start`` goes on where another run ended: the Run, with all that the scheme remembers, or
        its ``final``, changed or not. It is taken as it is, however far its gaps are below 0.

        Ctrl-C stops it between two steps, and returns what was computed, with the status
        "interrupted". A certificate that fails raises NotConverged, which carries the run; with
        ``strict=False`` the run is returned, with the status that says so.

        >>> import ricochet
        >>> pendulum = ricochet.builtin("essai-04")
        >>> pendulum.run(step=0.001, until=0.5)
        <Run of 'Unilateral pendulum, revolving': ok, 500 steps, 501 rows>
        """
        changes = self._arguments(scheme, step, until, steps, record, position, velocity, set,
                                  start)
        scene = self._alone(self._read(changes, backward, start))
        no_facts = self._why_no_facts(changes, backward)
        with _progress(progress) as told:
            run = Run(_engine.run(scene, no_facts, told, error_bar or "none", int(threads)))
        failure = run._engine.failure
        if strict and failure:
            raise NotConverged(failure, run)
        return run

    def start(self, *, scheme=None, step=None, position=None, velocity=None, start=None, set=None,
              record=True):
        """Makes it ready to be run a few steps at a time, by a program that steers it.

        Arguments are those of ``run``; with ``record=False`` no rows are kept, for loops without an
        end. Returns a Simulation.

        >>> import ricochet
        >>> sim = ricochet.builtin("essai-04").start()
        >>> sim.step(100)
        >>> sim
        <Simulation at t = 0.5, 100 steps>
        """
        if isinstance(step, dict):
            raise ValueError("start: steps that a program makes are of one length; "
                             "give step=0.001")
        changes = self._arguments(scheme, step, None, None, None, position, velocity, set, start)
        if not self._says(changes, "until", "steps"):
            changes.append(("run.steps", "1", "--steps 1"))
        scene = self._alone(self._read(changes, False, start))
        return Simulation(_engine.Simulation(scene, bool(record)), list(scene.coordinates),
                          list(scene.contacts), scene.joints, scene.has_friction)

    def _says(self, changes, *names):
        """Whether [run], or what changes it, has one of these keys."""
        run = self._text[self._text.rfind("[run]"):]
        known = {name for name, _, _ in self._changes + changes}
        return any(f"run.{name}" in known or re.search(rf"^{name}\s*=", run, re.M)
                   for name in names)

    def _alone(self, scene):
        if not scene.members():
            return scene
        raise SceneError(f"{self._file}: error: family: the scene is a family of runs\n"
                         "remedy: run it with .family(), or choose a member with set=",
                         self._file, 0, 0, "family", "the scene is a family of runs",
                         "run it with .family(), or choose a member with set=")

    def family(self, values=None, /, *, threads=0, executor=None, scheme=None, step=None,
               until=None, steps=None, record=None, position=None, velocity=None, set=None,
               progress=None, **named):
        """Runs it for every combination of values, on all cores; or by any executor of
        concurrent.futures, such as a ProcessPoolExecutor, mpi4py.futures.MPIPoolExecutor or Dask's
        ``client.get_executor()``, with the same numbers.

        Values are lists, or dictionaries with from, to, count, by parameter or by dotted key; those
        of the scene's own [family] hold for what is not named. Members whose certificate fails say
        so in their status.

        >>> import ricochet
        >>> bowls = ricochet.builtin("essai-04").family(R=[30, 40], until=0.1)
        >>> bowls.values, bowls.ok
        ([{'R': 30.0}, {'R': 40.0}], True)
        """
        changes = self._arguments(scheme, step, until, steps, record, position, velocity, set)
        members = {**(values or {}), **named}
        for name, one in members.items():
            if isinstance(one, str) or not hasattr(one, "__iter__"):
                raise TypeError(f"family: {name} must be a list of values, or a dictionary with "
                                f"from, to, count, not {one!r}; what does not vary goes into set")
        spans = {name: {"from": one["from"], "to": one["to"], "count": one["count"]}
                 if isinstance(one, dict) else list(one) for name, one in members.items()}
        changes = changes + [(f"family.{name}", _toml.value(span),
                              f"family.{name}={_toml.value(span)}")
                             for name, span in spans.items()]
        scene = self._read(changes)
        values = scene.members()
        if not values:
            raise ValueError("family: nothing varies; give lists of values, as in R=[1, 2, 3]")
        no_facts = self._why_no_facts(changes, False)
        if executor is not None:
            return Family(self._by_executor(executor, changes, len(values), no_facts, progress),
                          values)
        with _progress(progress) as told:
            runs = _engine.run_family(scene, int(threads), no_facts, told)
        return Family([None if run is None else Run(run) for run in runs], values)

    def _by_executor(self, executor, changes, count, no_facts, progress):
        """The members in blocks, each a task of its own."""
        if self._functions is not None:
            raise TypeError("executor: functions of Python stay in their process; use threads, or "
                            "write the system in formulas")
        size = max(1, count // 256)
        blocks = [range(first, min(first + size, count)) for first in range(0, count, size)]
        tasks = [executor.submit(_run_members, self._file, self._text,
                                 self._changes + list(changes), block, no_facts)
                 for block in blocks]
        runs = []
        with _progress(progress) as told:
            for task in tasks:
                runs += task.result()
                if told is not None:
                    told(len(runs), count)
        return runs

    def inspect(self, t=None, *, scheme=None, step=None, set=None, progress=None):
        """The system at an instant: the start, or the time to which it is run first.

        >>> import ricochet
        >>> ricochet.builtin("essai-04").inspect(0.5)
        <Inspection at t = 0.5: active ['wall'], solved>
        """
        changes = self._arguments(scheme, step, None, None, None, None, None, set)
        scene = self._read(changes)
        with _progress(progress) as told:
            text, failure = _engine.inspect(scene, None if t is None else float(t), f"t = {t}",
                                            told)
        if failure:
            raise NotConverged(failure)
        if not text:
            raise KeyboardInterrupt(f"interrupted before t = {t}")
        return parse(Inspection, text)

    def converge(self, steps, *, scheme=None, until=None, reference=None, window=None, set=None,
                 progress=None):
        """Measures orders: runs it with each of ``steps`` and holds the runs against the motion
        that the scene states, or a run with the step ``reference``."""
        changes = self._arguments(scheme, None, until, None, None, None, None, set)
        scene = self._read(changes)
        with _progress(progress) as told:
            text, failure, h, _ = _engine.converge(scene, [float(step) for step in steps],
                                                   float(reference or 0), float(window or 0), told)
        found = parse(Convergence, text)
        if failure:
            raise NotConverged(f"error: step {h:g}: {failure}", result=found)
        return found

    def compare(self, schemes, *, step=None, until=None, reference=None, reference_scheme="",
                window=None, set=None, progress=None):
        """Puts schemes side by side."""
        changes = self._arguments(None, step, until, None, None, None, None, set)
        if isinstance(schemes, str):
            raise TypeError("schemes must be a list of names")
        names = list(schemes)
        first = names[:1] or scheme_names()[:1]
        scene = self._readable(changes, first + names)
        with _progress(progress) as told:
            text, _, _ = _engine.compare(scene, names, float(reference or 0), reference_scheme,
                                         float(window or 0), self._functions, told)
        return parse(Comparison, text)

    # -- where it settles

    def _exact(self, changes, named=None):
        """Read for its exact motion, from event to event, whatever its scheme."""
        changes = self._changes + list(changes) + _set(named, {})
        return _engine.read(self._file, self._text,
                            _engine.exact_changes(self._file, self._text, changes),
                            self._functions, False)

    def lyapunov(self, *, until=None, settle=None, set=None, progress=None):
        """Lyapunov exponents of the exact motion, over the time ``until`` after the time
        ``settle``; without, until the first one is known.

        >>> import ricochet
        >>> osc = ricochet.System(["x"], mass=[1], potential="0.5*x^2", damping="0.1*x'^2",
        ...                       position=[1])
        >>> [round(one, 3) for one in osc.lyapunov(until=1000).exponents]
        [-0.1, -0.1]
        """
        scene = self._exact(_set(set, {}))
        with _progress(progress) as told:
            text, table, svg = _engine.lyapunov(scene, float(until or 0),
                                                -1.0 if settle is None else float(settle), told)
        found = Lyapunov(json.loads(text), table, svg)
        if not found.exponents and not found.lost and not found.interrupted:
            raise NotConverged(f"error: {found['derivative'] or found['failure']}", result=found)
        return found

    def section(self, *, settle=None, show=None, set=None, progress=None):
        """The exact motion where its [section] says, ``show`` points of it after ``settle``."""
        scene = self._exact(_set(set, {}))
        with _progress(progress) as told:
            table, period, rate, ended, stopped, svg = _engine.section(
                scene, -1 if settle is None else int(settle), -1 if show is None else int(show),
                told)
        return Section({"period": period, "rate": rate, "ended": ended, "interrupted": stopped},
                       table, svg)

    def _sweep(self, set, over, **keys):
        """The scene with its [sweep] changed; what varies is (from, to, count), or a list."""
        changes = _set(set, {})
        for name, span in over.items():
            if isinstance(span, tuple) and len(span) == 3:
                span = dict(zip(("from", "to", "count"), span))
            if not isinstance(span, dict):
                span = list(span)
            changes += _set({f"sweep.over.{name}": _toml.value(span)}, {})
        changes += _set({f"sweep.{name}": value for name, value in keys.items()
                         if value is not None}, {})
        return self._exact(changes)

    def bifurcate(self, over=None, /, *, follow=None, settle=None, show=None, seeds=None,
                  lyapunov=False, threads=0, set=None, progress=None, **named):
        """A bifurcation diagram over one parameter: ``bifurcate(A=(0.3, 1.2, 900))``.

        ``follow`` is "forward", "backward", "both" or "fresh". Returns a Diagram.
        """
        scene = self._sweep(set, {**(over or {}), **named}, follow=follow, settle=settle, show=show,
                            seeds=seeds)
        with _progress(progress) as told:
            text, table, svg = _engine.bifurcate(scene, bool(lyapunov), int(threads), told)
        return Diagram(json.loads(text), table, svg)

    def basin(self, over=None, /, *, threads=0, set=None, progress=None, **named):
        """Which attractor each cell of two numbers leads to: parameters by name, starts by dotted
        key in a dictionary, as in ``basin({"start.position.x": (-1, 1, 200), ...})``."""
        scene = self._sweep(set, {**(over or {}), **named})
        with _progress(progress) as told:
            text, labels, svg = _engine.basin(scene, int(threads), told)
        return Basin(json.loads(text), labels, svg)

    def invariants(self, schemes, *, per_period=(), steps=(), periods=None, set=None,
                   progress=None):
        """Schemes beside the exact motion, with steps in seconds, or by how many of them make a
        period: which of them has the right attractor?"""
        if isinstance(schemes, str):
            raise TypeError("schemes must be a list of names")
        if not per_period and not steps:
            raise ValueError("give steps, or per_period=[100, 400.618]")
        scene = self._exact(_set(set, {}))
        with _progress(progress) as told:
            text, svg = _engine.invariants(scene, list(schemes), [float(h) for h in steps],
                                           [float(n) for n in per_period], float(periods or 0),
                                           told)
        return Invariants(json.loads(text), None, svg)

    def _readable(self, changes, schemes):
        """The scene with its own scheme, or with the first that can run it."""
        try:
            return self._read(changes)
        except SceneError as error:
            for name in schemes:
                try:
                    return self._read(changes + [("run.scheme", name, f"--scheme {name}")])
                except SceneError:
                    continue
            raise error

    def _arguments(self, scheme, step, until, steps, record, position, velocity, changes,
                   start=None):
        if until is not None and steps is not None:
            raise SceneError("error: --steps: is given beside --until\nremedy: keep one of the two",
                             "", 0, 0, "--steps", "is given beside --until", "keep one of the two")
        found = _set(changes, {})
        if start is not None:
            if position is not None or velocity is not None:
                raise TypeError("start= is a position and a velocity: give it alone")
            position, velocity, more = self._state_of(start)
            found += more
        for name, value in (("position", position), ("velocity", velocity)):
            if value is not None:
                text = _toml.value(_by_name(self._names(), value))
                found.append((f"start.{name}", text, f"start.{name}={text}"))
        for name, value in (("scheme", scheme), ("step", step), ("until", until),
                            ("steps", steps), ("record", record)):
            if value is not None:
                text = value if isinstance(value, str) else _toml.value(value)
                typed = f"run.record={text}" if name == "record" else f"--{name} {text}"
                found.append((f"run.{name}", text, typed))
        return found

    def _state_of(self, start):
        """Position, velocity, and what else it takes to start there."""
        final = start.final if isinstance(start, Run) else start
        if not isinstance(final, dict):
            raise TypeError("start must be a Run, or the final state of one")
        names = self._names()
        missing = [name for name in ["t", *names, *("d_" + name for name in names)]
                   if name not in final]
        if missing:
            raise ValueError(f"start has no '{missing[0]}'; it has {', '.join(final)}")
        more = [("run.start_time", _toml.value(float(final["t"])), "--start"),
                ("start.tolerance", "1e300", "--start")]
        return ({name: float(final[name]) for name in names},
                {name: float(final["d_" + name]) for name in names}, more)

    def _names(self):
        """Coordinates, before there is a start."""
        if self._file != "<System>":
            return self.coordinates
        line = next(one for one in self._text.splitlines() if one.startswith("coordinates = "))
        return json.loads(line.removeprefix("coordinates = "))

    def _why_no_facts(self, changes, backward):
        """The expectations are about the scene as written."""
        options = ["--backward"] if backward else []
        for _, _, typed in self._changes + changes:
            option = typed.split()[0] if typed.startswith("--") else "--set"
            if option not in options:
                options.append(option)
        return "the scene was changed by " + ", ".join(options) if options else ""

    def __repr__(self):
        try:
            scene = self._read()
        except SceneError:
            return f"<System of {self._file.strip('<>')!r}, not yet runnable>"
        joints = f", {scene.joints} held" if scene.joints else ""
        return (f"<System '{scene.title}': {_counted(len(scene.coordinates), 'coordinate')}, "
                f"{_counted(len(scene.contacts) - scene.joints, 'contact')}{joints}>")


def _run_members(file, text, changes, members, no_facts):
    """Some members of a family, in whatever process this is."""
    scene = _engine.read(file, text, changes, None, False)
    return [Run(_engine.run_member(scene, member, no_facts)) for member in members]


def _stand_ins(dofs, contacts, force, mass):
    """Functions in place of the user's, for a scene that is read and not run."""
    gaps = [(one.name, lambda t, q: 1.0, None, None) for one in contacts if one.gap is not None]
    zeros, ones = [0.0] * dofs, [1.0] * dofs
    force = (lambda t, q, u: zeros) if callable(force) else None
    mass = (lambda q: ones) if callable(mass) else None
    if not gaps and force is None and mass is None:
        return None
    return _engine.Functions(dofs, gaps, force, mass)


def _counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _by_name(names, values):
    """A start by coordinate; of a structure a formula of x stays one."""
    if values is None or isinstance(values, (dict, str)):
        return values
    numbers = list(values) if hasattr(values, "__iter__") else [values]
    if len(numbers) != len(names):
        raise ValueError(f"{_counted(len(numbers), 'value')} for "
                         f"{_counted(len(names), 'coordinate')}: {', '.join(names)}")
    return dict(zip(names, numbers))


def _set(changes, named):
    found = []
    for name, value in {**(changes or {}), **named}.items():
        text = value if isinstance(value, str) else _toml.value(value)
        found.append((name, text, f"{name}={text}"))
    return found


class _progress:
    """The function that hears of progress."""

    def __init__(self, asked):
        self._bar = _Bar() if asked is True else None
        if asked in (None, False, True):
            self._told = self._bar
        elif callable(asked):
            self._told = asked
        else:
            raise TypeError("progress must be True or a function of (done, total)")

    def __enter__(self):
        return self._told

    def __exit__(self, *error):
        if self._bar is not None:
            self._bar.close()


def load(file, set=None):
    """The system of a scene file; ``set`` changes parameters and dotted keys.

    >>> import ricochet
    >>> try:
    ...     ricochet.load("nowhere.toml")
    ... except ricochet.SceneError as error:
    ...     print(error)
    error: cannot read nowhere.toml: No such file or directory
    remedy: check the name, or make a scene with: ricochet new my.toml
    """
    name = os.fspath(file)
    return System._of(name, _engine.read_text(name), _set(set, {})).check()


def loads(text, name="scene.toml", set=None):
    """The system of a scene that is a text."""
    return System._of(name, text, _set(set, {})).check()


def builtin(name, set=None):
    """A scene of the package; ``builtin_names()`` lists them.

    >>> import ricochet
    >>> ricochet.builtin("essai-10-200")
    <System 'Chatter: one shock per period': 3 coordinates, 1 contact>
    """
    return System._of(f"{name}.toml", _engine.builtin_text(name), _set(set, {})).check()


def builtin_names():
    """Names of the scenes of the package."""
    return list(_engine.builtin_names())


def scheme_names():
    """Names of the schemes."""
    return list(_engine.scheme_names())


def schemes():
    """What is known of each scheme: a list of dicts with its settings.

    >>> import ricochet
    >>> [s["default"] for s in ricochet.schemes()[0]["settings"]]
    [0.0, 'none']
    """
    return list(_engine.schemes())


def _system(what):
    return what if isinstance(what, System) else load(what)


def converge(system, steps, **options):
    """``System.converge``, of a system or of a scene file."""
    return _system(system).converge(steps, **options)


def compare(system, schemes, **options):
    """``System.compare``, of a system or of a scene file."""
    return _system(system).compare(schemes, **options)
