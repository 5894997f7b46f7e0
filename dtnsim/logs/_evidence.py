"""What `dtnsim calibrate` and `dtnsim validate` make of a tool's figures: every parser says it (`Parser.evidence`)."""

from __future__ import annotations

from enum import Enum
from typing import Final

_CASES: Final = "'dtnsim init --cases' writes a cases file to begin with; give it role: fit"


class Evidence(Enum):
    """What a tool's figures are good for; the value says why they fit no parameter, and what would."""

    FITS = ""  # of the volumes and hosts that they were measured on: `dtnsim.evidence.fit_tests` describes the test
    CORRECTS = "it says what there is, not how fast: the host file is corrected where the two differ"
    DESCRIBES = "it says what there is, not how fast: it goes into the host file ('dtnsim discover')"
    WAY = "it measures the way between hosts: --wan FILE writes that as a network which a path can name"
    DELAYS = "it measures delays between hosts: ping says them too, and --wan FILE reads ping"
    NETWORK = f"it tests two hosts and the way between them; {_CASES}"
    TRANSFER = "an end-to-end transfer judges and does not fit: 'dtnsim validate LOG --path PATH' holds it against one"
    SERVERS = f"it tests servers and clients together; {_CASES}"
    CONNECTIONS = f"it says how connections fared, not what hosts can do; {_CASES}"
    BUSY = "it says how busy the machine was, not what it can do: fio or dd on the volume does"
    NO_MODEL = "dtnsim has no model of it: fio or dd on the volume fits"
