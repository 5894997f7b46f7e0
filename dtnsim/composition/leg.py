"""One transfer as composition sees it: its ends, its tool's job and plan, and the route between the ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dtnsim.components.access import Thread
from dtnsim.composition.route import Route
from dtnsim.description import dataset
from dtnsim.description.dataset import Dataset
from dtnsim.description.host import Host
from dtnsim.description.spec import DEVICES, PathSpec, TransferSpec, split_end
from dtnsim.tools.plan import EndKind, Job, Plan


@dataclass(frozen=True, slots=True)
class End:
    """One end of a transfer: host, and the volume or device on it."""

    host: Host
    path: str
    kind: EndKind
    volume: str | None


@dataclass(frozen=True, slots=True)
class Leg:
    """One transfer of a path.

    Attributes:
        spec: What the path file says of it.
        source: End that is read.
        destination: End that is written.
        route: The network between the ends; None within one host.
        job: What the tool is asked to do.
        plan: How the tool does it.
    """

    spec: TransferSpec
    source: End
    destination: End
    route: Route | None
    job: Job
    plan: Plan

    @property
    def data(self) -> Dataset:
        """The files that are moved."""
        return self.spec.dataset if self.spec.dataset is not None else default_dataset()

    def placed(self, thread: Thread) -> Thread:
        """A thread of the tool, on the core that the path file gives the transfer."""
        return thread if self.spec.core is None else Thread(thread.name, thread.copies, self.spec.core)


def end_of(spec: PathSpec, text: str) -> End:
    """The end of a transfer that ``host:/path`` names."""
    name, path = split_end(text)
    host = spec.hosts[name]
    if path in DEVICES:
        return End(host, path, DEVICES[path], None)  # type: ignore[arg-type]  # values are EndKind
    return End(host, path, "volume", host.mount_of(path))


def leg(spec: TransferSpec, source: End, destination: End, route: Route | None) -> Leg:
    """A transfer with the plan that its tool makes for its data set and ends."""
    data = spec.dataset if spec.dataset is not None else default_dataset()
    job = Job(
        name=spec.name,
        files=data.files,
        payload_B=data.payload_B,
        largest_B=data.largest_B,
        directories=data.directories,
        rtt_s=route.nominal_rtt if route else 0.0,
        source=source.kind,
        destination=destination.kind,
        memory_B=destination.host.memory.size.value,
        cores=min(source.host.cpu.total, destination.host.cpu.total),
        apart=route is not None,
    )
    return Leg(spec, source, destination, route, job, spec.tool.plan(job))


@lru_cache(maxsize=1)
def default_dataset() -> Dataset:
    """What is moved where nothing is said."""
    return dataset.load({"files": 1, "size": "100 GB"})
