"""Kafka's command-line tools, by the names of its scripts."""

import json

from scenarios.registry import scenario


def lines(text):
    return [line for line in text.splitlines() if line.strip()]


@scenario(_tools=True, printed=[b"0", b"1", b"2"], code=0)
def read_from_the_beginning(w):
    """kafka-console-consumer --from-beginning --max-messages 3 prints three records."""
    topic = w.topic(1)
    w.feed(topic, 3)
    done = w.tool(
        "kafka-console-consumer", "--topic", topic, "--from-beginning", "--max-messages", "3"
    )
    return {"printed": [line.encode() for line in lines(done.out)], "code": done.code}


@scenario(_tools=True, printed=10, committed={0: 10}, next=["10", "11"])
def read_ten_records_with_a_group(w):
    """--group with --max-messages 10 commits 10; the next run prints what follows."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 50)
    args = ("--topic", topic, "--from-beginning", "--group", group, "--max-messages")
    first = w.tool("kafka-console-consumer", *args, "10")
    committed = w.group_offsets(group)
    second = w.tool("kafka-console-consumer", *args, "2")
    return {
        "printed": len(lines(first.out)),
        "committed": committed,
        "next": lines(second.out),
    }


@scenario(_tools=True, lag="40")
def read_ten_records_and_describe_the_group(w):
    """After ten of fifty records kafka-consumer-groups --describe shows a lag of 40."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 50)
    args = ("--topic", topic, "--from-beginning", "--group", group, "--max-messages", "10")
    w.tool("kafka-console-consumer", *args)
    done = w.tool("kafka-consumer-groups", "--describe", "--group", group)
    return {"lag": _column(done.out, topic, "LAG")}


def _column(text, topic, name):
    """A cell of the row of a topic in a table."""
    rows = [line.split() for line in lines(text)]
    header = next(row for row in rows if name in row)
    row = next(row for row in rows if topic in row)
    return row[header.index(name)]


@scenario(_tools=True, printed=["k1:v1"])
def print_keys(w):
    """print.key and key.separator print the key before the value."""
    topic = w.topic(1)
    w.feed(topic, [b"v1"], key=b"k1")
    args = ("--topic", topic, "--from-beginning", "--max-messages", "1")
    more = ("--property", "print.key=true", "--property", "key.separator=:")
    # Kafka's tool prints a notice about the option's new name before the records.
    return {"printed": lines(w.tool("kafka-console-consumer", *args, *more).out)[-1:]}


@scenario(_tools=True, ended=True, printed=2)
def reading_ends_after_the_time(w):
    """--timeout-ms ends the consumer when no record arrives; what arrived is printed."""
    topic = w.topic(1)
    w.feed(topic, 2)
    limit = "20000" if w.client.name == "java" else "6000"  # a JVM starts slowly on a busy machine
    args = ("--topic", topic, "--from-beginning", "--timeout-ms", limit)
    done = w.tool("kafka-console-consumer", *args)
    return {"ended": True, "printed": len(lines(done.out))}


@scenario(_tools=True, stored=[b"one", b"two"], code=0)
def write_lines(w):
    """kafka-console-producer writes a record per line."""
    topic = w.topic(1)
    done = w.tool("kafka-console-producer", "--topic", topic, text="one\ntwo\n")
    return {"stored": [record.value for record in w.stored(topic)], "code": done.code}


@scenario(_tools=True, stored=[(b"k", b"v")])
def write_keys(w):
    """parse.key and key.separator split a line into key and value."""
    topic = w.topic(1)
    more = ("--property", "parse.key=true", "--property", "key.separator=:")
    w.tool("kafka-console-producer", "--topic", topic, *more, text="k:v\n")
    return {"stored": [(record.key, record.value) for record in w.stored(topic)]}


@scenario(_tools=True, code=0, partitions=3)
def create_a_topic_by_tool(w):
    """kafka-topics --create makes a topic."""
    topic = w.adopt(w.name())
    done = w.tool("kafka-topics", "--create", "--topic", topic, "--partitions", "3")
    w.until(lambda: w.exists(topic))
    return {"code": done.code, "partitions": w.count(topic)}


@scenario(_tools=True, code=1, named=True)
def create_a_topic_twice_by_tool(w):
    """kafka-topics --create of a topic that exists fails and says so."""
    topic = w.topic(1)
    done = w.tool("kafka-topics", "--create", "--topic", topic)
    return {"code": done.code, "named": "already exists" in done.out + done.err}


@scenario(_tools=True, code=0, listed=True)
def list_topics_by_tool(w):
    """kafka-topics --list prints one topic per line."""
    topic = w.topic(1)
    done = w.tool("kafka-topics", "--list")
    return {"code": done.code, "listed": topic in lines(done.out)}


@scenario(_tools=True, code=0, rows=2)
def describe_a_topic_by_tool(w):
    """kafka-topics --describe prints a line per partition."""
    topic = w.topic(2)
    done = w.tool("kafka-topics", "--describe", "--topic", topic)
    return {"code": done.code, "rows": sum("Leader:" in line for line in lines(done.out))}


@scenario(_tools=True, code=1)
def describe_an_unknown_topic_by_tool(w):
    """kafka-topics --describe of a topic that does not exist fails."""
    return {"code": w.tool("kafka-topics", "--describe", "--topic", w.name()).code}


