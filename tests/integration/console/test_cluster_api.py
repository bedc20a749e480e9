"""The overview and the cluster through the API."""


async def test_the_overview_names_brokers_and_metadata(api):
    status, body = await api("GET", "/overview")
    assert (status, body["metadata"], len(body["brokers"])) == (200, "embedded", 1)
    assert body["brokers"][0]["controller"]
    assert body["brokers"][0]["disks"][0]["total_bytes"] > 0
    assert body["offline"] == 0


async def test_rates_follow_the_sampler(api):
    async for point in api.application.state.console.rates.follow():
        assert point.records_in >= 0
        break
    _, body = await api("GET", "/overview/rates")
    assert len(body["points"]) == 1


async def test_broker_configs_hide_secrets(api):
    _, overview = await api("GET", "/overview")
    broker = overview["brokers"][0]["id"]
    status, items = await api("GET", f"/cluster/brokers/{broker}/configs")
    assert status == 200
    secrets = [item for item in items if "password" in item["name"]]
    assert secrets
    assert all(item["value"] is None for item in secrets)


async def test_elections_reassignments_transactions_and_versions(api):
    status, body = await api("POST", "/cluster/elections", {})
    assert (status, body) == (200, {"elected": 0, "errors": {}})
    assert await api("GET", "/cluster/reassignments") == (200, [])
    assert (await api("GET", "/cluster/transactions"))[0] == 200
    assert await api("GET", "/cluster/transactions/hanging") == (200, [])
    _, versions = await api("GET", "/cluster/versions")
    assert {"name": "FETCH"}.items() <= next(
        item for item in versions["apis"] if item["key"] == 1
    ).items()


async def test_quotas_are_set_and_removed(api, topic_name):
    entity = {"user": topic_name, "values": {"producer_byte_rate": 1000.0}}
    assert (await api("PUT", "/cluster/quotas", entity))[0] == 204
    _, found = await api("GET", "/cluster/quotas")
    assert [item["values"] for item in found if item["user"] == topic_name] == [entity["values"]]
    await api("PUT", "/cluster/quotas", {**entity, "values": {"producer_byte_rate": None}})
    _, found = await api("GET", "/cluster/quotas")
    assert [item for item in found if item["user"] == topic_name] == []
    status, body = await api("PUT", "/cluster/quotas", {"values": {}})
    assert (status, body["code"]) == (400, "INVALID_REQUEST")


async def test_a_cluster_without_an_authorizer_reports_it(api):
    status, body = await api("GET", "/cluster/access")
    assert (status, body["authorizer"], body["acls"]) == (200, False, [])


async def test_the_tree_is_not_there_without_zookeeper(api):
    status, body = await api("GET", "/cluster/zookeeper")
    assert (status, body["code"]) == (404, "RESOURCE_NOT_FOUND")
