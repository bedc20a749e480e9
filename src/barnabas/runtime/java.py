"""Finds the java command, and explains why Java is missing or unsuitable."""

import os
import shutil
from pathlib import Path

from barnabas.model.errors import LocalError


def find_java(user: str) -> str:
    """Returns the path of the java command from $JAVA_HOME or $PATH.

    Raises:
        LocalError: Java is not installed; the message names `user`, the program that needs it.
    """
    home = os.environ.get("JAVA_HOME")
    candidate = Path(home, "bin", "java") if home else None
    if candidate is not None and candidate.is_file():
        return str(candidate)
    found = shutil.which("java")
    if found is None:
        raise LocalError(f"{user} needs Java 17 or newer: no `java` on the path or in JAVA_HOME")
    return found


def unsuitable_java(user: str) -> LocalError:
    """Returns the error for a program that did not start with the Java of `find_java`."""
    home, found = os.environ.get("JAVA_HOME"), find_java(user)
    if home and not Path(home, "bin", "java").is_file():
        return LocalError(f"{user} needs Java 17 or newer: JAVA_HOME is {home}, which has no java")
    return LocalError(f"{user} did not start with {found}: it needs Java 17 or newer")
