from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.coordinators import TRANSACTION_KEYS
from barnabas.transactions.requests import TransactionConfig


def test_the_defaults_are_those_of_the_keys() -> None:
    assert TransactionConfig.from_values(ConfigTable(TRANSACTION_KEYS).parse({})) == (
        TransactionConfig()
    )


def test_values_are_taken() -> None:
    given = {
        "transaction.max.timeout.ms": 5,
        "transactional.id.expiration.ms": 6,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 7,
        "transaction.remove.expired.transaction.cleanup.interval.ms": 8,
        "transaction.version": 1,
    }
    config = TransactionConfig.from_values(ConfigTable(TRANSACTION_KEYS).parse(given))
    assert config == TransactionConfig(5, 6, 7, 8, 1)
