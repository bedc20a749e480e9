"""Types of the configuration keywords that the clients accept, for type checkers.

Generated from the tables of configuration keys by `python -m scripts.configuration`.
Each keyword is a key with underscores instead of dots; docs/configuration.md describes them.
"""

from collections.abc import Iterable
from typing import TypedDict


class ClientKeywords(TypedDict, total=False):
    """Keywords of every client."""

    client_dns_lookup: str
    client_rack: str
    connections_max_idle_ms: int
    metadata_max_age_ms: int
    metadata_recovery_strategy: str
    metric_reporters: str | Iterable[object]
    reconnect_backoff_max_ms: int
    reconnect_backoff_ms: int
    retry_backoff_max_ms: int
    retry_backoff_ms: int
    sasl_jaas_config: str | None
    sasl_mechanism: str
    sasl_mechanisms: str
    sasl_oauthbearer_client_credentials_client_id: str | None
    sasl_oauthbearer_client_credentials_client_secret: str | None
    sasl_oauthbearer_client_id: str | None
    sasl_oauthbearer_client_secret: str | None
    sasl_oauthbearer_scope: str | None
    sasl_oauthbearer_token_endpoint_url: str | None
    sasl_password: str | None
    sasl_username: str | None
    security_protocol: str
    send_buffer_bytes: int
    socket_connection_setup_timeout_ms: int
    socket_receive_buffer_bytes: int
    socket_send_buffer_bytes: int
    socket_timeout_ms: int
    ssl_ca_location: str | None
    ssl_ca_pem: str | None
    ssl_certificate_location: str | None
    ssl_certificate_pem: str | None
    ssl_enabled_protocols: str | Iterable[object]
    ssl_endpoint_identification_algorithm: str
    ssl_key_location: str | None
    ssl_key_password: str | None
    ssl_key_pem: str | None
    ssl_keystore_certificate_chain: str | None
    ssl_keystore_key: str | None
    ssl_keystore_location: str | None
    ssl_keystore_password: str | None
    ssl_keystore_type: str
    ssl_truststore_certificates: str | None
    ssl_truststore_location: str | None
    ssl_truststore_password: str | None
    ssl_truststore_type: str
    topic_metadata_refresh_interval_ms: int


class AdminKeywords(ClientKeywords, total=False):
    """Keywords of `Admin`, besides those of every client."""

    bootstrap_servers: str | Iterable[object]
    client_id: str
    default_api_timeout_ms: int
    enable_metrics_push: bool
    metadata_broker_list: str | Iterable[object]
    metrics_json_file: str | None
    metrics_num_samples: int
    metrics_otlp_endpoint: str | None
    metrics_recording_level: str
    metrics_report_interval_ms: int
    metrics_sample_window_ms: int
    receive_buffer_bytes: int
    request_timeout_ms: int
    retries: int


class ConsumerKeywords(ClientKeywords, total=False):
    """Keywords of `Consumer`, besides those of every client."""

    allow_auto_create_topics: bool
    auto_commit_enable: bool
    auto_commit_interval_ms: int
    auto_offset_reset: str
    auto_offset_reset_out_of_range: str | None
    bootstrap_servers: str | Iterable[object]
    bootstrap_timeout_ms: int
    check_crcs: bool
    client_id: str
    default_api_timeout_ms: int
    enable_auto_commit: bool
    enable_metrics_push: bool
    exclude_internal_topics: bool
    fetch_max_bytes: int
    fetch_max_wait_ms: int
    fetch_message_max_bytes: int
    fetch_min_bytes: int
    fetch_wait_max_ms: int
    group_id: str | None
    group_instance_id: str | None
    group_protocol: str
    group_remote_assignor: str | None
    heartbeat_interval_ms: int
    interceptor_classes: str | Iterable[object]
    isolation_level: str
    key_deserializer: object
    max_decompressed_batch_bytes: int
    max_partition_fetch_bytes: int
    max_poll_interval_ms: int
    max_poll_records: int
    metadata_broker_list: str | Iterable[object]
    metrics_json_file: str | None
    metrics_num_samples: int
    metrics_otlp_endpoint: str | None
    metrics_recording_level: str
    metrics_report_interval_ms: int
    metrics_sample_window_ms: int
    partition_assignment_strategy: str | Iterable[object]
    receive_buffer_bytes: int
    request_timeout_ms: int
    session_timeout_ms: int
    tracing_enable: bool
    value_deserializer: object


