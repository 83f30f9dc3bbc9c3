"""What is said for now and not for later: questions, requests, thanks, promises, guesses, this time, private things."""

from __future__ import annotations

import re

from ..policy.reminding import reminders
from ..redaction import PLACEHOLDER
from .clauses import matching

MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?)"
)
_QUESTION = matching(
    r"[?？]\s*$",
    r"[吗么呢]\s*[。！!]?$",
    r"^(?:can|could|would|will|do|does|did|is|are|was|were|have|has|should|may|shall) (?:you|i|we|it|there|the|"
    r"that|this|my|our|any)\b",
    r"^(?:what|why|where|which|who|when|how) (?:is|are|was|were|do|does|did|can|could|should|would|will|about|many|"
    r"much|come|if)\b(?!.*\bis (?:that|to|a|the)\b)",
    r"(?:能不能|可不可以|是不是|有没有|要不要|行不行|好不好|怎么样|怎么办|为什么|多少[？?]?$|哪个[？?]?$)",
)
_THIS_TIME = matching(
    r"\b(?:only|just) (?:for|in|on|to|until) this \w+",
    r"\b(?:this time|just this once|(?:just|only) once|this once|for now|only today|for today|just for today|"
    r"today only|right now|at (?:the|this) moment|"
    r"for the moment|for the time being|temporarily|currently|"
    r"(?:for|in|on|with|to) this (?:booking|one|run|time|request|order|trip|task|pr|ticket|session|case|report|"
    r"e-?mail|mail|chart|figure|call|"
    r"meeting|test|query|file|reservation|quote|purchase|visit|appointment|draft|version|week|month|morning|"
    r"afternoon|evening|occasion|exercise)|with me)\b",
    r"\b(?:i|we)(?:'d| would)(?: \w+ly)? (?:prefer to|rather) (?!(?:use|pay|keep|have|avoid|not|see|hear|be)\b)\w+ "
    r"(?:the|my|this|that|it|them)\b",
    r"\b(?:what|which|that|as) i(?:'ve| have)? (?:already |just |originally )?(?:chose|chosen|ordered|picked|selected|"
    r"booked|bought)\b",
    r"^(?:the|my) reason(?: is\b|:| for (?:the|this|my) \w+ is\b)",
    r"^(?:i|we) (?:only|just) need (?:a|an|one|two|three|the|\d+)\b",
    r"^(?:please )?use (?!.*\d{3}).* (?:for|to (?:cover|pay|settle)) (?:the|this|that)\b",
    r"这次|本次|这一次|这回|暂时|目前先|今天先|先这样|就这一|仅此一次|下不为例|眼下|这一版|这份|这张|这单|这笔|(?:^|[，,])先(?:只|看|不|用)",
)
_GOES_ON = matching(
    r"^(?:i'll|i will|i'm going to|i am going to|let's|let us|let me|we'll|we will|i'm (?:back|off|done|ready|"
    r"going|leaving|preparing|working|writing|"
    r"looking (?:at|into)|checking|calling|asking|having|getting|here)|i (?:choose|would like to choose|confirm|"
    r"agree|accept|understand|see|know|appreciate|"
    r"apologi[sz]e|hope|wonder|heard|noticed|saw|found|just|have to go|managed|tried|checked)|"
    r"go ahead|proceed|continue|carry on|never mind|don't worry|do not worry|don't bother|do not hesitate|"
    r"don't hesitate|no (?:problem|worries|rush|hurry|need)|"
    r"take your time|keep (?:going|it up|up the)|feel free|leave it|stop(?: it)?$|talk (?:to you )?(?:later|soon)|"
    r"see you|have a (?:nice|great|good)|"
    r"back (?:from|in)\b|hang on|hold on|one (?:moment|second|sec))\b",
    r"^(?:great|good|nice|excellent|amazing|awesome|lovely|wonderful|fantastic|brilliant|well) (?:work|job|idea|"
    r"point|call|question|one|stuff|catch|news|luck|done)\b|\bthank(?:s| you)\b",
    r"^[^,]{1,30}\b(?:works|suits|is (?:fine|good|ok|okay|perfect|great))(?: (?:for|with) (?:me|us))?[.! ]*$",
    r"\b(?:proceed with|go ahead|get back to you|come back to you|reach out (?:again|later|soon)|be in touch|"
    r"let you know|look into it|think about it)\b|\blet (?:me|us) know\W*$",
    r"^(?:i|we)(?:'d| would) (?:also |just |really )*(?:like|love|want) to (?:know|see|check|ask|find out|hear)\b",
    r"^(?:yes|yeah|yep|no|nope|sure|okay|ok|great|perfect|sounds good|that (?:works|sounds|looks|was|is)|thanks|"
    r"thank you|cheers|you're welcome|"
    r"hi|hello|hey|good (?:morning|afternoon|evening|night)|morning|bye|goodbye|exactly|correct|done|"
    r"never mind)\b[^,.;]*$",
    r"^(?:好的?|可以|行|嗯+|没问题|谢谢|多谢|辛苦了?|就这样|继续|对|是的|没错|明白|收到|知道了|你好|您好|早|再见|拜拜|不客气|没关系|没事|在)(?=[吧啊了的呀吗哈呢，。！!,.\s~]|$)|"
    r"^(?:不用(?:谢|了|管|担心|着急)|别(?:担心|客气|急|管)|稍等|等一下|等等|我(?:先|去|看看|再|等会|回头|晚点|稍后|马上|这就|一会儿?|来)|回头|下次(?:再说|再聊|见)|以后再说?)",
)
_REQUEST = matching(
    r"\b(?:i|we)(?:'d| would|'m| am|'re| are| was)? (?:also |really |just |actually |still )*(?:want|need|like|"
    r"love|looking|hoping|trying|planning|plan|wish|going)"
    r"(?: you)? to (?!(?:use|pay|avoid|keep|be|stay|receive|hear|spend|always|never|only|have (?:the|all|every|"
    r"each|my|our))\b)\w+",
    r"\b(?:i|we)(?:'d| would|'m| am|'re| are)? (?:also |really |just |actually |still |only )*(?:want|need|like|"
    r"looking for|looking at|hoping for|interested in) "
    r"(?:a|an|the|this|that|these|those|my|some|one|two|three|\d+|your|another|more|help|assistance|information|"
    r"details|advice|support|it)\b",
    r"^(?:please |also |just |now |then |and )*(?:book|cancel|change|modify|move|buy|order|return|exchange|upgrade|"
    r"downgrade|add|remove|update|reschedule|schedule|create|"
    r"open|close|check|find|look|review|confirm|choose|select|switch|send|submit|file|fix|build|deploy|draft|"
    r"prepare|translate|summari[sz]e|analy[sz]e|"
    r"compare|calculate|compute|list|show|tell|give|explain|help|transfer|renew|register|reset|download|upload|"
    r"restart|install|test|try|search|pull|get|"
    r"make (?:a|an|the|me|it|that|this|these)|write (?:a|an|the|me|it|to|up|down|back)|do (?:a|an|the|it|that|"
    r"this)|set|clean|delete|merge|plot|draw|call|email|mail|invite|remind|pick|quote|plan|"
    r"arrange|reserve|apply|process|verify|read|run (?:the|it|this|that|a)|use (?:the|this|that|these|those|it)|go|"
    r"come|bring|start|post|publish|put|turn|"
    r"rename|revert|rerun|redo|drop|describe|suggest|recommend|rewrite|refactor|implement|generate|export|import|"
    r"convert|lead with)\b",
    r"^(?:请|麻烦|帮忙?|给|替|把|将|再|先|现在|顺便|然后|你|您|我想请你|我想让你)*(?:帮我?|给我|替我|麻烦你|查一?下|看一?下|算一?下|做一?[个份下]|画一?[个张下]|"
    r"写一?[下份个封段]|发一?[下份个封]|改一?下|整理|统计|分析|翻译|"
    r"总结|生成|导出|部署(?!前|之前|后|时|到|在)|重启(?!前|之前|后|时|的)|提醒我|订[一张个]|预订|取消|安排|更新一下|跑一?下|发布(?!前|之前|后|时)|查询(?!前|时)|对比|解释)",
    r"^(?:请|麻烦|帮忙)?(?:把|将)[^，。]{1,20}(?:一下|给我|发|改|删|加|换|做|整理|翻译|导出|移|上传|下载|部署|发布)(?!都)",
    r"^(?:我|我们)(?:想|要|需要|希望|打算|准备|得)(?:你|您)?(?!要?(?:以后|每次|总是|一直))(?:订|改|查|看|做|买|换|退|取消|预订|了解|知道|问|把|找|办|申请|修改|升级|去|"
    r"请|咨询|确认|安排|写|画|算)",
)
_UNSURE = matching(
    r"\b(?:i|we)(?:'m| am|'re| are| do)?(?: not|n't) (?:\w+ )?(?:sure|certain|have|remember|recall|know|see|"
    r"understand|find|able)\b",
    r"\b(?:i (?:think|guess|believe|assume|suppose|suspect|imagine|reckon)(?! (?:i'd|i would|we should (?:always|"
    r"never)))|maybe|perhaps|possibly|probably|presumably|apparently|"
    r"might|could be|may (?:well )?(?:be|have)|not sure|i (?:also |still |just )?wonder|i was wondering|what if|"
    r"as far as i (?:know|can)|if i (?:remember|recall)|seems?|seemed|"
    r"looks like|sounds like|likely|unlikely|supposedly|allegedly|i heard|not (?:entirely |quite )?certain|"
    r"guessing|my guess|in theory|roughly speaking|or something)\b",
    r"不确定|不清楚|不知道|不记得|也许|大概(?!念)|好像|似乎|估计|或许|说不定|我猜|我(?:觉得|认为|想)(?:应该|可能|大概|是)|猜测|猜的|没准|应该(?:是|在|有)?[^，。；]{0,20}吧|"
    r"听说|据说|不太清楚|可能(?!的话|会?导致|性)(?<!不可能)(?<!尽可能)",
)
_PRIVATE = matching(
    r"\b(?:date of birth|dob|birth ?day|birth ?date|born (?:on|in)|passport|social security|ssn|zip ?code|"
    r"postal ?code|"
    r"(?:phone|mobile|cell|telephone|fax) (?:number|no)|home address|(?:my|our|her|his|their|billing|mailing|"
    r"street|delivery|shipping) address|"
    r"(?:my|her|his|their|personal|private) e-?mail(?: address)?(?: is| was|'s|:)|cvv|iban|credit card number|"
    r"driver'?s licen[cs]e|maiden name|"
    r"salary|(?:password|passcode|passphrase|pin(?: code)?|secret|api key|access token) (?:is|are|was)|"
    r"(?:call|text|phone|ring|reach|fax) (?:me|us|him|her|them) (?:at|on|under) \+?[\d(]|(?:tel|phone|"
    r"mobile)\.?:? ?\+?\d)\b",
    r"[\w.+-]+@[\w-]+\.\w+",
    r"\b(?:i|we) live at\b|\b(?:live|living|located|based|reside) (?:in|at|near) [^.;]{0,40}\b\d{5,6}\b|"
    r"\b\d+\w? (?:\w+ ){1,3}(?:street|avenue|ave|road|lane|boulevard|drive|square|court)\b",
    r"生日|出生|身份证|护照|住址|(?:家庭|收货|邮寄|家里的?|我的)地址|地址是(?!\s*[A-Za-z])|邮箱|邮件地址(?:是|：|:)|(?:手机号码?|电话号码?|电话)(?:是|：|:)|(?:我|"
    r"家里|爸|妈)的?(?:手机号|电话号)|银行卡|工资|社保号",
)
_UNRECORDED = matching(
    r"\b(?:off the record|between (?:you and me|us)|(?:don't|do not|never) (?:save|remember|store|record|"
    r"memori[sz]e|keep|note)(?: any of)? (?:this|that|it|what|the following)|"
    r"(?<!n't )(?<!not )(?<!never )forget (?:that|this|it|what i|everything|about))\b",
    r"(?:不要|别|不用|无需)(?:记录|保存|记住|记下|记)(?!错|混|成)",
)
_SOON = matching(
    r"\b(?:tomorrow|tonight|today|yesterday|(?<!from )(?<!since )(?<!starting )(?<!until )(?<!as of )next (?:week|"
    r"month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|"
    r"this (?:morning|afternoon|evening|week|month|weekend|monday|tuesday|wednesday|thursday|friday|saturday|"
    r"sunday)|last (?:night|week)|"
    r"in (?:an?|one|two|\d+|a few|a couple of) (?:minutes?|hours?|moments?)|in a (?:minute|moment|bit|while)|"
    r"soon|later today|a (?:minute|moment|while) ago|just now|"
    r"(?:\d+|two|three|a few|some) (?:minutes?|hours?|days?) ago)\b",
    r"今天|明天|昨天|后天|今晚|下周|本周|这周|上周(?!末)|刚刚|刚才|马上|稍后|一会儿|待会|现在就|等会",
)
_DATED = matching(
    rf"\b{MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b",
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}\b",
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b",
    r"\d{1,2}月\d{1,2}[日号]",
)
_AMOUNT = re.compile(r"[$€£¥￥]\s?\d|\d\s?(?:dollars|euros|pounds|usd|eur|yuan|元|块|美元|欧元)", re.IGNORECASE)
_RATE = matching(
    r"\b(?:a|an) (?:month|year|week|day|hour|seat|piece|unit|head|night|person|page|user)\b|\b(?:up|down) from\b|"
    r"\bno longer\b|\binstead of\b",
    r"\b(?:per|each|every|always|usually|typically|generally|times|budget|limit|cap|threshold|minimum|maximum|"
    r"at most|at least|"
    rf"up to|under|below|above|over|more than|less than|fee|rate|quota|list price|standard|from (?:now|{MONTH})\b|"
    rf"within|no longer)\b",
    r"每|预算|上限|以内|以上|以下|超过|不超过|低于|至少|最多|标准|统一|一律|起步",
)
_OF_THE_DAY = matching(
    r"\b(?:hangs|can't log (?:in|on)|cannot log (?:in|on)|(?:can't|cannot) (?:reach|connect|open|access|find|"
    r"start)|keeps (?:crashing|failing|hanging|restarting)|throws an?|returns an error|crashed|"
    r"timed out)\b(?! (?:when|if|unless|on every|every|without))",
    r"\b(?:balances?|totals?|subtotal|fares?|amount due|seats? (?:left|available)|stock|availability|weather|"
    r"exchange rate)\b.{0,30}\b(?:is|are|was|comes? to|of|at)\b\W*(?:now |currently |still )?[$€£¥\d]",
    r"(?:余额|总价|总额|合计|票价|库存|汇率).{0,8}(?:是|为|剩|还有|：|:)?\s*[¥￥$]?\d",
    r"\b(?:order|reservation|booking|confirmation|ticket|case|tracking|reference|transaction|invoice|receipt|claim|"
    r"voucher|flight|gift card|credit card|card|pnr|rma) ?(?:id|number|no\.?|code|#)?(?: (?:is|was|should be)|'s|"
    r":) \W?[\w-]*\d",
    r"(?:订单|预订|预约|确认|工单|快递|运单|流水|交易|发票|航班|车次|会员卡|案件)(?:编?号|码|ID)?(?:是|为|：|:)\s*[\w-]*\d",
    r"\b(?:is|are|was|were|has been|have been|'s|got|been) (?:now |still |currently |all |already |"
    r"running )*(?:down|up|broken|working|fine|ready|done|online|offline|available|late|delayed|"
    r"cancelled|canceled|finished|complete|completed|okay|ok|great|good|bad|slow|sick|tired|busy|sold out|full|"
    r"lost|stuck|missing|unwell|urgent|attached|here|back|happy|upset|frustrated|sorry|sure|afraid|confused|"
    r"correct|right|wrong|perfect|fantastic|interested|"
    r"booked|scheduled|stranded|failing|crashing|at \d+ ?%)(?! (?:on|every|each|by|for) )(?:\b|$)",
    r"\b(?:doesn't|don't|won't|does not|do not|will not|didn't|wouldn't|isn't|aren't) (?:come up|start|boot|load|"
    r"compile|build|open|connect|respond|answer|finish|show up|appear|show anything|turn on|work(?:ing)?|"
    r"run(?:ning)?|respond(?:ing)?)(?! (?:on|with|without|for|in) )\b",
    r"\b(?:expires?|due|ends?|starts?|is|are|arrives?|leaves?|departs?|closes?|opens?) (?:on )?(?:monday|tuesday|"
    r"wednesday|thursday|friday|saturday|sunday)\b",
    r"(?:挂了|崩了|坏了|好了|完了|卡住|断了|延误了?|取消了|到了|没了|满了|发布成功|已完成|已发送|已更新)",
)


