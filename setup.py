"""Builds the optional compiled hot paths; without a compiler the package installs and runs pure.

Every module named `_*_hot.py` is plain Python that Cython compiles as it stands (pure-Python
mode); the `.py` stays beside the extension as the fallback and the reference.
"""

import multiprocessing
import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HOT_MODULES = sorted(Path("src").rglob("_*_hot.py"))
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


class OptionalBuildExt(build_ext):
    """Builds all extensions or none: they share C structs, so a half set would not import.

    `Extension(optional=True)` alone is not enough: an editable install copies what was not built.
    """

    def build_extensions(self) -> None:
        self.parallel = self.parallel or PROCESSORS
        try:
            super().build_extensions()
        except Exception as error:  # noqa: BLE001 - distutils lets every kind through
            self.warn(f"no compiled hot paths, barnabas will run pure and slower: {error}")
            self.extensions.clear()


def extensions() -> list[Extension]:
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    modules = [
        Extension(
            ".".join(path.relative_to("src").with_suffix("").parts),
            [str(path)],
            extra_compile_args=["-O3", "-g0"],
        )
        for path in HOT_MODULES
    ]
    if not modules:
        return []
    # A start method other than fork would run this file again in each process.
    processes = PROCESSORS if multiprocessing.get_start_method() == "fork" else 0
    return cythonize(modules, build_dir="build/cython", language_level=3, nthreads=processes)


setup(ext_modules=extensions(), cmdclass={"build_ext": OptionalBuildExt})
