"""Decompression bombs in a process of their own: resident memory and time stay bounded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.records.bombs import BOMBS, MIB

pytestmark = pytest.mark.faults

CAP = 16 * MIB

SCRIPT = """
import json, sys, time
from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records.compression import decompress

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

name, cap = sys.argv[1], int(sys.argv[2])
with open(sys.argv[3], "rb") as file:
    codec, bomb = Codec(file.read(1)[0]), file.read()
before, start = peak(), time.process_time()
try:
    decompress(codec, bomb, cap)
    refused = False
except CorruptRecordError:
    refused = True
seconds = time.process_time() - start
print(json.dumps({"refused": refused, "seconds": seconds, "grown": peak() - before}))
"""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_at_most_the_cap(name, tmp_path):
    codec, make = BOMBS[name]
    path = tmp_path / "bomb"
    path.write_bytes(bytes([codec]) + make())
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, name, str(CAP), str(path)],
        env={"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        check=True,
        timeout=60,
    )
    report = json.loads(done.stdout)
    assert report["refused"]
    # A decoder keeps its window beside the output: twice the cap, and some change.
    assert report["grown"] < 2 * CAP + 4 * MIB
    assert report["seconds"] < 0.5
