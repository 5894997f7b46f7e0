"""Suggested tests as a POSIX script that their owner reads, runs on the host, and whose logs `calibrate` takes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from dtnsim.evidence.suggest import Suggestion
from dtnsim.ground.term import plural

_HEAD: Final = """#!/bin/sh
# Made by 'dtnsim calibrate --suggest': {what} on {host}, each run $repeats times.
#   sh suggested.sh [DIR [REPEATS]]      DIR takes the logs (dtnsim-logs), 3 repeats
#   dtnsim calibrate DIR --host {file} -o {host}-fitted.yaml
# Writes test files of up to {room} GiB into a new folder on each volume and removes them. Run it on other days too.
out=${{1:-dtnsim-logs}}; repeats=${{2:-3}}; mkdir -p "$out" || exit 1
LC_ALL=C; export LC_ALL; dir=
trap '[ -z "$dir" ] || rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
# begin VOLUME KIB: makes $dir on a volume with that much room
begin() {{
  dir=; free=$(df -Pk "$1" 2>/dev/null | awk 'NR == 2 {{ print $4 }}')
  if [ "${{free:-0}}" -lt "$2" ]; then echo "skipped: $1 has no $2 KiB free" >&2; return 1; fi
  dir="${{1%/}}/dtnsim-test.$$"; mkdir "$dir" || {{ dir=; return 1; }}
}}
finish() {{ rm -rf "$dir"; dir=; }}
# run NAME COMMAND...: its output goes to a log of its own; a command line stands above what prints none
run() {{
  name=$1; shift
  command -v "$1" >/dev/null || {{ echo "skipped: there is no $1" >&2; return; }}
  log="$out/$name-$(date -u +%Y-%m-%dT%H%M%S).log"; echo "$*" >&2
  if [ "$1" = fio ]; then "$@" >"$log"; else {{ date -u; echo "\\$ $*"; "$@"; }} >"$log" 2>&1; fi
}}
keep() {{
  name=$1; shift; command -v "$1" >/dev/null && "$@" >"$out/$name" 2>/dev/null
  [ -s "$out/$name" ] || rm -f "$out/$name"
}}
keep lsblk.json lsblk -J -b; keep mdstat.txt cat /proc/mdstat; keep zpool-status.txt zpool status -P
i=0
while [ "$i" -lt "$repeats" ]; do i=$((i + 1))
"""


def script(chosen: Sequence[Suggestion], left: Sequence[str], host: str, file: str) -> str:
    """The script.

    Args:
        chosen: Tests in their order.
        left: Parameters that none of them determines.
        host: Name of the host.
        file: Its file, as the user wrote it.
    """
    room = max((s.test.size_B for s in chosen), default=0.0) / 2**30
    lines = [_HEAD.format(what=plural(len(chosen), "test"), host=host, file=shlex.quote(file), room=f"{room:.0f}")]
    for number, s in enumerate(chosen, 1):
        lines.append(f"# {number}: determines {', '.join(s.determines)}\n")
        volume, kib = shlex.quote(s.test.volume), f"{s.test.size_B / 1024:.0f}"
        words = " ".join(_word(w) for w in s.test.command)
        lines.append(f"if begin {volume} {kib}; then run {s.test.tool}-{number} {words}; finish; fi\n")
    lines.append("done\n")
    lines += [f"# {line}\n" for line in elsewhere(left)]
    return "".join(lines)


def _word(word: str) -> str:
    key, mark, value = word.partition("=")
    if value == "DIR":
        return f'{key}{mark}"$dir"'
    return f'{key}{mark}"$dir"/file' if value == "FILE" else shlex.quote(word)


#: what determines parameters that no test of a volume does: beginning of the key, what to do
_ELSEWHERE: Final = (
    (("stack.send", "stack.receive", "stack.socket", "stack.interrupt", "stack.aggregate", "stack.sendfile"),
     "iperf3 -P 1 and -P 8 to another host, as cases with role: fit (dtnsim init --cases)"),
    (("cpu.", "memory.", "slots.", "hbas.", "nics."),
     "the data sheets: 'dtnsim discover' writes what is built in; values of your own need 'spread:' and 'source:'"),
)  # fmt: skip


def elsewhere(left: Sequence[str]) -> list[str]:
    """What would determine parameters that these tests leave open."""
    lines, rest = [], list(left)
    for starts, what in _ELSEWHERE:
        mine = [k for k in rest if k.startswith(starts)]
        rest = [k for k in rest if k not in mine]
        if mine:
            lines.append(f"{', '.join(mine)}: {what}")
    if rest:
        lines.append(f"no test of these narrows: {', '.join(rest)}; they keep what the description says")
    return lines
