"""ACLs and SCRAM users. Passwords and salts are never read."""

from barnabas.admin import (
    AccessEntry,
    AclBinding,
    AclFilter,
    AsyncAdmin,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.cluster import AccessBody, AclItem
from barnabas.console.services.cluster import is_unsupported
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError


class AccessService:
    def __init__(self, link: ClusterLink) -> None:
        self._link = link

    async def describe(self) -> AccessBody:
        admin = self._link.admin
        authorizer = True
        acls: list[AclItem] = []
        try:
            acls = [item_of(binding) for binding in await admin.describe_acls()]
        except BarnabasError as error:
            if not is_unsupported(error):
                raise
            authorizer = False
        return AccessBody(authorizer=authorizer, acls=acls, users=await _users(admin))

    async def create_acl(self, body: AclItem) -> None:
        binding = binding_of(body)
        (await self._link.admin.create_acls([binding])).check()

    async def delete_acl(self, body: AclItem) -> int:
        """Deletes one ACL and returns how many were deleted."""
        binding = binding_of(body)
        chosen = AclFilter(
            resource_type=binding.pattern.type,
            name=binding.pattern.name,
            pattern=binding.pattern.pattern,
            principal=binding.entry.principal,
            host=binding.entry.host,
            operation=binding.entry.operation,
            permission=binding.entry.permission,
        )
        deleted = (await self._link.admin.delete_acls([chosen])).check()
        return sum(len(items) for items in deleted.values())


async def _users(admin: AsyncAdmin) -> dict[str, list[str]]:
    try:
        found = (await admin.describe_scram_users()).ok
    except BarnabasError:
        return {}
    return {
        user: [f"{item.mechanism.name.replace('_', '-')} ({item.iterations})" for item in infos]
        for user, infos in sorted(found.items())
    }


def item_of(binding: AclBinding) -> AclItem:
    return AclItem(
        principal=binding.entry.principal,
        host=binding.entry.host,
        operation=binding.entry.operation.name.lower(),
        permission="allow" if binding.entry.permission is Permission.ALLOW else "deny",
        resource_type=binding.pattern.type.name.lower(),
        resource_name=binding.pattern.name,
        pattern="prefixed" if binding.pattern.pattern is PatternType.PREFIXED else "literal",
    )


def binding_of(body: AclItem) -> AclBinding:
    """Returns the ACL; raises BrokerError for an unknown operation or resource type."""
    try:
        return AclBinding(
            ResourcePattern(
                ResourceType.from_label(body.resource_type),
                body.resource_name,
                PatternType.from_label(body.pattern),
            ),
            AccessEntry(
                body.principal,
                body.host,
                Operation.from_label(body.operation),
                Permission.from_label(body.permission),
            ),
        )
    except ValueError as error:
        raise BrokerError(ErrorCode.INVALID_REQUEST, str(error)) from error
