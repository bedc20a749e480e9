"""Two stages of consume-transform-produce, several members each: every record once, in order."""

import pytest
from support.groups.foreign_groups import create_topic
from support.transactions.chain import problems, run_chain

pytestmark = pytest.mark.compat

RECORDS = 1000


def test_every_record_goes_through_the_chain_once(broker, topic_name):
    topics = [f"{topic_name}-{stage}" for stage in range(3)]
    for topic in topics:
        create_topic(broker, topic, 7)
    copiers, found = run_chain(broker.bootstrap_servers, topics, RECORDS)
    assert [copier.error for copier in copiers if copier.error] == []
    assert problems(found, RECORDS) == {"lost": 0, "doubled": 0, "reordered": 0}
