"""Delegation tokens in the metadata tree: Kafka's layout, lifetimes, several brokers."""

import asyncio
import json

import pytest

from barnabas.broker.access.delegation_tokens import DelegationTokens, TokenSettings
from barnabas.broker.config import BrokerConfig
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.principal import Principal

ALICE, BOB, CAROL = (Principal("User", name) for name in ("alice", "bob", "carol"))
SETTINGS = TokenSettings(
    "key of the brokers", max_lifetime_ms=10_000, expiry_ms=4_000, check_interval_ms=60_000
)


@pytest.fixture
async def tokens(tree, clock):
    return await loaded(tree, clock)


async def loaded(tree, clock):
    made = DelegationTokens(tree, SETTINGS, clock)
    await made.load()
    return made


async def wait_for(condition):
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("the condition does not hold")


def code_of(raised):
    return raised.value.code


async def test_the_layout_is_kafkas(tokens, tree, clock):
    token = await tokens.create(Principal("User", "a b"), ALICE, [BOB], -1)
    data, _ = await tree.get(f"/delegation_token/tokens/{token.token_id}")
    now_ms = clock.now_ms()
    assert json.loads(data) == {
        "version": 3,
        "owner": "User%3Aa%20b",
        "tokenRequester": "User%3Aalice",
        "renewers": ["User%3Abob"],
        "issueTimestamp": now_ms,
        "maxTimestamp": now_ms + 10_000,
        "expiryTimestamp": now_ms + 4_000,
        "tokenId": token.token_id,
    }
    (change,) = await tree.children("/delegation_token/token_changes")
    data, _ = await tree.get(f"/delegation_token/token_changes/{change}")
    assert data.decode() == token.token_id
    secret = tokens.hmac_of(token)
    assert len(secret) == 64
    stored, _ = await tree.get(f"/delegation_token/tokens/{token.token_id}")
    assert secret.hex() not in stored.hex()


async def test_nodes_of_older_versions_are_read(tree, clock):
    await tree.ensure_path("/delegation_token/tokens")
    old = {
        "version": 1,
        "owner": "User:alice",
        "renewers": [],
        "issueTimestamp": "1",
        "maxTimestamp": str(clock.now_ms() + 9),
        "expiryTimestamp": str(clock.now_ms() + 5),
        "tokenId": "abc",
    }
    await tree.create("/delegation_token/tokens/abc", json.dumps(old).encode())
    (token,) = (await loaded(tree, clock)).all()
    assert (token.owner, token.requester) == (ALICE, ALICE)


async def test_a_token_expires_and_is_renewed_within_its_lifetime(tokens, clock):
    short = await tokens.create(ALICE, ALICE, [], 1_000)
    assert short.expires_ms == short.max_ms == clock.now_ms() + 1_000
    long = await tokens.create(ALICE, ALICE, [], 99_000)
    assert long.max_ms == clock.now_ms() + 10_000
    secret = tokens.hmac_of(long)
    clock.advance(3_000)
    assert await tokens.renew(ALICE, secret, -1) == clock.now_ms() + 4_000
    assert await tokens.renew(ALICE, secret, 99_000) == long.max_ms
    assert await tokens.expire(ALICE, secret, 500) == clock.now_ms() + 500
    assert [token.token_id for token in tokens.all()] == [long.token_id]  # the other has expired
    clock.advance(500)
    assert tokens.all() == []
    with pytest.raises(BrokerError) as refused:
        await tokens.renew(ALICE, secret, -1)
    assert code_of(refused) == ErrorCode.DELEGATION_TOKEN_EXPIRED
    await tokens.delete_expired()
    with pytest.raises(BrokerError) as refused:
        await tokens.renew(ALICE, secret, -1)
    assert code_of(refused) == ErrorCode.DELEGATION_TOKEN_NOT_FOUND


async def test_only_owner_requester_and_renewers_change_a_token(tokens):
    token = await tokens.create(ALICE, BOB, [CAROL], -1)
    secret = tokens.hmac_of(token)
    for principal in (ALICE, BOB, CAROL):
        await tokens.renew(principal, secret, -1)
    with pytest.raises(BrokerError) as refused:
        await tokens.expire(Principal("User", "mallory"), secret, -1)
    assert code_of(refused) == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    with pytest.raises(BrokerError) as refused:
        await tokens.expire(ALICE, b"wrong", -1)
    assert code_of(refused) == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    await tokens.expire(CAROL, secret, -1)
    assert tokens.all() == []
    with pytest.raises(BrokerError) as refused:
        await tokens.create(ALICE, ALICE, [Principal("Group", "x")], -1)
    assert code_of(refused) == ErrorCode.INVALID_PRINCIPAL_TYPE


async def test_brokers_follow_each_other(tokens, tree, clock):
    other = await loaded(tree, clock)
    other.start()
    token = await tokens.create(ALICE, ALICE, [], -1)
    await wait_for(other.all)
    assert other.hmac_of(token) == tokens.hmac_of(token)
    login = other.login(token.token_id, "SCRAM-SHA-256")
    assert (login.owner, login.lifetime_ms) == ("alice", 4_000)
    assert login.credential == tokens.login(token.token_id, "SCRAM-SHA-256").credential
    await tokens.expire(ALICE, tokens.hmac_of(token), -1)
    await wait_for(lambda: not other.all())
    assert other.login(token.token_id, "SCRAM-SHA-256") is None
    await other.stop()


async def test_an_expired_token_does_not_log_in(tokens, clock):
    token = await tokens.create(ALICE, ALICE, [], -1)
    clock.advance(4_000)
    assert tokens.login(token.token_id, "SCRAM-SHA-512") is None


def test_tokens_are_off_without_a_secret_key_which_repr_hides():
    assert TokenSettings.of(BrokerConfig.parse({})) is None
    found = TokenSettings.of(BrokerConfig.parse({"delegation.token.master.key": "hidden"}))
    assert found is not None
    assert (found.max_lifetime_ms, found.expiry_ms) == (604_800_000, 86_400_000)
    assert "hidden" not in repr(found)
