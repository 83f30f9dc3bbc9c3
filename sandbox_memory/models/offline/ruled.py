"""What an agent or a service says about what is possible at all, and on which condition."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...governance.speech import passing
from ...governance.speech.clauses import bare, joined, matching, trimmed
from ...governance.speech.sentences import PLAIN, size
from ...governance.speech.whole import is_whole, stands_alone
from . import general

_RULES = matching(
    r"\b(?:cannot|can't|can not|can only|can (?:still|always)|could not be|may not|may only|must(?! have\b)|"
    r"has to be|have to be|"
    r"not (?:allowed|permitted|possible|supported|eligible|refundable|transferable|accepted|available (?:for|to|on|"
    r"in|without)|covered)|"
    r"only (?:if|when|be|after|once|for|with|within|allowed|available|possible)|at any time|at most|"
    r"no more than|is required|"
    r"are required|requires?|needs? (?:approval|permission|the approval|to be approved)|"
    r"polic(?:y|ies) (?:\w+ )?(?:requires?|allows?|permits?|limits?|covers?|excludes?|includes?)|"
    r"(?:do|does) not (?:cover|allow|permit|include|apply|mention|accept|support|qualify)|"
    r"prohibited|forbidden|(?:is|are|can|do|does|will) no longer|regardless of|non-?refundable|up to|"
    r"within \d+|eligible|limited to|"
    r"maximum of|as long as|unless)\b",
    r"\b(?:is|are|depends?|takes?|costs?|gets?|applies|apply) (?:typically|usually|generally|always|never|only)\b",
    r"\b(?:typically|usually|generally|always|never) (?:is|are|depends?|takes?|costs?|requires?|gets?|applies|"
    r"apply)\b",
    r"\bcan(?: still| also| only)? (?:be )?\w+ed? .{0,60}\bwithout\b|\byou can .{0,80}\bwithout\b",
    r"\b(?:is|are) not (?:provided|included|shown|listed|stored|returned|part of|recorded|displayed) (?:in|by|on|"
    r"for|from|with)\b",
    r"不能|不允许|不支持|必须|仅限|只能|不可(?!能)|政策|规定|无法|不予|才能|才可以?|最多|至少|需要?先|需由|须|以内|不得|一律|概不|除非",
)
_SPEAKS_OF_NOW = matching(
    r"\b(?:i'll|i will|let me|let's|let us|i need|i'm going|i am going|we need|we should|we will|we'll|we can|"
    r"i can(?! only)|i could|i would|i'd|"
    r"next step|now)\b",
    r"\b(?:it (?:seems|looks|appears)|seems (?:like|that)|apologi|sorry|thank|please (?:provide|confirm|let|hold|"
    r"note that you)|"
    r"could you|would you|hold on|i understand|(?:has|have) been (?!more)|i recommend|i suggest|provide me|i have|"
    r"i've|i can help|i found|assist you|"
    r"let me know|feel free|would you like|further assistance|happy to)\b",
    r"\bi(?:'m| am)? (?:cannot|can't|can not|unable to|not able to) (?:proceed|provide|access|see|view|check|share|"
    r"help|assist|find|locate|look|confirm|guarantee|continue|verify|retrieve|do|reach|open|read|answer)\b",
    r"\bi can only (?:offer|provide|give|help|assist|suggest|share|see|access|view|guess)\b"
    r"(?!.*\d.*\bper \w|.*\b(?:if|unless)\b)|\byou should (?:see|"
    r"receive|get)\b",
    r"\bi(?:'m| am) (?:unable|not able) to (?:offer|process|issue|give|make|add|grant)\b",
    r"\bthe (?:document|e-?mail|mail|page|article|file|runbook|readme|report|text|message|log|manual|"
    r"website) (?:says?|states?|mentions?|recommends?|asks?|suggests?)\b",
    r"^you (?:want|wish|have|had|asked|mentioned|said|would|are|will)\b|^(?:i|you) (?:was|were|did)\b",
    r"我(?:来|会|将|先|们可以|需要|已|这边|可以|帮|马上|看到|目前|暂时)|(?:无法|不能)(?:查看|访问|提供|确认|直接|看到|帮|为您|替您|获取|继续)|请(?:提供|确认|稍等|告诉|您)|抱歉|"
    r"对不起|建议您|如果还需要|如需",
)
_OF_ONE = matching(
    r"^(?:this|that|it|these|those|they|therefore|since the reason|your|his|her|their)\b(?! (?:command|tool|"
    r"service|function|endpoint|api|system|platform)\b)",
    r"\byou (?:want|asked|requested|mentioned|provided|are trying)\b|\b(?:this|that|your|the current|"
    r"the same) (?:(?:original|current|recent|new|existing|upcoming|latest) )?"
    r"(?:reservation|booking|order|ticket|flight|account|request|case|trip|claim|payment|card|purchase|appointment|"
    r"subscription|policy number|invoice|departure)\b",
    r"\bwill be\b.*\byour\b|\byour\b.*\bwill be\b",
    r"^(?:您的|你的|这个|该订单|该预订|这)",
)
_ON_CONDITION = matching(
    r"^(?:if|when|since|because|as|once|unless|without|for)\b.*,|\bonly\b.*\b(?:if|when|after|once)\b",
    r"^(?:如果|由于|因为|若|只要|除非|当)",
)
_CAUSE = matching(
    r"\b(?:root cause|(?:real|actual|underlying) (?:cause|reason|problem))\b[^.]{0,80}\b(?:is|was|were|lies)\b|"
    r"\b(?:root cause)\b:",
    r"\bturn(?:s|ed) out (?:that|to be|the|it)\b",
    r"\b(?:failed|fails|broke|crashed|was slow|timed out|stopped|was refused|was rejected|went down) because\b",
    r"\bthe (?:cause|reason)(?: (?:of|for|why) [^.]{1,80})? was\b",
    r"^cause: |^fix: |"
    r"根因(?:是|在于|：|:)|(?:根本)?原因(?:是|在于|：|:)|问题出在|是(?:因为|由于)[^，。]+(?:导致|引起|造成)",
)


def rule_met(text: str) -> bool:
    """True if a clause of an agent says what nobody can do here, or only on a condition."""
    if passing.is_question(text) or _SPEAKS_OF_NOW.search(text) or not _is_plain(text):
        return False
    if _OF_ONE.search(text) and not _ON_CONDITION.search(text):
        return False
    return (
        bool(_RULES.search(_QUOTED.sub("", text)))
        and size(text) >= 4
        and is_whole(text)
        and (stands_alone(text) or bool(_ON_CONDITION.search(text)))
    )


def cause_found(text: str) -> bool:
    """True if a clause of an agent names the cause of a failure, and does not guess."""
    return (
        bool(_CAUSE.search(text))
        and not _SPEAKS_OF_NOW.search(text)
        and size(text) >= 5
        and _is_plain(text)
        and stands_alone(text)
    )


def _is_plain(text: str) -> bool:
    if passing.is_private(text) or passing.is_dated(text) or passing.is_unsure(text) or passing.is_soon(text):
        return False
    return _ON_CONDITION.search(text) is not None or not (passing.is_for_now(text) or passing.is_of_the_day(text))


_QUOTED = re.compile(r'"[^"]{1,80}"')
_CONDITIONS = frozenset("because since as if unless when".split())
_OF_RULES = re.compile(r"(?:the|our) (?:[\w-]+ )*(?:polic(?:y|ies)|rules?|terms)\b", re.IGNORECASE)
_I_CANNOT = re.compile(r"(?:i|we)(?:'m| am)? (?:cannot|can't|unable)\b", re.IGNORECASE)


_LABEL = re.compile(r"\W*[A-Z][\w-]*(?: [\w-]+){0,4}s\W*")
_GRANTS = re.compile(r"\b(?:can|may|must|cannot|can't)\b|\bno \w+ (?:is|are)\b")


def rules(sentence: str, many: bool = False) -> Iterator[tuple[int, int, bool]]:
    """The parts of an agent's sentence that tell a rule or a cause: start, end, and true for a cause.

    A reason or condition after a rule belongs to it; so does what is said of a policy right before it, and the kind of
    things that it is for ("Paid orders: you can …"). `many` where what is said of a case tells a rule for others.
    """
    plain = sentence.translate(PLAIN)
    found: list[tuple[int, int, bool]] = []
    lead: tuple[int, int] | None = None
    for clause in joined(plain):
        start = bare(plain, clause.start).start
        end = trimmed(plain, start, clause.end)
        core = plain[start:end]
        follows = bool(found) and not _between(plain, found[-1][1], start)
        if follows and clause.joint in _CONDITIONS:
            found[-1] = (found[-1][0], end, found[-1][2])
            continue
        cause = cause_found(core)
        told = cause or rule_met((general.rule(core) or core) if many else core)
        label = _LABEL.fullmatch(plain[clause.start : clause.end]) and plain[clause.end : clause.end + 1] == ":"
        if not told and not (lead and _LABEL.fullmatch(plain[slice(*lead)]) and _grants(core)):
            opens = _OF_RULES.match(core) and not _SPEAKS_OF_NOW.search(core)
            lead = (clause.start if label else start, clause.end if label else end) if label or opens else None
            continue
        if lead is not None and not cause and not _between(plain, lead[1], clause.start):
            start = lead[0]
        lead = None
        if follows and found[-1][2] == cause and not _I_CANNOT.match(core):
            found[-1] = (found[-1][0], end, cause)
        else:
            found.append((start, end, cause))
    yield from found


def _grants(text: str) -> bool:
    return bool(_GRANTS.search(text)) and not _SPEAKS_OF_NOW.search(text) and not passing.is_question(text)


def _between(plain: str, end: int, start: int) -> str:
    """What stands between two parts beside marks and the word that joins them."""
    return re.sub(r"^(?:and|because|since|as|if|unless|when)\b", "", plain[end:start].strip(" ,;:，；：")).strip(" ,*")
