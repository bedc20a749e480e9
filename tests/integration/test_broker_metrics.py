"""Each metric of one broker moves when its cause happens; `docs/metrics.md` names these tests."""

import socket
import time

import pytest
from support.network.scrape import Scrape, wait_for_metric

from barnabas import Consumer, Producer, TopicPartition
from barnabas.admin import QuotaEntity
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

CONFIG = {
    "http.listener": "0",
    "log.cleaner.backoff.ms": 20,
    "log.retention.check.interval.ms": 100,
    "offsets.retention.check.interval.ms": 100,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 100,
}


@pytest.fixture(scope="module")
def broker():
    with Broker(in_memory=True, config=CONFIG) as running:
        yield running


def rises(broker, before, name, **labels):
    """Waits until a counter is above its value in an earlier reading."""
    least = before(name, **labels) or 0
    return wait_for_metric(broker.http_url, name, lambda value: value > least, **labels)


def take(consumer, count):
    """Polls until so many records have arrived."""
    deadline = time.monotonic() + 60
    while count > 0 and time.monotonic() < deadline:
        count -= sum(len(records) for records in consumer.poll(1).values())
    assert count <= 0, f"{count} records have not arrived"


def test_records_and_requests(broker):
    topic = broker.topic(config={"segment.bytes": "1024"})
    before = Scrape(broker.http_url)
    for _ in range(10):
        broker.produce(topic, "x" * 300)
    with Consumer(
        bootstrap_servers=broker.bootstrap_servers, group_id="counted", auto_offset_reset="earliest"
    ) as consumer:
        consumer.subscribe([topic])
        take(consumer, 10)  # all of them: a fetch may return the records of one segment only
        now = Scrape(broker.http_url)
        assert now("kafka_server_fetchsessioncache_numincrementalfetchsessions") >= 1
        assert now("kafka_server_fetchsessioncache_numincrementalfetchpartitionscached") >= 1
        assert now("kafka_server_socket_server_metrics_connection_count") >= 1
        assert now("kafka_server_socket_server_metrics_connections") >= 1
        waiting = "kafka_server_delayedoperationpurgatory_purgatorysize"
        wait_for_metric(broker.http_url, waiting, lambda n: n >= 1, delayedOperation="Fetch")
    assert now("kafka_server_brokertopicmetrics_messagesin_total", topic=topic) == 10
    assert now("kafka_server_brokertopicmetrics_bytesin_total", topic=topic) > 3000
    assert now("kafka_server_brokertopicmetrics_totalproducerequests_total", topic=topic) >= 1
    assert now("kafka_server_brokertopicmetrics_totalfetchrequests_total", topic=topic) >= 1
    assert now("kafka_server_brokertopicmetrics_bytesout_total", topic=topic) > 3000
    for name in (
        "kafka_network_requestmetrics_requestbytes_count",
        "kafka_network_requestmetrics_requestqueuetimems_count",
        "kafka_network_requestmetrics_localtimems_count",
        "kafka_network_requestmetrics_remotetimems_count",
        "kafka_network_requestmetrics_totaltimems_count",
        "kafka_network_requestmetrics_responsesendtimems_count",
    ):
        rises(broker, before, name, request="Fetch")
        rises(broker, before, name, request="FetchConsumer")
        assert not Scrape(broker.http_url)(name, request="FetchFollower")
    rises(broker, before, "kafka_network_requestmetrics_requests_total", request="Produce")
    assert now("kafka_log_log_size", topic=topic) > 3000
    assert now("kafka_log_log_numlogsegments", topic=topic) > 1
    assert now("kafka_log_log_logendoffset", topic=topic) == 10
    assert now("kafka_cluster_partition_insyncreplicascount", topic=topic) == 1
    assert now("kafka_cluster_partition_underreplicated", topic=topic) == 0


def test_a_flush_and_deleted_records(broker):
    topic = broker.topic(config={"flush.messages": "2"})
    before = Scrape(broker.http_url)
    broker.produce(topic, *["x"] * 10)
    rises(broker, before, "kafka_log_logflushstats_logflushrateandtimems_count")
    broker.admin.delete_records({TopicPartition(topic, 0): 4})
    assert Scrape(broker.http_url)("kafka_log_log_logstartoffset", topic=topic) == 4


