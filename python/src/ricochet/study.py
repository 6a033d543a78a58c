"""Studies: one instant, orders of convergence, schemes side by side."""

import html
import json

from . import _optional


class _Result:
    """A dictionary of findings with the most used ones as attributes."""

    def __init__(self, found):
        self._found = found

    def __getitem__(self, key):
        return self._found[key]

    def __contains__(self, key):
        return key in self._found

    def keys(self):
        """Names of everything that was found."""
        return self._found.keys()

    def to_dict(self):
        """Everything that was found, as the command line's --json prints it."""
        return self._found


class Inspection(_Result):
    """One instant as Moreau's principles see it: active set, cones, shock, acceleration, reactions.

    >>> import ricochet
    >>> rest = ricochet.System(["y"], mass=[2], potential="2*9.81*y", contacts={"floor": "y >= 0"},
    ...                        position=[0], scheme="inel", step=0.01, until=1)
    >>> found = rest.inspect()
    >>> found.active, round(found.reactions["floor"], 6)
    (['floor'], 19.62)
    """

    @property
    def t(self):
        """The time."""
        return self["t"]

    @property
    def active(self):
        """Names of the contacts that touch."""
        return [row["contact"] for row in self["active"]]

    @property
    def acceleration(self):
        """Just after the instant, by coordinate; None where there is none (see status)."""
        return self["acceleration"]

    @property
    def reactions(self):
        """By contact."""
        return self["reactions"]

    @property
    def opens(self):
        """Contacts that the motion leaves."""
        return self["opens"]

    @property
    def status(self):
        """``"solved"``, or why not."""
        return self["status"]

    def __repr__(self):
        return f"<Inspection at t = {self.t:g}: active {self.active}, {self.status}>"


def _table(head, rows):
    line = "<tr>" + "".join(f"<th>{html.escape(word)}</th>" for word in head) + "</tr>"
    for row in rows:
        line += "<tr>" + "".join(f"<td>{html.escape(word)}</td>" for word in row) + "</tr>"
    return f"<table>{line}</table>"


def _number(value, form=".3g"):
    return "" if value is None else format(value, form)


class Convergence(_Result):
    """How errors fall with the step.

    ``errors["velocity_l1"]`` and the like are lists, from the largest step to the smallest; ``fit`` has
    the exponents of h.

    >>> import ricochet
    >>> found = ricochet.converge(ricochet.builtin("oscillator"), steps=[0.02, 0.01, 0.005])
    >>> sorted(found.fit) == sorted(found.errors)
    True
    """

    @property
    def steps(self):
        """The lengths of the steps, falling."""
        return [row["step"] for row in self["rows"]]

    @property
    def errors(self):
        """By measure, a list with one error for each step."""
        measures = list(self["fit"])
        return {m: [row["errors"][m] for row in self["rows"]] for m in measures}

    @property
    def orders(self):
        """By measure: from the row before to this one; None for the first."""
        measures = list(self["fit"])
        return {m: [row["orders"][m] for row in self["rows"]] for m in measures}

    @property
    def fit(self):
        """By measure: the exponent of h, by least squares; None where rounding is all there is."""
        return self["fit"]

    @property
    def remarks(self):
        """What the reader must know of these numbers."""
        return self["remarks"]

    @property
    def status(self):
        """``"ok"``, ``"interrupted"``, or what a certificate failed in."""
        return self["status"]["name"]

    def to_dataframe(self):
        """A row for each step, a column for each error."""
        pandas = _optional.need("pandas", "to_dataframe")
        return pandas.DataFrame({"step": self.steps, **self.errors}).set_index("step")

    def plot(self, measures=None, axes=None):
        """Errors over steps with matplotlib, both on logarithmic scales."""
        pyplot = _optional.need("matplotlib.pyplot", "plot")
        if axes is None:
            _, axes = pyplot.subplots()
        for measure, errors in self.errors.items():
            drawn = [(h, e) for h, e in zip(self.steps, errors) if e]
            if not drawn or (measures is not None and measure not in measures):
                continue
            order = self.fit[measure]
            label = measure if order is None else f"{measure} ~ h^{order:.2f}"
            axes.loglog(*zip(*drawn), marker="o", label=label)
        axes.set_xlabel("step")
        axes.set_ylabel("error")
        axes.legend(fontsize="small")
        return axes

    def __repr__(self):
        fits = ", ".join(f"{m} h^{order:.2f}" for m, order in self.fit.items() if order is not None)
        return f"<Convergence of '{self['scheme']}' over {len(self.steps)} steps: {fits}>"

    def _repr_html_(self):
        measures = list(self.fit)
        rows = [[_number(row["step"], "g")] + [_number(row["errors"][m]) for m in measures]
                for row in self["rows"]]
        rows.append(["order"] + [_number(self.fit[m], ".2f") for m in measures])
        return _table(["step"] + measures, rows)


class Comparison(_Result):
    """Schemes side by side on one scene; ``comparison["moreau"]`` has what was found of one.

    >>> import ricochet
    >>> found = ricochet.compare(ricochet.builtin("oscillator"), schemes=["elast", "mabrouk"])
    >>> found.schemes, found.ok
    (['elast', 'mabrouk'], True)
    """

    @property
    def schemes(self):
        """Their names, in the order asked for."""
        return [row["scheme"] for row in self["schemes"]]

    @property
    def status(self):
        """``"ok"``, ``"failed"`` or ``"interrupted"``."""
        return self["status"]

    @property
    def ok(self):
        """Whether every run that was made has a good certificate."""
        return self.status == "ok"

    @property
    def remarks(self):
        """What the reader must know of these numbers."""
        return self["remarks"]

    def __getitem__(self, key):
        for row in self._found["schemes"]:
            if row["scheme"] == key:
                return row
        return self._found[key]

    def _rows(self):
        for row in self["schemes"]:
            flat = {"scheme": row["scheme"]}
            if "refused" in row:
                flat["refused"] = row["refused"].splitlines()[0]
            else:
                flat["status"] = row["status"]["name"]
                flat.update(row["errors"] or {})
                flat["violation"] = row["violation_max"]
                flat["energy"] = row["energy_change"]
                flat["seconds"] = row["seconds"]
            yield flat

    def to_dataframe(self):
        """A row for each scheme."""
        pandas = _optional.need("pandas", "to_dataframe")
        return pandas.DataFrame(list(self._rows())).set_index("scheme")

    def __repr__(self):
        return f"<Comparison of {', '.join(self.schemes)}: {self.status}>"

    def _repr_html_(self):
        rows = list(self._rows())
        head = list(dict.fromkeys(name for row in rows for name in row))
        def cell(item):
            return _number(item) if isinstance(item, float) else str("" if item is None else item)
        return _table(head, [[cell(row.get(name)) for name in head] for row in rows])


def parse(kind, text):
    return kind(json.loads(text))
