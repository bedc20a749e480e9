"""Where a consumer reads: resets, seeks, pauses and offsets by time."""

from scenarios.registry import scenario
from scenarios.scripts.groups_scripts import offsets_of, values_of

OLD = 1_600_000_000_000


def reader(w, topic, partitions=1, **config):
    """A consumer of all partitions without a group."""
    consumer = w.consumer(**config)
    consumer.assign([(topic, number) for number in range(partitions)])
    return consumer


def first_new_value(w, topic, consumer):
    """Write until the consumer, which has found the end by then, reads something."""
    found = []

    def write_and_read():
        w.feed(topic, [b"new"])
        found.extend(consumer.poll(0.3))
        return found

    w.until(write_and_read, pause=0)
    return values_of(found[:1])


@scenario(offsets=[0, 1, 2])
def earliest_reads_everything(w):
    """auto.offset.reset=earliest: a new group reads from the first record."""
    topic = w.topic(1)
    w.feed(topic, 3)
    consumer = w.consumer(w.name("group"))
    consumer.subscribe([topic])
    return {"offsets": offsets_of(w.read(consumer, 3))}


@scenario(values=[b"new"])
def latest_reads_only_new_records(w):
    """auto.offset.reset=latest: a new group reads what is written after it started."""
    topic = w.topic(1)
    w.feed(topic, 3)
    consumer = w.consumer(w.name("group"), auto_offset_reset="latest")
    consumer.subscribe([topic])
    w.join(consumer)
    return {"values": first_new_value(w, topic, consumer)}


@scenario(error="NO_OFFSET")
def without_a_reset_policy(w):
    """auto.offset.reset=none: a group without offsets gets an error from poll()."""
    topic = w.topic(1)
    w.feed(topic, 3)
    consumer = w.consumer(w.name("group"), auto_offset_reset="none")
    consumer.subscribe([topic])
    return {"error": w.error(lambda: w.read(consumer, 1, 5))}


@scenario(offsets=[3, 4])
def a_committed_offset_wins_over_the_reset(w):
    """auto.offset.reset=earliest is not used where an offset is committed."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 5)
    w.commit_for(group, topic, 3)
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    return {"offsets": offsets_of(w.read(consumer, 2))}


@scenario(offsets=[6, 7, 8, 9])
def deleted_records_reset_to_the_earliest(w):
    """The committed offset was deleted: earliest continues at the first record that is left."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    w.commit_for(group, topic, 2)
    w.delete_before(topic, 6)
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    return {"offsets": offsets_of(w.read(consumer, 4))}


@scenario(values=[b"new"])
def deleted_records_reset_to_the_latest(w):
    """The committed offset was deleted: latest continues at the end."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    w.commit_for(group, topic, 2)
    w.delete_before(topic, 6)
    consumer = w.consumer(group, auto_offset_reset="latest")
    consumer.subscribe([topic])
    w.join(consumer)
    return {"values": first_new_value(w, topic, consumer)}


@scenario(error="OFFSET_OUT_OF_RANGE")
def deleted_records_without_a_reset_policy(w):
    """The committed offset was deleted and auto.offset.reset=none: poll() raises."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    w.commit_for(group, topic, 2)
    w.delete_before(topic, 6)
    consumer = w.consumer(group, auto_offset_reset="none")
    consumer.subscribe([topic])
    return {"error": w.error(lambda: w.read(consumer, 1, 5))}


@scenario(offsets=[7, 8, 9])
def seek_forward(w):
    """seek() skips records."""
    topic = w.topic(1)
    w.feed(topic, 10)
    consumer = reader(w, topic)
    consumer.seek((topic, 0), 7)
    return {"offsets": offsets_of(w.read(consumer, 3))}


@scenario(first=[0, 1, 2], again=[0, 1, 2])
def seek_back(w):
    """seek() to an earlier offset reads records again."""
    topic = w.topic(1)
    w.feed(topic, 3)
    consumer = reader(w, topic)
    first = offsets_of(w.read(consumer, 3))
    consumer.seek((topic, 0), 0)
    return {"first": first, "again": offsets_of(w.read(consumer, 3))}


