"""Configuration keys of a broker's metrics, and of the reporters that brokers and clients share."""

from barnabas.model.config import ConfigKey, ConfigType, at_least, one_of

INT, LONG, STRING, LIST = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST

REPORTER_KEYS = [
    ConfigKey(
        "metrics.report.interval.ms",
        LONG,
        30_000,
        "Time between two reports of metric.reporters; the last report is made "
        "when the client is closed or the broker stops.",
        at_least(1),
    ),
    ConfigKey(
        "metrics.json.file",
        STRING,
        None,
        "File to which the reporter json appends; without it, lines are written to stderr.",
    ),
    ConfigKey(
        "metrics.otlp.endpoint",
        STRING,
        None,
        "URL to which the reporter otlp posts, such as http://localhost:4318/v1/metrics; without "
        "it, OpenTelemetry's environment variables apply.",
    ),
]
"""Settings of the reporters, of clients and of brokers."""

BROKER_METRICS_KEYS = [
    ConfigKey(
        "metric.reporters",
        LIST,
        [],
        "Reporters that get the broker's metrics periodically: json, otlp (needs the extra "
        "'otel'), or the import path of a Python class with the method report(metrics, now_ms). "
        "Keys that begin with metric.reporters. are settings of such classes. Kafka's JmxReporter "
        "is accepted without effect.",
        dynamic=True,
    ),
    *REPORTER_KEYS,
    ConfigKey(
        "metrics.num.samples",
        INT,
        2,
        "Number of sample windows that the quantiles of the broker's histograms cover. Its "
        "counters only grow: rates are computed by the reader.",
        at_least(1),
    ),
    ConfigKey(
        "metrics.sample.window.ms",
        LONG,
        30_000,
        "Length of a sample window.",
        at_least(1),
    ),
    ConfigKey(
        "metrics.recording.level",
        STRING,
        "INFO",
        "Level of the recorded metrics.",
        one_of("INFO", "DEBUG", "TRACE"),
        note="Accepted for compatibility, no effect: all metrics of the broker have the level "
        "INFO. The broker logs another level at its start.",
    ),
]
