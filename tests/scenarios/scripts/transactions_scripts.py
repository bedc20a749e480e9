"""Transactions: what readers see, who may end them, and offsets inside of them."""

from scenarios.registry import scenario
from scenarios.scripts.groups_scripts import values_of


def transactional(w, name=None, **config):
    settings = {"transactional.id": name or w.name("tx"), "transaction.timeout.ms": 30000}
    producer = w.producer({**settings, **{k.replace("_", "."): v for k, v in config.items()}})
    producer.init_transactions()
    return producer


def committed_reader(w, topic, partitions=1):
    consumer = w.consumer(isolation_level="read_committed")
    consumer.assign([(topic, number) for number in range(partitions)])
    return consumer


def write(producer, topic, *values, partition=0):
    for delivery in [producer.send(topic, value, partition=partition) for value in values]:
        delivery(20)


@scenario(values=[b"a", b"b"])
def a_committed_transaction_is_read(w):
    """read_committed returns the records of a committed transaction."""
    topic, producer = w.topic(1), transactional(w)
    producer.begin()
    write(producer, topic, b"a", b"b")
    producer.commit()
    return {"values": values_of(w.read(committed_reader(w, topic), 2))}


@scenario(values=[b"after"])
def an_aborted_transaction_is_skipped(w):
    """read_committed skips the records of an aborted transaction."""
    topic, producer = w.topic(1), transactional(w)
    producer.begin()
    write(producer, topic, b"a", b"b")
    producer.abort()
    w.feed(topic, [b"after"])
    return {"values": values_of(w.read(committed_reader(w, topic), 1))}


@scenario(values=[b"a", b"after"])
def read_uncommitted_returns_aborted_records(w):
    """read_uncommitted returns the records of an aborted transaction."""
    topic, producer = w.topic(1), transactional(w)
    producer.begin()
    write(producer, topic, b"a")
    producer.abort()
    w.feed(topic, [b"after"])
    consumer = w.consumer(isolation_level="read_uncommitted")
    consumer.assign([(topic, 0)])
    return {"values": values_of(w.read(consumer, 2))}


@scenario(open=0, committed=[b"a", b"after"])
def an_open_transaction_holds_readers(w):
    """read_committed waits at an open transaction and continues after its commit."""
    topic, producer = w.topic(1), transactional(w)
    producer.begin()
    write(producer, topic, b"a")
    w.feed(topic, [b"after"])
    consumer = committed_reader(w, topic)
    held = len(w.quiet(consumer))
    producer.commit()
    return {"open": held, "committed": values_of(w.read(consumer, 2))}


@scenario(values=[b"after"])
def close_aborts_an_open_transaction(w):
    """close() aborts an open transaction, so readers are not held until its time-out."""
    topic, producer = w.topic(1), transactional(w)
    producer.begin()
    write(producer, topic, b"a")
    producer.close()
    w.feed(topic, [b"after"])
    return {"values": values_of(w.read(committed_reader(w, topic), 1, 6))}


@scenario(values=[b"after"])
def a_successor_aborts_an_open_transaction(w):
    """A new producer with the same transactional.id aborts what the old one left open."""
    topic, name = w.topic(1), w.name("tx")
    old = transactional(w, name)
    old.begin()
    write(old, topic, b"a")
    transactional(w, name)
    w.feed(topic, [b"after"])
    return {"values": values_of(w.read(committed_reader(w, topic), 1))}


@scenario(refused=True)
def a_replaced_producer_is_fenced(w):
    """A producer whose transactional.id was taken over cannot commit."""
    topic, name = w.topic(1), w.name("tx")
    old = transactional(w, name)
    old.begin()
    write(old, topic, b"a")
    transactional(w, name)
    return {"refused": w.error(old.commit) != "none"}


@scenario(committed=[], values=[b"new"])
def a_replaced_producer_changes_nothing(w):
    """Records of a producer that was replaced are never read; those of the new one are."""
    topic, name = w.topic(1), w.name("tx")
    old = transactional(w, name)
    old.begin()
    write(old, topic, b"old")
    new = transactional(w, name)
    w.error(lambda: write(old, topic, b"late"))
    w.error(old.commit)
    before = [r.value for r in w.stored(topic, committed=True)]
    new.begin()
    write(new, topic, b"new")
    new.commit()
    return {"committed": before, "values": values_of(w.read(committed_reader(w, topic), 1))}


@scenario(values={0: [b"a"], 1: [b"b"]})
def a_transaction_over_two_partitions(w):
    """The records of one transaction appear in all its partitions."""
    topic, producer = w.topic(2), transactional(w)
    producer.begin()
    write(producer, topic, b"a", partition=0)
    write(producer, topic, b"b", partition=1)
    producer.commit()
    found = w.read(committed_reader(w, topic, 2), 2)
    return {"values": {n: values_of(r for r in found if r.partition == n) for n in range(2)}}


@scenario(topics=2)
def a_transaction_over_two_topics(w):
    """The records of one transaction appear in all its topics."""
    topics, producer = [w.topic(1), w.topic(1)], transactional(w)
    producer.begin()
    for topic in topics:
        write(producer, topic, b"x")
    producer.commit()
    found = [w.read(committed_reader(w, topic), 1) for topic in topics]
    return {"topics": sum(len(records) for records in found)}


