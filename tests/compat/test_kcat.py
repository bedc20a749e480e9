"""Debian's kcat, the tool people try first: -L, -P, -C and -Q."""

import json
import shutil
import subprocess

import pytest

KCAT = shutil.which("kcat") or shutil.which("kafkacat")

pytestmark = [
    pytest.mark.compat,
    pytest.mark.skipif(KCAT is None, reason="kcat is not installed (apt-get install kcat)"),
]


def kcat(broker, *arguments, text=None):
    done = subprocess.run(
        [KCAT, "-b", broker.bootstrap_servers, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_produce_then_consume(broker, topic_name):
    kcat(broker, "-P", "-t", topic_name, "-p", "0", "-K", ":", text="a:1\nb:2\nc:3\n")
    out = kcat(broker, "-C", "-t", topic_name, "-p", "0", "-e", "-q", "-K", ":")
    assert out == "a:1\nb:2\nc:3\n"


def test_list_names_the_broker_and_the_topic(broker, topic_name):
    kcat(broker, "-P", "-t", topic_name, text="x\n")
    listed = json.loads(kcat(broker, "-L", "-J"))
    assert listed["brokers"][0]["name"] == broker.bootstrap_servers
    assert topic_name in {topic["topic"] for topic in listed["topics"]}


def test_query_by_time(broker, topic_name):
    kcat(broker, "-P", "-t", topic_name, "-p", "0", text="x\ny\n")
    assert kcat(broker, "-Q", "-t", f"{topic_name}:0:-1").strip() == f"{topic_name} [0] offset 2"
    assert kcat(broker, "-Q", "-t", f"{topic_name}:0:-2").strip() == f"{topic_name} [0] offset 0"
