"""What the `_*_hot` modules use of the `cython` module, for machines without Cython.

Everything is a no-op: the hot modules are plain Python, and these names only tell the compiler
what it may do. `compiled` is False here, and becomes True at compile time.
"""

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")

compiled = False


def _same(target: _T) -> _T:
    return target


def _same_with_option(*_args: Any, **_options: Any) -> Callable[[_T], _T]:
    return _same


cclass = final = cfunc = inline = no_gc = _same
freelist = exceptval = boundscheck = wraparound = _same_with_option


def cast(_type: Any, value: _T) -> _T:
    return value


def declare(_type: Any, value: _T) -> _T:
    return value


def __getattr__(_name: str) -> Any:
    """C type names: only ever passed back to `cast` and `declare`."""
    return None
