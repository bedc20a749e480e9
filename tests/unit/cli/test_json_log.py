"""`--log-format json`: one JSON object per log line."""

import json
import logging

from barnabas.cli.servers.serving import JsonFormatter


def test_a_line_has_time_level_logger_and_message():
    record = logging.LogRecord("barnabas.broker", logging.WARNING, "", 0, "a\n%s", ("b",), None)
    record.created = 1.5
    text = JsonFormatter().format(record)
    assert "\n" not in text
    assert json.loads(text) == {
        "time": "1970-01-01T00:00:01.500+00:00",
        "level": "WARNING",
        "logger": "barnabas.broker",
        "message": "a\nb",
    }


def test_an_exception_is_part_of_the_line():
    try:
        raise ValueError("wrong")
    except ValueError as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), info)
    text = JsonFormatter().format(record)
    assert "\n" not in text
    assert "ValueError: wrong" in json.loads(text)["exception"]
