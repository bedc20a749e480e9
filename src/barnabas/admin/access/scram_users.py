"""SCRAM users: describe, set and delete credentials.

The password never leaves this process; the request contains the salted password (KIP-554).
"""

import enum
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from barnabas.admin.calls import AdminCalls
from barnabas.admin.errors import error_of, raise_error
from barnabas.admin.results import Results
from barnabas.model.errors import LocalError
from barnabas.security.scram_keys import SCRAM_SHA_256, SCRAM_SHA_512, check_iterations
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)

SALT_BYTES = 24


class ScramMechanism(enum.IntEnum):
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2


_HASHES = {
    ScramMechanism.SCRAM_SHA_256: SCRAM_SHA_256,
    ScramMechanism.SCRAM_SHA_512: SCRAM_SHA_512,
}


@dataclass(frozen=True, slots=True)
class ScramCredentialInfo:
    mechanism: ScramMechanism
    iterations: int


@dataclass(frozen=True, slots=True)
class ScramPassword:
    """A password to set; the salt is random unless given."""

    user: str
    password: str = field(repr=False)
    mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_512
    iterations: int = 8192
    salt: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ScramDeletion:
    """A credential to delete."""

    user: str
    mechanism: ScramMechanism


class ScramUserCalls(AdminCalls):
    """Calls on SCRAM users."""

    async def describe_scram_users(
        self, users: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> Results[str, tuple[ScramCredentialInfo, ...]]:
        """Returns mechanism and iterations of users' credentials (default: all), never a secret."""
        deadline = self._deadline("describe SCRAM users", timeout)
        names = None if users is None else [UserName(name=user) for user in users]
        request = DescribeUserScramCredentialsRequest(users=names)
        response = await self._session.to_any(request, deadline)
        raise_error(response)
        return Results(
            {
                item.user: error_of(item)
                or tuple(
                    ScramCredentialInfo(ScramMechanism(info.mechanism), info.iterations)
                    for info in item.credential_infos
                )
                for item in response.results
            }
        )

    async def alter_scram_users(
        self,
        passwords: Iterable[ScramPassword] = (),
        *,
        deletions: Iterable[ScramDeletion] = (),
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Set passwords and delete credentials."""
        deadline = self._deadline("alter SCRAM users", timeout)
        request = AlterUserScramCredentialsRequest(
            deletions=[
                ScramCredentialDeletion(name=each.user, mechanism=int(each.mechanism))
                for each in deletions
            ],
            upsertions=[_upsertion(each) for each in passwords],
        )
        response = await self._session.to_controller(request, deadline)
        return Results({item.user: error_of(item) for item in response.results})


def _upsertion(new: ScramPassword) -> ScramCredentialUpsertion:
    try:
        check_iterations(new.iterations)
        salt = os.urandom(SALT_BYTES) if new.salt is None else new.salt
        salted = _HASHES[new.mechanism].salted_password(new.password, salt, new.iterations)
    except ValueError as error:
        raise LocalError(f"user {new.user!r}: {error}") from None
    return ScramCredentialUpsertion(
        name=new.user,
        mechanism=int(new.mechanism),
        iterations=new.iterations,
        salt=salt,
        salted_password=salted,
    )
