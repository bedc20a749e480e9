"""Freed memory stays with the process: a second use of the same size has no page faults."""

import platform
import subprocess
import sys

import pytest

MEASURE = """
import resource
from barnabas.runtime.freed_memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [bytearray(500_000) for _ in range(160)]
    for block in blocks:
        block[::4096] = bytes(len(block[::4096]))
    del blocks, block
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

keep_freed_memory(1000)
keep_freed_memory(100_000_000)
keep_freed_memory(2000)  # does not lower the limit
print(faults(), faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
def test_memory_that_was_freed_is_used_again_without_page_faults():
    command = [sys.executable, "-c", MEASURE]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    first, second = map(int, printed.split())
    assert first > 10_000  # 80 MB in pages of 4 KB
    assert second < first / 20
