"""Pages of the console as NiceGUI gets them."""

import asyncio

from fastapi import FastAPI

from barnabas.console.pages import site


def test_a_page_may_take_long_on_a_busy_machine(monkeypatch):
    limits = []

    def page(path, *, response_timeout=3.0):  # NiceGUI's default
        limits.append(response_timeout)
        return lambda handle: handle

    monkeypatch.setattr(site.ui, "page", page)
    site.Site(FastAPI(), None).page("/slow", "Slow", None)
    assert limits == [60.0]


async def test_the_tasks_of_open_pages_end_before_nicegui_counts_two_seconds(monkeypatch):
    ended = []

    async def page():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("page")

    tasks = {asyncio.create_task(page())}
    await asyncio.sleep(0)
    monkeypatch.setattr(site.background_tasks, "running_tasks", tasks)
    await site.end_tasks()
    assert ended == ["page"]
