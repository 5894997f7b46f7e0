"""What a file system's operations on names and attributes take: of the program that waits, and of servers."""

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar

import numpy as np

from dtnsim.components.access import CHANGES, Calls, Operations
from dtnsim.components.base import Component
from dtnsim.components.machine import Machine
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import metadata


class FileOperations(Component):
    """The operations of a file system that move no data.

    Attributes:
        op_time: What a look-up takes.
        change_time: What a change of a directory or inode takes; None where it is no different.
    """

    #: the same for servers that nobody describes, where they are no hosts of the path
    filer: ClassVar[Mapping[str, Quantity]] = {}

    #: what operations are called where they go by other names; those that nobody is asked for have none
    asked_by: ClassVar[Mapping[str, str]] = {}

    #: keys that say what an operation takes, and what a change does
    times: ClassVar[tuple[str, str]] = ("op_time", "change_time")

    op_time: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "2 us",
        0.7,
        "mdtest 1.9.3 on tmpfs, two tasks (vi4io.org): 0.8 to 1.6 million stats and reads a second, 1.3 to 2.6 us each",
    )
    change_time: Annotated[Quantity, Unit("s", spread=0.5)] | None = prior(
        "25 us",
        0.5,
        "32 us a create and its close on ext3 at 2.66 GHz, 327,800 files (foddex.net, 2009), and 17 us on ext4, xfs "
        "and btrfs at 3.65 GHz of Zen 4 (measured): 25 us at 3.3 GHz less the close",
    )

    def called(self, operations: Iterable[str]) -> list[str]:
        """What some operations are called here."""
        words = [word for name in operations if (word := self.asked_by.get(name, name))]
        return [f"{n} x {word}" if (n := words.count(word)) > 1 else word for word in dict.fromkeys(words)]

    def waits(self, row: Row, operations: Calls, host: Machine, away_s: Value, file_B: float, *, met: int = 0) -> Value:
        """Seconds of one file's operations, each of which a program waits for."""
        seconds: Value = 0.0
        for operation in operations:
            service = self.operation_time(row, operation, host)
            trips = self.round_trips(row, operation)
            seconds = seconds + np.asarray(metadata.serial_time(1.0, trips, away_s, service))
            if operation != "close":  # which walks no path
                asked = trips * self.expired(row, away_s + service)
                seconds = seconds + metadata.serial_time(1.0, asked, away_s, self.operation_time(row, "stat", host))
        if "create" in operations and "close" in operations:
            seconds = seconds + self.close_time(row, file_B, away_s)
        return seconds

    def asks(self, operations: Calls, *, met: bool) -> Calls:
        """Operations of one file that servers have to answer."""
        return operations

    def folder_time(self, row: Row, operations: Calls, seconds: Value, away_s: Value) -> Value:
        """Seconds for which changes of one file, of ``seconds`` at the client, hold a folder at the servers."""
        return seconds - len(operations) * away_s

    def round_trips(self, row: Row, operation: str) -> Value:
        """Calls or round trips to the server for one metadata operation; names of a directory come many at once.

        An exclusive create is done at once: only NFS must set the attributes of such a file after it.
        """
        if operation == "exclusive":
            return 0.0
        return float(metadata.listing_calls(metadata.NAMES_PER_CALL)) if operation == "readdir" else 1.0

    def expired(self, row: Row, request_s: Value) -> Value:
        """Requests that renew what the client knew, for each that does the work."""
        return 0.0

    def close_time(self, row: Row, file_B: float, rtt_s: Value) -> Value:
        """Seconds that the close of a written file takes besides the operation itself."""
        return 0.0

    def misses(self, row: Row, host: Machine, volume: str, requests: Operations) -> Value:
        """Seconds in which the operations of one file wait for drives, since memory does not have all files."""
        return 0.0

    def flushes(self, operations: Calls, *, written: bool) -> tuple[float, float]:
        """How often one file's operations wait for the disks of the server, with changes and with what is written."""
        return 0.0, 0.0

    def metadata(self, row: Row, requests: Operations, host: Machine, volume: str) -> None:
        """Charges the metadata operations of one payload byte at the servers that do them; a local one has none."""

    def operation_time(self, row: Row, operation: str, host: Machine) -> Value:
        """Seconds of one metadata operation."""
        return row.value(self.timed(operation))

    def timed(self, operation: str) -> Quantity:
        """What a metadata operation takes; where that of look-ups alone is stated, it is that of changes too."""
        return self.of_two(*self.times, second=operation in CHANGES)
