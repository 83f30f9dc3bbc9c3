"""What a sentence of a person or of the agent says that outlasts the run: wishes, limits, facts, corrections, rules.

Judged by how people put such things, in English and Chinese, never by what they are about.
"""

from __future__ import annotations

import re

from ...governance.redaction import PLACEHOLDER
from ...records import Kind
from .stated import PLAIN, core, matching, subject_of

_I = r"\b(?:i|we)\b(?: (?:also|actually|really|just|definitely|strongly|personally|still|do|\w+ly))*"

_LASTING = matching(
    _I + r" (?:always|never|usually|normally|generally|typically|mostly|rarely|prefer|hate|dislike|love|insist)\b",
    r"\b(?:i|we)(?:'d| would)(?: (?:much|also|really|rather|\w+ly))* (?:prefer|rather|hate)\b",
    _I + r" (?:don't|do not|dont|won't|will not|wouldn't|never|can't|cannot) (?:ever )?"
    r"(?:want|like|need|use|accept|trust|allow|eat|drink|work|wish|care)\b",
    r"\bmy (?:\w+ ){0,2}(?:preference|preferred|favou?rite|usual|rule|convention)\b",
    r"\bmy (?:\w+ ){0,2}(?:budget|limit|default) (?:is|of|for)\b",
    r"\b(?:from now on|going forward|in future|in the future|every time|each time|by default|as a rule|"
    r"at all times|next time)\b",
    r"(?:^|\bplease |, )(?:remember|note|keep in mind|bear in mind|don't forget)(?: that|:| to\b| this\b)",
    r"^(?:and |but |also |so |please )*(?:always|never|don't ever|do not|don't|avoid)\b",
    r"\b(?:preferabl[ey]|ideally)\b",
    _I + r" (?:live in|work (?:in|at|for|from)|am (?:based|allergic|vegetarian|vegan|responsible|in charge))\b",
    r"\bi'm (?:also |always |actually )*(?:based in|allergic|vegetarian|vegan|living in|responsible for|"
    r"in charge of)\b",
)
_RULE = matching(
    r"(?<!there )\b(?:must(?! have\b)|mustn't|have to be|has to be|need to be|needs to be|should (?:always|never|"
    r"not|only)|shouldn't|may only|may not)\b",
    r"^(?:and |but |also |so |please )*(?:only|make sure|ensure|be sure|stop|keep|write|answer|reply|ask|leave)\b",
    r"^(?:and |but |also |so |please )*(?:use|run)\b(?! (?:the|this|that|these|those|it)\b)",
    r"\b(?:i|we) only\b",
    r"\b(?:instead of|rather than)\b",
)
_ORDER = matching(
    r"\bfirst\b(?! name).*\b(?:then|before|remaining|remainder|rest|balance|after that|and if)\b",
    r"\bbefore (?:you|we|any|the|using|making|anything)\b.*\b(?:first|always|please)\b",
)
_CONDITION = matching(
    r"^(?:and |but |so |also )?(?:if|when|whenever|unless|as long as|before|after|once)\b.*"
    r"(?:,|\bthen\b).*\b(?:please|i'd|i would|i want|i need|prefer|use|don't|do not|make|always|never|instead|"
    r"only|should|must|ask)\b",
)
_LIMIT = matching(
    r"\b(?:up to|at most|no more than|less than|not more than|under|below|within|at least|no later than|"
    r"no earlier than|"
    r"maximum(?: of)?|budget(?: of| is)?|keep \w+ (?:under|below))\b\W*[$€£¥]?\d",
)
_WANTS = matching(
    r"\b(?:i|we)(?:'d| would|'m| am)? (?:also |really |just |actually )*(?:want|need|like|looking|hoping|open|"
    r"willing|happy|okay|ok|fine|"
    r"comfortable|interested|prefer|trying|plan|planning)\b",
    r"\bi'm (?:also |really |just |actually )*(?:looking|hoping|open|willing|happy|okay|ok|fine|comfortable|"
    r"interested)\b",
)
_OPEN = matching(
    r"(?<!than )\b(?:i'm|am|we're|we are)(?: also| actually| always)* (?:open|willing|flexible) (?:to|with|on|about)\b"
)
_MOST = re.compile(
    r"\b(?:most|least|(?!(?:request|interest|guest|west|test|rest|latest|forest|suggest|honest|manifest|protest|"
    r"contest|"
    r"digest|invest|harvest|nest|quest|chest|modest|pytest|jest|vest|best|arrest|northwest|southwest|unittest|doctest|"
    r"priest|pest|zest|almost|conquest|bequest|earnest|ingest|attest|detest|divest|infest|molest|"
    r"nearest)\b)[a-z]{3,}est)\b",
    re.IGNORECASE,
)
_CORRECTION = matching(
    r"^(?:no|nope|wrong|not quite|that's (?:wrong|not right|incorrect))\b[\s,.:;!-]+(?=.*\b(?:is|are|was|use|"
    r"should|must|not|instead|it's)\b)",
    r"\b(?:is|are|was|use|runs?|lives?|uses) [^,.;?]{1,40}, not \S",
    r"\b(?:not|n't) [^,.;?]{1,40}, but\b",
    r"\w, not (?!sure|certain|that|yet|only|necessarily|really)\w",
    r"\bi meant\b",
)
_OURS = matching(
    r"\b(?:our|my team's|the team's) (?:\w+ ){1,3}(?:is|are|runs?|uses?|lives?|needs?|starts?|ends?|listens?)\b",
    r"\b(?:we|our team) (?:use|run|deploy|host|ship|release|support|require|target|follow|keep|store|call|write)\b",
    r"\b(?-i:(?!(?:It|He|She|They|This|That|You|We|There|Which|Who|What)\b)[A-Z])[\w-]+(?:'s \w+)? (?:(?:only|"
    r"always|never) \w+|prefers|hates|loves|insists|requires|refuses|dislikes|expects)\b",
    r"\bmy (?:name|team|company|role|manager|timezone|time zone|city|language|department) is\b",
    r"\bthe (?:[\w-]+ ){1,5}(?:is|are|runs|lives|listens|stands) (?:at|on|in|called|named|owned|behind|"
    r"under) \S*[\w/.:]*\d*",
)

