"""The README's table of tools: every public run is in it, and no tool is far off."""

from __future__ import annotations

from dtnsim.report import accuracy


def test_some_points_of_every_tool_make_a_table(monkeypatch):
    every = accuracy.tool_points()
    assert sum(len(p) for p in every) == 637
    monkeypatch.setattr(accuracy, "tool_points", lambda: every[::6])
    lines = accuracy.tools_markdown().splitlines()
    names = {p[0]["tool_key"] for p in every[::6]}
    assert {line.split("|")[1].strip() for line in lines[2:]} == {*names, "**all**"}
    assert float(lines[-1].split("|")[3].strip(" %")) < 6.0
