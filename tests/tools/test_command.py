"""Command lines as people type them."""

import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.tools._command import parse, programs
from dtnsim.tools.plan import Tool
from tests.each import rows


@pytest.mark.parametrize(("line", "options"), rows("tools/tables", "lines"))
def test_lines_are_read_by_the_tools_own_options(line, options):
    assert parse(line) == options


@pytest.mark.parametrize("program", sorted(programs()))
def test_every_program_makes_a_tool_and_refuses_what_it_does_not_know(program):
    told = parse(program)
    Tool.build({"kind": told.pop("name"), **told})
    with pytest.raises(SpecError, match="has no option"):
        parse(f"{program} --warp-speed")


@pytest.mark.parametrize("line", ["", "warp -9", "scp 'open", "scp -l"])
def test_what_is_no_command_line_is_an_error(line):
    with pytest.raises(SpecError):
        parse(line)


def test_tools_without_a_manner_of_their_own_are_read_by_their_options() -> None:
    wanted = {"name": "ior", "test": "write", "t": "1 MiB", "b": "4 GiB", "e": True}
    assert parse("ior -w -F -t 1m -b 4g -e -o /scratch/f") == wanted
    assert parse("iozone -r 1m -t 4 -e") == {"name": "iozone", "r": "1 MiB", "t": "4", "e": True}
    with pytest.raises(SpecError, match=r"bonnie has no option .--rw=write"):
        parse("bonnie --rw=write")
