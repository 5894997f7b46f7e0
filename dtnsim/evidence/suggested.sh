#!/bin/sh
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
  if [ "$1" = fio ]; then "$@" >"$log"; else {{ date -u; echo "\$ $*"; "$@"; }} >"$log" 2>&1; fi
}}
keep() {{
  name=$1; shift; command -v "$1" >/dev/null && "$@" >"$out/$name" 2>/dev/null
  [ -s "$out/$name" ] || rm -f "$out/$name"
}}
keep lsblk.json lsblk -J -b; keep mdstat.txt cat /proc/mdstat; keep zpool-status.txt zpool status -P
i=0
while [ "$i" -lt "$repeats" ]; do i=$((i + 1))
