"""Output buffers: size, and that they can be changed."""

import pytest


@pytest.mark.parametrize("size", [0, 1, 511, 512, 70_000])
def test_new_buffer(hot, size):
    out = hot["_buffers_hot"].new_buffer(size)
    assert type(out) is bytearray
    assert len(out) == size
    out[:] = b"x" * size
    assert out == b"x" * size
    del out[size // 2 :]
    assert len(out) == size // 2


def test_a_negative_size(hot):
    with pytest.raises((ValueError, SystemError)):
        hot["_buffers_hot"].new_buffer(-1)
