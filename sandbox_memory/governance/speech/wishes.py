"""What somebody wants beyond this once: habits, limits, conditions, orders of things, and orders to the agent."""

from __future__ import annotations

import re

from .clauses import matching

_I = r"\b(?:i|we)\b(?: (?:also|actually|really|just|definitely|strongly|personally|still|do|\w+ly))*"
NUMBER = (
    r"(?:[$€£¥￥]?\d|a single\b|one\b|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b|a dozen\b|half\b)"
)
OFTEN = (
    r"(?:every|each) (?:day|week|weekday|weekend|month|quarter|year|morning|afternoon|evening|night|hour|time|"
    r"monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|sprint|release|deploy\w*|run|\d+ \w+|other \w+|first \w+|second \w+)|"
    r"\b(?:daily|weekly|monthly|nightly|hourly|yearly|annually|quarterly)\b|"
    r"\b(?:once|twice|\w+ times) (?:a|an|per|every|each) \w+|\bon (?:mon|tues|wednes|thurs|fri|satur|sun|"
    r"week)(?:day|end)s\b|"
    r"每(?:天|日|周|月|年|季度?|晚|早|小时|次|个月|个?星期|隔)"
)

_LASTING = matching(
    r",? (?:always|every time|each time)[.!]*$",
    _I + r" (?:always|never|usually|normally|generally|typically|mostly|rarely|prefer|hate|dislike|insist|tend to)\b",
    r"\b(?:i|we) (?:\w+ )?love (?!(?:it|that|this|the|your|to)\b)",
    r"\b(?:i|we)(?:'d| would)(?: (?:much|also|really|rather|\w+ly))* (?:prefer|rather|hate)\b",
    _I + r" (?:won't|will not|wouldn't|would not|never|can't|cannot|can not) (?:ever )?"
    r"(?:want|like|use|accept|trust|allow|eat|drink|work|wish|take|wear|pay|stand|"
    r"tolerate|buy|fly|travel|do|have)\b(?! (?:it|that|this|to wait))",
    _I + r" (?:don't|do not|dont) (?:ever )?"
    r"(?:like|use|accept|trust|allow|eat|drink|work|wish to|care (?:for|about)|take|wear|do|buy|"
    r"watch|drive|smoke|consume|fly|cook)\b(?! (?:it|that|this)\b)",
    r"\bmy (?:\w+ ){0,2}(?:preference|preferred|favou?rite|usual|rule|convention|habit|go-to)\b",
    r"\b(?:my|our) (?:[\w-]+ ){0,3}(?:budget|limit|default|maximum|minimum|threshold|cap|ceiling|deadline) (?:is|"
    r"was|of|for|stays|remains)\b",
    r"\b(?:from (?:now|here) on|going forward|in (?:the )?future|for the future|every time|each time|by default|"
    r"as a rule|at all times|next time|"
    r"whenever (?:you|we|i|possible)|no matter what|under no circumstances|without exception|in any case|as always|"
    r"ever again|any ?more)\b",
    r"^(?:and |but |also |so |please )*(?:always|never(?! mind)|don't ever|do not ever|avoid|stop \w+ing|no more)\b",
    r"\b(?:never|always) (?:use|send|run|write|ask|push|delete|restart|include|add|put|call|deploy|commit|share|"
    r"mention|reply|open|close|touch|start|make|show|give|tell|check|let|do)\b",
    r"^(?:and |but |also |so )*(?:don't|do not)\b(?! (?:worry|bother|hesitate|mind|forget|get me|have|know|think|"
    r"see|you|we|i)\b)",
    r"\bi(?:'ve| have)? (?:already )?told you (?:before|already|many|several|again)\b|\bhow often (?:do|must) i\b|"
    r"\bas i(?:'ve| have)? (?:always )?said\b",
    r"\bi(?:'ve| have)? (?:said|told you) (?:already |before |many times )?no [\"'\w]",
    r"^(?:i (?:said|told you)[^,]*, )?no [\"'\w][^?]{2,}, (?:ever|please|anywhere)\b|^no [\"']",
    _I + r" (?:am|'m) (?:a )?(?:vegetarian|vegan|allergic|teetotal|intolerant|pescatarian|celiac|lactose)\b",
    r"\b(?:i'm|i am|we're|we are) (?:also |always |actually )*(?:allergic|vegetarian|vegan|intolerant|lactose|"
    r"gluten|only available|never available)\b",
)
_LASTING_ZH = matching(
    r"(?:我们?|本人)(?:个人|比较|更|最|很|特别|不太|不|都|一般|通常|一直|平时|向来|从来|从不|总是|其实|还是|也|真的|实在|只|就)*(?:喜欢|讨厌|习惯|偏好|倾向|偏爱|不吃|不喝|不接受|"
    r"受不了|"
    r"从不|从来不|宁愿|宁可|吃素|忌口|反感|坚持|爱用|爱看|看重|在意|只看|只用|只吃|只要|只接受|只坐|只买|不看|不用|不坐|不想(?:再|看到)?|不要|不希望)",
    r"^(?:以后|今后|往后|从今|从现在)(?!再说)|(?:以后|今后|往后)(?:[^，。]{0,8})(?:都|要|请|不要|别|用|就|只|改|不再|一律|统一|先)|从现在(?:开始|起)|下次(?!再|见)|"
    r"每次|每当|每逢|总是|永远|一律|统一|一贯|任何时候|无论如何|凡是|始终|"
    r"(?:所有|全部|任何|每个|每份|每张|每次|凡)[^，。]{1,14}(?:都|一律|要|必须|统一|得)|再也不要|(?<!不)再也别|默认(?:就)?(?:用|按|走|选|发|显示)",
    r"(?:别|不要|不准|不许)(?:再|老是|总是|动不动)",
    r"我的(?:偏好|习惯|原则|规矩|要求|喜好|底线)(?:是|：|:)|我的?预算(?:是|不|在|最|上限|：|:|就|只)",
)
_RULE = matching(
    r"^(?:at most |only |max(?:imum)? )?(?:one|two|three|four|five|\d+) (?:[\w-]+ ){1,2}per \w+|"
    r"^(?:[\w-]+ ){1,4}only$",
    r"\b(?:after|before|when|once|if|for) .{2,80} you (?:have to|must|need to|should)\b",
    r"^(?:please )?(?:call|address|put|sort|group|write|send|give|show|print|name|label|store|save|file|keep|list|"
    r"round|mark|ship|wrap|quote|cite|sign|answer|reply|offer|pack|serve|water|feed|clean|"
    r"wash|seal|log|record|report|count|measure|number|date|tag|archive|publish|post|translate|spell|greet|invoice|"
    r"bill|order|test|back up|review|schedule|plan|measure|describe|start|end|open|close) "
    r"(?:[\w-]+ )?(?!this\b|its\b|his\b|as\b|us\b|is\b)[\w-]+[^s\W]s (?:by|with|in|as|to|on|at|before|after|from|"
    r"without|under|only|twice|once|first|last|separately|for)\b",
    r"(?<!there )(?<!i )(?<!they )\b(?:must(?! have\b)|mustn't|must not|should (?:always|never|not|only|"
    r"be(?! (?:in my|there|fine|ok|okay|able|enough|here|possible|good|on file|somewhere|under)\b))|shouldn't|"
    r"may only|may not)\b",
    r"(?<!i )(?<!we )(?<!you )(?<!i'll )\b(?:have to be|has to be|has to|needs to be|need to be)\b",
    r"^(?:and |but |also |so |please )*(?:only (?!if\b)|make sure|ensure|be sure|answer (?:in|me|with|my)|"
    r"reply (?:in|with|to)|respond (?:in|with)|speak|"
    r"keep (?!(?:it|this|that|the|them|me|my|a|an|in touch|me posted|going|up)\b)|ask (?:me|us|before|first|"
    r"for (?:my|approval|permission|confirmation))|leave (?!(?:it|this|that|the|them)\b)|"
    r"write (?!(?:a|an|the|me|it|to|this|that|up|down|back|one|two)\b)|use (?!(?:the|this|that|these|those|it|a|an|"
    r"one|your|them|gift|option)\b)|run (?!(?:the|this|that|these|those|it|a|an)\b)|"
    r"format (?!(?:the|this|that|it)\b)|cite|quote (?:all|every|prices?|sources?)|round|sign (?:my|all|every|off|"
    r"e-?mails|mails)|name (?:all|every|branches|files|variables|tests|columns)|prefix|label (?:all|every)|"
    r"separate|sort (?!(?:the|this|that|it)\b)|"
    r"spell|capitali[sz]e|address (?:me|us|him|her|customers?)|call me|treat|assume|start (?:every|each|all|with|"
    r"your)|end (?:every|each|all|with|your)|put (?:all|every|each|my|our)\b|include (?!(?:the|this|that|it)\b)|"
    r"skip (?!(?:it|this|that|the)\b))",
    rf"^(?:please )?keep .{{1,80}}\b(?:under|below|above|within|to|at|between) \W*{NUMBER}",
    r"\b(?:i|we) only\b(?! (?:have|had|see|need|just|got|want to)\b)",
    r"\b(?:instead of|rather than)\b",
    r"^(?:please )?(?!(?:check|look|go|read|search|test|review|list|show|count|find|delete|remove|fix|update|"
    r"convert|process|open|visit|click|move|send|translate|export|import|print|give|tell|let|is|are|i|we|you|it|"
    r"the|there|that|this|if|for|on|in|at|and)\b)[a-z]+ (?:[\w-]+ ){0,3}?(?:every|each) \w+",
    r"\bno [\w-]+(?:,| (?:or|and)) no [\w-]+|\bwithout (?:asking|telling|checking|approval|permission)\b",
)
_RULE_ZH = matching(
    r"四舍五入|精确到|要(?:剔除|剔掉|去掉|去除|排除|扣除|扣掉|打码|脱敏|单独|分开|合并|加上|标注|注明|标明|备份|审批|盖章|签字|双人|复核|加密|注销|登记|预约|关掉|锁门|消毒|冷藏|避光)",
    r"千万|务必|必须|一定要|禁止|不得|不准|不许|严禁|避免|尽量|优先|最好(?:是|用|不)|只(?:用|要|能|许|看|接受|允许|保留|需要?|收|给|发|写|取|算)|"
    r"不能|不可以|不允许|得先|要先|需要先|先[^，。]{1,20}(?:再|然后|之后)|(?:不超过|不要超过|不能超过|别超过|控制在|预算)[^，。]{0,8}[\d一二三四五六七八九十百千万两]|为准|为主|"
    r"控制在",
    r"(?<![特分区类级个识性告差离])(?:别|不要|勿)(?!人|的|处|名|谢|管|担心|客气|急|了|墅|扭)|请(?:不要|别|勿)",
    r"(?:少|多)(?:放|用|加|吃|喝|写|说|发)(?!少|了|一|点[吗？?])|(?:前|之前|以前)(?:先|要|必须|得|请)|[\d一二两三四五六七八九十百千万]+[^，。]{0,4}(?:以内|之内)|"
    r"(?:超过|大于|高于|满|低于|少于|不到)[^，。]{1,14}(?:要|需|得|必须|才|由|须)|[\d一二两三四五六七八九十百千万]+(?:以上|以下)[^，。]{0,4}(?:要|需|得|必须|才|由|"
    r"须)|(?:要|需要?|得|必须)提前",
    r"^(?!(?:这|那|我|你|您|他|她|它|请|把|将|帮|给|再|先|今|明|昨|晚点|现在|然后|可以|能|会|不|没|也|就|都|去|来|有|是|在|怎|什么|"
    r"哪))[^，。？?,\s]{2,10}?(?<!不)\s?(?:用|写|放|选|买|走|按|存|标|填|配)(?!了|过|完|到哪|不了|得|来|什么|哪|一下)[^，。？?,]{1,}",
    r"(?:如果|要是|若|除非|只要|一旦|凡是|遇到|碰到)[^。]+(?:就|请|才|否则|不要|用|先|要|别)",
    r"(?:都|全部|全都)(?:要|用|按|得|必须|写|放|发|走|给|换|标|剔|保留|查)",
    r"(?:用|以)(?:中文|英文|英语|日语|德语|法语|表格|列表|markdown|json|[A-Za-z]+)(?:格式)?(?:回答|回复|写|输出|表示|格式|展示|交流|沟通|给我|发)",
    r"保留[^，。]{0,6}(?:位|小数)|(?:关键字|字段名?|变量|文件名|命名|标题|表名|列名|金额|日期|单位)[^，。]{0,8}(?:大写|小写|用|按|统一|驼峰|下划线|加|放)",
)
_ORDER = matching(
    r"\bfirst\b(?! (?:name|one|option|flight|class|of all|day|week|row)).*\b(?:then|before|remaining|remainder|"
    r"rest|balance|after that|and if|last)\b",
    r"\bbefore (?:you|we|any|the|using|making|anything|every|each|touching|deleting|merging|pushing|"
    r"deploying)\b.*\b(?:first|always|please)\b",
    r"\bask (?:me|us) (?:first|before)\b|\b(?:without|before) asking me\b|\bask me before\b",
)
_CONDITION = matching(
    r"^(?:and |but |so |also )?(?:if|when|whenever|unless|as long as|before|after|once|for (?:all|any|every|each)|"
    r"in case)\b.*"
    r"(?:,|\bthen\b| )\b(?:please|i'd|i would|i want|i need|i'm|i'll|prefer|use|don't|do not|make|always|never|"
    r"instead|post|send|tell|notify|write|run|put|give|show|keep|check|call|take|"
    r"only|should|must|ask)\b",
    r"\b(?:please|i'd prefer|i would prefer|use|don't|do not|always|never|instead|only|ask) .*\b(?:if|when|"
    r"whenever|unless|as long as)\b",
)
_LIMIT = matching(
    rf"\b(?:up to|at most|no more than|less than|fewer than|not more than|more than|under|below|within|at least|"
    rf"no later than|no earlier than|not before|not after|"
    rf"maximum(?: of)?|minimum(?: of)?|budget(?: of| is)?|longer than|shorter than|cap(?:ped)? (?:at|of)|"
    rf"limit(?:ed)? (?:to|of|is)|keep [^,.]{{1,60}} (?:under|below|to|within)|not exceed|exceeds?|over|above|"
    rf"stay (?:under|below|within)|stays (?:under|below|within)|(?:before|after|earlier than|later than|until|"
    rf"by)) (?:a |the )?\W*{NUMBER}",
    r"\b(?:budget|limit|cap|threshold|maximum|max|minimum) (?:is|of|at|:)?\s*\W?\d|\b[$€£]?\d[\d,.]* (?:budget|"
    r"limit|maximum|max)\b",
    r"(?:不超过|不能超过|别超过|不要超过|以内|至少|最多|不低于|不高于|上限|下限|预算|控制在|少于|多于)[^，。]{0,12}[\d一二三四五六七八九十百千万两]|"
    r"[\d一二三四五六七八九十百千万两][^，。]{0,6}(?:以内|以下|以上|之内|之前|之后|以前|以后)",
)
_WANTS = matching(
    r"\b(?:i|we)(?:'d| would|'m| am|'re| are)? (?:also |really |just |actually )*(?:want|need|like|looking|hoping|"
    r"open|willing|happy|okay|ok|fine|"
    r"comfortable|interested|prefer|trying|plan|planning)\b",
    r"我们?(?:想|要|需要|希望|愿意|可以接受)",
)
_REFUSES = matching(
    _I + r" (?:don't|do not|dont|didn't|never) (?:ever )?want\b"
    r"(?! (?:it|that|this|these|those|the|"
    r"to (?:know|see|wait|cancel|go|do|lose|miss|bother|change|book|have)|you to think)\b)",
    _I + r" (?:don't|do not|dont) need\b(?! (?:it|that|this|these|those|the|to|anything|any more|more|help|you)\b)",
)
_OPEN = matching(
    r"(?<!than )\b(?:i'm|i am|am|we're|we are)(?: also| actually| always| quite| only)* (?:open|willing|flexible|"
    r"happy|fine|ok|okay|comfortable) (?:to|with|on|about|paying|as long as)\b"
    r"(?! (?:it|that|this|these|those|the (?:refund|option|change|price|original)|(?:cancel|change|book|rebook|do|"
    r"move|modify|switch|return|exchange|upgrade|downgrade|proceed|go ahead|provide|give|send|share)\w*)\b)"
)
_MOST = matching(
    r"\b(?:most|least|cheapest|fastest|quickest|earliest|latest|shortest|longest|smallest|largest|biggest|lowest|"
    r"highest|closest|nearest|newest|oldest|"
    r"easiest|simplest|safest|lightest|heaviest|quietest|strongest|slowest|freshest|softest|strictest|cleanest|"
    r"best[- ]rated|best value)\b",
    r"最(?:便宜|早|晚|快|短|长|小|大|低|高|近|新|简单|安静|新鲜|省)",
)
_FOR_REASONS = re.compile(
    r"\b(?:use|pay|prefer|not|isn't|aren't|don't|no|without|except|but|as long as)\b|用|付|不", re.IGNORECASE
)
_TO_DO = re.compile(
    r"\b(?:want|like|need|looking|hoping|trying|planning|love|wish)(?: you)? to (?!(?:use|pay|be|avoid|keep)\b)",
    re.IGNORECASE,
)
_FIRST_PERSON = matching(r"\b(?:i|i'd|i'm|i've|i'll|my|me|we|we'd|we're|our|us|mine)\b", r"我")


