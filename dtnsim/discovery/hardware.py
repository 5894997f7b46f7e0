"""Processors, memory, kernel and its settings."""

import re
from typing import Final

from dtnsim.discovery import pasted
from dtnsim.discovery.outputs import Outputs, Stated, Tree, digits
from dtnsim.logs._numbers import decimal
from dtnsim.physics.tcp import controls

_MHZ: Final = re.compile(r"(\d+(?:[.,]\d+)?)")  # with a comma where the numbers of a locale have one
_AT: Final = re.compile(r"@\s*([\d.]+)\s*GHz", re.IGNORECASE)
_GIB: Final = 2.0**30
_STACKS: Final = (((2, 6, 99), "linux-2.6.32"), ((3, 99), "linux-3.10"))  #: kernel release up to this -> shipped stack


def cpu(outputs: Outputs) -> Tree:
    """Sockets, cores, threads and clock; a part of the library where the model is one."""
    facts = outputs.keyed("lscpu")
    model, where = facts.get("Model name", ("", "lscpu"))
    part = known_cpu(model)
    tree: Tree = {"part": Stated(part, f"{where}: {model}")} if part else {"kind": Stated("cpu", f"{where}: {model}")}
    for key, name in (("sockets", "Socket(s)"), ("cores", "Core(s) per socket"), ("smt", "Thread(s) per core")):
        value, line = facts.get(name, ("", ""))
        if digits(value):
            tree[key] = Stated(int(value), f"{line}: {name}")
    if not part and (clock := _clock(facts, model, where)) is not None:
        tree["clock"] = clock
    if not part and not {"cores", "clock"} <= tree.keys():
        del tree["kind"]  # what is not said is drawn
    return tree


def known_cpu(model: str) -> str:
    """The shipped part of a model, or nothing: every word of the part's name but its vendor stands in the model's."""
    return next(pasted.shipped("cpu", model, r"\ds|intel|amd"), "")


def _clock(facts: dict[str, tuple[str, str]], model: str, where: str) -> Stated | None:
    for name, spread in (("CPU max MHz", "15 %"), ("CPU MHz", "15 %")):
        value, line = facts.get(name, ("", ""))
        if _MHZ.fullmatch(value):
            return Stated(f"{{value: {decimal(value) / 1e3:.4g} GHz, spread: {spread}}}", f"{line}: {name}")
    named = _AT.search(model)
    if named:
        return Stated(f"{{value: {named[1]} GHz, spread: 15 %}}", f"{where}: in the model's name; turbo may be more")
    value, line = facts.get("BogoMIPS", ("", ""))
    if _MHZ.fullmatch(value):
        ghz = decimal(value) / 2e3
        return Stated(f"{{value: {ghz:.4g} GHz, spread: 20 %}}", f"{line}: half of BogoMIPS, the clock of its counter")
    return None


def memory(outputs: Outputs, sockets: int) -> Tree:
    """Size, channels and rate as far as lines say them; the rest is drawn."""
    tree: Tree = {}
    facts = outputs.keyed("meminfo")
    modules = sum(key.startswith("module.") for key in facts)
    rate, line = facts.get("module.0", ("0", ""))
    model, where = outputs.keyed("lscpu").get("Model name", ("", ""))
    most = sockets * pasted.of_model("channels", model)
    if modules and most:
        tree["channels"] = Stated(min(modules, most), f"{line}: {modules} modules; {model} has {most} channels")
    elif modules:
        tree["channels"] = Stated(min(modules, 64), f"{line}: {modules} modules; two to a channel would halve it")
    elif most:
        tree["channels"] = Stated(
            most, f"{where}: those of {model}", "whether all have a module: dmidecode -t memory (root)"
        )
    if rate == "0" and (soldered := pasted.of_model("soldered", model)):
        rate, line = str(soldered), f"{where}: {model}"
    if rate != "0":
        tree["rate"] = Stated(f"{rate} MT/s", line)
    total, where = facts.get("MemTotal", ("", ""))
    size = total.removesuffix("kB").strip()
    if digits(size):
        tree["size"] = Stated(f"{int(size) * 1024 / _GIB:.4g} GiB", f"{where}: MemTotal")
    elif nodes := [m for m in outputs.measured("numactl") if m.conditions.get("view") == "total"]:
        tree["size"] = Stated(f"{sum(m.value for m in nodes) / _GIB:.4g} GiB", f"numactl:{nodes[0].line}: its nodes")
    elif "Installed" in facts:
        tree["size"] = Stated(f"{int(facts['Installed'][0]) / _GIB:.4g} GiB", f"{facts['Installed'][1]}: its modules")
    return {"kind": Stated("memory", "")} | tree if {"channels", "rate", "size"} <= tree.keys() else tree


