"""What a plain statement is about; who speaks, and what they lack."""

from __future__ import annotations

import re

from .clauses import bare, matching, trimmed
from .passing import MONTH
from .sentences import PLAIN, size

_NOT_A_NAME = (
    r"(?!(?:it|it's|this|that|that's|there|these|those|what|which|who|he|she|they|i|i'm|i'd|we|we're|you|your|"
    r"everything|nothing|something|someone|if|when|"
    r"how|why|where|as|so|but|and|or|not|please|to|let|let's|can|could|would|will|do|does|did|is|are|was|were|has|"
    r"have|had|should|may|might|"
    r"his|her|their|its|here|because|since|while|than|then|yes|no|neither|none|both|either|another|others?|"
    r"new ones|old ones)\b)"
)
_WORD = r"(?!(?:i|we|you|he|she|they|it|to|please)\b)[\w'./@#:`~*+%$&-]+"
NAME = rf"{_NOT_A_NAME}(?P<what>{_WORD}(?:,? {_WORD}| (?:i|we|you) \w+){{0,7}}?)"
ABSTRACT = re.compile(
    r"\b(?:problem|issue|question|point|thing|things|focus|goal|plan|concern|idea|reason|rest|status|result|news|"
    r"answer|trouble|purpose|request|"
    r"intention|situation|hope|wish|moment|way|fact|truth|bottom line|good news|bad news|next step|first step|"
    r"flight|trip|reservation|booking|"
    r"departure|arrival|passenger'?s? name|first name|last name)$"
    r"|(?:问题|意思|关键|重点|目的|结果|情况|事情?|想法|需求|要求)$",
    re.IGNORECASE,
)
IS = r"(?:is|are|isn't|aren't|is not|are not|was|were)"
_STATES = re.compile(
    rf"^(?:the |our |my |now,? )?{NAME} (?P<verb>{IS}|runs on|listens on|lives (?:at|in|on)|belongs to|uses|"
    rf"moved to|was (?:moved|renamed|changed) to)"
    r"(?: now| on| at| in| called| named| always| still)*(?P<kind> (?:a|an|the|our|"
    r"my))? (?P<value>(?!\w+ing\b)[^;?]{1,300}?)(?: now| anymore)?[.!]*$",
    re.IGNORECASE,
)
_HARD = re.compile(r"\d|[\w-]+[./_:@#][\w/]|`|#\w")
_ROLE = re.compile(
    r"\b(?:owner|lead|leader|contact|manager|maintainer|boss|head|director|deputy|backup|assistant|approver|"
    r"reviewer|responsible|on-call|counsel|lawyer|accountant|doctor|dentist|"
    r"therapist|nurse|vet|teacher|tutor|landlord|tenant|neighbou?r|supplier|vendor|provider|carrier|insurer|bank|"
    r"customer|client|buyer|partner|competitor|sponsor|champion|"
    r"port|host|hostname|url|address|endpoint|path|folder|directory|file|branch|repo|repository|region|zone|"
    r"version|name|id|key|code|channel|queue|topic|table|database|schema|"
    r"environment|server|cluster|registry|bucket|timezone|time zone|currency|language|locale|format|unit|encoding|"
    r"deadline|limit|default|threshold|budget|quota|rate|fee|price|discount|"
    r"dose|dosage|allergy|diet|medication|blood type|size|colou?r|brand|model|tool|editor|framework|library|stack|"
    r"convention|standard|policy|rule|goal|metric|definition|objection|"
    r"fiscal year|window|schedule|interval|frequency|shift|timeout|owner group|team|department|office|headquarters|"
    r"password manager|wi-?fi|router|printer|heating|boiler|plumber|electrician)$",
    re.IGNORECASE,
)
_GOES = matching(
    r"^(?:always |please |you should |should |all )*"
    r"(?:(?P<verb>query|connect to|log ?in(?:to| to)|ssh to|push to|"
    r"deploy to|publish to|escalate to|report to)|"
    r"(?:post|send|store|put|upload|write|log|file|save) (?:the |all |our )?"
    r"(?P<object>[\w-]+(?: [\w-]+){0,2}?) (?:in|to|into|at|under)) \S+",
    r"^(?:the |our |all )?(?P<what>[\w-]+(?: [\w-]+){0,3}?) (?:now |always )?"
    r"(?:go|goes|belong|belongs) (?:to|in|into|under)\b",
)
_GOES_ZH = re.compile(
    r"(?:应该|以后都?|今后都?|统一|一律|都|要)(?P<verb>查|连|走|推到?|发到?|存到?|放到?|传到?)\s*[A-Za-z#@]"
)
_STATES_ZH = re.compile(
    r"^(?!(?:这|那|它|他|她|你|您|我(?!们?的)|但|还|可|于|总|只|就|要|不|若|都|也|才|更|算|老|或|凡|硬|正))(?P<what>[^，。？?,\s][^，。？?,]{0,24}?)"
    r"(?<![但还可于总只就要不若都也才更算老或凡硬正])(?P<now>现在|目前|已经|以后|从今以后)?(?:都|应该|统一|的)?"
    r"(?:是|换成了?|改成了?|改为|迁到了?|搬到了?|用的是|在|归|由|叫|(?<![行因认成以作])为)(?P<value>[^，。？?,]{1,40})"
    r"(?:了)?(?:[，,]\s*(?:而)?不(?:再)?是[^，。？?,]{1,30})?[。！!]*$"
)
_VALUE_ZH = re.compile(r"[A-Za-z0-9]")
_OF = re.compile(r"^(?P<one>.+?) (?:of|for|at|in|on) (?:the |our |my )?(?P<of>.+)$")
_ATTRIBUTE = re.compile(r" (?:of|for|at) |'s |s' ")


