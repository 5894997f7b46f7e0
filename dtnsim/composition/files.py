"""Files that a transfer reads and writes, as page caches see them: what is cached, and the locks of their folders."""

from collections.abc import Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Final

import numpy as np

from dtnsim.components.access import CHANGES
from dtnsim.components.filesystem import label_of
from dtnsim.composition.resolved_transfer import End, Leg
from dtnsim.composition.storage import Storage
from dtnsim.description.transfer import TransferSpec
from dtnsim.ground.ledger import Row
from dtnsim.ground.pages import CachedFile
from dtnsim.ground.records import Demand, Phase, Transfer
from dtnsim.ground.term import count, term
from dtnsim.tools.plan import Step

#: what a stretch of a read is called, by the memory that has its bytes
_FOUND: Final = ("from memory", "from the server's memory", "from the medium")


def turns(transfers: Sequence[TransferSpec]) -> list[int]:
    """Turn of each transfer: the length of the longest chain of transfers that it starts after."""
    names = {t.name for t in transfers}
    after = {t.name: names.intersection(t.after) for t in transfers}
    depth: dict[str, int] = {}
    for name in TopologicalSorter(after).static_order():
        depth[name] = max((depth[n] + 1 for n in after[name]), default=0)
    return [depth[t.name] for t in transfers]


def cached_files(storage: Storage, leg: Leg, end: End) -> tuple[CachedFile, ...]:
    """The files at one end, as cached on its own host and then on the server behind a mount."""
    if end.volume is None:
        return ()
    volume = end.mounted
    if not volume.filesystem.in_page_cache:
        return ()
    host, path = end.host, end.path.rstrip("/") or "/"
    row = Row(storage.ledger, leg.spec.name, [], 1.0, host.name)
    # a single file has its own name; what lies in a folder goes by what it is as well
    suffix = (
        "" if leg.job.files == 1 and path != end.volume.rstrip("/") else f" {leg.job.files} {leg.job.payload_B:.17g}"
    )
    local = CachedFile(host.name, path + suffix, leg.job.payload_B, host.vm.free(row, row.value(host.memory.size)))
    if volume.server is None:
        return (local,)
    remote = storage.server(end)
    inside = replace(remote, path=(remote.volume or "").rstrip("/") + path[len(end.volume.rstrip("/")) :])
    behind = cached_files(storage, leg, inside)
    if suffix and behind:
        behind = (replace(behind[0], file=inside.path + suffix), *behind[1:])
    return (local, *behind)


def folder(storage: Storage, leg: Leg, step: Step, row: Row) -> None:
    """Charges the locks of folders that several workers share, at their own host and at the servers.

    Of tasks in one folder it is that one (mdtest); of a tool's workers on a mount those that the data set has, where it
    says how many, as Linux (fs/namei.c: i_rwsem) and macOS (smbfs_vnops.c: smbfs_vnop_create) lock it; of Windows no
    such lock is known.
    """
    end, job, shared = leg.destination, leg.job, step.files.folder == "shared"
    apart = step.files.folder is None and leg.plan.workers > 1 and end.volume and end.host.system != "windows"
    folders = 1 if shared else job.directories if apart and end.mounted.filesystem.over_ip else 0
    if not folders or end.volume is None:
        return
    changes = tuple(operation for operation in step.files.destination if operation in CHANGES - {"setattr"})
    hold_s = storage.operations(end, changes, leg, replace(step.files, folder=None))[0]
    each = job.files / max(job.payload_B, 1.0)
    servers = getattr(end.mounted.filesystem, "system", None) or (end.mounted.server or "").partition(":")[0]
    probe = Row(storage.ledger, leg.spec.name, [], 1.0, end.host.name)
    locked = end.mounted.filesystem.folder_time(probe, changes, hold_s, storage.server_rtt(end))
    tree = end.path[len(end.volume.rstrip("/")) :].strip("/")  # below the mount: others there have folders of their own
    name = f"folder.{label_of(tree)}" if tree else "folder"
    local, remote = (end.host.name, f"{label_of(end.volume)}.{name}"), (servers, name)
    for (host, name), seconds in ((local, hold_s), (remote, locked))[: 1 + shared]:
        if host and np.any(np.asarray(seconds) > 0):
            row.seen_from(host).charge(
                name,
                "metadata",
                capacity=count(folders, "folder"),
                per_byte=each * term(seconds, "s"),
                remedy="files in more folders",
                what="folders that workers share, one change at a time in each",
            )


def with_cached(transfer: Transfer, shares: Sequence[float]) -> Transfer:
    """The transfer with parts of what it reads in page caches on the way.

    A single thread reads the cached part at memory speed and waits for the rest: two stretches. If the step also
    writes, both go on in parallel, and a byte's mean demand at the medium falls accordingly.

    Args:
        transfer: As composed, nothing in memory.
        shares: Part of its bytes in the memory of its own host, and part in that of the server, of all its bytes [1].
    """
    if not any(share > 0 for share in shares):
        return transfer
    step = transfer.buffered.step if transfer.buffered is not None else None
    phases: list[Phase] = []
    for phase in transfer.phases:
        most = max((d.missed for d in phase.demands), default=0)
        if most and phase.step != step:
            phases += _stretches(phase, shares, most)
        else:
            phases.append(_mixed(phase, shares) if most else phase)
    buffered = transfer.buffered
    return replace(transfer, phases=tuple(phases), buffered=None if buffered is None else _mixed(buffered, shares))


def _stretches(phase: Phase, shares: Sequence[float], most: int) -> list[Phase]:
    padded = [shares[n] if n < len(shares) else 0.0 for n in range(most)]
    parts = [*padded, max(1.0 - sum(padded), 0.0)]
    words = [*_FOUND[:most], _FOUND[-1]]
    phases = []
    for level, (share, where) in enumerate(zip(parts, words, strict=True)):
        if share <= 0:
            continue
        demands = tuple(_times(d, share) for d in phase.demands if d.missed <= level)
        name = phase.name if share == 1 else f"{phase.name} {where}"
        phases.append(Phase(name, demands, tuple(_times(d, share) for d in phase.delays), phase.step))
    return phases


def _mixed(phase: Phase, shares: Sequence[float]) -> Phase:
    demands = tuple(_times(d, max(1.0 - sum(shares[: d.missed]), 0.0)) if d.missed else d for d in phase.demands)
    return replace(phase, demands=demands)


def _times(demand: Demand, share: float) -> Demand:
    return replace(demand, per_byte=demand.per_byte * share, formula=f"{share:.3g} x ({demand.formula})")
