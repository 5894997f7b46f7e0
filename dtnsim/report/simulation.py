"""A simulation as text, as a JSON document, and as a table over time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim import units
from dtnsim.errors import InputError
from dtnsim.report import text
from dtnsim.report.document import number
from dtnsim.simulation.results import Run, Simulation, TransferRun

if TYPE_CHECKING:
    from dtnsim.report.console import Out

SCHEMA: Final = "dtnsim.simulation/1"
#: points of a series in the JSON document and the busiest stations shown
POINTS: Final = 200
BUSIEST: Final = 8


def document(s: Simulation) -> dict[str, Any]:
    """The document of ``dtnsim simulate --json``."""
    first = s.runs[0]
    return {
        "schema": SCHEMA,
        "name": s.name,
        "replicas": len(s.runs),
        "complete": all(r.complete for r in s.runs),
        "end_s": number(first.end_s),
        "events": first.events,
        "transfers": [_transfer(s, f) for f in range(len(first.transfers))],
        "stations": _stations(first),
        "series": _series(first),
        "happened": [{"time_s": t, "what": what} for t, what in first.happened],
        "warnings": list(s.warnings),
    }


def _transfer(s: Simulation, f: int) -> dict[str, Any]:
    t = s.runs[0].transfers[f]
    rates, durations = s.spread(f)
    return {
        "name": t.name, "files": t.files, "payload_B": t.payload_B, "started_s": number(t.started_s),
        "finished_s": number(t.finished_s), "throughput_Bps": _quantiles(rates), "duration_s": _quantiles(durations),
        "file_s": _quantiles(list(t.file_s)), "waiting_share": number(_waiting(t)), "retries": t.retries,
        "held": [{"start_s": h.start_s, "end_s": h.end_s, "station": h.station} for h in t.held],
    }  # fmt: skip


def _quantiles(values: list[float]) -> dict[str, float | None]:
    if not values:
        return {"p10": None, "p50": None, "p90": None}
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
    return {"p10": number(low), "p50": number(values[0] if len(values) < 3 else middle), "p90": number(high)}


def _waiting(t: TransferRun) -> float:
    whole = t.waiting_s + t.moving_s
    return t.waiting_s / whole if whole > 0 else math.nan


def _stations(run: Run) -> list[dict[str, Any]]:
    span = np.diff(run.series.edge_s)
    mean = (run.series.utilization * span[:, None]).sum(axis=0) / max(span.sum(), 1e-300)
    peak = run.series.utilization.max(axis=0, initial=0.0)
    rows = [
        {"station": name, "utilization_mean": float(m), "utilization_peak": float(p)}
        for name, m, p in zip(run.stations, mean, peak, strict=True)
    ]
    return sorted(rows, key=lambda r: -r["utilization_mean"])


def _series(run: Run) -> dict[str, Any]:
    step = max(1, math.ceil(len(run.series.rate_Bps) / POINTS))
    rows = slice(None, None, step)
    names = [t.name for t in run.transfers]
    return {
        "time_s": run.series.edge_s[:-1][rows].tolist(),
        "throughput_Bps": dict(zip(names, run.series.rate_Bps[rows].T.tolist(), strict=True)),
        "medium_Bps": dict(zip(names, run.series.medium_Bps[rows].T.tolist(), strict=True)),
        "cached_B": dict(zip(names, run.series.cached_B[rows].T.tolist(), strict=True)),
    }


def show(s: Simulation, out: Out) -> None:
    """Prints the summary: each transfer, what held it when, the busiest stations."""
    first = s.runs[0]
    out.print(f"[bold]{text.plain(s.name)}[/bold]" + ("" if first.complete else "  (stopped: what was done by then)"))
    rows = text.table(("transfer", "left"), ("files", "right"), ("bytes", "right"), ("duration", "right"),
                      ("throughput", "right"), ("a file takes (p50, p90)", "right"), ("waiting", "right"))  # fmt: skip
    for t in first.transfers:
        files = f"{_time(t.file_s, 0.5)}, {_time(t.file_s, 0.9)}" if len(t.file_s) else ""
        ended = math.isfinite(t.finished_s)
        rows.add_row(text.plain(t.name), str(t.files), units.show(t.payload_B, "B"),
                     units.show(t.duration_s, "s") if ended else "not done",
                     text.rate(t.throughput_Bps) if ended else "", files, f"{_waiting(t):.0%}" if t.files else "")  # fmt: skip
    out.print(rows)
    if len(s.runs) > 1:
        _replicas(s, out)
    for t in first.transfers:
        held = "; ".join(f"{_short(h.start_s)}-{_short(h.end_s)} {h.station}" for h in t.held[:12])
        out.print(f"{text.plain(t.name)} was held by: {text.plain(held)}" + (" ..." if len(t.held) > 12 else ""))
    for time, what in first.happened[:20]:
        out.print(f"at {units.show(time, 's')}: {text.plain(what)}")
    used = text.table(("station", "left"), ("used", "left"), ("mean", "right"), ("peak", "right"))
    for row in [r for r in _stations(first) if r["utilization_mean"] > 0][:BUSIEST]:
        share = row["utilization_mean"]
        used.add_row(text.plain(row["station"]), text.bar(share), f"{share:.1%}", f"{row['utilization_peak']:.1%}")
    out.print(used)
    for warning in s.warnings:
        out.print(f"warning: {text.plain(warning)}")


def _replicas(s: Simulation, out: Out) -> None:
    rows = text.table(("over the replicas", "left"), ("throughput p10", "right"), ("p50", "right"), ("p90", "right"),
                      ("duration p10", "right"), ("p50", "right"), ("p90", "right"))  # fmt: skip
    for f, t in enumerate(s.runs[0].transfers):
        rates, durations = (_quantiles(v) for v in s.spread(f))
        rows.add_row(text.plain(t.name), *(units.show(v or 0.0, "B/s") for v in rates.values()),
                     *(units.show(v or 0.0, "s") for v in durations.values()))  # fmt: skip
    out.print(rows)


def _time(values: Any, q: float) -> str:
    return units.show(float(np.quantile(values, q)), "s")


def _short(seconds: float) -> str:
    return units.show(seconds, "s").replace(" ", "")


def write_trace(s: Simulation, path: Path) -> None:
    """Writes the first run over time as CSV or Parquet, by the file's ending; atomically.

    Raises:
        InputError: another ending, pyarrow missing, or a place that cannot be written.
    """
    run = s.runs[0]
    columns: dict[str, Any] = {"start_s": run.series.edge_s[:-1], "end_s": run.series.edge_s[1:]}
    for f, t in enumerate(run.transfers):
        columns[f"{t.name}.throughput_Bps"] = run.series.rate_Bps[:, f]
        columns[f"{t.name}.medium_Bps"] = run.series.medium_Bps[:, f]
        columns[f"{t.name}.cached_B"] = run.series.cached_B[:, f]
    for k, name in enumerate(run.stations):
        columns[f"{name}.utilization"] = run.series.utilization[:, k]
        columns[f"{name}.flows"] = run.series.flows[:, k]
    part = path.with_name(path.name + ".part")
    try:
        if path.suffix == ".csv":
            lines = (",".join(repr(float(v)) for v in row) for row in zip(*columns.values(), strict=True))
            part.write_text("\n".join([",".join(f'"{c}"' for c in columns), *lines]) + "\n", encoding="utf-8")
        elif path.suffix == ".parquet":
            _parquet(columns, part)
        else:
            raise InputError(f"--trace {path}: write a file that ends in .csv or .parquet")
        part.replace(path)
    except OSError as error:
        raise InputError(f"--trace {path}: cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _parquet(columns: dict[str, Any], path: Path) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError("--trace: Parquet needs pyarrow (the extra 'parquet'); or write a .csv") from None
    parquet.write_table(pa.table(columns), path)
