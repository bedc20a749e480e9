"""Configuration keys that clients share, with those of metrics and traces.

Also the tables of admin client and simple consumer.
"""

from barnabas.model.config import (
    Alias,
    ConfigKey,
    ConfigTable,
    ConfigType,
    at_least,
    one_of,
)
from barnabas.model.config_keys.metrics import REPORTER_KEYS
from barnabas.model.config_keys.other_names import ANY_CLIENT_ADVICE, SECURITY_PROTOCOL_SYNONYMS
from barnabas.model.config_keys.security import (
    KEY_PASSWORD,
    KEYSTORE_LOCATION,
    KEYSTORE_PASSWORD,
    PEM_ONLY_NOTE,
    TLS_VERSIONS,
    TOKEN_KEYS,
    TRUSTSTORE_PASSWORD,
    TRUSTSTORE_TYPE,
    only_pem,
)

INT, LONG, STRING, LIST = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST
BOOLEAN, PASSWORD = ConfigType.BOOLEAN, ConfigType.PASSWORD

METRICS_KEYS = [
    ConfigKey(
        "metric.reporters",
        LIST,
        [],
        "Reporters that get the client's metrics periodically: json, otlp (needs the extra "
        "'otel'), or an object with the method report(metrics, now_ms), its class, or the import "
        "path of the class. Kafka's JmxReporter is accepted without effect.",
    ),
    *REPORTER_KEYS,
    ConfigKey(
        "metrics.num.samples",
        INT,
        2,
        "Number of sample windows over which rates, averages and maxima are computed.",
        at_least(1),
    ),
    ConfigKey("metrics.sample.window.ms", LONG, 30_000, "Length of a sample window.", at_least(1)),
    ConfigKey(
        "metrics.recording.level",
        STRING,
        "INFO",
        "DEBUG and TRACE also record percentiles of request times.",
        one_of("INFO", "DEBUG", "TRACE"),
    ),
    ConfigKey(
        "enable.metrics.push",
        ConfigType.BOOLEAN,
        True,
        "Whether the client pushes its metrics to brokers that ask for them (KIP-714).",
    ),
]

TRACING_KEY = ConfigKey(
    "tracing.enable",
    ConfigType.BOOLEAN,
    False,
    "Whether the client creates OpenTelemetry spans and passes their context in the record "
    "header traceparent. Needs the extra 'otel'.",
)


_ISOLATION_LEVEL = ConfigKey(
    "isolation.level",
    STRING,
    "read_uncommitted",
    "read_committed hides the records of open and aborted transactions.",
    one_of("read_uncommitted", "read_committed"),
)
_MAX_DECOMPRESSED = ConfigKey(
    "max.decompressed.batch.bytes",
    INT,
    256 * 1024**2,
    "Largest decompressed size of a batch.",
    at_least(1024),
)
RECORD_READING_KEYS = [
    ConfigKey(
        "check.crcs", BOOLEAN, True, "Whether the consumer verifies the checksum of each batch."
    ),
    _ISOLATION_LEVEL,
    _MAX_DECOMPRESSED,
]
"""Keys of the clients that decode fetched batches for a group."""

