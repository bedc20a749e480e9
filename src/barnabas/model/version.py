"""The version of the package: the single place where it is written.

`pyproject.toml` reads it for the distribution, `barnabas.__version__` and the software version
that clients send in ApiVersions import it.
"""

VERSION = "0.1.0"
