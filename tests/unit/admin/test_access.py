"""ACLs, quotas and SCRAM users on the wire."""

import pytest

from barnabas.admin import (
    AccessEntry,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    QuotaEntity,
    ResourcePattern,
    ResourceType,
    ScramCredentialInfo,
    ScramDeletion,
    ScramMechanism,
    ScramPassword,
)
from barnabas.admin.access_types import ANY, DEFAULT
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError
from barnabas.security.scram_keys import SCRAM_SHA_256
from barnabas.wire.messages import alter_client_quotas as altering
from barnabas.wire.messages import create_acls, delete_acls, describe_acls
from barnabas.wire.messages import describe_client_quotas as describing
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from barnabas.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

RULE = AclBinding(
    ResourcePattern(ResourceType.TOPIC, "orders-", PatternType.PREFIXED),
    AccessEntry("User:alice", "*", Operation.READ, Permission.ALLOW),
)


async def test_rules_are_described(cluster, admin):
    resource = describe_acls.DescribeAclsResource(
        2, "orders-", 4, [describe_acls.AclDescription("User:alice", "*", 3, 3)]
    )
    cluster.on(
        describe_acls.DescribeAclsRequest, describe_acls.DescribeAclsResponse(resources=[resource])
    )
    assert await admin.describe_acls() == [RULE]
    ((_, request),) = cluster.asked(describe_acls.DescribeAclsRequest)
    assert request.resource_name_filter is None
    assert (request.resource_type_filter, request.pattern_type_filter) == (1, 1)


async def test_no_authorizer_is_an_error(cluster, admin):
    cluster.on(
        describe_acls.DescribeAclsRequest,
        describe_acls.DescribeAclsResponse(error_code=ErrorCode.SECURITY_DISABLED),
    )
    with pytest.raises(BrokerError, match="SECURITY_DISABLED"):
        await admin.describe_acls(AclFilter(principal="User:alice"))


async def test_acls_are_created_and_returned_in_order(cluster, admin):
    other = AclBinding(RULE.pattern, AccessEntry("User:bob", "*", Operation.ALL, Permission.DENY))
    results = [create_acls.AclCreationResult(0), create_acls.AclCreationResult(42, "why not")]
    cluster.on(create_acls.CreateAclsRequest, create_acls.CreateAclsResponse(results=results))
    made = await admin.create_acls([RULE, other])
    assert made.ok == {RULE: None}
    assert str(made.errors[other]) == "INVALID_REQUEST: why not"
    ((_, request),) = cluster.asked(create_acls.CreateAclsRequest)
    sent = request.creations[0]
    assert (sent.resource_type, sent.resource_name, sent.resource_pattern_type) == (2, "orders-", 4)
    assert (sent.principal, sent.host, sent.operation, sent.permission_type) == (
        "User:alice",
        "*",
        3,
        3,
    )


async def test_deleted_acls_are_returned(cluster, admin):
    matching = delete_acls.DeleteAclsMatchingAcl(0, None, 2, "orders-", 4, "User:alice", "*", 3, 3)
    result = delete_acls.DeleteAclsFilterResult(matching_acls=[matching])
    cluster.on(
        delete_acls.DeleteAclsRequest, delete_acls.DeleteAclsResponse(filter_results=[result])
    )
    chosen = AclFilter(ResourceType.TOPIC, "orders-1", PatternType.MATCH)
    assert (await admin.delete_acls([chosen]))[chosen] == (RULE,)
    ((_, request),) = cluster.asked(delete_acls.DeleteAclsRequest)
    assert request.filters[0].pattern_type_filter == 2


async def test_quotas_are_described(cluster, admin):
    entry = describing.EntryData(
        entity=[describing.EntityData("user", "alice"), describing.EntityData("client-id", None)],
        values=[describing.ValueData("producer_byte_rate", 1024.0)],
    )
    cluster.on(
        describing.DescribeClientQuotasRequest,
        describing.DescribeClientQuotasResponse(entries=[entry]),
    )
    matching = QuotaEntity(user="alice", client_id=ANY, ip=DEFAULT)
    assert await admin.describe_client_quotas(matching, strict=True) == {
        QuotaEntity(user="alice", client_id=DEFAULT): {"producer_byte_rate": 1024.0}
    }
    ((_, request),) = cluster.asked(describing.DescribeClientQuotasRequest)
    assert [(item.entity_type, item.match_type, item.match) for item in request.components] == [
        ("user", 0, "alice"),
        ("client-id", 2, None),
        ("ip", 1, None),
    ]
    assert request.strict


async def test_quotas_are_set_and_taken_away(cluster, admin):
    entity = [altering.EntityData("user", None)]
    cluster.on(
        altering.AlterClientQuotasRequest,
        altering.AlterClientQuotasResponse(entries=[altering.EntryResponse(0, None, entity)]),
    )
    everybody = QuotaEntity(user=DEFAULT)
    changes = {everybody: {"producer_byte_rate": 5.0, "consumer_byte_rate": None}}
    assert (await admin.alter_client_quotas(changes)).check() == {everybody: None}
    ((_, request),) = cluster.asked(altering.AlterClientQuotasRequest)
    (entry,) = request.entries
    assert entry.entity[0].entity_name is None
    assert [(op.key, op.value, op.remove) for op in entry.ops] == [
        ("producer_byte_rate", 5.0, False),
        ("consumer_byte_rate", 0.0, True),
    ]


async def test_users_are_described(cluster, admin):
    results = [
        DescribeUserScramCredentialsResult("alice", 0, None, [CredentialInfo(2, 8192)]),
        DescribeUserScramCredentialsResult("bob", ErrorCode.RESOURCE_NOT_FOUND, None, []),
    ]
    cluster.on(
        DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse(results=results)
    )
    users = await admin.describe_scram_users(["alice", "bob"])
    assert users["alice"] == (ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 8192),)
    assert users.errors["bob"].code is ErrorCode.RESOURCE_NOT_FOUND


async def test_a_password_does_not_travel(cluster, admin):
    cluster.on(
        AlterUserScramCredentialsRequest,
        AlterUserScramCredentialsResponse(results=[AlterUserScramCredentialsResult("alice", 0)]),
    )
    mechanism = ScramMechanism.SCRAM_SHA_256
    new = ScramPassword("alice", "secret", mechanism, iterations=4096)
    assert "secret" not in repr(new)
    gone = ScramDeletion("alice", ScramMechanism.SCRAM_SHA_512)
    (await admin.alter_scram_users([new], deletions=[gone])).check()
    ((_, request),) = cluster.asked(AlterUserScramCredentialsRequest)
    (sent,) = request.upsertions
    assert sent.salted_password == SCRAM_SHA_256.salted_password("secret", sent.salt, 4096)
    assert len(sent.salt) >= 16
    assert (request.deletions[0].name, request.deletions[0].mechanism) == ("alice", 2)


async def test_too_few_rounds_are_rejected_here(admin):
    with pytest.raises(LocalError, match="'alice': SCRAM iterations"):
        await admin.alter_scram_users([ScramPassword("alice", "secret", iterations=10)])