def subject_of(sentence: str) -> str:
    """What a plain statement ("the port of staging is 8443", "设备A现在是群晖") is about, or an order where to go.

    "The owner of payments" and "the payments owner" are one subject: `payments owner`. Empty for any other sentence.
    """
    plain = sentence.translate(PLAIN).strip()
    text = plain[bare(plain).start :]
    return _stated(text) or _goes(text)


def _goes(text: str) -> str:
    """`query` for "query dw_prod", `incidents go` for "post incidents in #red" and "incidents go to #red"."""
    match = _GOES.search(text)
    if match:
        what = match["object"] or match["what"]
        return " ".join((f"{what} go" if what else match["verb"]).casefold().split())
    match = _GOES_ZH.search(text)
    return match["verb"] if match else ""


def says_where(text: str) -> bool:
    """True for an order that tells where to go or where to put something."""
    return bool(_goes(text))


def states(text: str) -> bool:
    """True for a plain statement of what or where something is."""
    return bool(_stated(text))


def _stated(text: str) -> str:
    match = _STATES.match(text)
    if match and not ABSTRACT.search(match["what"]):
        what, value = _RELATIVE.sub("", match["what"]), match["value"]
        told = (
            match["kind"]
            or _HARD.search(value)
            or _ROLE.search(what)
            or _ATTRIBUTE.search(what)
            or not _IS_A_VERB.fullmatch(match["verb"])
        )
        if told and not _FLEETING.match(value) and (_ATTRIBUTE.search(what) or size(value) <= 12):
            return _subject(what)
    match = _STATES_ZH.match(text)
    if (
        match
        and not ABSTRACT.search(match["what"])
        and (_VALUE_ZH.search(text) or match["now"] or re.search(r"了[。！!]*$", text))
    ):
        return re.sub(r"^我们?的?|的$|\s+", "", match["what"]).casefold()
    return ""


_RELATIVE = re.compile(r" (?:i|we|you|who|that|which) .*$", re.IGNORECASE)
_IS_A_VERB = re.compile(IS, re.IGNORECASE)
_FLEETING = re.compile(
    r"(?:(?:very|so|too|really|quite|pretty|not|already|still|all|a bit|a little|much|more|less) )*(?:down|up|"
    r"broken|working|fine|ready|done|online|offline|late|delayed|cancelled|canceled|"
    r"finished|complete|okay|ok|great|good|bad|slow|fast|wrong|right|correct|sick|tired|busy|free|full|lost|stuck|"
    r"missing|happy|mess|problem|urgent|important|nice|sure|sorry|interested|"
    r"above|below|close|higher|lower|cheaper|better|worse|enough|due to|because|that|to)\b",
    re.IGNORECASE,
)


