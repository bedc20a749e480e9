"""The cluster's delegation tokens (KIP-48): creation, renewal, expiry, and login with a token.

Tokens are stored in the metadata tree in Kafka's layout: a node below /delegation_token/tokens per
token, and notifications below /delegation_token/token_changes. The secret of a token is derived
from `delegation.token.secret.key`, which must be the same on all brokers, and is not stored.
"""

import base64
import contextlib
import hmac
import logging
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from barnabas.broker.config import BrokerConfig
from barnabas.broker.tasks import PeriodicJobs
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import Uuid
from barnabas.runtime.clock import Clock
from barnabas.security.principal import USER, Principal
from barnabas.security.scram import TokenLogin
from barnabas.security.scram_keys import MIN_ITERATIONS, SCRAM_HASHES, ScramCredential, ScramHash
from barnabas.zk import paths
from barnabas.zk.config_znodes import DelegationTokenNode
from barnabas.zk.recipes import ChangeNotifications, write_if_unchanged
from barnabas.zk.tree import (
    CreateOp,
    DeleteOp,
    MetadataTree,
    MultiError,
    NoNodeError,
    Op,
    SetOp,
)

_SALT_BYTES = 24


@dataclass(frozen=True, slots=True)
class TokenInformation:
    """A token without its HMAC. Times are wall-clock time in milliseconds."""

    token_id: str
    owner: Principal
    requester: Principal
    renewers: tuple[Principal, ...]
    issued_ms: int
    max_ms: int
    """Latest expiry time; renewals cannot exceed it."""
    expires_ms: int

    def may_be_changed_by(self, principal: Principal) -> bool:
        """Whether a principal may renew, expire and see the token without further permissions."""
        return principal in (self.owner, self.requester, *self.renewers)

    def is_expired(self, now_ms: int) -> bool:
        return now_ms >= self.expires_ms

    def expiring_in(self, period_ms: int, now_ms: int) -> "TokenInformation":
        """Returns the token with another expiry time, at most `max_ms`."""
        return replace(self, expires_ms=min(now_ms + period_ms, self.max_ms))


