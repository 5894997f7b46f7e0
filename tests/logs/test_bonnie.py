"""bonnie++: text, CSV and HTML of one run agree; -f; wrapped and mailed tables; units.

Own runs of 2.00a (data/bonnie/*200a*); venadi_197.html is printed in the Venadi document. The other tables have the
layout of versions 1.03 and 1.97 with invented figures.
"""

from __future__ import annotations

import pytest

KIB, MIB, GIB = 2.0**10, 2.0**20, 2.0**30

TABLE_103 = """\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
box              4G 20202  60 30433  20 11861  13 43262  97 90359  51 415.3   2
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16  1094  40 +++++ +++ 15510  66   204  86 +++++ +++   906  83
"""


def test_the_three_forms_of_one_run_agree(log):
    csv, html, text = (log(f"bonnie/quiet_200a{end}") for end in (".csv", ".html", "_csv2txt.txt"))
    for operation in ("write", "write_per_char", "read_per_char"):
        exact = csv.value("throughput", operation=operation)
        assert html.value("throughput", operation=operation) == pytest.approx(exact, rel=2e-3)
        assert text.value("throughput", operation=operation) == pytest.approx(exact, rel=2e-3)
    exact = csv.value("rate", operation="sequential_create")
    assert html.value("rate", operation="sequential_create") == exact
    assert text.value("rate", operation="sequential_create") == exact
    for found in (csv, html, text):
        assert not found.all("throughput", operation="read")  # too fast to time
        assert found.one("latency", operation="write").conditions["statistic"] == "max"


def test_a_table_and_its_csv_line_are_one_run(log):
    found = log("bonnie/full_200a.txt")
    write = found.one("throughput", operation="write")
    assert write.line == 11  # the CSV line, which has more digits
    assert write.conditions["file_B"] == 512 * MIB


def test_the_create_rates_of_200_text_are_not_read(log):
    # own runs: CSV 3176, 5413, 2215, 5511 per second where the text prints 4096 four times
    table = "\n".join(open_lines(log, "bonnie/full_200a.txt")[:10]) + "\n"
    assert not log(table).all("rate")


def open_lines(log, name):
    from pathlib import Path

    return (Path(__file__).parent / "data" / name).read_text().splitlines()


def test_fast_mode_leaves_columns_empty(log):
    found = log("bonnie/fast_200a.txt")
    assert not found.all("throughput", operation="write_per_char")
    assert found.one("throughput", operation="write").version == "2.00a"
    assert found.one("iops", operation="seek").value > 0
    text = "\n".join(open_lines(log, "bonnie/fast_200a.txt")[:5]) + "\n"
    for operation in ("write", "rewrite"):
        exact = found.value("throughput", operation=operation)
        assert log(text).value("throughput", operation=operation) == pytest.approx(exact, rel=6e-3)
        # the suffix is 1024-based: 97305 K in the CSV is 95.0m in the text, not 97.3m


def test_venadi_html(log):
    found = log("bonnie/venadi_197.html")
    assert found.value("throughput", operation="write") == 1476574 * KIB
    assert found.value("throughput", operation="read") == 3530242 * KIB
    assert found.value("iops", operation="seek") == 4029
    assert found.value("cpu_share", operation="seek") == pytest.approx(1.07)
    assert found.one("throughput", operation="rewrite").conditions["file_B"] == 252 * GIB
    assert not found.all("rate")  # +++++


def test_103_table(log):
    found = log(TABLE_103)
    assert found.value("throughput", operation="write") == 30433 * KIB
    assert found.value("throughput", operation="read") == 90359 * KIB
    assert found.value("iops", operation="seek") == 415.3
    assert found.value("cpu_share", operation="write") == pytest.approx(0.20)
    assert found.value("rate", operation="sequential_create") == 1094
    assert found.value("rate", operation="random_delete") == 906
    assert found.one("rate", operation="sequential_delete").version == "1.03"


