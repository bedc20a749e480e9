"""Every page in a dark and a light window, wide and narrow: pictures, and no text beyond the edge.

The pictures are in build/console. The short form opens every page in the dark window and some in
the light one; `make soak` opens every page in both.
"""

import json
from urllib.parse import quote

import pytest
from selenium.common.exceptions import TimeoutException
from support.console.browser import NARROW, WIDE
from support.soak import SOAK

from barnabas import Consumer, Producer
from barnabas.spark.pipeline_registry import PipelineRegistry

NAME = "every-page"
LONG = "a-topic-with-a-rather-long-name.of-the-department.for-tests.v2"
SIZES = {"wide": WIDE, "narrow": NARROW}
TABS = {
    "Configuration": "Rows per page",
    "Log directories": "online",
    "Reassignments": "No reassignment is in progress",
    "Elections": "preferred election",
    "Transactions": "Hanging transactions",
    "Access": "SCRAM users",
    "Quotas": "No quotas are set",
    "Versions": "FETCH",
}
PAGES = {
    "overview": ("/", "No problems found"),
    "topics": ("/topics", LONG),
    "topic": (f"/topics/{LONG}", "retention.ms"),
    "records": (f"/topics/{LONG}/records", "50 of about 60 records"),
    "record": (f"/topics/{LONG}/records/0/1", "json"),
    "groups": ("/groups", NAME),
    "group": (f"/groups/{NAME}", "Committed"),
    "pipelines": ("/pipelines", NAME),
    "pipeline": (f"/pipelines/{NAME}", "CAST_INVALID_INPUT"),
    "sql": ("/sql", "Streams and tables"),
    "dead-letters": (f"/dead-letters?topic={NAME}.dlq", "1 letter"),
    **{
        f"cluster-{name.lower().replace(' ', '-')}": (f"/cluster?tab={quote(name)}", text)
        for name, text in TABS.items()
    },
    "api": ("/api-reference", "/api/v1/topics"),
}
"""Address of each page, and a text that it shows when it is complete."""
IN_THE_LIGHT = PAGES if SOAK else ("overview", "topic", "records", "group", "cluster-configuration")


@pytest.fixture(scope="module")
def contents(admin, broker, state_dir):
    """Records, a group with a member, dead letters, and a failed pipeline."""
    servers = {"bootstrap.servers": broker.bootstrap_servers}
    admin.create_topic(LONG, partitions=3)
    admin.create_topic(f"{NAME}.dlq")
    with Producer(servers) as producer:
        for number in range(60):
            document = {"order": number, "note": "words " * (number % 30)}
            producer.send(
                LONG, json.dumps(document), key=f"customer-{number}", headers={"source": b"shop"}
            )
        letter = {"dlq.topic": LONG.encode(), "dlq.error.class": b"ValueError"}
        letter["dlq.error.message"] = b"no JSON object could be decoded in column 1 of the value"
        producer.send(f"{NAME}.dlq", b"broken", headers=letter)
    write_pipeline(state_dir)
    with Consumer(servers, group_id=NAME, client_id="a-client-with-a-long-name") as consumer:
        consumer.subscribe([LONG])
        consumer.wait_for_assignment(30)
        yield


def write_pipeline(state_dir):
    figures = {"batch": 41, "rows": 0, "rows_per_second": 0.0, "lag": 12, "batch_ms": 95}
    figures |= {"phases": {"addBatch": 80, "walCommit": 10}, "state_rows": 5, "state_bytes": 640}
    error = "pipeline.yaml: the query has failed: [CAST_INVALID_INPUT] " + "the value is wrong " * 9
    PipelineRegistry(state_dir).write(
        NAME,
        {
            "name": NAME,
            "state": "failed",
            "error": error,
            "file": "/srv/pipelines/every-page.py",
            "checkpoint": "/srv/checkpoints/every-page",
            "started": "2026-11-17T08:05:23+00:00",
            "updated": "2026-11-17T08:06:23+00:00",
            **figures,
        },
    )


@pytest.mark.parametrize(
    ("theme", "windows", "names"),
    [("dark", ("wide", "narrow"), PAGES), ("light", ("narrow", "wide"), IN_THE_LIGHT)],
    ids=["dark", "light"],
)
def test_every_page_fits_its_window(browser, contents, theme, windows, names):
    """Each page is opened in the first window, which then gets the size of the second."""
    browser.open("/topics")
    cookie = {"name": "console_theme", "value": theme, "path": "/"}
    browser.driver.add_cookie(cookie)
    wider = {}
    for name in names:
        path, text = PAGES[name]
        browser.resize(SIZES[windows[0]])
        browser.open(path)
        dark = browser.driver.find_elements("css selector", "body.body--dark")
        assert bool(dark) == (theme == "dark")
        browser.shows(text)
        show(browser, f"all-{name}-{theme}", windows, wider)
        for tab in ("Members", "Rebalances") if name == "group" else ():
            browser.tab(tab)
            show(browser, f"all-group-{tab.lower()}-{theme}", windows, wider)
    browser.driver.delete_all_cookies()
    assert wider == {}


def show(browser, name, windows, wider):
    """Takes pictures when everything is there; adds a page to `wider` if it does not fit."""
    loading = '[aria-label="loading"], main .q-spinner, main .q-table__progress'
    for window in windows:
        browser.resize(SIZES[window])
        browser.wait(lambda: not browser.driver.find_elements("css selector", loading))
        try:
            browser.wait(lambda: browser.overflow() <= 0, seconds=5)  # it is drawn again
        except TimeoutException:
            wider[f"{name}-{window}"] = browser.overflow()
        browser.picture(f"{name}-{window}")
