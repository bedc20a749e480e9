"""Topics, configuration, records and groups by the admin client."""

from scenarios.registry import scenario


@scenario(partitions=[0, 1, 2])
def create_a_topic(w):
    """A new topic has the partitions asked for."""
    topic, admin = w.adopt(w.name()), w.admin()
    admin.create_topic(topic, 3)
    w.until(lambda: w.error(lambda: admin.partitions(topic)) == "none", 5)
    return {"partitions": admin.partitions(topic)}


@scenario(value="3600000")
def create_a_topic_with_configuration(w):
    """A new topic has the configuration given."""
    topic, admin = w.adopt(w.name()), w.admin()
    admin.create_topic(topic, 1, {"retention.ms": "3600000"})
    w.until(lambda: w.exists(topic))
    w.until(lambda: admin.topic_config(topic, "retention.ms") == "3600000", 5)
    return {"value": admin.topic_config(topic, "retention.ms")}


@scenario(error="TOPIC_ALREADY_EXISTS")
def create_a_topic_twice(w):
    """Creating a topic that exists fails."""
    topic, admin = w.topic(1), w.admin()
    return {"error": w.error(lambda: admin.create_topic(topic))}


@scenario(error="INVALID_TOPIC_EXCEPTION")
def create_a_topic_with_a_bad_name(w):
    """A topic name with a slash is rejected."""
    admin = w.admin()
    return {"error": w.error(lambda: admin.create_topic("bad/name"))}


@scenario(error="INVALID_PARTITIONS")
def create_a_topic_without_partitions(w):
    """A topic with 0 partitions is rejected."""
    admin, name = w.admin(), w.name()
    return {"error": w.error(lambda: admin.create_topic(name, 0))}


@scenario(error="INVALID_CONFIG")
def create_a_topic_with_a_bad_value(w):
    """A topic with retention.ms=soon is rejected."""
    admin, name = w.admin(), w.name()
    return {"error": w.error(lambda: admin.create_topic(name, 1, {"retention.ms": "soon"}))}


@scenario(error="INVALID_CONFIG")
def create_a_topic_with_an_unknown_key(w):
    """A topic with a configuration key that does not exist is rejected."""
    admin, name = w.admin(), w.name()
    return {"error": w.error(lambda: admin.create_topic(name, 1, {"no.such.key": "1"}))}


@scenario(listed=True)
def a_new_topic_is_listed(w):
    """The list of topics has the new topic."""
    topic, admin = w.topic(1), w.admin()
    return {"listed": topic in admin.topics()}


@scenario(exists=False)
def delete_a_topic(w):
    """A deleted topic does not exist any more."""
    topic, admin = w.topic(1), w.admin()
    admin.delete_topic(topic)
    w.until(lambda: not w.exists(topic))
    return {"exists": w.exists(topic)}


@scenario(error="UNKNOWN_TOPIC_OR_PARTITION")
def delete_an_unknown_topic(w):
    """Deleting a topic that does not exist fails."""
    admin, name = w.admin(), w.name()
    return {"error": w.error(lambda: admin.delete_topic(name))}


@scenario(error="UNKNOWN_TOPIC_OR_PARTITION")
def describe_an_unknown_topic(w):
    """Describing a topic that does not exist fails."""
    admin, name = w.admin(), w.name()
    return {"error": w.error(lambda: admin.partitions(name))}


@scenario(partitions=5)
def add_partitions(w):
    """A topic grows from 2 to 5 partitions."""
    topic = w.topic(2)
    w.admin().create_partitions(topic, 5)
    w.until(lambda: w.count(topic) == 5, 5)
    return {"partitions": w.count(topic)}


@scenario(error="INVALID_PARTITIONS", partitions=3)
def remove_partitions(w):
    """A topic cannot shrink."""
    topic, admin = w.topic(3), w.admin()
    error = w.error(lambda: admin.create_partitions(topic, 1))
    return {"error": error, "partitions": w.count(topic)}


@scenario(error="UNKNOWN_TOPIC_OR_PARTITION")
def add_partitions_to_an_unknown_topic(w):
    """A topic that does not exist cannot grow."""
    admin, name = w.admin(), w.name()
    return {"error": w.error(lambda: admin.create_partitions(name, 3))}


@scenario(value="604800000")
def the_default_of_a_configuration(w):
    """The default of retention.ms is a week."""
    return {"value": w.admin().topic_config(w.topic(1), "retention.ms")}


@scenario(value="1000")
def change_a_configuration(w):
    """A changed configuration is read back."""
    topic, admin = w.topic(1), w.admin()
    admin.alter_topic_config(topic, "retention.ms", "1000")
    w.until(lambda: admin.topic_config(topic, "retention.ms") == "1000", 5)
    return {"value": admin.topic_config(topic, "retention.ms")}


