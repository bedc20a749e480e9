"""Security of a broker: listeners' protocols, TLS, SASL, access rules, quotas.

Most keys can be given for one listener alone, as `listener.name.<name>.<key>`; LISTENER_KEYS lists
those. Certificates and keys are PEM, in files or in the value; Java keystores are not read.
"""

from typing import Any

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, at_least, each_of, one_of

INT, LONG, STRING = ConfigType.INT, ConfigType.LONG, ConfigType.STRING
BOOLEAN, LIST, PASSWORD = ConfigType.BOOLEAN, ConfigType.LIST, ConfigType.PASSWORD

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PEM_ONLY_NOTE = "Checked only: PEM is the one form that is read."
PEM_NOTE = "Accepted for Kafka's sake: PEM needs none."


def only_pem(value: Any) -> str | None:
    """A validator of store types."""
    return None if value.upper() == "PEM" else "only PEM is read: convert JKS and PKCS12 files"


TLS_KEYS = [
    ConfigKey(
        "ssl.keystore.type",
        STRING,
        "PEM",
        "Form of the broker's own key.",
        only_pem,
        note=PEM_ONLY_NOTE,
    ),
    ConfigKey(
        "ssl.keystore.location", STRING, None, "PEM file of the private key and its certificates."
    ),
    ConfigKey("ssl.keystore.password", PASSWORD, None, "Password of the file.", note=PEM_NOTE),
    ConfigKey("ssl.keystore.key", PASSWORD, None, "The private key itself, as PEM."),
    ConfigKey("ssl.keystore.certificate.chain", STRING, None, "Its certificates, as PEM."),
    ConfigKey("ssl.key.password", PASSWORD, None, "Password of the private key."),
    ConfigKey(
        "ssl.truststore.type",
        STRING,
        "PEM",
        "Form of what is trusted.",
        only_pem,
        note=PEM_ONLY_NOTE,
    ),
    ConfigKey("ssl.truststore.location", STRING, None, "PEM file of the CA certificates to trust."),
    ConfigKey("ssl.truststore.password", PASSWORD, None, "Password of the file.", note=PEM_NOTE),
    ConfigKey("ssl.truststore.certificates", STRING, None, "CA certificates to trust, as PEM."),
    ConfigKey(
        "ssl.client.auth",
        STRING,
        "none",
        "Whether clients must show a certificate.",
        one_of("none", "requested", "required"),
    ),
    ConfigKey(
        "ssl.enabled.protocols",
        LIST,
        ["TLSv1.2", "TLSv1.3"],
        "Versions of TLS that are spoken.",
        each_of("TLSv1.2", "TLSv1.3"),
    ),
    ConfigKey("ssl.cipher.suites", LIST, None, "Cipher suites of TLS 1.2; unset: the system's."),
    ConfigKey(
        "ssl.endpoint.identification.algorithm",
        STRING,
        "https",
        "'https' checks the host names of other brokers, empty does not.",
        one_of("https", ""),
    ),
    ConfigKey(
        "ssl.principal.mapping.rules",
        STRING,
        "DEFAULT",
        "How a certificate's name becomes a principal: RULE:pattern/replacement/[LU], DEFAULT.",
    ),
]

SASL_KEYS = [
    ConfigKey(
        "sasl.enabled.mechanisms",
        LIST,
        ["GSSAPI"],
        "SASL mechanisms: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER.",
        note="GSSAPI is not served: a SASL listener needs this key.",
    ),
    ConfigKey(
        "sasl.jaas.config",
        PASSWORD,
        None,
        "Login module with user_NAME=password for PLAIN, and username and password for brokers.",
    ),
    ConfigKey(
        "sasl.oauthbearer.jwks.endpoint.url",
        STRING,
        None,
        "Where the public keys of bearer tokens (JWKS) are: a file:, http: or https: URL.",
    ),
    ConfigKey(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        LONG,
        3_600_000,
        "How often keys are read from a URL again; a file is read again when it changes.",
        at_least(1),
    ),
    ConfigKey(
        "sasl.oauthbearer.expected.issuer",
        STRING,
        None,
        "Issuer (iss) that bearer tokens must have; unset: any.",
    ),
    ConfigKey(
        "sasl.oauthbearer.expected.audience",
        LIST,
        [],
        "Audiences (aud), one of which bearer tokens must have; empty: any.",
    ),
    ConfigKey(
        "sasl.oauthbearer.sub.claim.name",
        STRING,
        "sub",
        "Claim of a bearer token that names the user.",
    ),
    ConfigKey(
        "sasl.oauthbearer.clock.skew.seconds",
        INT,
        30,
        "How far the clocks of broker and issuer may differ.",
        at_least(0),
    ),
    ConfigKey(
        "sasl.server.max.receive.size",
        INT,
        524_288,
        "Largest request before authentication.",
        at_least(1024),
    ),
    ConfigKey(
        "connections.max.reauth.ms",
        LONG,
        0,
        "Life of an authenticated session; 0 for ever.",
        at_least(0),
    ),
]

LISTENER_KEYS = ConfigTable([*TLS_KEYS, *SASL_KEYS])
"""Keys of security that a listener may have values of its own for."""

SECURITY_KEYS = [
    ConfigKey(
        "security.inter.broker.protocol",
        STRING,
        None,
        "Protocol that brokers use: the first listener that has it. Unset: the first listener.",
        one_of(None, *SECURITY_PROTOCOLS),
    ),
    ConfigKey(
        "sasl.mechanism.inter.broker.protocol",
        STRING,
        "GSSAPI",
        "SASL mechanism that brokers use.",
    ),
    *TLS_KEYS,
    *SASL_KEYS,
    ConfigKey(
        "connection.failed.authentication.delay.ms",
        INT,
        100,
        "Wait before a failed authentication is answered.",
        at_least(0),
    ),
    ConfigKey(
        "connections.max.unauthenticated.ms",
        LONG,
        10_000,
        "Time to authenticate in, TLS included, before a connection is closed.",
        at_least(1),
    ),
    ConfigKey(
        "authorizer.class.name",
        STRING,
        "",
        "Kafka's AclAuthorizer or StandardAuthorizer by name; empty: everybody may do everything.",
    ),
    ConfigKey(
        "super.users", STRING, "", "Principals who may do everything, separated by semicolons."
    ),
    ConfigKey(
        "allow.everyone.if.no.acl.found",
        BOOLEAN,
        False,
        "Whether what no rule is about is open to all.",
    ),
    ConfigKey("quota.window.num", INT, 11, "Windows that a rate is measured over.", at_least(1)),
    ConfigKey("quota.window.size.seconds", INT, 1, "Length of one.", at_least(1)),
]
