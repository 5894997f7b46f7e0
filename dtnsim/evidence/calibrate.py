"""Parameters of hosts fitted to cases or to raw logs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from json import dumps
from pathlib import Path

from dtnsim.description import spec
from dtnsim.description.hosts import named
from dtnsim.description.spec import PathSpec
from dtnsim.evidence import cases, fit_logs, transfer_cases
from dtnsim.evidence.figures import Figure, Paths
from dtnsim.evidence.fit import Fit, fit
from dtnsim.evidence.repeats import weighed
from dtnsim.ground import library
from dtnsim.ground.errors import InputError
from dtnsim.logs.measurement import Measurement


def calibrate(
    sources: Sequence[str | Path],
    hosts: Sequence[str],
    *,
    volume: str | None = None,
    free: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    notes: list[str] | None = None,
    scheduler: str | None = None,
    runs: Sequence[Measurement] | None = None,
    path: str | None = None,
) -> Fit:
    """Fits the uncertain parameters of hosts to their component tests.

    Args:
        sources: Files of cases (those with ``role: fit`` count), raw logs, or folders of either.
        hosts: Hosts to fit: shipped names or files.
        volume: Volume of logs that do not say where they ran.
        free: Parameters whose stated values count for next to nothing: keys, or their last steps.
        names: What logs call hosts, volumes and devices -> what the host files call them.
        notes: Takes what the user should know: logs that cannot be used, and why.
        scheduler: Address of a Dask scheduler, ``tcp://login1:8786``, whose workers compose the paths.
        runs: What the logs among the sources say, where they have been read already.
        path: The path that transfers in the logs went over: they fit its hosts, too.

    Returns:
        The `Fit`: estimates with their covariance, and the figures that they come from.

    Raises:
        InputError: nothing to fit, or logs that contradict each other.
    """
    files = files_of(sources)
    logs = [f for f in files if not cases.is_cases_file(f)]
    moved, transfer_notes, used = transfer_cases.figures(logs, path, names) if path is not None else ([], [], set())
    logs = [f for f in logs if f not in used]
    if path is not None:  # who is who on the path is nothing of the hosts' own tests
        ends = set(spec.load(path).hosts) - {name_of(h) for h in hosts}
        names = {theirs: ours for theirs, ours in (names or {}).items() if ours not in ends}
    measured, log_notes, facts = fit_logs.read(logs, hosts, volume, names, runs) if logs or runs else ([], [], [])
    figures, repeated = weighed(measured)
    figures += _of_cases([f for f in files if cases.is_cases_file(f)], hosts)
    paths = Paths("none")
    transfers = [Figure(case, _instead(paths(case), hosts)) for case in moved]
    if not figures and not transfers:
        wanted = ", ".join(sorted({name_of(h) for h in hosts}))
        looked = ", ".join(map(str, files or sources))
        raise InputError(f"{looked}: no figure with 'role: fit' on {wanted}")
    fit_logs.check_conflicts(figures)
    if notes is not None:
        notes += [*log_notes, *transfer_notes, *(fact.words for fact in facts)]
    fitted = fit([*figures, *transfers], sorted({name_of(h) for h in hosts}), free, scheduler)
    return replace(fitted, repeats=tuple(repeated), facts=tuple(facts))


def name_of(host: str) -> str:
    """What a host calls itself."""
    return str(named(host).get("name", Path(host).stem))


def _instead(path: PathSpec, hosts: Sequence[str]) -> PathSpec:
    """A path with hosts that are given as files in the place of those of their name."""
    shipped, files = library.root("models") / "hosts", {}
    for host in hosts:
        file = library.find("hosts", host).resolve()
        if not file.is_relative_to(shipped.resolve()):
            files[name_of(host)] = file
    changes = [f"hosts.{alias}={dumps(str(files[name]))}" for alias, name in path.host_files.items() if name in files]
    return path.changed(changes) if changes else path


def files_of(sources: Sequence[str | Path]) -> list[Path]:
    """Sources with the files of folders that hold logs and no cases in the place of the folders."""
    files: list[Path] = []
    for source in map(Path, sources):
        if source.is_dir() and not (source / "cases.yaml").is_file() and not any(source.glob("*/cases.yaml")):
            logs = sorted(f for f in source.rglob("*") if f.is_file() and not f.name.startswith("."))
            files += [f for f in logs if f.suffix not in (".yaml", ".yml", ".sh") and f.stat().st_size]
        else:
            files.append(source)
    return files


def _of_cases(files: list[Path], hosts: Sequence[str]) -> list[Figure]:
    """Figures of cases that fit, on these hosts."""
    figures: list[Figure] = []
    wanted, paths = {name_of(h) for h in hosts}, Paths("none")
    for case in cases.load_all(files) if files else []:
        # how far runs lie apart is no figure of a path with given parameters
        if case.role == "fit" and not case.withheld and case.quantity != "throughput_sd":
            figure = Figure(case, _instead(paths(case), hosts))
            if wanted & set(figure.spec.host_files.values()):
                figures.append(figure)
    return figures
