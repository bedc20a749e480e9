import dataclasses

import pytest

from barnabas.groups.step import GroupConfig
from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.coordinators import GROUP_KEYS


def test_defaults_are_those_of_the_keys():
    assert GroupConfig.from_values(ConfigTable(GROUP_KEYS).parse({})) == GroupConfig()


def test_values_reach_the_config():
    given = {"offsets.retention.minutes": "2", "group_max_size": 7}
    config = GroupConfig.from_values(ConfigTable(GROUP_KEYS).parse(given))
    assert (config.offsets_retention_ms, config.max_size) == (120_000, 7)


@pytest.mark.parametrize(
    ("policy", "up", "down"),
    [
        ("disabled", False, False),
        ("upgrade", True, False),
        ("downgrade", False, True),
        ("bidirectional", True, True),
    ],
)
def test_the_migration_policy_allows_upgrade_and_downgrade(policy, up, down):
    config = dataclasses.replace(GroupConfig(), migration_policy=policy)
    assert (config.upgrade_allowed, config.downgrade_allowed) == (up, down)
