"""Words that say the same in any trade: classes of synonyms, words that frame a statement, words that turn it.

A word of a class stands for every other of its line. Kinds that contrast, such as return and exchange, are never in
one class.
"""

from __future__ import annotations

from functools import lru_cache

from ..governance.lexicon import IRREGULAR
from ..governance.wording import stem

_SAME = """
modify modification change alter alteration amend amendment edit adjust adjustment update revise revision changeable
cancel cancellation canceling
reservation booking ticket
book reserve
buy purchase
pay payment
refund reimburse reimbursement refundable
delete deletion remove removal erase
create creation generate generation
begin start
finish complete completion
need require requirement necessary
show display
tell inform notify notification
reply respond response answer
use utilize utilise usage
check verify verification validate validation
give provide offer supply
get receive obtain
big large
small little
quick quickly fast rapid rapidly
quickest fastest
cheap inexpensive
expensive costly
bug defect issue problem
picture image photo
document documentation doc
repo repository
config configuration setting
directory folder dir
database db
environment env
production prod
application app
parameter param
argument arg
dependency dep
administrator admin
identifier id
email mail
message msg
phone telephone
short brief concise briefly
mandatory compulsory obligatory
earliest soonest
flight plane
trip journey
layover stopover
employee staff
holiday vacation
fee charge
cost price
total sum
whole entire
wrong incorrect
fix repair mend
choose select pick
search lookup
kubernetes k8s
postgres postgresql
javascript js
typescript ts
smallest lowest least
biggest largest highest
run execute execution
deploy deployment
install installation
confirm confirmation
approve approval
compensate compensation
arrive arrival
depart departure
explain explanation
translate translation
money cash
"""

_HOLDERS = """
reservation book flight trip itinerary fare
order
item product article good
parcel package shipment
bill invoice
plan subscription membership
account profile
class type kind category
"""
"""Nouns that name what somebody has from a service: as the head of a phrase, one stands for the other ("first-class
seats", "first-class tickets"), while before another noun it tells ("flight number", "ticket number")."""

_WEAK = """
do make have get give go come take put see look be proceed assist help perform process handle mean apply include
involve use write produce need like prefer want wish hope ask consider note ensure sure remember keep
just simply really actually basically currently kindly also too again still already yet even well
any all every each some such own whole
thing way case situation reason existing current ahead
always every time future on out up off down as per under since because though although while
class type kind category
however therefore thus hence otherwise unfortunately
"""
"""Words whose presence alone makes no other statement."""

