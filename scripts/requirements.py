"""Prints what the package with an extra needs, one requirement per line, as pip reads them.

`make setup` installs these packages while it compiles the extensions.

    python scripts/requirements.py dev
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
OWN_EXTRAS = re.compile(r"barnabas\[(.+)\]")


def requirements(extras: dict[str, list[str]], extra: str) -> Iterator[str]:
    """Yields the requirements of an extra and of the package's other extras that it names."""
    for requirement in extras[extra]:
        own = OWN_EXTRAS.fullmatch(requirement)
        if own is None:
            yield requirement
        else:
            for name in own[1].split(","):
                yield from requirements(extras, name)


def main(extra: str) -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    found = [*project["dependencies"], *requirements(project["optional-dependencies"], extra)]
    print("\n".join(dict.fromkeys(found)))


if __name__ == "__main__":
    main(sys.argv[1])
