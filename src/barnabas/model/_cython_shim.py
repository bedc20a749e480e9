"""Replaces the parts of the `cython` module that `_*_hot` modules use, if Cython is not installed.

Everything is a no-op: the hot modules are plain Python, and these names are hints for the compiler.
`compiled` is False here, and becomes True at compile time.
"""

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")

compiled = False


def _same(target: _T) -> _T:
    return target


def _same_with_option(*_args: Any, **_options: Any) -> Callable[[_T], _T]:
    return _same


class _NoGil:
    """A decorator, and a context manager."""

    def __call__(self, target: _T) -> _T:
        return target

    def __enter__(self) -> None: ...

    def __exit__(self, *_error: object) -> None: ...


nogil = _NoGil()
cclass = final = cfunc = ccall = inline = no_gc = _same
freelist = exceptval = boundscheck = wraparound = annotation_typing = _same_with_option


def cast(_type: Any, value: _T) -> _T:
    return value


def declare(_type: Any, value: Any = None, **_options: Any) -> Any:
    return value


def __getattr__(_name: str) -> Any:
    """Returns a C type name, which is only passed to `cast` and `declare`."""
    return None
