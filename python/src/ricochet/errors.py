"""What can go wrong, as exceptions.

The text of each is what the command line prints for the same fault.
"""

__all__ = ["RicochetError", "InputError", "SceneError", "ProblemError", "CallableError",
           "GradientError", "NotConverged"]


class RicochetError(Exception):
    """The root of them all."""


class InputError(RicochetError, ValueError):
    """Bad input: what is wrong, where, and what to do about it.

    >>> import ricochet
    >>> try:
    ...     ricochet.System(["x"], mass=[1], potential="9.81*y", position=[1],
    ...                     scheme="elast", step=0.01, until=1).check()
    ... except ricochet.SceneError as error:
    ...     print(error.key, error.line)
    system.potential 6
    """

    def __init__(self, text, file="", line=0, column=0, key="", message="", remedy=""):
        super().__init__(text)
        self.file = file or None
        self.line = line or None
        self.column = column or None
        self.key = key or None
        self.message = message or text
        self.remedy = remedy or None

    def __reduce__(self):
        return type(self), (str(self), self.file or "", self.line or 0, self.column or 0,
                            self.key or "", self.message, self.remedy or "")


class SceneError(InputError):
    """A scene, or what changes it, cannot be honoured: ``file``, ``line``, ``column``, ``key``,
    ``message`` and ``remedy`` say where, what and what to do."""


class ProblemError(InputError):
    """A contact problem, its file or its solver cannot be honoured."""


class CallableError(RicochetError):
    """A Python function of a model raised, or returned what it must not.

    ``callable`` names it, as in "gap of contact 'wall'"; ``time`` is the instant; what it raised
    itself is the ``__cause__``.
    """

    def __init__(self, text, callable="", time=0.0):
        super().__init__(text)
        self.callable = callable
        self.time = time

    def __reduce__(self):
        return type(self), (str(self), self.callable, self.time)


class GradientError(CallableError):
    """A gradient or rate that is given differs from the differences of its gap."""


class NotConverged(RicochetError):
    """A run that its own certificate stopped: ``run`` is what was computed up to there, all of it
    certified. ``result`` is that of a study with such a run."""

    def __init__(self, text, run=None, result=None):
        super().__init__(text)
        self.run = run
        self.result = result
