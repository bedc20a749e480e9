import pytest

from barnabas.admin import DelegationToken
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.messages import create_delegation_token as creating
from barnabas.wire.messages import describe_delegation_token as describing
from barnabas.wire.messages import expire_delegation_token as expiring
from barnabas.wire.messages import renew_delegation_token as renewing

TOKEN = DelegationToken(
    "id", "User:alice", "User:root", 1, 2, 3, b"secret", ("User:bob", "User:a:b")
)


async def test_a_token_is_made_for_another(cluster, admin):
    response = creating.CreateDelegationTokenResponse(
        0, "User", "alice", "User", "root", 1, 2, 3, "id", b"secret"
    )
    cluster.on(creating.CreateDelegationTokenRequest, response)
    made = await admin.create_delegation_token(
        owner="User:alice", renewers=TOKEN.renewers, max_lifetime=1.5
    )
    assert made == TOKEN
    assert "secret" not in repr(made)
    ((_, request),) = cluster.asked(creating.CreateDelegationTokenRequest)
    assert (request.owner_principal_type, request.owner_principal_name) == ("User", "alice")
    assert request.max_lifetime_ms == 1500
    assert request.renewers[1].principal_name == "a:b"


async def test_a_token_for_oneself_names_no_owner(cluster, admin):
    cluster.on(creating.CreateDelegationTokenRequest, creating.CreateDelegationTokenResponse())
    await admin.create_delegation_token()
    ((_, request),) = cluster.asked(creating.CreateDelegationTokenRequest)
    assert (request.owner_principal_name, request.max_lifetime_ms) == (None, -1)


async def test_a_rejection_is_raised(cluster, admin):
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    cluster.on(
        creating.CreateDelegationTokenRequest,
        creating.CreateDelegationTokenResponse(error_code=code),
    )
    with pytest.raises(BrokerError, match="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"):
        await admin.create_delegation_token()


async def test_a_token_is_renewed_and_expired(cluster, admin):
    cluster.on(
        renewing.RenewDelegationTokenRequest,
        renewing.RenewDelegationTokenResponse(expiry_timestamp_ms=5),
    )
    cluster.on(
        expiring.ExpireDelegationTokenRequest,
        expiring.ExpireDelegationTokenResponse(expiry_timestamp_ms=6),
    )
    assert await admin.renew_delegation_token(b"secret", 2) == 5
    assert await admin.expire_delegation_token(b"secret") == 6
    assert cluster.asked(renewing.RenewDelegationTokenRequest)[0][1].renew_period_ms == 2000
    sent = cluster.asked(expiring.ExpireDelegationTokenRequest)[0][1]
    assert (sent.hmac, sent.expiry_time_period_ms) == (b"secret", -1)


async def test_tokens_are_described(cluster, admin):
    renewers = [
        describing.DescribedDelegationTokenRenewer("User", "bob"),
        describing.DescribedDelegationTokenRenewer("User", "a:b"),
    ]
    token = describing.DescribedDelegationToken(
        "User", "alice", "User", "root", 1, 2, 3, "id", b"secret", renewers
    )
    cluster.on(
        describing.DescribeDelegationTokenRequest,
        describing.DescribeDelegationTokenResponse(tokens=[token]),
    )
    assert await admin.describe_delegation_tokens(["User:alice"]) == [TOKEN]
    assert await admin.describe_delegation_tokens() == [TOKEN]
    (_, some), (_, everybody) = cluster.asked(describing.DescribeDelegationTokenRequest)
    assert some.owners[0].principal_name == "alice"
    assert everybody.owners is None