def test_failures(broker):
    before = Scrape(broker.http_url)
    topic = broker.topic(config={"max.message.bytes": 100})
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        assert producer.send(topic, b"x" * 1000).exception(10) is not None
    found = Scrape(broker.http_url)
    assert found("kafka_server_brokertopicmetrics_failedproducerequests_total", topic=topic) >= 1
    assert found("kafka_server_brokertopicmetrics_bytesrejected_total", topic=topic) > 1000
    name = "kafka_network_requestmetrics_errors_total"
    rises(broker, before, name, request="Produce", error="MESSAGE_TOO_LARGE")
    with Consumer(
        bootstrap_servers=broker.bootstrap_servers, group_id="out", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([(topic, 0)])
        consumer.seek(TopicPartition(topic, 0), 1000)
        consumer.poll(0.5)
        rises(broker, before, name, request="Fetch", error="OFFSET_OUT_OF_RANGE")
        name = "kafka_server_brokertopicmetrics_failedfetchrequests_total"
        rises(broker, before, name, topic=topic)
    host, port = broker.bootstrap_servers.split(":")
    with socket.create_connection((host, int(port)), 5) as client:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        client.recv(100)
    rises(broker, before, "barnabas_refused_connections_total", reason="looks_like_http")


def test_a_group(broker):
    topic = broker.topic()
    broker.produce(topic, "one", "two")
    before = Scrape(broker.http_url)
    with Consumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id="classic",
        group_protocol="classic",
        auto_offset_reset="earliest",
    ) as consumer:
        consumer.subscribe([topic])
        consumer.poll(60)
        consumer.commit()
        found = Scrape(broker.http_url)
        name = "kafka_server_group_coordinator_metrics_group_count"
        assert found(name, protocol="classic", state="Stable") >= 1
        assert found("kafka_coordinator_group_groupmetadatamanager_numgroups") >= 1
        assert found("kafka_coordinator_group_groupmetadatamanager_numgroupsstable") >= 1
        assert (
            found("kafka_coordinator_group_groupmetadatamanager_numgroupspreparingrebalance") == 0
        )
        assert (
            found("kafka_coordinator_group_groupmetadatamanager_numgroupscompletingrebalance") == 0
        )
        assert found("kafka_coordinator_group_groupmetadatamanager_numgroupsdead") == 0
    empty = "kafka_coordinator_group_groupmetadatamanager_numgroupsempty"
    wait_for_metric(broker.http_url, empty, lambda count: count >= 1)
    rebalances = "barnabas_group_rebalances_total"
    rises(broker, before, rebalances, protocol="classic", reason="new member")
    rises(broker, before, "kafka_server_group_coordinator_metrics_offset_commit_count_total")
    name = "kafka_server_group_coordinator_metrics_group_completed_rebalance_count_total"
    rises(broker, before, name)
    assert Scrape(broker.http_url)("kafka_coordinator_group_groupmetadatamanager_numoffsets") >= 1
    broker.admin.delete_group_offsets("classic", [TopicPartition(topic, 0)])
    rises(broker, before, "kafka_server_group_coordinator_metrics_offset_deletion_count_total")


def test_a_group_with_the_consumer_protocol(broker):
    topic = broker.topic()
    before = Scrape(broker.http_url)
    with Consumer(
        bootstrap_servers=broker.bootstrap_servers, group_id="consumers", group_protocol="consumer"
    ) as consumer:
        consumer.subscribe([topic])
        consumer.wait_for_assignment(10)
    rises(
        broker, before, "barnabas_group_rebalances_total",
        protocol="consumer", reason="subscription changed",
    )  # fmt: skip
    name = "kafka_server_group_coordinator_metrics_consumer_group_rebalance_count_total"
    rises(broker, before, name)


def test_transactions(broker):
    topic = broker.topic()
    before = Scrape(broker.http_url)
    settings = {"bootstrap_servers": broker.bootstrap_servers, "transactional_id": "counted"}
    with Producer(**settings) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"kept")
        producer.commit_transaction()
        producer.begin_transaction()
        producer.send(topic, b"dropped").result(60)
        producer.abort_transaction()
        producer.begin_transaction()
        producer.send(topic, b"open").result(60)
        with Producer(**settings) as successor:
            successor.init_transactions()
        rises(broker, before, "barnabas_transactions_aborted_total", cause="new producer")
    rises(broker, before, "barnabas_transactions_committed_total")
    rises(broker, before, "barnabas_transactions_aborted_total", cause="client")
    found = Scrape(broker.http_url)
    assert found("barnabas_transactions") >= 1
    assert found("kafka_server_replicamanager_produceridcount") >= 1


