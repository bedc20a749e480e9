"""Maps a missing module to the extra that installs it."""

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