def is_question(text: str) -> bool:
    """True for what asks."""
    return bool(_QUESTION.search(text))


def is_request(text: str) -> bool:
    """True for what asks for one thing to be done."""
    return bool(_REQUEST.search(text))


def is_for_now(text: str) -> bool:
    """True for greetings, thanks, go-aheads, promises, and what is limited to this time."""
    return bool(_THIS_TIME.search(text) or _GOES_ON.search(text))


def is_this_time(text: str) -> bool:
    """True for what says that it holds for this time only."""
    return bool(_THIS_TIME.search(text))


def is_reminder(text: str, start: int, end: int) -> bool:
    """True if those characters of a sentence are within what it reminds of for the work at hand."""
    return any(first < end and start < last for first, last in reminders(text))


def is_unsure(text: str) -> bool:
    """True for guesses, hearsay, and what somebody does not know."""
    return bool(_UNSURE.search(text))


def is_private(text: str) -> bool:
    """True for birth dates, addresses, phone numbers and secrets, and for what is not to be recorded."""
    return bool(_PRIVATE.search(text) or _UNRECORDED.search(text) or PLACEHOLDER.search(text))


def is_unrecorded(text: str) -> bool:
    """True if somebody asks that what they say is not kept."""
    return bool(_UNRECORDED.search(text))


def is_of_the_day(text: str) -> bool:
    """True for what will not hold tomorrow: balances, fares, numbers of one order, and how somebody or something is."""
    return bool(_OF_THE_DAY.search(text)) or (bool(_AMOUNT.search(text)) and not _RATE.search(text))


def is_state(text: str) -> bool:
    """True for how somebody or something is at the moment: broken, late, unwell."""
    return bool(_OF_THE_DAY.search(text)) and not _AMOUNT.search(text) and not re.search(r"\d", text)


def is_soon(text: str) -> bool:
    """True if it names a day or an hour from where the speaker stands."""
    return bool(_SOON.search(text))


def is_dated(text: str) -> bool:
    """True if it names a day of the calendar."""
    return bool(_DATED.search(text))
