"""What a reader sees in a browser: the run in Prefect's UI, its artifacts, the report.

Pictures of every page are kept in `.screenshots/`, to be looked at.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from deployments.automations import ALERT, ZOMBIES
from flows.process import SOME_REJECTED
from tasks.errors import NothingToRelease
from tests.helpers.generated import generated_lines
from tests.helpers.receiver import Alerts
from tests.helpers.services import ROOT, Services, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.prefect]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PICTURES = ROOT / ".screenshots"
VIEWS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]
MISSING_IN_PREFECT = ("/ico/undefined.svg", "/favicon.ico", "/favicon-dark.ico")
"""Small pictures that Prefect 3.8.8's own page asks for in vain."""
AT_HOME = ("http://127.0.0.1:", "ws://127.0.0.1:", "blob:http://127.0.0.1:", "data:", "file:")
FIGURES = 3
each_view = pytest.mark.parametrize(("scheme", "width"), VIEWS)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(
            f"no browser: none of {', '.join(BROWSERS)} is installed (apt install chromium)"
        )
    with sync_playwright() as driver:
        # As root, as in most containers, Chromium starts without its sandbox only.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        running = driver.chromium.launch(executable_path=found, args=arguments)
        yield running
        running.close()


@pytest.fixture(scope="module")
def services(
    store: Path, alerts: Alerts, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Services]:
    made = Services(tmp_path_factory.mktemp("pages"), {"LOGVEIL_ALERT_URL": alerts[0]})
    made.prepare(store, on_arrival=True)
    made.up()
    try:
        header, rows = generated_lines(6000, 500, 9)
        made.drop("bad.tsv", "nothing that is known\n" * 3)
        made.drop("log.tsv", header + "".join(rows))
        wait_for("a release", made.done)
        yield made
    finally:
        made.run("down")


@pytest.fixture(scope="module")
def run(services: Services) -> dict[str, Any]:
    """The run of the file that was published, which is part of the run of its inbox."""
    return services.file_run("log.tsv", "Completed")


class Visit:
    """A page in one colour scheme and width, and what its console complained of."""

    def __init__(self, browser: Browser, scheme: Any, width: int, credential: str) -> None:
        self._name = f"{scheme}-{width}"
        self._width = width
        size: Any = {"width": width, "height": 900}
        self.page: Page = browser.new_page(color_scheme=scheme, viewport=size)
        # Prefect's page does not ask the browser; its own switch is kept there.
        self.page.add_init_script(f"localStorage.setItem('color-scheme', '\"{scheme}\"')")
        # Where the page keeps what its reader has typed.
        token = base64.b64encode(credential.encode()).decode()
        self.page.add_init_script(f"localStorage.setItem('prefect-password', '{token}')")
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        self.page.on("console", self._listen)
        self.page.on("request", self._watch)

    def _listen(self, message: Any) -> None:
        if message.type == "error" and not message.location["url"].endswith(MISSING_IN_PREFECT):
            self.complaints.append(f"{message.text} {message.location['url']}")

    def _watch(self, request: Any) -> None:
        if not request.url.startswith(AT_HOME):
            self.complaints.append(f"asks {request.url}")

    def make_tall(self, height: int) -> None:
        """Show at once what would be scrolled to."""
        self.page.set_viewport_size({"width": self._width, "height": height})

    def keep(self, name: str, *, whole: bool = False) -> None:
        PICTURES.mkdir(exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}-{self._name}.png", full_page=whole)


@pytest.fixture
def visit(browser: Browser, services: Services, scheme: str, width: int) -> Iterator[Visit]:
    made = Visit(browser, scheme, width, services.credential)
    yield made
    made.page.close()


