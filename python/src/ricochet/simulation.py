"""Runs that are made a few steps at a time: for control loops."""

import math

from . import _optional
from .errors import NotConverged
from .run import Run


class Simulation:
    """A run that a program steers: it makes steps, reads the state, and sets a force.

    ``System.start`` makes one. ``q``, ``u``, ``gap`` and ``impulse`` are arrays that show what is
    now: they change with every ``step`` and cannot be written to; take a ``copy()`` of what is to
    be kept. Every step is certified as in ``System.run`` and, without a force, has the same bits.

    >>> import ricochet
    >>> ball = ricochet.System(["y"], mass=[2], potential="2*10*y", contacts={"floor": "y >= 0"},
    ...                        position=[1], scheme="moreau", step=0.001)
    >>> sim = ball.start()
    >>> while sim.q[0] > 0:
    ...     sim.step()
    >>> round(sim.t, 3), sim.impulse[0] > 0
    (0.448, True)
    >>> sim.set_force(y=2 * 11)                # more than its weight
    >>> sim.step(1000)
    >>> round(sim.u[0], 9), sim.gap[0] > 0
    (1.0, True)
    """

    def __init__(self, engine, coordinates, contacts, joints, has_friction):
        self._engine = engine
        self.coordinates = coordinates
        self.contacts = contacts
        n, m = len(coordinates), len(contacts)
        numbers = _optional.array(engine.numbers, "a simulation")
        self._force = _optional.array(engine.force, "a simulation")
        parts = [n, n, m, m] + ([2 * (m - joints)] * 2 + [m - joints] if has_friction else [])
        views, at = [], 0
        for length in parts:
            views.append(numbers[at:at + length])
            at += length
        self._q, self._u, self._gap, self._impulse = views[:4]
        self._friction = views[4:]
        self._number = {name: i for i, name in enumerate(coordinates)}
        self._step = engine.step

    def step(self, steps=1):
        """Makes so many steps, with the force as it is now. Raises NotConverged where a step does
        not hold what it claims: the simulation then stands where the last step ended that does."""
        try:
            done = self._step(steps)
        except TypeError:
            raise TypeError(f"step: the number of steps must be a whole number, not "
                            f"{steps!r}") from None
        if not done:
            if not all(math.isfinite(value) for value in self._force):
                raise ValueError(f"step: the force is {list(self._force)}: every number of it "
                                 "must be finite")
            raise NotConverged(self._engine.failure)

    def set_force(self, values=None, /, **named):
        """The force from now on, beside all forces of the system: a number for each coordinate, or
        some by name. Work per unit of its coordinate: a torque where that is an angle."""
        if values is not None:
            if len(values) != len(self._force):
                raise ValueError(f"{len(values)} numbers for {len(self._force)} coordinates: "
                                 f"{', '.join(self.coordinates)}")
            self._force[:] = values
        for name, value in named.items():
            if name not in self._number:
                raise TypeError(f"set_force: there is no coordinate '{name}'; there are "
                                f"{', '.join(self.coordinates)}")
            self._force[self._number[name]] = value

    @property
    def force(self):
        """What ``set_force`` sets, as an array that may be written to."""
        return self._force

    @property
    def t(self):
        """The time."""
        return self._engine.t

    @property
    def q(self):
        """The position, in the order of ``coordinates``."""
        return self._q

    @property
    def u(self):
        """The velocity, just after t."""
        return self._u

    @property
    def gap(self):
        """The gap of each contact, in the order of ``contacts``."""
        return self._gap

    @property
    def impulse(self):
        """The normal impulse of each contact in the last call of ``step``."""
        return self._impulse

    @property
    def tangential(self):
        """The impulse of friction in the last call of ``step``, a row of two for each contact."""
        return self._of_friction(0).reshape(-1, 2)

    @property
    def slip(self):
        """The sliding velocity, a row of two for each contact; in the plane the second is 0."""
        return self._of_friction(1).reshape(-1, 2)

    def _of_friction(self, which):
        if not self._friction:
            raise AttributeError("no contact has friction")
        return self._friction[which]

    @property
    def kinetic(self):
        """The kinetic energy T."""
        return self._engine.kinetic

    @property
    def potential(self):
        """The potential energy V."""
        return self._engine.potential

    @property
    def steps(self):
        """Steps made, all of them certified."""
        return self._engine.steps

    @property
    def residual(self):
        """The largest scale-free residual of a step so far."""
        return self._engine.residual

    def finish(self):
        """Ends it: a Run with a row for every call of ``step``, its certificate and its picture.

        >>> import ricochet
        >>> sim = ricochet.builtin("dropped-ball").start()
        >>> for _ in range(20):
        ...     sim.step(10)
        >>> sim.finish()
        <Run of 'A ball dropped on a floor': ok, 200 steps, 21 rows>
        """
        return Run(self._engine.finish())

    def __repr__(self):
        return f"<Simulation at t = {self.t:g}, {self.steps} steps>"
