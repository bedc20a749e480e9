"""Configuration keys of the metrics of producers, consumers and admin clients, and of traces."""

from barnabas.model.config import ConfigKey, ConfigType, at_least, one_of

INT, LONG, STRING, LIST = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST

METRICS_KEYS = [
    ConfigKey(
        "metric.reporters",
        LIST,
        [],
        "Reporters that get the client's metrics periodically: json, otlp (needs the extra "
        "'otel'), or an object with the method report(metrics, now_ms), its class, or the import "
        "path of the class. Kafka's JmxReporter is accepted without effect.",
    ),
    ConfigKey(
        "metrics.report.interval.ms",
        LONG,
        30_000,
        "Time between two reports of metric.reporters; the last report is made by close().",
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
