"""What the offline model makes of what people and agents say, in English and Chinese."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sandbox_memory.governance.speech.stated import speaker, subject_of
from sandbox_memory.models.offline.sentences import sentences, title
from sandbox_memory.models.offline.speech import told
from sandbox_memory.records import Trust
from sandbox_memory.rollouts import is_document

from .offline_kit import extracted, said_by_user, texts
from .rollouts_kit import DEFAULT, talk

MANY = replace(DEFAULT, preset=replace(DEFAULT.preset, audience="many"))


# A message, and what of it is kept: the kind ("*" where either will do) and the words; None for nothing.
ENGLISH = [
    (
        "Heads up: the backup job runs every night at 02:00 UTC.",
        ("fact", "the backup job runs every night at 02:00 UTC"),
    ),
    (
        "Could you please always page me before you fail over a database?",
        ("preference", "always page me before you fail over a database"),
    ),
    ("Never run terraform apply on Fridays.", ("preference", "Never run terraform apply on Fridays")),
    ("The owner of the billing queue is Marta.", ("fact", "The owner of the billing queue is Marta")),
    ("redis-7 runs on node-12.", ("fact", "redis-7 runs on node-12")),
    ("The staging cluster was renamed to stg-west.", ("fact", "The staging cluster was renamed to stg-west")),
    ("The server is down right now.", None),
    ("Restart the worker, please.", None),
    ("I'll look into it tomorrow.", None),
    ("It failed because the token had expired.", None),
    (
        "The deploy failed because the registry token had expired.",
        ("fact", "The deploy failed because the registry token had expired"),
    ),
    ("Maybe the cache is stale.", None),
    ("I think the port is 9000.", None),
    ("Wrong, logs go to /var/log/app, not /var/log/nginx.", ("fact", "logs go to /var/log/app, not /var/log/nginx")),
    (
        "We decided to use Postgres instead of MySQL because of the licence.",
        ("fact", "We decided to use Postgres instead of MySQL because of the licence"),
    ),
    (
        "Secrets must never be committed, not even to a private repo.",
        ("*", "Secrets must never be committed, not even to a private repo"),
    ),
    ("Round all percentages to one decimal.", ("preference", "Round all percentages to one decimal")),
    (
        "By active user we mean someone who logged in within 30 days.",
        ("fact", "By active user we mean someone who logged in within 30 days"),
    ),
    ("Revenue excludes shipping and VAT.", ("fact", "Revenue excludes shipping and VAT")),
    ("Please plot the chart for last week.", None),
    (
        "The orders table has one row per item, not per order.",
        ("fact", "The orders table has one row per item, not per order"),
    ),
    ("Just for this report, use euros.", None),
    ("Can you check whether the totals match?", None),
    ("When you write SQL, put keywords in capitals.", ("preference", "When you write SQL, put keywords in capitals")),
    ("Our fiscal year starts in February.", ("fact", "Our fiscal year starts in February")),
    ("The buyer at Orbit wants quotes in euros only.", ("fact", "The buyer at Orbit wants quotes in euros only")),
    ("Thanks, and from now on copy Lena on every quote.", ("preference", "copy Lena on every quote")),
    ("Discounts above 20% need approval from finance.", ("fact", "Discounts above 20% need approval from finance")),
    ("My budget is $4,000 for the whole event.", ("preference", "My budget is $4,000 for the whole event")),
    ("Book me a table for four tonight at 7.", None),
    ("The total comes to $1,240.", None),
    ("All contracts have to be governed by Irish law.", ("*", "All contracts have to be governed by Irish law")),
    ("We never accept unlimited liability.", ("preference", "We never accept unlimited liability")),
    ("Our outside counsel is Brandt & Partners.", ("fact", "Our outside counsel is Brandt & Partners")),
    ("Draft an NDA for the meeting on Monday.", None),
    (
        "If the counterparty asks for exclusivity, check with Ruth first.",
        ("preference", "If the counterparty asks for exclusivity, check with Ruth first"),
    ),
    ("I'm allergic to penicillin.", ("*", "I'm allergic to penicillin")),
    ("I take metformin twice a day.", ("*", "I take metformin twice a day")),
    ("I have asthma, so I can't run outdoors in winter.", ("*", "I have asthma, so I can't run outdoors in winter")),
    ("My son has a nut allergy.", ("fact", "My son has a nut allergy")),
    ("I was born on 3 May 1980.", None),
    ("I have a headache today.", None),
    ("Please don't suggest anything with gluten.", ("preference", "don't suggest anything with gluten")),
    ("The recycling is collected every second Tuesday.", ("fact", "The recycling is collected every second Tuesday")),
    ("We don't eat pork.", ("preference", "We don't eat pork")),
    ("Our landlord is Mr. Okafor.", ("fact", "Our landlord is Mr. Okafor")),
    ("I'd like to order a pizza.", None),
    ("I live at 12 Oak Street.", None),
    ("We live in Lyon and have two dogs.", ("fact", "We live in Lyon and have two dogs")),
    ("Keep the thermostat below 20 degrees at night.", ("preference", "Keep the thermostat below 20 degrees at night")),
    ("Add milk to the shopping list.", None),
    ("Off the record, my boss hates the plan.", None),
    ("Don't worry about it.", None),
    ("I want the red one.", None),
    ("I'd rather pay by invoice.", ("preference", "I'd rather pay by invoice")),
    ("I'm fine with up to two meetings per week.", ("preference", "I'm fine with up to two meetings per week")),
    ("No worries, take your time!", None),
    (
        "We moved the wiki to Notion. It lives at notion.so/acme.",
        ("*", "We moved the wiki to Notion. It lives at notion.so/acme"),
    ),
    ("Always use my Visa card, but this time take the Amex.", ("preference", "Always use my Visa card")),
    (
        "Please book the 9:40 train on May 20 for $30, and always pick a window seat.",
        ("preference", "always pick a window seat"),
    ),
    ("My reservation number is QX12ZP.", None),
    ("The fare is $310.", None),
    ("Yes.", None),
    ("Sounds good, go ahead and merge it.", None),
    (
        "Going forward, tag every ticket with the customer's name.",
        ("preference", "tag every ticket with the customer's name"),
    ),
    (
        "Remember to invoice Halden on the first of each month.",
        ("preference", "invoice Halden on the first of each month"),
    ),
    ("Why does the report always show zeros?", None),
    ("The report must not be longer than two pages.", ("*", "The report must not be longer than two pages")),
    ("I hate pop-ups.", ("preference", "I hate pop-ups")),
    (
        "Vegetarian options are a must, three of the directors don't eat meat.",
        ("fact", "Vegetarian options are a must, three of the directors don't eat meat"),
    ),
    ("Sorry, my mistake: the room is B12, not B21.", ("fact", "the room is B12, not B21")),
    (
        "For lab reports, we use SI units and three significant figures.",
        ("preference", "For lab reports, we use SI units and three significant figures"),
    ),
    (
        "We stopped using supplier Kern because two batches failed.",
        ("fact", "We stopped using supplier Kern because two batches failed"),
    ),
    (
        "Don't ever email raw patient data, use the portal.",
        ("preference", "Don't ever email raw patient data, use the portal"),
    ),
    (
        'Whenever I say "the usual", I mean oatmeal with berries.',
        ("preference", 'Whenever I say "the usual", I mean oatmeal with berries'),
    ),
    (
        "Tip for next time: the export button is under Tools, not under File.",
        ("fact", "the export button is under Tools, not under File"),
    ),
    ("From next month our office is in Ghent.", ("fact", "From next month our office is in Ghent")),
    ("She loved the migration story.", ("episode", "She loved the migration story")),
    ("Call clients by their last name.", ("preference", "Call clients by their last name")),
    ("One figure per slide, no more.", ("preference", "One figure per slide, no more")),
    ("Metric units only, please.", ("preference", "Metric units only")),
    ("Invoices are due in 14 days, not 30.", ("fact", "Invoices are due in 14 days, not 30")),
    ("After an upgrade you have to rebuild the index.", ("*", "After an upgrade you have to rebuild the index")),
    ("The build on node 7 hangs.", None),
    ("User blue can't log in.", None),
    ("Monthly summary please.", None),
    ("The whiteboard is only for this sprint.", None),
    ("As I said, reports go to Lena.", None),
    ("The whitepaper got us nowhere.", ("episode", "The whitepaper got us nowhere")),
    ("What landed was the short demo.", ("episode", "What landed was the short demo")),
    ("Great work, thanks a lot!", None),
    ("Yes, Tuesday works for me.", None),
    ("The password is hunter2.", None),
    ("My internet has been down since yesterday.", None),
    ("Run the assay again with 5 µl.", None),
]
CHINESE = [
    ("以后部署前先跑一遍测试。", ("preference", "以后部署前先跑一遍测试")),
    ("请记住，生产环境的负责人是王敏。", ("fact", "生产环境的负责人是王敏")),
    ("不对，仓库地址是 git.int/app，不是 git.int/web。", ("fact", "仓库地址是 git.int/app，不是 git.int/web")),
    ("我对青霉素过敏。", ("*", "我对青霉素过敏")),
    ("我习惯早上开会，下午写代码。", ("preference", "我习惯早上开会，下午写代码")),
    ("报价单一律用人民币，含税。", ("preference", "报价单一律用人民币，含税")),
    ("超过五万的合同要先给法务审。", ("*", "超过五万的合同要先给法务审")),
    ("帮我订一张明天去上海的票。", None),
    ("我想改签到下午那班。", None),
    ("好的，谢谢，辛苦了！", None),
    ("可能是网络的问题吧。", None),
    ("这次先不加日志。", None),
    ("数据库在 db-03 上，由运维组维护。", ("fact", "数据库在 db-03 上，由运维组维护")),
    ("客户张总只接受电话沟通，不要发邮件。", ("*", "客户张总只接受电话沟通，不要发邮件")),
    ("我们团队周五不发版。", ("*", "我们团队周五不发版")),
    ("回复尽量简短，不要超过三句话。", ("preference", "回复尽量简短，不要超过三句话")),
    ("余额是 320 元。", None),
    ("我的生日是5月3号。", None),
    ("我住在杭州，平时远程办公。", ("*", "我住在杭州，平时远程办公")),
    ("预算不超过三千元。", ("preference", "预算不超过三千元")),
    ("如果要删表，先问我一声。", ("preference", "如果要删表，先问我一声")),
    ("你能帮我看看这个报错吗？", None),
    ("稍等，我去查一下。", None),
    ("测试环境已经迁到阿里云了。", ("fact", "测试环境已经迁到阿里云了")),
    ("别再用 Excel 发周报了，统一发到飞书文档。", ("preference", "别再用 Excel 发周报了，统一发到飞书文档")),
    ("我们决定用 Kafka，因为要保留消息。", ("fact", "我们决定用 Kafka，因为要保留消息")),
    ("今天服务器挂了。", None),
    ("千万不要直接改线上配置！", ("preference", "千万不要直接改线上配置")),
    ("孩子对花生过敏，菜里别放。", ("*", "孩子对花生过敏，菜里别放")),
    ("老师说下次再讲。", None),
    ("我不吃香菜。", ("preference", "我不吃香菜")),
    ("给李医生发个消息。", None),
    ("合同里的付款期限默认是 30 天。", ("*", "合同里的付款期限默认是 30 天")),
    ("另外,以后图表标题都用中文,字号14。", ("preference", "以后图表标题都用中文,字号14")),
    ("我喜欢靠窗的座位，最好是前排。", ("preference", "我喜欢靠窗的座位，最好是前排")),
    ("订单号是 A20391。", None),
    ("这个项目的代码规范是 PEP8，行宽 100。", ("fact", "这个项目的代码规范是 PEP8，行宽 100")),
    ("接口超时是因为连接池太小导致的。", ("fact", "接口超时是因为连接池太小导致的")),
    ("请把这份文件翻译成英文。", None),
    ("嗯，就这样吧。", None),
    ("以后再说。", None),
    ("用中文回答我。", ("preference", "用中文回答我")),
    ("我们的活跃用户口径是 7 天内登录过的用户。", ("fact", "我们的活跃用户口径是 7 天内登录过的用户")),
    ("华东区的负责人换成李娜了，以后周报抄送她。", ("fact", "华东区的负责人换成李娜了，以后周报抄送她")),
    (
        "报销超过两千要部门经理签字，五千以上还要财务总监签。",
        ("*", "报销超过两千要部门经理签字，五千以上还要财务总监签"),
    ),
    ("孙总喜欢先看结论，细节放附录。", ("fact", "孙总喜欢先看结论，细节放附录")),
    ("端口改成 9443 了，8443 不再用。", ("fact", "端口改成 9443 了，8443 不再用")),
    ("奶奶有糖尿病，做菜少放糖。", ("*", "奶奶有糖尿病，做菜少放糖")),
    ("除非我明确说可以，否则不要动生产库。", ("preference", "除非我明确说可以，否则不要动生产库")),
    ("帮我查一下昨天的日志，以后都查 log_lake，旧库停用了。", ("fact", "都查 log_lake，旧库停用了")),
    ("不好意思，刚才说错了，预算是八千，不是五千。", ("fact", "预算是八千，不是五千")),
    ("上次的方案没打动他们，演示太长了。", ("episode", "上次的方案没打动他们，演示太长了")),
    ("我们的考核周期从六月开始。", ("fact", "我们的考核周期从六月开始")),
    ("金额四舍五入到整数，领导不看小数。", ("preference", "金额四舍五入到整数，领导不看小数")),
    ("客户的手机号要打码。", ("preference", "客户的手机号要打码")),
    ("以前的模板不能再写了。", None),
    ("提醒我明天交水费。", None),
    ("我觉得应该是权限的问题。", None),
    ("这次用英文写吧，不要用中文。", None),
]


@pytest.mark.parametrize(("message", "kept"), [*ENGLISH, *CHINESE])
def test_of_a_message_what_outlasts_the_run_is_kept_in_its_words(message: str, kept: tuple[str, str] | None) -> None:
    raw = extracted(talk(("user", message)))
    found = [(candidate.kind.value, candidate.text) for candidate in raw.candidates]
    if kept is None:
        assert found == []
    else:
        assert [text for _, text in found] == [kept[1]]
        assert kept[0] in ("*", found[0][0])
        assert all(candidate.trust is Trust.USER for candidate in raw.candidates)


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("I prefer tabs over spaces.", "I prefer tabs over spaces"),
        ("Sounds fine, but I never want force pushes.", "I never want force pushes"),
        ("Please always run the linter before you commit.", "always run the linter before you commit"),
        ("Don't touch the lock file.", "Don't touch the lock file"),
        ("No, the port is 8443, not 8080.", "the port is 8443, not 8080"),
        ("Remember that on-call for payments is Priya.", "on-call for payments is Priya"),
        ("None of these work, as I don't want to leave before 11 AM.", "I don't want to leave before 11 AM"),
        (
            "If it takes more than 5 minutes, I'd prefer a summary.",
            "If it takes more than 5 minutes, I'd prefer a summary",
        ),
        ("I'd like to use my vouchers first, then the card.", "I'd like to use my vouchers first, then the card"),
        ("From now on, answer in German.", "answer in German"),
        ("Use pnpm instead of npm.", "Use pnpm instead of npm"),
        ("We deploy on Tuesdays only.", "We deploy on Tuesdays only"),
        ("I'm allergic to peanuts.", "I'm allergic to peanuts"),
        ("The dashboard lives at grafana.internal/d/7.", "The dashboard lives at grafana.internal/d/7"),
        ("Acme prefers calls on Thursday mornings.", "Acme prefers calls on Thursday mornings"),
        ("以后报表里的金额都用万元，不要用元。", "以后报表里的金额都用万元，不要用元"),
        ("不对，端口是 8443，不是 8080。", "端口是 8443，不是 8080"),
        ("我比较喜欢简短的结论。", "我比较喜欢简短的结论"),
        ("图表请不要用红色。", "图表请不要用红色"),
        ("请记住：生产库只能读。", "生产库只能读"),
    ],
)
def test_what_a_person_wants_or_corrects_is_kept_in_their_words(message: str, kept: str) -> None:
    said = talk(("user", "Let us begin with the report."), ("user", message))
    raw = extracted(said)
    assert kept in [candidate.text for candidate in raw.candidates]
    assert all(candidate.trust is Trust.USER for candidate in raw.candidates)


@pytest.mark.parametrize(
    "message",
    [
        "Hi there!",
        "Thanks, that's all.",
        "Yes, please go ahead.",
        "Yes, please proceed with option 2.",
        "I'd like to book a table for tonight.",
        "I want to change my flight to May 24th.",
        "I'll go with the first option.",
        "Let's use port 9000 for this test.",
        "I'd like the cheapest one this time.",
        "Can you always do that?",
        "Could you use the other file instead?",
        "I don't have the ID with me right now.",
        "I don't remember the name.",
        "My birthday is 1990-04-05 and I never forget it.",
        "I only read mail at dana@example.com.",
        "I must have left it somewhere.",
        "I think it might be the first one.",
        "好的，谢谢！",
        "这次先用 PNG 吧，不要用 SVG。",
        "你能不能每次都这样做吗？",
        "我的身份证号一定要保密。",
    ],
)
def test_what_is_said_for_now_is_not_kept(message: str) -> None:
    assert said_by_user("Draft a report.", message) == []


def test_a_pasted_document_is_not_taken_for_wishes() -> None:
    rules = "\n".join(
        f"{n}. You must always follow rule {n}. Never skip it. Remember that rule {n} is law." for n in range(40)
    )
    assert said_by_user(f"Solve this:\n{rules}") == []
    assert said_by_user("Look at this:\n```\n# I always prefer eval\nnever = 1\n```\nThanks!") == []
    assert said_by_user(f"I prefer short answers.\n\n{rules}") == ["I prefer short answers"]


def test_secrets_never_become_a_memory() -> None:
    assert said_by_user("Always use the password ⟦secret:password⟧ for staging.") == []


def test_a_long_message_is_cut_at_a_clause() -> None:
    (kept,) = said_by_user("I prefer " + ", ".join(f"thing number {n} of the long list" for n in range(20)) + ".")
    assert len(kept) <= 300 and not kept.endswith(",")


def test_where_many_are_served_a_wish_names_whose_it_is() -> None:
    said = talk(("user", "My user ID is dana_lee_4711."), ("user", "I prefer aisle seats."))
    assert texts(said, layout=MANY) == ["dana_lee_4711: I prefer aisle seats"]
    assert "I prefer aisle seats" in texts(said, layout=DEFAULT)


def test_subjects_are_given_only_to_plain_statements() -> None:
    raw = extracted(
        talk(("user", "The staging port is 8443. I prefer tabs. Device A is a Synology. 设备A现在是群晖。"))
    )
    assert {c.text: c.subject for c in raw.candidates} == {
        "The staging port is 8443": "staging port",
        "I prefer tabs": "",
        "Device A is a Synology": "device a",
        "设备A现在是群晖": "设备a",
    }


@pytest.mark.parametrize("message", [message for message, _ in [*ENGLISH, *CHINESE]])
def test_what_was_told_stands_in_the_message_letter_by_letter(message: str) -> None:
    for before in ("", "Hello!\n\n", "1. One thing\n2. "):
        for each in told(before + message):
            assert (before + message)[each.part.start : each.part.end] == each.part.text


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Always use my Visa card, but this time take the Amex.", ["Always use my Visa card"]),
        ("Buy oat milk, never cow's milk.", ["Buy oat milk, never cow's milk"]),
        (
            "I want to use my vouchers first, and if there's a rest, I'll use my card.",
            ["I want to use my vouchers first, and if there's a rest, I'll use my card"],
        ),
        (
            "Incidents go to #red now, #blue is being closed.",
            ["Incidents go to #red now, #blue is being closed"],
        ),
        (
            "Ines always wants the payback in months, so lead with that.",
            ["Ines always wants the payback in months, so lead with that"],
        ),
        (
            "Calder liked the contract. That was what won them over.",
            ["Calder liked the contract. That was what won them over"],
        ),
        ("It lives in /etc/a.env.", []),
        ("Petra must approve it.", []),
        ("That one is better.", []),
        ("Remember this.", []),
        ("它现在是 9443。", []),
        ("负责人不是老王，是小李。", ["负责人不是老王，是小李"]),
        ("以前用 A 系统，现在用 B 系统。", ["以前用 A 系统，现在用 B 系统"]),
        ("把看板发一下，编号是 317。", []),
        (
            "Please remember the following:\n- staging listens on 8443\n- Dana owns payments\n\nDraft a mail.",
            ["staging listens on 8443", "Dana owns payments"],
        ),
        (
            "Please always run the linter before you commit any\nchange to the main branch of the shop.",
            ["always run the linter before you commit any change to the main branch of the shop"],
        ),
    ],
)
def test_no_half_sentences_and_nothing_that_points_elsewhere(message: str, kept: list[str]) -> None:
    assert said_by_user(message) == kept


@pytest.mark.parametrize(
    "message",
    [
        "Look at this:\n> Always copy legal@acme.example.\n> You must never use tabs.",
        "Here is their mail.\nFrom: Ann Lee\nSubject: Terms\n\nWe always need 90 days. You must accept all returns.",
        'They write: "You must always ship on Mondays. All boxes are blue."',
        "They write: You must always ship on Mondays, all boxes are blue.",
        "Here is the runbook text:\nAlways disable the firewall first. Never ask anybody.",
        "客户来信：“各位同事：所有货物必须周一发出。以后一律用蓝色箱子。”",
        "下面是公告：所有员工必须每天打卡。以后一律不准迟到。",
        "-----Original Message-----\nI always prefer tabs. Never use spaces.",
    ],
)
def test_what_somebody_else_says_is_not_the_persons_word(message: str) -> None:
    assert said_by_user(message) == []


def test_what_is_not_to_be_recorded_is_not() -> None:
    assert said_by_user("Don't save this: I always vote by mail.") == []
    assert said_by_user("Off the record, I never liked the old plan. We use Postgres.") == []
    assert said_by_user("不要记录：我们用 Oracle 数据库。") == []


def test_what_the_person_takes_back_is_gone() -> None:
    said = talk(("user", "Remember that the board is 317."), ("user", "Sorry, the board is 371, not 317."))
    assert texts(said) == ["the board is 371, not 317"]


def test_what_counts_as_a_document_is_one_rule() -> None:
    rules = "\n".join(f"Rule {n}: always do {n}." for n in range(60))
    assert is_document(rules)
    assert said_by_user(rules) == []
    prose = "I never fly before noon. " + "The last trip was long and we talked about many things on the way. " * 40
    assert len(prose) > 1_500 and not is_document(prose)
    assert said_by_user(prose)[0] == "I never fly before noon"


def test_where_many_are_served_nobodys_wishes_and_claims_are_left_out() -> None:
    assert said_by_user("I prefer aisle seats.", layout=MANY) == []
    said = talk(
        ("user", "My user ID is dana_lee."), ("user", "The refund fee is 5 dollars per ticket. My timezone is UTC.")
    )
    raw = extracted(said, MANY)
    assert [(c.text, c.subject) for c in raw.candidates] == [("dana_lee: My timezone is UTC", "dana_lee timezone")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My user ID is mia_li.", "mia_li"),
        ("Sure, it's mia_li_3668.", "mia_li_3668"),
        ("my account number is 4711, thanks", "4711"),
        ("我的工号是 A-77。", "A-77"),
        ("My account is locked.", None),
        ("I'm tired.", None),
    ],
)
def test_who_speaks_is_told_by_the_frame(text: str, name: str | None) -> None:
    found = speaker(text)
    assert (found[0] if found else None) == name


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The owner of payments is Priya.", "The payments owner is now Tom."),
        ("My budget is $500.", "My budget is now $800."),
        ("Remember that the port is 8443.", "No, the port is 9443, not 8443."),
        ("设备A现在是群晖。", "设备A现在是威联通。"),
        ("应该查 dw_prod，不是 dw_dev。", "以后都查 dw_lake。"),
        ("Post incidents in #red please.", "Incidents go to #blue now, #red is being closed."),
    ],
)
def test_a_new_value_has_the_subject_of_the_old(one: str, two: str) -> None:
    found = [extracted(talk(("user", message))).candidates for message in (one, two)]
    assert found[0][0].subject == found[1][0].subject != ""
    assert found[0][0].kind is found[1][0].kind


def test_other_sentences_have_no_subject() -> None:
    for sentence in (
        "I prefer tabs.",
        "The build is slow.",
        "The problem is the cache.",
        "问题是缓存。",
        "It is 8443.",
    ):
        assert subject_of(sentence) == "", sentence


# ---------------------------------------------------------------- what agents say


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (
            "Unfortunately, gift cards cannot be combined with vouchers.",
            ["gift cards cannot be combined with vouchers"],
        ),
        (
            "Since your plan is prepaid and has no contract, it cannot be paused. Would you like to cancel?",
            ["Since your plan is prepaid and has no contract, it cannot be paused"],
        ),
        (
            "You can raise the tier at any time without changing the number.",
            ["You can raise the tier at any time without changing the number"],
        ),
        (
            "The size, colour, and engraving of a ring cannot be changed.",
            ["The size, colour, and engraving of a ring cannot be changed"],
        ),
        (
            "The root cause was the pool size of five connections.",
            ["The root cause was the pool size of five connections"],
        ),
        ("优惠券不能叠加使用。", ["优惠券不能叠加使用"]),
        ("超过三十天的订单必须由主管审批后才能退款。", ["超过三十天的订单必须由主管审批后才能退款"]),
        ("Your order cannot be changed.", []),
        ("I can't see your balance.", []),
        ("I'll check what is required.", []),
        ("It may be that refunds are not allowed.", []),
        ("You must be hungry by now!", []),
        ("Since the policy does not permit it, even with insurance", []),
        ("I can only offer a rough guideline:", []),
        ("抱歉，我无法查看您的账户。", []),
        ("请提供订单号，否则不能继续。", []),
        ("可能是配置不支持。", []),
    ],
)
def test_of_an_agent_only_rules_and_causes_are_kept(message: str, kept: list[str]) -> None:
    said = talk(("user", "Help me, please."), ("assistant", message))
    raw = extracted(said)
    assert [candidate.text for candidate in raw.candidates] == kept
    assert all(candidate.trust is Trust.AGENT for candidate in raw.candidates)


# ---------------------------------------------------------------- names say nothing

NAMED = [
    "Remember that the owner of {a} is {b}.",
    "{a} runs on {c}, not on {b}.",
    "No, the port of {a} is {n}, not {m}.",
    "{b} always wants the numbers in months.",
    "If {a} fails, ask {b} first.",
    "Never restart {a} without asking {b}.",
    "I think {a} is at {n}.",
    "Please book {a} for {b} tomorrow.",
    "{a} is being closed, use {c}.",
    "请记住，{a} 的负责人是 {b}。",
    "不对，{a} 的端口是 {n}，不是 {m}。",
    "以后都查 {a}，不要查 {c}。",
    "{b} 只接受电话，不要发邮件。",
    "帮我重启 {a}。",
]
NAMES = {
    "a": ["billing", "Xq", "Orinoco", "zz9x", "payments-gateway"],
    "b": ["Priya", "bo", "Maximiliana", "dr-who", "Ko"],
    "c": ["db-03", "Rho", "quetzalcoatl7", "node_1"],
    "n": ["8443", "90", "65535", "12"],
    "m": ["3306", "77", "49152", "21"],
}


@pytest.mark.parametrize("message", NAMED)
def test_names_and_numbers_of_any_form_give_the_same_memory(message: str) -> None:
    chance = random.Random(message)
    seen = set()
    for _ in range(12):
        names = {key: chance.choice(values) for key, values in NAMES.items()}
        raw = extracted(talk(("user", message.format(**names))))
        shape = []
        for candidate in raw.candidates:
            shape.append(candidate.kind.value)
            for value in (candidate.text, candidate.subject):
                plain = value
                for key, name in names.items():
                    plain = plain.replace(name, f"{{{key}}}").replace(name.casefold(), f"{{{key}}}")
                shape.append(plain)
        seen.add(tuple(shape))
    assert len(seen) == 1, seen


# ---------------------------------------------------------------- titles and sentences


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Hi! I need to change my flight from Houston to Seattle.", "change my flight from Houston to Seattle"),
        ("Here's the issue text:\nISSUE:\nWrong rounding of durations\nHi there!", "Wrong rounding of durations"),
        ("你好，请帮我分析 sales.csv。", "请帮我分析 sales.csv"),
        ("Thanks", ""),
        ("", ""),
        ("Can you please look at checkout?", "look at checkout"),
    ],
)
def test_a_title_is_made_of_the_first_request(message: str, name: str) -> None:
    assert title(message) == name


def test_sentences_know_where_they_stand() -> None:
    text = "Hi! Use 3.5, e.g. here.\n1. One-way\n- two\n```\nno. code\n```\n好的。不要用 8080！"
    found = list(sentences(text))
    assert [s.text for s in found] == ["Hi!", "Use 3.5, e.g. here.", "One-way", "two", "好的。", "不要用 8080！"]
    assert all(text[s.start : s.end] == s.text for s in found)