class ProducerKeywords(ClientKeywords, total=False):
    """Keywords of `Producer`, besides those of every client."""

    acks: str
    batch_size: int
    bootstrap_servers: str | Iterable[object]
    buffer_memory: int
    client_id: str
    compression_codec: str
    compression_gzip_level: int
    compression_lz4_level: int
    compression_type: str
    compression_zstd_level: int
    delivery_timeout_ms: int
    enable_idempotence: bool | None
    enable_metrics_push: bool
    interceptor_classes: str | Iterable[object]
    key_serializer: object
    linger_ms: int
    max_block_ms: int
    max_in_flight: int
    max_in_flight_requests_per_connection: int
    max_request_size: int
    message_max_bytes: int
    message_send_max_retries: int
    message_timeout_ms: int
    metadata_broker_list: str | Iterable[object]
    metadata_max_idle_ms: int
    metrics_json_file: str | None
    metrics_num_samples: int
    metrics_otlp_endpoint: str | None
    metrics_recording_level: str
    metrics_report_interval_ms: int
    metrics_sample_window_ms: int
    partitioner: object
    partitioner_adaptive_partitioning_enable: bool
    partitioner_availability_timeout_ms: int
    partitioner_class: object
    partitioner_ignore_keys: bool
    queue_buffering_max_kbytes: int
    queue_buffering_max_ms: int
    receive_buffer_bytes: int
    request_required_acks: str
    request_timeout_ms: int
    retries: int
    tracing_enable: bool
    transaction_timeout_ms: int
    transactional_id: str | None
    value_serializer: object


class SimpleConsumerKeywords(ClientKeywords, total=False):
    """Keywords of `SimpleConsumer`, besides those of every client."""

    bootstrap_servers: str | Iterable[object]
    client_id: str
    default_api_timeout_ms: int
    fetch_max_wait_ms: int
    fetch_min_bytes: int
    isolation_level: str
    max_decompressed_batch_bytes: int
    metadata_broker_list: str | Iterable[object]
    receive_buffer_bytes: int
    request_timeout_ms: int


class ConnectorKeywords(ClientKeywords, total=False):
    """Keywords of `ConsumerConnector`, besides those of every client."""

    auto_commit_enable: bool
    auto_commit_interval_ms: int
    auto_offset_reset: str
    check_crcs: bool
    client_id: str | None
    consumer_id: str | None
    consumer_timeout_ms: int
    dual_commit_enabled: bool | None
    exclude_internal_topics: bool
    fetch_message_max_bytes: int
    fetch_min_bytes: int
    fetch_wait_max_ms: int
    group_id: str
    isolation_level: str
    max_decompressed_batch_bytes: int
    num_consumer_fetchers: int
    offsets_channel_backoff_ms: int
    offsets_channel_socket_timeout_ms: int
    offsets_commit_max_retries: int
    offsets_storage: str
    partition_assignment_strategy: str
    queued_max_message_chunks: int
    rebalance_backoff_ms: int | None
    rebalance_max_retries: int
    refresh_leader_backoff_ms: int
    zookeeper_connect: str
    zookeeper_connection_timeout_ms: int | None
    zookeeper_password: str | None
    zookeeper_session_timeout_ms: int
    zookeeper_ssl_client_enable: bool
    zookeeper_ssl_endpoint_identification_algorithm: str
    zookeeper_ssl_keystore_location: str | None
    zookeeper_ssl_keystore_password: str | None
    zookeeper_ssl_truststore_location: str | None
    zookeeper_sync_time_ms: int
    zookeeper_username: str | None
