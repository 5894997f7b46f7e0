"""Pages in a real browser: Debian's chromium by Selenium, without a network; skipped with a reason elsewhere."""

import base64
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.evidence import cases, validate as judging
from dtnsim.ground import library
from dtnsim.report import costs, validation, whole
from dtnsim.simulation.fleet.run import fleet
from tests.report.test_whole import PATH

webdriver = pytest.importorskip("selenium.webdriver", reason="the browser test needs selenium")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not CHROMIUM or not DRIVER, reason="needs chromium and chromedriver: apt install chromium-driver"
    ),
    pytest.mark.filterwarnings("ignore"),  # selenium's own
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    quiet = ("--disable-background-networking", "--disable-component-update", "--no-first-run")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *quiet):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(costs.Reliefs, "reliefs", lambda _, rungs: [("", "")] * len(rungs))  # tested by itself
    (folder / "evil.yaml").write_text(PATH)
    evil = dtnsim.load(folder / "evil.yaml")
    found = {}
    for name, given, scenarios in (
        ("evil", evil, 12),
        ("venadi", dtnsim.load("venadi/gridftp-gpfs"), 8),
        ("nasa", dtnsim.load("nasa/nuttscp-5of7"), 0),
        ("cluster", dtnsim.load("examples/lustre-cluster-globus"), 0),
    ):
        simulation = dtnsim.simulate(given) if name == "evil" else None
        html = whole.report(
            given, whole.Sections(simulation, planned=name == "nasa", scenarios=scenarios, samples=16, sensitivity=0)
        )
        found[name] = folder / f"{name}.html"
        found[name].write_text(html, encoding="utf-8")
    short = ["workload.span=1 d", "workload.classes.users.volume=1 TB/day"]
    facility = dtnsim.load("examples/facility-year", short)
    asked = whole.Sections(fleet=fleet(facility, replicas=1), scenarios=0, samples=16, sensitivity=0)
    found["facility"] = folder / "facility.html"
    found["facility"].write_text(whole.report(facility, asked), encoding="utf-8")
    monkeypatch.undo()
    found["validate"] = folder / "validate.html"
    judged = judging.validate(cases.load(library.root("calibration") / "esnet" / "cases.yaml"), samples=16)
    found["validate"].write_text(validation.page(judged), encoding="utf-8")
    return found


def opened(browser: Any, file: Path) -> Any:
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(file.as_uri())
    return browser


def check(browser: Any, width: int = 1200) -> None:
    """No console message, every figure drawn, nothing asked of a network, nothing wider than the window."""
    assert browser.get_log("browser") == []
    asked = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
    assert not [u for u in urls if not u.startswith(("file:", "data:", "blob:"))]
    drawn = "return [...document.querySelectorAll('.plot')].filter(p => !p.querySelector('svg.main-svg')).length"
    assert browser.execute_script(drawn) == 0
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["evil", "venadi", "nasa", "cluster", "facility", "validate"])
def test_a_report_opens(browser: Any, pages: dict[str, Path], name: str) -> None:
    opened(browser, pages[name])
    assert browser.execute_script("return document.querySelectorAll('.plot svg.main-svg').length") > 0
    assert (
        browser.execute_script("return performance.timing.loadEventEnd - performance.timing.navigationStart") < 20_000
    )
    check(browser)


def test_markup_in_names_stays_text(browser: Any, pages: dict[str, Path]) -> None:
    opened(browser, pages["evil"])
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    assert browser.execute_script("return window.hit") is None
    assert browser.execute_script("return document.querySelector('h1').textContent").startswith("<img src=x")


def test_hover_and_focus_tell_of_a_component(browser: Any, pages: dict[str, Path]) -> None:
    from selenium.webdriver import ActionChains

    opened(browser, pages["evil"])
    about = "return document.getElementById('about-path').textContent"
    box = browser.find_element("css selector", ".picture g.binds")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", box)
    ActionChains(browser).move_to_element(box).perform()
    assert "the bottleneck" in browser.execute_script(about)
    browser.execute_script("document.querySelectorAll('.picture g[tabindex]')[0].focus()")
    assert "source: " in browser.execute_script(about)
    bar = browser.find_element("css selector", ".plot .points .point")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", bar)
    ActionChains(browser).move_to_element(bar).perform()
    shown = "return document.querySelectorAll('.hoverlayer .hovertext').length"
    assert (
        browser.execute_async_script(f"const done = arguments[0]; setTimeout(() => done((() => {{ {shown} }})()), 300)")
        > 0
    )


def test_sliders_move_the_answer(browser: Any, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    opened(browser, pages["evil"])
    before = browser.execute_script("return document.getElementById('whatif-answer').textContent")
    assert "as it is" in before
    slider = browser.find_element("css selector", "#whatif-rtt")
    slider.send_keys(Keys.END)
    after = browser.execute_script("return document.getElementById('whatif-answer').textContent")
    label = browser.execute_script("return document.getElementById('whatif-rtt-value').textContent")
    assert label == slider.get_attribute("aria-valuetext")
    slider.send_keys(Keys.HOME)
    other = browser.execute_script("return document.getElementById('whatif-answer').textContent")
    assert len({before, after, other}) > 1
    assert browser.execute_script("return document.querySelectorAll('#whatif-plot .point').length") > 1
    check(browser)


def test_it_prints_and_fits_a_telephone(browser: Any, pages: dict[str, Path]) -> None:
    opened(browser, pages["venadi"])
    for wide, high in ((8.27, 11.69), (8.5, 11.0)):  # A4 and letter [inches]: what one staples to a proposal
        paper = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": wide, "paperHeight": high})
        assert 2 <= len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(paper["data"]))) <= 4
    screen = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    for name in ("venadi", "validate", "facility"):
        opened(browser, pages[name])
        check(browser, 400)
    opened(browser, pages["venadi"])
    cells = "return [...document.querySelectorAll('.stack tbody tr:first-child td:nth-child(2)')]"
    said = browser.execute_script(f"{cells}.map(c => getComputedStyle(c, '::before').content)")
    assert '"at"' in said  # the row of a table with texts is a list, each cell under its heading
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
