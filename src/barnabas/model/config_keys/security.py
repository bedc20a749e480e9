"""Broker configuration of security: protocols of listeners, TLS, SASL, ACLs, quotas, ZooKeeper.

Most keys can be set for a single listener, as `listener.name.<name>.<key>`; LISTENER_KEYS lists
them. Certificates and keys are PEM, in files or in the value; Java keystores are not supported.
"""

from barnabas.model.config import (
    Alias,
    ConfigKey,
    ConfigTable,
    ConfigType,
    at_least,
    each_of,
    one_of,
)

INT, LONG, STRING = ConfigType.INT, ConfigType.LONG, ConfigType.STRING
BOOLEAN, LIST, PASSWORD = ConfigType.BOOLEAN, ConfigType.LIST, ConfigType.PASSWORD

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PEM_ONLY_NOTE = "PEM is the only supported format."
PEM_NOTE = "Accepted for compatibility, no effect: PEM files have no store password."


def only_pem(value: str) -> str | None:
    """Validates the type of a keystore or truststore."""
    return None if value.upper() == "PEM" else "only PEM is supported: convert JKS and PKCS12 files"


# Keys of brokers and clients alike.
KEY_PASSWORD = ConfigKey("ssl.key.password", PASSWORD, None, "Password of the private key.")
TRUSTSTORE_TYPE = ConfigKey(
    "ssl.truststore.type",
    STRING,
    "PEM",
    "Format of the trusted certificates.",
    only_pem,
    note=PEM_ONLY_NOTE,
)
TRUSTSTORE_PASSWORD = ConfigKey(
    "ssl.truststore.password", PASSWORD, None, "Password of the truststore.", note=PEM_NOTE
)
KEYSTORE_LOCATION = ConfigKey(
    "ssl.keystore.location", STRING, None, "PEM file with the private key and its certificates."
)
KEYSTORE_PASSWORD = ConfigKey(
    "ssl.keystore.password", PASSWORD, None, "Password of the keystore.", note=PEM_NOTE
)
TLS_VERSIONS = ConfigKey(
    "ssl.enabled.protocols",
    LIST,
    ["TLSv1.2", "TLSv1.3"],
    "Enabled versions of TLS.",
    each_of("TLSv1.2", "TLSv1.3"),
)

TLS_KEYS = [
    ConfigKey(
        "ssl.keystore.type",
        STRING,
        "PEM",
        "Format of the broker's key and certificates.",
        only_pem,
        note=PEM_ONLY_NOTE,
    ),
    KEYSTORE_LOCATION,
    KEYSTORE_PASSWORD,
    ConfigKey("ssl.keystore.key", PASSWORD, None, "Private key in PEM format."),
    ConfigKey(
        "ssl.keystore.certificate.chain",
        STRING,
        None,
        "Certificate chain of the private key in PEM format.",
    ),
    KEY_PASSWORD,
    TRUSTSTORE_TYPE,
    ConfigKey(
        "ssl.truststore.location", STRING, None, "PEM file with the trusted CA certificates."
    ),
    TRUSTSTORE_PASSWORD,
    ConfigKey(
        "ssl.truststore.certificates", STRING, None, "Trusted CA certificates in PEM format."
    ),
    ConfigKey(
        "ssl.client.auth",
        STRING,
        "none",
        "Whether clients must present a certificate.",
        one_of("none", "requested", "required"),
    ),
    TLS_VERSIONS,
    ConfigKey(
        "ssl.cipher.suites",
        LIST,
        None,
        "Cipher suites of TLS 1.2; unset: the default of the operating system.",
    ),
    ConfigKey(
        "ssl.endpoint.identification.algorithm",
        STRING,
        "https",
        "'https': the broker verifies the host names of other brokers; empty: it does not.",
        one_of("https", ""),
    ),
    ConfigKey(
        "ssl.principal.mapping.rules",
        STRING,
        "DEFAULT",
        "Rules that map the name in a certificate to a principal: "
        "RULE:pattern/replacement/[LU], DEFAULT.",
    ),
]

TOKEN_KEYS = [
    ConfigKey(
        "sasl.oauthbearer.token.endpoint.url",
        STRING,
        None,
        "For OAUTHBEARER: file: URL of a bearer token, or http(s) URL of the issuer's token "
        "endpoint.",
    ),
    ConfigKey(
        "sasl.oauthbearer.client.credentials.client.id",
        STRING,
        None,
        "Client id for the token endpoint.",
        aliases=(Alias("sasl.oauthbearer.client.id"),),
    ),
    ConfigKey(
        "sasl.oauthbearer.client.credentials.client.secret",
        PASSWORD,
        None,
        "Client secret for the token endpoint.",
        aliases=(Alias("sasl.oauthbearer.client.secret"),),
    ),
    ConfigKey(
        "sasl.oauthbearer.scope",
        STRING,
        None,
        "Scope that the client requests from the token endpoint.",
    ),
]
"""Keys by which clients, and brokers that connect to other brokers, get bearer tokens."""

