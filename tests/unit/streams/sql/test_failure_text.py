"""The reason of a failed statement, from the text of an exception."""

from barnabas.streams.sql.engine.session import failure_text


def test_an_exception_of_java_is_named():
    """Py4J writes a colon before the exception."""
    text = (
        "An error occurred while calling o695.collectToPython.\n"
        ": java.lang.OutOfMemoryError: Java heap space\n"
        "\tat org.apache.spark.sql.Dataset.collectToPython(Dataset.scala:1)\n"
    )
    assert failure_text(Exception(text)) == "OutOfMemoryError: Java heap space"
