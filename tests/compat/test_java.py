"""Java's clients with groups and transactions get the same responses as from Apache Kafka.

The answers below are Apache Kafka 4.1's to the same program. Its clients are not on PyPI: name
the directory with their jars in BARNABAS_KAFKA_JARS (kafka-clients 4.1, slf4j) to run this.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

JARS = os.environ.get("BARNABAS_KAFKA_JARS")
PROGRAM = Path(__file__).parent / "java" / "GroupsAndTransactions.java"

pytestmark = [
    pytest.mark.compat,
    pytest.mark.timeout(600),
    pytest.mark.skipif(JARS is None, reason="BARNABAS_KAFKA_JARS names no Kafka clients"),
]

OF_APACHE_KAFKA = {
    "share, classic": "Classic Stable range 2 members 60 committed",
    "share, cooperative": "Classic Stable cooperative-sticky 2 members 60 committed",
    "share, consumer": "Consumer Stable uniform 2 members 60 committed",
    "share, range": "Consumer Stable range 2 members 60 committed",
    "pattern": "5 and 5",
    "bad pattern": "InvalidRegularExpression",
    "static, classic": "kept its place, then older FencedInstanceIdException",
    "static, consumer": "kept its place, then newcomer UnreleasedInstanceIdException",
    "bad session": "InvalidSessionTimeoutException",
    "migration": "Consumer, Classic",
    "live group deleted": "GroupNotEmptyException",
    "member removed": "Empty without 1",
    "transactions": "30 of 60, CompleteAbort",
    "offsets, classic": "40 copied, 40 committed",
    "offsets, consumer": "40 copied, 40 committed",
    "zombie": "ProducerFencedException",
    "fenced by admin": "InvalidProducerEpochException",
    "aborted by admin": "open at 0, then open false",
    "timed out": "InvalidTxnStateException",
    "long timeout": "KafkaException",
}


def test_answers_are_those_of_apache_kafka(broker, topic_name):
    java = shutil.which("java")
    assert java is not None
    command = [java, "-cp", f"{JARS}/*", PROGRAM, broker.bootstrap_servers, topic_name[-40:]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answers = dict(line.split("\t") for line in done.stdout.splitlines())
    assert answers == OF_APACHE_KAFKA