SASL_KEYS = [
    ConfigKey(
        "sasl.enabled.mechanisms",
        LIST,
        ["GSSAPI"],
        "Enabled SASL mechanisms: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER.",
        note="GSSAPI is not supported: a SASL listener requires this key.",
    ),
    ConfigKey(
        "sasl.jaas.config",
        PASSWORD,
        None,
        "Java-style login module: user_NAME=password entries for PLAIN; username and password "
        "for connections to other brokers.",
    ),
    ConfigKey(
        "sasl.oauthbearer.jwks.endpoint.url",
        STRING,
        None,
        "file:, http: or https: URL of the public keys (JWKS) that verify bearer tokens.",
    ),
    ConfigKey(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        LONG,
        3_600_000,
        "Interval at which the keys are read again from an http(s) URL; a file is read again "
        "when it changes.",
        at_least(1),
    ),
    ConfigKey(
        "sasl.oauthbearer.expected.issuer",
        STRING,
        None,
        "Required issuer (iss) of bearer tokens; unset: any.",
    ),
    ConfigKey(
        "sasl.oauthbearer.expected.audience",
        LIST,
        [],
        "Audiences (aud); a bearer token must have at least one of them. Empty: any.",
    ),
    ConfigKey(
        "sasl.oauthbearer.sub.claim.name",
        STRING,
        "sub",
        "Claim of a bearer token that contains the user name.",
    ),
    ConfigKey(
        "sasl.oauthbearer.clock.skew.seconds",
        INT,
        30,
        "Accepted difference between the clocks of broker and issuer.",
        at_least(0),
    ),
    *TOKEN_KEYS,
    ConfigKey(
        "sasl.server.max.receive.size",
        INT,
        524_288,
        "Largest request that the broker accepts before authentication, in bytes.",
        at_least(1024),
    ),
    ConfigKey(
        "connections.max.reauth.ms",
        LONG,
        0,
        "Maximum lifetime of an authenticated session; 0: no limit.",
        at_least(0),
    ),
]

LISTENER_KEYS = ConfigTable([*TLS_KEYS, *SASL_KEYS])
"""Security keys that can be set for a single listener."""

SECURITY_KEYS = [
    ConfigKey(
        "security.inter.broker.protocol",
        STRING,
        None,
        "Protocol between brokers; they use the first listener that has it. Unset: the first "
        "listener.",
        one_of(None, *SECURITY_PROTOCOLS),
    ),
    ConfigKey(
        "sasl.mechanism.inter.broker.protocol",
        STRING,
        "GSSAPI",
        "SASL mechanism between brokers.",
    ),
    *TLS_KEYS,
    *SASL_KEYS,
    ConfigKey(
        "connection.failed.authentication.delay.ms",
        INT,
        100,
        "Delay of the response to a failed authentication.",
        at_least(0),
    ),
    ConfigKey(
        "connections.max.unauthenticated.ms",
        LONG,
        10_000,
        "Time within which a client must authenticate, TLS handshake included; then the "
        "connection is closed.",
        at_least(1),
    ),
    ConfigKey(
        "authorizer.class.name",
        STRING,
        "",
        "Class name of Kafka's AclAuthorizer or StandardAuthorizer; empty: every operation is "
        "allowed.",
    ),
    ConfigKey(
        "super.users",
        STRING,
        "",
        "Principals that are allowed every operation, separated by semicolons.",
    ),
    ConfigKey(
        "allow.everyone.if.no.acl.found",
        BOOLEAN,
        False,
        "Whether every principal may use a resource that has no ACL.",
    ),
    ConfigKey(
        "audit.log",
        STRING,
        "off",
        "Requests in the audit log (logger barnabas.audit): 'denied' requests, or 'all': also "
        "requests that change the cluster.",
        one_of("off", "denied", "all"),
    ),
    ConfigKey(
        "audit.log.file",
        STRING,
        None,
        "File to which the audit log is appended, with mode 0600; unset: only the logger.",
    ),
    ConfigKey(
        "audit.log.topic",
        STRING,
        None,
        "Topic to which the audit log is written, one record per line; the broker creates it if "
        "it does not exist. Unset: none.",
    ),
    ConfigKey(
        "delegation.token.secret.key",
        PASSWORD,
        None,
        "Key from which the secrets of delegation tokens are derived; the same on all brokers. "
        "Unset: delegation tokens are disabled.",
        aliases=(Alias("delegation.token.master.key"),),
    ),
    ConfigKey(
        "delegation.token.max.lifetime.ms",
        LONG,
        604_800_000,
        "Maximum lifetime of a delegation token, renewals included.",
        at_least(1),
    ),
    ConfigKey(
        "delegation.token.expiry.time.ms",
        LONG,
        86_400_000,
        "Time after which a delegation token expires unless it is renewed.",
        at_least(1),
    ),
    ConfigKey(
        "delegation.token.expiry.check.interval.ms",
        LONG,
        3_600_000,
        "Interval at which expired delegation tokens are deleted.",
        at_least(1),
    ),
    ConfigKey(
        "quota.window.num", INT, 11, "Number of windows over which a rate is measured.", at_least(1)
    ),
    ConfigKey("quota.window.size.seconds", INT, 1, "Length of one such window.", at_least(1)),
]


# Clients that use ZooKeeper have these keys too.
ZOOKEEPER_SECURITY_KEYS = [
    ConfigKey("zookeeper.username", STRING, None, "User of digest authentication with ZooKeeper."),
    ConfigKey(
        "zookeeper.password",
        ConfigType.PASSWORD,
        None,
        "Password of digest authentication with ZooKeeper.",
    ),
    ConfigKey("zookeeper.ssl.client.enable", BOOLEAN, False, "Whether to use TLS with ZooKeeper."),
    ConfigKey(
        "zookeeper.ssl.keystore.location",
        STRING,
        None,
        "PEM file with the private key and certificates for ZooKeeper, if it requires them.",
    ),
    ConfigKey(
        "zookeeper.ssl.keystore.password",
        ConfigType.PASSWORD,
        None,
        "Password of the private key in zookeeper.ssl.keystore.location.",
    ),
    ConfigKey(
        "zookeeper.ssl.truststore.location",
        STRING,
        None,
        "PEM file with the CA certificates of ZooKeeper; unset: the system's CAs.",
    ),
    ConfigKey(
        "zookeeper.ssl.endpoint.identification.algorithm",
        STRING,
        "https",
        "'https': the host names of ZooKeeper servers are verified; empty: they are not.",
        one_of("https", ""),
    ),
]