@scenario(again=[0, 1, 2, 3])
def seek_to_the_beginning(w):
    """seek_to_beginning() reads everything again."""
    topic = w.topic(1)
    w.feed(topic, 4)
    consumer = reader(w, topic)
    w.read(consumer, 4)
    consumer.seek_to_beginning((topic, 0))
    return {"again": offsets_of(w.read(consumer, 4))}


@scenario(values=[b"new"])
def seek_to_the_end(w):
    """seek_to_end() skips everything that is there."""
    topic = w.topic(1)
    w.feed(topic, 10)
    consumer = reader(w, topic, max_poll_records=2)
    w.read(consumer, 2)
    consumer.seek_to_end((topic, 0))
    return {"values": first_new_value(w, topic, consumer)}


@scenario(offsets=[0, 1, 2])
def seek_past_the_end_resets(w):
    """seek() past the end with earliest: reading continues at the first record."""
    topic = w.topic(1)
    w.feed(topic, 3)
    consumer = reader(w, topic)
    w.read(consumer, 3)
    consumer.seek((topic, 0), 100)
    return {"offsets": offsets_of(w.read(consumer, 3))}


@scenario(error="MISUSE")
def seek_to_a_negative_offset(w):
    """seek() to a negative offset is rejected."""
    topic = w.topic(1)
    consumer = reader(w, topic)
    consumer.poll(0.1)
    return {"error": w.error(lambda: consumer.seek((topic, 0), -7))}


@scenario(error="MISUSE")
def seek_of_a_partition_that_is_not_assigned(w):
    """seek() of a partition that is not assigned is rejected."""
    topic = w.topic(2)
    consumer = reader(w, topic)
    consumer.poll(0.1)
    return {"error": w.error(lambda: consumer.seek((topic, 1), 0))}


@scenario(position=5)
def the_position_follows_poll(w):
    """position() is the offset after the last record that poll() returned."""
    topic = w.topic(1)
    w.feed(topic, 10)
    consumer = reader(w, topic, max_poll_records=5)
    w.read(consumer, 5)
    return {"position": consumer.position((topic, 0))}


@scenario(position=0)
def the_position_before_the_first_record(w):
    """position() before the first poll() is where reading will start."""
    topic = w.topic(1)
    w.feed(topic, 3)
    return {"position": reader(w, topic).position((topic, 0))}


@scenario(position=3)
def the_position_at_the_end(w):
    """auto.offset.reset=latest: the first position is the end."""
    topic = w.topic(1)
    w.feed(topic, 3)
    consumer = reader(w, topic, auto_offset_reset="latest")
    return {"position": consumer.position((topic, 0))}


@scenario(paused=0, resumed=[0, 1, 2])
def a_paused_partition_gives_nothing(w):
    """A paused partition returns no records until it is resumed."""
    topic = w.topic(1)
    consumer = reader(w, topic)
    consumer.poll(0.1)
    consumer.pause((topic, 0))
    w.feed(topic, 3)
    paused = len(w.quiet(consumer))
    consumer.resume((topic, 0))
    return {"paused": paused, "resumed": offsets_of(w.read(consumer, 3))}


@scenario(partitions=[1])
def other_partitions_go_on(w):
    """While one partition is paused, the others are read."""
    topic = w.topic(2)
    consumer = reader(w, topic, 2)
    consumer.poll(0.1)
    consumer.pause((topic, 0))
    w.feed(topic, 3, 0)
    w.feed(topic, 3, 1)
    found = w.read(consumer, 3) + w.quiet(consumer, 0.3)
    return {"partitions": sorted({record.partition for record in found})}


@scenario(first=0, end=4)
def first_and_end_offset(w):
    """The first offset and the end of a partition."""
    topic = w.topic(1)
    w.feed(topic, 4)
    consumer = reader(w, topic)
    place = (topic, 0)
    return {"first": consumer.beginning_offset(place), "end": consumer.end_offset(place)}


@scenario(first=0, end=0)
def first_and_end_offset_of_an_empty_partition(w):
    """An empty partition starts and ends at 0."""
    topic = w.topic(1)
    consumer = reader(w, topic)
    place = (topic, 0)
    return {"first": consumer.beginning_offset(place), "end": consumer.end_offset(place)}