_LASTING_ZH = matching(
    r"我们?(?:比较|更|最|很|特别|不太|不|都|一般|通常|一直|从来|从不|总是)*(?:喜欢|讨厌|习惯|偏好|倾向|偏爱|不想|不要|不用|不吃|不喝|不接受|希望以后)",
    r"(?:请|要|千万)?(?:记住|记得|牢记|别忘了|注意)[：:，,]?\S",
    r"以后|今后|从现在(?:开始|起)|下次|每次|每当|总是|永远|一律|默认|一贯",
    r"我(?:一般|通常|习惯)",
    r"我(?:住在|在\S{1,10}(?:工作|上班)|对\S{1,12}过敏|吃素|负责)",
)
_RULE_ZH = matching(
    r"千万|务必|必须|一定要|禁止|不得|不准|不许|严禁|避免|尽量|优先|最好(?:是|用|不)?|只(?:用|要|能|许|看|接受|允许|保留|需要?)",
    r"(?:^|[，,。；])(?:请)?(?:不要|别|勿)(?!人|的|处|名)|请(?:不要|别|勿)",
    r"先\S{1,20}(?:再|然后|之后)",
    r"(?:如果|要是|若|除非|只要)\S+(?:就|请|才|否则|不要|用)",
    r"(?:不超过|以内|至少|最多|不低于|上限|预算)",
)
_CORRECTION_ZH = matching(
    r"(?:不对|错了|不是这样|说错了|搞错了|更正)[，,。：: ]",
    r"(?:是|用)[^，。,]{1,30}[，,]\s*(?:而)?不是",
    r"不是[^，。,]{1,30}[，,]\s*(?:而|应该)?是",
    r"应该是|应当是|改成|改为",
)
_OURS_ZH = matching(
    r"我们(?:用|使用|的|采用|部署|统一|团队|公司|组)[^？?]{2,}", r"我的(?:名字|团队|公司|岗位|时区)(?:是|叫|在)"
)

_THIS_TIME = matching(
    r"\b(?:this time|just this once|just once|for now|only today|for today|today only|right now|at the moment|for this "
    r"(?:booking|one|run|time|request|order|trip|task|pr|ticket|session|case)|with me)\b",
    r"这次|本次|这一次|暂时|目前先|今天先|先这样|就这一",
)
_DECIDES = matching(
    r"^(?:(?:yes|yeah|okay|ok|sure|alright|great|good|fine|perfect|then|well|oh|actually|in that case)\b[,.! ]*)*"
    r"(?:i'll|i will|let's|let us|let me|we'll|i'd like to (?:go with|proceed|choose)|i (?:would like to )?choose|"
    r"go ahead|proceed|"
    r"please (?:proceed|go ahead|continue|confirm|do|transfer|cancel|book|make|check|cancel))\b",
    r"\b(?:please )?(?:proceed with|go ahead)\b",
    r"^(?:yes|yeah|yep|sure|okay|ok|great|perfect|sounds good|that (?:works|sounds|looks)|thanks|thank you|"
    r"no problem|no worries)\b"
    r"[^,.;]*$",
    r"^(?:好的?|可以|行|嗯|没问题|谢谢|就这样|继续)[，,。！!~ ]*$",
)
_UNSURE = matching(
    r"\b(?:i|we)(?:'m| am| do)?(?: not|n't) (?:\w+ )?(?:sure|certain|have|remember|recall|know|see|understand|"
    r"find|able)\b",
    r"\b(?:i think|i guess|maybe|perhaps|i believe|i assume|not sure|might be|i wonder|i was wondering|what if)\b",
    r"不确定|不清楚|不知道|不记得|可能是|大概|也许|好像",
)
_PRIVATE = matching(
    r"\b(?:date of birth|dob|birthday|born (?:on|in)|passport|social security|ssn|zip code|postal code|"
    r"phone number|home address|"
    r"my address|my e-?mail|cvv|iban)\b",
    r"[\w.+-]+@[\w-]+\.\w+",
    r"\d[\d -]{10,}\d",
    r"生日|出生|身份证|护照|住址|邮箱|手机号|电话号码|银行卡",
)
_DATED = matching(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?\b",
    r"\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b",
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b",
    r"\b(?:tomorrow|tonight|today|yesterday|next (?:week|month|monday|tuesday|wednesday|thursday|friday)|"
    r"this (?:morning|"
    r"afternoon|evening|week|month|weekend))\b",
    r"今天|明天|昨天|后天|今晚|下周|本周|这周|\d{1,2}月\d{1,2}[日号]",
)
_AMOUNT = re.compile(r"[$€£¥]\s?\d|\d\s?(?:dollars|euros|pounds|yuan|元|块)")
_QUESTION = re.compile(
    r"[?？]\s*$|吗\s*[。！]?$|^(?:can|could|would|will|do|does|is|are) (?:you|i|we|it|there|the)\b", re.IGNORECASE
)