CONNECTION_KEYS = [
    ConfigKey(
        "bootstrap.servers",
        LIST,
        None,
        "host:port of one or more brokers; the client discovers the other brokers from them.",
        lambda value: None if value else "at least one host:port is required",
        required=True,
        aliases=(Alias("metadata.broker.list"),),
    ),
    ConfigKey("client.id", STRING, "barnabas", "Name of this client in the logs of the broker."),
    ConfigKey(
        "metadata.max.age.ms",
        LONG,
        300_000,
        "Age at which the client refreshes its metadata.",
        at_least(0),
        aliases=(Alias("topic.metadata.refresh.interval.ms"),),
    ),
    ConfigKey(
        "request.timeout.ms",
        INT,
        30_000,
        "Longest time to wait for a response.",
        at_least(1),
        aliases=(Alias("socket.timeout.ms"),),
    ),
    ConfigKey("retry.backoff.ms", LONG, 100, "Time before the first retry.", at_least(0)),
    ConfigKey("retry.backoff.max.ms", LONG, 1000, "Longest time before a retry.", at_least(0)),
    ConfigKey("reconnect.backoff.ms", LONG, 50, "Time before the first reconnect.", at_least(0)),
    ConfigKey(
        "reconnect.backoff.max.ms", LONG, 1000, "Longest time before a reconnect.", at_least(0)
    ),
    ConfigKey(
        "connections.max.idle.ms",
        LONG,
        540_000,
        "Time after which the client closes an idle connection.",
    ),
    ConfigKey(
        "socket.connection.setup.timeout.ms",
        LONG,
        10_000,
        "Longest time to wait for a connection.",
        at_least(1),
    ),
    ConfigKey(
        "send.buffer.bytes",
        INT,
        -1,
        "Size of the socket's send buffer (SO_SNDBUF). With -1 the operating system adjusts it, "
        "which is faster than Kafka's default of 131072.",
        at_least(-1),
        aliases=(Alias("socket.send.buffer.bytes"),),
    ),
    ConfigKey(
        "receive.buffer.bytes",
        INT,
        -1,
        "Size of the socket's receive buffer (SO_RCVBUF). With -1 the operating system adjusts "
        "it, which is faster than Kafka's defaults of 32768 and 65536.",
        at_least(-1),
        aliases=(Alias("socket.receive.buffer.bytes"),),
    ),
    ConfigKey(
        "client.dns.lookup",
        STRING,
        "use_all_dns_ips",
        "How host names are resolved. use_all_dns_ips: the client tries all addresses of a "
        "name, one after the other. resolve_canonical_bootstrap_servers_only: the client first "
        "replaces each bootstrap name by the canonical names of its addresses.",
        one_of("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    ),
    ConfigKey(
        "metadata.recovery.strategy",
        STRING,
        "rebootstrap",
        "Action when no known broker responds: 'rebootstrap' uses bootstrap.servers again, "
        "'none' does not.",
        one_of("none", "rebootstrap"),
    ),
    ConfigKey(
        "client.rack",
        STRING,
        "",
        "Rack of this client; a consumer reads from a replica in this rack if there is one.",
    ),
]
SECURITY_KEYS = [
    ConfigKey(
        "security.protocol",
        STRING,
        "PLAINTEXT",
        "Protocol of the connections to brokers.",
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        synonyms=SECURITY_PROTOCOL_SYNONYMS,
    ),
    ConfigKey("ssl.ca.location", STRING, None, "PEM file of the CA certificates to trust."),
    ConfigKey("ssl.certificate.location", STRING, None, "PEM file of this client's certificate."),
    ConfigKey("ssl.key.location", STRING, None, "PEM file of this client's private key."),
    KEY_PASSWORD,
    TRUSTSTORE_TYPE,
    ConfigKey("ssl.truststore.location", STRING, None, "Other name of ssl.ca.location."),
    TRUSTSTORE_PASSWORD,
    ConfigKey(
        "ssl.truststore.certificates",
        STRING,
        None,
        "Trusted CA certificates in PEM format.",
        aliases=(Alias("ssl.ca.pem"),),
    ),
    ConfigKey(
        "ssl.keystore.type",
        STRING,
        "PEM",
        "Format of this client's key and certificates.",
        only_pem,
        note=PEM_ONLY_NOTE,
    ),
    KEYSTORE_LOCATION,
    KEYSTORE_PASSWORD,
    ConfigKey(
        "ssl.keystore.key",
        PASSWORD,
        None,
        "Private key in PEM format.",
        aliases=(Alias("ssl.key.pem"),),
    ),
    ConfigKey(
        "ssl.keystore.certificate.chain",
        STRING,
        None,
        "Certificate chain of the private key in PEM format.",
        aliases=(Alias("ssl.certificate.pem"),),
    ),
    TLS_VERSIONS,
    ConfigKey(
        "ssl.endpoint.identification.algorithm",
        STRING,
        "https",
        "'https': the client verifies the broker's host name; empty: it does not.",
        one_of("https", ""),
    ),
    ConfigKey(
        "sasl.mechanism",
        STRING,
        "GSSAPI",
        "SASL mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER.",
        aliases=(Alias("sasl.mechanisms"),),
    ),
    *TOKEN_KEYS,
    ConfigKey("sasl.username", STRING, None, "User name for PLAIN and SCRAM."),
    ConfigKey("sasl.password", PASSWORD, None, "Password for PLAIN and SCRAM."),
    ConfigKey(
        "sasl.jaas.config", PASSWORD, None, "Java-style login module with username and password."
    ),
]
CLIENT_KEYS = [*CONNECTION_KEYS, *SECURITY_KEYS]
IGNORED_REPORTERS = ConfigKey(
    "metric.reporters",
    LIST,
    [],
    "Classes that report metrics.",
    note="Accepted for compatibility, no effect: this client has no metrics.",
)
ADMIN_KEYS = ConfigTable(
    [
        *CLIENT_KEYS,
        *METRICS_KEYS,
        ConfigKey(
            "default.api.timeout.ms",
            ConfigType.INT,
            60_000,
            "Timeout of a call, retries included, when the call has no timeout argument.",
            at_least(1),
        ),
        ConfigKey(
            "retries",
            ConfigType.INT,
            2_147_483_647,
            "Accepted for compatibility: a call retries until its timeout.",
            at_least(0),
        ),
    ],
    ANY_CLIENT_ADVICE,
)
SIMPLE_KEYS = ConfigTable(
    [
        *CLIENT_KEYS,
        IGNORED_REPORTERS,
        _ISOLATION_LEVEL,
        ConfigKey(
            "fetch.max.wait.ms",
            ConfigType.INT,
            500,
            "Longest time that the broker delays a fetch response.",
            at_least(0),
        ),
        ConfigKey(
            "fetch.min.bytes",
            ConfigType.INT,
            1,
            "Minimum bytes of a fetch response; the broker delays the response until it has them.",
            at_least(0),
        ),
        _MAX_DECOMPRESSED,
        ConfigKey(
            "default.api.timeout.ms",
            ConfigType.INT,
            60_000,
            "Timeout of a call, retries after leader changes included.",
            at_least(0),
        ),
    ],
    ANY_CLIENT_ADVICE,
)
