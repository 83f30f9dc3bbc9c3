"""Words that decide what a sentence claims, English and Chinese: how strong, how sure, on which condition, when, who.

Every table is general language; none knows what a transcript is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .wording import kept, stem

GUARDS: dict[str, tuple[str, str]] = {
    "always": (
        "always|every time|each time|at all times|from now on|going forward|in (?:the )?future|forever|in every case",
        "总是|一直|每次|每当|永远|始终|以后(?!的)|今后|从现在起|从来",
    ),
    "all": (
        "all|every|everything|everyone|everybody|each|whole|entire|entirely|completely",
        "每个|每一|所有|全部|一律|任何|统一|一概",
    ),
    "most": (
        "usually|generally|normally|typically|mostly|mainly|often|frequently|most of|most (?=\\w+s\\b)|in general|"
        "tends? to|by default|commonly|largely|as often as not",
        "通常|一般|大多数?|大部分|往往|经常|常常|多数|默认",
    ),
    "some": (
        "sometimes|occasionally|some(?= (?:of|\\w+s)\\b)(?! (?:reasons?|ways?|cases?))|partly|partially|at times|"
        "in (?:some|certain|rare) cases|now and then|intermittently|from time to time",
        "有时候?|偶尔|有些|部分|个别|某些|时不时",
    ),
    "rare": ("rarely|seldom|hardly|barely|scarcely", "很少|极少|几乎不|难得"),
    "only": ("only|solely|exclusively|nothing but", "只有|只能|只要(?=[^就])|仅限|仅仅|仅|唯一|只"),
    "must": (
        "must|have to|has to|had to|ha(?:s|ve) got to|needs? to|required?|requires|mandatory|obligatory|shall|"
        "compulsory|"
        "necessary|insists?|demands?|demanded|forced?|obliged",
        "必须|务必|一定要|一定得|必需|强制|非得",
    ),
    "should": ("should|ought to|recommended|advisable|supposed to", "应该|应当|最好|建议|理应"),
    "can": (
        "can|could|may|able to|allowed|permitted|optional|optionally|permissible|free to",
        "可以|能够|允许|可选|准许|能(?!不)",
    ),
    "might": (
        "might|maybe|perhaps|possibly|probably|likely|seems?|seemed|appears? to|apparently|presumably|supposedly|"
        "i (?:think|guess|believe|suspect|assume)|i'm not sure|not sure|i wonder|could be|may be|may well|uncertain",
        "可能|也许|或许|大概|好像|似乎|估计|说不定|不确定|我猜|猜测|应该是|恐怕|未必",
    ),
    "unless": ("unless|except|other than|apart from|but not|otherwise", "除非|否则|除了|不然"),
    "if": (
        "if|when|whenever|in case|provided|as long as|once|while",
        "如果|假如|要是|只要|一旦|的话|倘若|若(?!干)|当(?!前|天|时|作|成)",
    ),
    "about": (
        "about(?= [$€£¥]?\\d)|around(?= [$€£¥]?\\d)|roughly|approximately|approx|nearly|almost",
        "大约|约|左右|差不多|将近",
    ),
}
"""What each guard is, as patterns of English words and of Chinese ones."""

_HARMLESS = re.compile(
    r"\b(?:that's all|not at all|at all(?! times)|after all|all right|above all|first of all|in any case|"
    r"any(?:more|way)|"
    r"of course|may (?=\d)|(?:in|on|of|by|since|until|before|after|this|next|last|early|late|mid) may\b|as soon "
    r"as|even if|if possible|what if|(?:can|could|would|will) (?:you|we|"
    r"i)\b(?=[^.?!]*\?)|"
    r"(?:can|could|would|will) you|not only|only (?:then|just)|if only|otherwise fine|needs? to be seen)\b"
    r"|差不多(?!\d)|能不能|可不可以|能否|是否|不只|不仅|约(?:定|束|会)|当前|当天|当时|仅供",
    re.IGNORECASE,
)

_EN = {name: re.compile(rf"(?<![\w-])(?:{english})(?![\w-])", re.IGNORECASE) for name, (english, _) in GUARDS.items()}
_ZH = {name: re.compile(chinese) for name, (_, chinese) in GUARDS.items()}


@kept(1024)
def guards(text: str) -> tuple[tuple[str, int], ...]:
    """The guards of a text, each with where it stands."""
    return tuple(_guards(text))


def _guards(text: str) -> Iterator[tuple[str, int]]:
    masked = _HARMLESS.sub(lambda match: "~" * len(match.group()), text)
    for name, pattern in _EN.items():
        yield from ((name, match.start()) for match in pattern.finditer(masked))
    for name, pattern in _ZH.items():
        yield from ((name, match.start()) for match in pattern.finditer(masked))


BEFORE = (
    r"before|prior to|until|till|by|no later than|not later than|not after|up to|at most|at maximum|no more than|"
    r"not more than|"
    r"not exceed(?:ing)?|fewer than|less than|lower than|below|under|within|maximum(?: of)?|max(?:imum)?\.?|not "
    r"over|not above|"
    r"smaller than|shorter than|cheaper than|earlier than|older than|<=?|≤"
)
AFTER = (
    r"after|since|from|over|above|more than|greater than|higher than|at least|no less than|not less than|no "
    r"fewer than|not below|"
    r"not under|minimum(?: of)?|min\.?|beyond|exceed(?:s|ing)?|longer than|larger than|bigger than|starting(?: "
    r"at| from| on)?|"
    r"no earlier than|not earlier than|not before|later than|newer than|>=?|≥"
)
BEFORE_ZH = "不超过|不多于|不高于|不晚于|最多|至多|少于|小于|低于|不到|不足|上限|最晚|最大|不大于|不得超过"
AFTER_ZH = "至少|最少|不少于|不低于|不小于|多于|大于|高于|超过|超出|起码|下限|最早|最小|满"
BEFORE_ZH_BEHIND = "以内|之内|以下|以前|前|内"
AFTER_ZH_BEHIND = "以上|以后|后|起|开始"

SEQUENCE = {
    "before": re.compile(
        r"\b(?:before|prior to|until|till|first|ahead of|earlier)\b|以前|先|前(?=必须|要|先|请|，|,)", re.I
    ),
    "after": re.compile(
        r"\b(?:after|afterwards|once|then|when|since|following|later|because)\b|以后|再|然后|后(?!来|端|台)|"
        r"完(?=再|才)",
        re.I,
    ),
}

OPPOSITES: dict[str, frozenset[str]] = {}
"""Each word with those that say the contrary of it."""
_PAIRS = (
    "before after|above below|over under|more less|more fewer|higher lower|high low|greater less|greater smaller|"
    "larger smaller|large small|"
    "big small|longer shorter|long short|faster slower|fast slow|earlier later|early late|first last|newer older|"
    "new old|newest oldest|"
    "latest earliest|most least|best worst|better worse|increase decrease|increased decreased|raise lower|grow "
    "shrink|enable disable|"
    "enabled disabled|open close|opened closed|open closed|on off|allow deny|allow forbid|allowed forbidden|"
    "allowed denied|accept reject|"
    "accept refuse|accepts refuses|accepted rejected|pass fail|passed failed|passes fails|worked failed|works "
    "fails|work fail|succeed fail|"
    "succeeded failed|success failure|start stop|started stopped|starts stops|begin end|begins ends|add remove|"
    "added removed|"
    "include exclude|includes excludes|included excluded|install uninstall|import export|read write|push pull|"
    "upload download|"
    "public private|internal external|local remote|client server|source target|source destination|input output|"
    "sender receiver|"
    "buyer seller|parent child|like dislike|love hate|likes dislikes|prefer avoid|prefers avoids|wants avoids|"
    "cheap expensive|"
    "cheapest priciest|cheaper pricier|single multiple|optional required|optional mandatory|accepts rejects|lock "
    "unlock|locked unlocked|"
    "encrypt decrypt|horizontal vertical|ascending descending|left right|inside outside|true false|yes no|valid "
    "invalid|safe unsafe|"
    "inbound outbound|departure arrival|depart arrive|morning evening|morning afternoon|day night|upper lower|"
    "uppercase lowercase|"
    "dark light|hot cold|warm cold|wet dry|full empty|same different|with without|up down|minimum maximum|min "
    "max|synchronous asynchronous|"
    "sync async|automatic manual|automatically manually|temporary permanent|weekday weekend|weekdays weekends|"
    "buy sell|"
    "hired fired|credit debit|deposit withdrawal|win lose|won lost|gain loss|keep delete|kept deleted|create "
    "delete|created deleted|"
    "upgrade downgrade|upgraded downgraded|attach detach|connect disconnect|connected disconnected|online "
    "offline|dev prod|staging production|"
    "formal informal|online offline|odd even|positive negative|plus minus|front back|frontend backend|"
    "开启 关闭|打开 关闭|启用 禁用|启用 停用|成功 失败|增加 减少|提高 降低|升级 降级|上限 下限|最大 最小|最多 "
    "最少|更多 更少|更高 更低|更快 更慢|早 晚|"
    "上午 下午|白天 晚上|输入 输出|上传 下载|导入 导出|喜欢 讨厌|允许 禁止|同意 拒绝|接受 拒绝|深色 浅色|包含 "
    "排除|读取 写入|之前 之后|以前 以后|以上 以下|"
    "以内 以上|大于 小于|高于 低于|多于 少于|超过 低于|至少 至多|至少 最多|升序 降序|公开 私有|内部 外部|本地 "
    "远程|新增 删除|添加 删除|买入 卖出|"
    "收入 支出|前端 后端|线上 线下|必填 可选|必须 可选|手动 自动|左 右|单个 多个|工作日 周末|横向 纵向|安装 卸载|"
    "锁定 解锁|加密 解密|开始 结束|"
    "生产 测试|源 目标|正式 测试|旧 新|大 小|快 慢|长 短|高 低|多 少"
)
for _pair in _PAIRS.split("|"):
    _one, _two = _pair.split(" ")
    OPPOSITES[_one] = OPPOSITES.get(_one, frozenset()) | {_two}
    OPPOSITES[_two] = OPPOSITES.get(_two, frozenset()) | {_one}

_SAME = (
    "want like prefer love wish rather favor favour desire happy willing insist would|need require|"
    "use employ utilize with run execute launch call invoke|show display print see view report output return "
    "give reveal|"
    "fail break crash error refuse reject deny|work succeed pass ok success successful|fix repair solve resolve "
    "correct|"
    "change modify edit alter update adjust|remove delete drop erase|add insert append include|make create build "
    "produce generate|"
    "send mail deliver email|ask request tell say state mention report explain|live stand sit lie reside be "
    "locate find|"
    "short concise brief|begin start|end finish close stop|keep leave stay remain|check verify review inspect|"
    "repo repository project codebase|app application program|config configuration setting|directory folder|doc "
    "document documentation docs|"
    "host machine server|db database|env environment|cert certificate|message msg|param parameter argument|lib "
    "library|dependency package|"
    "flight fly depart departure|buy purchase|pay payment|cost price|trip journey travel|customer client|"
    "personally myself himself herself themselves self|alone untouched|answer reply response respond|meet meeting|"
    "move migrate transfer|look search find|allow permit|must have|rest remainder remaining|go|prod production|"
    "admin administrator|auth authentication|info information|temp temporary|spec specification|perf performance|"
    "pr prs"
)
_WORDS_ZH = (
    "喜欢 希望 想要 想用 偏好 倾向 想 要求 要 愿意|用 使用 采用 统一用|需要 须 需|不要 别 勿 不想 不用 不准 不得|"
    "报错 失败 出错|显示 输出 返回|"
    "修改 改动 更改 改 变更|删除 删 去掉|添加 加上 增加 加 新增|成功 可行 通过|存放 位于 在 地址|运行 执行 跑|"
    "发出 发送 发|必须 务必"
)

GLUE = frozenset(
    "user customer person agent assistant team project repository repo code codebase file command tool call "
    "request task issue "
    "value name thing way case time work run use need want prefer like ask say show fail error succeed get set "
    "make be have do "
    "go put take give tell know call see look find keep let rule service system it one two first then at end finally "
    "initially instead because so since due reason result return report happen occur cause lead still already "
    "also again "
    "another other own new now only always never usually after before when if until once while during between within "
    "via through by per using used with without worked works refused accepted wants wanted asked said called named "
    "located live found set place currently memory note important specific particular particularly explicitly "
    "help indentation argument option parameter flag setting list become became appear contain hold include "
    "provide match equal "
    "remain turn pass exit lie come port server host service engineer owner env variable branch page table "
    "column field key "
    "button link account office number version release database endpoint url meeting phone test suite script "
    "function method "
    "class module package path folder directory line log output input text word item entry record document id "
    "status state "
    "step part kind sort list group process procedure solution fix cause problem error warning avoid refuse "
    "reject accept "
    "change fix add remove delete create build send start end keep move pay cost "
    "message session conversation run switch turn come message answer reply follow mean require expect respond "
    "handle".split()
)
"""Plain English words that a wording may bring along: they name nothing that could be wrong."""
GLUE_ZH = (
    "用户|客户|对方|助手|团队|项目|仓库|代码|文件|命令|工具|调用|请求|任务|问题|情况|时候|时|显示|失败|成功|报错|"
    "出错|运行|执行|需要|要求|希望|喜欢|偏好|想要|想|"
    "愿意|使用|采用|可以|然后|最后|最终|开始|起初|因为|所以|因此|由于|改为|改用|加上|添加|以后|今后|统一|默认|"
    "目前|现在|其中|进行|通过|关于|对于|"
    "位于|存放|地址|方式|方法|结果|原因|返回|输出|应|须|会|将|被|把|让|使|给|向|对|从|到|在|于|和|与|及|或|并|且|"
    "而|但|但是|则|就|才|都|也|还|又|再|"
    "的|地|得|了|着|过|吗|呢|吧|啊|呀|这|那|此|其|该|个|些|种|次|条|是|为|有|请|要|用|我们|我|你们|你|您|他|她|"
    "它|他们|自己|本人|记住|记得|注意|上|里|中|内|"
    "比较|非常|很|更|最|太|即可|就行|就好|如下|以及|等|说|表示|提到|指出|每|能|可|所|时间|用于|负责"
)
"""The same in Chinese, longest first where it matters."""

CANONICAL: dict[str, str] = {}
"""Words that a wording may put for one another, and their stems, each with the stem that stands for all of them."""
for _group in _SAME.split("|"):
    for _word in _group.split():
        CANONICAL.setdefault(_word, stem(_group.split()[0]))
        CANONICAL.setdefault(stem(_word), stem(_group.split()[0]))
CANONICAL_ZH: dict[str, str] = {}
for _group in _WORDS_ZH.split("|"):
    for _word in _group.split():
        CANONICAL_ZH.setdefault(_word, _group.split()[0])

IRREGULAR = {
    past: base
    for base, pasts in (
        pair.split(":")
        for pair in (
            "write:wrote,written|run:ran|send:sent|build:built|make:made|take:took,taken|give:gave,given|"
            "go:went,gone|"
            "get:got,gotten|find:found|keep:kept|leave:left|buy:bought|bring:brought|think:thought|tell:told|"
            "say:said|"
            "break:broke,broken|choose:chose,chosen|begin:began,begun|fly:flew,flown,flies|pay:paid|sell:sold|"
            "meet:met|lose:lost|"
            "show:shown|see:saw,seen|drive:drove,driven|speak:spoke,spoken|know:knew,known|hold:held|"
            "fall:fell,fallen|"
            "teach:taught|catch:caught|eat:ate,eaten|drink:drank,drunk|do:did,done|be:been|forget:forgot,forgotten|"
            "freeze:froze,frozen|grow:grew,grown|throw:threw,thrown|wear:wore,worn|rise:rose,risen|lead:led|"
            "child:children|person:people|man:men|woman:women|foot:feet"
        ).split("|")
    )
    for past in pasts.split(",")
}
"""Forms that no ending tells, with their base."""


def lemma(word: str) -> str:
    """The stem of a lower-case word, of its base where no ending tells its form."""
    return stem(IRREGULAR.get(word, word))


MONTHS = "january february march april may june july august september october november december".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