@scenario(kept="compact", changed="1000")
def a_change_keeps_other_settings(w):
    """Changing one setting of a topic leaves the others as they are."""
    topic, admin = w.topic(1, cleanup_policy="compact"), w.admin()
    admin.alter_topic_config(topic, "retention.ms", "1000")
    w.until(lambda: admin.topic_config(topic, "retention.ms") == "1000", 5)
    return {
        "kept": admin.topic_config(topic, "cleanup.policy"),
        "changed": admin.topic_config(topic, "retention.ms"),
    }


@scenario(error="INVALID_CONFIG")
def change_a_configuration_to_a_bad_value(w):
    """A value of the wrong type is rejected."""
    topic, admin = w.topic(1), w.admin()
    return {"error": w.error(lambda: admin.alter_topic_config(topic, "retention.ms", "soon"))}


@scenario(first=4, left=[4, 5])
def delete_records(w):
    """Deleted records cannot be read; the first offset moves."""
    topic = w.topic(1)
    w.feed(topic, 6)
    first = w.admin().delete_records((topic, 0), 4)
    return {"first": first, "left": [record.offset for record in w.stored(topic)]}


@scenario(error="OFFSET_OUT_OF_RANGE")
def delete_records_past_the_end(w):
    """Records past the end cannot be deleted."""
    topic, admin = w.topic(1), w.admin()
    w.feed(topic, 3)
    return {"error": w.error(lambda: admin.delete_records((topic, 0), 10))}


def _group(w, topic, count=3):
    """A group with committed offsets and one member."""
    group = w.name("group")
    w.feed(topic, count)
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    w.read(consumer, count)
    consumer.commit()
    return group, consumer


def _empty_group(w, topic):
    group, consumer = _group(w, topic)
    consumer.close()
    w.until(lambda: w.members(group) == 0)
    return group


@scenario(listed=True)
def a_group_is_listed(w):
    """The list of groups has a group with members."""
    group, _ = _group(w, w.topic(1))
    return {"listed": group in w.admin().groups()}


@scenario(state="Stable", members=1)
def describe_a_group(w):
    """A group with one member is Stable."""
    group, _ = _group(w, w.topic(1))
    state, members = w.admin().group(group)
    return {"state": state, "members": members}


@scenario(state="Empty", members=0)
def describe_a_group_without_members(w):
    """A group whose members left is Empty."""
    group = _empty_group(w, w.topic(1))
    state, members = w.admin().group(group)
    return {"state": state, "members": members}


@scenario(offsets=[3])
def offsets_of_a_group(w):
    """The committed offsets of a group are listed."""
    topic = w.topic(1)
    group, _ = _group(w, topic)
    return {"offsets": list(w.admin().group_offsets(group).values())}


@scenario(offsets={})
def offsets_of_an_unknown_group(w):
    """A group that does not exist has no offsets."""
    return {"offsets": w.admin().group_offsets(w.name("group"))}


@scenario(offsets={0: 1})
def change_the_offsets_of_a_group(w):
    """The offsets of a group without members can be changed."""
    topic = w.topic(1)
    group = _empty_group(w, topic)
    w.admin().alter_group_offsets(group, {(topic, 0): 1})
    return {"offsets": w.group_offsets(group)}


@scenario(listed=False, offsets={})
def delete_a_group(w):
    """A deleted group is not listed and has no offsets."""
    group, admin = _empty_group(w, w.topic(1)), w.admin()
    admin.delete_group(group)
    return {"listed": group in admin.groups(), "offsets": w.group_offsets(group)}


@scenario(error="NON_EMPTY_GROUP")
def delete_a_group_with_members(w):
    """A group with members cannot be deleted."""
    (group, _), admin = _group(w, w.topic(1)), w.admin()
    return {"error": w.error(lambda: admin.delete_group(group))}


@scenario(error="GROUP_ID_NOT_FOUND")
def delete_an_unknown_group(w):
    """A group that does not exist cannot be deleted."""
    admin, group = w.admin(), w.name("group")
    return {"error": w.error(lambda: admin.delete_group(group))}


@scenario(brokers=True)
def describe_the_cluster(w):
    """The cluster's description has all brokers."""
    wanted = len(w.control.admin.describe_cluster().brokers)
    return {"brokers": w.admin().brokers() == wanted}


@scenario(error="none", records=1)
def a_deleted_topic_can_be_created_again(w):
    """A topic of the same name can be created after a deletion, and is empty."""
    topic, admin = w.topic(1), w.admin()
    w.feed(topic, 3)
    admin.delete_topic(topic)
    w.until(lambda: not w.exists(topic))
    error = w.error(lambda: w.until(lambda: w.error(lambda: admin.create_topic(topic)) == "none"))
    w.adopt(topic)
    w.until(lambda: w.exists(topic))
    w.feed(topic, [b"x"])
    return {"error": error, "records": len(w.stored(topic))}
