"""Metadata servers of a shared file system, by the operations a second that each of them does."""

from typing import Annotated, Self

from pydantic import Field

from dtnsim.components.access import Operations
from dtnsim.components.base import Model
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.physics import metadata

Many = Annotated[int, Field(ge=1, le=100000)]
OpRate = Annotated[Quantity, Unit("1/s", spread=0.3, low=1)]


class MetadataServers(Model):
    """Metadata servers with the operations a second that each of them does for many clients (what mdtest prints).

    Attributes:
        count: Servers that do metadata at the same time (Lustre: MDTs in use with DNE).
        create: Files made a second by one server; a mkdir, a rename and a change of attributes count alike.
        stat: Look-ups, opens of files that exist, attributes read.
        remove: Files removed.
        striped: True where every directory is spread over all servers (lfs setdirstripe -c).
    """

    count: Many = 1
    create: OpRate = prior(
        "20000 ops/s",
        0.8,
        "Dell HPC Lustre storage papers, mdtest of one MDS with many threads: 15K, 27K, 29K creates/s; machines of two "
        "processors, where others have virtual ones of few cores",
    )
    stat: OpRate = prior(
        "450000 ops/s", 0.8, "Dell HPC Lustre storage papers, mdtest of one MDS: 400K, 500K, 544K stats/s"
    )
    remove: OpRate = prior(
        "130000 ops/s", 0.8, "Dell HPC Lustre storage papers, mdtest of one MDS: 100K, 144K, 160K removals/s"
    )
    striped: bool = False

    def filled(self, usual: Self) -> Self:
        """With what a file system's servers usually do where nobody says."""
        plain = MetadataServers()
        unsaid = [
            name for name in ("create", "stat", "remove") if getattr(self, name).source == getattr(plain, name).source
        ]
        return self.model_copy(update={name: getattr(usual, name) for name in unsaid})

    def seconds(self, row: Row, requests: Operations) -> Term:
        """Time of one metadata server that the operations of one payload byte take [s/B]."""
        parts = []
        for operation, number in requests.per_byte.items():
            rate = row.term(getattr(self, metadata.CLASSES.get(operation, "stat")))
            parts.append(Term(number, f"{number:.7g}") * law(metadata.server_time, operation_rate=rate))
        return sum(parts[1:], parts[0]) if parts else term(0.0)
