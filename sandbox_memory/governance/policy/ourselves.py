"""What memory itself said, and statements about memory's own files, lines and ids."""

from __future__ import annotations

import re

_TOLD = re.compile(
    r"\b(?:according to|based on|as (?:noted|recorded|stated|mentioned|stored|written)(?: in)?) "
    r"(?:(?:my|our|the|your|its) )?(?:(?:saved|stored|persistent|long-term|project|agent|past|earlier|previous|"
    r"prior) )*(?:memory|memories|memory (?:notes?|file|summary)|MEMORY\.md|memory_summary(?:\.md)?)\b|"
    r"^\W*from memory\b,|"
    r"\b(?:per|from|in) (?:(?:the )?notes in )?(?:my|our|your) (?:(?:saved|stored|persistent|long-term|project|"
    r"agent|past|earlier|previous|"
    r"prior) )*"
    r"(?:memory|memories|memory (?:notes?|file|summary)|MEMORY\.md|memory_summary(?:\.md)?)\b(?! (?:usage|limit|leak|"
    r"dump|"
    r"profile|pressure|management|bandwidth|of \d))|"
    r"\b(?:my|the|our) (?:saved |stored |long-term )?(?:memory|memories|memory notes?|memory file|memory summary) "
    r"(?:also )?(?:says?|states?|notes?|shows?|mentions?|tells?|has(?! been)|contains?|records?|indicates?|"
    r"recommends?)\b|"
    r"\bmy (?:own )?(?:saved |earlier |previous |past )?notes (?:from (?:last time|earlier|before|(?:an |the |"
    r"our )?(?:earlier|previous|"
    r"last|past) \w+) )?(?:say|state|show|mention|tell)\b|"
    r"\b(?:from|in) (?:my )?notes (?:from|of) (?:last time|(?:an |the |our )?(?:earlier|previous|last|"
    r"past) (?:sessions?|runs?|"
    r"conversations?|chats?))\b|"
    r"\bi (?:already )?(?:remember|recall|know)(?: this| that| it)? from (?:(?:an |a |our |the |my )?(?:earlier|"
    r"previous|"
    r"prior|past|last) (?:sessions?|conversations?|runs?|chats?)|memory)\b|"
    r"\b(?:MEMORY\.md|memory_summary\.md) (?:also )?(?:says?|states?|notes?|shows?|lists?|mentions?|has)\b|"
    r"(?:根据|按照?|依据|据)(?:我的|之前的|已有的|长期)?记忆|(?:记忆|MEMORY\.md)(?:文件)?(?:里|中|上)?(?:写着|记录|"
    r"显示|提到|说|记着|有)",
    re.IGNORECASE,
)
_OURS = re.compile(
    r"\bMEMORY\.md\b|\bmemory_summary(?:\.md)?\b|\braw[_ ]memor(?:y|ies)(?:\.md)?\b(?! (?:dump|access|mapped))|"
    r"\brollout[_ ]summar(?:y|ies)\b|\bphase_two_selection\b|\bINBOX\.md\b|\bledger\.jsonl\b|"
    r"\b(?:memory(?:'s)?|sandbox_memory) ledger\b|\bTask Groups?\b|\bblock ids? of (?:memory|records?)\b|"
    r"\^?\b[mp]-[0-9a-f]{10}\b|<!-- memory:|\bmemor(?:y|ies) (?:was|were|has been|have been|got) (?:updated|saved|"
    r"stored|"
    r"consolidated|written|recorded|added|extracted)\b|\b(?:saved|added|wrote|stored|recorded) (?:this|that|it|"
    r"them) (?:to|in) "
    r"(?:my |the |your |long-term )?memory\b|"
    r"(?:原始记忆|记忆文件|记忆摘要|记忆账本|会话摘要文件)|(?:已|已经)(?:写入|存入|记入|更新)(?:到)?(?:长期)?记忆",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"\bi(?:'ve| have)? (?:just |now |also )?(?:saved|added|wrote|written|stored|recorded|noted|put) (?:[\w'-]+ ){1,4}"
    r"(?:to|in|into) (?:my |the |your |our )?(?:long-term |project )?memory\b"
    r"(?! (?:limit|map|pool|cell|card|region|cache))",
    re.IGNORECASE,
)
_GROUP_AS_WE_WRITE_IT = re.compile(r"Task Groups?\b")


def told_by_memory(text: str) -> str:
    """The words with which somebody says that they have it from memory; empty if none do."""
    found = _TOLD.search(text)
    return found.group().strip() if found else ""


def about_us(text: str) -> str:
    """What of memory's own a text names; empty if nothing."""
    for found in _OURS.finditer(text):
        name = found.group().strip()
        if name.casefold().startswith("task group") and not _GROUP_AS_WE_WRITE_IT.match(name):
            continue
        return name
    kept = _KEPT.search(text)
    return kept.group() if kept else ""
