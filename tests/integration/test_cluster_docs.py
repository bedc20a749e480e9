"""The example of the cluster page works as described."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"


def test_the_cluster_page():
    """Passes when the example of the page, with its own assertions, runs without an error."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(block, "cluster.md", "exec"), {})
