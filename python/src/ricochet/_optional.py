"""Packages that are used where they are there."""

import importlib

_REMEDIES = {
    "numpy": ("python3-numpy", "run.rows() gives the same numbers as lists"),
    "pandas": ("python3-pandas", "run.to_csv(file) writes the same table"),
    "matplotlib.pyplot": ("python3-matplotlib", "run.svg is a picture that needs nothing"),
}


def need(module, what):
    """The module, or an ImportError that says what it is for and where to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package, otherwise = _REMEDIES[module]
        name = module.split(".", maxsplit=1)[0]
        raise ImportError(
            f"{what} needs {name}, which this Python does not have\n"
            f"remedy: pip install {name} (on Debian: apt-get install {package}); {otherwise}",
            name=name) from error


def array(owner, what):
    """What owns numbers as an array that shares its memory."""
    return need("numpy", what).asarray(owner)
