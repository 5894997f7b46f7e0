"""What a host's kernel is set to: TCP's buffers and congestion control, and what its page cache lets gather."""

from dataclasses import replace
from typing import Annotated, Any, Final, Literal, Self

from pydantic import model_validator

from dtnsim.components.base import Model
from dtnsim.components.model import Read
from dtnsim.components.stack import Stack
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Mixture, Quantity, Unit, Value, factor_spread, ideally, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import cache
from dtnsim.physics.tcp import controls, linux, window

Role = Literal["untuned", "dtn", "cloud"]

_DEFAULTS: Final = "tcp(7) and net/ipv4/tcp.c, tcp_init: 6 MiB to receive and 4 MiB to send from 768 MB of memory on"
_SINCE: Final = "Linux net/ipv4/tcp.c, tcp_init: 32 MiB to receive since 6.16"
_UNTUNED: Final = tuple(prior(f"{size >> 20} MiB", 0.05, _DEFAULTS) for size in linux.DEFAULT_B)
_IMAGES: Final = (
    "images and clusters of providers: between Linux' default and 8 MiB, which some runs between regions show"
)
_CLOUD: Final = (prior("6.9 MiB", factor_spread(1.15), f"{_IMAGES} (calibration/wan-truth)"), _UNTUNED[1])
_ADVICE: Final = "assumed: ESnet fasterdata, host tuning: 64 MiB for 10 Gb/s, 2 GiB for 100 Gb/s, older hosts 32 MiB"
_DTN: Final = (prior("128 MiB", factor_spread(3.0), _ADVICE),) * 2
#: largest receive and send buffers by what a host is for, the smallest first
ROLES: Final = {"untuned": _UNTUNED, "cloud": _CLOUD, "dtn": _DTN}
#: those of hosts of which nobody says it: one draw for the ends of a path, which are mostly alike
_RECEIVE, _SEND = (Mixture.of_kinds("role", [sizes[n] for sizes in ROLES.values()]) for n in range(2))
#: what programs may ask for where nobody has raised it, and from which largest buffer on somebody has raised both
_ASKED: Final = prior("208 KiB", 0.0, "Linux net/core/sock.c: net.core.rmem_max and wmem_max, 3.2 to 6.17")
_RAISED_B: Final = 2.0**23


def _core(size: Quantity) -> Quantity:
    """What programs may ask for beside a largest buffer: who raises one raises the other, as all advice has it."""
    return size if size.value > _RAISED_B else _ASKED


_CORE: Final = Mixture.of_kinds("role", [_core(sizes[0]) for sizes in ROLES.values()])
#: largest that Linux takes; 2 GiB, which is one byte more, is what people write for it
MOST_B = window.MOST_SYSCTL_B + 1
#: what Linux leaves to dirty pages where nothing is set
_LINUX: Final = "Linux Documentation/admin-guide/sysctl/vm.rst"
_RATIOS: Final = cache.DIRTY_RATIOS[0][1]


def known_control(value: Any) -> str:
    """The name, where there is such an algorithm."""
    names = controls.names()
    if value in names:
        return str(value)
    from pydantic_core import PydanticKnownError

    words = [repr(name) for name in names]
    raise PydanticKnownError("literal_error", {"expected": f"{', '.join(words[:-1])} or {words[-1]}"})


#: a field that names one of the congestion controls that `dtnsim.physics.tcp.controls` finds
CongestionControl = Annotated[str, Read(known_control, lambda: {"enum": list(controls.names()), "type": "string"})]


