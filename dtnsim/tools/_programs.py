"""The programs whose command lines are understood, and how they differ from the options of their kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Manner:
    """How a program's command line differs from the options of its kind.

    Attributes:
        kind: The tool.
        fixed: Options that the program's name or a word of its line means.
        says: What a flag without a value means, as options.
        quiet: Flags without a value that change no duration.
        skip: Flags with a value that change no duration.
        unmodelled: Flags that change one and are not modelled, said in the answer; with =, those that have a value.
        k: What a k of a size is.
        rate: Unit of a bare number where a rate is given, and what its k is.
        mega: Options whose bare number is in MiB.
        slash: Flags as Windows has them: ``/MT:8``, in capital or small letters.
        pairs: Whether options are words like ``bs=1M``.
        bundle: Whether the first word is letters of options without a dash: ``tar cvf``.
        words: Words of the line (subcommands, transports) and the options that they mean.
    """

    kind: str
    fixed: dict[str, Any] = field(default_factory=dict)
    says: dict[str, dict[str, Any]] = field(default_factory=dict)
    quiet: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    unmodelled: frozenset[str] = frozenset()
    k: str = "Ki"
    rate: tuple[str, str] = ("B/s", "Ki")
    mega: frozenset[str] = frozenset()
    slash: bool = False
    pairs: bool = False
    bundle: bool = False
    words: dict[str, dict[str, Any]] = field(default_factory=dict)


_SSH_QUIET: Final = _set("q v p 3 4 6 A a x r B T N t s")
_SSH_SKIP: Final = _set("F i o P J S D b X")
_BACKENDS: Final = {f":{name}:": {"backend": name} for name in ("sftp", "http", "webdav", "s3")}
#: program -> how its line is read
PROGRAMS: Final[dict[str, Manner]] = {
    "scp": Manner("scp", quiet=_SSH_QUIET, skip=_SSH_SKIP, rate=("kb/s", "k")),
    "sftp": Manner("sftp", quiet=_SSH_QUIET - {"B"}, skip=_SSH_SKIP, rate=("kb/s", "k")),
    "tar-ssh": Manner("tar-ssh", quiet=_SSH_QUIET, skip=_SSH_SKIP),
    "tar-nc": Manner("tar-nc"),
    "rsync": Manner(
        "rsync",
        quiet=_set(
            "r l p t g o D v q h H A X S x u P n i partial progress stats numeric-ids delete delete-after inplace "
            "recursive links perms times group owner devices specials verbose quiet human-readable hard-links acls "
            "xattrs sparse update dry-run itemize-changes append append-verify size-only ignore-existing ignore-errors "
            "delete-before delete-during delete-delay delete-excluded remove-source-files copy-links safe-links L "
            "one-file-system fuzzy backup no-perms no-owner no-group prune-empty-dirs relative R protect-args s "
            "fake-super"
        ),
        skip=_set(
            "exclude include filter port T temp-dir info files-from exclude-from include-from rsync-path log-file "
            "timeout contimeout modify-window out-format partial-dir backup-dir max-size min-size chmod chown usermap "
            "groupmap password-file max-delete f debug"
        ),
        unmodelled=_set(
            "zc= compress-choice= compress-level= zl= skip-compress= checksum-choice= B= block-size= sockopts="
        ),
        says={"no-whole-file": {"whole_file": False}, "no-W": {"whole_file": False}},
        words={"rsync://": {"e": "none"}, "::": {"e": "none"}},
        rate=("KiB/s", "Ki"),
    ),
    "rclone": Manner(
        "rclone",
        quiet=_set(
            "q v vv P progress size-only use-cookies no-check-certificate n dry-run stats-one-line M metadata u "
            "update ignore-existing i interactive create-empty-src-dirs s3-env-auth s3-no-check-bucket human- "
            "readable delete-after"
        ),
        skip=_set(
            "sftp-host sftp-user sftp-key-file sftp-shell-type http-url webdav-url config retries stats log-level "
            "log-file user-agent s3-provider s3-region s3-endpoint s3-acl s3-storage-class contimeout timeout "
            "low-level-retries exclude include filter filter-from exclude-from include-from files-from max-depth "
            "min-size max-size max-age min-age retries-sleep s3-access-key-id s3-secret-access-key webdav-user "
            "webdav-pass webdav-vendor backup-dir"
        ),
        unmodelled=_set(
            "no-check-dest no-traverse fast-list c checksum ignore-times ignore-size s3-disable-checksum s3-no- "
            "head s3-no-head-object no-update-modtime use-mmap disable-http2 inplace use-server-modtime check- "
            "first buffer-size= tpslimit= tpslimit-burst= drive-chunk-size= onedrive-chunk-size= order-by= max- "
            "transfer= max-backlog= s3-upload-cutoff= multi-thread-chunk-size= multi-thread-write-buffer-size= "
            "sftp-connections="
        ),
        words=_BACKENDS,
        rate=("KiB/s", "Ki"),
    ),
    "lftp": Manner("lftp", quiet=_set("R c e only-newer verbose")),
    "curl": Manner(
        "curl",
        quiet=_set("s S f L q silent fail location v k insecure"),
        skip=_set("o K output H header u user config"),
        words={"https://": {"tls": True}},
    ),
    "wget": Manner("curl", quiet=_set("q r c nv np nH quiet"), skip=_set("O P i"), words={"https://": {"tls": True}}),
    "aria2c": Manner(
        "aria2",
        quiet=_set("q no-conf c"),
        skip=_set("d i o dir out file-allocation"),
        words={"https://": {"tls": True}},
    ),
    "xrdcp": Manner("xrdcp", quiet=_set("s r f v N np silent recursive force nopbar"), skip=_set("d debug retry")),
    "globus-url-copy": Manner(
        "gridftp",
        quiet=_set("cd v q create-dest verbose quiet dbg nodcau"),
        skip=_set("f rst-retries ss ds s"),
        says={"stripe": {}},  # as many movers as the server has: tool.stripe of a path file says it
    ),
    "nuttcp": Manner("nuttcp", quiet=_set("t r v f i"), skip=_set("n T P p"), rate=("Mb/s", "k")),
    "nfs-cp": Manner("nfs-cp"),
    "s5cmd": Manner(
        "s5cmd",
        quiet=_set("json stat no-verify-ssl no-sign-request n s u flatten f no-follow-symlinks raw"),
        skip=_set("r retry-count endpoint-url log profile credentials-file storage-class sse acl source-region"),
        mega=frozenset({"p"}),
    ),
    "aws": Manner(
        "aws-s3",
        quiet=_set("recursive quiet only-show-errors no-progress delete exact-timestamps size-only"),
        skip=_set("profile region endpoint-url exclude include storage-class acl"),
        words={"sync": {"command": "sync"}, "http://": {"tls": False}},
    ),
    "mc": Manner(
        "mc",
        quiet=_set("r recursive q quiet json overwrite remove preserve a md5"),
        skip=_set("attr older-than newer-than"),
    ),
    "bbftp": Manner("bbftp", quiet=_set("b d m n q t v V W"), skip=_set("u i e f o r R w I L E")),
    "ftp": Manner("ftp", quiet=_set("d g i n p v"), skip=_set("P"), says={"A": {"mode": "active"}}),
    "mscp": Manner("mscp", quiet=_set("4 6 v q D H d p r N"), skip=_set("m I W R l P F i M"), rate=("b/s", "k")),
    "hpnscp": Manner(
        "hpnscp",
        quiet=_SSH_QUIET - {"B"},
        skip=_SSH_SKIP,
        rate=("kb/s", "k"),
        words={"HPNDisabled=yes": {"hpn": False}, "NoneSwitch=yes": {"cipher": "none"}},
    ),
    "fpsync": Manner(
        "fpsync", quiet=_set("v Z S E p"), skip=_set("t d M o O w m T"), words={"::": {"rsync": {"e": "none"}}}
    ),
    "parsyncfp": Manner(
        "parsyncfp",
        quiet=_set("nowait"),
        skip=_set(
            "ml maxload sd startdir i interface cp checkperiod v verbose d dispose ac altcache email ro rsyncopts"
        ),
        rate=("kB/s", "k"),
    ),
    "robocopy": Manner(
        "robocopy",
        quiet=_set(
            "S E MIR PURGE XJ XJD XJF NP NFL NDL NJH NJS V ETA TEE FFT DST XO XN XC XX XL NS NC BYTES FP TS L "
            "COPYALL SEC ZB Z B MOV MOVE CREATE FAT IS IT REG TBD X SL TIMFIX SECFIX"
        ),
        unmodelled=_set("COMPRESS NOOFFLOAD IPG="),
        skip=_set("R W LOG UNILOG COPY DCOPY XF XD LEV MAX MIN MAXAGE MINAGE IA XA A"),
        says={"MT": {"MT": 8}},
        slash=True,
    ),
    "fts-rest-transfer-submit": Manner(
        "fts",
        quiet=_set("o v overwrite blocking b strict-copy"),
        skip=_set("s endpoint m metadata t timeout retry retry-delay lifetime f file"),
        says={"K": {"checksum": "both"}, "compare-checksums": {"checksum": "both"}},
        fixed={"checksum": "none"},
        words={"gsiftp://": {"protocol": "gsiftp"}, "davs://": {"protocol": "davs"}, "root://": {"protocol": "root"}},
    ),
    "fio": Manner(
        "fio",
        quiet=_set("group_reporting randrepeat norandommap minimal thread readonly"),
        skip=_set("name output output-format eta status-interval nrfiles verify allow_file_create refill_buffers"),
    ),
    "dd": Manner("dd", skip=_set("status"), pairs=True),
    "tar": Manner(
        "tar",
        quiet=_set("v p f C h P S k numeric-owner same-owner preserve-permissions verbose"),
        skip=_set("exclude exclude-from T directory file"),
        unmodelled=_set("J j b= blocking-factor= I= use-compress-program= zstd lzop xz bzip2"),
        says={m: {"mode": m} for m in "cx"} | {"create": {"mode": "c"}, "extract": {"mode": "x"}},
        bundle=True,
    ),
    "bonnie++": Manner("bonnie", quiet=_set("f q D B"), skip=_set("u r n x m g z Z p y"), mega=frozenset({"s"})),
    "iozone": Manner("iozone", quiet=_set("w a A p C K R x z O"), skip=_set("b n g y q l u F L S d j U V Y +m +h")),
    "netperf": Manner("netperf", quiet=_set("c C j"), skip=_set("H p f v P L T D i I")),
    **{
        f"ib_{verb}_bw": Manner(
            "perftest", fixed={"verb": verb}, quiet=_set("F R a b report_gbits"), skip=_set("d i p x m S n Q")
        )
        for verb in ("write", "read", "send")
    },
    "iperf": Manner("iperf2", quiet=_set("e m N"), skip=_set("c p i B T f"), rate=("b/s", "k")),
    "ntttcp": Manner("ntttcp", quiet=_set("r e H"), skip=_set("s p W C")),
    "msrsync": Manner("msrsync", quiet=_set("P progress stats"), skip=_set("r rsync t")),
    "restic": Manner(
        "restic",
        quiet=_set("r v verbose q json"),
        skip=_set("p o tag exclude"),
        words={
            "rest:": {"repository": "rest"},
            **{f"{name}:": {"repository": "s3"} for name in ("s3", "b2", "gs", "azure", "swift")},
        },
    ),
    "warp": Manner(
        "warp", quiet=_set("noclear"), skip=_set("host access-key secret-key bucket"), words={"--tls": {"tls": True}}
    ),
    "pelican": Manner("pelican", quiet=_set("r recursive d debug"), skip=_set("t token")),
    "iperf3": Manner("iperf3", quiet=_set("J V f"), skip=_set("c p i B O A"), rate=("b/s", "k")),
    "bbcp": Manner("bbcp", quiet=_set("f v V a"), skip=_set("P")),
    "ascp": Manner("ascp", quiet=_set("q v"), skip=_set("i P k"), rate=("b/s", "k")),
}
PROGRAMS["gridftp"] = PROGRAMS["globus-url-copy"]
