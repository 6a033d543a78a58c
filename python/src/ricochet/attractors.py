"""Attractors: exponents, sections, diagrams, basins, and which scheme gets them right."""

from . import _optional
from .study import _Result


class _Study(_Result):
    """Findings as the command writes them, with arrays and a picture beside."""

    def __init__(self, found, table, svg):
        super().__init__(found)
        self._table = table
        self._svg = svg

    @property
    def svg(self):
        """The picture, as the command draws it; empty where there is nothing to show."""
        return self._svg

    @property
    def interrupted(self):
        """Whether Ctrl-C ended it: what is there was computed before."""
        return self["interrupted"]

    def _repr_svg_(self):
        return self._svg or None


class _Table(_Study):
    """Findings with a table."""

    @property
    def columns(self):
        """Names of the columns of ``table``."""
        return list(self._table.names)

    @property
    def table(self):
        """The numbers of the command's CSV file, a row for each section."""
        return _optional.array(self._table, "an array")

    def rows(self):
        """The same as a list of lists: needs no numpy."""
        return memoryview(self._table).tolist()

    def to_dataframe(self):
        """The same with pandas."""
        return _optional.need("pandas", "to_dataframe").DataFrame(self.rows(), columns=self.columns)

    def _column(self, name):
        return self.table[:, self.columns.index(name)]

    def __getitem__(self, key):
        return self._column(key) if key in self._table.names else self._found[key]


class Lyapunov(_Table):
    """Exponents per unit of time, with error bars; ``table`` is the first one up to each time."""

    @property
    def exponents(self):
        """From the largest down; those of minus infinity are counted by ``lost``."""
        return self["exponents"]

    @property
    def errors(self):
        """Error bars, from blocks of time."""
        return self["errors"]

    @property
    def lost(self):
        """How many exponents are minus infinity: a lasting contact forgets as much."""
        return self["lost"]

    @property
    def rate(self):
        """Impacts per unit of time; ``["rate_error"]`` is its error bar, from the same blocks."""
        return self["rate"]

    def __repr__(self):
        words = ", ".join(f"{one:.4g}" for one in self.exponents)
        return f"<Lyapunov exponents: {words}>"


class Section(_Table):
    """A motion where its section says: ``t`` and what is kept."""

    @property
    def period(self):
        """In sections; 0: it does not repeat."""
        return self["period"]

    def __repr__(self):
        return f"<Section of {len(self.rows())} points: period {self.period}>"


class Diagram(_Table):
    """What is settled on over a parameter. Columns: the parameter, ``direction`` (1 forward, -1
    backward, 0 fresh), ``seed``, ``attractor``, and what the section keeps."""

    @property
    def values(self):
        """Of the parameter."""
        return self["values"]

    @property
    def branches(self):
        """For each value and direction: attractor, period, whether it settled, exponent."""
        return self["branches"]

    @property
    def jumps(self):
        """Between which values what is followed changes at once."""
        return self["jumps"]

    def __repr__(self):
        return (f"<Diagram over {self['parameter']}: {len(self.values)} values, "
                f"{self['attractors']} attractors>")


class Basin(_Study):
    """Which attractor each cell leads to."""

    @property
    def labels(self):
        """By cell, first key by second key: -1 undecided, -2 escapes, -3 beyond a wall."""
        return _optional.array(self._table, "an array").astype(int)

    @property
    def fractions(self):
        """Of the cells, by attractor."""
        return self["fractions"]

    @property
    def undecided(self):
        """The fraction of cells that were not decided."""
        return self["undecided"]

    @property
    def attractors(self):
        """Their periods and points."""
        return self["attractors"]

    def __repr__(self):
        parts = ", ".join(f"{part:.4f}" for part in self.fractions)
        return f"<Basin of {self['cells']} cells: {parts}>"


class Invariants(_Study):
    """Schemes beside the exact motion: rates, moments, exponents, recurrence."""

    @property
    def exact(self):
        """What the exact motion has."""
        return self["exact"]

    @property
    def schemes(self):
        """A dictionary for each scheme and step."""
        return self["rows"]

    def to_dataframe(self):
        """A row for each, the exact motion first."""
        pandas = _optional.need("pandas", "to_dataframe")
        return pandas.DataFrame([self.exact, *self.schemes])

    def __repr__(self):
        return f"<Invariants of {len(self.schemes)} runs beside the exact motion>"
