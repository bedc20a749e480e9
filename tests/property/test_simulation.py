"""Many seeds of the simulated cluster: invariants after each step, convergence after healing.

To replay a seed:  PYTHONHASHSEED=0 PYTHONPATH=tests python -m support.simulation SEED SEED+1
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.soak import SOAK

TESTS = Path(__file__).parents[1]
SEEDS = 300 if SOAK else 50
CHUNK = 25
ONCE_FAILED = [88, 1032, 1286]
"""Seeds that found defects. Their histories change with the code; they are run nevertheless."""


def run_seeds(first, last, *options):
    """The results of these seeds, each a dict."""
    done = subprocess.run(
        [sys.executable, "-m", "support.simulation", str(first), str(last), *options],
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        timeout=500,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_seeds(first):
    results = run_seeds(first, first + CHUNK)
    assert [result for result in results if not result["ok"]] == []
    assert len(results) == CHUNK
    # Nothing is proved by a quiet run.
    assert sum(result["acknowledged"] for result in results) > 20 * CHUNK
    assert sum(result["leader_changes"] for result in results) > 4 * CHUNK
    assert sum(sum(result["faults"].values()) for result in results) > 20 * CHUNK
    assert sum(result["refused"] for result in results) > CHUNK


@pytest.mark.parametrize("seed", ONCE_FAILED)
def test_seeds_that_once_failed(seed):
    assert run_seeds(seed, seed + 1)[0]["ok"]


@pytest.mark.parametrize("rules", ["BEFORE_KIP_101", "BEFORE_KIP_966"])
def test_the_simulation_finds_known_bugs(rules):
    chunks = (run_seeds(first, first + 5, "--rules", rules) for first in range(0, 30, 5))
    errors = (result.get("error", "") for results in chunks for result in results)
    assert any("InvariantError" in error for error in errors)


def test_a_seed_is_one_history():
    assert run_seeds(7, 8) == run_seeds(7, 8)
