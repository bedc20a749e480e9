"""The frame of every page: navigation, breadcrumbs, theme and the area for the contents."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from nicegui import ui

from barnabas.console.api_client import JsonObject
from barnabas.console.pages.view import View

PRIMARY = "#0b6e6e"


class Breadcrumb(NamedTuple):
    label: str
    path: str


class Destination(NamedTuple):
    label: str
    path: str
    icon: str


NAVIGATION: tuple[Destination, ...] = (
    Destination("Overview", "/", "dashboard"),
    Destination("Topics", "/topics", "topic"),
    Destination("Groups", "/groups", "groups"),
    Destination("Pipelines", "/pipelines", "account_tree"),
    Destination("Dead letters", "/dead-letters", "report"),
    Destination("SQL", "/sql", "terminal"),
    Destination("Cluster", "/cluster", "dns"),
    Destination("API", "/api-reference", "api"),
)

_CSS = """
.console-content { padding: 16px 24px; width: 100%; max-width: 1680px; margin: 0 auto; gap: 16px; }
.q-header { align-items: center !important; min-height: 48px; }
.console-content h1 { font-size: 1.5rem; font-weight: 600; line-height: 1.3; margin: 0;
  overflow-wrap: anywhere; }
.console-content h2, .q-dialog h2 { font-size: 1.1rem; font-weight: 600; line-height: 1.3;
  margin: 0; }
