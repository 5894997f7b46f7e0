"""Opens the built site in Chromium, light, dark and as wide as a phone, and judges each page by axe-core.

python .ci/axe.py SITE AXE [PICTURES]     AXE: axe.min.js of 'npm pack axe-core'; PICTURES: a folder for what was seen

Exit 1 where anything is serious or critical, or where a page is wider than the phone. Needs selenium and chromedriver.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

#: name -> width [px] and scheme
LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light")}
JUDGE = """const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then(found => done(found.violations
  .filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes[0].html.slice(0, 120))))"""


def browser() -> Any:
    """A Chromium without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def look(driver: Any, width: int, scheme: str) -> None:
    """Sets the width of the screen and the scheme that the system has."""
    seen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", seen)
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)


def main(site: Path, axe: Path, pictures: Path | None) -> int:
    """Judges all pages of a site."""
    driver, bad = browser(), 0
    driver.set_script_timeout(300)
    for page in sorted(site.resolve().rglob("*.html")):
        for name, (width, scheme) in LOOKS.items():
            look(driver, width, scheme)
            driver.get(page.as_uri())
            driver.execute_script(axe.read_text(encoding="utf-8"))
            violations = driver.execute_async_script(JUDGE)
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            violations += [f"{wide} px wide"] if wide > width else []
            where = page.relative_to(site.resolve()).with_suffix("").as_posix()
            sys.stdout.write("".join(f"{where} ({name}): {each}\n" for each in violations))
            bad += len(violations)
            if pictures is not None:
                driver.save_screenshot(str(pictures / f"{where.replace('/', '_')}-{name}.png"))
    driver.quit()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None))
