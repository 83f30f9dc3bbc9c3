"""Which lasting fact a clause states: how things are or change, what was decided, what is right and what wrong."""

from __future__ import annotations

import re

from ...governance.speech.clauses import matching
from ...governance.speech.passing import MONTH
from ...governance.speech.sentences import size
from ...governance.speech.stated import ABSTRACT, IS, NAME, states
from ...governance.speech.wishes import OFTEN

_USUALLY = (
    r"(?:(?:always|never|only|also|now|usually|normally|generally|still|already|both|all|currently|actually|really|"
    r"no longer|just|mostly|mainly|automatically|directly|often|sometimes) )*"
)
_DOES = (
    r"(?:renews?|expires?|starts?|ends?|begins?|opens?|closes?|runs?|listens?|lives?|sits?|stands? for|means?|"
    r"uses?|needs?|requires?|depends?|relies|rely|belongs?|owns?|"
    r"reports? to|contains?|includes?|excludes?|stores?|saves?|keeps?|holds?|returns?|accepts?|rejects?|supports?|"
    r"expects?|allows?|blocks?|refuses?|ignores?|takes?|gets?|receives?|goes|go|comes?|"
    r"points? (?:to|at)|maps? to|counts?|costs?|rotates?|restarts?|restores?|syncs?|updates?|refreshes|writes?|"
    r"reads?|loads?|sends?|receives?|serves?|handles?|manages?|maintains?|"
    r"approves?|signs?|decides?|leads?|prefers?|hates?|loves?|dislikes?|likes?|insists?|wants?|eats?|drinks?|"
    r"hurts?|works?|breaks?|crashes|fails?|pays?|ships?|deploys?|builds?|"
    r"tests?|arrives?|leaves?|meets?|speaks?|teaches|covers?|applies|apply|differs?|exists?|has|have|connects?|"
    r"mounts?|resolves?|redirects?|replaces?|overrides?|overwrites?|emits?|"
    r"publishes|consumes?|triggers?|validates?|defaults? to|falls? back|inherits?|ages?|grows?|charges?|bills?|"
    r"invoices?|buys?|sells?|cares?|reacts?|responds?|answers?|calls?|visits?|"
    r"trusts?|joins?|follows?|treats?|tolerates?|watches|plays?|sleeps?|owes?|knows?|carries|carry|delivers?|"
    r"collects?|happens?|targets?|limits?|measures?|logs?|tracks?|creates?|deletes?|purges?|wakes?|rings?|weighs?|"
    r"seats?|hosts?|attends?|belong)"
)
_STATE = (
    r"(?:read-?only|required|optional|mandatory|compulsory|forbidden|prohibited|deprecated|obsolete|immutable|"
    r"encrypted|disabled|enabled|shared|private|public|"
    r"vegetarian|vegan|allergic|case[- ]sensitive|confidential|reserved|restricted|limited|closed on|open on|"
    r"responsible|in charge|history|legacy|"
    r"pinned|frozen|archived|retired|decommissioned|non-?refundable|gluten-free|left-handed|deaf|blind|diabetic|"
    r"pregnant|strict|exempt|comparable|compatible|incompatible|interchangeable|valid|invalid|reliable|safe|unsafe|"
    r"suitable|allowed|tax-free|sacred|off[- ]limits|out of date|outdated|unreliable|"
    r"tied to|based in|based on|due (?:on|by|every)|called|named|owned|led|managed|maintained|hosted|deployed|"
    r"stored|located|mounted|written|built|configured|generated|emptied|deleted|"
    r"purged|backed up|cleared|rotated|synced|signed|approved|billed|invoiced|paid|counted|measured|reported|kept|"
    r"capped|limited|behind|inside|under|over|above|part of|"
    r"meant|reachable|reached|available (?:only|on|from|via)|not (?:to be|for|in|on|part|allowed|supported))"
)
_RELATES = re.compile(
    rf"^(?:the |our |my )?{NAME} (?:"
    rf"{_USUALLY}{_DOES}\b"
    rf"|{_USUALLY}(?:doesn't|don't|does not|do not|won't|will not) (?:\w+ly |ever )?{_DOES}\b"
    rf"|{IS} {_USUALLY}{_STATE}\b"
    rf"|{IS} {_USUALLY}(?:a|an|the|our|my|your|their) (?!(?:bit|little|lot|problem|mess|shame|pity|good|great|bad|"
    rf"nice|nightmare|disaster|joke|long|while|few|fan|must|pain|big|huge|real|same|right|wrong|only|first|one)\b)"
    rf"|{_USUALLY}(?:must(?! have\b)|mustn't|has to|have to|needs to|need to be|can only|cannot|can't|can not|"
    rf"may only|may not|should (?:always|never|only|not)|shouldn't|"
    r"can be \w+ (?:only|in|at|from|via|through|on|by)|can (?:always|never))\b)",
    re.IGNORECASE,
)
_CHANGES = matching(
    r"\b(?:up|down) from \W?\d",
    rf"^{NAME} (?:has |have |had )?(?:left|joined|retired|moved (?:to|from|into|out|away)|switched (?:to|from)|"
    rf"migrated|changed (?:to|from)|became|become|replaced|took over|taken over|been (?:renamed|replaced|"
    rf"deprecated|merged|retired|"
    r"decommissioned|moved|migrated|closed|archived|promoted|split|removed|dropped|discontinued|turned off|"
    r"disabled|switched)|was (?:renamed|replaced|deprecated|merged|retired|decommissioned|moved|migrated|promoted|"
    r"split|removed|"
    r"dropped|discontinued|switched))\b",
    r"\bused to \w+.*\bnow\b|\b(?:formerly|previously|before) .*, now\b|"
    r"(?:以前|之前|原来|过去|原先).{1,30}(?:现在|如今|改)",
    r"\b(?:is|are) being (?:closed|phased out|deprecated|shut down|migrated|replaced|retired|decommissioned|moved|"
    r"renamed|dropped|merged|turned off)\b",
    r"\b(?:no longer|not any ?more|any ?more)\b|\b(?:is|are) (?:now|history|gone|dead)\b(?! (?:down|up|working|"
    r"broken|fine|ready|done|available|running|complete))",
    rf"\b(?:from|since|as of|starting|effective|until) (?:now|{MONTH}|next (?:month|quarter|year)|20\d\d|q[1-4]|"
    rf"version|v\d|\d)\b.*\b(?:is|are|costs?|uses?|will be|must|needs?|goes|go)\b",
)
_CORRECTS = matching(
    r"\b(?:is|are|was|use|uses|used|runs?|lives?|renews?|expires?|starts?|ends?|goes|go|means?|called|named|at|on|"
    r"in|to|from|for|with|by|as|just|it's|i'm|we're|sign|signed) [^,;?]{1,80}, not \S",
    r"\b(?:not|n't) [^,.;?]{1,60}, but\b|\w, not (?!sure|certain|that|yet|only|necessarily|really|a problem|bad|so|"
    r"too|very|now|today)\w",
    r"\bi meant\b.*\bnot\b|\b(?:should|ought to) (?:have been|be|read|say) (?!able\b)\S+(?: \S+){0,6},? (?:not|"
    r"instead|rather)\b",
    r"(?:是|用|在|叫|为|查|改成|走)[^，。,]{1,40}[，,]\s*(?:而)?不是|不是[^，。,]{1,40}[，,]\s*(?:而是|应该是|应该|而|是)(?!吗)|而不是",
)
_OURS = matching(
    r"\bmy (?:assistant|colleague|secretary|partner|deputy|manager|boss|wife|husband|son|daughter|mother|father|"
    r"sister|brother|accountant|lawyer|doctor|team|neighbou?r|friend) (?:[\w'-]+ )?(?!is\b|was\b|says\b|"
    r"asks\b)[\w-]*[^s\W]s (?:the|all|my|our|in|on|at|with|only|no)\b",
    r"\b(?:our|my team's|the team's) (?:[\w-]+ ){1,5}(?:is|are|runs?|uses?|lives?|needs?|starts?|ends?|listens?|"
    r"only|always|never|must|has|have|counts?|cannot|can't)\b",
    r"^(?:we|our team|the team|my team)(?: all| only| always| never| currently| still| usually)* (?:use|run|deploy|"
    r"host|ship|release|support|require|target|follow|store|call|write|bill|invoice|pay|charge|sell|serve|count|"
    r"measure|report|"
    r"track|label|tag|name|close|open|meet|work|operate|ban|forbid|allow|buy|have (?:a|an|two|three|four|five|\d+|"
    r"no)|own|rent|live|eat|are (?:a|an|based|\d+))\b(?! (?:it|that|this|a question|an issue|a problem|a meeting|"
    r"a call)\b)",
    r"\bmy (?:name|team|company|role|manager|boss|timezone|time zone|city|language|mother tongue|department|title|"
    r"job|position|employer|wife|husband|partner|son|daughter|kids?|children|mother|father|"
    r"mom|mum|dad|brother|sister|dog|cat|doctor|dentist|landlord|blood type|laptop|machine|computer|phone|car|"
    r"editor|shell|office|supplier|client|customer|contact|assistant|deputy|backup|shoe size|size|weight|height)"
    r"(?: \w+)?(?:'s name)?(?: is| are| has| have| runs| uses| works| lives| needs| can't| cannot|"
    r"'s)\b(?! (?:broken|late|sick|down|here|not working)\b)",
    r"\b(?:by|with) [^,]{1,60},? (?:we|i) (?:always |usually )?mean\b|\bwhen(?:ever)? (?:i|we) say\b.*\b(?:mean|"
    r"means)\b",
    r"^(?:also |and )*(?:i|i've)(?:'m| am)? (?:also |actually |currently )*(?:live in|live with|work (?:in|at|for|"
    r"from|as|with|on|nights|shifts|remotely|part[- ]time)|run (?:a|an|the)|own (?:a|an|two|three|\d)|manage|lead|"
    r"speak|teach|study|"
    r"based (?:in|at)|responsible for|in charge of|living in|working (?:at|for|from|as)|on (?:the .{1,20} team|"
    r"call every|a .{1,30} diet|blood thinners|insulin)|diabetic|deaf|blind|left-handed|colou?r-?blind|pregnant|"
    r"retired|self-employed|married)\b",
    r"^i (?:also |usually )?(?:take|drink|eat|wear|sleep|wake up|get up|train|run|swim|commute|travel|read|"
    r"listen) (?:my|at|with|without|only|no|around|by|until|alone|on my|on a|on the)\b",
    r"^i(?:'m| am) (?:also |actually )*(?:a|an|the) (?!(?:bit|little|lot|few|fan|user|existing|new|regular)\b)",
    r"^i have (?:(?:a|an|severe|mild|type|chronic|high|low|two|three|four|\d+|no) )*(?:\w+ ){0,2}(?:allergy|"
    r"allergies|intolerance|condition|disability|diabetes|asthma|kids?|children|sons?|daughters?|dogs?|cats?|pets?|"
    r"migraines?|"
    r"blood pressure|epilepsy|arthritis|insomnia|membership|subscription|licen[cs]e)\b",
    r"^(?:我们|我司|咱们|公司|团队)(?:这边|这里|内部|团队|公司|部门|组|的|一直|现在|都|目前|统一)*(?:周[一二三四五六日末天]|每|从不|一般|不(?!需要|想|知道|太|是|能|会|够|用了|"
    r"清楚|确定)|用|使用|采用|部署|统一|公司|组|口径|规定|要求|只|有|按|走|叫|每|周|服务器|数据库|项目|系统|客户|仓库|流程)[^？?]{2,}",
    r"我的(?:名字|团队|公司|岗位|时区|老板|领导|经理|职位|老婆|老公|孩子|儿子|女儿|妈妈|爸爸|猫|狗|医生|电脑|手机|车|血型|办公室|同事|助理|客户|鞋码|尺码)[^，。]{0,6}(?:是|叫|在|"
    r"有|不|对|用)",
    r"^我(?:现在|目前|平时|一直)?(?:住在|住(?!址)|在[^，。]{1,14}(?:工作|上班|做|负责|读书)|对[^，。]{1,14}过敏|吃素|负责|"
    r"是(?:一[名个位])?[^，。]{1,16}(?:的|师|员|人|经理|医生|护士|老师|主管|总监|负责人)|有[^，。]{0,6}(?:糖尿病|高血压|过敏|哮喘|孩子|猫|狗|病|不耐))",
)
_DECIDES = matching(
    r"\b(?:we|i|they|the team|the board|management|legal|the customer|the client)(?:'ve| have| has|'re|"
    r" are)?(?: now| finally| already| all)* (?:decided|chose|chosen|agreed|settled on|picked|opted|"
    r"standardi[sz]ed on|ruled out|rejected|dropped|abandoned|"
    r"switched|migrated|moved (?:to|from|away)|stopped (?:using|buying|doing|working with|selling)|started using|"
    r"banned|discontinued|cancelled our|going with|went with|sticking with|stick with|staying with|replaced|"
    r"gave up on)\b(?! (?:to (?:cancel|book|return|buy|order|keep (?:it|this))|it|this|that|the (?:first|second)|"
    r"option)\b)",
    r"\bthe decision (?:is|was)\b|\bit (?:is|was) decided\b",
    r"^(?:let's|let us|we'll|we will|i'll) (?:go with|use|stick with|stay with|keep|switch to|move to) (?!(?:it|"
    r"that|this|option|the (?:first|second|one))\b).*\b(?:because|since|as (?:it|they|the)|so that)\b",
    r"(?:我们|团队|公司|老板|领导|大家|会上|客户)[^，。]{0,6}(?:决定|选(?:定|择)?了|敲定|定了|商定|同意|放弃了?|改用|换用|否决)|决定(?:用|采用|改用|不再|放弃|先|把|由)|"
    r"已经?(?:定了|敲定|拍板)",
)
_EXPLAINS = matching(
    r"\b(?:failed|fails|broke|crashed|crashes|was slow|is slow|timed out|stopped|was refused|was rejected|"
    r"went down|happened|happens|didn't work|doesn't work) because\b",
    r"\b(?:was|is|were|are) (?:caused by|due to)\b|\bthe (?:root )?(?:cause|reason) (?:was|is|of)\b",
    r"(?:根因|根本原因|原因)(?:是|在于|：|:)|(?:是因为|由于)[^。]{2,}(?:导致|引起|造成|才)",
)
_LANDED = matching(
    r"^(?:she|he|they|we|(?!(?:i|it|this|that|please|can|could|would|let)\b)[\w'-]+(?: [\w'-]+){0,6}?) (?:really |"
    r"just |all |clearly )*(?:loved|hated|ignored|"
    r"praised|dismissed|laughed at|shrugged at|lost interest|went silent|went quiet|walked away|walked out|"
    r"bought in|pushed back|signed (?:right away|on the spot|at once)|lost (?:the room|them|us the)|"
    r"cost us (?:the|a)|won us|never worked|worked (?:best|wonders|like a charm)|backed out|warmed (?:to|up)|"
    r"lit up|tuned out)\b",
    r"\bwhat (?:landed|worked|helped|won|convinced|sold|sealed|closed|did it|made the difference|didn't (?:land|"
    r"work))\b.*\b(?:was|is|were)\b",
    r"\b(?:fell flat|flopped|backfired|landed (?:well|badly|best)|went over (?:well|badly)|resonated|"
    r"didn't (?:land|resonate|go over well)|did the trick|paid off|won (?:them|him|her|\w+) over|"
    r"settled it|sealed the deal|closed the deal|convinced (?:them|him|her|\w+)|impressed (?:them|him|her|\w+)|"
    r"got (?:us|me) nowhere|went nowhere|was a (?:hit|flop)|hit home|struck a chord|put (?:them|him|her) off|"
    r"turned (?:them|him|her) off|scared (?:them|him|her) off|made the difference)\b",
    r"^(?:with [^,]{2,60},? )?(?:we|i) (?:won|lost) [^,.]{2,80}\b(?:because|by|with|on|due to|over|thanks to)\b",
    r"(?:打动了|赢在|输在|没谈成|丢了单|谈成了|说服了|反响(?:很好|不好|平平)|效果(?:很好|不好|最好|很差)|没打动|不买账|很受用|很吃这一套|起了作用|没有?起作用|踩了?坑)",
)
_HABIT = re.compile(rf"^{NAME} .*(?:{OFTEN})", re.IGNORECASE)
_FACT_ZH = matching(
    r"^(?:我们的?|公司的?|团队的?)?[^，。？?,你他她它这那]{1,14}从[^，。]{1,10}(?:开始|起)|^[^，。？?,这那它他她你我请不]{1,12}就是[^，。？?,]{1,14}[。！!]?$",
    r"^(?!(?:请|别|不要|都|先|要|就|只|用|写|把|将|给|帮|再|我|你|您|那|这|它|他|她|如果|要是|以后|每次)\w?)[^，。？?,]{1,30}?(?:必须|只能|不能|不可以|不允许|不支持|"
    r"要先|得先|需要先?|才能|不再|已经?(?:换|迁|改|搬|停|下|离职|升|归|合并|废弃)|迁移|"
    r"换成|改成|改为|改给|改发|改由|迁到|放到|放在|留给|交给|发给|转给|抄送|调到|设成|设为|归到|废弃|停用|下线|停产|归[^，。]{1,10}(?:管|负责)|由[^，。]{1,12}(?:负责|管|"
    r"审批|维护|签)|存的是|存在|用的是|用的|截到|截止|默认|等于|指的?是|代表|算作|只算|不算|叫做|负责人|对接人|联系人|(?:更|最|很|不|特别|比较)?(?:喜欢|看重|在意|关心|偏好|介意|反感|"
    r"倾向)|讨厌|作废|"
    r"不吃|不接受|过敏|要求|坚持|有(?!没有|空|时间|问题|点)[^，。]{2,}|没有(?!问题|了$)[^，。]{2,}|离职|跑在|运行在|监听|部署在|位于|放在|依赖|会自动|自动|开放|关闭|续约|到期|"
    r"生效)",
    r"^[^，。？?,我你他]{1,14}(?:一般|通常|往往)[^，。]{2,}|^我姓|^(?:请)?叫我[^，。]{1,8}",
    r"^我(?:们)?说的[^，。]{1,14}(?:就是|指的?是?|是)|^[^，。我你他她它请把帮]{1,10}要[^，。]{1,12}的[。！!]?$",
    r"^(?!(?:这|那|它|他|她|你|您|但|还|可|于|总|只|就|要|不|若|都|也|才|更|算|老|或|凡|硬|正|如果|因为|问题|意思)[^，。]{0,2}是)[^，。？?,]{1,30}?是(?:每|由|"
    r"用|按|在|从|归|为了|[^，。？?,]{0,20}(?:的|[A-Za-z0-9]))",
    rf"^(?!我)[^，。？?,]{{2,24}}(?:{OFTEN})",
)
_STANDS_IN = re.compile(r"^(?:it|they|he|she)\b\s*(?!'|seems?\b|looks?\b)|^(?:its|their|his|her)\b\s*", re.IGNORECASE)
_DENIED = matching(
    r"\b(?:not|no longer|never|instead of|rather than) (?:(?:at|in|on|to|the|a|an|from|with|by|port|called|number|"
    r"version) )*(?P<en>[\w./:#@-]*\w)",
    r"(?:而不是|不是|不在|不再是|不用|别用)\s*(?P<zh>[A-Za-z0-9][\w./:#@-]*|[㐀-鿿]{2,8}(?=[，。,]|$))",
)


def strength(text: str) -> int:
    """How much of a lasting fact a clause states: 0, or 2 to 5."""
    text = _STANDS_IN.sub("the device ", text)
    score = 3 * corrects(text)
    score += 2 * bool(_OURS.search(text)) + 2 * bool(_DECIDES.search(text)) + 2 * bool(_EXPLAINS.search(text))
    score += 2 * bool(_CHANGES.search(text)) + 2 * bool(_FACT_ZH.search(text))
    score += 2 * (states(text) or _relates(text) or bool(_HABIT.search(text)))
    return min(score, 5) if size(text) >= 3 else 0


def _relates(text: str) -> bool:
    match = _RELATES.search(text)
    return match is not None and not (match["what"] and ABSTRACT.search(match["what"]))


def corrects(text: str) -> bool:
    """True if it says what is so and what is not."""
    return bool(_CORRECTS.search(text))


def denied(text: str) -> set[str]:
    """The values that a correction says are wrong."""
    if not corrects(text):
        return set()
    return {(match["en"] or match["zh"]).casefold() for match in _DENIED.finditer(text)}


def landed(text: str) -> bool:
    """True if it tells how something that was tried was taken."""
    return bool(_LANDED.search(text))
