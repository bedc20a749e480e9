"""Builds the optional compiled hot paths; without a compiler the package installs and runs pure.

Every module named `_*_hot.py` is plain Python that Cython compiles as it stands (pure-Python
mode); the `.py` stays beside the extension as the fallback and the reference.
"""

from pathlib import Path

from setuptools import Extension, setup

HOT_MODULES = sorted(Path("src").rglob("_*_hot.py"))


def extensions() -> list[Extension]:
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    modules = [
        Extension(
            ".".join(path.relative_to("src").with_suffix("").parts),
            [str(path)],
            optional=True,
            extra_compile_args=["-O3"],
        )
        for path in HOT_MODULES
    ]
    return cythonize(modules, language_level=3) if modules else []


setup(ext_modules=extensions())
