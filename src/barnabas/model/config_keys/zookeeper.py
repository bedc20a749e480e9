"""Keys of the authentication with ZooKeeper, for brokers and for clients that use ZooKeeper."""

from barnabas.model.config import ConfigKey, ConfigType, one_of

STRING, BOOLEAN = ConfigType.STRING, ConfigType.BOOLEAN

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