def test_compaction_and_retention(broker):
    before = Scrape(broker.http_url)
    small = {"segment.bytes": "2048", "min.cleanable.dirty.ratio": "0.01"}
    topic = broker.topic(config={**small, "cleanup.policy": "compact"})
    for _ in range(10):
        broker.produce(topic, "x" * 1000, key="k")
    rises(broker, before, "barnabas_log_cleaner_pass_seconds_count")
    rises(broker, before, "barnabas_log_cleaner_read_bytes_total")
    rises(broker, before, "barnabas_log_cleaner_written_bytes_total")
    found = Scrape(broker.http_url)
    assert 0 < found("kafka_log_logcleaner_cleaner_recopy_percent") < 100
    assert found("kafka_log_logcleaner_max_clean_time_secs") > 0
    assert found("kafka_log_logcleanermanager_uncleanable_partitions_count") == 0
    assert found("kafka_log_logcleanermanager_time_since_last_run_ms") < 60_000
    assert found("kafka_log_logcleanermanager_max_dirty_percent") >= 0
    expiring = broker.topic(config={"segment.bytes": "2048", "retention.bytes": "2048"})
    for _ in range(10):
        broker.produce(expiring, "x" * 1000)
    rises(broker, before, "barnabas_log_expired_segments_total")


def test_a_quota_throttles(broker):
    topic = broker.topic()
    entity = QuotaEntity(client_id="throttled")
    broker.admin.alter_client_quotas({entity: {"producer_byte_rate": 10_000.0}})
    try:
        with Producer(
            bootstrap_servers=broker.bootstrap_servers, client_id="throttled"
        ) as producer:
            producer.send(topic, b"x" * 120_000).result(30)
        name = "kafka_server_produce_throttle_time_count"
        wait_for_metric(broker.http_url, name, lambda n: n >= 1, client_id="throttled")
    finally:
        broker.admin.alter_client_quotas({entity: {"producer_byte_rate": None}})


def test_the_controller(broker):
    before = Scrape(broker.http_url)
    broker.topic()
    rises(broker, before, "kafka_controller_controllereventmanager_eventqueuetimems_count")
    rises(broker, before, "barnabas_controller_event_seconds_count", event="topics")
    rises(broker, before, "kafka_server_zookeeperclientmetrics_zookeeperrequestlatencyms_count")
    found = Scrape(broker.http_url)
    assert found("kafka_controller_kafkacontroller_controllerstate") in range(18)
    assert found("kafka_controller_controllereventmanager_eventqueuesize") >= 0
    assert found("kafka_controller_kafkacontroller_topicsineligibletodeletecount") == 0
    assert found("kafka_controller_kafkacontroller_activecontrollercount") == 1
    assert found("kafka_controller_kafkacontroller_globaltopiccount") >= 1
    assert found("kafka_controller_kafkacontroller_globalpartitioncount") >= 1
    assert found("kafka_controller_kafkacontroller_activebrokercount") == 1
    assert found("kafka_controller_kafkacontroller_offlinepartitionscount") == 0
    assert found("kafka_server_sessionexpirelistener_zookeeperconnected") == 1
    assert found("kafka_server_sessionexpirelistener_sessionstate", state="connected") == 1
    assert found("kafka_server_replicamanager_leadercount") >= 1
    assert found("kafka_server_replicamanager_partitioncount") >= 1


def test_the_process(broker):
    found = Scrape(broker.http_url)
    assert found("process_cpu_seconds_total") > 0
    assert found("process_resident_memory_bytes") > 1_000_000
    assert 0 < found("process_open_fds") < found("process_max_fds")
    assert found("process_start_time_seconds") > 1e9
    assert found("kafka_server_kafkaserver_brokerstate") == 3
    assert found("kafka_server_app_info") == 1
    assert found("barnabas_log_directory_free_bytes") > 0
    assert found("barnabas_log_directory_full") == 0
    assert found("kafka_server_kafkaserver_linux_disk_write_bytes_total") >= 0
    assert found("kafka_server_kafkaserver_linux_disk_read_bytes_total") >= 0
    assert found("kafka_log_logmanager_offlinelogdirectorycount") == 0
    assert found("kafka_log_logmanager_logdirectoryoffline") == 0
    assert found("barnabas_loop_blocking_requests_total") in (None, 0)
    name = "barnabas_event_loop_lag_seconds_count"
    wait_for_metric(broker.http_url, name, lambda count: count > 0)


def test_coordinators_report_the_time_of_loading():
    with Broker(in_memory=True, config=CONFIG) as broker:
        topic = broker.topic()
        settings = {"bootstrap_servers": broker.bootstrap_servers}
        with Producer(**settings, transactional_id="loaded") as producer:
            producer.init_transactions()
            producer.begin_transaction()
            producer.send(topic, b"x")
            producer.commit_transaction()
        broker.admin.alter_group_offsets("loaded", {TopicPartition(topic, 0): 1})
        broker.restart()
        for name in (
            "kafka_server_group_coordinator_metrics_partition_load_time_count",
            "kafka_server_transaction_coordinator_metrics_partition_load_time_count",
        ):
            wait_for_metric(broker.http_url, name, lambda count: count >= 1)
        name = "kafka_server_group_coordinator_metrics_num_partitions"
        assert Scrape(broker.http_url)(name, state="active") == 1
        assert Scrape(broker.http_url)(name, state="loading") == 0
