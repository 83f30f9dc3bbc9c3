"""Live business state: what an order, an account, a stock or a ticket is like now, which its own system knows."""

from __future__ import annotations

import re

from .reading import clause_before

_ID = r"(?:#?[A-Z]{0,6}[-#]?\d[\w-]*|#\w+)"
_ORDER = (
    r"(?:orders?|shipments?|parcels?|packages?|deliver(?:y|ies)|reservations?|bookings?|refunds?|returns?|"
    r"payments?|subscription|claim|invoices?)"
)
_TICKET = r"(?:tickets?|issues?|incidents?|cases?|bugs?|prs?|pull requests?|merge requests?|tasks?)"
_STATUS = (
    r"(?:pending|processed|processing|shipped|delivered|cancell?ed|in transit|out for delivery|on hold|on its way|"
    r"on the way|confirmed|completed?|refunded|returned|delayed|active|expired|being (?:processed|shipped|prepared|"
    r"packed)|(?:now |still )?paid|unpaid|due|overdue|handed (?:over )?to the (?:courier|carrier)|at the depot|"
    r"under review|approved|denied|dispatched|lost|sold out)"
)
_OPEN = (
    r"(?:open|closed|resolved|in progress|in review|unassigned|assigned to \w+|waiting|pending|blocked|reopened|"
    r"done|escalated)"
)
_FEW = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|no more|a few|just one)"
_MONEY = r"(?:[$€£¥￥]\s?\d|\d[\d,.]*\s?(?:dollars|euros|pounds|usd|eur|gbp|cny|rmb|yuan|points|miles|credits)\b)"
_TODAY = (
    r"(?:today|tonight|now|currently|at the moment|right now|this morning|this afternoon|as of (?:today|now)|"
    r"at present|"
    r"presently|live|spot|latest|current)"
)
_BE = r"(?:is|are|was|has been|have been|'s|stands at|comes to|shows|reads)"
_LIVE = re.compile(
    rf"\b(?:the|my|your|his|her|their|this|our) (?:\w+ )?{_ORDER}(?: {_ID})? (?:is|are|was|has been|have been|'s) "
    rf"(?:still |now |currently |already )*{_STATUS}\b|"
    rf"\b{_ORDER} (?:number |id |no\.? )?{_ID} (?:is|are|has been|'s) (?:still |now |currently |already )*{_STATUS}\b|"
    rf"\b(?:order|shipment|payment|refund|delivery|booking|reservation)(?: {_ID})? status (?:is|=|:|shows) \W?\w+|"
    rf"\b(?:the |my |this |our )?{_TICKET} (?:number |id )?{_ID} (?:is|'s|has been) "
    rf"(?:still |now |currently |already )*{_OPEN}\b|\b(?:my|this|the|your) {_TICKET} (?:is|'s) (?:still |now |"
    rf"currently )"
    rf"{_OPEN}\b|\b(?:\w+ )?ticket status (?:is|=|:) \W?\w+|"
    rf"\bbalance (?:of|on|in) [^.;]{{1,40}}? {_BE} (?:now |currently |still )?\W?{_MONEY}|"
    rf"\b(?:balance|amount due|outstanding amount|remaining credit|credit left) {_BE} (?:now |currently |"
    rf"still )?{_MONEY}|"
    rf"\b(?:has|have) {_MONEY}[\d,.]* (?:left|remaining|available|in (?:the|his|her|their|my) (?:account|wallet))\b|"
    rf"\b(?:\d+|{_FEW}) (?:\w+ )?(?:seats?|rooms?|tickets?|places?|spots?|slots?|tables?|units?|pieces?|items?|"
    rf"copies|boxes) "
    r"(?:is |are |were )?(?:still |currently |now )?(?:left|available|remaining|in stock|free)\b|"
    r"\b\d+ (?:[\w-]+ ){1,3}(?:left|remaining) in stock\b|\b[A-Z]{2,10}-\d+ (?:is|'s) (?:still |now |currently )*"
    rf"{_OPEN}\b|\b(?:account|wallet|card|profile) (?:now |currently |still )?(?:shows|has|holds|"
    rf"stands at) (?:[$€£¥]\s?)?"
    r"\d[\d,.]* ?(?:points?|miles?|credits?|dollars|euros|$|[.,;])|"
    r"\b(?:\w+ )?(?:train|flight|show|concert|game|match|tour|bus|hotel|session|class|course) (?:\S+ )?(?:is|"
    r"'s) (?:now |already |"
    r"currently )*(?:sold out|fully booked|booked out)\b|"
    rf"\b(?:is|are|stands|trades|was) (?:now |currently )?at [$€£¥]?\d[\d.,]*[^.;]{{0,20}}?\b{_TODAY}\b|"
    rf"\b(?:the|my|your|his|her|their|this|our) (?:\w+ )?{_ORDER}(?: {_ID})? (?:hasn't|haven't|has not|have not|isn't|"
    r"is not|never) (?:\w+ ){1,6}yet\b|"
    r"\b(?:only )?\d+ (?:left|remaining) (?:in stock|on|for|in)\b|"
    rf"\b(?:stock|inventory|stock level)(?: (?:of|for) [^.;]{{1,40}}?)? {_BE} (?:now |currently |at )?\d|"
    r"\b(?:is|are) (?:currently |now |still |temporarily )?(?:out of stock|sold out|in stock|fully booked|"
    r"on back-?order)\b|"
    rf"\b(?:price|fare|rate|quote|cost|exchange rate)s?\b[^.;]{{0,60}}?\b{_TODAY}\b[^.;]{{0,30}}?\d|"
    rf"\b{_TODAY}(?:'s)?\b[^.;]{{0,40}}\b(?:price|fare|rate|quote|exchange rate)s?\b[^.;]{{0,30}}?\d|"
    rf"\b(?:costs?|sells? (?:for|at)|trad(?:es|ing) at|goes for) (?:\w+ )?{_MONEY}[^.;]{{0,20}}\b{_TODAY}\b|"
    rf"\b(?:price|fare|rate)s? {_BE} [^.;]{{0,20}}?{_MONEY}[\d,.]*[^.;]{{0,12}}?\b{_TODAY}\b|"
    rf"\bflight {_ID} (?:is|has been) (?:still |now |currently )*(?:delayed|on time|cancell?ed|boarding|sold out|"
    rf"full)\b",
    re.IGNORECASE,
)
_LIVE_ZH = re.compile(
    r"(?:订单|包裹|快递|货|退款|预订|机票|工单|发票|账单|票)(?:号?\s*[A-Za-z#]*-?\d[\w-]*)?\s*(?:的?状态)?(?:现在|"
    r"目前|当前)?(?:是|为|：|:)?"
    r"(?:已经?|还(?:没)?|正在|尚未|未)(?:发货|签收|取消|退款|到账|支付|付款|付清|付(?=$|[，。；！])|出库|派送|揽收|"
    r"处理|关闭|解决|出票|送达|打包|配送|完成)|"
    r"(?:订单|包裹|快递|工单|退款|物流)(?:号?\s*[A-Za-z#]*\d[\w-]*)?的?(?:当前)?状态(?:是|为|：|:)|"
    r"(?:工单|问题单|缺陷|任务)\s*[A-Za-z#]*-?\d[\w-]*\s*(?:现在|目前|还)?(?:是|处于|在)?(?:打开|开着|处理中|待处理|"
    r"进行中|已解决|已关闭|挂起)|"
    r"(?<!最低)(?<!最小)(?<!最高)余额(?:现在|目前|当前|还|只)*(?:是|为|有|剩下?|：|:)?\s*[¥￥$]?\d|"
    r"(?:账上|卡上|卡里|账户里?|钱包里)(?:现在|目前)?(?:还|只)?(?:有|剩)\s*[¥￥$]?\d|"
    r"(?:快递|包裹|货|物流)(?:已经?|刚)?(?:到|在|寄到|发到)(?!付|货)[^，。；]{0,8}了(?!就|要|后)|"
    r"(?:还|只|仅)?剩下?\s*\d+\s*[个张间份件台箱座位]|(?:座位|余票|房间|名额)(?:还|只)(?:有|剩)|"
    r"库存(?:现在|目前|当前|还|只|仅)*(?:是|为|有|剩下?|：|:)?\s*\d|(?:已经?|暂时|现在|目前)(?:售罄|缺货|无货|卖完|"
    r"没票|没位|没货|满房|客满)|"
    r"(?:今天|今日|今早|当前|目前|现在|此刻|实时)的?[^，。；]{0,12}(?:价格?|票价|汇率|报价|金价|油价|房价|股价|"
    r"运价)[^，。；]{0,8}\d|"
    r"(?:价格?|票价|汇率|报价|金价|油价|股价)(?:今天|今日|当前|目前|现在)[^，。；]{0,8}\d|(?:没票|没货|没位置?|没房|"
    r"没名额)了|现价\s*(?:是|为|：|:)?\s*[¥￥$]?\d",
    re.IGNORECASE,
)
_OF_A_KIND = re.compile(r"的(?!$|[，。；！])|\s+(?:can|may|must|cannot|can't|should|are|will)\b", re.IGNORECASE)
_RULED = re.compile(
    r"\b(?:if|when|whenever|once|unless|until|after|before|while|as soon as|only(?!\s*$)|must|should|need|cannot|"
    r"can't|any|"
    r"every|"
    r"each|that|which|who|where|minimum|maximum|at least|below|under|required|whose)\b|"
    r"如果|若|当|一旦|只要|除非|每|任何|凡是|的订单|的工单|低于|少于|不足|最低|超过|必须|只能|才",
    re.IGNORECASE,
)


def live(text: str) -> str:
    """The words that tell live business state; empty if none do. A rule about such a state is none."""
    for pattern in (_LIVE, _LIVE_ZH):
        for found in pattern.finditer(text):
            begin, end = clause_before(text, found.start()), text[found.end() :]
            if not (_RULED.search(begin) or _RULED.search(found.group()) or _OF_A_KIND.match(end)):
                return found.group().strip()
    return ""