def _subject(what: str) -> str:
    plain = re.sub(
        rf"^(?:from|as of|starting|since) (?:now on|{MONTH}|next \w+|\w+ \d+),? ", "", " ".join(what.casefold().split())
    )
    plain = re.sub(r"^(?:the|our|my|a|an|new|current|now)\b[\s,]*", "", plain)
    plain = re.sub(r"'s? |s' ", lambda match: "s " if match.group() == "s' " else " ", plain)
    of = _OF.match(plain)
    return f"{of['of']} {of['one']}" if of else plain


# ---------------------------------------------------------------- who speaks

_IS_CALLED = re.compile(
    r"\b(?:my|our|the) (?:user|customer|account|member|client|employee|login|patient|student|profile|staff|"
    r"subscriber|guest)[ -]?(?:profile|account)?[ -]?"
    r"(?:(?P<frame>id|name|number|no\.?|handle)(?:'s| is|:)?(?: should be)?(?: under)?|(?:'s| is|"
    r":)(?: should be)?(?: under)?|should be under) (?P<id>[A-Za-z0-9][\w.@-]*\w)(?= *(?:$|[,.;!?)]| (?:and|but|"
    r"in case|if|for|on)\b))"
    r"|\b(?:it's|it is) (?P<it>(?=\S*\d)[a-z]\w*_\w+)"
    r"|\bi(?:'m| am) (?P<me>[a-z0-9]+(?:[_.-][a-z0-9]+)+)(?= *(?:$|[,.;!?)]))"
    r"|(?:我的)?(?:用户|账号|账户|会员|客户|工号|学号|卡号)(?:ID|id|名|号|编号)?(?:是|为|叫|：|:)\s*(?P<zh>[A-Za-z0-9][\w.@-]*\w)",
    re.IGNORECASE,
)
_NO_NAME = frozenset(
    "locked wrong not invalid blocked missing unknown here the a an my correct different active closed empty "
    "still".split()
)


def speaker(text: str) -> tuple[str, int, int] | None:
    """The account name that a person gives as theirs, and where the words that say so start and end."""
    for match in _IS_CALLED.finditer(text.translate(PLAIN)):
        name = match["id"] or match["it"] or match["me"] or match["zh"]
        if name.casefold() not in _NO_NAME and (match["frame"] or re.search(r"[\d_.-]", name)):
            return name, match.start(), match.end()
    return None


_IS_NAMED = re.compile(
    r"\b(?i:my (?:full )?name(?: is|'s)|name's|name:|this is|i am|i'm|call me) "
    r"(?P<name>[A-Z][\w'-]*[a-z](?: [A-Z]\.)?(?: [A-Z][\w'-]*[a-z]){1,2})(?= *(?:$|[,.;!?)]| (?:and|from|with|"
    r"in|at|here|speaking)\b))"
    r"|(?:我叫|我的名字(?:是|叫)|我是)(?P<zh>[\u4e00-\u9fff]{2,4})(?=$|[，。,.！!；])"
)


def named(text: str) -> tuple[str, int, int] | None:
    """The full name that a person gives as theirs, and where the words that say so start and end."""
    match = _IS_NAMED.search(text.translate(PLAIN))
    return (match["name"] or match["zh"], match.start(), match.end()) if match else None


def introduction(sentence: str) -> int:
    """Where a sentence goes on after "my name is …, and"."""
    found = named(sentence)
    if found is None or found[1]:
        return 0
    rest = re.match(r"[\s,，.]*(?:and\s)?", sentence[found[2] :])
    return found[2] + (rest.end() if rest else 0)


def core(sentence: str) -> tuple[int, int]:
    """Start and end of what a sentence says, without interjections, frames and the marks at its end."""
    plain = sentence.translate(PLAIN)
    start = bare(plain).start
    return start, trimmed(plain, start, len(plain))


_OF_SELF = re.compile(r"(?:i|i'm|i've|my|we|we're|our)\b(?!.*\bshould (?:be|have)\b)|我", re.IGNORECASE)


def of_self(sentence: str) -> bool:
    """True if it begins with the one who speaks."""
    return _OF_SELF.match(sentence.translate(PLAIN)) is not None


_LACKS = matching(
    r"\b(?:i|we)(?:'m| am| do)?(?: not|n't) (?:\w+ )?(?:sure|certain|have|remember|recall|know)\b",
    r"不记得|不知道|没有|忘了|找不到",
)


def lacks(sentence: str) -> bool:
    """True if somebody says that they do not have, know or remember something."""
    return bool(_LACKS.search(sentence.translate(PLAIN)))
