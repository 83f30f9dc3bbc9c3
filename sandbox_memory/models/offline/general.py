"""What holds for everybody and what for the case at hand only, where one memory serves many people."""

from __future__ import annotations

import re

from ...governance.speech.clauses import matching

_NUMBERED = (
    r"#\w*\d\w*|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}\b|\b\w+_\d{4,}\b|(?<![\w$€£¥.,])\d{6,}(?![\w.,]*\d)|"
    r"\b(?i:number|no\.|id|order|reservation|booking|ticket|card|invoice|case) (?:is )?\d{4,}\b"
)
_CARD = re.compile(r"\b(?:ending|ends) (?:in|with) \W*\d", re.IGNORECASE)
_ONE_CASE = re.compile(_NUMBERED)
"""A code or a long number: the name of one order, card or ticket."""
_ASIDE = re.compile(r"\s*\((?P<said>[^()]{1,80})\)")
_TELLS = re.compile(
    r"\b(?:only|not|except|no|if|unless|or|and|per|each|max|maximum|minimum|up to|at (?:most|least)|free|must|"
    r"any|all)\b",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"(?P<word>since|because|as)(?= (?:your|the|this|that|you|it)\b)(?! (?:the reason|it (?:seems|looks)|you (?:said|"
    r"mentioned|asked|requested|want|know|can see))\b)(?P<rest>[^,]+,.+)",
    re.IGNORECASE | re.DOTALL,
)
_OWNED = re.compile(r"\b(?:your|this)\b(?= (?!time\b|moment\b|stage\b|point\b)[a-z])", re.IGNORECASE)
_OWN_ACCOUNT = re.compile(r"\byour (?:[A-Z]|(?:\w+ ){0,2}(?:cards?|accounts?|wallet)\b)")
_WITHIN = re.compile(
    r"\b(?:within|in|takes?|after|up to) (?:\w+ )?\d+(?:\s*(?:to|-|–)\s*\d+)? (?:\w+ )?(?:minutes|hours|days|weeks|"
    r"months)\b",
    re.IGNORECASE,
)
_SUM = re.compile(r" (?:of|for) \**[$€£¥]\s?\d[\d,]*(?:\.\d+)?\**")
_DEFINITE = matching(
    r"\b(?:i|we)(?:'m| am|'re| are)? (?:cannot|can't|can not|can only|can no longer|unable to|not able to) "
    r"(?:\w+ly )?\w+ (?:(?:this|that|these|those|your|it|them|him|her)\b|"
    r"the (?!(?:entire|whole|full|original|same)\b|[\w ]{1,30}? of (?!the\b|your\b|this\b)))",
    r"\b(?:i|we) can only (?:assist|help|offer|suggest|recommend|proceed|see)\b(?!.*\d.*\bper \w)",
    r"\b(?:for|of|in|on|with|to|from|beyond|under|about|at) (?:this|these|those) (?!(?:service|system|platform|tool|"
    r"type|kind|class|sort|category|endpoint|command|shop|store|airline|hotel|bank|clinic|company)s?\b)",
    r"\b(?:the|these|those|both|your) (?:remaining|following|above|other|selected|chosen|requested|two|three|four) ",
    r"\b(?:before|in order) (?:we|i) (?:can )?(?:proceed|continue)\b",
)


_IS_A_CASE = re.compile(
    r"(?:this|it|(?P<noun>(?:the|your) (?!(?:polic|rule|system)\w*)[a-z]+)(?: with (?:the )?(?:id|code|"
    r"number))?(?: \**#?(?=\w*\d)\w+\**)?) "
    r"(?:is|was) (?:also )?(?P<state>(?:in|an?|for|not|under|of) [^,]{3,80}?),? "
    r"(?:which|and|so(?: it)?|(?:and )?therefore(?: it)?) "
    r"(?P<rule>(?:cannot|can|can't|must|may|is not|does not)\b.+)",
    re.IGNORECASE | re.DOTALL,
)


def rule(text: str) -> str:
    """What an agent says of a case, as the rule behind it: "since your order is late, …" is "if the order is late, …".

    So is "order 4711 is a gift, which cannot …": "if the order is a gift, it cannot …". What names the case beside it,
    in parentheses or as a sum, is left out. Empty for what holds for one case only.
    """
    text = _ASIDE.sub(lambda match: "" if _of_one(match["said"]) else match.group(), text)
    condition, case = _SINCE.match(text), _IS_A_CASE.match(text)
    if condition:
        rest = re.sub(r"^ this is\b", " it is", condition["rest"], flags=re.IGNORECASE)
        text = f"if{_OWNED.sub('the', rest)}"
    elif case:
        noun = _OWNED.sub("the", (case["noun"] or "it").lower())
        text = f"if {noun} is {case['state']}, it {case['rule']}"
    elif _WITHIN.search(text) and not _OWN_ACCOUNT.search(text):
        text = _SUM.sub("", _OWNED.sub("the", text))
    named = _ONE_CASE.search(text) or _OWN_ACCOUNT.search(text) or _CARD.search(text)
    if _DECIDES.search(text) and not re.search(r"\b(?:if|unless|when|since|because|only)\b", text, re.IGNORECASE):
        return ""
    return "" if named or (_DEFINITE.search(text) and not _IF.search(text)) else text


def _of_one(aside: str) -> bool:
    """True for an aside that names a thing of the case, or says in a word or two which it is."""
    if _ONE_CASE.search(aside) or _CARD.search(aside):
        return True
    return len(aside.split()) <= 3 and not any(char.isdigit() for char in aside) and not _TELLS.search(aside)


_DECIDES = re.compile(r"\byou(?:'re| are) (?:also )?(?:eligible|entitled|qualified)\b", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|unless|when|once)\b", re.IGNORECASE)
_NEWS = re.compile(
    r"(?:i|we)(?:'ve| have) (?!to\b)(?:(?:just|already|recently|also) )*(?:had|got|been|\w+ed)\b(?!.*\b(?:since|always|"
    r"never|for (?:\w+ )?(?:years|months))\b)|my (?:\w+ ){1,3}(?:have|has) (?:\w+ed|gone|come|become)\b|"
    r"(?:i'm|i am|it's|it is) (?:just |only )?(?:me\b|the only\b)",
    re.IGNORECASE,
)
_THAT_ONE = re.compile(
    r"\b(?:this|that|these|those) (?:\w+ ){0,2}?(?:orders?|reservations?|bookings?|tickets?|items?|flights?|trips?|"
    r"cases?|requests?|payments?|purchases?|appointments?|invoices?|products?|changes?)\b"
    r"|^(?:please )?(?:update|change|keep|leave|switch|replace|move|remove|add|cancel|return|exchange) "
    r"(?:the|this|that|it|them)\b|\b(?:anything|nothing|something) else\b",
    re.IGNORECASE,
)
_CLAIMS = re.compile(
    r"\s*,?\s+(?:so|which|and)\b(?=[^,]*\b(?:should|this|that|therefore|deserve|expect|makes?)\b).*$",
    re.IGNORECASE | re.DOTALL,
)


def is_news(text: str) -> bool:
    """True for what happened to somebody, or how they come to this case, told as a fact of them."""
    return _NEWS.match(text) is not None


def is_of_one(text: str) -> bool:
    """True for what names one order, card or ticket, by its code or as this one."""
    return bool(_ONE_CASE.search(text) or _THAT_ONE.search(text))


def without_claim(text: str) -> int:
    """Where a statement of oneself ends, before what is claimed to follow from it."""
    match = _CLAIMS.search(text)
    return match.start() if match and len(text[: match.start()].split()) >= 3 else len(text)