class TcpTuning(Model):
    """The host's TCP settings.

    Attributes:
        cc: Congestion control (net.ipv4.tcp_congestion_control).
        rmem_max: Largest receive buffer (tcp_rmem[2]).
        wmem_max: Largest send buffer (tcp_wmem[2]).
        core_rmem_max: Most that Linux gives a program that asks for a receive buffer, like iperf3 -w
            (net.core.rmem_max); where not given, as much as ``rmem_max`` where that has been raised beyond 8 MiB.
        core_wmem_max: The same of send buffers (net.core.wmem_max).
        receive_share: Part of the receive buffer that is window; by the kernel of the host's stack where not given.
        pacing: Rate at which a stream is paced (tc fq maxrate, --fq-rate).
        fq: Whether packets are spaced as TCP asks (tc qdisc fq, net.core.default_qdisc=fq); no burst overflows a buffer
            then. Linux' usual fq_codel and pfifo_fast space none.
    """

    cc: Annotated[
        CongestionControl, Otherwise("bbr", "senders set up for long or lossy paths (net.ipv4.tcp_congestion_control)")
    ] = "cubic"
    rmem_max: Annotated[Quantity, Unit("B", low=1024, high=MOST_B)] = ideally("6 MiB", _RECEIVE)
    wmem_max: Annotated[Quantity, Unit("B", low=1024, high=MOST_B)] = ideally("4 MiB", _SEND)
    core_rmem_max: Annotated[Quantity, Unit("B", low=1024, high=MOST_B)] = ideally("208 KiB", _CORE)
    core_wmem_max: Annotated[Quantity, Unit("B", low=1024, high=MOST_B)] = ideally("208 KiB", _CORE)
    receive_share: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] | None = None
    pacing: Annotated[Quantity, Unit("B/s", low=1e3)] | None = None
    fq: Annotated[bool, Otherwise("true", "hosts tuned for long paths (tc qdisc show; net.core.default_qdisc)")] = False

    @model_validator(mode="after")
    def _asked_for(self) -> Self:
        for name in self.model_fields_set & {"rmem_max", "wmem_max"}:
            if (core := f"core_{name}") not in self.model_fields_set:
                self.__dict__[core] = _core(getattr(self, name))
        return self

    def of_role(self, role: Role) -> Self:
        """The same settings, with what is not stated as hosts of a role have it."""
        tuned = self.model_copy()
        for name, usual in zip(("rmem_max", "wmem_max"), ROLES[role], strict=True):
            if name not in self.model_fields_set:  # which still says what a file states
                tuned.__dict__[name] = replace(usual, typical=usual)
                if (core := f"core_{name}") not in self.model_fields_set:
                    tuned.__dict__[core] = replace(limit := _core(usual), typical=limit)
        return tuned

    def of_kernel(self, stack: Stack) -> Self:
        """The same settings, with the receive buffers that a kernel of which the version is stated begins with."""
        (since, size), current = linux.RECEIVED_B, self.rmem_max
        stated = "rmem_max" in self.model_fields_set or "kernel" not in stack.model_fields_set
        if stated or stack.release is None or stack.release < since or current.value >= size:
            return self
        tuned, largest = self.model_copy(), current.worth(size, _SINCE)
        kinds = current.typical.kinds if isinstance(current.typical, Mixture) else ()
        usual = Mixture.of_kinds("role", [k if k.value >= size else largest for k in kinds]) if kinds else largest
        tuned.__dict__["rmem_max"] = replace(largest, typical=usual)
        return tuned

    def granted(self, name: str, stack: Stack) -> Quantity:
        """Most that a program gets (``rmem_max`` or ``wmem_max``), by the kernel where nobody has raised it."""
        limit: Quantity = getattr(self, f"core_{name}")
        stated = f"core_{name}" in self.model_fields_set and limit.typical is None
        if stated or limit.value > _ASKED.value or stack.release is None:
            return limit
        size, usual = next(size for before, size in linux.GRANTED_B if stack.release < before), limit.typical
        if size == limit.value:
            return limit
        if isinstance(usual, Mixture):
            kinds = (k if k.value > _RAISED_B else k.worth(size) for k in usual.kinds)
            usual = Mixture.of_kinds(usual.chooser, kinds)
        elif usual is not None:
            usual = usual.worth(size)
        return replace(limit, value=size, text=f"{size / 1024:g} KiB", typical=usual)

    def share(self, stack: Stack, mtu_B: float) -> float:
        """Part of the receive buffer that is window."""
        if self.receive_share is not None:
            return self.receive_share.value
        return float(linux.receive_share(mtu_B, stack.kernel))


