"""Stored contact problems: read, made and solved."""

import html

from . import _engine, _optional


class ContactProblem:
    """Contacts with Coulomb friction as plain data: u = W r + q, and (u, r) obeys the law.

    ``W`` is a square matrix of ``dim`` rows for each contact (normal first), ``q`` the velocity
    without impulses, ``mu`` the friction of each contact.

    >>> import ricochet
    >>> one = ricochet.ContactProblem(W=[[1, 0], [0, 1]], q=[-1, 0.2], mu=[0.5])
    >>> solution = ricochet.solve(one)
    >>> solution.status, [round(r, 9) for r in solution.impulses.tolist()]
    ('solved', [1.0, -0.2])
    """

    def __init__(self, W=None, q=None, mu=None, dim=None, *, _problem=None):
        if _problem is not None:
            self._problem = _problem
            return
        numpy = _optional.need("numpy", "a contact problem made of arrays")
        matrix = numpy.ascontiguousarray(W, dtype=float)
        free = numpy.ascontiguousarray(q, dtype=float).reshape(-1)
        friction = numpy.ascontiguousarray(mu, dtype=float).reshape(-1)
        if matrix.ndim != 2 or matrix.shape != (free.size, free.size):
            raise ValueError(f"W has the shape {matrix.shape} for {free.size} entries of q")
        if dim is None:
            dim = free.size // friction.size if friction.size else 3
        if dim not in (2, 3) or dim * friction.size != free.size:
            raise ValueError(f"q has {free.size} entries for {friction.size} contacts: "
                             "each contact has 2 (plane) or 3 (space)")
        self._problem = _engine.make_problem(dim, matrix, free, friction)

    @classmethod
    def read(cls, file):
        """From a file: FCLIB HDF5, Siconos text or npz."""
        return cls(_problem=_engine.read_problem(str(file)))

    def write(self, file):
        """Writes .hdf5, .npz or text, as the name says."""
        self._problem.write(str(file))

    @property
    def dim(self):
        """2 in the plane, 3 in space."""
        return self._problem.dim

    @property
    def contacts(self):
        """How many there are."""
        return self._problem.contacts

    @property
    def mu(self):
        """Coefficients of friction."""
        return list(self._problem.mu)

    def __repr__(self):
        return f"<ContactProblem: {self.contacts} contacts in {self.dim}D>"


class Solution:
    """Impulses of a contact problem, and how good they are."""

    def __init__(self, engine):
        self._engine = engine

    @property
    def impulses(self):
        """One array, contact by contact, normal first; shares the engine's memory."""
        return _optional.array(self._engine.impulses, "an array")

    @property
    def solved(self):
        """Whether the residuals are within the tolerances."""
        return self._engine.solved

    @property
    def status(self):
        """``"solved"``, ``"limit reached"`` or ``"not solved"``."""
        return self._engine.status

    @property
    def residual(self):
        """err_q, scale_free, physical and their parts, recomputed from the definition."""
        return self._engine.residual

    @property
    def method(self):
        """That found the impulses."""
        return self._engine.method

    @property
    def iterations(self):
        """Sweeps and steps of all methods together."""
        return self._engine.iterations

    @property
    def seconds(self):
        """What it took."""
        return self._engine.seconds

    def __repr__(self):
        return (f"<Solution: {self.status} by {self.method} in {self.iterations} steps, "
                f"err_q {self.residual['err_q']:.1e}>")

    def _repr_html_(self):
        return f"<pre>{html.escape(repr(self))}</pre>"


def solve(problem, method="auto", tolerance=1e-8, time_limit=30.0, threads=0):
    """Solves a contact problem: a ContactProblem, or the name of a file.

    A problem that is not solved to the tolerance comes back with the best impulses found, and says
    so in ``status``.
    """
    if not isinstance(problem, ContactProblem):
        problem = ContactProblem.read(problem)
    if not tolerance > 0.0 or not time_limit > 0.0:
        raise ValueError("tolerance and time_limit must be positive")
    return Solution(_engine.solve(problem._problem, method, float(tolerance), float(time_limit),
                                  int(threads)))
