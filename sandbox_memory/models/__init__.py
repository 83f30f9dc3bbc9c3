"""One model call: a request with an output type in, a validated value and its usage out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..layout import Layout
from ..records import Candidate, Record, Rollout, Usage

EXTRACTION = "extraction"
CONSOLIDATION = "consolidation"

T = TypeVar("T", bound=BaseModel)


class Output(BaseModel):
    """Base of what models answer with; fields that a model adds on its own are ignored, JSON null means the default."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


class QuoteDraft(Output):
    """Words copied from one item; `item` is its reference as the prompt printed it, such as `s1.3`."""

    item: str = ""
    text: str = ""


class MemoryDraft(Output):
    """One thing that a model wants remembered, and the quotes that show it."""

    kind: str = Field(default="", description="preference, fact, procedure, lesson, task or episode")
    text: str = ""
    subject: str = Field(default="", description="stable name of what it is about, empty if there is none")
    quotes: list[QuoteDraft] = Field(default_factory=list)
    importance: float | None = Field(default=None, description="0 to 1; left out, its kind decides")


class ExtractionDraft(Output):
    """A model's answer to an extraction request; every string may be empty."""

    task: str = Field(default="", description="short title of what the person wanted")
    slug: str = Field(default="", description="the title in a few lower-case ASCII words joined by hyphens")
    summary: str = ""
    raw_memory: str = ""
    keywords: list[str] = Field(default_factory=list)
    memories: list[MemoryDraft] = Field(default_factory=list)


class DraftOperation(Output):
    """One operation that a model proposes, naming candidates `c1…` and records `r1…` as the prompt printed them."""

    op: str = Field(default="", description="add, support, revise, supersede, merge, move, delete or skip")
    candidates: list[str] = Field(default_factory=list)
    records: list[str] = Field(default_factory=list)
    text: str = ""
    kind: str = ""
    subject: str = ""
    group: str = Field(default="", description="title of the task group")
    reason: str = ""

    @model_validator(mode="before")
    @classmethod
    def _one_or_many(cls, data: Any) -> Any:
        """Accept `candidate: "c1"` and `candidates: "c1"` for `candidates: ["c1"]`, records alike."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for one, many in (("candidate", "candidates"), ("record", "records")):
            value = data.pop(one, None) if data.get(many) is None else data[many]
            if value is not None:
                data[many] = [value] if isinstance(value, str) else value
        return data


class ConsolidationDraft(Output):
    """A model's answer to a consolidation request."""

    operations: list[DraftOperation] = Field(default_factory=list)


@dataclass(frozen=True)
class ExtractionMaterial:
    """The values behind an extraction request: the new segments, and the earlier raw memory of the conversation."""

    rollout: Rollout
    previous: str
    layout: Layout


@dataclass(frozen=True)
class ConsolidationMaterial:
    """The values behind a consolidation request: `candidates[0]` is `c1`, `records[0]` is `r1`."""

    candidates: tuple[Candidate, ...]
    records: tuple[Record, ...]
    groups: tuple[str, ...]
    layout: Layout


@dataclass(frozen=True)
class Lookup:
    """One thing that a model may read before it answers: `read` takes the `argument` and gives a text; it never raises.

    It changes nothing. `most` bounds how often it is read for one answer. A model without tools ignores it.
    """

    name: str
    description: str
    argument: str
    read: Callable[[str], Awaitable[str]]
    most: int

    def counted(self) -> Callable[[str], Awaitable[str]]:
        """`read` for one answer: from `most` on it only says that this was all."""
        left = self.most

        async def read(argument: str) -> str:
            nonlocal left
            left -= 1
            if left < 0:
                return f"{self.name} answers {self.most} times at most. Give your answer now."
            return await self.read(argument)

        return read


@dataclass(frozen=True)
class Request(Generic[T]):
    """What a model is asked. `task` is `EXTRACTION` or `CONSOLIDATION`.

    `instructions` and `input` are rendered prompts; `material` is the same as values, for a model that reads no prose.
    """

    task: str
    instructions: str
    input: str
    output_type: type[T]
    material: object
    lookup: Lookup | None = None


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A validated value, and what it cost."""

    value: T
    usage: Usage


class Model(Protocol):
    """Anything that answers requests; `name` is what `status` shows."""

    @property
    def name(self) -> str: ...

    async def answer(self, request: Request[T]) -> Answer[T]:
        """Answer once. Raises `ModelError` for a failed call and `NoUsableModel` where no call can succeed."""
        ...
