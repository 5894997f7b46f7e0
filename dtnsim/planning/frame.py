"""Rows as a pandas DataFrame, where pandas is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dtnsim.ground.errors import InputError


def frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Any:
    """A ``pandas.DataFrame`` of rows.

    Raises:
        InputError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise InputError("to_frame() needs pandas: pip install 'dtn-pathsim[pandas]'") from None
    return pd.DataFrame(list(rows), columns=list(columns))
