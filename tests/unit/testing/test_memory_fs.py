"""Files and directories after a power loss."""

from random import Random

import pytest

from barnabas.testing.memory_fs import Directory, Inode


@pytest.mark.parametrize("seed", range(20))
def test_of_a_file_pages_that_were_synced_stay(seed):
    inode = Inode()
    inode.data += b"aaaabbbb"
    inode.sync()
    inode.data[4:] = b"XXXXcccc"
    inode.dirty |= {1, 2}
    inode.lose_power(Random(seed), 4)
    assert 8 <= len(inode.data) <= 12
    assert inode.data[:4] == b"aaaa"
    assert inode.data[4:8] in (b"bbbb", b"XXXX")
    assert (bytes(inode.data), inode.dirty) == (inode.durable, set())


@pytest.mark.parametrize("seed", range(10))
def test_of_name_changes_a_beginning_survives(seed):
    directory, first, second = Directory(), Inode(), Inode()
    directory.change({"a": first})
    directory.sync()
    directory.change({"b": second})
    directory.change({"a": None, "c": first})
    directory.lose_power(Random(seed), 4)
    assert sorted(directory.entries) in (["a"], ["a", "b"], ["b", "c"])
    assert directory.entries == directory.durable
