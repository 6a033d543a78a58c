"""Python values as TOML, so that systems made here are read as scenes are."""

import json
import math
import numbers
import re

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def key(name):
    """A key, in quotes where it must be.

    >>> key("x"), key("z[3]")
    ('x', '"z[3]"')
    """
    return name if _BARE.match(name) else text(name)


def text(words):
    return json.dumps(words, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(item):
    """A value in one line.

    >>> value({"x": 1, "y": "2*R"}), value([True, 1e-7]), value(float("inf"))
    ('{ x = 1, y = "2*R" }', '[true, 1e-07]', 'inf')
    """
    if hasattr(item, "tolist"):  # of numpy
        item = item.tolist()
    if isinstance(item, str):
        return text(item)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, numbers.Integral):
        return str(int(item))
    if isinstance(item, numbers.Real):
        number = float(item)
        if math.isfinite(number):
            return repr(number)
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    if isinstance(item, dict):
        inside = ", ".join(f"{key(str(name))} = {value(part)}" for name, part in item.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(value(part) for part in item) + "]"
    raise TypeError(f"{item!r} cannot be part of a scene: "
                    "use numbers, formulas in quotes, lists and dictionaries of them")


def table(name, entries):
    """The lines of a table; entries that are None are left out."""
    lines = [f"[{name}]"] if name else []
    lines += [f"{key(k)} = {value(v)}" for k, v in entries.items() if v is not None]
    return lines
