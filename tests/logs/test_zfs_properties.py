"""``zfs get`` and ``zfs list``.

Outputs of exercises on GitHub (a small pool with zle, four pools side by side), notes on compression (lz4, 884 GB), a
Spanish course (a pool of files).
"""

from __future__ import annotations

import pytest

MIB, GIB, TIB = 2.0**20, 2.0**30, 2.0**40
OTUS = """\
root@lab:/otus# zfs get all otus
NAME  PROPERTY              VALUE                  SOURCE
otus  type                  filesystem             -
otus  creation              Fri May 15  4:00 2020  -
otus  used                  4.93M                  -
otus  available             347M                   -
otus  referenced            24K                    -
otus  compressratio         1.23x                  -
otus  mounted               yes                    -
otus  quota                 none                   default
otus  recordsize            128K                   local
otus  mountpoint            /otus                  default
otus  checksum              sha256                 local
otus  compression           zle                    local
otus  atime                 on                     default
"""
NOTES = """\
data                 used                  884G                  -
data                 compressratio         1.47x                 -
data                 compression           lz4                   local
data                 logicalused           1.24T                 -
"""
COURSE = """\
debian@fs-avanzado:~$ sudo zfs get all prueba1
NAME     PROPERTY              VALUE                      SOURCE
prueba1  type                  filesystem                 -
prueba1  creation              Tue Jan 12 18:10 2021      -
prueba1  used                  297M                       -
prueba1  available             3.55G                      -
prueba1  referenced            24K                        -
prueba1  compressratio         1.00x                      -
"""
FOUR = """\
otus1  compressratio         1.81x                  -
otus2  compressratio         2.22x                  -
otus3  compressratio         3.64x                  -
otus4  compressratio         1.00x                  -
"""
LIST = """\
root@zfs:~# zfs list
NAME     USED  AVAIL     REFER  MOUNTPOINT
zfspl1  43.3M   789M     43.2M  /zfspl1
zfspl2  35.3M   797M     35.2M  /zfspl2
"""


@pytest.mark.parametrize(
    ("text", "name", "used", "free", "ratio"),
    [
        (OTUS, "otus", 4.93 * MIB, 347 * MIB, 1.23),
        (COURSE, "prueba1", 297 * MIB, 3.55 * GIB, 1.0),
    ],
)
def test_sizes_are_binary(log, text, name, used, free, ratio):
    found = log(text)
    assert found.value("capacity", target=name, view="used") == pytest.approx(used)
    assert found.value("capacity", target=name, view="free") == pytest.approx(free)
    assert found.value("ratio", of="compression") == ratio
    assert not found.unread


def test_settings_go_with_what_they_change(log):
    known = log(OTUS).one("bytes", of="recordsize").conditions
    assert log(OTUS).value("bytes", of="recordsize") == 131072
    assert (known["compression"], known["checksum"], known["atime"]) == ("zle", "sha256", "on")
    assert log(OTUS).one("ratio").conditions["host"] == "lab"


def test_lines_without_a_heading(log):
    assert [r.value for r in log(FOUR).all("ratio")] == [1.81, 2.22, 3.64, 1.0]
    assert log(NOTES).value("ratio", target="data") == 1.47
    headed = log("NAME PROPERTY VALUE SOURCE\n" + NOTES)
    assert headed.value("capacity", view="logical") == pytest.approx(1.24 * TIB)
    assert headed.one("ratio").conditions["compression"] == "lz4"
    assert headed.value("capacity", view="logical") / headed.value("capacity", view="used") == pytest.approx(
        1.47, rel=0.03
    )


def test_lists(log):
    found = log(LIST)
    assert found.value("capacity", target="zfspl1", view="used") == pytest.approx(43.3 * MIB)
    assert found.value("capacity", target="zfspl2", view="free") == 797 * MIB
    assert len(found.found) == 6
