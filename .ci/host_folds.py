"""How often machines of the library lie within what is drawn for a machine of which only the year is known.

    python .ci/host_folds.py

Each shipped host whose parts and year are written is asked in full, and once more as ``{year: Y}`` with none of its own
parts to draw from, with the ``role`` that its name says. Scenarios of the known machine should lie between p10 and p90
of the drawn one in 80 of 100 cases: both have the model's own error and one run's luck.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.description import drawn_hosts, spec
from dtnsim.description.host import Host
from dtnsim.ground import library
from dtnsim.ground.errors import DtnsimError
from dtnsim.physics._arrays import LEVELS
from dtnsim.steady.prediction import predict

SAMPLES: Final = 400
LAN: Final = "{rtt: 0.2 ms, bandwidth: 800 Gb/s, medium: lab}"
OTHER: Final = "example-dtn-400g"
#: what is asked -> transfer, with the host called h and its volume V
DATA: Final = "dataset: {files: 1, size: 100 GB}"
LOADS: Final = {
    "one stream out": "{from: 'h:memory', to: 'o:memory', tool: 'iperf3 -P 1 -t 30'}",
    "eight streams in": "{from: 'o:memory', to: 'h:memory', tool: 'iperf3 -P 8 -t 30'}",
    "ssh in": f"{{from: 'o:memory', to: 'h:/dev/null', tool: scp, {DATA}}}",
    "drives read": f"{{from: 'h:V', to: 'h:/dev/null', tool: {{name: dd, bs: 1 MiB, iflag: direct}}, {DATA}}}",
    "drives written": f"{{from: 'h:/dev/zero', to: 'h:V', tool: {{name: dd, bs: 1 MiB, conv: fdatasync}}, {DATA}}}",
}


def known() -> dict[str, int]:
    """Hosts whose year and parts are written, but those that are sold by name and drawn themselves."""
    hosts = {}
    for name in library.names("hosts"):
        raw: Any = library.read("hosts", name)
        year = raw.get("facts", {}).get("year")
        year = year.get("value") if isinstance(year, dict) else year
        if year is not None and "cpu" in raw and "year" not in raw:
            hosts[name] = int(year)
    return hosts


def rates(host: str, load: str, volume: str, folder: Path) -> Any:
    """Rates in the scenarios of one transfer [B/s]."""
    file = folder / "path.yaml"
    wan = f"wan: {LAN}\n" if "o:" in load else ""
    file.write_text(f"hosts: {{h: {host}, o: {OTHER}}}\n{wan}transfer: {load.replace('V', volume)}\n")
    behind = predict(file, samples=SAMPLES).drawn
    assert behind is not None
    return behind.rates_Bps[:, 0]


def without(host: Host) -> Any:
    """The parts to draw from, less those of a host."""
    own = {host.cpu.source, host.memory.source, *(card.source for card in host.nics.values())}
    every = drawn_hosts._library  # noqa: SLF001 - parts are left out there
    return lambda family: tuple((year, part) for year, part in every(family) if part.source not in own)


def role(name: str) -> str:
    """What everybody knows of a host that is called so."""
    usual = {"dtn": "dtn", "laptop": "untuned", "workstation": "untuned", "t530": "untuned"}
    return next((f", role: {role}" for word, role in usual.items() if word in name), "")


def main() -> None:
    """Prints the share of scenarios inside for each load and for all."""
    inside: dict[str, list[float]] = defaultdict(list)
    folder = Path(tempfile.mkdtemp())
    every = drawn_hosts._library  # noqa: SLF001 - parts are left out there
    for name, year in known().items():
        (folder / "known.yaml").write_text(
            f"hosts: {{h: {name}}}\ntransfer: {{from: 'h:memory', to: 'h:/dev/null', tool: dd}}\n"
        )
        host = spec.load(folder / "known.yaml").hosts["h"]
        local = [m for m, v in host.volumes.items() if v.array is not None]
        for what, load in LOADS.items():
            if "V" in load and not local:
                continue
            volume = local[0] if local else ""
            try:
                # the releases of tools follow from the year, which is known of both
                truth = rates(f"{{like: {name}, year: {year}}}", load, volume, folder)
                drawn_hosts._library = without(host)  # noqa: SLF001
                low, high = np.quantile(rates(f"{{year: {year}{role(name)}}}", load, volume, folder), LEVELS[::2])
            except DtnsimError as error:
                print(f"{name}, {what}: {error}")
                continue
            finally:
                drawn_hosts._library = every  # noqa: SLF001
            share = float(np.mean((truth >= low) & (truth <= high)))
            inside[what].append(share)
            interval = f"{8e-9 * low:.3g} to {8e-9 * high:.3g}"
            print(f"{name:24} {what:18} {8e-9 * np.median(truth):8.3g} Gb/s in {interval}: {share:.0%}")
    for what, shares in inside.items():
        print(f"{what}: {np.mean(shares):.0%} of {len(shares)} hosts")
    print(f"all: {np.mean([share for shares in inside.values() for share in shares]):.0%}")


if __name__ == "__main__":
    main()
