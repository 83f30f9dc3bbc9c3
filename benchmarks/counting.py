"""Tokens of model requests, by the tokenizer of the SDK's default models (o200k).

Counted of a request, for either side: the system instructions; of each input item the text that the model reads, which
is a message's text, the name and the arguments of a call, the output of a tool; the tools and the output schema as the
JSON in which the SDK sends them. Not counted: the framing that the service adds around each of these, reasoning, and
answers, except that an earlier answer is input of the next turn. Every turn counts whole, as it is sent, whatever a
provider's cache may make of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

PIECE = 100_000
"""Characters that are counted at once; a text is cut at that many, which may add a token for each cut."""


@cache
def _encoding() -> Any:
    import bpe_openai  # type: ignore[import-untyped]  # a development dependency without types

    return bpe_openai.get_encoding("o200k_base")


def tokens(text: str) -> int:
    """How many tokens the text is."""
    return sum(len(_encoding().encode(text[at : at + PIECE])) for at in range(0, len(text), PIECE))


@dataclass
class Weights:
    """What the requests of one model added up to. `fixed` is the part that is the same at each request of its kind:
    instructions, tools and schema; it is part of `whole`."""

    requests: int = 0
    whole: int = 0
    fixed: int = 0
    system: str = ""
    inputs: list[str] = field(default_factory=list)
    """The first input text of every request, in order."""

    def weigh(self, system: str, items: Sequence[Any], tools: Sequence[Any], schema: Any) -> None:
        """Count one more request."""
        fixed = tokens(system) + tokens(wire(tools, schema))
        self.requests += 1
        self.fixed += fixed
        self.whole += fixed + sum(tokens(text_of(item)) for item in items)
        self.system = system
        self.inputs.append(text_of(items[0]) if items else "")


def wire(tools: Sequence[Any], schema: Any) -> str:
    """Tools and output schema as the Responses API gets them; empty where there are none."""
    from agents.models.openai_responses import Converter

    sent = [dict(each) for each in Converter.convert_tools(list(tools), []).tools]
    parts = [json.dumps(each, ensure_ascii=False) for each in sent]
    if schema is not None and not schema.is_plain_text():
        parts.append(json.dumps(Converter.get_response_format(schema), ensure_ascii=False))
    return "\n".join(parts)


def text_of(item: Any) -> str:
    """What a model reads of an input item."""
    if not isinstance(item, Mapping):
        item = item.model_dump(exclude_unset=True)
    parts = []
    content = item.get("content")
    if isinstance(content, str):
        parts.append(content)
    elif content:
        parts += [str(part.get("text", "")) for part in content]
    parts += [str(item[key]) for key in ("name", "arguments", "input") if item.get(key)]
    output = item.get("output")
    if output is not None:
        parts.append(output if isinstance(output, str) else json.dumps(output, ensure_ascii=False))
    return "\n".join(parts)
