"""Public packages whose names are imported on first use, and extras that are not installed.

Importing every client takes half a second. A script that only produces, and `barnabas --help`,
import only the modules of the names that they use. `missing_package` maps a module that is missing
to the extra that installs it; `optional_import` puts that into the error of an import statement.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping

from barnabas.model.errors import LocalError

_EXTRAS = {
    "pyarrow": "arrow",
    "numpy": "arrow",
    "psycopg": "postgres",
    "kazoo": "zookeeper",
    "jwt": "oauth",
    "pyspark": "spark",
    "pandas": "spark",
    "fastavro": "spark",
    "yaml": "spark",
    "sqlglot": "sql",
    "prompt_toolkit": "sql",
    "nicegui": "console",
    "fastapi": "console",
    "starlette": "console",
    "pydantic": "console",
    "uvicorn": "console",
    "httpx": "console",
    "jsonpath": "console",
    "regex": "console",
    "google": "console",
    "opentelemetry": "otel",
}


def lazy_exports(package: str, module_of: Mapping[str, str]) -> Callable[[str], object]:
    """Returns the `__getattr__` of a package (PEP 562).

    Args:
        package: The name of the package, for the error about an unknown name.
        module_of: The module of each public name, or `module:name` when the name differs there.

    >>> find = lazy_exports("barnabas", {"Timestamps": "barnabas.model.records:TimestampType"})
    >>> find("Timestamps").__name__
    'TimestampType'
    """

    def find(name: str) -> object:
        location = module_of.get(name)
        if location is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, other_name = location.partition(":")
        with optional_import():
            return getattr(importlib.import_module(module), other_name or name)

    return find


def lazy_names(names: Iterable[str]) -> Callable[[], list[str]]:
    """Returns the `__dir__` of a package with `lazy_exports`, so that completion finds the names.

    >>> lazy_names(["Producer", "Admin"])()
    ['Admin', 'Producer']
    """
    found = sorted(names)
    return lambda: found


def missing_package(error: ModuleNotFoundError) -> LocalError | None:
    """Returns an error that names the extra to install; None if no extra installs the module.

    >>> str(missing_package(ModuleNotFoundError(name="kazoo.client")))
    "kazoo is not installed: pip install 'barnabas[zookeeper]'"
    """
    package = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(package)
    if extra is None:
        return None
    return LocalError(f"{package} is not installed: pip install 'barnabas[{extra}]'")


@contextlib.contextmanager
def optional_import() -> Iterator[None]:
    """Around the import of an optional package: the error names the extra that installs it.

    It stays a ModuleNotFoundError, because programs catch that to use an extra only if it is there.

    >>> with optional_import():
    ...     raise ModuleNotFoundError("No module named 'kazoo'", name="kazoo")
    Traceback (most recent call last):
    ModuleNotFoundError: kazoo is not installed: pip install 'barnabas[zookeeper]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = missing_package(error)
        if missing is None:
            raise
        raise ModuleNotFoundError(str(missing), name=error.name, path=error.path) from error
