"""What is said for this time only, and how things are just now."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...records import Kind
from .reading import clause_after, clause_before

_OCCASION = (
    r"(?:pr|pull request|mr|merge request|commit|run|ticket|request|order|booking|reservation|trip|flight|purchase|"
    r"visit|call|meeting|session|conversation|chat|task|job|deploy(?:ment)?|release|rollout|build|draft|version|"
    r"e-?mail|mail|message|reply|answer|report|figure|chart|query|test|exercise|occasion|round|iteration|quote|"
    r"appointment|invoice|payment|shipment|delivery|case|one|week|month|morning|afternoon|evening|weekend|sprint)"
)
_ONCE = re.compile(
    r"\b(?:just|only) (?:for )?(?:this|the|that) once\b|\bthis once\b|\bjust once\b(?= (?:this|for)\b|\W*$)|"
    r"\b(?:only|just) (?:for )?this (?:one )?time\b|\bthis one time\b|\bfor once\b|\ba single time\b|"
    r"^\W*exceptionally,|"
    r"(?<!at )(?<!by )(?<!about )(?<!around )(?<!before )(?<!until )\bthis time\b"
    r"(?! (?:of|last|next|zone|slot|window|frame|limit|stamp|tomorrow|yesterday))|"
    r"\bfor now\b(?! on\b)|\bfor the (?:time being|moment)\b|\bin the meantime\b|\buntil further notice\b|"
    r"\bon this occasion\b|\bin this (?:one|single|particular) (?:case|instance)\b|"
    r"\b(?:just|only) (?:for )?(?:today|tonight)\b|\b(?:today|tonight) only\b|"
    r"\b(?:for|in|on|with|during|at) this (?:[\w-]+ ){1,2}only\b|"
    rf"\b(?:just|only) (?:for|in|on|with|to|during) this {_OCCASION}\b|\bthis {_OCCASION} only\b|"
    r"\b(?:is|as|be|it's|just|only) an? (?:one[- ]off|one[- ]time thing|one[- ]time exception|single exception)\b|"
    r"\b(?:one[- ]off|one[- ]time) (?:exception|favou?r|request|deal)\b|\bone time only\b|\bjust the once\b|"
    r"\bas an exception\b(?=\W*$|,)|\bmake an exception\b|\bby way of exception\b",
    re.IGNORECASE,
)
_WANTED_NOW = re.compile(
    rf"\b(?:for|on|with|in|during) this {_OCCASION}\b|\btemporarily\b(?! \w+ed \w)|"
    r"^\W*(?:please )?(?:for )?(?:today|tonight|this (?:morning|afternoon|evening|week))\b,?|"
    r"\b(?:for )?(?:today|tonight|this (?:morning|afternoon|evening|week))\W*$|"
    r"\buntil (?:tomorrow|tonight|i(?:'m| am) back|we(?:'re| are) back)\b|"
    r"^\W*right now\b|\bright now\W*$|\bat the moment\b",
    re.IGNORECASE,
)
_ONCE_ZH = re.compile(
    r"(?<!从)这一?[次回](?!性|的?(?:事故|故障|教训|经验|失误|起)|开始|起)|本次(?!的?(?:事故|故障|教训|经验))|"
    r"仅此一[次回]|[只就]这一?[次回]|下不为例|只?破例(?!的)|例外一[次回下]|暂时|暂且|先这样|"
    r"(?:今天|今晚|眼下|目前|现在|这会儿?)(?:就|我们)?先(?!后)|[只仅光就](?:在|限|有|是)?(?:今天|今晚)(?!的)|"
    r"唯独(?:今天|"
    r"今晚|这次)|"
    r"临时(?=用|先|改|关|开|跳|换|走|借|加|放|禁|停用|绕)"
)
_WANTED_NOW_ZH = re.compile(
    r"这(?:一)?(?:版|份|张|单|笔|封|篇|趟|个\s?(?:PR|MR|提交|需求|任务|工单|订单|版本))[^，。；]{0,12}"
    r"(?:先|就|只|不用|别|不要|用|按)|^(?:今天|今晚|这周|本周)(?=.{0,8}(?:别|不用|不要|用|按|先|就|只))",
    re.IGNORECASE,
)
_LASTS = re.compile(
    r"\b(?:always|never|from (?:now|here) on|going forward|every time|each time|by default|as a rule|in (?:the )?"
    r"future|whenever|every|no longer|any ?more|usually|normally)\b|"
    r"(?<![完了好过成定束])以后|今后|往后|每次|每当|每[天周月年]|总是|永远|一律|默认|统一|始终|从来|任何时候|从现在起|从这[次回](?:开始|起)",
    re.IGNORECASE,
)
_RULED_OUT = re.compile(
    r"\bnot (?:just|only|even|merely)\b|\bnever\b|\bno (?:one-off|exceptions?)\b|\bnot allowed to\b|\bmust not\b|"
    r"\bmay not\b|\b(?:say|says|said|ask|asks|hear|write|writes)\b|"
    r"哪怕|即使|就算|不(?:能|得|准|许|可以|允许|只)|绝不|从不|禁止|严禁",
    re.IGNORECASE,
)


def once(text: str, kind: Kind) -> str:
    """The words that limit a wish to this time; empty if none do."""
    patterns = [_ONCE, _ONCE_ZH]
    patterns += [_WANTED_NOW, _WANTED_NOW_ZH] if kind in (Kind.PREFERENCE, Kind.PROCEDURE) else []
    for pattern in patterns:
        for found in pattern.finditer(text):
            if not _RULED_OUT.search(clause_before(text, found.start())):
                return found.group().strip(" ,")
    return ""


def lasts(text: str) -> bool:
    """True for what says that it holds beyond this time."""
    return _LASTS.search(text) is not None


# ---------------------------------------------------------------- how things are just now

_BE = r"(?:is|are|am|'s|'re|'m|seems?|looks?|remains?|stays?)"
_MEANWHILE = r"(?:(?:all|still|now|currently|again|back|already|temporarily|completely|totally|just|presently) )*"
_NOW = (
    r"(?:right now|at the (?:very )?moment|at present|currently|presently|as we speak|at this (?:moment|point|minute)|"
    r"as of (?:now|this morning|today)|now|still|again|today|this (?:morning|afternoon|evening)|"
    r"since (?:this morning|yesterday|noon|last night|\d{1,2}(?::\d\d)?(?: ?[ap]m)?))"
)
_THING = (
    r"(?:ci|builds?|pipelines?|main|master|trunk|staging|prod(?:uction)?|servers?|sites?|websites?|services?|apis?|"
    r"clusters?|database|db|vpn|network|wi-?fi|tests?|suite|checks?|deploy(?:ment|s)?|jobs?|queue|runners?|apps?|"
    r"environment|env|gateway|registry|dashboard|proxy|cache|backend|frontend|endpoint|host|node|disk|system|"
    r"elevator|printer)"
)
_VERY = r"(?:(?:super|very|really|so|pretty|extremely|quite|rather|a bit|a little|almost|too) )*"
_DOWN = (
    r"(?:down|broken|failing|crash(?:ed|ing)|stuck|hung|hanging|frozen|offline|unreachable|unresponsive|rebooting|"
    r"restarting|(?:under|in) maintenance|red|degraded|overloaded|back up(?: again)?|back online|up again|"
    r"up and running|out of (?:disk|memory|space|order)|not (?:responding|reachable|coming up))"
)
_SOMEHOW = (
    rf"(?:{_DOWN}|up(?! to\b| for\b)|green|slow|flaky|busy|full|late|delayed|ready|done(?! (?:by|with|via|in)\b)|"
    rf"working(?! (?:for|at|as|with)\b)|"
    r"available|unavailable|running|empty|blocked|waiting|online|closed|disabled|missing|pending|in progress|"
    r"on hold|under way|underway|in review|ongoing|queued|fine|fixed|deploying|building|loading|syncing|migrating|"
    r"passing|tired|sick|away)"
)
_LASTING_WORK = (
    r"(?:using|supporting|requiring|hosting|serving|paying|charging|living|working (?:at|for|with|as|on)|"
    r"reporting to|storing|relying|running (?:on |with )?(?:[\w.-]*\d|[A-Z])|offering|targeting|costing|"
    r"depending|owning|leading)"
)
_WORK = (
    r"(?:deploy\w*|migrations?|builds?|rollouts?|incidents?|outages?|releases?|upgrades?|maintenance|reviews?|jobs?|"
    r"imports?|exports?|backups?|tests?|pipelines?|restores?|index\w*|sync|downloads?|uploads?|training|process\w*|"
    r"fix|investigation)"
)
_STATE = re.compile(
    rf"\b{_THING}\b(?: [\w/'-]+){{0,2}} {_BE} {_MEANWHILE}{_VERY}{_DOWN}\b|"
    r"\b(?:has |have |'s )?just (?:now )?(?:crashed|died|failed|broke|gone? down|went down|came back|come back|"
    r"restarted|timed out|finished|started|dropped|went offline|stopped)\b|"
    r"\b(?:stuck|hanging|hangs|sits|is|are) at \d{1,3} ?(?:%|percent)(?=\W*$|[,;]| (?:now|right|since|for))|"
    rf"\b{_BE} (?:still |now |currently |presently ){_MEANWHILE}{_SOMEHOW}(?!\s+(?:on|at|with|under|as|"
    rf"in) \S*[\d/])(?!\w)|"
    rf"\b{_BE} {_MEANWHILE}{_VERY}{_SOMEHOW} {_NOW}\b|\b{_SOMEHOW} (?:right now|at the moment|as we speak)\b|"
    rf"\b(?:is|are|am|'s|'re|'m) (?:currently|right now|still|presently) (?!{_LASTING_WORK})\w+ing\b|"
    rf"\b(?:is|are) (?:now|currently|still|just) being \w+ed\b|\b(?:is|are) being \w+ed {_NOW}\b|"
    rf"\b{_WORK} (?:is|are) (?:still |currently |now |just )*(?:running|in progress|ongoing|under way|underway|pending|"
    r"queued|waiting|hanging|at \d+ ?(?:%|percent)|\d+ ?(?:%|percent) done|half done)(?! (?:as|on|under|in|with|"
    r"at) \S)|"
    r"\b(?:i'm|i am|we're|we are|it's|it is|pr is|pr \S+ is|ticket is|build is) (?:still |currently )?waiting (?:for|"
    r"on)\b|"
    r"\b(?:i'm|i am|we're|we are) (?:currently |now |still |just )*(?:(?:at|on|in) (?:the|a|my|an) (?:airport|station|"
    r"train|bus|plane|phone|road|move|call|doctor's?|dentist|gym|hospital|meeting|taxi)\b|on (?:vacation|holiday|leave|"
    r"a break)|traveling|travelling|out of (?:the )?office|sick|ill\b|tired|hungry|in a hurry|running late|about to|"
    r"stuck)|"
    r"\b(?:has|have) been (?:\w+ing|down|up|red|slow|stuck|broken|offline|unreachable|unavailable|flaky) "
    r"(?:since|for) (?:this|yesterday|last|noon|an?|the (?:last|past)|\d|two|three|some|hours|minutes|a while|ages)\b|"
    rf"\b{_THING} (?:is|are) (?:now |still |again )?(?:returning|throwing|giving|showing|spitting|dropping|losing|"
    rf"rejecting|"
    r"refusing|timing out|swapping|leaking|lagging)\b|\bat the moment(?=\W*$)|"
    r"\b(?:right now|at this very (?:moment|minute)|as we speak)\b|\b(?:there (?:is|are)|we have) (?:no|an?|"
    r"\w+) [^.,]{1,40}\bat the moment\b",
    re.IGNORECASE,
)
_THING_ZH = (
    r"(?:服务器?|测试|构建|流水线|环境|CI|CD|主干|主分支|数据库|网站|接口|集群|VPN|网络|网关|机器|系统|部署|任务|"
    r"队列|磁盘|线上|"
    r"预发|生产|staging|prod|后台|页面)"
)
_STATE_ZH = re.compile(
    r"(?:正在|还在|仍在|尚在)(?!用|使用的?是|线)[^，。；的时就]{1,14}|"
    r"(?:目前|现在|当前|眼下|此刻|这会儿?|今天)(?:都|又|还|仍然?|已经|正|处于|全都?|突然|一直)*"
    r"(?:是)?(?:卡|挂|崩|坏|不可用|无法|没法|红|断|宕|离线|连不上|打不开|很慢|排队|等|堵|超时|停机|维护|故障|报错|"
    r"满了|没电|下线|不通)|"
    rf"{_THING_ZH}[^，。；如若]{{0,6}}(?:挂了|崩了|坏了|宕机了?|卡住了?|卡着|红了|红着|断了|满了|打不开了?|"
    rf"连不上了?|不可用了?)|"
    r"(?:卡|堵|停|等|跑|挂|断|转|宕)了[^，。；]{1,8}了(?![^，。；]{0,4}(?:就|才|再))|"
    r"还没有?(?:[^，。；的时]{0,5}(?:完|好|结束|起来|恢复|通过))(?![^，。；]{0,6}(?:就|不能|不要|别|请))|"
    r"(?:进行中|部署中|构建中|排队中|处理中|审核中|修复中|迁移中)\s*[。！!]?$|"
    r"我(?:现在|正|还|这会儿?)?在(?:开会|路上|出差|休假|度假|机场|高铁|火车|医院|外面|排队|打电话)",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\b(?:if|when|whenever|unless|while|until|once|in case|as long as|after|before|every|each|always|never|usually|"
    r"often|sometimes|on (?:mon|tues|wednes|thurs|fri|satur|sun|week)(?:day|end)s?|at night|"
    r"(?<!the )(?<!our )(?<!a )(?:nightly|daily|weekly)(?=\W*$|,)|between|"
    r"during|that|which|who|whether|must|should|any|anything|someone|somebody|counts? as|means?)\b|"
    r"如果|要是|若|当|一旦|万一|只要|除非|每|总是|经常|的时候|时[，,]|时要|时先|时请|期间|之前|之后|(?:的话)|凡是|任何",
    re.IGNORECASE,
)
_AGAIN_AND_AGAIN = re.compile(
    r"\b(?:if|when|whenever|unless|while|in case|as long as|every|each|always|never|usually|often|sometimes|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun|week)(?:day|end)s?|at night|nightly|daily|weekly|between|must|should|"
    r"counts? as|means?|without)\b|如果|要是|若|一旦|万一|只要|除非|每|总是|经常|的时候|时[，,]|时要|时先|时请|期间|"
    r"(?:的话)|凡是|任何",
    re.IGNORECASE,
)
_OF_A_KIND_ZH = re.compile(r"^(?:中)?的(?!$|[，。；！])|^(?:时|期间|的时候|的话|就|后要|则)")
_BECAUSE = re.compile(r"\b(?:because|since|due to|until|unless)\b|因为|由于", re.IGNORECASE)


def state(text: str, kind: Kind) -> str:
    """The words that say how something is at the moment; empty if none do.

    What holds on a condition, again and again, or of all of a kind is no state of the moment.
    """
    for found in _all(text):
        before, after = clause_before(text, found.start()), clause_after(text, found.end())
        if _GENERAL.search(before) or _AGAIN_AND_AGAIN.search(after) or _OF_A_KIND_ZH.search(text[found.end() :]):
            continue
        if _conditional(text[: found.start()]) or (kind is Kind.LESSON and _BECAUSE.search(text)):
            continue
        return found.group().strip(" ,，")
    return ""


def _all(text: str) -> Iterator[re.Match[str]]:
    yield from _STATE.finditer(text)
    yield from _STATE_ZH.finditer(text)


def _conditional(before: str) -> bool:
    """True where the clause right before opens a condition that this one is part of."""
    return (
        re.search(r"(?:如果|要是|若|当|一旦)[^，。；]*$|\b(?:if|when|whenever|unless)\b[^.;]*$", before, re.I)
        is not None
    )
