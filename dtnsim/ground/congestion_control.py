"""A field that names a congestion control: one of those that `dtnsim.physics.tcp.controls` finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from dtnsim.physics.tcp import controls

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema


def known(value: Any) -> str:
    """The name, where there is such an algorithm."""
    names = controls.names()
    if value in names:
        return str(value)
    from pydantic_core import PydanticKnownError

    words = [repr(name) for name in names]
    raise PydanticKnownError("literal_error", {"expected": f"{', '.join(words[:-1])} or {words[-1]}"})


class _Name:
    """Annotation of `CongestionControl`."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validation: `known`."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(known)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """JSON Schema: one of the names."""
        return {"enum": list(controls.names()), "type": "string"}


CongestionControl = Annotated[str, _Name()]
