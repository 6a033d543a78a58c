"""Ricochet: nonsmooth mechanics. Write the energies and the inequalities; get the motion, with the
proof.

>>> import ricochet
>>> wave = ricochet.System(
...     ["x", "y"], kinetic="0.5*(x'^2 + y'^2)", potential="9.81*y",
...     contacts={"water": "y >= 0.3*sin(2*x)"}, position=[0, 3], velocity=[1, 0])
>>> run = wave.run(scheme="elast", step=0.001, until=5)
>>> run
<Run of 'system': ok, 5000 steps, 5001 rows>
>>> run.q.shape, run["water"].shock_count, run.certificate.ok
((5001, 2), 4, True)
"""

from ._engine import version as __version__
from .attractors import Basin, Diagram, Invariants, Lyapunov, Section
from .bodies import BodyRecord, JointRecord
from .errors import (CallableError, GradientError, InputError, NotConverged, ProblemError,
                     RicochetError, SceneError)
from .problem import ContactProblem, Solution, solve
from .run import Certificate, ContactRecord, Family, Run
from .simulation import Simulation
from .study import Comparison, Convergence, Inspection
from .system import (Contact, System, builtin, builtin_names, compare, converge, load, loads,
                     scheme_names, schemes)

__all__ = [
    "Basin", "BodyRecord", "CallableError", "Certificate", "Comparison", "Contact", "ContactProblem",
    "ContactRecord", "Convergence", "Diagram", "Family", "GradientError", "InputError",
    "Inspection", "Invariants", "JointRecord", "Lyapunov", "NotConverged", "ProblemError", "RicochetError", "Run",
    "SceneError", "Section", "Simulation", "Solution", "System", "builtin", "builtin_names", "compare", "converge", "load", "loads", "scheme_names", "schemes", "solve"]
