"""What relieves a bottleneck: the key of the path file to change, and what to change it to."""

from __future__ import annotations

from typing import Final

from dtnsim.ground.records import Problem, Station

#: kind of station -> what relieves it; ``{key}`` is where the path file describes the component
_BY_KIND: Final = {
    "core": "a faster clock ({key}.clock) or the work on more cores: more files, or more runs of the tool, at once",
    "cpu": "more or faster cores ({key})",
    "memory": "more or faster memory channels ({key}.channels, {key}.rate), or fewer copies (sendfile, O_DIRECT)",
    "hdd": "more or faster drives ({key}.array)",
    "ssd": "more or faster drives ({key}.array)",
    "sata": "drives with a faster link ({key}.array)",
    "sas": "an adapter with more or faster lanes ({key}.lanes, {key}.lane)",
    "hba": "a faster adapter, or a second one ({key})",
    "pcie": "a slot of a newer generation or with more lanes ({key}.generation, {key}.lanes)",
    "nic": "a faster NIC, or one more port in a bond ({key}.rate, {key}.ports, {key}.bonding)",
    "ib": "a faster adapter, or one more port in a bond ({key}.rate, {key}.ports, {key}.bonding)",
    "network": "more bandwidth, or less of other people's traffic ({key}.bandwidth, {key}.background)",
    "firewall": "a way around the firewall (a Science DMZ), or more streams over its engines ({key}.firewall)",
    "policer": "a higher policed rate, or pacing below it ({key}.policer)",
    "lustre": "more storage targets, servers or arrays, or a larger stripe count ({key}.filesystem)",
    "gpfs": "more NSDs, servers or arrays, or more prefetch threads ({key}.filesystem)",
    "beegfs": "more targets, servers or connections, larger buffers, or more files at once ({key}.filesystem)",
    "cephfs": "more OSDs or nodes, a larger rasize (read_ahead), or more files at once ({key}.filesystem)",
    "vast": "more server nodes or arrays, or more connections and addresses (nconnect, remoteports: {key}.filesystem)",
    "weka": "more back-end servers or client cores, or more files at once ({key}.filesystem)",
    "cloud-disk": "a larger or faster disk, more of them, or an instance that lets more through ({key}.array)",
    "metadata": "more metadata servers, more directories, or fewer and larger files ({key}.filesystem)",
    "nfs": "more requests in flight, larger ones or nconnect ({key}.filesystem)",
    "s3": "more connections, larger parts, more files at once, or more prefixes ({key}.filesystem)",
    "smb": "more credits, channels or read-ahead ({key}.filesystem)",
    "daos": "more engines or targets, more files or requests at once ({key}.filesystem)",
    "transport": "less loss, a higher target rate of the tool, or a faster core",
    "target": "a higher target rate of the tool",
    "window": "a larger window of the tool (more requests in flight), or more files at once",
    "workers": "more files at once, fewer round trips for each (pipelining, larger files)",
    "latency": "more files at once, fewer round trips for each (pipelining, larger files)",
}


def remedy(problem: Problem, station: Station | None) -> str:
    """What relieves a station, or the waiting of a tool's workers (None); empty where nothing is known to."""
    if station is None:
        return _BY_KIND["latency"]
    if station.remedy:
        return station.remedy
    text = _BY_KIND.get(station.kind, "")
    key = key_of(problem, station)
    if station.kind == "core" and not key.endswith("cpu"):  # a thread that works for a volume
        key = problem.keys.get(f"{station.host}.cpu", "")
    return text.format(key=key) if key or "{key}" not in text else ""


def key_of(problem: Problem, station: Station) -> str:
    """Where the path file describes the component that a station belongs to; empty for connections and workers."""
    parts = station.name.partition("[")[0].split(".")
    for length in range(len(parts), 0, -1):
        key = problem.keys.get(".".join(parts[:length]))
        if key is not None:
            return key
    return ""
