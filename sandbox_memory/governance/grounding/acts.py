"""Who says a sentence, who is to act, and whether it asks, wonders or tells: what a wording may not change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..lexicon import IRREGULAR, lemma
from ..wording import CJK, STOP, stem
from .tokenizing import SENTENCE

USER, AGENT, TOOL, OTHER = "user", "agent", "tool", "other"
"""Whose voice a quote is: `other` is what a person pasted, forwarded or quoted."""

_PAST = re.compile(r"^(?:was|were|has|have|had|got)\b", re.I)
_DONE = re.compile(
    r"\b(?:was|were|has been|have been|had been|got|is now|are now|is|are) (?:\w+ly |now |already "
    r")?(?P<passive>[a-z]+(?:ed|en|t|de|ne|un)|run|put|set)\b(?! by (?:the )?user)"
    r"|(?:^|\b(?:agent|assistant|we|i|and|then|it) )(?:has |have |already )*(?P<active>[a-z]+ed|ran|wrote|sent|"
    r"built|made|took|fixed)\b"
    r"|(?P<zh>已经?|成功|完成)",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:ask(?:s|ed)?|request(?:s|ed)?|want(?:s|ed)?|wonder(?:s|ed)?|need(?:s|ed)?|question|wish(?:es|ed)?|"
    r"must|should|to be|would)\b|[?？]|问|要求|希望|请|想|需要",
    re.I,
)
_ASKS = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|also|then|now|yes|hi|hello)\b\W*)*(?:please|pls|can|could|would|will|let's|"
    r"let us|i'd like|i want|i need|we need|we should|we want|you should|kindly)\b"
    r"|\b(?:please|pls|going to|want(?: you)? to|need(?: you)? to|should|plan to|try to|i'll|we'll|i will|we "
    r"will|will)\b|请|帮我|麻烦|能不能|可否|打算|准备|想要?|需要|将",
    re.I,
)
_IMPERATIVE = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|also|then|now|never|always|please|pls|don't|do not|only)\b\W*)*(?P<verb>[a-z]+)\b",
    re.I,
)
_FACT = re.compile(
    r"\b(?:done|finished|completed|passed|fixed|works?|succeeded|success\w*|exit code:? 0|has been|have been|was|"
    r"were|already)\b|成功|完成|已|好了|通过",
    re.I,
)
_WISHES = re.compile(r"want|need|wish|must|should|要求|希望|想|需要", re.I)
_QUESTION = re.compile(r"[?？]\s*$|吗\s*[。！]?$")
_POLITE = re.compile(r"\b(?:can|could|would|will) you\b|能不能|可以帮|能否|麻烦|帮我|可不可以", re.I)

_PERSON = re.compile(
    r"\b(?P<en>i|we|you|(?:the |this )?(?:user|customer|client|person)s?|(?:the |this )?(?:agent|assistant|bot|"
    r"ai|model))(?:'(?:ll|d|ve|m|re))?\b(?!')"
    r"|(?P<zh>我们|我|你们|你|您|用户|客户|对方|助手|代理|智能体|机器人)",
    re.IGNORECASE,
)
_USERS = frozenset("user customer client person users customers clients persons 用户 客户 对方".split())
_AGENTS = frozenset("agent assistant bot ai model 助手 代理 智能体 机器人".split())
_FIRST = frozenset("i we 我 我们".split())
_SKIP = STOP | frozenset(
    "always never usually only often also not to be must have has need needs should can may will would shall "
    "prefers prefer "
    "wants want personally just then please still sometimes normally generally mostly typically rarely likes "
    "like really "
    "actually asked requested explicitly ever cannot can't don't doesn't won't shouldn't".split()
)
_PASSIVE = re.compile(
    r"(?:\s\w+){0,3}?\s(?:be|been|being|is|are|was|were|get|gets|got)\s(?:\w+ly\s)?(?:\w+ed|\w+en|told|sent|"
    r"shown|kept|paid|met)\b",
    re.I,
)
"""After a person: something is done to them."""
_SKIP_ZH = re.compile(
    "(?:会|要|应该|必须|可以|都|也|想要?|希望|需要|通常|一般|总是|来|自己|不|没有?|每次|亲自|先|再|比较|很|就|才|"
    "能|得|将|在|负责|一定|只)*"
)
_MIND = frozenset(
    stem(w)
    for w in "prefer like want need love hate dislike live work use allergic willing happy wish own travel".split()
)


def doers(text: str, speaker: str) -> Iterator[tuple[str, str]]:
    """(who, verb) for each person named right before a verb: I and you by who speaks, an order by whom it is given."""
    for match in _PERSON.finditer(text):
        word = (match["en"] or match["zh"]).casefold().split()[-1]
        if word in _USERS:
            who = USER
        elif word in _AGENTS:
            who = AGENT
        elif not speaker:
            continue
        else:
            who = speaker if word in _FIRST else AGENT if speaker == USER else USER
        verb = _verb_after(text, match.end(), match["zh"] is not None)
        if verb:
            yield who, verb


def _verb_after(text: str, place: int, chinese: bool) -> str:
    rest = text[place : place + 60]
    if chinese:
        rest = rest[_SKIP_ZH.match(rest).end() :]  # type: ignore[union-attr]  # it matches the empty text too
        found = re.match(rf"[{CJK}]{{2}}", rest)
        return found.group() if found else ""
    if _PASSIVE.match(rest):
        return ""
    for word in re.finditer(r"[a-z']+|[^\w\s']", rest.casefold()):
        if not word.group()[0].isalpha():
            return ""
        if word.group() not in _SKIP:
            return lemma(word.group())
    return ""


def other_doer(clause: str, sources: Sequence[tuple[str, str]]) -> str | None:
    """Who is to act is not who acts in the sentences, given as (text, speaker); a speaker is user, agent or empty."""
    speakers = {speaker for _, speaker in sources}
    voice = speakers.pop() if len(speakers) == 1 else ""
    if voice and voice != USER and _USERS_WORD.search(clause):
        return "no quote is the person's own word"
    known: dict[str, set[str]] = {}
    objects: dict[str, set[str]] = {}
    for source, speaker in sources:
        for who, verb in doers(source, speaker if speaker in (USER, AGENT) else ""):
            known.setdefault(verb, set()).add(who)
        for verb in _ordered(source) if speaker == USER else ():
            known.setdefault(verb, set()).add(AGENT)
        for match in _OBJECT.finditer(source) if speaker in (USER, AGENT) else ():
            whom = speaker if match["whom"].casefold() in ("me", "us") else AGENT if speaker == USER else USER
            objects.setdefault(lemma(match["verb"].casefold()), set()).add(whom)
    for who, verb in doers(clause, voice if voice in (USER, AGENT) else ""):
        if verb in known and who not in known[verb] and (verb not in _MIND or who == AGENT):
            return f"in the quote it is not the {who} who is to {verb}"
    for match in _DONE_TO.finditer(clause):
        whom, verb = USER if match["whom"].casefold() in _USERS else AGENT, lemma(match["verb"].casefold())
        if verb in objects and whom not in objects[verb]:
            return f"in the quote it is not the {whom} whom it is done to"
    if voice == USER:
        return _user_as_agent(clause, [source for source, _ in sources])
    return None


_OBJECT = re.compile(r"\b(?P<verb>[a-z]+) (?P<whom>me|us|you)\b", re.I)
_DONE_TO = re.compile(
    r"\b(?P<whom>user|customer|client|person|agent|assistant)s?(?: \w+){0,3}? (?:be|been|is|are|was|were|gets?) "
    r"(?:\w+ly )?(?P<verb>[a-z]+(?:ed|en|t|d))\b",
    re.I,
)
_AGENT_MIND = re.compile(
    r"\b(?:agent|assistant|bot|model|you) (?:\w+ly )?(?:prefers?|wants?|likes?|needs?|loves?|hates?|lives?|would "
    r"like|dislikes?|wishes)\b"
    r"|(?:助手|代理|智能体|机器人|客服)(?:也|比较|更|不|不太|很)?(?:喜欢|希望|想|要求|偏好|讨厌|对|习惯)",
    re.I,
)
_USER_MIND = re.compile(r"\b(?:user|customer|client|person)s?\b|用户|客户|对方", re.I)
_USERS_WORD = re.compile(
    r"\b(?:user|customer|client)s? (?:\w+ly |always |never |also |does not |doesn't |do not )?(?:prefers?|wants?|"
    r"likes?|needs?|loves?|hates?|dislikes?|asked|asks|requested|requests|said|says|told|"
    r"insists|expects|is willing|would like|wishes|lives|works|usually|can't|cannot)\b"
    r"|(?:用户|客户)(?:也|比较|更|不|不太|很|通常|一般|总是)*(?:喜欢|希望|想|要求|偏好|讨厌|说|提到|习惯|需要|"
    r"通常|对)",
    re.I,
)
FIRST_PERSON = re.compile(r"\b(?:i|i'\w+|we|we'\w+|me|my|mine|us|our|ours|myself|ourselves)\b|我|咱|本人", re.I)
_STATEMENT = re.compile(
    r"^\W*(?!(?:please|never|always|don't|do not|if|when)\b)(?:[\w'./#-]+ ){1,5}?(?:is|are|was|were|has|have|may|"
    r"can|must|should|will|prefers|likes|wants|hates|"
    r"loves|needs|requires|expects|insists|lives|meets|works|uses|runs|go|goes|closes|renews)\b"
    r"|^(?:(?!请|不要|别|必须|务必)[^，。我你]){1,12}(?:是|在|有|为|负责|属于|叫|喜欢)",
    re.I,
)
_OF_MINE = re.compile(
    r"^\W*(?:my|our) (?!(?:preference|favou?rite|preferred|choice|wish|usual|default|rule)\b)(?:[\w-]+ ){1,3}?"
    r"(?:is|are|was|were|has|have|can|can't|will|must|should|prefers?|likes?|wants?|hates?|loves?|needs?|lives?|"
    r"works?)\b",
    re.I,
)
_OWN_FIRST = re.compile(r"\b(?:i|i'\w+|we|we'\w+|me|us|myself)\b", re.I)
_KIN_ZH = re.compile(
    "我们?(?:的|家)?(?:哥哥?|姐姐?|弟弟?|妹妹?|爸爸?|妈妈?|父亲|母亲|爷爷|奶奶|儿子|女儿|孩子|朋友|同事|同学|"
    "老板|老师|领导|老婆|老公|妻子|丈夫|室友|家人|客户)"
)
_USER_IS = re.compile(
    r"\b(?:user|customer|client)s? (?!asked|said|says|wants)\w+|(?:用户|客户)(?!的|要求|希望|说)", re.I
)
_ORDERS_ZH = re.compile("必须|务必|请|不要|别|勿|要|先")


def _user_as_agent(clause: str, sources: Sequence[str]) -> str | None:
    """What a person told of others, or asked of the agent, told as if it were of themselves; or of the agent."""
    said = " ".join(sources)
    if _AGENT_MIND.search(clause) and not _AGENT_MIND.search(said):
        return "the quote does not tell what the agent wants"
    if not _USER_MIND.search(clause) or _USER_MIND.search(said):
        return None
    if (_OF_MINE.search(said) and not _OWN_FIRST.search(said)) or _KIN_ZH.search(said):
        return "the quote is about somebody or something else than the user" if _USER_IS.search(clause) else None
    if FIRST_PERSON.search(said):
        return None
    if all(_STATEMENT.search(source) for source in sources) and not re.search(
        r"\b(?:asked|requested|said|says|told|must|should)\b", clause, re.I
    ):
        return "the quote is about somebody or something else than the user"
    doing = re.search(rf"(?:用户|客户|对方){_SKIP_ZH.pattern}(?P<verb>[{CJK}]{{2}})", clause)
    if doing and doing["verb"] in said and _ORDERS_ZH.search(said) and not re.search("要求|希望|想|需要|喜欢", clause):
        return "the quote asks it of the agent, the text says it of the user"
    return None


def _ordered(source: str) -> Iterator[str]:
    for part in re.split(r"[,.;:!?]|\b(?:and|but|then|before|after)\b", source):
        match = _IMPERATIVE.match(part)
        if match and match["verb"].casefold() not in _SKIP:
            yield stem(match["verb"].casefold())


def only_asked(clause: str, sources: Sequence[str]) -> str | None:
    """A clause that says that something was done, of which the sentences only say that it was asked for or planned."""
    if not sources or any(_FACT.search(source) and not _ASKS.search(source) for source in sources):
        return None
    for match in _DONE.finditer(clause):
        word = match["passive"] or match["active"]
        if word is None:
            if all(_ASKS.search(source) and not re.search("已|了|完成|成功", source) for source in sources):
                return "the quote asks for it, it does not say that it was done"
            continue
        verb = lemma(word.casefold())
        said = [source for source in sources if verb in map(lemma, re.findall(r"[a-z]+", source.casefold()))]
        past = match["active"] is not None or _PAST.match(match.group())
        if said and all(
            not _past(verb, source) and (past or _ASKS.search(source) or verb in _ordered(source)) for source in said
        ):
            return "the quote asks for it, it does not say that it was done"
    return None


def _past(verb: str, source: str) -> bool:
    words = [w for w in re.findall(r"[a-z]+", source.casefold()) if lemma(w) == verb]
    return any(word.endswith("ed") or word in IRREGULAR for word in words)


def only_wondered(clause: str, sources: Sequence[str]) -> str | None:
    """A clause that tells what the sentences only ask."""
    reports = _REPORTS.search(clause)
    if not sources or (reports and (not _WISHES.match(reports.group()) or any(map(FIRST_PERSON.search, sources)))):
        return None
    if all(_QUESTION.search(source.rstrip()) and not _POLITE.search(source) for source in sources):
        return "the quote asks a question, it does not say so"
    return None


_INTRODUCES = re.compile(
    r"\b(?:my|our) (?:\w+[ -]){0,3}?(?:id|name|number|no\.?|account|login|username|user|handle|e-?mail|"
    r"profile|booking)\b"
    r"|\b(?:i am|i'm|im|this is|it's|it is|call me|name's)\b"
    r"|我(?:是|叫|的)|(?:账号|用户|工号|会员|学号|客户)(?:ID|名|号)?",
    re.IGNORECASE,
)
NAME_BEHIND = 40
"""How many characters after "my name is" a name may still be the one that is given."""


def introduced(name: str, quote: str) -> bool:
    """True if somebody gives that name as their own in the quote."""
    for found in _INTRODUCES.finditer(quote):
        given = SENTENCE.split(quote[found.end() : found.end() + NAME_BEHIND + len(name)], maxsplit=1)[0]
        place = given.casefold().find(name.casefold())
        before, after = given[max(0, place - 1) : place], given[place + len(name) :][:1]
        if place >= 0 and not _GOES_ON.match(before) and not _GOES_ON.match(after):
            return True
    return False


_GOES_ON = re.compile(r"[A-Za-z0-9_]")
