"""No sequence of SASL requests authenticates a connection without the right password."""

import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.security.sasl_attacker import MECHANISMS, PASSWORD, USER, Attacker, fast_pbkdf2

SEQUENCES = 20_000
LOGINS = [(USER, PASSWORD), (USER, "wrong"), ("nobody", PASSWORD)]


@pytest.fixture(autouse=True)
def _remembered_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.security.scram_keys.hashlib.pbkdf2_hmac", fast_pbkdf2)


class SaslMachine(RuleBasedStateMachine):
    @initialize()
    def connect(self) -> None:
        self.attacker = Attacker()

    @rule(
        mechanism=st.sampled_from([*MECHANISMS, "GSSAPI", ""]),
        login=st.sampled_from(LOGINS),
    )
    def handshake(self, mechanism: str, login: tuple[str, str]) -> None:
        self.attacker.handshake(mechanism, *login)

    @rule()
    def follow(self) -> None:
        self.attacker.follow()

    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        self.attacker.send(data.draw(st.sampled_from(self.attacker.seen)))

    @rule(seed=st.integers(0, 2**32))
    def change(self, seed: int) -> None:
        self.attacker.send_changed(random.Random(seed))

    @rule(token=st.binary(max_size=60))
    def noise(self, token: bytes) -> None:
        self.attacker.send(token)

    @invariant()
    def only_the_honest_get_in(self) -> None:
        self.attacker.check()


SaslMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=12, deadline=None)


class TestSaslMachine(SaslMachine.TestCase):  # type: ignore[misc,name-defined]
    pass


def test_many_seeded_sequences() -> None:
    rng = random.Random(17)
    authenticated = 0
    for _ in range(SEQUENCES):
        attacker = Attacker()
        mechanism = rng.choice(MECHANISMS)
        login = LOGINS[0] if rng.random() < 0.5 else rng.choice(LOGINS)
        attacker.handshake(mechanism, *login)
        for _ in range(rng.randrange(1, 5)):
            _random_move(attacker, rng)
            attacker.check()
        authenticated += attacker.authenticated
    assert authenticated > SEQUENCES // 20


def _random_move(attacker: Attacker, rng: random.Random) -> None:
    move = rng.random()
    if move < 0.7:
        attacker.follow()
    elif move < 0.8:
        attacker.send_changed(rng)
    elif move < 0.9:
        attacker.send(rng.choice(attacker.seen))
    else:
        attacker.handshake(rng.choice(MECHANISMS), *rng.choice(LOGINS))
