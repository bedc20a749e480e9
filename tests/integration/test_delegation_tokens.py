"""Delegation tokens over the wire: managed by users, used by clients of all kinds."""

import base64

import pytest
from support.security.secure_broker import AUTHORIZER, plain_jaas

from barnabas import Admin, Producer
from barnabas.admin import (
    AccessEntry,
    AclBinding,
    Operation,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.mechanism import AuthenticationError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

USERS = {"alice": "alice-secret", "bob": "bob-secret", "root": "root-secret"}
SETTINGS = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:0,PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "sasl.jaas.config": plain_jaas(USERS),
    "delegation.token.secret.key": "key of the brokers",
    "authorizer.class.name": AUTHORIZER,
    "super.users": "User:root",
}


@pytest.fixture(scope="module")
def broker():
    with Broker(SETTINGS) as broker:
        yield broker


def as_user(broker, user):
    return {
        "bootstrap.servers": f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": USERS[user],
    }


def with_token(broker, token, mechanism="SCRAM-SHA-256", secret=None):
    password = base64.b64encode(token.hmac).decode() if secret is None else secret
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    options = f'username="{token.token_id}" password="{password}" tokenauth="true"'
    return {
        "bootstrap.servers": f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"{module} required {options};",
    }


def allow(principal, operation, kind, name):
    entry = AccessEntry(principal, "*", operation, Permission.ALLOW)
    return AclBinding(ResourcePattern(kind, name), entry)


def refusal(call):
    with pytest.raises(BrokerError) as refused:
        call()
    return refused.value.code


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_client_acts_as_the_owner_of_its_token(broker, mechanism):
    with Admin(as_user(broker, "root")) as root:
        root.create_acls([allow("User:alice", Operation.ALL, ResourceType.TOPIC, "*")]).check()
    with Admin(as_user(broker, "alice")) as alice:
        token = alice.create_delegation_token(renewers=["User:bob"])
    assert token.owner == token.requester == "User:alice"
    with Producer(with_token(broker, token, mechanism)) as producer:
        producer.send(f"of-alice-{mechanism.lower()}", b"x").result(30)
    with (
        pytest.raises(AuthenticationError, match="rejected"),
        Admin(with_token(broker, token, mechanism, secret="d3Jvbmc=")) as intruder,
    ):
        intruder.list_topics()


def test_renew_describe_and_expire(broker):
    with Admin(as_user(broker, "alice")) as alice, Admin(as_user(broker, "bob")) as bob:
        token = alice.create_delegation_token(renewers=["User:bob"])
        assert token.token_id in {each.token_id for each in bob.describe_delegation_tokens()}
        assert bob.renew_delegation_token(token.hmac, 60) > 0
        own = alice.create_delegation_token()
        assert own.token_id not in {each.token_id for each in bob.describe_delegation_tokens()}
        code = refusal(lambda: bob.renew_delegation_token(own.hmac))
        assert code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
        assert bob.describe_delegation_tokens(["User:nobody"]) == []
        of_alice = bob.describe_delegation_tokens(["User:alice"])
        (seen,) = [each for each in of_alice if each.token_id == token.token_id]
        assert (seen.hmac, seen.renewers) == (token.hmac, ("User:bob",))
        alice.expire_delegation_token(token.hmac)
        assert token.token_id not in {each.token_id for each in bob.describe_delegation_tokens()}
    with pytest.raises(AuthenticationError), Admin(with_token(broker, token)) as gone:
        gone.list_topics()


def test_tokens_of_other_users_need_an_acl(broker):
    with Admin(as_user(broker, "bob")) as bob, Admin(as_user(broker, "root")) as root:
        code = refusal(lambda: bob.create_delegation_token(owner="User:carol"))
        assert code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
        user = (ResourceType.USER, "User:carol")
        root.create_acls([allow("User:bob", Operation.CREATE_TOKENS, *user)]).check()
        token = bob.create_delegation_token(owner="User:carol")
        assert (token.owner, token.requester) == ("User:carol", "User:bob")
        with Admin(as_user(broker, "alice")) as alice:
            assert alice.describe_delegation_tokens(["User:carol"]) == []
            root.create_acls([allow("User:alice", Operation.DESCRIBE_TOKENS, *user)]).check()
            (seen,) = alice.describe_delegation_tokens(["User:carol"])
            assert seen.token_id == token.token_id


def test_a_token_does_not_manage_tokens_and_anonymous_clients_have_none(broker):
    with Admin(as_user(broker, "alice")) as alice:
        token = alice.create_delegation_token()
    plaintext = {"bootstrap.servers": f"127.0.0.1:{broker.ports['PLAINTEXT']}"}
    for config in (with_token(broker, token), plaintext):
        with Admin(config) as admin:
            for call in (
                admin.create_delegation_token,
                admin.describe_delegation_tokens,
                lambda admin=admin: admin.renew_delegation_token(token.hmac),
                lambda admin=admin: admin.expire_delegation_token(token.hmac),
            ):
                assert refusal(call) == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_without_a_secret_key_there_are_no_tokens():
    settings = {key: value for key, value in SETTINGS.items() if "delegation" not in key}
    with Broker(settings) as broker, Admin(as_user(broker, "alice")) as alice:
        assert refusal(alice.create_delegation_token) == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


def test_tokens_survive_a_restart(tmp_path):
    """Passes when a login with the token works after the restart."""
    with Broker(SETTINGS, data_dir=tmp_path) as broker, Admin(as_user(broker, "alice")) as alice:
        token = alice.create_delegation_token()
    with Broker(SETTINGS, data_dir=tmp_path) as broker, Admin(with_token(broker, token)) as admin:
        admin.list_topics()
