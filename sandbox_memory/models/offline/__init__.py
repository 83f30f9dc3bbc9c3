"""The built-in model: no key, no network, the same answer every time. It quotes, it does not invent."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel

from ...errors import ModelError
from ...records import Usage
from .. import Answer, ConsolidationMaterial, ExtractionMaterial, Request, T
from .consolidating import consolidate
from .extracting import extract

NAME = "offline"


class OfflineModel:
    """Answers both kinds of request from their `material`; reads no prompt and costs no tokens."""

    @property
    def name(self) -> str:
        """`offline`, the name that settings and the command line use."""
        return NAME

    async def answer(self, request: Request[T]) -> Answer[T]:
        """The answer at once. Raises `ModelError` for material that is neither of the two kinds."""
        material, value = request.material, cast("BaseModel | None", None)
        if isinstance(material, ExtractionMaterial):
            value = extract(material)
        elif isinstance(material, ConsolidationMaterial):
            value = consolidate(material)
        if not isinstance(value, request.output_type):
            raise ModelError(f"the offline model cannot answer a {request.task} request", retryable=False)
        return Answer(value, Usage())