def strength(text: str) -> int:
    """How strongly a clause tells a wish that outlasts the run: 0, or 2 to 6."""
    wants = bool(_WANTS.search(text))
    score = 4 * bool(_LASTING.search(text) or _LASTING_ZH.search(text))
    score += 3 * bool(_REFUSES.search(text))
    score += 2 * bool(_RULE.search(text) or _RULE_ZH.search(text))
    score += 2 * bool(_ORDER.search(text)) + 2 * bool(_CONDITION.search(text)) + 2 * bool(_OPEN.search(text))
    score += (2 if wants else 1) * limits(text) + 2 * (wants and picks(text))
    score += 3 * bool(
        len(text.split()) != 2
        and re.search(OFTEN, text, re.IGNORECASE)
        and (speaks(text) or not re.match(r"(?:the|our|a|an|all)\b", text, re.IGNORECASE))
    )
    return min(score, 6) if score > 1 else 0


def lasts(text: str) -> bool:
    """True if it says in so many words that it holds beyond this once."""
    return bool(_LASTING.search(text) or _LASTING_ZH.search(text) or re.search(OFTEN, text, re.IGNORECASE))


def always(text: str) -> bool:
    """True if it names each time, or that nothing ever changes it."""
    return bool(_ALWAYS.search(text))


_ALWAYS = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|every time|each time|usually|normally)\b|以后|总是|每次|从不",
    re.IGNORECASE,
)


def limits(text: str) -> bool:
    """True if it names a bound."""
    return bool(_LIMIT.search(text))


def picks(text: str) -> bool:
    """True if it asks for the one that is most or least so, of means or with exceptions; not for a thing to be done."""
    return bool(_MOST.search(text) and _FOR_REASONS.search(text)) and not _TO_DO.search(text)


_CLASS = re.compile(
    r"\b(?:every|each|any|all|per)\b|^(?:please )?\w+ (?:[\w-]+ )?(?!this\b|its\b|his\b|as\b|us\b|"
    r"is\b)[\w-]+[^s\W]s\b|每|所有|任何|凡",
    re.IGNORECASE,
)


def generalises(text: str) -> bool:
    """True for an order about every thing of a kind."""
    return bool(_RULE.search(text)) and bool(_CLASS.search(text))


def orders(text: str) -> bool:
    """True if it tells what comes first, or on which condition."""
    return bool(_ORDER.search(text) or _CONDITION.search(text))


def speaks(text: str) -> bool:
    """True if somebody speaks of themselves in it."""
    return bool(_FIRST_PERSON.search(text))