_REFUSES = matching(
    r"\b(?:cannot|can't|can not|can only|could not be|may not|may only|must(?! have\b)|not (?:allowed|permitted|"
    r"possible|supported|"
    r"eligible|refundable)|only (?:if|when|be|after|once)|at most|is required|are required|requires|policy|prohibited|"
    r"no longer|regardless of)\b",
    r"\b(?:is|are|depends?|takes?|costs?|gets?) (?:typically|usually|generally|always|never)\b",
    r"\b(?:typically|usually|generally|always) (?:is|are|depends?|takes?|costs?|requires?|gets?)\b",
    r"不能|不允许|不支持|必须|仅限|只能|不可|政策|规定",
)
_SPEAKS_OF_NOW = matching(
    r"\b(?:i'll|i will|let me|let's|let us|i need|i'm going|i am going|we need|we should|we will|we'll|we can|"
    r"next step|now)\b",
    r"\b(?:it (?:seems|looks|appears)|seems (?:like|that)|apologi|sorry|thank|please (?:provide|confirm|let|hold|"
    r"note that you)|"
    r"could you|would you|if you|hold on|i (?:cannot|can't) proceed|i understand|has been|have been|i recommend|"
    r"i suggest|provide me|i have|i've|i can help|i found|assist you|i can only offer)\b",
    r"^you (?:want|wish|have|had|asked|mentioned|said)\b",
    r"^(?:this|that|it|these|those|therefore|since the reason)\b(?! (?:reservation|file|command|tool|service|"
    r"function|endpoint|api)\b)",
    r"我(?:来|会|将|先|们可以|需要)|请(?:提供|确认|稍等)|抱歉",
)


WISHES = (_LASTING, _RULE, _WANTS)
"""What opens a clause that is worth keeping without what stands before it."""


def said_by_person(sentence: str) -> tuple[Kind, int] | None:
    """The kind of what a person's sentence tells for later, and how strongly (2 to 6); None for what is said for now.

    The sentence is as it stands in the message.
    """
    text = sentence.translate(PLAIN).strip()
    score, kind = _wishes(text[slice(*core(text, WISHES))])
    if score < 2 or _PRIVATE.search(text) or PLACEHOLDER.search(text):
        return None
    if _QUESTION.search(text) or (_UNSURE.search(text) and score < 4):
        return None
    if _THIS_TIME.search(text) or _DECIDES.search(text):
        return None
    if _DATED.search(text) and score < 4:
        return None
    if _AMOUNT.search(text) and score < 4 and not _LIMIT.search(text) and not _CONDITION.search(text):
        return None
    return kind, score


def _wishes(text: str) -> tuple[int, Kind]:
    lasting = bool(_LASTING.search(text) or _LASTING_ZH.search(text))
    corrects = bool(_CORRECTION.search(text) or _CORRECTION_ZH.search(text))
    ours = bool(_OURS.search(text) or _OURS_ZH.search(text))
    score = 4 * lasting + 3 * corrects + 2 * ours
    wants = bool(_WANTS.search(text))
    score += 2 * bool(_RULE.search(text) or _RULE_ZH.search(text))
    score += 2 * bool(_ORDER.search(text)) + 2 * bool(_CONDITION.search(text)) + 2 * bool(_OPEN.search(text))
    score += (2 if wants else 1) * bool(_LIMIT.search(text)) + (2 if wants else 0) * bool(_MOST.search(text))
    states = bool(subject_of(text))
    score += 2 * states
    factual = (corrects or ours or states) and not lasting
    return score, Kind.FACT if factual else Kind.PREFERENCE


def rule_met(sentence: str) -> bool:
    """True if the agent says what the service, the tool or the code does not let anybody do, or only on a condition."""
    text = sentence.translate(PLAIN).strip()
    if _QUESTION.search(text) or _SPEAKS_OF_NOW.search(text) or _PRIVATE.search(text) or _DATED.search(text):
        return False
    return bool(_REFUSES.search(text)) and len(text) >= (12 if not text.isascii() else 25)
