"""The example of docs/producer.md works as described."""

import re
from pathlib import Path

import pytest

from barnabas.testing import Broker

pytestmark = pytest.mark.integration

ADDRESS = "localhost:9092"
PAGE = Path(__file__).parents[2] / "docs" / "producer.md"


def test_the_example_of_the_producer_page():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    with Broker() as broker:
        exec(compile(block.replace(ADDRESS, broker.bootstrap_servers), "producer.md", "exec"), {})
        assert len(broker.records("orders", at_least=1002)) == 1002