def stack(outputs: Outputs) -> Stated:
    """The shipped costs of the kernel's generation."""
    release, line = outputs.texts.get("kernel", "").strip(), "kernel:1"
    release, line = (release, line) if release else outputs.keyed("system").get("kernel", ("", ""))
    numbers = tuple(int(n) for n in re.findall(r"\d+", release)[:3])
    if not numbers:
        return Stated("linux-modern", "assumed: a kernel of the last years", "uname -r")
    fitting = next((name for last, name in _STACKS if numbers <= last), "linux-modern")
    return Stated(fitting, f"{line}: {release}")


def system(outputs: Outputs) -> Tree:
    """The operating system, where it is not Linux, or the shipped costs of the kernel's generation."""
    facts = outputs.keyed("system")
    if "os" in facts:
        return {"os": Stated(*facts["os"])}
    if "mac" in facts:
        return {"os": Stated("macOS", f"{facts['mac'][1]}: {facts['mac'][0]}")}
    windows = "windows" in facts or any("letter" in r.said for r in outputs.records)
    return {"os": Stated("Windows", "its drives have letters")} if windows else {"stack": stack(outputs)}


def tcp(outputs: Outputs) -> Tree:
    """TCP's settings."""
    facts, tree = outputs.keyed("sysctl"), Tree()
    cc, where = facts.get("net.ipv4.tcp_congestion_control", ("", ""))
    if cc in controls.names():
        tree["cc"] = Stated(cc, where)
    elif cc:
        tree["cc"] = Stated("cubic", f"{where}: {cc}, which has no model", "the nearest of dtnsim tcp's algorithms")
    for key in ("rmem", "wmem"):
        value, where = facts.get(f"net.ipv4.tcp_{key}", ("", ""))
        sizes = value.split()
        if len(sizes) == 3 and digits(sizes[2]):
            tree[f"{key}_max"] = Stated(f"{sizes[2]} B", f"{where}: tcp_{key}[2]")
        core, where = facts.get(f"net.core.{key}_max", ("", ""))
        if digits(core):
            tree[f"core_{key}_max"] = Stated(f"{core} B", f"{where}: net.core.{key}_max")
    for number, line in outputs.lines("tc"):
        if "qdisc fq " not in line:
            continue
        tree["fq"] = Stated("true", f"tc:{number}: fq")
        if paced := re.search(r"\bmaxrate (\d+)([KMG])bit", line):
            tree["pacing"] = Stated(f"{paced[1]} {paced[2].replace('K', 'k')}b/s", f"tc:{number}: fq maxrate")
    return tree


def vm(outputs: Outputs) -> Tree:
    """Limits on dirty pages."""
    facts, tree = outputs.keyed("sysctl"), Tree()
    for kind in ("dirty", "dirty_background"):
        size, where = facts.get(f"vm.{kind}_bytes", ("0", ""))
        ratio, line = facts.get(f"vm.{kind}_ratio", ("", ""))
        if digits(size) and int(size) > 0:
            tree[f"{kind}_bytes"] = Stated(f"{size} B", where)
        elif digits(ratio) and int(ratio) > 0:
            tree[f"{kind}_ratio"] = Stated(f"{ratio} %", line)
    age, where = facts.get("vm.dirty_expire_centisecs", ("", ""))
    if digits(age):
        tree["dirty_expire"] = Stated(f"{int(age) / 100:g} s", where)
    return tree
