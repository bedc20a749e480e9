from barnabas.admin import AlterOperation, ConfigChange, ConfigResource, ConfigSource
from barnabas.model.config import ConfigType
from barnabas.wire.messages import alter_configs as replacing
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from barnabas.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.wire.messages.list_config_resources import ConfigResource as Listed
from barnabas.wire.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)


async def test_an_entry_in_full_and_a_secret_without_its_value(cluster, admin):
    entries = [
        DescribeConfigsResourceResult(
            name="retention.ms",
            value="5",
            config_source=1,
            synonyms=[DescribeConfigsSynonym("log.retention.ms", "7", 4)],
            config_type=5,
            documentation="how long",
        ),
        DescribeConfigsResourceResult(
            name="password", value="leaked", is_sensitive=True, config_source=99, config_type=0
        ),
    ]
    result = DescribeConfigsResult(resource_type=2, resource_name="t", configs=entries)
    cluster.on(DescribeConfigsRequest, DescribeConfigsResponse(results=[result]))
    topic = ConfigResource.topic("t")
    described = (await admin.describe_configs([topic], names=["retention.ms"], synonyms=True))[
        topic
    ]
    retention = described["retention.ms"]
    assert (retention.value, retention.source) == ("5", ConfigSource.DYNAMIC_TOPIC_CONFIG)
    assert not retention.is_default
    assert retention.type is ConfigType.LONG
    assert retention.synonyms[0].source is ConfigSource.STATIC_BROKER_CONFIG
    assert described["password"].value is None
    assert described["password"].source is ConfigSource.UNKNOWN
    ((_, request),) = cluster.asked(DescribeConfigsRequest)
    assert request.resources[0].configuration_keys == ["retention.ms"]
    assert request.include_synonyms


def altered(node, request):
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                resource_type=item.resource_type, resource_name=item.resource_name
            )
            for item in request.resources
        ]
    )


async def test_changes_short_and_in_full(cluster, admin):
    cluster.controller_id = 2
    cluster.on(IncrementalAlterConfigsRequest, altered)
    changes = {
        ConfigResource.topic("t"): {"retention.ms": 5, "segment.ms": None},
        ConfigResource.broker(3): [
            ConfigChange("listeners", "x", AlterOperation.APPEND),
        ],
    }
    (await admin.alter_configs(changes, validate_only=True)).check()
    asked = dict(cluster.asked(IncrementalAlterConfigsRequest))
    topic, broker = asked[2].resources[0], asked[3].resources[0]
    assert [(each.name, each.config_operation, each.value) for each in topic.configs] == [
        ("retention.ms", 0, "5"),
        ("segment.ms", 1, None),
    ]
    assert [(each.name, each.config_operation) for each in broker.configs] == [("listeners", 2)]
    assert asked[2].validate_only


async def test_the_clusters_defaults_go_to_the_controller(cluster, admin):
    cluster.controller_id = 2
    cluster.on(IncrementalAlterConfigsRequest, altered)
    (await admin.alter_configs({ConfigResource.broker(): {"a": "b"}})).check()
    assert [node for node, _ in cluster.asked(IncrementalAlterConfigsRequest)] == [2]


async def test_replacing_is_the_old_request(cluster, admin):
    cluster.on(
        replacing.AlterConfigsRequest,
        replacing.AlterConfigsResponse(
            responses=[replacing.AlterConfigsResourceResponse(resource_type=2, resource_name="t")]
        ),
    )
    (await admin.replace_configs({ConfigResource.topic("t"): {"a": "b"}})).check()
    ((_, request),) = cluster.asked(replacing.AlterConfigsRequest)
    assert [(each.name, each.value) for each in request.resources[0].configs] == [("a", "b")]


async def test_resources_with_settings(cluster, admin):
    response = ListConfigResourcesResponse(config_resources=[Listed("g", 32), Listed("t", 2)])
    cluster.on(ListConfigResourcesRequest, response)
    assert await admin.list_config_resources() == [
        ConfigResource.group("g"),
        ConfigResource.topic("t"),
    ]
