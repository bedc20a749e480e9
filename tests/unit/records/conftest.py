"""Every test here runs on the compiled and on the pure codec."""

import pytest
from support.records import hot_records


@pytest.fixture(params=hot_records.IMPLEMENTATIONS)
def hot(request):
    """The hot modules under test; the records package runs on them."""
    with hot_records.use(request.param) as modules:
        yield modules
