"""The pytest plugin, in pytest runs of its own."""

import itertools
import subprocess
import sys

import pytest

pytest_plugins = "pytester"
pytestmark = pytest.mark.integration


@pytest.fixture
def run(pytester):
    """`run(source, *args)` runs one test file with the plugin, and nothing that disturbs it."""

    numbers = itertools.count()

    def run_file(source, *args):
        # A second file of the same name, size and second would be taken for the first one.
        path = pytester.makepyfile(**{f"test_{next(numbers)}": source})
        scope = ("-o", "asyncio_default_fixture_loop_scope=function")
        return pytester.runpytest_inprocess(
            path, "-p", "no:randomly", "-p", "no:xdist", *scope, *args
        )

    return run_file


def test_a_record_goes_round(run):
    result = run(
        """
        def test_round(kafka, kafka_topic, kafka_producer):
            kafka_producer.send(kafka_topic, b"v", key=b"k").result(60)
            (record,) = kafka.records(kafka_topic)
            assert (record.key, record.value) == (b"k", b"v")

        def test_admin(kafka_admin, kafka_topic, kafka_bootstrap_servers, kafka_broker):
            assert kafka_bootstrap_servers == kafka_broker.bootstrap_servers
            assert kafka_topic in [topic.name for topic in kafka_admin.list_topics()]
        """
    )
    result.assert_outcomes(passed=2)


@pytest.mark.parametrize("mark", ["kafka(partition=3)", "kafka(3)"])
def test_a_typo_in_the_marker(run, mark):
    result = run(
        f"""
        import pytest

        @pytest.mark.{mark}
        def test_shape(kafka_topic):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{mark}: the marker is kafka(partitions=1, config={{}}): *"])


def test_the_marker_shapes_the_topic(run):
    result = run(
        """
        import pytest
        from barnabas.admin import ConfigResource

        pytestmark = pytest.mark.kafka(partitions=2, config={"cleanup.policy": "compact"})

        @pytest.mark.kafka(partitions=3)
        def test_shape(kafka_admin, kafka_topic):
            assert len(kafka_admin.describe_topic(kafka_topic).partitions) == 3
            resource = ConfigResource.topic(kafka_topic)
            entries = kafka_admin.describe_configs([resource])[resource]
            assert entries["cleanup.policy"].value == "compact"
        """,
        "--strict-markers",
    )
    result.assert_outcomes(passed=1)


def test_topics_go_after_the_test_and_names_are_unique(run):
    result = run(
        """
        names = []

        def test_first(kafka_topic, kafka_topic_factory):
            names.extend([kafka_topic, kafka_topic_factory(partitions=2)])

        def test_second(kafka_admin, kafka_topic):
            assert kafka_topic not in names
            assert [topic.name for topic in kafka_admin.list_topics()] == [kafka_topic]
        """
    )
    result.assert_outcomes(passed=2)


def test_one_broker_for_the_session_by_default(run):
    source = """
        ports = set()

        def test_one(kafka):
            ports.add(kafka.port)

        def test_two(kafka):
            ports.add(kafka.port)
            assert len(ports) == {expected}
        """
    run(source.format(expected=1)).assert_outcomes(passed=2)
    run(source.format(expected=2), "--kafka-scope=function").assert_outcomes(passed=2)


def test_settings_from_the_ini_file(run, pytester):
    pytester.makeini("[pytest]\nkafka_config =\n  num.partitions = 4\n")
    result = run(
        """
        def test_default(kafka_admin):
            assert kafka_admin.create_topic("by-default").partitions == 4
        """
    )
    result.assert_outcomes(passed=1)


def test_a_bad_line_in_the_ini_file_is_named(run, pytester):
    pytester.makeini("[pytest]\nkafka_config =\n  num.partitions 4\n")
    result = run("def test_any(kafka): pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*'num.partitions 4' is not key=value*"])


def test_the_same_tests_on_an_external_cluster(run, broker):
    result = run(
        f"""
        import pytest
        from barnabas.model.errors import LocalError

        def test_there(kafka, kafka_topic, kafka_producer, kafka_bootstrap_servers):
            assert kafka_bootstrap_servers == "{broker.bootstrap_servers}"
            kafka_producer.send(kafka_topic, b"v").result(60)
            assert len(kafka.records(kafka_topic, at_least=1)) == 1

        def test_what_it_cannot_do(kafka):
            assert not hasattr(kafka, "pause")
            with pytest.raises(LocalError, match="needs a broker in the test process"):
                kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
        """,
        f"--kafka-external={broker.bootstrap_servers}",
    )
    result.assert_outcomes(passed=2)


@pytest.mark.xdist_group("cluster")
def test_a_cluster_of_three(run):
    result = run(
        """
        def test_three(kafka_cluster):
            assert len(kafka_cluster.admin.describe_cluster().brokers) == 3
        """
    )
    result.assert_outcomes(passed=1)


def test_a_cluster_elsewhere_is_not_for_killing(run):
    result = run("def test_three(kafka_cluster): pass", "--kafka-external=127.0.0.1:1")
    result.assert_outcomes(skipped=1)


def test_asyncio_fixtures(run):
    result = run(
        """
        import pytest

        @pytest.mark.asyncio
        async def test_admin(async_kafka_admin, kafka_topic):
            description = await async_kafka_admin.describe_topic(kafka_topic)
            assert description.name == kafka_topic

        @pytest.mark.asyncio
        async def test_round(async_kafka_producer, async_kafka_consumer, kafka_topic):
            await async_kafka_producer.send_and_wait(kafka_topic, b"v")
            await async_kafka_consumer.subscribe([kafka_topic])
            async for record in async_kafka_consumer:
                assert record.value == b"v"
                break
        """,
        "-o",
        "asyncio_mode=strict",
    )
    result.assert_outcomes(passed=2)


def test_no_thread_is_left(run):
    result = run(
        """
        import threading
        import pytest

        @pytest.fixture(scope="session", autouse=True)
        def threads():
            before = set(threading.enumerate())
            yield
            # Torn down after the broker, for the broker's fixture was set up later.
            assert set(threading.enumerate()) == before

        def test_all(kafka, kafka_topic, kafka_producer, kafka_admin):
            kafka_producer.send(kafka_topic, b"v").result(60)
            kafka.records(kafka_topic)
        """
    )
    result.assert_outcomes(passed=1)


def test_under_xdist_each_worker_has_its_own(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_each(kafka, kafka_topic, number):
            kafka.produce(kafka_topic, str(number))
            assert len(kafka.records(kafka_topic)) == 1
        """
    )
    result = pytester.runpytest_subprocess("-n2", "-p", "no:randomly")
    result.assert_outcomes(passed=4)