def test_mailed_and_wrapped(log):
    quoted = "".join("> " + line + "\n" for line in TABLE_103.splitlines())
    assert log(quoted).value("throughput", operation="write") == 30433 * KIB
    head, row = TABLE_103.splitlines()[:3], TABLE_103.splitlines()[3]
    wrapped = "\n".join([*head, row[:60].rstrip() + " =", row[60:], "", ""]) + "\n"
    assert log(wrapped).value("throughput", operation="read") == 90359 * KIB
    squeezed = "\n".join(" ".join(line.split()) for line in TABLE_103.splitlines()) + "\n"
    assert log(squeezed).value("throughput", operation="rewrite") == 11861 * KIB


def test_names_that_touch_the_size_and_many_rows(log):
    rows = (
        "Raid0 (8 disk)15744M 54406  96 247419 90 100752 25 60266  98 226651 29 830.2   1\n"
        "Raid1+0       15744M 52496  94 202497 77 55928  14 60150  98 270509 34 930.2   1\n"
    )
    found = log("\n".join(TABLE_103.splitlines()[:3]) + "\n" + rows)
    assert found.value("throughput", operation="write", machine="Raid0 (8 disk)") == 247419 * KIB
    assert found.value("throughput", operation="write", machine="Raid1+0") == 202497 * KIB
    assert {r.conditions["file_B"] for r in found.all("throughput")} == {15744 * MIB}


@pytest.mark.parametrize(
    ("line", "write", "seeks"),
    [
        ("box,4G,20202,60,30433,20,11861,13,43262,97,90359,51,415.3,2,16,94,40,+++++,+++,15510,66,204,86,+++++,+++,906,83",
         30433, 415.3),
        ("box,1G,,,55236,11,36165,10,,,73514,8,2138.3,2,16,+++++,+++,+++++,+++,25015,99,28712,100,+++++,+++,26846,100",
         55236, 2138.3),
        (("1.97,1.97,box,1,1438369124,63G,,1842,89,347029,24,175829,17,3404,89,495890,20,447.9,11,16,,,,,7555,17,+++++,"
         "+++,18185,27,7097,12,+++++,+++,11216,21,8735us,16764us,79061us,18280us,32499us,228ms,349ms,127us,12376us,"
         "382ms,14us,490ms"), 347029, 447.9),
        (("1.96,1.96,box,1,1315246753,4018M,,,,56561,10,32386,12,,,88826,16,110.1,3,,,,,,,,,,,,,,,,,,,5549ms,228ms,,"
         "43102us,430ms,,,,,,"), 56561, 110.1),
    ],
)  # fmt: skip
def test_csv_of_every_format(log, line, write, seeks):
    found = log(line + "\n")
    assert found.value("throughput", operation="write") == write * KIB
    assert found.value("iops", operation="seek") == seeks
    assert found.one("throughput", operation="write").conditions["machine"] == "box"


def test_the_original_bonnie(log):
    text = (
        "              -------Sequential Output-------- ---Sequential Input-- --Random--\n"
        "              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---\n"
        "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU\n"
        "         4096 16969 28.2  8098  7.5  7597  8.3 11760 18.6 15411 10.6  47.3  0.8\n\n\n"
    )
    found = log(text)
    assert found.value("throughput", operation="write") == 8098 * KIB
    assert found.value("cpu_share", operation="write_per_char") == pytest.approx(0.282)
    assert found.one("iops", operation="seek").conditions["file_B"] == 4 * GIB


def test_other_csv_is_left_alone(log):
    found = log("time,a,b,c,d,e,f,g,h,i,j,k,l,m\n1,2,3,4,5,6,7,8,9,10,11,12,13,14\n")
    assert not found.found


def test_a_row_cut_after_four_pairs_is_not_a_fast_run(log):
    row = TABLE_103.splitlines()[3][:55]
    found = log("\n".join([*TABLE_103.splitlines()[:3], row]))
    assert not found.all("throughput")
    assert found.unread