_SAME_ZH = """
改 修改 更改 变更 改动 改变 编辑 更新 改签
删 删除 删掉 移除 去掉
取消 撤销
退款 退钱
订 预订 预定
用 使用 采用 运用
买 购买
查 查询 查找 检索
检查 核对 校验 验证
建 创建 新建 建立
发 发送
告诉 通知 告知
回复 答复 回答
显示 展示
提供 给出
开始 启动
结束 完成
跑 运行 执行
问题 缺陷
目录 文件夹
配置 设置
生产 生产环境 线上
图 图片 图像
快 迅速
便宜 低价
短 简短 简洁 简要 简明
客户 顾客
价格 价钱
单元测试 单测
文档 说明文档
邮件 电子邮件
机票 票
付款 支付 付钱
备份 备个份
注释 备注
部署 上线 发布
名字 名称
写 撰写 编写
最便宜 最低价
"""
_HOLDERS_ZH = """
机票 航班 订单 行程 预订
商品 产品 货品
包裹 快递
账户 账号
套餐 会员
"""
_WEAK_ZH = """
的 了 着 吧 呢 啊 呀 嘛 吗 哦 把 被 将 就 也 都 他 她 它 们 他们 这 那 这个 那个 此 该 本 个 之 一个 一下 一遍
一律 统一 全部 所有 每个 任何 均 每次 每回 总是 始终 一直 必须 务必 一定 一定要 应该 应当 需要 须 记得 记住 请
麻烦 希望 想要 想 要 最好 尽量 直接 其实 目前 现在 当前 来 去 进行 做 下 先 时 时候 的话 如果 假如 若 要是 一旦
因为 由于 所以 因此 那么 对于 关于 喜欢 偏好 放 放在 放到 存 存放 存放在 位于 在 更 中 里 是 属于 以 为 则 帮
帮我 给我 由 得 会 一些 些 并 且 并且 和 与 及 以及 跟
"""
_TURNS_ZH = {
    "NOT": "不能 不能够 不可以 不可 无法 不允许 不准 不许 不得 不支持 禁止 严禁 没法 没办法 不要 别 切勿 请勿 勿 不 "
    "没有 没 无 非 未 不会 从不 绝不 不想 不应 不应该 拒绝 避免",
    "OPTIONAL": "不必 无需 无须 不需要 不一定 用不着",
    "CAN": "可以 能够 能 可 允许 支持",
    "ONLY": "只 仅 只能 仅能 仅限 只有 只可 只允许",
    "UNLESS": "除非",
    "EXCEPT": "除了 除去",
    "BEFORE": "以前 之前 前 早于",
    "AFTER": "以后 之后 后 晚于",
    "UNTIL": "直到",
    "LEAST": "至少 最少 不少于 不低于 起码",
    "MOST": "最多 至多 不超过 不多于 不高于 以内 之内",
    "MORE": "超过 多于 大于 高于 以上",
    "LESS": "少于 小于 低于 不到 不足 以下",
    "INSTEAD": "而不是 而非 代替 替代 取代 不是",
    "THEN": "然后 再 接着 随后",
    "MAYBE": "可能 也许 大概 或许",
    "SOMETIMES": "有时 偶尔",
}
_WHOLE_ZH = """
前端 前面 前台 前缀 前提 前景 前后 前往 目前 提前 后端 后台 后面 后续 后缀 后果 最后 后来 能力 功能 性能 智能
节能 可靠 可用 可见 可视 可读 未来 不同 不过 不仅 不但 不断 不管 不论 不久 不少 不错 无论 无线 无锡 非常 特别
分别 区别 类别 级别 个别 识别 性别 别人 别的 别名 差不多 没关系 再见 再次 只要 要求 要点 重要 主要 摘要 纪要
简要 概要 先生 首先 优先 先后 现金 应用 应付 应收 一定 中文 中国 中午 里面 是否 以便 为了 因为 得到 会议 会员
会话 机会 社会 去年 做法 做好 来源 未来 下午 下载 下周 下次 下个月 时间 小时 按时 及时 实时 定时 时区 本地 本月
本周 基本 版本 成本 脚本 样本 文本 个人 目的 地址 了解 就业 就近 也许 都市 首都 这里 那里 它们 之间 更加 变更
更新 更改 更换 由于 理由 自由 跟踪 跟进 和谐 参与 与会 及格 以为 以及 并行 并发 并列 合并 想法 理想 思想 将来
即将 把握 被动 无效 无穷 未知 未付 非法 非空 前天 后天 可能 允许 支持
"""
"""Chinese words that hold a character of the lists above and must be read whole."""

PHRASES = {
    "NOT": "can not|cannot|unable to|not able to|not allowed|not allowed to|not permitted|not permitted to|"
    "not possible|not possible to|impossible|impossible to|not eligible|not eligible for|not eligible to|ineligible|"
    "ineligible for|not supported|prohibited|forbidden|disallowed|banned|never|not|no|none|nobody|nothing|neither|nor|"
    "without|with no|avoid|non|do not allow|does not allow|does not permit|do not permit|must not|should not|may not|"
    "could not|refuse to|not ever|no longer",
    "OPTIONAL": "not have to|not need to|need not|not required|not necessary|no need to|no need for|not mandatory|"
    "optional",
    "CAN": "can|could|may|able to|able|allow|allowed|allowed to|permit|permitted|permitted to|possible|possible to|"
    "eligible|eligible for|eligible to|support|supported",
    "MAYBE": "might|maybe|perhaps|probably|possibly",
    "SOMETIMES": "sometimes|occasionally|rarely|seldom",
    "ONLY": "only|solely|exclusively|nothing but",
    "UNLESS": "unless",
    "EXCEPT": "except|excluding|apart from|other than|aside from|except for",
    "BEFORE": "before|prior to|ahead of|earlier than|sooner than",
    "AFTER": "after|later than|past",
    "UNTIL": "until|till",
    "WITHIN": "within",
    "DURING": "while|during",
    "LEAST": "at least|no less than|not less than|no fewer than|a minimum of|minimum of|or more",
    "MOST": "at most|no more than|not more than|up to|a maximum of|maximum of|or less|or fewer|not exceed|"
    "not exceeding",
    "MORE": "more than|above|greater than|exceeding|exceeds|exceed|in excess of|over",
    "LESS": "less than|below|under|fewer than|shorter than",
    "INSTEAD": "instead of|rather than|in place of|in lieu of",
    "THAN": "than",
    "THEN": "then|afterwards|followed by",
    "IF": "if|when|whenever|in case|in case of|once|as long as|provided|provided that|where",
    "": "i would like to|i would like|would like to|would like you to|i want to|i want you to|want you to|i want|"
    "i would prefer to|i prefer to|i prefer|i need you to|make sure|make sure to|make sure that|be sure to|"
    "remember to|remember that|note that|please note that|it is important to|let us|i am looking for|it seems like|"
    "it seems that|under the current policy|under current policy|according to the policy|according to our policy|"
    "the policy states that|the policy is that|our policy states that|in the future|from now on|going forward|"
    "every time|each time|at all times|in general|as a rule|right now|at the moment|which means|this means|"
    "that means|have to|has to|had to|need to|needs to|ought to|must|should|shall|will|would|is going to|instead|"
    "rather|please|kindly|in order to|so as to|if possible",
}
"""Phrases that turn a statement, by what they turn it into; those under "" only frame it."""

