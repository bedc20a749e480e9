"""How a session comes to know the source."""

import pytest

from barnabas.spark import FORMAT, register

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]


def test_a_registered_source_has_no_accumulator(spark):
    """With one, each step of a micro-batch waits for the driver's Python."""
    register(spark)
    sources = spark._jsparkSession.sessionState().dataSourceManager()
    function = sources.lookupDataSource(FORMAT).dataSourceCls()
    assert function.accumulator() is None
    assert spark.sparkContext._javaAccumulator is not None, "other functions have theirs"
