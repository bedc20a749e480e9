"""Access rules, quotas and SCRAM users on the command line, before a broker that enforces them."""

import pytest
from support.cli.golden import compare
from support.security.secure_broker import AUTHORIZER, jaas, plain_jaas

from barnabas.admin import QuotaEntity, ScramMechanism
from barnabas.testing import Broker

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("golden")]


@pytest.fixture
def world():
    settings = {"authorizer.class.name": AUTHORIZER, "super.users": "User:ANONYMOUS"}
    with Broker(settings) as broker:
        broker.topic("orders")
        yield broker


@pytest.fixture
def script(cli, world):
    """Runs command lines of one tool, and puts what they print below each other."""

    def run(tool, *lines):
        done = []
        for line in lines:
            ran = cli(tool, "--bootstrap-server", world.bootstrap_servers, *line.split())
            done.append(f"$ {tool} {line}\nexit code {ran.code}\n{ran.out}{ran.err}")
        return "\n".join(done)

    return run


def test_acls_as_apaches_tool_prints_them(script, world):
    text = script(
        "kafka-acls",
        "--list",
        "--add --allow-principal User:alice --operation Read --operation Describe --topic orders",
        "--add --allow-principal User:bob --consumer --topic orders --group billing",
        "--add --allow-principal User:bob --producer --idempotent --topic orders "
        "--transactional-id tx",
        "--add --deny-principal User:eve --deny-host 10.0.0.1 --operation All --cluster",
        "--add --allow-principal User:carol --operation Write --topic audit- "
        "--resource-pattern-type prefixed",
        "--add --allow-principal User:alice --operation ClusterAction --topic orders",
        "--list --topic orders",
        "--list --principal User:bob",
        "--list",
        "--remove --allow-principal User:alice --operation Read --topic orders --force",
        "--remove --topic orders",
        "--remove --topic orders --force",
        "--list --topic orders",
    )
    compare("kafka-acls.txt", text)
    assert {binding.entry.principal for binding in world.admin.describe_acls()} == {
        "User:bob",
        "User:carol",
        "User:eve",
    }


@pytest.mark.parametrize("form", ["table", "json"])
def test_the_noun(cli, world, form):
    servers = world.bootstrap_servers
    rule = ("--resource", "topic:orders", "--principal", "User:alice", "--operation", "read")
    ran = [
        cli("acls", "add", *rule, "--format", form, servers=servers),
        cli("acls", "add", "--resource", "group:*", "--principal", "User:bob", servers=servers),
        cli("acls", "list", "--format", form, servers=servers),
        cli("acls", "remove", *rule, "--dry-run", "--format", form, servers=servers),
        cli("acls", "remove", *rule, "--yes", "--format", form, servers=servers),
    ]
    assert [item.code for item in ran] == [0] * 5, [item.err for item in ran]
    compare(f"acls.{form}", "\n".join(item.out for item in ran))
    (left,) = world.admin.describe_acls()
    assert left.entry.principal == "User:bob"


def test_a_right_that_is_missing_is_named(cli):
    """The authorizer is active: users without an ACL, except super users, may do nothing."""
    with Broker({"authorizer.class.name": AUTHORIZER, "super.users": "User:root"}) as strict:
        ran = cli("topics", "create", "new", servers=strict.bootstrap_servers)
        assert ran.code == 1
        assert "TOPIC_AUTHORIZATION_FAILED" in ran.out + ran.err


def test_quotas_and_users_as_apaches_tool_prints_them(script, world):
    scram = "SCRAM-SHA-256=[iterations=8192,password=alice-secret]"
    text = script(
        "kafka-configs",
        "--alter --entity-type users --entity-name alice "
        "--add-config producer_byte_rate=1024,consumer_byte_rate=2048",
        "--alter --entity-type clients --entity-default --add-config request_percentage=50",
        "--alter --user alice --client app --add-config producer_byte_rate=512",
        "--alter --ip 127.0.0.9 --add-config connection_creation_rate=20",
        "--describe --user alice",
        "--describe --entity-type users",
        "--describe --entity-type clients",
        "--describe --entity-type users --entity-type clients",
        "--describe --entity-type ips",
        f"--alter --user alice --add-config {scram}",
        "--describe --user alice",
        "--alter --user alice --delete-config SCRAM-SHA-256,producer_byte_rate",
        "--describe --user alice",
        "--alter --user alice --add-config nonsense=1",
        "--alter --user alice --delete-config SCRAM-SHA-256",
    )
    compare("kafka-configs-access.txt", text)
    assert world.admin.describe_client_quotas(QuotaEntity(user="alice"), strict=True) == {
        QuotaEntity(user="alice"): {"consumer_byte_rate": 2048.0}
    }
    assert not world.admin.describe_scram_users().ok


def test_the_iterations_and_the_mechanism_are_kept(script, world):
    script("kafka-configs", "--alter --user dora --add-config SCRAM-SHA-512=[password=s]")
    (found,) = world.admin.describe_scram_users(["dora"]).check()["dora"]
    assert (found.mechanism, found.iterations) == (ScramMechanism.SCRAM_SHA_512, 4096)


def test_delegation_tokens(cli, tmp_path):
    settings = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "sasl.jaas.config": plain_jaas(),
        "delegation.token.secret.key": "key of the brokers",
    }
    config = tmp_path / "alice.properties"
    login = jaas(username="alice", password="alice-secret")
    config.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={login}\n"
    )
    with Broker(settings) as broker:
        tool = ("kafka-delegation-tokens", "--bootstrap-server", broker.bootstrap_servers)
        tool += ("--command-config", str(config))
        made = cli(*tool, "--create", "--max-life-time-period", "-1")
        assert made.code == 0, made.err
        token_id, hmac, owner, *_ = made.lines[-1].split()
        assert made.lines[:2] == [
            "Calling create token operation with renewers :[] , max-life-time-period :-1",
            f"Created delegation token with tokenId : {token_id}",
        ]
        assert made.lines[3].split()[:3] == ["TOKENID", "HMAC", "OWNER"]
        assert owner == "User:alice"
        renewed = cli(*tool, "--renew", "--renew-time-period", "-1", "--hmac", hmac)
        assert renewed.lines[-1].startswith("Completed renew operation. New expiry date : 2")
        shown = cli(*tool, "--describe", "--owner-principal", "User:alice")
        assert shown.lines[1] == "Total number of tokens : 1"
        assert hmac in shown.lines[-1]
        ended = cli(*tool, "--expire", "--expiry-time-period", "-1", "--hmac", hmac)
        assert ended.lines[-1].startswith("Completed expire operation.")
        assert "Total number of tokens : 0" in cli(*tool, "--describe").lines
        again = cli(*tool, "--renew", "--renew-time-period", "-1", "--hmac", hmac)
        assert "DELEGATION_TOKEN_NOT_FOUND" in again.err
    assert "--renew needs --hmac" in cli(*tool, "--renew").err
    wrong = cli(*tool, "--renew", "--renew-time-period", "-1", "--hmac", "not base64")
    assert "--hmac" in wrong.err


def test_a_rejected_acl_is_named_in_words(cli):
    with Broker(in_memory=True) as broker:
        line = "--add --allow-principal User:ann --operation Read --topic orders"
        ran = cli("kafka-acls", "--bootstrap-server", broker.bootstrap_servers, *line.split())
    assert ran.code == 1
    assert ran.err == (
        "Error while executing ACL command: SECURITY_DISABLED: no authorizer is configured "
        "(for Allow Read on literal Topic orders to User:ann from host *)\n"
    )
