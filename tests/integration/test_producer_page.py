"""The example of docs/producer.md works as described."""

import re
from pathlib import Path

import pytest

from barnabas.testing import Broker

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[2] / "docs" / "producer.md"


def test_the_example_of_the_producer_page():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    with Broker() as broker:
        exec(compile(block, "producer.md", "exec"), {"bootstrap_servers": broker.bootstrap_servers})
        assert len(broker.records("orders", at_least=1002)) == 1002
