"""Why an interval is wide: the part of its variance that each uncertain thing answers for, and what to measure first.

The first-order Sobol' indices of ln(rate), from the scenarios themselves: Hermite polynomials of first and second
degree in the standard normal score of each thing are fitted to the scenarios; a thing's index is the variance of its
own polynomials (Sudret, Global sensitivity analysis using polynomial chaos expansions, 2008). Parameters that were
fitted together are correlated and form one group, whose index is that of their joint polynomials (Jacques et al.
2006). What is left over are interactions. If a thing were known, about the part ``sqrt(1 - index)`` of the width would
stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dtnsim.description.host import Host
from dtnsim.description.spec import PathSpec
from dtnsim.ground.uncertainty import Drawn
from dtnsim.physics._arrays import FloatArray as Array, quantile
from dtnsim.steady.assumed import named
from dtnsim.steady.prediction import predict

#: scenarios that the shares are computed from, well above the number of polynomials
SAMPLES: Final = 4096
#: scenarios further out count as if they were here: no interval is wider for how far its last ones lie
_INSIDE: Final = (0.01, 0.99)
#: end of a key -> how to find the number out
_MEASURE: Final = (
    ("discrepancy ", "a trial run of this tool on this path"),
    ("repeat ", "cannot be measured away; --mean asks for the long-run average"),
    ("other traffic", "a week of the ports' counters (SNMP)"),
    (".background.share", "a week of the ports' counters (SNMP)"),
    ("medium", "one word: medium: internet, backbone, research or campus"),
    ("role", "one word: role: untuned, cloud or dtn; or sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem"),
    ("buffers", "ping under load: what the round trip grows by, times the rate"),
    (".buffer", "ping under load: what the round trip grows by, times the rate"),
    (".loss", "owping for some hours, or retransmits of a long iperf3"),
    (".rtt", "ping"),
    ("core_rmem_max", "sysctl net.core.rmem_max"),
    ("core_wmem_max", "sysctl net.core.wmem_max"),
    ("mem_max", "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem"),
    (".tcp.cc", "sysctl net.ipv4.tcp_congestion_control"),
    (".filesystem.version", "zfs version"),
    ("ssh.version", "ssh -V at both ends"),
    (".version", "--version of the program at both ends"),
    (".tool.", "see the command line in use"),
    (".cached", "fincore on the files before the run"),
    ("tool ", "a trial run of this tool between memories"),
    (
        "cost of ",
        "the same work alone on that machine: over loopback, with mpstat -P ALL beside it (a cipher: openssl speed)",
    ),
    ("system ", "IOR or fio on the shared file system, at several hours"),
    ("_byte", "a large copy with mpstat -P ALL beside it"),
    (".filesystem.stream", "one large object over one connection, timed"),
    (".filesystem.latency", "one small request, timed (ioping, curl)"),
    (".filesystem.turn", "two files of one tape, recalled and timed"),
    (".filesystem.stripe_count", "lfs getstripe on the folder"),
    (".metadata_time", "mdtest on the volume"),
    (".op_time", "mdtest on the volume"),
    (".change_time", "mdtest on the volume"),
    (".volumes.", "fio or dd on the volume"),
    (".filesystem.", "fio or dd on the volume"),
    (".array.", "fio or dd on the volume"),
    (".cpu.cores", "lscpu"),
    (".cpu.clock", "turbostat, or lscpu, while it is busy"),
    (".cpu.", "iperf3 with mpstat -P ALL beside it"),
    (".stack.kernel", "uname -r"),
    (".stack.", "iperf3 with mpstat -P ALL beside it"),
    (".memory.size", "free -h"),
    (".memory.channels", "dmidecode -t memory"),
    (".memory.", "STREAM"),
    (".mtu", "ip link, and ping -M do -s 8972 to the other end"),
    (".nics.", "iperf3"),
    (".slots.", "lspci -vv"),
    (".hbas.", "fio on all drives at once"),
    (".cpu", "one line: cpu: PART (lscpu), or year: of the host"),
    (".memory", "one line: memory: PART (dmidecode -t memory), or year: of the host"),
    (" of drives", "lspci -tv, which says what is behind which slot"),
    (" of NVMe drives", "lspci -tv, which says what is behind which slot"),
    (".nic", "one line: nic: PART (lspci), or nic: {rate: 10 Gb/s} (ethtool)"),
)


#: commands of Linux -> those of other systems, longer ones first (learn.microsoft.com; man pages of macOS and FreeBSD)
_BSD: Final = {"ip link": "ifconfig", "ping -M do -s": "ping -D -s", "ethtool": "ifconfig"}
_ELSEWHERE: Final[dict[str, dict[str, str]]] = {
    "windows": {
        "ip link": "netsh interface ipv4 show subinterfaces",
        "ping -M do -s": "ping -f -l",
        "ethtool": "Get-NetAdapter",
        "turbostat, or lscpu": "Task Manager",
        "lscpu": "systeminfo",
        "free -h": "systeminfo",
        "uname -r": "winver",
        "dmidecode -t memory": "Get-CimInstance Win32_PhysicalMemory",
        "lspci -tv": "Device Manager, by connection",
        "lspci -vv": "Get-NetAdapterHardwareInfo",
        "lspci": "Get-NetAdapter",
        "mpstat -P ALL": "Task Manager by core",
        "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem": "netsh interface tcp show global",
        "sysctl net.ipv4.tcp_congestion_control": "Get-NetTCPSetting",
        "fio or dd on": "diskspd on",
        "mdtest on": "many small files, copied and timed, on",
    },
    "macos": _BSD | {
        "turbostat, or lscpu": "powermetrics",
        "lscpu": "sysctl -a machdep.cpu",
        "free -h": "sysctl hw.memsize",
        "dmidecode -t memory": "system_profiler SPMemoryDataType",
        "lspci -tv": "system_profiler SPPCIDataType",
        "lspci -vv": "system_profiler SPPCIDataType",
        "lspci": "system_profiler SPPCIDataType",
        "mpstat -P ALL": "powermetrics",
        "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem": "sysctl net.inet.tcp.autorcvbufmax net.inet.tcp.autosndbufmax",
    },
    "freebsd": _BSD | {
        "turbostat, or lscpu": "sysctl dev.cpu.0.freq",
        "lscpu": "sysctl hw.model hw.ncpu",
        "free -h": "sysctl hw.physmem",
        "lspci -tv": "pciconf -lv",
        "lspci -vv": "pciconf -lvc",
        "lspci": "pciconf -lv",
        "mpstat -P ALL": "top -P",
        "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem": "sysctl net.inet.tcp.recvbuf_max net.inet.tcp.sendbuf_max",
        "sysctl net.ipv4.tcp_congestion_control": "sysctl net.inet.tcp.cc.algorithm",
    },
}  # fmt: skip
#: kinds of evidence and classes of tools (`dtnsim.steady.regime`) in words
_HOLDS: Final = {
    "array": "an array of drives",
    "buffer": "a short buffer",
    "bus": "a bus",
    "core": "a core",
    "disk": "a drive",
    "firewall": "a firewall",
    "loss": "loss",
    "network file system": "a network file system",
    "requests": "waiting for requests",
    "shared server": "a shared server",
    "small files": "the work of each file",
    "start": "the start",
    "transport": "a transport of their own",
    "window": "a window",
    "wire": "the wire",
}
_TOOLS: Final = {
    "backup": "backup tools",
    "local": "cp, tar and their like",
    "mover": "transfer tools",
    "ssh": "rsync, scp and their like",
    "test": "benchmark tools",
}


@dataclass(frozen=True, slots=True)
class Share:
    """What one uncertain thing, or one group fitted together, adds to the width of an interval.

    Attributes:
        name: The key of its draw, or what the group is.
        share: Part of the variance of ln(rate).
        left: Part of the interval's width that would stay if it were known.
        measure: How to find it out.
        key: Its keys in the path file, or what it is charged for.
    """

    name: str
    share: float
    left: float
    measure: str
    key: str = ""

    @property
    def what(self) -> str:
        """What it is, in words; a parameter by its key."""
        first, _, rest = self.name.partition(" ")
        if first == "discrepancy":
            return f"what the model misses of {_TOOLS.get(rest, rest)}"
        if first == "repeat":
            return f"chance from run to run where {_HOLDS.get(rest, rest)} holds"
        return self.key or self.name


def of_path(given: PathSpec, seed: int = 1, samples: int = SAMPLES, *, mean: bool = False) -> tuple[Share, ...]:
    """Why the interval of a path's prediction is wide: shares of the variance, the largest first.

    Args:
        given: The path.
        seed: Seed of the draws.
        samples: Scenarios that they are computed from.
        mean: Whether the interval is that of the long-run mean.
    """
    p = predict(given, samples=samples, seed=seed, mean=mean)
    found = shares(p.drawn, given.correlation.keys) if p.drawn is not None else ()
    places, nominal = given.written_as, p.problem
    keys = [named(s.name, nominal, places) for s in found]
    return tuple(
        replace(s, key=key, measure=how_on(key if key.startswith("cost of ") else s.name, given.hosts_of(key)))
        for s, key in zip(found, keys, strict=True)
    )


def shares(drawn: Drawn, correlated: Iterable[str] = (), least: float = 0.005) -> tuple[Share, ...]:
    """Shares of the variance, the largest first.

    Args:
        drawn: The scenarios of a prediction.
        correlated: Keys of parameters that were fitted together (``PathSpec.correlation.keys``).
        least: Shares below this are left out.
    """
    y = np.log(np.maximum(drawn.total_Bps, 1e-300))
    y = np.clip(y, *quantile(y, _INSIDE))
    y = y - y.mean()
    variance = float(y.var())
    if variance < 1e-18:
        return ()
    groups = _groups(drawn.scores, frozenset(correlated))
    columns = [np.column_stack([_hermite(drawn.scores[k]) for k in keys]) for keys in groups.values()]
    design = np.column_stack(columns)
    design -= design.mean(axis=0)
    # the columns are nearly orthogonal, or the same: normal equations take a fiftieth of what all scenarios take
    fitted, *_ = np.linalg.lstsq(design.T @ design, design.T @ y, rcond=1e-12)
    left = float((y - design @ fitted).var())
    found, begin = [], 0
    for name, part in zip(groups, columns, strict=True):
        end = begin + part.shape[1]
        own = float((design[:, begin:end] @ fitted[begin:end]).var())
        # what as many polynomials of nothing would explain by chance
        index = max(own - left * part.shape[1] / y.size, 0.0) / variance
        begin = end
        if index >= least:
            found.append(Share(name, min(index, 1.0), math.sqrt(max(1 - index, 0.0)), how(name)))
    return tuple(sorted(found, key=lambda s: -s.share))


def _groups(keys: Iterable[str], correlated: frozenset[str]) -> dict[str, list[str]]:
    """Keys that are found out together: what was fitted at once; the model's errors of a tool, whatever holds it."""
    groups: dict[str, list[str]] = {}
    for key in keys:
        name = f"fitted parameters of {key.partition(': ')[0]}" if key in correlated else key
        if name.startswith("discrepancy "):
            name = f"discrepancy {name.removeprefix('discrepancy ').rpartition('/')[2]}"
        groups.setdefault(name, []).append(key)
    return groups


def _hermite(z: Array) -> Array:
    return np.column_stack([z, (z**2 - 1) / math.sqrt(2)])


def how(name: str, system: str = "linux") -> str:
    """How to find a number out, by its key, on a host with a system: linux, windows, macos or freebsd."""
    if name.startswith("fitted parameters"):
        return "more component tests for 'dtnsim calibrate'"
    words = next((words for part, words in _MEASURE if part in name), "its data sheet, or a test of that part alone")
    for here, there in _ELSEWHERE.get(system, {}).items():
        words = words.replace(here, there)
    return words


def how_on(name: str, hosts: Mapping[str, Host]) -> str:
    """How to find a number out on the hosts whose keys name it, each as its system has it.

    Args:
        name: Key of its draw, or in the path file.
        hosts: The hosts that it is of, by name.
    """
    words: dict[str, list[str]] = {}
    for host in hosts.values():
        words.setdefault(how(name, host.system), []).append(host.name)
    several = (f"{said} (on {' and '.join(names)})" for said, names in words.items())
    return "; ".join(several) if len(words) > 1 else next(iter(words), how(name))
