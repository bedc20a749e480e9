"""The examples of the documentation do what they say."""

import re
from pathlib import Path

import pytest

from barnabas.testing import Broker

pytest_plugins = "pytester"
pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[2] / "docs"


def examples(page):
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_the_tests_of_the_testing_page(pytester):
    blocks = [block for block in examples("testing.md") if "def test_" in block]
    assert len(blocks) == 5
    pytester.makepyfile("\n\n".join(blocks))
    scope = ("-o", "asyncio_default_fixture_loop_scope=function")
    result = pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:xdist", *scope)
    result.assert_outcomes(passed=len(blocks))


def test_the_script_of_the_testing_page():
    blocks = [block for block in examples("testing.md") if "def test_" not in block]
    assert len(blocks) == 2
    exec(compile("\n".join(blocks), "testing.md", "exec"), {})


def test_the_admin_page():
    """Passes when the example of the page, with its own assertions, runs without an error."""
    (block,) = examples("admin.md")
    with Broker(in_memory=True) as broker:
        here = block.replace("localhost:9092", broker.bootstrap_servers)
        exec(compile(here, "admin.md", "exec"), {})
