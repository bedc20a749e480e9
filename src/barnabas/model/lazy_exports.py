"""Public packages whose names are imported on first use.

Importing every client takes half a second. A script that only produces, and `barnabas --help`,
import only the modules of the names that they use.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Returns the `__getattr__` of a package (PEP 562).

    Args:
        package: The name of the package, for the error about an unknown name.
        homes: The module of each public name, or `module:name` when the name differs there.

    >>> find = lazy_exports("barnabas", {"Timestamps": "barnabas.model.records:TimestampType"})
    >>> find("Timestamps").__name__
    'TimestampType'
    """

    def find(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, other_name = home.partition(":")
        return getattr(importlib.import_module(module), other_name or name)

    return find


def lazy_names(names: Iterable[str]) -> Callable[[], list[str]]:
    """Returns the `__dir__` of a package with `lazy_exports`, so that completion finds the names.

    >>> lazy_names(["Producer", "Admin"])()
    ['Admin', 'Producer']
    """
    found = sorted(names)
    return lambda: found
