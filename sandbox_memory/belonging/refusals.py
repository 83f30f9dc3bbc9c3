"""What a tool refuses or wants: for everybody only in words that any service has, else it may tell of one customer."""

from __future__ import annotations

import re

from ..governance.wording import normal
from .service import telling

_ERROR = re.compile(r"\b\w*(?:Error|Exception)\b")
_SET = re.compile(
    r"(?<![\w'\"])(?P<key>[a-z]\w{0,40})\s?=\s?[\"']?(?:true|false|yes|no|null|none|\d+)\b", re.IGNORECASE
)
_FORMAT = re.compile(
    r"(?<![A-Za-z0-9])(?:ISO|UTC|[YMDHS]{1,4}(?:[-/:.T ][YMDHS]{1,4})+|JSON|XML|HTTP\w*|[A-Z]?\d+x?\d*)(?![A-Za-z0-9])"
)
_QUOTED = re.compile(
    r"(?<!\w)(?P<mark>[\"'`])(?P<inner>[^\"'`\n]{1,120})(?P=mark)(?!\w)"
    r"|[“‘「『](?P<other>[^”’」』\n]{1,120})[”’」』]"
)
_SAID = re.compile(
    r"\b(?:failed|said|showed|gave): ?(?P<mark>[\"'`])(?P<inner>.*?)(?P=mark)(?=; (?:then|worked)\b|\W*$)", re.DOTALL
)
"""What a tool said, as a lesson quotes it: it is looked at as if it stood alone."""
_NUMBERED = re.compile(
    r"\b(?:order|account|card|reservation|booking|case|ticket|customer|user|member|room|invoice|parcel|claim|contract|id)s?"
    r"(?: (?:no\.?|number|id))?(?: |: ?|#)+\d{2,}|(?:订单|账户|账号|客户|用户|会员|房间|单号)号?[:： ]?\d{2,}",
    re.IGNORECASE,
)
_USUAL = telling(
    "raise occurred unexpected require reserve together archive expect character unknown found exist bad request "
    "argument parameter string integer numeric retry unauthorized forbidden conflict timeout unsupported allowed "
    "process exited exit status output stderr traceback workaround "
    "non older newer archive quarter code true false null verbose specify provide empty already"
    " 报错 出错 无效 已经 暂不 无法 支持 参数 字段 缺少 超过 过期 重试 存在 输入 请先 或者"
)
"""Words of errors of any program."""


def is_anybodys(text: str, called: frozenset[str]) -> bool:
    """True if all words are ones that any service has, or `called`: names of tools, fields and arguments.

    What is quoted must be such a name: else it is what somebody gave, wrote or bought.
    """
    if _NUMBERED.search(normal(text)):
        return False
    bare = _SAID.sub(lambda found: found["inner"], normal(text))
    plain = _FORMAT.sub(" ", _ERROR.sub(" ", bare))
    known = called | _USUAL | telling(" ".join(found["key"] for found in _SET.finditer(plain)))
    for found in _QUOTED.finditer(plain):
        inner = found["inner"] or found["other"]
        if inner.split()[1:] or not telling(inner.replace("_", " ")) <= called | _USUAL:
            return False
    return telling(plain.replace("_", " ")) <= known
