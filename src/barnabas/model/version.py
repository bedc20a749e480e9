"""The version of the package, defined only here.

`pyproject.toml` reads it for the distribution; `barnabas.__version__` and the software version in
ApiVersions requests import it.
"""

VERSION = "0.1.0"
