"""Time until the console's first page is there, in a new browser and with a filled cache.

Prints the median of some turns, in milliseconds since the start of the navigation: first byte of
the page, first paint of contents, the frame (heading and navigation), the contents (figures or a
table), the complete page (charts included); the CPU time that the console spent on the page; then
the requests that took longest in the last turn with an empty cache. Needs Chromium and its driver.

    python -m benchmarks.console_page [--turns 5] [--path /]
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from barnabas.testing import Broker

_FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
_OBSERVE = """
window.seen = {};
const note = () => {
  if (!seen.frame && document.querySelector("main h1")) seen.frame = performance.now();
  if (!seen.contents && document.querySelector("main dl, main table"))
    seen.contents = performance.now();
  if (!seen.complete && document.querySelector("main[data-ready]"))
    seen.complete = performance.now();
};
new MutationObserver(note).observe(document, {subtree: true, childList: true, attributes: true});
"""
_TIMES = """
const page = performance.getEntriesByType("navigation")[0];
const paint = performance.getEntriesByName("first-contentful-paint")[0];
const files = performance.getEntriesByType("resource").map(item => ({
  name: item.name.replace(location.origin, "").replace(/^.*_nicegui\\/[^/]*/, ""),
  start: item.startTime, end: item.responseEnd, bytes: item.transferSize}));
return {first_byte: page.responseStart, paint: paint ? paint.startTime : null, ...seen, files};
"""
_STEPS = ("first_byte", "paint", "frame", "contents", "complete", "console_cpu")
_TIMEOUT_S = 30


@contextmanager
def console(bootstrap: str) -> Iterator[tuple[str, int]]:
    """Yields the address and the process id of a console."""
    command = [sys.executable, "-m", "barnabas.cli.main", "console", "-b", bootstrap, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1], process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """A browser with a new profile, so with an empty cache."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in _FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _OBSERVE})
    try:
        yield driver
    finally:
        driver.quit()


def cpu_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(driver: webdriver.Chrome, address: str, pid: int) -> dict[str, Any]:
    before = cpu_ms(pid)
    driver.get(address)
    waiting = WebDriverWait(driver, _TIMEOUT_S, poll_frequency=0.02)
    waiting.until(lambda shown: shown.execute_script("return seen.complete"))
    times: dict[str, Any] = driver.execute_script(_TIMES)
    times["console_cpu"] = cpu_ms(pid) - before
    driver.get("about:blank")
    return times


def report(title: str, turns: list[dict[str, Any]]) -> None:
    print(f"{title}: ", end="")
    medians = {step: statistics.median(turn[step] or 0.0 for turn in turns) for step in _STEPS}
    print(", ".join(f"{step.replace('_', ' ')} {value:.0f}" for step, value in medians.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time of the console's first page")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--path", default="/")
    arguments = parser.parse_args()
    new: list[dict[str, Any]] = []
    cached: list[dict[str, Any]] = []
    with Broker() as broker, console(broker.bootstrap_servers) as (url, pid):
        for _ in range(arguments.turns):
            with browser() as driver:
                new.append(load(driver, url + arguments.path, pid))
                cached.append(load(driver, url + arguments.path, pid))
    report("new browser, ms", new)
    report("cached, ms", cached)
    files = sorted(new[-1]["files"], key=lambda item: item["start"] - item["end"])
    total = sum(item["bytes"] for item in files)
    print(f"{len(files)} files, {total / 1024:.0f} KiB; the slowest:")
    for item in files[:12]:
        size, name = item["bytes"] / 1024, item["name"][:70]
        print(f"{item['start']:7.0f} to {item['end']:5.0f} ms {size:7.0f} KiB  {name}")


if __name__ == "__main__":
    main()