@scenario(_tools=True, code=0, exists=False)
def delete_a_topic_by_tool(w):
    """kafka-topics --delete deletes a topic."""
    topic = w.topic(1)
    done = w.tool("kafka-topics", "--delete", "--topic", topic)
    w.until(lambda: not w.exists(topic))
    return {"code": done.code, "exists": w.exists(topic)}


@scenario(_tools=True, code=0, partitions=4)
def add_partitions_by_tool(w):
    """kafka-topics --alter --partitions makes a topic grow."""
    topic = w.topic(1)
    done = w.tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "4")
    w.until(lambda: w.count(topic) == 4, 5)
    return {"code": done.code, "partitions": w.count(topic)}


@scenario(_tools=True, code=1, helps=True)
def tools_without_arguments_print_help(w):
    """kafka-topics without an action fails and prints its options."""
    done = w.client.tool("", "kafka-topics")
    return {"code": done.code, "helps": "--describe" in done.out + done.err}


@scenario(_tools=True, code=1)
def an_unknown_option_of_a_tool(w):
    """kafka-topics with an unknown option fails."""
    return {"code": w.tool("kafka-topics", "--lisst").code}


def _group(w, topic, count=5):
    group = w.name("group")
    w.feed(topic, count)
    w.commit_for(group, topic, count)
    return group


@scenario(_tools=True, code=0, committed={0: 0})
def reset_to_the_earliest_by_tool(w):
    """kafka-consumer-groups --reset-offsets --to-earliest --execute moves a group back."""
    topic = w.topic(1)
    group = _group(w, topic)
    args = ("--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute")
    done = w.tool("kafka-consumer-groups", *args)
    return {"code": done.code, "committed": w.group_offsets(group)}


@scenario(_tools=True, committed={0: 2})
def reset_to_an_offset_by_tool(w):
    """kafka-consumer-groups --reset-offsets --to-offset 2 --execute."""
    topic = w.topic(1)
    group = _group(w, topic)
    args = ("--reset-offsets", "--group", group, "--topic", topic, "--to-offset", "2", "--execute")
    w.tool("kafka-consumer-groups", *args)
    return {"committed": w.group_offsets(group)}


@scenario(_tools=True, committed={0: 5})
def a_dry_run_resets_nothing(w):
    """--reset-offsets without --execute changes nothing."""
    topic = w.topic(1)
    group = _group(w, topic)
    args = ("--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--dry-run")
    w.tool("kafka-consumer-groups", *args)
    return {"committed": w.group_offsets(group)}


@scenario(_tools=True, committed={0: 5}, named=True)
def a_running_group_is_not_reset_by_tool(w):
    """--reset-offsets of a group with members is rejected, and the reason is printed."""
    topic = w.topic(1)
    group = _group(w, topic)
    member = w.consumer(group)
    member.subscribe([topic])
    w.join(member)
    args = ("--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute")
    done = w.tool("kafka-consumer-groups", *args)
    said = done.out + done.err
    return {"committed": w.group_offsets(group), "named": group in said}


@scenario(_tools=True, listed=True)
def list_groups_by_tool(w):
    """kafka-consumer-groups --list prints one group per line."""
    group = _group(w, w.topic(1))
    return {"listed": group in lines(w.tool("kafka-consumer-groups", "--list").out)}


@scenario(_tools=True, code=0, committed={})
def delete_a_group_by_tool(w):
    """kafka-consumer-groups --delete removes a group's offsets."""
    group = _group(w, w.topic(1))
    done = w.tool("kafka-consumer-groups", "--delete", "--group", group)
    return {"code": done.code, "committed": w.group_offsets(group)}


@scenario(_tools=True, rows=True)
def end_offsets_by_tool(w):
    """kafka-get-offsets prints topic:partition:offset."""
    topic = w.topic(2)
    w.feed(topic, 3, 0)
    done = w.tool("kafka-get-offsets", "--topic", topic)
    return {"rows": lines(done.out) == [f"{topic}:0:3", f"{topic}:1:0"]}


@scenario(_tools=True, value=True)
def change_a_configuration_by_tool(w):
    """kafka-configs --alter, then --describe shows the new value."""
    topic = w.topic(1)
    entity = ("--entity-type", "topics", "--entity-name", topic)
    w.tool("kafka-configs", "--alter", *entity, "--add-config", "retention.ms=1000")
    done = w.tool("kafka-configs", "--describe", *entity)
    return {"value": "retention.ms=1000" in done.out}


@scenario(_tools=True, left=[4, 5])
def delete_records_by_tool(w):
    """kafka-delete-records deletes records before an offset."""
    topic = w.topic(1)
    w.feed(topic, 6)
    wanted = {"partitions": [{"topic": topic, "partition": 0, "offset": 4}], "version": 1}
    with w.file(json.dumps(wanted)) as path:
        w.tool("kafka-delete-records", "--offset-json-file", path)
    return {"left": [record.offset for record in w.stored(topic)]}


@scenario(_tools=True, printed=["ok"])
def read_committed_records_by_tool(w):
    """--isolation-level read_committed prints no aborted records."""
    topic = w.topic(1)
    producer = w.producer({"transactional.id": w.name("tx")})
    producer.init_transactions()
    for value, end in ((b"no", producer.abort), (b"ok", producer.commit)):
        producer.begin()
        producer.send(topic, value)(20)
        end()
    args = ("--topic", topic, "--from-beginning", "--max-messages", "1")
    done = w.tool("kafka-console-consumer", *args, "--isolation-level", "read_committed")
    return {"printed": lines(done.out)}
