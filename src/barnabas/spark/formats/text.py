"""Bytes that are UTF-8 text."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def decode_text(data: bytes) -> str:
    """ValueError tells where the bytes are no text."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"is no UTF-8 text: byte {error.start} is {data[error.start]:#04x}"
        ) from None


def decode_texts(array: "pa.Array") -> "pa.Array | None":
    """A whole batch, or None when some row is no text."""
    import pyarrow as pa

    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        return None
