"""Paths of cases: one file is parsed once, however many cases change it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dtnsim.description import spec

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.evidence.cases import Case


class Paths:
    """Loads the paths of cases.

    Args:
        calibration: Fitted parameters instead of those that the paths name; ``none`` for none.
    """

    def __init__(self, calibration: str | None = None) -> None:
        self._calibration = calibration
        self._files: dict[Path, PathSpec] = {}
        self._known: dict[tuple[Path, tuple[str, ...]], PathSpec] = {}

    def __call__(self, case: Case) -> PathSpec:
        """The path of a case, with its overrides.

        Raises:
            SpecError: the path cannot be used.
        """
        key = (case.path, case.overrides)
        if key not in self._known:
            if case.path not in self._files:
                self._files[case.path] = spec.load(case.path, (), self._calibration)
            whole = self._files[case.path]
            self._known[key] = whole.changed(case.overrides) if case.overrides else whole
        return self._known[key]
