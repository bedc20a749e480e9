"""Runs a scenario with one client on one set of brokers and judges the observations."""

import time
import traceback
from dataclasses import dataclass, field, replace
from typing import Any

from scenarios.adapter import Client, UnsupportedError
from scenarios.differences import DIFFERENCES, Difference
from scenarios.registry import Scenario
from scenarios.world import Control, World

SAME = "same"
DIFFERENT = "different"
MISSING = "missing"
FAILED = "failed"
PEER_ATTEMPTS = 3


@dataclass(frozen=True)
class Result:
    """`verdict`: same, different (declared, with a reason), missing (feature), or failed.

    A result that is the same and has a reason belongs to a difference that does not show in every
    run.
    """

    scenario: str
    client: str
    broker: str
    verdict: str
    reason: str = ""
    observed: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


def run(scenario: Scenario, client: Client, broker: str, control: Control) -> Result:
    """Run a scenario; a failed run of another project's client is repeated.

    Their timing on a busy machine is not what is tested. Our clients have one attempt.
    """
    began = time.monotonic()
    attempts = 1 if client.name.startswith("barnabas") else PEER_ATTEMPTS
    for _ in range(attempts):
        result = _attempt(scenario, client, broker, control)
        if result.verdict != FAILED:
            break
    return replace(result, seconds=time.monotonic() - began)


def _attempt(scenario: Scenario, client: Client, broker: str, control: Control) -> Result:
    world = World(client, control)
    place = (scenario.name, client.name, broker)
    try:
        observed = scenario.script(world)
    except UnsupportedError as error:
        return Result(*place, MISSING, str(error))
    except Exception:  # noqa: BLE001 - every library has its own
        return Result(*place, FAILED, traceback.format_exc())
    finally:
        world.close()
    return _judge(scenario, place, observed)


def _judge(scenario: Scenario, place: tuple[str, str, str], observed: dict[str, Any]) -> Result:
    declared = difference(*place)
    if declared is not None and declared.allows(scenario.expected, observed):
        verdict = SAME if observed == scenario.expected else DIFFERENT
        return Result(*place, verdict, declared.reason, observed)
    wanted = {**scenario.expected, **(declared.outcomes[-1] if declared else {})}
    unlike = {
        name: (observed.get(name), value)
        for name, value in wanted.items()
        if observed.get(name) != value
    }
    if unlike or observed.keys() != scenario.expected.keys():
        lines = [f"{name}: observed {seen!r}, not {due!r}" for name, (seen, due) in unlike.items()]
        text = "; ".join(lines) or f"observations {sorted(observed)} differ from the declaration"
        return Result(*place, FAILED, text, observed)
    return Result(*place, SAME, "", observed)


def difference(name: str, client: str, broker: str) -> Difference | None:
    """The declared difference, the one for these brokers first."""
    return DIFFERENCES.get((name, client, broker)) or DIFFERENCES.get((name, client))