.console-nav { width: 100%; }
.console-area { display: contents; }
.console-outage { width: 100%; gap: 12px; padding: 10px 14px; border-radius: 6px;
  border: 1px solid #c10015; background: rgba(193, 0, 21, .12); }
.console-crumbs { min-width: 0; flex: 0 1 auto; overflow: hidden; }
.console-nav a { color: inherit; text-decoration: none; border-radius: 6px; }
.console-nav a.active { background: rgba(11, 110, 110, .16); font-weight: 600; }
.console-mono { font-family: ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace; }
.console-wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
.console-muted { opacity: .72; }
.console-row { width: 100%; display: flex; gap: 12px; align-items: center; flex-wrap: wrap; }
.console-table { width: 100%; }
.console-table td { overflow-wrap: break-word; max-width: 420px; vertical-align: top; }
.console-table td.console-anywhere { overflow-wrap: anywhere; }
.console-table a, .console-link { color: var(--q-primary); }
.body--dark .console-table a, .body--dark .console-link { color: #5fc7c7; }
.body--dark .text-primary { --q-primary: #5fc7c7; }
.body--dark .text-negative { --q-negative: #ff8a80; }
.body--dark .cm-editor { filter: invert(0.88) hue-rotate(180deg); }
.q-notification__caption { white-space: pre-wrap; overflow-wrap: anywhere; }
.console-table td.console-name { overflow-wrap: anywhere; min-width: 160px; }
.console-skip { position: absolute; left: -1000px; }
.console-skip:focus { left: 8px; top: 8px; z-index: 9999; background: #fff; padding: 8px; }
.console-card { width: 100%; }
.console-grid { display: grid; width: 100%; gap: 16px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); }
.console-figures { display: grid; gap: 12px; width: 100%; margin: 0;
  grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); }
.console-figure { gap: 4px; padding: 10px 14px; }
.console-figure dd { margin: 0; font-size: 1.15rem; font-weight: 600; }
.console-small, .console-figure dd.console-small { font-size: .8rem; }
.console-picture { border-collapse: collapse; width: 100%; }
.console-picture th, .console-picture td { padding: 4px 8px; text-align: left; font-weight: 500;
  border-bottom: 1px solid rgba(128, 128, 128, .25); vertical-align: middle; }
.console-picture .wide { width: 60%; min-width: 180px; }
.console-replica { border-radius: 6px; padding: 2px 8px; font-size: .8rem; line-height: 1.25;
  border: 2px solid transparent; min-width: 84px; }
.console-replica.leader { background: rgba(11, 143, 143, .28); border-color: #0b8f8f; }
.console-replica.follower { border-color: #0b8f8f; }
.console-replica.behind { border-color: #d97706; background: rgba(217, 119, 6, .2); }
.console-replica.offline { border-color: #c10015; background: rgba(193, 0, 21, .15); }
.console-log { position: relative; height: 14px; border-radius: 4px;
  background: rgba(128, 128, 128, .18); }
.console-log-fill { position: absolute; top: 0; bottom: 0; min-width: 2px; border-radius: 4px;
  background: rgba(11, 143, 143, .6); }
.console-log-mark { position: absolute; top: -3px; bottom: -3px; width: 4px; margin-left: -2px;
  background: #d97706; border-radius: 2px; }
@media (max-width: 600px) {
  .console-content { padding: 12px 8px; }
  .console-table td { max-width: 260px; }
}
"""


_LOG_OUT = """
const session = await (await fetch("/api/v1/session")).json();
await fetch("/api/v1/session", {method: "DELETE", headers: {"x-csrf-token": session.csrf_token}});
location.assign("/login");
"""


class Frame(NamedTuple):
    """Elements of the frame; `area` is for the contents of the page."""

    main: ui.element
    banner: ui.element
    area: ui.element


def draw_frame(view: View, parents: Sequence[Breadcrumb], theme: str | None) -> Frame:
    """Creates the frame of a page."""
    ui.add_css(_CSS)
    ui.colors(primary=PRIMARY)
    dark = ui.dark_mode({"dark": True, "light": False}.get(theme or ""))
    # The layout puts the header and the navigation first; the index makes this the first stop.
    skip = ui.link("Skip to the contents", "#contents").classes("console-skip")
    skip.props("tabindex=1")
    drawer = ui.left_drawer(value=None, bordered=True).props("width=210 breakpoint=900")
    # The library would ask each new page for the state of its drawer and raise an exception if the
    # browser takes more than a second or the tab is closed. The browser keeps the state itself.
    ui.context.client.connect_handlers.clear()
    with ui.header(elevated=False).classes("items-center q-px-sm q-py-xs no-wrap"):
        ui.button(icon="menu", on_click=drawer.toggle).props(
            'flat round dense color=white aria-label="Show or hide the navigation"'
        )
        _breadcrumbs(view, parents)
        ui.space()
        _theme_button(dark)
        _user_badge(view)
    with drawer, ui.element("nav").classes("console-nav q-gutter-y-xs").props('aria-label="Main"'):
        _navigation(view)
    content = ui.element("main").classes("console-content column no-wrap").props("id=contents")
    with content:
        banner = ui.element("div").classes("console-outage row items-center no-wrap")
        banner.props("role=alert").set_visibility(False)
        heading(view.title)
        area = ui.element("div").classes("console-area")
    return Frame(content, banner, area)


def watch_connection(view: View, banner: ui.element) -> None:
    """Shows in the banner that no broker answers, and reads the page again when one does."""

    async def show(state: JsonObject) -> None:
        was_shown = banner.visible
        banner.set_visibility(not state["reachable"])
        banner.clear()
        if not state["reachable"]:
            with banner:
                _outage(state)
        elif was_shown:
            await view.recover()

    view.live("/cluster/connection/live", show)


def _outage(state: JsonObject) -> None:
    ui.icon("cloud_off", size="24px").props("aria-hidden=true")
    with ui.column().classes("col").style("gap: 2px; min-width: 0"):
        ui.label(f"The cluster does not answer: {state['message']}").classes("console-wrap")
        ui.label(_age_text(state["last_answer"])).classes("console-small console-wrap")


def _age_text(last_answer: str | None) -> str:
    """Returns since when the data of a page is old."""
    repeated = "The page is read again as soon as a broker answers."
    if last_answer is None:
        return f"No broker has answered since the console was started. {repeated}"
    at = datetime.fromisoformat(last_answer).astimezone(UTC)
    return f"Shown data was read before {at:%Y-%m-%d %H:%M:%S} UTC. {repeated}"


def heading(text: str, level: int = 1) -> None:
    """Creates a heading; its text is never interpreted as HTML."""
    with ui.element(f"h{level}"):
        ui.label(text)


def _breadcrumbs(view: View, parents: Sequence[Breadcrumb]) -> None:
    with (
        ui.element("nav")
        .props('aria-label="Breadcrumb"')
        .classes("row items-center no-wrap console-crumbs")
    ):
        for parent in parents:
            ui.link(parent.label, parent.path).classes("text-white q-mx-xs")
            ui.label("/").classes("q-mx-xs").props("aria-hidden=true")
        ui.label(view.title).classes("ellipsis q-mx-xs").props("aria-current=page")


def _navigation(view: View) -> None:
    here = ui.context.client.page.path
    for item in NAVIGATION:
        active = here == item.path or (item.path != "/" and here.startswith(item.path + "/"))
        link = ui.link(target=item.path).classes("row items-center q-pa-sm full-width")
        if active:
            link.classes("active").props("aria-current=page")
        with link:
            ui.icon(item.icon, size="20px").classes("q-mr-sm").props("aria-hidden=true")
            ui.label(item.label)
    ui.separator()
    ui.label(view.bootstrap).classes("console-muted console-wrap q-pa-sm").props(
        'aria-label="cluster"'
    )


def _theme_button(dark: ui.dark_mode) -> None:
    def switch() -> None:
        dark.value = not dark.value
        name = "dark" if dark.value else "light"
        ui.run_javascript(
            f"document.cookie = 'console_theme={name}; path=/; max-age=31536000; samesite=strict'"
        )

    ui.button(icon="contrast", on_click=switch).props(
        'flat round dense color=white aria-label="Switch between dark and light"'
    )


def _user_badge(view: View) -> None:
    principal = view.api.principal
    name = "-" if principal is None else principal.name
    role = "" if principal is None else principal.role.name.lower()
    text = "read-only" if view.read_only else role
    ui.label(f"{name} ({text})").classes("gt-xs q-mx-sm").props('aria-label="user and role"')
    if view.may_log_out:
        ui.button(icon="logout", on_click=lambda: ui.run_javascript(_LOG_OUT)).props(
            'flat round dense color=white aria-label="Log out"'
        )
