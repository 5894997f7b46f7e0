"""Which tool, with which options: transfer tools compared on one path and data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dtnsim.composition.leg import end_of
from dtnsim.description.spec import PathSpec
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.ground.records import Interval
from dtnsim.steady.prediction import predict
from dtnsim.tools._command import parse
from dtnsim.tools.plan import Tool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to move the files.

    Attributes:
        name: What it is called in answers.
        line: What to type; SRC, DST and HOST are the folders and the far host.
        options: The tool as a path file has it; read from ``line`` where not given.
        needs: What has to run at the far end.
    """

    name: str
    line: str
    needs: str
    options: dict[str, Any] | None = None

    @property
    def kind(self) -> str:
        """Kind of its tool."""
        return str((self.options or parse(self.line))["name"])


_GUC: Final = "globus-url-copy -r -cd -p 8 -fast file:///SRC/ gsiftp://HOST/DST/"
_GUC_THIRD: Final = "globus-url-copy -r -cd -p 4 -cc 8 -fast -pp gsiftp://HERE/SRC/ gsiftp://HOST/DST/"
_RCLONE: Final = {"name": "rclone", "backend": "sftp"}
CANDIDATES: Final = (
    Candidate("scp", "scp -r SRC HOST:DST", "ssh"),
    Candidate("sftp", "sftp HOST  (then: put -r SRC DST)", "ssh", {"name": "sftp"}),
    Candidate("rsync over ssh", "rsync -a -e ssh SRC/ HOST:DST/", "ssh"),
    Candidate("tar through ssh", "tar -C SRC -cf - . | ssh HOST 'tar -C DST -xf -'", "ssh", {"name": "tar-ssh"}),
    Candidate(
        "lftp over sftp, 16 at once",
        "lftp -c 'open sftp://HOST; mirror -R --parallel=16 SRC DST'",
        "ssh",
        {"name": "lftp", "protocol": "sftp", "parallel": 16},
    ),
    Candidate("rclone over sftp", "rclone copy SRC :sftp:DST --sftp-host HOST", "ssh", _RCLONE),
    Candidate(
        "rclone over sftp, 32 at once",
        "rclone copy --transfers 32 --checkers 32 SRC :sftp:DST --sftp-host HOST",
        "ssh",
        {**_RCLONE, "transfers": 32, "checkers": 32},
    ),
    Candidate("mscp, 16 connections", "mscp -n 16 -a 64 SRC HOST:DST", "ssh", {"name": "mscp", "n": 16, "a": 64}),
    Candidate("hpnscp", "hpnscp -r SRC HOST:DST", "HPN-SSH at both ends"),
    Candidate("bbcp", "bbcp -r -s 8 -w 8m SRC HOST:DST", "bbcp at both ends", {"name": "bbcp", "s": 8}),
    Candidate("rsync daemon", "rsync -a SRC/ rsync://HOST/MODULE/", "an rsync daemon", {"name": "rsync", "e": "none"}),
    Candidate("tar through netcat", "tar -C SRC -cf - . | nc -N HOST PORT", "nc -l PORT | tar -x", {"name": "tar-nc"}),
    Candidate(
        "globus-url-copy", _GUC, "a GridFTP server", {"name": "gridftp", "p": 8, "fast": True, "third_party": False}
    ),
    Candidate(
        "globus-url-copy, third party",
        _GUC_THIRD,
        "GridFTP servers at both ends",
        {"name": "gridftp", "p": 4, "cc": 8, "fast": True, "pp": True},
    ),
    Candidate(
        "xrdcp, 16 at once",
        "xrdcp -r --parallel 16 SRC root://HOST//DST",
        "an XRootD server",
        {"name": "xrdcp", "parallel": 16, "client": "source"},
    ),
)
#: what reaches a bucket; SRC or DST is its s3://BUCKET/PREFIX
FOR_BUCKETS: Final = (
    Candidate("aws s3 cp", "aws s3 cp --recursive SRC DST", "the bucket's keys", {"name": "aws-s3"}),
    Candidate("s5cmd", "s5cmd cp 'SRC/*' DST/", "the bucket's keys", {"name": "s5cmd"}),
    Candidate("mc", "mc cp -r SRC DST", "the bucket's keys", {"name": "mc"}),
    Candidate("rclone", "rclone copy SRC DST", "the bucket's keys", {"name": "rclone", "backend": "s3"}),
    Candidate(
        "rclone, 32 at once",
        "rclone copy --transfers 32 --checkers 32 SRC DST",
        "the bucket's keys",
        {"name": "rclone", "backend": "s3", "transfers": 32, "checkers": 32},
    ),
)
#: options that say something of the data: another candidate of the path's own kind keeps them
_OF_DATA: Final = ("changed", "literal", "ratio", "version")


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate with what it would do on a path."""

    candidate: Candidate
    duration_s: Interval
    throughput_Bps: Interval
    ceiling: float
    held_by: str


def candidates(spec: PathSpec) -> tuple[Candidate, ...]:
    """What can do the first transfer of a path: a bucket is reached by tools that speak S3, and by no others."""
    transfer = spec.transfers[0]
    buckets = any(end_of(spec, end).is_bucket for end in (transfer.source_end, transfer.to))
    return FOR_BUCKETS if buckets else CANDIDATES


def choose(spec: PathSpec, samples: int, seed: int = 1) -> tuple[list[Choice], list[tuple[Candidate, str]]]:
    """Every candidate on the first transfer of a path, the fastest first, and those that cannot do it with the reason.

    Raises:
        InputError: none of them can.
    """
    found, refused = [], []
    asked = spec.transfers[0].tool
    for candidate in candidates(spec):
        given = dict(candidate.options or parse(candidate.line))
        try:
            tool = Tool.build({"kind": given.pop("name"), **given})
            if tool.kind == asked.kind:
                tool = tool.model_copy(update={k: getattr(asked, k) for k in _OF_DATA if hasattr(asked, k)})
            transfer = spec.transfers[0].model_copy(update={"tool": tool})
            answer = predict(spec.model_copy(update={"transfers": [transfer]}), samples=samples, seed=seed).transfers[0]
        except DtnsimError as error:
            refused.append((candidate, str(error)))
            continue
        found.append(
            Choice(candidate, answer.duration_s, answer.throughput_Bps, answer.ceiling, answer.bottleneck.reason)
        )
    if not found:
        raise InputError(f"none of the tools can do this transfer: {refused[0][1]}")
    return sorted(found, key=lambda c: c.duration_s.p50), refused


def advice(found: list[Choice], asked: str = "scp") -> str:
    """The finding in a sentence: what the fastest way saves, and the fastest that needs nothing but ssh.

    Args:
        found: The candidates.
        asked: Kind of the path's own tool, which the others are compared with; scp where it is none of them.
    """
    own = [c for c in found if c.candidate.kind == asked] or [c for c in found if c.candidate.kind == "scp"]
    slow = (own or found)[-1]
    best = found[0]
    ssh = next((c for c in found if c.candidate.needs == "ssh"), best)
    was, now, least = (units.show(c.duration_s.p50, "s", digits=2) for c in (slow, ssh, best))
    if best.duration_s.p50 > 0.9 * slow.duration_s.p50:
        return f"{slow.candidate.name} will do: no tool here is more than a tenth faster than its {was}"
    helped = ssh.duration_s.p50 < 0.9 * slow.duration_s.p50
    text = (
        f"with {ssh.candidate.name} the {was} of {slow.candidate.name} become {now}"
        if helped
        else (f"nothing over ssh is much faster than the {was} of {slow.candidate.name}")
    )
    if best.duration_s.p50 < 0.8 * ssh.duration_s.p50:
        text += f"; {best.candidate.name} takes {least}, and needs {best.candidate.needs}"
    return text
