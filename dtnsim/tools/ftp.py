"""FTP and what is built on it.

- ftp: the classic client, one file after the other, a data connection for each.
- lftp: mirror with several files at once, pget with several connections to one file; over sftp, http or ftp.
- bbftp: parallel streams of processes, each of which moves one stretch of a file.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import COPIED, both_ends, core_cost, in_flight, scaled, transfer
from dtnsim.tools._options import Client, Count, Cycles, Ratio, Size, named
from dtnsim.tools._ssh import FAREWELL, LOGIN, LOGIN_CPU, LOGIN_WORK, RECEIVER, SENDER, SshLink, crowd
from dtnsim.tools.plan import CpuUse, Job, Mover, NetUse, Opening, Plan

_SESSION: Final = 7.0  #: TCP and greeting, USER, PASS, SYST, TYPE; and QUIT (RFC 959; usr.bin/ftp/util.c)
_PUT: Final = 4.0  #: put: PASV (or PORT), the data connection, STOR to 150, the last byte to 226
#: get: SIZE before it, MDTM after it (usr.bin/ftp/ftp.c, recvrequest: remotesize, remotemodtime)
_GET_MORE: Final = 2.0
_ACTIVE: Final = 1.0  #: PORT: the server connects while it answers the command, so that no trip of its own is left
#: mget: the list of names comes over a data connection of its own
_LIST: Final = 3.0
_START: Final = prior("0.03 s", 0.5, "assumed: one small process and a forked server")


class Ftp(Mover):
    """``ftp`` with ``mput`` or ``mget``: each file has PASV, a new connection, STOR or RETR, and its 226.

    Neglects: ASCII mode; names that are asked for.
    Source: github.com/NetBSD/src usr.bin/ftp/ftp.c (sendrequest, recvrequest, initconn); RFC 959.
    """

    kind: ClassVar[str] = "ftp"

    mode: Annotated[Literal["passive", "active"], Field(description="PASV, or PORT (ftp -A)")] = "passive"
    preserve: Annotated[bool, Field(description="times of fetched files are asked for (MDTM)")] = True
    client: Client = "source"
    block: Size = prior("64 KiB", 0.7, "usr.bin/ftp/ftp.c: st_blksize of the file, 4 KiB to 1 MiB")
    overhead: Cycles = prior(
        "0.4 cycles/B", 0.7, "assumed: a copy between file and socket and two system calls a block"
    )

    def plan(self, job: Job) -> Plan:
        sender, receiver = Thread("ftp sender"), Thread("ftp receiver")
        get = self.client == "destination"
        trips = _PUT - (_ACTIVE if self.mode == "active" else 0.0)
        trips += (_GET_MORE - (0.0 if self.preserve else 1.0)) if get else 0.0
        net = NetUse(sender, receiver, reopened=True)
        cpu = both_ends(sender, receiver, self.overhead, "ftp")
        step = transfer(job, (sender, receiver), self.block, net, cpu, replace(COPIED, round_trips=trips))
        folders = _LIST * max(job.directories, 1) if get and job.files > 1 else float(job.directories)
        opening = Opening(_SESSION + folders, _START, "log-in and folders")
        return Plan((step,), opening=opening if job.remote else Opening())


#: messages that wait before a first file, after the log-in: sftp INIT, REALPATH, STAT, OPENDIR, READDIR and its end,
#: CLOSE; http TCP, the folder and its parent; ftp TCP, banner, FEAT, USER, PASS, TYPE, PWD, CWD, MKD
_LFTP_SESSION: Final = {"sftp": 7.0, "http": 5.0, "ftp": 9.0}
#: a further folder, several at once with --parallel: OPENDIR, two READDIR, CLOSE; its index page; CWD, MKD, LIST
_FOLDER: Final = {"sftp": 4.0, "http": 1.0, "ftp": 4.0}
#: a further connection: all of a log-in again; http TCP
_CONNECT: Final = {"sftp": LOGIN + 3.0, "http": 1.0, "ftp": 6.0}
#: a file: OPEN, READ or WRITE, and CLOSE or FSETSTAT; GET; TYPE or ALLO, PASV, data connection, STOR, 226, times
_FILE: Final = {"sftp": 3.0, "http": 1.0, "ftp": 6.0}
#: start of lftp, of its terminal and, over sftp, of ssh
_LFTP_START: Final = {
    "sftp": prior("0.45 s", 0.15, "lftp 4.9.2 over OpenSSH: empty folder, less its round trips"),
    "http": prior("0.1 s", 0.3, "lftp 4.9.2 over http: empty folder at 50 ms, less its round trips"),
    "ftp": prior("0.1 s", 0.3, "as over http"),
}
_PACKETS: Final = 16  #: lftp commands: sftp:max-packets-in-flight


class Lftp(Mover):
    """``lftp -c 'mirror --parallel=N'`` and ``pget -n N``.

    Neglects: mirror's comparison with what is there already.
    Source: github.com/lavv17/lftp src/SFtp.cc (16 packets in flight, 32 KiB each; FSETSTAT is not waited for before
        CLOSE); lftp(1) 4.9.2 (pget-default-n 5).
    """

    kind: ClassVar[str] = "lftp"
    files_option = "parallel"

    protocol: Literal["sftp", "http", "ftp"] = "sftp"
    parallel: Annotated[Count, named("parallel", "P")] = 1
    pget: Annotated[Count, named("pget", "n")] = 1
    packets: Annotated[Count, named("packets", "max-packets-in-flight")] = _PACKETS
    block: Annotated[Size, named("block", "size-read", "size-write")] = prior(
        "32 KiB", 0.0, "lftp(1): sftp:size-read and sftp:size-write 0x8000"
    )
    ssh: SshLink = SshLink(version="9.2")

    def plan(self, job: Job) -> Plan:
        workers = max(1, min(self.parallel, job.files))
        streams = workers * self.pget
        over_ssh = self.protocol == "sftp"
        sender = SENDER if over_ssh else Thread("lftp sender", streams)
        receiver = RECEIVER if over_ssh else Thread("lftp receiver", streams)
        again = self.protocol == "ftp"
        net = NetUse(sender, receiver, streams=streams, channels=streams, reopened=again, stopped=not again)
        if over_ssh:
            flying = in_flight(self.packets, self.block, "packets", self.ssh.window())
            net = replace(net, channel=flying, grain=self.block)
        cpu = self.ssh.crypto() if over_ssh else ()
        files = replace(COPIED, round_trips=_FILE[self.protocol], source=("open", "close"))
        step = transfer(job, (sender, receiver), self.block, net, cpu, files, workers=workers)
        return Plan((step,), workers=workers, weight=streams, opening=self._opening(job, streams))

    def _opening(self, job: Job, streams: int) -> Opening:
        over_ssh = self.protocol == "sftp"
        login = LOGIN + FAREWELL if over_ssh else 0.0
        trips, work = _LFTP_SESSION[self.protocol] + login, _LFTP_START[self.protocol]
        trips += _FOLDER[self.protocol] * max(job.directories - 1, 0) / max(self.parallel, 1)
        connect = _CONNECT[self.protocol]
        if self.pget > 1:  # the parts wait for their connections, and a file is whole when the last one is
            trips += connect
            if over_ssh:
                more = work.value + crowd(LOGIN_CPU, streams, job, connect).value
                work = work.worth(more, f"{work.source}; {streams} log-ins of {LOGIN_CPU} at once")
            return Opening(trips, work, f"lftp's session over {self.protocol}")
        further = crowd(LOGIN_CPU, streams - 1, job, connect) if over_ssh else None
        return Opening(trips, work, f"lftp's session over {self.protocol}", connect, further)


#: TCP, cipher and key of the server, encrypted log-in, protocol version (bbftpc/connecttoserver.c, connectviapassword)
_LOGIN: Final = 4.0
_SSH: Final = LOGIN + 2.0  #: ssh, then the daemon's port is connected to and says MSG_IPADDR_OK (connectviassh)
#: a file: MSG_STORE or MSG_RETR answered with ports (MSG_TRANS_OK_V3), the data connections, MSG_TRANS_START to MSG_OK
_BBFTP_FILE: Final = 3.0
_WORK: Final = prior("0.03 s", 0.5, "assumed: RSA of the log-in and a process forked for the session")
_FORK: Final = prior("2 ms", 0.7, "assumed: a child forked for each stream at both ends")


class Bbftp(Mover):
    """``bbftp -p streams -c -s -e 'setrecvwinsize KB; put file'``: a process a stream, a stretch of the file each.

    The streams of a file are new connections: each of them starts slowly. The file is done when the slowest stream is.
    Windows are set for each stream, 256 KiB unless the control commands say otherwise.

    Neglects: checks of an existing file; RFIO; retries.
    Source: github.com/jedsoft/bbftp bbftp-client/bbftpc/bbftp.c (defaults), bbftp_put.c (messages of a file),
        connecttoserver.c (log-in); bbftp(1).
    """

    kind: ClassVar[str] = "bbftp"
    streams_option = "p"

    p: Annotated[Count, named("p", "setnbstream")] = 1
    c: Annotated[bool, named("c", "gzip")] = False
    s: Annotated[bool, named("s", "ssh", description="the daemon is started by ssh")] = False
    setrecvwinsize: Size = prior("256 KiB", 0.0, "bbftpc/bbftp.c: BBftp_Recvwinsize = 256")
    setsendwinsize: Size = prior("256 KiB", 0.0, "bbftpc/bbftp.c: BBftp_Sendwinsize = 256")
    setbuffersize: Size = prior("256 KiB", 0.0, "bbftpc/bbftp.c: BBftp_Buffersizeperstream = 256")
    ratio: Ratio = prior("1", 0.0, "incompressible data")
    client: Client = "source"
    overhead: Cycles = prior("0.5 cycles/B", 0.7, "assumed: a copy from file to socket in user space")

    def plan(self, job: Job) -> Plan:
        sender, receiver = Thread("bbftp senders", self.p), Thread("bbftp receivers", self.p)
        sent = 1.0 / self.ratio.value if self.c else 1.0
        cpu = both_ends(sender, receiver, scaled(self.overhead, sent, "of what is sent"), "bbftp")
        if self.c:
            cpu += (
                CpuUse("source", sender, core_cost("zlib6_compress", "bbftp -c"), "gzip"),
                CpuUse("destination", receiver, core_cost("zlib6_decompress", "bbftp -c"), "gunzip"),
            )
        # setrecvwinsize is the daemon's receive window and the client's send window, setsendwinsize the other way
        window = self.setrecvwinsize if self.client == "source" else self.setsendwinsize
        net = NetUse(sender, receiver, streams=self.p, window=window, overhead=sent, reopened=True)
        forks = _FORK.worth(_FORK.value * self.p, f"{_FORK.source}; {self.p} streams")
        operations = ("create", "close", "setattr", "rename")
        files = replace(COPIED, round_trips=_BBFTP_FILE, fixed=forks, destination=operations)
        step = transfer(job, (sender, receiver), self.setbuffersize, net, cpu, files)
        opening = Opening(_SSH if self.s else _LOGIN, LOGIN_WORK if self.s else _WORK, "log-in at bbftpd")
        return Plan((step,), weight=self.p, opening=opening if job.remote else Opening())
