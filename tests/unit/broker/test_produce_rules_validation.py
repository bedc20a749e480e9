"""Validation of batches that clients send: the errors that it returns."""

import gc
import weakref

import pytest

from barnabas.broker.produce_rules import outcome_of
from barnabas.model.errors import CorruptRecordError


class Decompressed(bytearray):
    """Bytes that a weak reference can refer to."""


@pytest.mark.parametrize("chained", ["context", "cause"])
def test_an_error_keeps_no_decompressed_bytes(chained):
    kept = []

    def decompress():
        part = Decompressed(b"part")
        kept.append(weakref.ref(part))
        raise ValueError("invalid block")

    def validate():
        try:
            decompress()
        except ValueError as error:
            if chained == "cause":
                raise CorruptRecordError("gzip: invalid block") from error
            raise CorruptRecordError("gzip: invalid block") from None

    gc.disable()
    try:
        outcome = outcome_of(validate)
        assert str(outcome) == "gzip: invalid block"
        assert [part() for part in kept] == [None]
    finally:
        gc.enable()
