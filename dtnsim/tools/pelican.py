"""Pelican (stashcp before): objects of the Open Science Data Federation, from a cache or an origin by HTTP."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.ground.quantity import prior
from dtnsim.tools import _http as http
from dtnsim.tools._common import Count, Rate
from dtnsim.tools.plan import Job, Opening, Plan, Tool

#: the director is asked (TCP, TLS, an answer that names the cache), then the cache (TCP, TLS, HEAD); both are assumed
#: to be as far away as the cache
_ASKED: Final = 2 * (http.CONNECT + http.TLS + http.REQUEST)
_START: Final = prior("0.2 s", 0.6, "assumed: a Go program that reads its configuration and federation's metadata")


class Pelican(Tool):
    """``pelican object get pelican://FEDERATION/PATH``: ``workers`` objects at once, a connection each.

    The path's ``from`` is the cache: what it has to fetch from an origin first is a transfer of its own. Of an object
    that is asked for, the director names the cache first.

    Neglects: tokens; a second cache after a failure; uploads.
    Source: github.com/PelicanPlatform/pelican client (5 workers, TransferEngine); docs.pelicanplatform.org.
    """

    kind: ClassVar[str] = "pelican"
    tool_class = "mover"
    files_option = "workers"

    workers: Count = 5
    limit: Rate | None = None
    tls: Annotated[bool, Field(description="https; caches of public data have http as well")] = True

    def plan(self, job: Job) -> Plan:
        """Objects at once, each asked for at the director."""
        workers = max(1, min(self.workers, job.files))
        opening = Opening(_ASKED, _START, "director and cache")
        each = http.REQUEST * 2  # the director's answer is kept for a while; HEAD and GET at the cache
        return http.download(job, opening, workers=workers, each=each, tls=self.tls, rate=self.limit)
