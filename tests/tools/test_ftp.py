"""ftp: a data connection a file."""


def test_messages_of_a_file(tool, job):
    """RFC 959: PASV, the connection, STOR, 226; ftp.c asks SIZE before RETR and MDTM after it."""
    trips = {
        name: tool("ftp", **options).plan(job()).steps[0].files.round_trips
        for name, options in {
            "put": {}, "active": {"mode": "active"}, "get": {"client": "destination"},
            "bare": {"client": "destination", "preserve": False},
        }.items()
    }  # fmt: skip
    assert trips == {"put": 4, "active": 3, "get": 6, "bare": 5}


def test_small_files_wait(run):
    seconds = run("ftp", data="{files: 1000, each: 1 kB}").duration_s.p50
    assert 1000 * 4 * 0.053 < seconds < 1.1 * 1000 * 4 * 0.053
