"""nvme-cli.

Lists in issues and pull requests of linux-nvme/nvme-cli and libnvme (0.3 with ``Version``, 1.x, 2.x with ``Generic``, a
storage array); health logs printed in notes (Samsung, ADATA) and a forum; JSON in the tests of an exporter, of Dell's
CSI driver and of SPDK's (2.x, nested).
"""

from __future__ import annotations

import pytest

OLD = """\
    Node             Model                Version  Namepace Usage                      Format           FW Rev
    ---------------- -------------------- -------- -------- -------------------------- ---------------- --------
    /dev/nvme0n1     Samsung SSD 950 PRO  1.1      1         73.12  GB / 512.11  GB    512   B +  0 B   1B0QBXX7
"""
TOSHIBA = """\
Node                  SN                   Model                                    Namespace Usage                      Format           FW Rev
--------------------- -------------------- ---------------------------------------- --------- -------------------------- ---------------- --------
nvme0n1               49MA23BZK03N         KXG60ZNV512G NVMe TOSHIBA 512GB          1         512.11  GB / 512.11  GB    512   B +  0 B   10604107
"""  # noqa: E501 - as it is printed
SAMSUNG = """\
Node             SN                   Model                                    Namespace Usage                      Format           FW Rev
---------------- -------------------- ---------------------------------------- --------- -------------------------- ---------------- --------
/dev/nvme0n1     S39XNX0J6C3BBA       91721190020910SAM0PM1725A0004T00035000   1           0.00   B /   4.19  TB      4 KiB +  0 B   MVP41G7A
/dev/nvme0n2     S39XNX0J6C3BBA       91721190020910SAM0PM1725A0004T00035000   2           4.19  MB /   4.19  MB      4 KiB +  0 B   MVP41G7A
"""  # noqa: E501 - as it is printed
ARRAY = """\
Node                  Generic               SN                   Model                                    Namespace  Usage                      Format           FW Rev
--------------------- --------------------- -------------------- ---------------------------------------- ---------- -------------------------- ---------------- --------
/dev/nvme0n2          /dev/ng0n2            6ML4L83              dellemc-powerstore                       0x91       845.47  GB /   1.61  TB    512   B +  0 B   3.5.0.0
/dev/nvme0n1          /dev/ng0n1            6ML4L83              dellemc-powerstore                       0x9b        11.79  GB / 387.62  GB    512   B +  0 B   3.5.0.0
"""  # noqa: E501 - as it is printed
VERBOSE = """\
Device            Generic              NSID       Usage                                             Format           Controllers
----------------- -------------------- ---------- ------------------------------------------------- ---------------- ----------------
/dev/nvme13n1     /dev/ng13n1          0x1          7.68 TB /   7.68 TB (   6.98 TiB /    6.98 TiB) 512   B +  0 B   nvme13
"""  # noqa: E501 - as it is printed


@pytest.mark.parametrize(
    ("text", "device", "total", "used", "block", "model", "firmware"),
    [
        (OLD, "nvme0n1", 512.11e9, 73.12e9, 512, "Samsung SSD 950 PRO", "1B0QBXX7"),
        (TOSHIBA, "nvme0n1", 512.11e9, 512.11e9, 512, "KXG60ZNV512G NVMe TOSHIBA 512GB", "10604107"),
        (SAMSUNG, "nvme0n1", 4.19e12, 0, 4096, "91721190020910SAM0PM1725A0004T00035000", "MVP41G7A"),
        (SAMSUNG, "nvme0n2", 4.19e6, 4.19e6, 4096, "91721190020910SAM0PM1725A0004T00035000", "MVP41G7A"),
        (ARRAY, "nvme0n2", 1.61e12, 845.47e9, 512, "dellemc-powerstore", "3.5.0.0"),
        (VERBOSE, "nvme13n1", 7.68e12, 7.68e12, 512, None, None),
    ],
)
def test_sizes_are_decimal(log, text, device, total, used, block, model, firmware):
    found = log("# nvme list\n" + text)
    whole = found.one("capacity", view="total", device=device)
    assert whole.value == pytest.approx(total)
    assert found.value("capacity", view="used", device=device) == pytest.approx(used)
    assert whole.conditions["block_B"] == block
    assert (whole.conditions.get("model"), whole.conditions.get("firmware")) == (model, firmware)
    assert not found.unread