@scenario(values=[b"1", b"3"])
def transactions_in_turn(w):
    """Commit, abort, commit: read_committed returns the first and the third."""
    topic, producer = w.topic(1), transactional(w)
    for n, end in ((1, producer.commit), (2, producer.abort), (3, producer.commit)):
        producer.begin()
        write(producer, topic, b"%d" % n)
        end()
    return {"values": values_of(w.read(committed_reader(w, topic), 2))}


@scenario(error="none", values=[b"x"])
def an_empty_transaction(w):
    """A transaction without records can be committed, and the next one works."""
    topic, producer = w.topic(1), transactional(w)
    producer.begin()
    error = w.error(producer.commit)
    producer.begin()
    write(producer, topic, b"x")
    producer.commit()
    return {"error": error, "values": values_of(w.read(committed_reader(w, topic), 1))}


@scenario(committed={0: 3})
def offsets_of_a_committed_transaction(w):
    """Offsets sent to a transaction are committed with it."""
    source, group, producer = w.topic(1), w.name("group"), transactional(w)
    w.feed(source, 3)
    consumer = w.consumer(group)
    consumer.subscribe([source])
    w.read(consumer, 3)
    producer.begin()
    producer.send_offsets({(source, 0): 3}, consumer)
    producer.commit()
    w.until(lambda: w.group_offsets(group), 5)
    return {"committed": w.group_offsets(group)}


@scenario(committed={})
def offsets_of_an_aborted_transaction(w):
    """Offsets sent to a transaction that is aborted are not committed."""
    source, group, producer = w.topic(1), w.name("group"), transactional(w)
    w.feed(source, 3)
    consumer = w.consumer(group)
    consumer.subscribe([source])
    w.read(consumer, 3)
    producer.begin()
    producer.send_offsets({(source, 0): 3}, consumer)
    producer.abort()
    return {"committed": w.group_offsets(group)}


@scenario(copied=[b"0", b"1", b"2", b"3", b"4", b"5"], committed={0: 6})
def a_copy_with_exactly_once(w):
    """Read, write and commit in transactions; one is aborted and repeated, nothing is doubled."""
    source, target, group = w.topic(1), w.topic(1), w.name("group")
    w.feed(source, 6)
    producer = transactional(w)
    consumer = w.consumer(group, max_poll_records=2)
    consumer.subscribe([source])
    for attempt in range(4):
        records = w.read(consumer, 2)
        producer.begin()
        write(producer, target, *values_of(records))
        if attempt == 1:
            producer.abort()
            consumer.seek((source, 0), records[0].offset)
            continue
        producer.send_offsets({(source, 0): records[-1].offset + 1}, consumer)
        producer.commit()
    found = w.read(committed_reader(w, target), 6)
    w.until(lambda: w.group_offsets(group) == {0: 6}, 5)
    return {"copied": values_of(found), "committed": w.group_offsets(group)}


@scenario(refused=True)
def sending_outside_a_transaction(w):
    """A transactional producer rejects records outside of a transaction."""
    topic, producer = w.topic(1), transactional(w)
    return {"refused": w.error(lambda: producer.send(topic, b"x")(5)) != "none"}


@scenario(refused=True)
def beginning_twice(w):
    """begin_transaction() inside of a transaction is rejected."""
    producer = transactional(w)
    producer.begin()
    return {"refused": w.error(producer.begin) != "none"}


@scenario(refused=True)
def committing_nothing(w):
    """commit_transaction() without begin_transaction() is rejected."""
    return {"refused": w.error(transactional(w).commit) != "none"}


@scenario(refused=True)
def aborting_nothing(w):
    """abort_transaction() without begin_transaction() is rejected."""
    return {"refused": w.error(transactional(w).abort) != "none"}


@scenario(refused=True)
def beginning_before_init(w):
    """begin_transaction() before init_transactions() is rejected."""
    producer = w.producer({"transactional.id": w.name("tx")})
    return {"refused": w.error(producer.begin) != "none"}


@scenario(refused=True)
def transactions_without_an_id(w):
    """init_transactions() without transactional.id is rejected."""
    producer = w.producer()

    def attempt():
        producer.init_transactions()
        producer.begin()

    return {"refused": w.error(attempt) != "none"}


@scenario(end=1)
def the_end_for_readers_of_committed_records(w):
    """read_committed: the end offset is the start of the first open transaction."""
    topic, producer = w.topic(1), transactional(w)
    w.feed(topic, 1)
    producer.begin()
    write(producer, topic, b"a", b"b")
    return {"end": committed_reader(w, topic).end_offset((topic, 0))}


@scenario(values=[b"x0", b"y0", b"x1", b"y1"])
def two_transactional_producers(w):
    """Committed transactions of two producers in one partition are read in log order."""
    topic = w.topic(1)
    producers = {b"x": transactional(w), b"y": transactional(w)}
    for n in range(2):
        for label, producer in producers.items():
            producer.begin()
            write(producer, topic, label + b"%d" % n)
            producer.commit()
    return {"values": values_of(w.read(committed_reader(w, topic), 4))}


@scenario(error="MESSAGE_TOO_LARGE", after="none")
def a_failed_record_in_a_transaction(w):
    """After a record failed, the transaction is aborted and the next one works."""
    topic, producer = w.topic(1, max_message_bytes=1000), transactional(w)
    producer.begin()
    error = w.error(lambda: producer.send(topic, b"x" * 5000)(20))
    producer.abort()
    producer.begin()
    after = w.error(lambda: write(producer, topic, b"ok"))
    if after == "none":
        producer.commit()
    return {"error": error, "after": after}
