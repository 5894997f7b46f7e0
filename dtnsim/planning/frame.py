"""Rows as a pandas DataFrame, where pandas is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dtnsim.ground.extras import need


def frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Any:
    """A ``pandas.DataFrame`` of rows.

    Raises:
        InputError: pandas is not installed.
    """
    return need("pandas", "to_frame()").DataFrame(list(rows), columns=list(columns))
