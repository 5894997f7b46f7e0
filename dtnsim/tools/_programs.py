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
        k: What a k of a size is.
        rate: Unit of a bare number where a rate is given, and what its k is.
        words: Words of the line (subcommands, transports) and the options that they mean.
    """

    kind: str
    fixed: dict[str, Any] = field(default_factory=dict)
    says: dict[str, dict[str, Any]] = field(default_factory=dict)
    quiet: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    k: str = "Ki"
    rate: tuple[str, str] = ("B/s", "Ki")
    words: dict[str, dict[str, Any]] = field(default_factory=dict)


_SSH_QUIET: Final = _set("q v p 3 4 6 A a x r B T N t s")
_SSH_SKIP: Final = _set("F i o P J S D b")
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
            "xattrs sparse update dry-run itemize-changes"
        ),
        skip=_set("exclude include filter port T temp-dir"),
        says={"no-whole-file": {"whole_file": False}, "no-W": {"whole_file": False}},
        words={"rsync://": {"e": "none"}, "::": {"e": "none"}},
        rate=("KiB/s", "Ki"),
    ),
    "rclone": Manner(
        "rclone",
        quiet=_set("q v P progress fast-list no-traverse size-only"),
        skip=_set(
            "sftp-host sftp-user sftp-key-file sftp-shell-type http-url webdav-url config buffer-size retries stats "
            "log-level"
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
    "iperf3": Manner("iperf3", quiet=_set("J V f"), skip=_set("c p i B O A"), rate=("b/s", "k")),
    "bbcp": Manner("bbcp", quiet=_set("f v V a"), skip=_set("P")),
    "ascp": Manner("ascp", quiet=_set("q v"), skip=_set("i P k"), rate=("b/s", "k")),
}
