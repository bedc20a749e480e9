import pytest

from barnabas.broker.access.access import make_authorizer
from barnabas.broker.access.inter_broker import inter_broker_security
from barnabas.broker.access.listener_security import split_rules
from barnabas.broker.access.sasl_mechanisms import enabled_mechanisms, jaas_of
from barnabas.broker.config import BrokerConfig
from barnabas.model.errors import ConfigError
from barnabas.security.acl import CLUSTER, Operation
from barnabas.security.principal import Principal

JAAS = 'm required username="u" password="p" user_u="p";'
SASL = {"listeners": "SASL_PLAINTEXT://:0", "sasl.enabled.mechanisms": "PLAIN"}


def test_a_listeners_own_value_wins():
    config = BrokerConfig.parse(
        {
            "listeners": "A://:1,B://:2",
            "listener.security.protocol.map": "A:SSL,B:SSL",
            "ssl.client.auth": "requested",
            "listener.name.a.ssl.client.auth": "required",
        }
    )
    assert config.listener_value("A", "ssl.client.auth") == "required"
    assert config.listener_value("B", "ssl.client.auth") == "requested"


@pytest.mark.parametrize(
    "key",
    [
        "listener.name.a.no.such.key",
        "listener.name.a.broker.id",
        "listener.name.a.x.sasl.jaas.config",
    ],
)
def test_only_security_has_values_by_listener(key):
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        BrokerConfig.parse({key: "1"})


def test_login_configuration_by_mechanism():
    config = BrokerConfig.parse(
        {
            **SASL,
            "sasl.jaas.config": "m required user_a=b;",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": JAAS,
        }
    )
    assert jaas_of(config, "SASL_PLAINTEXT", "PLAIN").users == {"u": "p"}
    assert jaas_of(config, "SASL_PLAINTEXT", "SCRAM-SHA-256").users == {"a": "b"}


@pytest.mark.parametrize("names", ["GSSAPI", "PLAIN,DIGEST-MD5", ""])
def test_mechanisms_that_are_not_served(names):
    config = BrokerConfig.parse({**SASL, "sasl.enabled.mechanisms": names})
    with pytest.raises(ConfigError, match=r"sasl\.enabled\.mechanisms"):
        enabled_mechanisms(config, "SASL_PLAINTEXT")


def test_the_listener_of_brokers():
    listeners = {"listeners": "PLAINTEXT://:1,SSL://:2"}
    assert BrokerConfig.parse(listeners).inter_broker_listener == "PLAINTEXT"
    by_protocol = {**listeners, "security.inter.broker.protocol": "SSL"}
    assert BrokerConfig.parse(by_protocol).inter_broker_listener == "SSL"
    by_name = {**listeners, "inter.broker.listener.name": "ssl"}
    assert BrokerConfig.parse(by_name).inter_broker_listener == "SSL"
    with pytest.raises(ConfigError, match="not both"):
        BrokerConfig.parse({**by_name, "security.inter.broker.protocol": "SSL"})
    with pytest.raises(ConfigError, match="no listener has it"):
        BrokerConfig.parse({**listeners, "security.inter.broker.protocol": "SASL_SSL"})


def test_brokers_log_in_as_the_login_configuration_says():
    config = BrokerConfig.parse(
        {**SASL, "sasl.jaas.config": JAAS, "sasl.mechanism.inter.broker.protocol": "PLAIN"}
    )
    login = inter_broker_security(config).login
    assert (login.user, login.mechanism) == ("u", "PLAIN")
    assert "p" not in repr(login).replace("PLAIN", "").split("user=")[1]
    lonely = BrokerConfig.parse({**SASL, "sasl.jaas.config": "m required user_a=b;"})
    assert inter_broker_security(lonely).login is None
    several = BrokerConfig.parse({**SASL, "zookeeper.connect": "h:1"})
    with pytest.raises(ConfigError, match="username and password"):
        inter_broker_security(several)


def test_authorizers_by_kafkas_names():
    for name in (
        "kafka.security.authorizer.AclAuthorizer",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    ):
        config = BrokerConfig.parse(
            {"authorizer.class.name": name, "super.users": "User:CN=a,O=b;User:root"}
        )
        authorizer = make_authorizer(config.__getitem__)
        for user in ("CN=a,O=b", "root"):
            who = Principal("User", user)
            assert authorizer.authorize(who, "h", Operation.ALTER, CLUSTER)
        assert not authorizer.authorize(Principal("User", "x"), "h", Operation.ALTER, CLUSTER)
    assert make_authorizer(BrokerConfig.parse({}).__getitem__) is None


@pytest.mark.parametrize(
    "settings",
    [
        {"authorizer.class.name": "os.system"},
        {
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": "root",
        },
    ],
)
def test_an_unknown_authorizer_is_rejected(settings):
    with pytest.raises(ConfigError):
        make_authorizer(BrokerConfig.parse(settings).__getitem__)


def test_mapping_rules_may_hold_commas():
    assert split_rules("RULE:^CN=(.*?),O=(.*)$/$1@$2/,RULE:^x$/y/U,DEFAULT") == [
        "RULE:^CN=(.*?),O=(.*)$/$1@$2/",
        "RULE:^x$/y/U",
        "DEFAULT",
    ]


def test_java_keystores_are_rejected_with_a_hint():
    with pytest.raises(ConfigError, match="convert JKS"):
        BrokerConfig.parse({"ssl.keystore.type": "JKS"})
