"""lftp: mirror with several files at once, pget with several connections to one file; over sftp, http or ftp."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import Count, Size, device_work, reading, writing
from dtnsim.tools._ssh import FAREWELL, LOGIN, LOGIN_CPU, RECEIVER, SENDER, SshLink, crowd, together
from dtnsim.tools.plan import FileCost, Job, NetUse, Opening, Plan, Step, Tool, Usage

#: messages that wait before a first file, after the log-in: sftp INIT, REALPATH, STAT, OPENDIR, READDIR and its end,
#: CLOSE; http TCP, the folder and its parent; ftp TCP, banner, FEAT, USER, PASS, TYPE, PWD, CWD, MKD
_SESSION: Final = {"sftp": 7.0, "http": 5.0, "ftp": 9.0}
#: a further folder, several at once with --parallel: OPENDIR, two READDIR, CLOSE; its index page; CWD, MKD, LIST
_FOLDER: Final = {"sftp": 4.0, "http": 1.0, "ftp": 4.0}
#: a further connection: all of a log-in again; http TCP
_CONNECT: Final = {"sftp": LOGIN + 3.0, "http": 1.0, "ftp": 6.0}
#: a file: OPEN, READ or WRITE, and CLOSE or FSETSTAT; GET; TYPE or ALLO, PASV, data connection, STOR, 226, times
_FILE: Final = {"sftp": 3.0, "http": 1.0, "ftp": 6.0}
#: start of lftp, of its terminal and, over sftp, of ssh
_START: Final = {
    "sftp": prior("0.45 s", 0.15, "lftp 4.9.2 over OpenSSH: empty folder, less its round trips"),
    "http": prior("0.1 s", 0.3, "lftp 4.9.2 over http: empty folder at 50 ms, less its round trips"),
    "ftp": prior("0.1 s", 0.3, "as over http"),
}
#: lftp commands: sftp:max-packets-in-flight
_PACKETS: Final = 16


class Lftp(Tool):
    """``lftp -c 'mirror --parallel=N'`` and ``pget -n N``.

    Neglects: mirror's comparison with what is there already.
    Source: github.com/lavv17/lftp src/SFtp.cc (16 packets in flight, 32 KiB each; FSETSTAT is not waited for before
        CLOSE); lftp(1) 4.9.2 (pget-default-n 5).
    """

    kind: ClassVar[str] = "lftp"
    tool_class = "mover"
    files_option = "parallel"
    usages = (
        Usage(
            "lftp over sftp", "lftp -c 'open sftp://HOST; mirror -R --parallel={parallel} SRC DST'",
            options={"protocol": "sftp"}, tries={"parallel": (1, 4, 8, 16, 32)},
        ),
    )  # fmt: skip

    protocol: Literal["sftp", "http", "ftp"] = "sftp"
    parallel: Annotated[Count, Field(validation_alias=AliasChoices("parallel", "P"))] = 1
    pget: Annotated[Count, Field(validation_alias=AliasChoices("pget", "n"))] = 1
    packets: Annotated[Count, Field(validation_alias=AliasChoices("packets", "max-packets-in-flight"))] = _PACKETS
    block: Annotated[Size, Field(validation_alias=AliasChoices("block", "size-read", "size-write"))] = prior(
        "32 KiB", 0.0, "lftp(1): sftp:size-read and sftp:size-write 0x8000"
    )
    ssh: SshLink = SshLink(version="9.2")

    def plan(self, job: Job) -> Plan:
        """Connections, each with its own session."""
        workers = max(1, min(self.parallel, job.files))
        streams = workers * self.pget
        over_ssh = self.protocol == "sftp"
        sender = SENDER if over_ssh else Thread("lftp sender", streams)
        receiver = RECEIVER if over_ssh else Thread("lftp receiver", streams)
        step = Step(
            "transfer",
            read=reading(job, sender, self.block, workers=workers),
            net=NetUse(
                sender,
                receiver,
                streams=streams,
                channel=self._window() if over_ssh else None,
                channels=streams,
                grain=self.block if over_ssh else None,
                reopened=self.protocol == "ftp",
                stopped=self.protocol != "ftp",
            ),
            write=writing(job, receiver, self.block, workers=workers),
            cpu=(*device_work(job, sender), *(self.ssh.crypto() if over_ssh else ())),
            files=FileCost(
                round_trips=_FILE[self.protocol],
                source=("open", "close"),
                destination=("create", "close"),
                directory=("mkdir",),
            ),
        )
        return Plan((step,), workers=workers, weight=streams, opening=self._opening(job, streams))

    def _window(self) -> Quantity:
        packets = Quantity(
            self.packets * self.block.value,
            "B",
            self.block.spread,
            f"{self.packets} packets of {self.block}; {self.block.source}",
        )
        channel = self.ssh.window()
        return packets if channel is None or packets.value < channel.value else channel

    def _opening(self, job: Job, streams: int) -> Opening:
        login = LOGIN + FAREWELL if self.protocol == "sftp" else 0.0
        trips, work = _SESSION[self.protocol] + login, _START[self.protocol]
        trips += _FOLDER[self.protocol] * max(job.directories - 1, 0) / max(self.parallel, 1)
        connect, each = _CONNECT[self.protocol], LOGIN_CPU if self.protocol == "sftp" else None
        if self.pget > 1:  # the parts wait for their connections, and a file is whole when the last one is
            trips += connect
            work = together(work, LOGIN_CPU, streams, job, connect) if each is not None else work
            return Opening(trips, work, f"lftp's session over {self.protocol}")
        further = crowd(LOGIN_CPU, streams - 1, job, connect) if each is not None else None
        return Opening(trips, work, f"lftp's session over {self.protocol}", connect, further)
