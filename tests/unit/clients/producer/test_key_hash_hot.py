"""The hash of a key equals that of other clients, compiled and as plain Python."""

import importlib.machinery
import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as kafka_python_murmur2

from barnabas.clients.producer import _key_hash_hot


def _pure():
    path = Path(_key_hash_hot.__file__).parent / "_key_hash_hot.py"
    loader = importlib.machinery.SourceFileLoader("pure_key_hash_hot", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


PURE = _pure()


@pytest.mark.parametrize("hot", [_key_hash_hot, PURE], ids=["installed", "pure"])
@pytest.mark.parametrize(
    ("key", "expected"),
    [(b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536)],
)
def test_hash_equals_javas_published_values(hot, key, expected):
    assert hot.murmur2(key) == expected % 2**32


@given(st.binary(max_size=100))
def test_hash_equals_kafka_pythons(key):
    assert _key_hash_hot.murmur2(key) == PURE.murmur2(key) == kafka_python_murmur2(key) % 2**32
