"""Data of the nodes below /config, /kafka-acl and /delegation_token."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from barnabas.zk.paths import desanitize, sanitize
from barnabas.zk.znodes import decode_json, encode_json


@dataclass(frozen=True, slots=True)
class ConfigNode:
    """The node /config/<kind>/<name>: all values are text."""

    values: Mapping[str, str]

    def encode(self) -> bytes:
        return encode_json({"version": 1, "config": dict(self.values)})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Decodes a node; an empty node, left by an interrupted writer, has no values."""
        value: dict[str, Any] = decode_json(data) if data else {}
        return cls({str(k): str(v) for k, v in value.get("config", {}).items()})


@dataclass(frozen=True, slots=True)
class ConfigChangeNode:
    """The node /config/changes/config_change_N: the entity to read again."""

    entity_path: str

    def encode(self) -> bytes:
        return encode_json({"version": 2, "entity_path": self.entity_path})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        value = decode_json(data)
        if value.get("version") == 1:
            return cls(f"{value['entity_type']}/{value['entity_name']}")
        return cls(str(value["entity_path"]))


@dataclass(frozen=True, slots=True, order=True)
class Acl:
    """One entry of an access list, with the names in the node."""

    principal: str
    permission: str
    operation: str
    host: str


@dataclass(frozen=True, slots=True)
class AclNode:
    """The node /kafka-acl/<Type>/<name>."""

    acls: tuple[Acl, ...]

    def encode(self) -> bytes:
        listed = [
            {
                "principal": acl.principal,
                "permissionType": acl.permission,
                "operation": acl.operation,
                "host": acl.host,
            }
            for acl in self.acls
        ]
        return encode_json({"version": 1, "acls": listed})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        listed = decode_json(data).get("acls", []) if data else []
        return cls(
            tuple(
                Acl(e["principal"], e["permissionType"], e["operation"], e["host"]) for e in listed
            )
        )


@dataclass(frozen=True, slots=True)
class AclChangeNode:
    """A change notification: plain `Topic:name` for literal patterns, JSON for all others."""

    resource_type: str
    name: str
    pattern_type: str = "Literal"

    def encode(self) -> bytes:
        if self.pattern_type == "Literal":
            return f"{self.resource_type}:{self.name}".encode()
        return encode_json(
            {
                "version": 1,
                "resourceType": self.resource_type,
                "name": self.name,
                "patternType": self.pattern_type,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        if not data.startswith(b"{"):
            kind, _, name = data.decode(errors="replace").partition(":")
            return cls(kind, name)
        value = decode_json(data)
        return cls(str(value["resourceType"]), str(value["name"]), str(value["patternType"]))

    def words(self) -> tuple[str, str, str]:
        """Resource type, pattern type and name."""
        return self.resource_type, self.pattern_type, self.name


@dataclass(frozen=True, slots=True)
class DelegationTokenNode:
    """The node /delegation_token/tokens/<id>, version 3; principals are sanitized texts."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issued_ms: int
    max_ms: int
    expires_ms: int

    def encode(self) -> bytes:
        return encode_json(
            {
                "version": 3,
                "owner": sanitize(self.owner),
                "tokenRequester": sanitize(self.requester),
                "renewers": [sanitize(renewer) for renewer in self.renewers],
                "issueTimestamp": self.issued_ms,
                "maxTimestamp": self.max_ms,
                "expiryTimestamp": self.expires_ms,
                "tokenId": self.token_id,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Decodes all versions; before version 3 the owner is the requester."""
        value = decode_json(data)
        owner = desanitize(str(value["owner"]))
        requester = value.get("tokenRequester")
        return cls(
            str(value["tokenId"]),
            owner,
            owner if requester is None else desanitize(str(requester)),
            tuple(desanitize(str(renewer)) for renewer in value.get("renewers", [])),
            int(value["issueTimestamp"]),
            int(value["maxTimestamp"]),
            int(value["expiryTimestamp"]),
        )