SMART = """\
$ sudo nvme smart-log /dev/nvme0
Smart Log for NVME device:nvme0 namespace-id:ffffffff
critical_warning                    : 0
temperature                         : 42 C
available_spare                     : 100%
available_spare_threshold           : 10%
percentage_used                     : 0%
data_units_read                     : 28,149,264
data_units_written                  : 19,392,109
host_read_commands                  : 559,538,536
host_write_commands                 : 171,732,762
controller_busy_time                : 1,352
power_cycles                        : 2,384
power_on_hours                      : 1,362
unsafe_shutdowns                    : 133
media_errors                        : 0
num_err_log_entries                 : 608
Warning Temperature Time            : 0
Critical Composite Temperature Time : 0
Temperature Sensor 1                : 42 C
"""
ADATA = """\
Smart Log for NVME device:nvme0n1 namespace-id:ffffffff
critical_warning                    : 0
temperature                         : 21 °C (294 K)
available_spare                     : 100%
percentage_used                     : 12%
Data Units Read                     : 41408266 (21.20 TB)
Data Units Written                  : 41533670 (21.27 TB)
power_on_hours                      : 14255
unsafe_shutdowns                    : 326
media_errors                        : 0
"""
GIGABYTE = """\
Smart Log for NVME device:nvme0n1 namespace-id:ffffffff
critical_warning                    : 0
percentage_used                     : 0%
data_units_read                     : 37,319
data_units_written                  : 241,653
power_on_hours                      : 5
"""
EXPORTER = """\
{
  "critical_warning" : 0,
  "temperature" : 301,
  "avail_spare" : 100,
  "percent_used" : 15,
  "data_units_read" : 499296134,
  "data_units_written" : 1474968593,
  "host_read_commands" : 9347931143,
  "power_on_hours" : 38313,
  "media_errors" : 0,
  "thm_temp1_total_time" : 0
}
"""


@pytest.mark.parametrize(
    ("text", "read", "written", "hours", "wear"),
    [
        (SMART, 28149264, 19392109, 1362, 0.0),
        (ADATA, 41408266, 41533670, 14255, 0.12),  # 21.20 TB and 21.27 TB
        (GIGABYTE, 37319, 241653, 5, 0.0),
        (EXPORTER, 499296134, 1474968593, 38313, 0.15),
    ],
)
def test_data_units_are_1000_blocks(log, text, read, written, hours, wear):
    found = log(text)
    assert found.value("bytes", operation="read") == read * 512_000
    assert found.value("bytes", operation="write") == written * 512_000
    assert found.value("power_on") == hours * 3600
    assert found.value("wear") == pytest.approx(wear)
    assert found.value("health") == 1
    assert not found.unread


def test_data_units_in_words_agree(log):
    assert log(ADATA).value("bytes", operation="read") == pytest.approx(21.20e12, rel=3e-4)


def test_health_and_heat(log):
    assert log(SMART.replace("critical_warning                    : 0", "critical_warning  : 0x4")).value("health") == 0
    hot = SMART.replace("Warning Temperature Time            : 0", "Warning Temperature Time            : 3")
    assert log(hot).value("duration", of="above warning temperature") == 180
    assert log(SMART).one("wear").conditions["device"] == "nvme0"
    assert log("$ nvme smart-log /dev/nvme3 -o json\n" + EXPORTER).one("wear").conditions["device"] == "nvme3"


DELL = """\
{
  "Devices" : [
    {
      "DevicePath" : "/dev/nvme9n1",
      "Firmware" : "VDV1DP21",
      "Index" : 9,
      "ModelNumber" : "Dell Express Flash NVMe P4510 4TB SFF",
      "SerialNumber" : "PHLJ9135027L4P0DGN",
      "UsedBytes" : 4000000000000,
      "MaximiumLBA" : 7812500000,
      "PhysicalSize" : 4000000000000,
      "SectorSize" : 512
    }
  ]
}
"""
NESTED = """\
{"Devices": [{"HostNQN": "nqn.2014-08.org.nvmexpress:uuid:f9851252", "Subsystems": [{"Subsystem": "nvme-subsys0",
 "Controllers": [{"Controller": "nvme0", "Firmware": "23.05", "ModelNumber": "SPDK bdev Controller", "Namespaces": [
  {"NameSpace": "nvme0n1", "NSID": 1, "UsedBytes": 4194304, "MaximumLBA": 1024, "PhysicalSize": 4194304,
   "SectorSize": 4096}
 ]}]}]}]}
"""
NEGATIVE = """\
{"Devices":[{"NameSpace":1, "DevicePath":"/dev/nvme0n1", "Firmware":"VDV10182", "ModelNumber":"INTEL SSDPE2KX080T8",
 "UsedBytes":-2147483648, "MaximumLBA":-1551816016, "PhysicalSize":-2147483648, "SectorSize":512}]}
"""


@pytest.mark.parametrize(
    ("text", "device", "size", "block", "model"),
    [
        (DELL, "nvme9n1", 4e12, 512, "Dell Express Flash NVMe P4510 4TB SFF"),
        (NESTED, "nvme0n1", 4194304, 4096, "SPDK bdev Controller"),
    ],
)
def test_json_lists(log, text, device, size, block, model):
    found = log(text).one("capacity", view="total")
    assert found.value == size
    assert (found.conditions["device"], found.conditions["block_B"], found.conditions["model"]) == (
        device,
        block,
        model,
    )


def test_an_overflow_of_nvme_cli_is_noted(log):
    """Issue 2028 of nvme-cli: 8 TB come out as -2147483648."""
    assert not log(NEGATIVE).found
    assert len(log(NEGATIVE).unread) == 2