MARKS = frozenset("from to into onto by with of for in on at via against through about between toward towards".split())


def _classes(lines: str) -> dict[str, str]:
    return {word: line.split()[0] for line in lines.strip().splitlines() for word in line.split()}


_CLASS = _classes(_SAME)
_CLASS.update({stem(word): name for word, name in list(_CLASS.items()) if stem(word) not in _CLASS})
_HOLDER = {base: line.split()[0] for line in _HOLDERS.strip().splitlines() for base in line.split()}
_SPOKEN = "two three four five six seven eight nine ten eleven twelve".split()
_CLASS.update({word: str(number) for number, word in enumerate(_SPOKEN, 2)})
_SUFFIXES = (("ility", ""), ("tion", "t"), ("ment", ""), ("able", ""), ("ible", ""), ("ness", ""))

ZH: dict[str, tuple[str, str]] = {}
"""A Chinese word to what it is: ("word", name of its class), ("weak", ""), or ("turn", what it turns into)."""
for _word in _WHOLE_ZH.split():
    ZH[_word] = ("word", _word)
for _turn, _words in _TURNS_ZH.items():
    ZH.update(dict.fromkeys(_words.split(), ("turn", _turn)))
ZH.update(dict.fromkeys(_WEAK_ZH.split(), ("weak", "")))
ZH.update(dict.fromkeys("我 我们 咱们".split(), ("word", "i")))
ZH.update(dict.fromkeys("你 您 你们".split(), ("word", "you")))
ZH.update({_word: ("word", _word) for _word in _HOLDERS_ZH.split()})
ZH.update({_word: ("word", _name) for _word, _name in _classes(_SAME_ZH).items()})
_HOLDER.update(_classes(_HOLDERS_ZH))
LONGEST_ZH = max(map(len, ZH))


@lru_cache(maxsize=1 << 14)
def base(word: str) -> str:
    """The name of the class that a lower-case word is in, else its stem."""
    word = IRREGULAR.get(word, word)
    if word in _CLASS:
        return _CLASS[word]
    short = stem(word)
    if len(short) > 4 and short[-1] == short[-2]:
        short = short[:-1]
    if short in _CLASS:
        return _CLASS[short]
    for ending, rest in _SUFFIXES:
        if short.endswith(ending) and len(short) - len(ending) >= 4:
            short = short[: -len(ending)] + rest
            break
    return _CLASS.get(short, short)


_WEAK_STEMS = frozenset(
    form for word in _WEAK.split() for form in (word, stem(word), base(word), base(f"{word}ed"))
) | frozenset("写用")


def holder(name: str) -> str:
    """The kind of holder that a word is by the name of its class, or an empty text."""
    return _HOLDER.get(name, "")


def is_weak(name: str) -> bool:
    """True for the name of a word that by itself makes no other statement."""
    return name in _WEAK_STEMS
