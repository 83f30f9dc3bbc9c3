"""Words that any service has: they tell nothing of the one who is served, whoever says them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..governance.lexicon import GLUE
from ..governance.wording import CJK, STOP, is_negation, normal
from ..sameness.synonyms import base

_WORDS = """
able about above accept access account across action active actual add additional adjust adult advance agent agree
agreement allow along alternative amend among amount annual answer app appear apply approve area around arrange arrive
article assist attempt auto available average back bag baggage balance bank base basic basis begin behind beside best
between beyond big bill billing block board boarding book booking both box branch brand break bring broken business
buy buyer cabin calendar call cancel card carrier carry cart case cash catalog category cause center central
certificate chance change channel charge cheap check checkout choice choose circumstance claim class clear client
close code coin collect color combine come common company compare compensation complaint complete condition confirm
connect contact content continue contract copy correct cost count counter country coupon course cover coverage create
credit currency current custom customer daily damage data date day deadline deal debit decline default defect delay
delete deliver delivery depart departure depend deposit desk destination detail device difference different digit
digital direct discount dispatch dispute document domestic double down download due duplicate duration during duty
early economy effect electronic eligible else email end enough enter entry equal error even event ever every exceed
except exchange exclude existing expire expiry explain express extend extension extra fail failure far fare fast
feature fee few field file fill final find fine first fix fixed flat flexible flight follow form format free frequent
front full function further future gate general get gift give gold good goods ground group guarantee guest guide half
hand handle handover help here high history hold holder holiday hotel hour however human identical identify identity
immediate include income inform information initial instant instead insurance insure international internet into
invalid invoice issue item itinerary join keep kind label last late later least leave leg length less letter level
license limit line link list listed little local locate location lock log login long look lose loss lost low luggage
lunch mail main maintain make manage manager mandatory manual many match maximum meal mean measure member membership
menu merchant message method minimum minute miss missing mistake mobile mode model modify money month monthly more
most move much multiple must name near need new next night normal note notice notify number object off offer office
old once one online only onto open opened operate option order origin original other otherwise out outbound over
oversized own owner pack package page paid paper parcel part partial partner party pass passenger password past pause
pay payer payment penalty pending per percent period permit person personal phone photo pick pickup place plan plane
platform please point policy portal possible post postpone premium present previous price print prior priority problem
procedure proceed process product profile program proof provide provider public purchase purpose quantity question
quick quote rate reach reactivate read ready real reason rebook receipt receive recent record redeem reduce refer
reference refund refuse register regular reject related release remain remaining remove renew renewal rent rental
repair repeat replace replacement reply report request require reschedule reservation reserve reset resolve respond
response restart restore restrict result return review right room round route rule safe sale same save schedule seal
sealed seat second section secure see segment select sell seller send separate serial serve service session set
setting several ship shipment shipping shop short show sign silver simple single site size slot small sort source
special specific speed split splitting staff stage standard start state statement status stay step stock stop storage
store street submit subscribe subscription subtotal successful sum supervisor supplier supply support surcharge system
take tariff tax team technical temporary term test there through ticket tier time title today total toward track
tracking trade transaction transfer transferable transport travel trial trip try turn type unable undamaged under unit
unopened until unused up update upgrade upload use user usual valid validity value variant verify version visit
voucher wait waive waiver wallet warehouse warranty way web website week weekday weekend weekly weight whole window
wire withdraw work working wrong year yearly zip zone
"""
_ZH = """
订单 预订 预定 航班 机票 票 出票 改签 退票 退款 退货 换货 退 换 改 取消 修改 更改 变更 延期 续费 续订 暂停
恢复 支付 付款 付 费用 手续费 运费 价格 价 金额 余额 优惠 优惠券 折扣 积分 会员 等级 账户 账号 用户 客户 买家
卖家 商家 商品 产品 货 套餐 服务 客服 人工 转接 门店 店 门票 房间 房 酒店 座位 舱 经济舱 商务舱 头等舱 基础
普通 标准 高级 行李 托运 登机 起飞 到达 旅客 乘客 保险 保修 快递 包裹 物流 发货 收货 签收 送货 配送 地址 仓库
库存 购买 下单 未拆封 拆封 包装 损坏 破损 丢失 遗失 补办 补 课程 课 预约 时间 日期 小时 分钟 天 日 周 月 年
工作日 节假日 以内 以上 以下 之前 之后 前 后 一次 两次 次 每 每门 每张 每人 每笔 单 规定 规则 政策 条款 条件
限制 允许 可以 不能 不可 必须 需要 只能 最多 至少 免费 收费 承担 提供 提交 申请 审核 处理 办理 联系 电话 邮箱
证件 密码 验证码 登录 注册 信息 资料 记录 查询 搜索 结果 状态 格式 错误 失败 成功 系统 网络 线路 设备 重启 提前
办 可 元 钱 卡 礼品卡 信用卡 银行 发票 合同 押金 租 租金 租客 客人 人 给 早 晚 月底 周末 人员
"""

SERVICE = frozenset(base(word) for word in (*_WORDS.split(), *GLUE, *STOP))
"""By the names of their classes (see `sameness.synonyms`)."""
_SERVICE_ZH = sorted(set(_ZH.split()), key=len, reverse=True)
_FUNCTION_ZH = frozenset(
    "的了是在我你您他她它们不能可以要会有和就也这那个一很都还把被让给到去来请吗呢吧啊为因所以但而或且及与没想帮看下"
)
_WORD = re.compile(rf"(?P<zh>[{CJK}]+)|(?P<word>[^\W\d_{CJK}]+(?:['-][^\W\d_{CJK}]+)*)")
_COVERED = re.compile("|".join(map(re.escape, _SERVICE_ZH)))


def telling(text: str) -> frozenset[str]:
    """The words of a text that no service has of its own: English by their class, Chinese as pairs of characters."""
    return frozenset(_telling(normal(text)))


def plain(word: str) -> str:
    """A word as `telling` gives it."""
    return base(word.casefold().split("'")[0])


def _telling(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        if run := found["zh"]:
            for part in _COVERED.sub(" ", run).split():
                yield from _pairs(part)
        else:
            for word in found["word"].casefold().split("-"):
                name = plain(word)
                if len(name) > 1 and name not in SERVICE and not is_negation(word):
                    yield name


def _pairs(run: str) -> Iterator[str]:
    for start in range(len(run) - 1):
        pair = run[start : start + 2]
        if not set(pair) & _FUNCTION_ZH:
            yield pair
