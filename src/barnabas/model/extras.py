"""Packages that come with an extra of ours only, and the words for one that is not there."""

from barnabas.model.errors import LocalError

_EXTRAS = {
    "pyarrow": "arrow",
    "kazoo": "zookeeper",
    "pyspark": "spark",
    "pandas": "spark",
    "fastavro": "spark",
    "yaml": "spark",
    "sqlglot": "sql",
    "prompt_toolkit": "sql",
}


def missing_package(error: ModuleNotFoundError) -> LocalError | None:
    """What to install; None when the module that is missing belongs to no extra.

    >>> str(missing_package(ModuleNotFoundError(name="kazoo.client")))
    "kazoo is not installed: pip install 'barnabas[zookeeper]'"
    """
    package = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(package)
    if extra is None:
        return None
    return LocalError(f"{package} is not installed: pip install 'barnabas[{extra}]'")