@scenario(first=6, end=10)
def the_first_offset_after_a_deletion(w):
    """Deleted records move the first offset, not the end."""
    topic = w.topic(1)
    w.feed(topic, 10)
    w.delete_before(topic, 6)
    consumer = reader(w, topic)
    place = (topic, 0)
    return {"first": consumer.beginning_offset(place), "end": consumer.end_offset(place)}


@scenario(exact=2, between=3)
def offsets_by_time(w):
    """offsets_for_times finds the first record at or after a time."""
    topic = w.topic(1)
    for n in range(5):
        w.feed(topic, [b"x"], timestamp=OLD + n * 100)
    consumer = reader(w, topic)
    place = (topic, 0)
    return {
        "exact": consumer.offset_for_time(place, OLD + 200),
        "between": consumer.offset_for_time(place, OLD + 201),
    }


@scenario(offset=None)
def no_offset_after_the_last_time(w):
    """offsets_for_times after the last record finds nothing."""
    topic = w.topic(1)
    w.feed(topic, [b"x"], timestamp=OLD)
    return {"offset": reader(w, topic).offset_for_time((topic, 0), OLD + 1)}


@scenario(offsets=[2, 3])
def reading_from_a_time(w):
    """A consumer that seeks to the offset of a time reads from there."""
    topic = w.topic(1)
    for n in range(4):
        w.feed(topic, [b"x"], timestamp=OLD + n * 100)
    consumer = reader(w, topic)
    offset = consumer.offset_for_time((topic, 0), OLD + 150)
    consumer.seek((topic, 0), offset)
    return {"offsets": offsets_of(w.read(consumer, 2))}


@scenario(committed={0: 4})
def a_commit_after_a_seek(w):
    """commit() after seek() and poll() commits the new position."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 10)
    consumer = w.consumer(group, max_poll_records=2)
    consumer.subscribe([topic])
    w.read(consumer, 2)
    consumer.seek((topic, 0), 2)
    w.read(consumer, 2)
    consumer.commit()
    return {"committed": w.group_offsets(group)}


@scenario(orders=[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]])
def every_partition_in_order(w):
    """Three partitions are read completely, each in order."""
    topic = w.topic(3)
    for number in range(3):
        w.feed(topic, 5, number)
    found = w.read(reader(w, topic, 3), 15)
    return {"orders": [offsets_of(r for r in found if r.partition == n) for n in range(3)]}


@scenario(error="UNKNOWN_MEMBER_ID", committed={0: 5})
def offsets_of_a_running_group_cannot_be_reset(w):
    """An administrator cannot change the offsets of a group with members."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 5)
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    w.read(consumer, 5)
    consumer.commit()
    admin = w.admin()
    error = w.error(lambda: admin.alter_group_offsets(group, {(topic, 0): 0}))
    return {"error": error, "committed": w.group_offsets(group)}


@scenario(offsets=[1, 2, 3, 4])
def offsets_of_a_stopped_group_are_reset(w):
    """A group whose offsets were changed while it was stopped starts there."""
    topic, group = w.topic(1), w.name("group")
    w.feed(topic, 5)
    first = w.consumer(group)
    first.subscribe([topic])
    w.read(first, 5)
    first.commit()
    first.close()
    w.until(lambda: w.members(group) == 0)
    w.admin().alter_group_offsets(group, {(topic, 0): 1})
    second = w.consumer(group)
    second.subscribe([topic])
    return {"offsets": offsets_of(w.read(second, 4))}


@scenario(first=[0], second=[1])
def assigning_again_replaces_the_partitions(w):
    """A second assign() replaces the first."""
    topic = w.topic(2)
    for number in range(2):
        w.feed(topic, 2, number)
    consumer = w.consumer()
    seen = []
    for number in range(2):
        consumer.assign([(topic, number)])
        seen.append(sorted({record.partition for record in w.read(consumer, 2)}))
    return {"first": seen[0], "second": seen[1]}


@scenario(values=[b"0", b"1", b"2"])
def records_written_while_polling(w):
    """Records written after the consumer reached the end are read."""
    topic = w.topic(1)
    consumer = reader(w, topic)
    found = []
    for n in range(3):
        w.feed(topic, [b"%d" % n])
        found += w.read(consumer, 1)
    return {"values": values_of(found)}
