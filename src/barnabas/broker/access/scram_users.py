"""SCRAM credentials as administrators see and change them (KIP-554).

The broker is never told a password: the client salts it, and what is stored can neither be turned
back into it nor be used to log in.
"""

from collections.abc import Iterable

from barnabas.broker.access.client_entities import ClientEntities, Values
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.scram_keys import (
    MIN_ITERATIONS,
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    ScramCredential,
    ScramHash,
)
from barnabas.wire.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.zk import paths

MECHANISMS: dict[int, ScramHash] = {1: SCRAM_SHA_256, 2: SCRAM_SHA_512}
_MAX_ITERATIONS = 16_384
"""Kafka's bound for stored credentials: every login of the user pays for it."""

Change = ScramCredentialDeletion | ScramCredentialUpsertion


def scram_users(entities: ClientEntities) -> list[str]:
    """Every user who has a credential."""
    names = {scram.mechanism for scram in MECHANISMS.values()}
    return [
        paths.desanitize(path.removeprefix("users/"))
        for path, values in sorted(entities.all().items())
        if path.startswith("users/") and path.count("/") == 1 and names.intersection(values)
    ]


def credentials_of(entities: ClientEntities, user: str) -> dict[int, ScramCredential]:
    """A user's credentials by the mechanism's number."""
    found = {}
    for number, scram in MECHANISMS.items():
        credential = entities.credential(user, scram.mechanism)
        if credential is not None:
            found[number] = credential
    return found


def check_change(change: Change) -> None:
    """BrokerError when the change cannot be made, whatever is stored."""
    if not change.name or change.name == paths.DEFAULT_ENTITY:
        raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user name is empty")
    if change.mechanism not in MECHANISMS:
        raise BrokerError(ErrorCode.UNSUPPORTED_SASL_MECHANISM)
    if isinstance(change, ScramCredentialUpsertion):
        if not MIN_ITERATIONS <= change.iterations <= _MAX_ITERATIONS:
            text = f"iterations must be {MIN_ITERATIONS} to {_MAX_ITERATIONS}"
            raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, text)
        if not change.salt or not change.salted_password:
            text = "salt and salted password are needed"
            raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, text)


async def change_user(entities: ClientEntities, user: str, changes: Iterable[Change]) -> None:
    """Put all changes of one user into force, or none."""
    changes = list(changes)

    def edit(values: Values) -> None:
        for change in changes:
            name = MECHANISMS[change.mechanism].mechanism
            if isinstance(change, ScramCredentialUpsertion):
                values[name] = _credential(change).render()
            elif values.pop(name, None) is None:
                text = f"user {user!r} has no {name} credential"
                raise BrokerError(ErrorCode.RESOURCE_NOT_FOUND, text)

    await entities.change(paths.config_entity("users", user), edit)


def _credential(change: ScramCredentialUpsertion) -> ScramCredential:
    try:
        return ScramCredential.from_salted_password(
            MECHANISMS[change.mechanism],
            change.salted_password,
            change.salt,
            change.iterations,
        )
    except ValueError as error:
        raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, str(error)) from None
