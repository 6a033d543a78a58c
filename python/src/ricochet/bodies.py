"""Bodies and joints of a run, as arrays."""

from . import _optional


class _Record:
    """A named part of the world of a run, and what was told of it."""

    def __init__(self, run, told):
        self._run = run
        self._told = told
        self.name = told["name"]


class BodyRecord(_Record):
    """One body over a run: ``run["rod"]``. Rows tell its mass centre.

    >>> import ricochet
    >>> run = ricochet.builtin("body-four-bar").run(until=0.01)
    >>> run.bodies
    ['crank', 'coupler', 'rocker', 'ground']
    >>> run["crank"].place.shape == (len(run), 2), run["crank"].kind
    (True, 'free')
    """

    @property
    def kind(self):
        """``"free"``, ``"fixed"`` or ``"driven"``."""
        return self._told["kind"]

    @property
    def mass(self):
        """In kg; in the plane per length. 0 where it is not free."""
        return self._told["mass"]

    @property
    def dimension(self):
        """2 in the plane, 3 in space."""
        return len(self._told["place"])

    def _columns(self, names, prefix=""):
        first = f"{prefix}{self.name}.{names[0]}"
        if first not in self._run.columns:
            raise KeyError(f"the rows of the run do not tell of '{self.name}': they tell of up to 24 "
                           "bodies that move\nremedy: write a [watch], or [write]")
        at = self._run.columns.index(first)
        return self._run.table[:, at:at + len(names)]

    def _still(self, numbers):
        """What never moves, a row for each of the run."""
        numpy = _optional.need("numpy", "a body")
        return numpy.broadcast_to(numpy.array(numbers, dtype=float),
                                  (len(self._run), len(numbers)))

    @property
    def place(self):
        """The mass centre, a row for each instant: x and y, in space z too."""
        if self.kind == "fixed":
            return self._still(self._told["place"])
        return self._columns("xyz"[:self.dimension])

    @property
    def velocity(self):
        """Of the mass centre."""
        if self.kind == "fixed":
            return self._still([0.0] * self.dimension)
        return self._columns("xyz"[:self.dimension], "d_")

    @property
    def angle(self):
        """In the plane: by how much it is turned."""
        if self.dimension == 3:
            raise AttributeError("a body in space has a quaternion, and no angle")
        if self.kind == "fixed":
            return self._still(self._told["turn"])[:, 0]
        return self._columns(["angle"])[:, 0]

    @property
    def quaternion(self):
        """In space: its rotation as w, x, y, z."""
        if self.dimension == 2:
            raise AttributeError("a body of the plane has an angle, and no quaternion")
        if self.kind == "fixed":
            return self._still(self._told["turn"])
        return self._columns(["qw", "qx", "qy", "qz"])

    @property
    def spin(self):
        """Its rate of rotation: a number for each row, in space a vector along the axes of space."""
        numpy = _optional.need("numpy", "spin")
        if self.kind == "fixed":
            still = self._still([0.0] * (1 if self.dimension == 2 else 3))
            return still[:, 0] if self.dimension == 2 else still
        if self.dimension == 2:
            return self._columns(["angle"], "d_")[:, 0]
        # 2 q' times the conjugate of q: its vector.
        w, x = self.quaternion[:, :1], self.quaternion[:, 1:]
        rates = self._columns(["qw", "qx", "qy", "qz"], "d_")
        dw, dx = rates[:, :1], rates[:, 1:]
        return 2.0 * (w * dx - dw * x - numpy.cross(dx, x))

    def point(self, on):
        """Where a point of the body is, given from its mass centre in its own frame."""
        numpy = _optional.need("numpy", "a point of a body")
        on = numpy.asarray(on, dtype=float)
        if self.dimension == 2:
            c, s = numpy.cos(self.angle), numpy.sin(self.angle)
            return self.place + numpy.stack([c * on[0] - s * on[1], s * on[0] + c * on[1]], axis=1)
        w, x = self.quaternion[:, :1], self.quaternion[:, 1:]
        across = 2.0 * numpy.cross(x, on)
        return self.place + on + w * across + numpy.cross(x, across)

    def __repr__(self):
        return f"<body '{self.name}': {self.kind}, {len(self._run)} rows>"


class JointRecord(_Record):
    """One joint over a run: ``run.joint("pivot")``.

    >>> import ricochet
    >>> run = ricochet.builtin("body-four-bar").run(until=0.01)
    >>> run.joint("pin")
    <joint 'pin': hinge between crank and coupler>
    >>> run.joint("pin").at.shape == (len(run), 2)
    True
    """

    @property
    def kind(self):
        """``"hinge"``, ``"slider"``, ``"ball"``, ``"weld"`` or ``"distance"``."""
        return self._told["kind"]

    @property
    def between(self):
        """The names of its two bodies; ``"ground"`` never moves."""
        return tuple(self._told["between"])

    @property
    def ends(self):
        """Where the point of each of its two bodies is. At a row, the end of a step, those of a hinge
        differ by the square of the step: joints hold at the middles."""
        return tuple(self._run.body(body).point(on)
                     for body, on in zip(self.between, self._told["on"]))

    @property
    def at(self):
        """Where it is: the point of its second body."""
        return self.ends[1]

    def _watched(self, names):
        watch = self._told["watch"]
        if not watch:
            raise AttributeError(
                f"nothing watches the joint '{self.name}': its force is not recorded\n"
                f"remedy: write [watch.load] with joint = \"{self.name}\"")
        at = self._run.columns.index(f"{watch}.{names[0]}")
        return self._run.table[:, at:at + len(names)]

    @property
    def force(self):
        """The mean force on its second body since the row before, where a [watch] looks at it."""
        return self._watched("xyz"[:len(self._told["on"][0])])

    @property
    def value(self):
        """Its coordinate (angle, way, length), where a [watch] looks at it."""
        return self._watched(["value"])[:, 0]

    def __repr__(self):
        return f"<joint '{self.name}': {self.kind} between {' and '.join(self.between)}>"
