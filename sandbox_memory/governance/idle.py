"""Talk that teaches nothing, whatever a model makes of it: greetings, thanks, leave-takings, trying it out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..quoting import MEMORY
from ..records import Rollout

_GREETS = r"(?:hi+|hello+|hey+|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|(?:good )?morning|dear)"
_WORDS = (
    rf"{_GREETS}|good ?night|good|evening|there|all|everyone|everybody|team|folks|again|back|and|to you(?: too)?|"
    r"you too|thanks?(?: you)?|thx|ty|tysm|cheers|(?:so |very )?much|a (?:lot|bunch|million)|many|really|"
    r"appreciate(?:d)?(?: it)?|for (?:your|the|all your|all the) (?:help|time|work|support)|"
    r"for (?:now|today|everything|that)|how(?:'s| is) it going|how are (?:you|things)(?: doing)?(?: today)?|"
    r"what'?s up|sup|nice to meet you|o?k(?:ay)?|kk?|yes|yep|yeah|yup|no|nope|nah|sure|fine|great|perfect|cool|nice|"
    r"awesome|alright|right|lovely|wonderful|excellent|got it|i see|understood|"
    r"(?:that|this)(?: i|')s (?:all|it|great|fine|good|perfect)|nothing(?: else)?|no more|never ?mind|"
    r"i'm (?:good|fine|done)|we'?re (?:good|done)|please|bye+(?: bye)?|goodbye|cya|"
    r"see (?:you|ya)(?: (?:later|soon|tomorrow|around))?|later|talk (?:to you )?(?:later|soon)|take care|"
    r"have a (?:nice|good|great|lovely) (?:day|one|evening|weekend|night)|test(?:ing)?|just (?:a )?test(?:ing)?|ping|"
    r"one two(?: three)?|(?:are you|anybody|anyone|is anyone) (?:there|here|awake|working)|"
    r"hello world|lol|haha+|hmm+|ah+|oh+|wow"
)
_WORDS_ZH = (
    r"你好|您好|嗨|哈喽|哈啰|喂|早安|早上好?|上午好|中午好|下午好|晚上好|晚安|大家好?|在吗|在么|在不在|有人吗|最近怎么样|"
    r"谢谢|謝謝|多谢|多謝|感谢|感謝|辛苦|麻烦|非常|十分|好的?|嗯+|哦+|行|可以|没事|沒事|没有|没问题|不客气|不用|就这样|先这样|"
    r"再见|再見|拜拜?|回头见|明天见|测试|測試|试试|试一下|一下|收到|明白|知道|了解|对|是的?|你|您|了|啦|吗|呢|啊|吧|呀|哈+|早"
)
_PHRASES = re.compile(
    rf"(?:{_WORDS})(?![^\W\d_])|{_WORDS_ZH}|(?<=test )\d{{1,3}}|(?<=testing )\d{{1,3}}", re.IGNORECASE
)
_NAMED = re.compile(rf"\W*{_GREETS},? (?-i:[A-Z][\w-]{{0,30}})(?=\W*$|[.!,?])", re.IGNORECASE)
_BETWEEN = re.compile(r"[\W_]*")
LONGEST = 160
"""Characters: what is longer is looked at."""


def idle(rollout: Rollout) -> bool:
    """True for runs in which nothing was done, and nobody said more than that they are there, give thanks, or leave."""
    items = [item for segment in rollout.segments for item in segment.items if item.label != MEMORY]
    spoken = all(item.role in ("user", "assistant") for item in items)
    return spoken and greets(item.text for item in items if item.role == "user")


def greets(messages: Iterable[str]) -> bool:
    """True if none of these messages says more than that."""
    return all(len(text) <= LONGEST and _idle(text.replace("’", "'")) for text in messages)


def _idle(text: str) -> bool:
    named = _NAMED.match(text)
    place = named.end() if named else 0
    while (place := _BETWEEN.match(text, place).end()) < len(text):  # type: ignore[union-attr]  # it matches anywhere
        found = _PHRASES.match(text, place)
        if found is None:
            return False
        place = found.end()
    return True
