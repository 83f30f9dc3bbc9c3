"""How tools speak when something went wrong: whether a call failed, and in which words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ...governance.speech.sentences import Sentence
from .outputs import LINE, LOOKED_AT, Shown, is_contents, shown, undecorated, within

ERROR_WORDS = 30
SHOWN_LINES = 60
"""Lines at each end of an output in which a program says that it failed."""

_RAISED = re.compile(
    r"^[ \t]*(?:E {2,}|[-*>│] +|#\d+ [\d.]+ +)?(?P<line>thread '[^'\n]*' panicked at \S+:$|"
    r"(?:Exception in thread \S+ |Caused by: )?(?:[A-Z]\d+:? |"
    r"Code: \d+\. )?(?:[\w.$:]+(?:\.|::))?(?:[A-Z]\w*)?(?:Error|Exception|Failure|"
    r"Interrupt)\b(?:: .*|:?))$"
)
_SAID = re.compile(
    r"^[ \t]*(?:[-*>│✗✘×!]+ +)?(?P<line>(?:(?:HTTP/\S+ )?\d{3} )?(?:[^\s:：]+(?:[:(][\d,:]+\)?)?: |"
    r"[\w./-]+: (?=error))?(?:fatal|error|err!|"
    r"failed|failure|panic|npm err!|denied|refused|"
    r"rejected|invalid|unknown|wrong|incorrect|unauthorized|forbidden|FAILED|FAIL|conflict|unable|错误|失败|异常|报错)"
    r"(?:\b|(?<=[误败常错]))(?:\[\w+\]|[ \t]\w+\d+(?=:)|[ \t]*\([^)\n]*\))*[\s:：!,-]+\S.*)$",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?:Error|Exception|Failure)\b")
_TAGGED = re.compile(r"<(?P<tag>\w*error\w*)>\s*(?P<line>[^<\n]*[^<\s])", re.IGNORECASE)
_KILLED = re.compile(
    r"\btimed out\b.*\b(?:killed|terminated|stopped|aborted)\b|\b(?:killed|stopped) after \d", re.IGNORECASE
)
_LOCATED = re.compile(
    r"^[ \t]*(?P<line>[\w./@+-]*\.\w+:\d+(?::\d+)?: (?!in |\w*(?:warning|note)\b)(?=\S+ \S+ \S).*)$", re.IGNORECASE
)
"""A place in a file and what is wrong there, as compilers and linters say it."""
_SUMMARY = re.compile(r"(?:-+ )?FAIL(?:ED|URES?)?\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?P<a>\d+) (?:tests? |examples? |specs? )?(?:failed|failures?|errors?)\b|\b(?:failures|errors)=(?P<b>\d+)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\W*(?:warning|note|hint|info|debug|usage|deprecated)\b|[^:]{0,20}: ?usage: ", re.IGNORECASE)
"""How a line begins that is not what went wrong."""
_COMPLAINT = re.compile(
    r"\b(?:command not found|no such (?:file|option|command|module|table|column|service|container)|not found|"
    r"permission denied|access denied|"
    r"connection (?:refused|reset|timed out)|is not recognized|cannot (?:find|open|access|import|be|connect|create|"
    r"read|write)|could not|couldn't|"
    r"can't (?:find|open|read|be)|timed? ?out|does not exist|doesn't exist|not (?:permitted|allowed|authorized|"
    r"supported|a valid)|unrecognized|"
    r"is (?:required|missing|invalid|locked)|unbound variable|forbidden|unauthori[sz]ed|denied|segmentation fault|"
    r"core dumped|already (?:exists|"
    r"in use)|(?:quota|limit|rate) \w*\s?exceeded|too many requests|"
    r"must be|failed (?:because|to|with)|was refused|[1-9]\d* (?:failed|errors?))\b"
    r"|(?:未找到|找不到|不存在|无法|没有权限|权限不足|无权|拒绝访问|被拒绝|超时|不支持|不允许|缺少|不能为空|必填|无效|已过期|超出|超过限制|配额|失败|不合法)",
    re.IGNORECASE,
)
_OF_NOW = re.compile(
    r"not found|no such|does(?: not|n't) exist|offline|timed? ?out|unavailable|connection|try again|busy|"
    r"未找到|找不到|不存在|超时|离线|繁忙|稍后",
    re.IGNORECASE,
)
_STATES_RULE = re.compile(
    r"\b(?:must|only|required?|requires|one of|cannot|can't|not (?:allowed|permitted|supported|valid|be)|invalid|"
    r"expected|"
    r"at (?:most|least)|exceed|limit|quota|policy|denied|forbidden|permission|available on)\b|"
    r"必须|只能|仅|不能|不允许|不支持|权限|限制|超出|配额|上限|需要?",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"^[ \t]*(?:see\b|run\b|try\b|use\b|hint\b|note\b|for (?:more|details)|详见|提示|请参阅|more (?:info|details))",
    re.IGNORECASE,
)
_LOG = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?\b")
_ERROR_KEY = re.compile(
    r"err|errors?|error_?(?:message|msg|text|description)|err_?msg|exception|fault|错误|错误信息|异常", re.IGNORECASE
)
_SAYS_KEY = re.compile(
    r"message|msg|detail|details|reason|description|title|text|error|error_description|提示|说明|原因|消息|信息",
    re.IGNORECASE,
)
_STATE_KEY = re.compile(r"status|state|result|outcome|code|success|succeeded|ok|状态|结果|成功", re.IGNORECASE)
_FINE = re.compile(r"\W*(?:|0|ok|none|null|no errors?|success\w*|成功|正常|无)\W*", re.IGNORECASE)
_BAD = re.compile(
    r".*(?:error|fail|denied|forbidden|reject|refus|invalid|unauthor|timeout|not_?found|失败|错误|拒绝|异常|false).*",
    re.IGNORECASE,
)


def failure(text: str, *, looked: bool = False) -> Sentence | None:
    """The words of a tool's output that say why it failed, or None if it did not.

    `looked` is true for a call that only shows something: what it shows may speak of errors without being one.
    """
    if text.lstrip()[:1] in ("{", "["):
        data = _json(text)
        if data is not None:
            return _json_failure(data, text)
    tagged = _TAGGED.match(text.lstrip()) if text.lstrip()[:1] == "<" else None
    if tagged:
        start = len(text) - len(text.lstrip()) + tagged.start("line")
        return within(Sentence(tagged["line"], start), ERROR_WORDS)
    out = shown(text)
    if looked and not out.bad:
        first = out.lines[0] if out.lines else None
        asked_wrongly = (
            first and len(out.lines) <= 2 and re.match(r"[\w./-]+: ", first.text) and _COMPLAINT.search(first.text)
        )
        return within(first, ERROR_WORDS) if first and asked_wrongly and not _LOG.search(first.text) else None
    found = _complaint(out)
    if found is None and out.bad:
        lines = [line for line in out.lines if not _POINTER.match(line.text)]
        found = lines[-1] if lines else out.frame
        return within(found, ERROR_WORDS) if found else None
    return within(_with_detail(found, out.lines), ERROR_WORDS) if found else None


def _complaint(out: Shown) -> Sentence | None:
    """The line that complains: an exception, a place in a file, what begins as an error, what reads like one.

    Of a run with several failures it is the line that counts them: one of them is not the others' cause.
    """
    ended_well = bool(out.code) and not out.bad
    ends = out.lines if len(out.lines) <= 2 * SHOWN_LINES else (*out.lines[:SHOWN_LINES], *out.lines[-SHOWN_LINES:])
    outer = [line for line in (*out.lines[:2], *out.lines[-2:]) if _KILLED.search(line.text) and not ended_well]
    if outer:
        return outer[0]
    counted = next((line for line in reversed(ends[-8:]) if _count(line.text)), None)
    if counted is not None and _count(counted.text) > 1 and not ended_well:
        return undecorated(counted)
    raised = [found for line in (out.lines[-3:] if ended_well else ends) if (found := _matched(_RAISED, line))]
    if raised:
        # The last of several exceptions is what came of the others; of several complaints the first is the cause.
        return raised[0] if all(_BARE.match(line.text) for line in raised) else raised[-1]
    if ended_well:
        return next((line for line in out.lines[-3:] if re.search(r"\b[1-9]\d* failed\b", line.text)), None)
    said = [found for line in ends if (found := _matched(_SAID, line)) and not _ASIDE.match(line.text)]
    plain = [line for line in said if not _SUMMARY.match(line.text)]
    if out.bad or said:
        located = next((found for line in ends if (found := _matched(_LOCATED, line))), None)
        if located is not None and (not plain or located.start < plain[0].start):
            return located
    if said:
        return plain[0] if plain else said[0]
    if len(out.lines) > SHOWN_LINES and not out.bad:
        return None
    complaints = (
        line
        for line in ends
        if _COMPLAINT.search(line.text) and not _POINTER.match(line.text) and not _ASIDE.match(line.text)
    )
    return next((line for line in complaints if out.bad or not is_contents(line.text)), None)


def _count(line: str) -> int:
    return max((int(found["a"] or found["b"]) for found in _COUNTED.finditer(line[:LINE])), default=0)


def is_of_now(error: str) -> bool:
    """True for an error that only tells of a missing record or a service that was down, and states no rule."""
    return bool(_OF_NOW.search(error)) and not _STATES_RULE.search(error)


def is_absent(error: str) -> bool:
    """True for an error that tells of something that is not there."""
    return bool(re.search(r"no such|not found|not exist|未找到|找不到|不存在", error, re.IGNORECASE))


def complains(line: str) -> bool:
    """True for a line that speaks of something that failed or is missing."""
    bare = _LOG.sub("", line)
    return bool(_COMPLAINT.search(bare) or re.search(r"\b(?:FATAL|ERROR|CRITICAL|PANIC|failed)\b|错误|异常", bare))


def _matched(pattern: re.Pattern[str], line: Sentence) -> Sentence | None:
    match = pattern.match(line.text, 0, LINE)
    return line.part(match.start("line"), match.end("line")) if match else None


def _with_detail(line: Sentence, lines: tuple[Sentence, ...]) -> Sentence:
    """An error that ends in a colon with the lines that say the rest."""
    rest = [other for other in lines if other.start > line.end]
    text, end = line.text, line.end
    for other in rest[:3]:
        if not text.endswith((":", "：")):
            break
        text, end = text + "\n" + " " * max(other.start - end - 1, 0) + other.text, other.end
    return Sentence(text, line.start)


def _json(text: str) -> Any:
    if len(text) > LOOKED_AT:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _json_failure(data: Any, text: str) -> Sentence | None:
    if not isinstance(data, dict):
        return None
    said = _error_of(data)
    if said is None:
        out = shown(text)
        if not out.bad or out.frame is None:
            return None
        told = next(
            (
                data[key]
                for key in ("stderr", "output", "stdout")
                if isinstance(data.get(key), str) and data[key].strip()
            ),
            "",
        )
        said = told.strip().split("\n")[-1] or out.frame.text
    for written in (json.dumps(said, ensure_ascii=False)[1:-1], json.dumps(said)[1:-1], said):
        start = text.find(written)
        if start >= 0:
            end = re.search(r"\\[nrt]", written)
            return within(Sentence(written[: end.start()] if end and end.start() else written, start), ERROR_WORDS)
    return None


def _error_of(data: Mapping[str, Any], depth: int = 0) -> str | None:
    """What an answer says is wrong: the text of its error field, or its message if its state is bad."""
    for key, value in data.items():
        if (
            _ERROR_KEY.fullmatch(key)
            and value
            and not (isinstance(value, str) and _FINE.fullmatch(value))
            and value is not True
        ):
            return _text_of(value) or _message(data)
    bad = any(_is_bad(key, value) for key, value in data.items())
    said = _message(data)
    if said and (bad or (len(data) <= 4 and _COMPLAINT.search(said))):
        return said
    if depth < 2:
        for key in ("error", "result", "response", "data", "body"):
            inner = data.get(key)
            if isinstance(inner, Mapping) and len(data) <= 4:
                found = _error_of(inner, depth + 1)
                if found:
                    return found
    return None


def _is_bad(key: str, value: Any) -> bool:
    if not _STATE_KEY.fullmatch(key):
        return False
    return value is False or (isinstance(value, str) and bool(_BAD.fullmatch(value)))


def _message(data: Mapping[str, Any]) -> str | None:
    found = (
        value for key, value in data.items() if _SAYS_KEY.fullmatch(key) and isinstance(value, str) and value.strip()
    )
    return next(found, None)


def _text_of(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, Mapping):
        return _message(value) or next((text for inner in value.values() if (text := _text_of(inner))), None)
    if isinstance(value, list) and value:
        return _text_of(value[0])
    return None
