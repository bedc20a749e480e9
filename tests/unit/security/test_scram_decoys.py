"""Credentials of unknown users have the forms of stored ones."""

import re
from collections import Counter

from barnabas.security.scram_keys import (
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    DecoyCredentials,
    ScramCredential,
)

NAMES = [f"user-{number}" for number in range(1_000)]


def stored(salt: bytes, iterations: int = 8192) -> ScramCredential:
    return ScramCredential(salt, b"stored", b"server", iterations)


def forms(decoys: DecoyCredentials) -> Counter[tuple[int, int]]:
    made = [decoys.credential(name) for name in NAMES]
    return Counter((len(each.salt), each.iterations) for each in made)


def test_the_only_form_in_use_is_copied() -> None:
    decoys = DecoyCredentials(SCRAM_SHA_256, b"secret", [stored(b"\x00" * 64, 10_000)])
    assert forms(decoys) == {(64, 10_000): 1_000}


def test_forms_come_up_as_often_as_among_stored_users() -> None:
    users = [stored(b"\x00" * 24)] * 3 + [stored(b"\x00" * 8, 4096)]
    found = forms(DecoyCredentials(SCRAM_SHA_256, b"secret", users))
    assert set(found) == {(24, 8192), (8, 4096)}
    assert 650 < found[24, 8192] < 850


def test_salts_look_like_those_of_kafkas_tools_where_these_are_used() -> None:
    decoys = DecoyCredentials(
        SCRAM_SHA_512, b"secret", [stored(b"1bq8bcqf1wzk0g5odxyk1tkbnn", 4096)]
    )
    salts = [decoys.credential(name).salt for name in NAMES]
    assert all(re.fullmatch(rb"[0-9a-z]{22,25}|1[0-9a-z]{25}", salt) for salt in salts)
    assert len({len(salt) for salt in salts}) > 1


def test_a_name_has_one_credential_on_every_broker() -> None:
    here, there = (DecoyCredentials(SCRAM_SHA_256, b"secret") for _ in range(2))
    assert here.credential("ann") == there.credential("ann")
    assert here.credential("ann").salt != here.credential("bob").salt
    other = DecoyCredentials(SCRAM_SHA_512, b"secret").credential("ann")
    assert here.credential("ann").salt != other.salt


def test_a_new_user_changes_few_names() -> None:
    users = [stored(b"\x00" * 24)] * 50 + [stored(b"\x00" * 8)] * 50
    before = DecoyCredentials(SCRAM_SHA_256, b"secret", users)
    after = DecoyCredentials(SCRAM_SHA_256, b"secret", [*users, stored(b"\x00" * 24)])
    changed = sum(before.credential(name) != after.credential(name) for name in NAMES)
    assert changed < 20
