"""Compares the output of a command with a file in tests/cli/golden/.

UPDATE_GOLDEN=1 writes the files again after an intended change.
"""

import os
import re
from pathlib import Path

GOLDEN = Path(__file__).parents[2] / "cli" / "golden"

CHANGING = [
    (re.compile(r"127\.0\.0\.1:\d+"), "HOST:PORT"),
    (re.compile(r"127\.0\.0\.1( +)\d{4,5}\b"), r"HOST\1PORT"),
    (re.compile(r'("port": )\d+'), r"\1PORT"),
    (re.compile(r"/\S*barnabas-\w+"), "DIR"),
    (re.compile(r"(TopicId: |TOPIC-ID +)[\w-]{22}"), r"\1UUID"),
    (re.compile(r'("?(?:topic_id|cluster_id)"?: )"[\w-]{22}"'), r'\1"UUID"'),
    (re.compile(r"(CLUSTER-ID +|controller +)[\w-]{22}"), r"\1UUID"),
    (re.compile(r'(controller",\s+"status": "OK",\s+"target": )"[\w-]{22}"'), r'\1"UUID"'),
    (re.compile(r"\d+\.\d ms"), "N ms"),
    (re.compile(r"\b\d{8,10}\.\d+"), "SECONDS"),
    (re.compile(r'"(total|usable)_bytes": \d+'), r'"\1_bytes": BYTES'),
    (re.compile(r"\b\d+ APIs, Fetch \d+ to \d+"), "APIS"),
    (re.compile(r"\b\d+ APIs"), "APIS"),
]
# Columns as wide as a port, a path or an age: their alignment is not always the same.
UNALIGNED = {
    "log-dirs",
    "doctor",
    "cluster-info",
    "groups-describe",
    "groups-describe-zookeeper",
    "groups-watch",
}


def stable(text):
    for pattern, replacement in CHANGING:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def compare(name, ran):
    """With a run of a command line, or with a text made of several."""
    text = stable(ran if isinstance(ran, str) else f"exit code {ran.code}\n{ran.out}")
    if name.removesuffix(".table") in UNALIGNED:
        text = re.sub(" {2,}", "  ", text).replace("\n  ", "\n")
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()
