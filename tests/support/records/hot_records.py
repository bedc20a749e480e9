"""The compiled and the pure record codecs, so that one suite tests both.

`IMPLEMENTATIONS` holds a name for each; `use(name)` makes the `records` package run on it.
"pure" is the .py run with Cython's own shadow module, "shim" without any Cython installed.
"""

import contextlib
import functools
import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

from barnabas import records

PACKAGE = "barnabas.records"
HOT = (
    "_batch_header_hot",
    "_append_hot",
    "_buffers_hot",
    "_sections_hot",
    "_section_runs_hot",
    "_columns_hot",
    "_batches_hot",
    "_record_hot",
    "_records_hot",
    "_rows_hot",
    "_validation_hot",
)
USERS = (
    "arrow",
    "batch",
    "builder",
    "compression",
    "lz4_frames",
    "reader",
    "record",
    "rewrite",
    "validation",
)
NAMES = {
    "_append_hot": ("RecordAppender",),
    "_batch_header_hot": ("BatchHeader",),
    "_batches_hot": ("BatchPass",),
    "_buffers_hot": ("new_buffer",),
    "_columns_hot": ("ArrowColumns",),
    "_record_hot": ("Record",),
    "_records_hot": ("RecordCursor",),
    "_rows_hot": ("RowEncoder",),
    "_sections_hot": ("expand_into",),
    "_validation_hot": ("accept_plain",),
}

IMPLEMENTATIONS = [
    pytest.param(
        "compiled",
        marks=pytest.mark.skipif(not records.COMPILED, reason="the extensions are not built"),
    ),
    "pure",
    "shim",
]


@functools.cache
def load(name: str) -> dict[str, ModuleType]:
    """The hot modules of one implementation, by short name."""
    if name == "compiled":
        return {hot: importlib.import_module(f"{PACKAGE}.{hot}") for hot in HOT}
    hidden = {"cython": None} if name == "shim" else {}
    loaded: dict[str, ModuleType] = {}
    with mock.patch.dict(sys.modules, hidden):
        for hot in HOT:
            loaded[hot] = load_source(f"{PACKAGE}.{hot}")
            sys.modules[f"{PACKAGE}.{hot}"] = loaded[hot]
    return loaded


def load_source(full_name: str) -> ModuleType:
    """Returns a hot module run as plain Python, also if it is compiled."""
    package = Path(records.__file__).parents[1]
    path = package.joinpath(*full_name.split(".")[1:]).with_suffix(".py")
    loader = importlib.machinery.SourceFileLoader(full_name, str(path))
    spec = importlib.util.spec_from_loader(full_name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    assert module.COMPILED is False
    return module


@contextlib.contextmanager
def use(name: str) -> Iterator[dict[str, ModuleType]]:
    """Run the records package on one implementation while the context lasts."""
    modules = load(name)
    with contextlib.ExitStack() as stack:
        for user in USERS:
            module = importlib.import_module(f"{PACKAGE}.{user}")
            for hot, names in NAMES.items():
                for symbol in names:
                    if hasattr(module, symbol):
                        replacement = getattr(modules[hot], symbol)
                        stack.enter_context(mock.patch.object(module, symbol, replacement))
        yield modules