def overflow(page: Page) -> int:
    """Pixels by which a page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


@each_view
def test_the_report(visit: Visit, services: Services) -> None:
    (report,) = services.out.glob("edition-*/release-*/report.html")
    visit.page.goto(report.as_uri())
    drawn = visit.page.locator("figure svg")
    assert drawn.count() == FIGURES
    for place in range(FIGURES):
        box = drawn.nth(place).bounding_box()
        assert box is not None
        assert box["width"] > 250
        assert box["height"] > 60
        shapes = "rect, line, circle, polyline"
        assert drawn.nth(place).locator(shapes).count() > 3
    visit.keep("report", whole=True)
    assert overflow(visit.page) <= 0
    assert visit.complaints == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_page_asks_for_the_credential(browser: Browser, services: Services, host: str) -> None:
    page = browser.new_page()
    page.goto(f"http://{host}:{services.port}/deployments")
    page.get_by_role("button", name="Login").wait_for()
    assert page.get_by_text("logveil-inbox").count() == 0
    page.locator("input").fill(services.credential)
    page.get_by_role("button", name="Login").click()
    page.get_by_text("logveil-inbox").first.wait_for()
    page.close()


@each_view
def test_the_run_page(visit: Visit, services: Services, run: dict[str, Any]) -> None:
    visit.page.goto(f"{services.url}/runs/flow-run/{run['id']}")
    visit.page.get_by_text(run["name"]).first.wait_for()
    visit.page.get_by_text("Completed").first.wait_for()
    # The phases are drawn on a canvas, whose parts cannot be waited for.
    visit.page.wait_for_timeout(6000)
    visit.keep("run")
    visit.page.goto(f"{services.url}/artifacts")
    visit.page.get_by_text("cluster-progress").first.wait_for()
    visit.page.wait_for_timeout(1000)
    visit.keep("artifacts")
    assert visit.complaints == []


@each_view
def test_the_artifacts_of_the_run(visit: Visit, services: Services, run: dict[str, Any]) -> None:
    shown = services.artifacts(run)
    for key, says in {
        "release": "Some published rows",
        "measures": "rows published",
        "phases": "form clusters of k people",
    }.items():
        visit.page.goto(f"{services.url}/artifacts/artifact/{shown[key]['id']}")
        visit.page.get_by_text(says).first.wait_for()
        pictures = visit.page.locator("img[src^='data:image/svg+xml']")
        assert pictures.count() == (FIGURES if key == "release" else 0)
        for place in range(pictures.count()):
            assert pictures.nth(place).evaluate("picture => picture.naturalWidth") > 250
        visit.make_tall(6000 if key == "release" else 900)
        visit.page.wait_for_timeout(500)
        visit.keep(f"artifact-{key}")
    assert visit.complaints == []


@each_view
def test_the_report_is_a_link_away(visit: Visit, services: Services, run: dict[str, Any]) -> None:
    visit.page.goto(f"{services.url}/artifacts/artifact/{services.artifacts(run)['release']['id']}")
    link = visit.page.get_by_text("The whole report").first
    visit.page.goto(str(link.get_attribute("href")))
    visit.page.get_by_text("Every published row").first.wait_for()
    assert visit.page.url.startswith(f"{services.url}/reports/")
    # The test's own script: what the page keeps of the credential is out of a report's reach.
    assert all("localStorage" in each for each in visit.complaints)


def test_the_phases_are_a_graph(services: Services, run: dict[str, Any]) -> None:
    graph = services.ask(f"flow_runs/{run['id']}/graph-v2")
    label = {id: node["label"].split()[0] for id, node in graph["nodes"]}
    drawn = {
        (label[id], label[child["id"]]) for id, node in graph["nodes"] for child in node["children"]
    }
    assert {("read", "analyse"), ("analyse", "compare"), ("compare", "cluster")} <= drawn
    assert {("measure", "publish"), ("write", "verify"), ("verify", "publish")} <= drawn
    assert {"logveil", "sensitive", "strict", "k=5"} <= set(run["tags"])


@each_view
def test_a_bad_file_is_rejected_in_one_sentence(visit: Visit, services: Services) -> None:
    bad = services.file_run("bad.tsv", "Rejected")
    assert bad["state"]["message"].startswith("no column of")
    visit.page.goto(f"{services.url}/runs/flow-run/{bad['id']}")
    visit.page.get_by_text("Rejected").first.wait_for()
    visit.page.wait_for_timeout(6000)
    visit.keep("rejected")
    told = visit.page.content()
    assert "Traceback" not in told
    assert "encountered an exception" not in told
    assert visit.complaints == []
    (whole,) = services.flow_runs("Completed, some rejected")
    assert whole["state"]["message"].startswith("files: 1 released, 1 put aside")


def test_a_bad_file_among_good_ones_is_an_alert(
    services: Services, run: dict[str, Any], alerts: Alerts
) -> None:
    told, *_ = wait_for(
        "the alert", lambda: [each for each in alerts[1] if each["state"] == SOME_REJECTED]
    )
    assert f": {SOME_REJECTED}: files: 1 released, 1 put aside" in told["text"]
    assert told["text"].endswith(told["url"])


@each_view
def test_the_forms(visit: Visit, services: Services) -> None:
    for each in services.ask("deployments/filter", {}):
        visit.page.goto(f"{services.url}/deployments/deployment/{each['id']}/run")
        visit.page.get_by_text("How many people stand behind every published row").wait_for()
        asked = each["parameter_openapi_schema"]["properties"]["settings"]["properties"]
        assert set(asked) >= {"k", "l", "guarantee"}
        assert ("logs" in asked) == (each["name"] == "adhoc")
        visit.make_tall(1400)
        visit.keep(f"form-{each['name']}")
    assert visit.complaints == []


@each_view
def test_the_automations(visit: Visit, services: Services) -> None:
    visit.page.goto(f"{services.url}/automations")
    for name in ("inbox: files have arrived", ALERT, ZOMBIES):
        visit.page.get_by_text(name).first.wait_for()
    visit.keep("automations")
    assert visit.complaints == []


def test_events_tell_what_has_happened(services: Services, run: dict[str, Any]) -> None:
    header, rows = generated_lines(40, 3, 8)
    (services.folder / "logs" / "few.tsv").write_text(header + "".join(rows))
    adhoc = services.ask("deployments/name/logveil-release/adhoc")["id"]
    asked = {"settings": {"logs": [str(services.folder / "logs" / "few.tsv")]}}
    services.ask(f"deployments/{adhoc}/create_flow_run", {"parameters": asked})

    def told() -> dict[str, dict[str, Any]] | None:
        asked = {"filter": {"event": {"prefix": ["logveil."]}}}
        found = {each["event"]: each for each in services.ask("events/filter", asked)["events"]}
        return found if {"logveil.file.rejected", "logveil.release.refused"} <= set(found) else None

    found = wait_for("the events", told)
    assert set(found) == {
        "logveil.file.arrived",
        "logveil.file.rejected",
        "logveil.release.published",
        "logveil.release.refused",
        "logveil.rows.waiting",
    }
    assert found["logveil.release.published"]["payload"]["published"] > 0
    assert found["logveil.rows.waiting"]["payload"]["waiting"] > 0
    assert found["logveil.release.refused"]["payload"]["exit_code"] == NothingToRelease.exit_code
    assert found["logveil.file.rejected"]["resource"]["prefect.resource.name"] == "bad.tsv"