class Vm(Model):
    """The kernel's write-back settings (``sysctl vm.*``) and what programs hold of the memory.

    Attributes:
        dirty_ratio: Part of the free memory that may be dirty before writers are throttled (vm.dirty_ratio / 100).
        dirty_background_ratio: Part from which on write-back runs (vm.dirty_background_ratio / 100).
        dirty_bytes: The same limit in bytes (vm.dirty_bytes); it replaces the ratio.
        dirty_background_bytes: In bytes (vm.dirty_background_bytes); it replaces the ratio.
        dirty_expire: Age at which a dirty page is written however few there are (vm.dirty_expire_centisecs).
        used: Memory that programs hold, which neither dirty pages nor cached files can have.
    """

    dirty_ratio: Annotated[
        Quantity,
        Unit("1", low=0.001, high=1.0),
        Otherwise("40 %", "tuned's profiles for throughput on RHEL (sysctl vm)"),
    ] = prior(f"{_RATIOS[1]:g}", 0.0, f"default 20 %, {_LINUX}; by the kernel, 40 % before 2.6.22, 10 % to 2.6.29")
    dirty_background_ratio: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        f"{_RATIOS[0]:g}", 0.0, f"default 10 %, {_LINUX}; by the kernel, 5 % from 2.6.22 to 2.6.29"
    )
    dirty_bytes: Annotated[Quantity, Unit("B", low=8192)] | None = None
    dirty_background_bytes: Annotated[Quantity, Unit("B")] | None = None
    dirty_expire: Annotated[Quantity, Unit("s", high=1e6)] = prior("30 s", 0.0, f"default 3000 centiseconds, {_LINUX}")
    used: Annotated[Quantity, Unit("B")] = prior("0 B", 0.0, "nothing is said of programs that hold memory")

    @model_validator(mode="before")
    @classmethod
    def _bytes_or_ratio(cls, raw: object) -> object:
        if isinstance(raw, str):
            message = "has settings of the page cache, {dirty_ratio: 10 %}; a virtual machine is 'kind: vm'"
            raise ValueError(message)  # noqa: TRY004 - pydantic's own
        if isinstance(raw, dict):
            for name in ("dirty", "dirty_background"):
                ratio = str(raw.get(f"{name}_ratio", ""))
                if ratio.isdigit() and int(ratio) > 0:
                    raise ValueError(f"{name}_ratio: {ratio} is per cent, as sysctl prints it: write {ratio} %")
                if f"{name}_bytes" in raw and f"{name}_ratio" in raw:
                    raise ValueError(f"write {name}_bytes or {name}_ratio: Linux forgets one when the other is set")
        return raw

    def dirty_limits(self, row: Row, stack: Stack, memory_B: Value, held_B: float = 0.0) -> tuple[Value, Value]:
        """Dirty bytes from which on write-back runs, and those at which writers are throttled [B]."""
        usual = next(ratios for first, ratios in cache.DIRTY_RATIOS if stack.release is None or stack.release >= first)
        ratios = (
            row.value(getattr(self, name)) if name in self.model_fields_set else ratio
            for name, ratio in zip(("dirty_background_ratio", "dirty_ratio"), usual, strict=True)
        )
        background, limit = cache.dirty_limits(self.free(row, memory_B, held_B), *ratios)
        at_most = limit if self.dirty_bytes is None else row.value(self.dirty_bytes)
        begins = background if self.dirty_background_bytes is None else row.value(self.dirty_background_bytes)
        return cache.below_limit(begins, at_most), at_most

    def free(self, row: Row, memory_B: Value, held_B: float = 0.0) -> Value:
        """Memory for files: what programs do not hold [B]."""
        return cache.dirtyable_bytes(memory_B, row.value(self.used) + held_B)
