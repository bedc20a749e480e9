"""Awaitable calls that usually complete at once. Cython compiles it; it also runs as plain Python.

A coroutine costs a frame for every call, also if nothing has to be awaited. A `DirectCall` first
tries to complete in compiled code, and makes a coroutine only if that fails. It behaves as a
coroutine: it does nothing until it is awaited, it can be awaited once, `asyncio.create_task()`
accepts it, and one that was never awaited causes a RuntimeWarning.

The interpreter awaits it through the slot `am_send`, which returns the result without a
StopIteration exception. Cython has no syntax for that slot, so this module sets it in the type.
A call has a caller and up to four arguments, which are fields of the call: a tuple of them would be
one more object for each call.
"""

from __future__ import annotations

import warnings
from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.barnabas.clients.core._direct_call_hot import PyIter_Send, PyTypeObject
    from cython.cimports.cpython.object import PyObject
    from cython.cimports.cpython.ref import Py_INCREF

COMPILED: bool = cython.compiled

_RETURNED = cython.declare(cython.int, 0)  # PYGEN_RETURN; PYGEN_NEXT is 1, PYGEN_ERROR is -1


@cython.cclass
class DirectCaller:
    """Base class of the objects that have such calls: subclasses override the methods below."""

    @cython.ccall
    def _complete(self, call: DirectCall) -> object:
        """Returns the result of a call, None if something has to be awaited."""
        raise NotImplementedError

    @cython.ccall
    def _continue(self, call: DirectCall) -> object:
        """Returns the coroutine that completes a call."""
        raise NotImplementedError

    def _describe(self, call: DirectCall) -> str:
        """Returns the name of a call, for a warning."""
        raise NotImplementedError


@cython.final
@cython.freelist(64)
@cython.cclass
class DirectCall:
    """One call. No subclasses: only then the memory of a call is used again for the next one."""

    def __init__(
        self, caller: DirectCaller, first: Any, second: Any, third: Any, others: Any
    ) -> None:
        self._caller = caller
        self._first = first
        self._second = second
        self._third = third
        self._others = others
        self._coroutine: Any = None
        self._begun = False

    @cython.cfunc
    def _begin(self) -> object:
        """Returns the result, None if the coroutine has to be resumed."""
        if self._begun:
            raise RuntimeError("cannot reuse already awaited coroutine")
        self._begun = True
        result = self._caller._complete(self)
        if result is None:
            self._coroutine = self._caller._continue(self)
        return result

    def __await__(self) -> Any:
        return self

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """Begins or continues the call; raises StopIteration with the result at its end."""
        if self._coroutine is None:
            result = self._begin()
            if result is not None:
                raise StopIteration(result)
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        """Raises an error inside the call, for instance CancelledError."""
        if self._coroutine is None:
            self._begun = True
            raise (error[0] if len(error) == 1 else error[1] or error[0])
        return self._coroutine.throw(*error)

    def close(self) -> None:
        """Ends the call; one that has not begun has no effect."""
        self._begun = True
        if self._coroutine is not None:
            self._coroutine.close()

    def __dealloc__(self) -> None:
        # The garbage collector may have taken the caller away already.
        if not self._begun and self._caller is not None:
            _warn(self._caller._describe(self))


def _warn(name: str) -> None:
    warnings.warn(f"{name} was never awaited, so it did nothing", RuntimeWarning, stacklevel=2)


@cython.ccall
def new_call(
    caller: DirectCaller, first: object, second: object, third: object, others: object
) -> DirectCall:
    """Returns a call that awaits `caller._complete(call)`; `caller` gives its arguments a
    meaning.
    """
    if not cython.compiled:
        return DirectCall(caller, first, second, third, others)
    call: DirectCall = DirectCall.__new__(DirectCall)
    call._caller = caller
    call._first = first
    call._second = second
    call._third = third
    call._others = others
    return call


@cython.cfunc
@cython.exceptval(-1)
def _send_slot(call: DirectCall, value: object, result: cython.pp_void) -> cython.int:
    """The slot `am_send`: the same as `send`, without an exception for the result."""
    if call._coroutine is None:
        found = call._begin()
        if found is not None:
            Py_INCREF(found)
            result[0] = cython.cast(cython.p_void, found)
            return _RETURNED
    return PyIter_Send(
        call._coroutine, value, cython.cast(cython.pointer(cython.pointer(PyObject)), result)
    )


if cython.compiled:
    cython.cast(cython.pointer(PyTypeObject), DirectCall).tp_as_async.am_send = cython.cast(
        cython.p_void, _send_slot
    )
else:
    DirectCall.__del__ = DirectCall.__dealloc__  # type: ignore[attr-defined]