class TokenKeys:
    """Derives HMACs and SCRAM credentials of tokens from the brokers' secret key.

    All brokers with the same key derive the same credentials.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def hmac(self, token_id: str) -> bytes:
        """Returns the secret of a token, as Kafka derives it."""
        return hmac.digest(self._secret, token_id.encode(), "sha512")

    def credential(self, token_id: str, scram: ScramHash) -> ScramCredential:
        """Returns the credential that verifies a login with the token; takes milliseconds."""
        password = base64.b64encode(self.hmac(token_id)).decode()
        salt = self.hmac(f"salt:{scram.mechanism}:{token_id}")[:_SALT_BYTES]
        return ScramCredential.from_password(scram, password, salt, MIN_ITERATIONS)


_logger = logging.getLogger("barnabas.broker")

# Another broker may change the same node; each attempt reads it again.
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class TokenSettings:
    """Secret key and lifetimes of delegation tokens."""

    secret: str = field(repr=False)
    max_lifetime_ms: int
    expiry_ms: int
    check_interval_ms: int

    @classmethod
    def of(cls, config: BrokerConfig) -> "TokenSettings | None":
        """Returns the configured settings, or None if no secret key is set."""
        secret = config["delegation.token.secret.key"]
        if not secret:
            return None
        return cls(
            secret,
            config["delegation.token.max.lifetime.ms"],
            config["delegation.token.expiry.time.ms"],
            config["delegation.token.expiry.check.interval.ms"],
        )


class DelegationTokens:
    """All tokens of the cluster; owned by the broker's loop."""

    def __init__(self, tree: MetadataTree, settings: TokenSettings, clock: Clock) -> None:
        self._tree = tree
        self._settings = settings
        self._clock = clock
        self._keys = TokenKeys(settings.secret)
        self._tokens: dict[str, TokenInformation] = {}
        self._ids_by_hmac: dict[bytes, str] = {}
        self._credentials: dict[tuple[str, str], ScramCredential] = {}
        self._jobs = PeriodicJobs()
        self._notifications = ChangeNotifications(
            tree,
            paths.DELEGATION_TOKEN_CHANGES,
            self._reload,
            logger=_logger,
            purge_clock=clock,
        )

    async def load(self) -> None:
        """Reads all tokens; must be called before the broker serves requests."""
        await self._tree.ensure_path(paths.DELEGATION_TOKENS)
        await self._notifications.skip_existing()
        for token_id in await self._tree.children(paths.DELEGATION_TOKENS):
            await self._reload(token_id.encode())

    def start(self) -> None:
        """Starts to apply changes of other brokers and to delete expired tokens."""
        self._notifications.start()
        interval_ms = self._settings.check_interval_ms
        self._jobs.every(interval_ms, "delegation-token-expiry", self.delete_expired)

    async def stop(self) -> None:
        await self._jobs.stop()
        await self._notifications.stop()

    # --- reading ---------------------------------------------------------------------------

    def all(self) -> list[TokenInformation]:
        """Returns the tokens that are not expired."""
        now_ms = self._clock.now_ms()
        return [token for token in self._tokens.values() if not token.is_expired(now_ms)]

    def hmac_of(self, token: TokenInformation) -> bytes:
        """Returns the secret of a token."""
        return self._keys.hmac(token.token_id)

    def login(self, token_id: str, mechanism: str) -> TokenLogin | None:
        """Returns the data for a login with a token; None if it is unknown or expired."""
        token, now_ms = self._tokens.get(token_id), self._clock.now_ms()
        if token is None or token.is_expired(now_ms):
            return None
        key = (token_id, mechanism)
        if key not in self._credentials:
            scram = SCRAM_HASHES[mechanism]
            self._credentials[key] = self._keys.credential(token_id, scram)
        return TokenLogin(self._credentials[key], token.owner.name, token.expires_ms - now_ms)

    # --- changes ---------------------------------------------------------------------------

    async def create(
        self,
        owner: Principal,
        requester: Principal,
        renewers: Iterable[Principal],
        max_lifetime_ms: int,
    ) -> TokenInformation:
        """Creates a token; a lifetime of 0 or less means the configured maximum.

        Raises BrokerError if a renewer is not a user.
        """
        allowed = tuple(renewers)
        if any(principal.kind != USER for principal in (owner, *allowed)):
            raise BrokerError(ErrorCode.INVALID_PRINCIPAL_TYPE)
        settings, now_ms = self._settings, self._clock.now_ms()
        limit_ms = settings.max_lifetime_ms
        lifetime_ms = limit_ms if max_lifetime_ms <= 0 else min(max_lifetime_ms, limit_ms)
        token = TokenInformation(
            token_id=str(Uuid.random(secrets.token_bytes)),
            owner=owner,
            requester=requester,
            renewers=allowed,
            issued_ms=now_ms,
            max_ms=now_ms + lifetime_ms,
            expires_ms=now_ms + min(settings.expiry_ms, lifetime_ms),
        )
        path = paths.delegation_token(token.token_id)
        await self._write(CreateOp(path, _node(token).encode()), token.token_id)
        self._put(token)
        return token

    async def renew(self, principal: Principal, hmac: bytes, period_ms: int) -> int:
        """Extends a token; returns its new expiry time.

        A negative period means `delegation.token.expiry.time.ms`. Raises BrokerError.
        """
        period = self._settings.expiry_ms if period_ms < 0 else period_ms
        return await self._change_expiry(principal, hmac, period)

    async def expire(self, principal: Principal, hmac: bytes, period_ms: int) -> int:
        """Sets the expiry time of a token and returns it; a negative period deletes the token."""
        if period_ms >= 0:
            return await self._change_expiry(principal, hmac, period_ms)
        token = self._find(principal, hmac)
        await self._delete(token.token_id)
        return self._clock.now_ms()

    async def delete_expired(self) -> None:
        """Deletes the expired tokens; each broker does this, only the first has an effect."""
        now_ms = self._clock.now_ms()
        for token in [token for token in self._tokens.values() if token.is_expired(now_ms)]:
            await self._delete(token.token_id)

    async def _change_expiry(self, principal: Principal, hmac: bytes, period_ms: int) -> int:
        token_id = self._find(principal, hmac).token_id
        for _ in range(_ATTEMPTS):
            token, version = await self._read(token_id)
            if token is None:
                raise BrokerError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
            now_ms = self._clock.now_ms()
            if token.is_expired(now_ms):
                raise BrokerError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
            token = token.expiring_in(period_ms, now_ms)
            write = SetOp(paths.delegation_token(token_id), _node(token).encode(), version)
            if await write_if_unchanged(self._tree, [write, _notify(token_id)]):
                self._put(token)
                return token.expires_ms
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the token is changed concurrently")

    def _find(self, principal: Principal, hmac: bytes) -> TokenInformation:
        token = self._tokens.get(self._ids_by_hmac.get(hmac, ""))
        if token is None:
            raise BrokerError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        if not token.may_be_changed_by(principal):
            raise BrokerError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
        return token

    async def _delete(self, token_id: str) -> None:
        with contextlib.suppress(NoNodeError):  # another broker deleted it
            await self._write(DeleteOp(paths.delegation_token(token_id)), token_id)
        self._forget(token_id)

    async def _write(self, change: Op, token_id: str) -> None:
        try:
            await self._tree.multi([change, _notify(token_id)])
        except MultiError as error:
            raise error.cause from error

    # --- the cache -------------------------------------------------------------------------

    async def _reload(self, notification: bytes) -> None:
        token_id = notification.decode()
        token, _ = await self._read(token_id)
        if token is None:
            self._forget(token_id)
        else:
            self._put(token)

    async def _read(self, token_id: str) -> tuple[TokenInformation | None, int]:
        try:
            data, stat = await self._tree.get(paths.delegation_token(token_id))
        except NoNodeError:
            return None, -1
        return _token(DelegationTokenNode.decode(data)), stat.version

    def _put(self, token: TokenInformation) -> None:
        self._tokens[token.token_id] = token
        self._ids_by_hmac[self.hmac_of(token)] = token.token_id

    def _forget(self, token_id: str) -> None:
        self._tokens.pop(token_id, None)
        self._ids_by_hmac.pop(self._keys.hmac(token_id), None)
        for mechanism in SCRAM_HASHES:
            self._credentials.pop((token_id, mechanism), None)


TokenSource = Callable[[], DelegationTokens | None]
"""Returns the tokens of a broker; None if it has no secret key for them."""


def _notify(token_id: str) -> Op:
    prefix = paths.DELEGATION_TOKEN_CHANGE_PREFIX
    return CreateOp(prefix, token_id.encode(), sequential=True)


def _node(token: TokenInformation) -> DelegationTokenNode:
    return DelegationTokenNode(
        token.token_id,
        str(token.owner),
        str(token.requester),
        tuple(map(str, token.renewers)),
        token.issued_ms,
        token.max_ms,
        token.expires_ms,
    )


def _token(node: DelegationTokenNode) -> TokenInformation:
    return TokenInformation(
        node.token_id,
        Principal.parse(node.owner),
        Principal.parse(node.requester),
        tuple(map(Principal.parse, node.renewers)),
        node.issued_ms,
        node.max_ms,
        node.expires_ms,
    )
