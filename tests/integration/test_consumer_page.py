"""The examples of docs/consumer.md work as described."""

import re
from pathlib import Path

import pytest

from barnabas.testing import Broker

pytestmark = pytest.mark.integration

ADDRESS = "localhost:9092"
PAGE = Path(__file__).parents[2] / "docs" / "consumer.md"


def test_the_examples_of_the_consumer_page():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 3
    with Broker() as broker:
        for block in blocks:
            names = {}
            here = block.replace(ADDRESS, broker.bootstrap_servers)
            exec(compile(here, "consumer.md", "exec"), names)
            if "handle" in names:
                (letter,) = broker.records("orders.dlq", at_least=1)
                assert dict(letter.headers)["dlq.error.message"] == b"unlucky"
