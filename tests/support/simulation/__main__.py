"""Runs seeds of the simulation: `python -m support.simulation FIRST LAST [--rules NAME]`.

One JSON line per seed. In a process of its own because the order of sets of names depends on
PYTHONHASHSEED: with 0 a seed is the same history every time. `--rules` puts the rules of another
time in force (a name in `historic_rules`).
"""

import argparse
import json
import logging
import random
import sys
from dataclasses import asdict, replace

from support.simulation import historic_rules
from support.simulation.replica_host import Stop
from support.simulation.simulation import Plan, simulate

from barnabas.replication.safety_rules import UncleanStartPolicy

WITH_POWER_LOSS = (Stop.KILL, Stop.POWER, Stop.CLEAN)


def plan_for(seed):
    """Kinds of cluster in turn: processes die; machines lose power; that, with fsync on ack."""
    dice = random.Random(seed)
    plan = Plan(
        brokers=dice.choice([3, 3, 4, 5]),
        partitions=dice.choice([1, 2]),
        min_insync=dice.choice([1, 2, 2]),
        fault_s=20.0,
    )
    match seed % 3:
        case 0:
            return plan
        case 1:
            return replace(plan, stops=WITH_POWER_LOSS)
        case _:
            return replace(plan, stops=WITH_POWER_LOSS, fsync=True, policy=UncleanStartPolicy.LEAD)


def run_seed(seed, plan):
    try:
        return {"ok": True, **asdict(simulate(seed, plan))}
    except Exception as error:  # noqa: BLE001 - whatever broke is this seed's result
        return {"ok": False, "seed": seed, "error": f"{type(error).__name__}: {error}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--rules")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    failed = False
    for seed in range(options.first, options.last):
        plan = plan_for(seed)
        if options.rules:
            plan = replace(plan, rules=getattr(historic_rules, options.rules))
        result = run_seed(seed, plan)
        failed |= not result["ok"]
        print(json.dumps(result), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
