"""cp, rm and robocopy: copies within a host and to its mounts."""

from tests.lab import journey, machine, rate, volume


def test_threads_over_a_share_with_several_channels():
    """SMB multichannel: a file's credits are of each channel, so that large files of many threads have them all."""
    far = machine(volumes={"/d": volume()})

    def through(channels: int) -> float:
        share = {"filesystem": {"kind": "smb", "channels": channels, "credits": 8}, "server": "b:/d"}
        made = journey(machine(volumes={"/d": volume(), "/s": share}), far, start="a:/d", to="a:/s",
                       tool={"name": "robocopy", "MT": 16}, dataset={"files": 64, "each": "1 GB"},
                       wan={"bandwidth": "100 Gb/s", "rtt": "20 ms"})  # fmt: skip
        return rate(made)

    assert 2 < through(4) / through(1) < 4.2
