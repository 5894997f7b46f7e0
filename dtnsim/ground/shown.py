"""What answers have for notebooks: a page, a table, a figure, the graph of their path.

Answers are records and know nothing of pictures: the report room draws them, and is loaded when somebody asks. It is
above this room, so it is named here and not imported.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

_DRAWN_BY: Final = "dtnsim.report.notebook"


class Shown:
    """An answer that can be shown."""

    __slots__ = ()

    given: Any

    def _repr_html_(self) -> str:
        return str(importlib.import_module(_DRAWN_BY).html(self))

    def to_frame(self) -> Any:
        """The answer as a ``pandas.DataFrame``.

        Raises:
            InputError: pandas is not installed.
        """
        return importlib.import_module(_DRAWN_BY).frame(self)

    def figure(self) -> Any:
        """The answer as a ``plotly.graph_objects.Figure``.

        Raises:
            InputError: plotly is not installed.
        """
        return importlib.import_module(_DRAWN_BY).figure(self)

    @property
    def graph(self) -> Any:
        """The path as a networkx graph: see `dtnsim.description.graph`; None where no path is known."""
        return self.given.graph if self.given is not None else None