def test_loading_the_plugin_loads_neither_broker_nor_clients():
    code = (
        "import sys, barnabas.pytest_plugin\n"
        "heavy = ('barnabas.broker', 'barnabas.clients', 'barnabas.admin', 'barnabas.wire')\n"
        "sys.exit(any(name.startswith(heavy) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_marker_and_options_explain_themselves(run):
    """`fnmatch_lines` fails when the output has no such line."""
    result = run("", "--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.kafka(partitions=1, config={})*"])
    result = run("", "--help")
    result.stdout.fnmatch_lines(["*--kafka-external=HOST:PORT*"])


def test_consumers(run):
    result = run(
        """
        def test_one(kafka, kafka_topic, kafka_consumer):
            kafka.produce(kafka_topic, "v")
            kafka_consumer.subscribe([kafka_topic])
            for record in kafka_consumer:
                assert record.value == b"v"
                break

        def test_several(kafka_topic, kafka_consumer_factory):
            first, second = kafka_consumer_factory(kafka_topic), kafka_consumer_factory()
            assert first is not second

        def test_settings(kafka, kafka_topic, kafka_consumer_factory):
            kafka.produce(kafka_topic, "v")
            consumer = kafka_consumer_factory(
                kafka_topic, group_id="own", auto_offset_reset="earliest"
            )
            assert next(iter(consumer)).value == b"v"
            assert "own" in {group.group_id for group in kafka.admin.list_groups()}
        """
    )
    result.assert_outcomes(passed=3)
