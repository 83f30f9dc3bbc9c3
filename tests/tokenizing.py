"""Counting by a real tokenizer: o200k_base of `bpe-openai`, which takes texts of some hundred thousand characters."""

from __future__ import annotations

from functools import cache

import pytest

PART = 100_000


@cache
def _encoding():  # type: ignore[no-untyped-def]
    module = pytest.importorskip("bpe_openai", reason="bpe-openai, the tokenizer to compare with, is not installed")
    return module.get_encoding("o200k_base")


def count(text: str) -> int:
    """Its tokens; a long text is cut at line ends, where a tokenizer cuts too."""
    total, at = 0, 0
    while at < len(text):
        end = at + PART
        if end < len(text):
            end = max(text.rfind("\n", at, end) + 1, 0) or end
            while text[end : end + 1].isspace() and end > at + 1:
                end -= 1  # blanks belong to what follows them
        total += len(_encoding().encode_ordinary(text[at:end]))
        at = end
    return total
