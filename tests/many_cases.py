"""Conversations with one of many customers: what must not be told to the next, and what is for everybody."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sandbox_memory.records import RunCapture

Call = tuple[str, dict[str, Any], str]
"""The name of a tool, its arguments, and its output."""


@dataclass(frozen=True)
class Case:
    """What the customer says, the calls, what the agent says; then the words that are theirs, or a text for all."""

    name: str
    says: str
    calls: tuple[Call, ...]
    agent: str
    words: tuple[str, ...] = ()
    rule: str = ""
    kind: str = "fact"


def capture(case: Case) -> RunCapture:
    """The case as a run."""
    generated: list[dict[str, Any]] = []
    for n, (tool, arguments, output) in enumerate(case.calls):
        said = json.dumps(arguments, ensure_ascii=False)
        generated.append({"type": "function_call", "name": tool, "call_id": f"{n}", "arguments": said})
        generated.append({"type": "function_call_output", "call_id": f"{n}", "output": output})
    generated.append({"role": "assistant", "content": case.agent})
    return RunCapture(
        rollout_id=f"talk-{sha256(case.name.encode()).hexdigest()[:8]}",
        source="conversation",
        input=[{"role": "user", "content": case.says}],
        generated=generated,
        terminal={"terminal_state": "completed"},
        agent="A",
    )


def _json(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False)


LEAKS = [
    Case(
        "profile without arguments",
        "Show me my profile please.",
        (
            (
                "me",
                {},
                _json(
                    name={"first": "Maria", "last": "Gomez"},
                    plan="gold",
                    city="Lisbon",
                    condition="diabetes",
                    balance=613.5,
                    note="VIP, divorced in 2024",
                ),
            ),
        ),
        "Your plan is gold, and your balance is 613.5. Maria lives in Lisbon.",
        ("Maria", "Gomez", "Lisbon", "diabetes", "613.5", "divorced"),
    ),
    Case(
        "orders as prose",
        "What are my orders?",
        (
            (
                "my_orders",
                {},
                "You have 2 open orders: a wheelchair, size M, and insulin pens. Delivery to 12 Rua Augusta on Friday.",
            ),
        ),
        "There is a wheelchair on order, and insulin pens. They come to 12 Rua Augusta.",
        ("wheelchair", "insulin", "Rua Augusta", "Friday"),
    ),
    Case(
        "agent restates health",
        "I am HIV positive, cancel the spa and give the money back.",
        (),
        "The spa refund went out because of an HIV diagnosis. Refunds of the spa must be made when a guest has HIV.",
        ("HIV", "diagnosis"),
    ),
    Case(
        "agent restates in other words",
        "My wife left me and I have lost my job, can I pause the gym?",
        (),
        "The membership was paused since the marriage ended. If employment ended, the plan can be paused for someone "
        "who is unemployed and divorced.",
        ("marriage", "employment", "unemployed", "divorced"),
    ),
    Case(
        "nested json in a text",
        "Is my parcel on the way?",
        (
            (
                "get_current_context",
                {},
                _json(
                    data=json.dumps(
                        {"shipment": {"recipient": "Jonas Weber", "drop": "behind the blue shed", "weight": "4 kg"}}
                    )
                ),
            ),
        ),
        "It waits behind the blue shed. Parcels must be left behind the blue shed.",
        ("Jonas", "Weber", "blue shed"),
    ),
    Case(
        "table",
        "List what I bought.",
        (
            (
                "list_purchases",
                {"limit": 5},
                "| date | item | price |\n|---|---|---|\n| 2026-01-02 | hearing aid | 1,290.00 |\n"
                "| 2026-01-05 | baby cot | 210.00 |",
            ),
        ),
        "A hearing aid and a baby cot were bought for 1,290.00 and 210.00.",
        ("hearing aid", "baby cot", "1,290", "210.00"),
    ),
    Case(
        "xml",
        "Which car do I have with you?",
        (
            (
                "session_info",
                {},
                "<customer><name>Piotr Zielinski</name><vehicle plate='KR 4471X'>Skoda Octavia</vehicle>"
                "<arrears>88.20</arrears></customer>",
            ),
        ),
        "It is a Skoda Octavia, KR 4471X, with arrears of 88.20.",
        ("Piotr", "Zielinski", "Skoda", "4471X", "88.20"),
    ),
    Case(
        "name in small letters",
        "hi this is maria gomez, need help with the order for my twins leo and nina",
        (),
        "Hello Maria! Orders for Leo and Nina must be confirmed by maria gomez.",
        ("Maria", "Gomez", "Leo", "Nina"),
    ),
    Case(
        "address in a rule",
        "Please leave my boxes with the baker next door at Lindenweg 7, I am never in before six.",
        (),
        "Boxes for Lindenweg 7 can be left with the baker next door. Deliveries must come after six when nobody is in.",
        ("Lindenweg", "baker"),
    ),
    Case(
        "error with a sum",
        "Pay it with my wallet.",
        (("pay", {}, "Error: wallet of Ana Duarte has 41.70 available, 99.00 needed"),),
        "The wallet has only 41.70 available. Payments fail when Ana has 41.70.",
        ("Ana", "Duarte", "41.70"),
    ),
    Case(
        "chinese profile",
        "帮我看看我的资料。",
        (("我的资料", {}, _json(姓名="周小雨", 病史="乙肝", 余额="813.20", 住址="成都市锦江区青石桥12号")),),
        "您的余额是813.20，住址是锦江区青石桥12号。周小雨有乙肝病史。",
        ("周小雨", "乙肝", "813.20", "青石桥"),
    ),
    Case(
        "chinese restated",
        "我怀孕了，还在办离婚，想退掉健身卡。",
        (),
        "因为客户有孕在身，健身卡已经退款。孕妇办离婚的可以退健身卡。",
        ("孕", "离婚"),
    ),
    Case(
        "chinese orders as prose",
        "我买了什么？",
        (("get_my_orders", {}, "共两笔订单：轮椅一台，胰岛素两盒，周五送到朝阳门外大街88号。"),),
        "轮椅和胰岛素周五送到朝阳门外大街88号。",
        ("轮椅", "胰岛素", "朝阳门"),
    ),
    Case(
        "plan of a trip",
        "I'm flying to Kyoto with my boss for a secret meeting with Hitachi, can I change the seat?",
        (),
        "Seats to Kyoto can be changed. Meetings with Hitachi are a reason for which seats may be changed.",
        ("Kyoto", "Hitachi"),
    ),
    Case(
        "titles",
        "I am HIV positive and my son Timmy is deaf. Can I change my basic ticket?",
        (("get_policy", {"topic": "basic tickets"}, "Basic tickets cannot be changed after booking."),),
        "No.",
        ("HIV", "Timmy", "deaf"),
    ),
    Case(
        "account of the session",
        "How much do I owe?",
        (("whoami", {}, _json(user="t.okafor", tier="silver", debt=2204, employer="Harbour Bakery")),),
        "The debt is 2204. Harbour Bakery pays on the first. Debts of 2204 can be paid in parts.",
        ("okafor", "2204", "Harbour Bakery"),
    ),
    Case(
        "appointments as lines",
        "When am I due?",
        (
            (
                "appointments",
                {"from": "2026-03-01"},
                "- 2026-03-04 09:30 Oncology, Dr. Hahn\n- 2026-03-11 chemo, ward 5",
            ),
        ),
        "Oncology is at 09:30 with Dr. Hahn, chemo on ward 5.",
        ("Oncology", "Hahn", "chemo", "ward 5"),
    ),
    Case(
        "religion in a rule",
        "I keep kosher and do not fly on Saturdays.",
        (),
        "Jewish travellers may move flights from Saturday to Sunday without a fee. Kosher meals must be ordered early.",
        ("Jewish", "Kosher"),
    ),
    Case(
        "prison",
        "I was in jail last year, is my licence still valid for a rental?",
        (),
        "Drivers who were convicted can rent after a year. People released from prison must show a new licence.",
        ("convicted", "prison"),
    ),
    Case(
        "yaml",
        "What is on file about me?",
        (
            (
                "load_context",
                {},
                "customer:\n  name: Sanne de Wit\n  phone: +31 6 1234 5678\n"
                "  notes:\n    - owes rent\n    - has a parrot\n",
            ),
        ),
        "The parrot is noted. Tenants with a parrot must pay a deposit.",
        ("Sanne", "de Wit", "1234", "parrot", "owes rent"),
    ),
    Case(
        "hobby said by the agent",
        "I breed alpacas near Cusco, so I need the big van on Monday.",
        (),
        "Vans for alpacas must be booked before Monday. If alpacas are carried, the big van is needed.",
        ("alpaca", "Cusco"),
    ),
    Case(
        "list of messages",
        "Any news for me?",
        (
            (
                "list_messages",
                {"folder": "inbox"},
                '[{"from": "Court of Ghent", "subject": "Hearing on 12 May", "text": "Bring the adoption papers"}]',
            ),
        ),
        "The court wants the adoption papers at the hearing on 12 May.",
        ("Ghent", "adoption", "Hearing on 12 May"),
    ),
    Case(
        "salary",
        "I only make 1,450 a month as a waiter, can I have the plan for students?",
        (),
        "Waiters with 1,450 a month can have the plan for students. Low wages are a reason to give the cheaper plan.",
        ("waiter", "1,450", "wages"),
    ),
    Case(
        "csv",
        "Export my data please.",
        (("export", {}, "id,given name,iban,last stay\n81,Ingrid,NO9386011117947,room 12 with a nurse"),),
        "Ingrid stayed in room 12 with a nurse.",
        ("Ingrid", "NO9386011117947", "nurse", "room 12"),
    ),
    Case(
        "phone in words of the agent",
        "You can reach me under 0171 555 0199, ask for Opa Heinz.",
        (),
        "Calls go to 0171 555 0199. Callers must ask for Opa Heinz.",
        ("0171", "Opa", "Heinz"),
    ),
    Case(
        "success with a person",
        "Please refund me.",
        (("refund", {"reason": "other"}, "OK. 57.30 sent to Visa 4411 of Lucía Prado, Calle Luna 3."),),
        "57.30 went to Visa 4411. Refunds to Calle Luna 3 are always sent at once.",
        ("57.30", "4411", "Lucía", "Prado", "Calle Luna"),
    ),
    Case(
        "chinese religion and people",
        "我是回族，只吃清真餐，跟老公马建国一起飞。",
        (),
        "穆斯林旅客可以免费换清真餐。马建国的餐必须提前订。",
        ("穆斯林", "清真", "马建国"),
    ),
    Case(
        "chinese bank",
        "我上个月被裁员了，还欠着网贷，能不能晚点交租？",
        (("当前用户", {}, "租客：韩梅梅，欠租3,260元，房号8栋1204。"),),
        "失业的租客可以晚交租。欠租3,260元的韩梅梅可以月底交。",
        ("失业", "裁员", "韩梅梅", "3,260", "1204"),
    ),
    Case(
        "chinese address in a rule",
        "快递放到槐花巷那家修鞋铺，我白天在工地搬砖。",
        (),
        "送到槐花巷的快递应放在修鞋铺。在工地上班的人白天不能签收。",
        ("槐花巷", "修鞋铺", "工地"),
    ),
    Case(
        "sexuality and union",
        "My husband and I are both men; our union's lawyer says we get the family rate.",
        (),
        "Gay couples can have the family rate. Members of a trade union must be given the family rate.",
        ("Gay", "trade union"),
    ),
    Case(
        "basket",
        "What's in my basket?",
        (("view_cart", {}, "1 x nicotine gum\n2 x adult nappies"),),
        "The nicotine gum and the adult nappies are in the cart. Nicotine gum can only be sent to adults.",
        ("nicotine", "nappies"),
    ),
    Case(
        "courses",
        "Which courses am I in?",
        (
            (
                "get_enrolments",
                {"term": "spring"},
                _json(enrolled=["Grief after loss", "English for asylum seekers"], advisor="Prof. Kwame Boateng"),
            ),
        ),
        "Grief after loss is at six, with Boateng.",
        ("Grief", "asylum", "Boateng"),
    ),
    Case(
        "neighbours",
        "The flat is too loud since the band below practises, I want to leave the lease.",
        (),
        "Leases can be ended when a band below practises. The lease was ended for noise of a band.",
        ("band",),
    ),
    Case(
        "looked up by mail",
        "Look me up by my email greta@fjord.example",
        (
            (
                "search_users",
                {"q": "greta@fjord.example"},
                "[{'login': 'gretaf', 'team': 'night shift at the cannery'}]",
            ),
        ),
        "People of the night shift at the cannery can call after ten.",
        ("cannery", "gretaf", "greta@"),
    ),
    Case(
        "ashes",
        "My mum's ashes are in the parcel, please find it.",
        (("trace", {"region": "north"}, "Held at depot 9: urn, sender Abbey Crematorium"),),
        "Parcels with an urn must be fetched at depot 9. It is an urn of Abbey Crematorium.",
        ("urn", "Crematorium", "ashes"),
    ),
    Case(
        "drawn table",
        "show my booking",
        (("booking", {}, "+------+\n| Name: Ivo Petrov |\n| Seat: 12F |\n| Meal: halal |\n+------+"),),
        "Ivo has seat 12F and a halal meal.",
        ("Ivo", "Petrov", "12F", "halal"),
    ),
    Case(
        "menu",
        "Change it to the vegan menu, I am vegan since the chemo.",
        (),
        "Vegan menus can be ordered until a day before. Vegans after chemo get the menu for free.",
        ("chemo", "vegans after"),
    ),
    Case(
        "charge explained",
        "Why was I charged?",
        (
            (
                "explain_charge",
                {},
                "Late fee: 35.00 because the customer paid on 03/14 from a savings account ending 9931",
            ),
        ),
        "Late fees of 35.00 are charged when one pays from savings account 9931.",
        ("35.00", "9931", "03/14"),
    ),
    Case(
        "chinese xml",
        "我要改地址",
        (("获取用户", {}, "<用户><姓名>欧阳锋</姓名><地址>白驼山庄3号</地址></用户>"),),
        "寄到白驼山庄的包裹必须由欧阳锋签收。",
        ("欧阳锋", "白驼山庄"),
    ),
    Case("chinese trade", "我在抖音做直播卖假发，能开发票吗？", (), "做直播卖假发的可以开发票。", ("假发", "直播")),
    Case(
        "stalked",
        "My ex stalks me, hide my number from the courier.",
        (),
        "Numbers can be hidden when somebody is stalked by a former partner.",
        ("stalk", "former partner"),
    ),
    Case(
        "celebration",
        "I'd like to book a table, we celebrate that I got my citizenship.",
        (),
        "Tables are free for those who celebrate citizenship. If citizenship is celebrated, a cake can be ordered.",
        ("citizenship",),
    ),
    Case(
        "confirmation",
        "Is my table confirmed?",
        (("confirmation", {"channel": "web"}, "Table 7, Sat 8 pm, party of Noor; cake with the words Happy Recovery"),),
        "Tables with the words Happy Recovery get a cake.",
        ("Noor", "Recovery"),
    ),
    Case(
        "work",
        "What plan fits me? I drive a truck for a slaughterhouse at night.",
        (),
        "Truck drivers can have the night plan. Those who work at a slaughterhouse must choose the night plan.",
        ("slaughterhouse", "truck"),
    ),
    Case(
        "flags",
        "Check my eligibility.",
        (("eligibility", {}, _json(eligible=True, smoker=True, veteran="yes", tenant_since="2011")),),
        "Veterans who smoke are eligible. Smokers can only have the basic cover.",
        ("veteran", "smok"),
    ),
    Case(
        "error with a name",
        "Fix the spelling of my name, it is Xochitl, not Sochil.",
        (("update_name", {"first": "Xochitl"}, "Error: Xochitl has an invalid character"),),
        "Names such as Xochitl cannot be saved.",
        ("Xochitl", "Sochil"),
    ),
    Case(
        "address without capitals",
        "the landlord harasses me so i moved to my sister's in Leeds, forward my post",
        (),
        "Post can be forwarded to Leeds. When a landlord harasses someone, mail can be forwarded for free.",
        ("Leeds", "landlord", "harass"),
    ),
    Case(
        "xml of a claim",
        "Any open claims?",
        (("claims", {"year": "2025"}, "<claims><claim no='A1'><cause>burst breast implant</cause></claim></claims>"),),
        "The claim is about an implant.",
        ("implant", "breast"),
    ),
    Case("chinese health", "我在做试管，想把酒店推迟一周。", (), "做试管的客人可以免费推迟入住。", ("试管",)),
    Case(
        "chinese fields in a line",
        "我的车牌是多少？",
        (("session", {}, "车主：诸葛亮；车牌：川A88K21；违章3次"),),
        "车牌是川A88K21，违章3次的车主需要补交押金。",
        ("诸葛亮", "88K21", "违章"),
    ),
    Case(
        "savings",
        "Pay it in parts, I put all my savings into crypto and it is gone.",
        (),
        "Payment in parts is possible if savings were lost in crypto.",
        ("savings", "crypto"),
    ),
    Case(
        "driver",
        "Where's the driver?",
        (("driver_position", {"zone": "4"}, _json(driver="Abdul Rahim", plate="LX09 KHT", eta="4 min")),),
        "Abdul is 4 min away in LX09 KHT.",
        ("Abdul", "LX09"),
    ),
    Case(
        "seat map",
        "Which seat did I pick?",
        (("seat_map", {"flight": "LX318"}, _json(flight="LX318", taken=[{"seat": "4C", "by": "Yolanda Fritz"}])),),
        "4C is taken by Yolanda Fritz.",
        ("Yolanda", "Fritz"),
    ),
    Case(
        "tango",
        "I teach tango in the old brewery, send the speakers there.",
        (),
        "Speakers for tango can be sent to the old brewery. Deliveries to a brewery must be signed.",
        ("tango", "brewery"),
    ),
    Case(
        "adjuster",
        "How's my claim?",
        (("claim_status", {}, "Under review: roof damage at the vicarage, adjuster P. Lund visits Tue"),),
        "Roofs of a vicarage must be seen by an adjuster. P. Lund comes on Tuesday.",
        ("vicarage", "Lund"),
    ),
    Case(
        "visa",
        "My visa was refused twice, is the fare lost?",
        (),
        "Fares are refunded when a visa was refused. If someone was denied entry, the fare can be kept.",
        ("visa was refused",),
    ),
    Case(
        "points",
        "check my points",
        (("points", {}, _json(points=48210, since="1998-07-02", nick="grumpy_badger")),),
        "You have 48210 points. Members with 48210 points get a lounge.",
        ("48210", "badger", "1998"),
    ),
    Case("chinese mill", "我在监狱旁边的纺织厂上班，快递放门卫。", (), "纺织厂的快递可以放门卫。", ("纺织厂", "监狱")),
    Case(
        "chinese insurance",
        "帮我查下保单",
        (("查询保单", {}, "被保险人：林黛玉，受益人：贾宝玉，保费8,800元"),),
        "保单的受益人是贾宝玉，保费8,800元。",
        ("林黛玉", "贾宝玉", "8,800"),
    ),
    Case(
        "shelter",
        "I moved out of the shelter, where do I register?",
        (("search_offices", {"query": "register after shelter"}, "Office North, Mon-Fri 9-12"),),
        "People who lived in a shelter can register at Office North.",
        ("shelter",),
    ),
    Case(
        "error names what was bought",
        "Cancel my order please",
        (
            (
                "look_up",
                {"query": "order"},
                "Error: the incontinence pads were already shipped and cannot be exchanged.",
            ),
        ),
        "Sorry.",
        ("incontinence",),
    ),
    Case(
        "error quotes an engraving",
        "Cancel the engraved ring please",
        (("look_up", {"query": "ring"}, "Error: item engraved 'Bob & Ines forever' is final sale."),),
        "Sorry.",
        ("Ines",),
    ),
    Case(
        "error quotes a title",
        "Give the book back",
        (("look_up", {"query": "book"}, "Error: 'Coming out at fifty' was downloaded and cannot be refunded."),),
        "Sorry.",
        ("Coming out",),
    ),
    Case(
        "error tells of who sits there",
        "Add a seat",
        (("look_up", {"query": "seat"}, "Error: the infant in row 12 already has a bassinet"),),
        "Sorry.",
        ("bassinet",),
    ),
    Case(
        "error judges the caller",
        "Upgrade",
        (("look_up", {"query": "upgrade"}, "Error: caller is flagged as abusive and may not be upgraded."),),
        "Sorry.",
        ("abusive",),
    ),
    Case(
        "error tells of a party",
        "Book it",
        (("act", {"x": "q"}, "Error: no flights for party of 2 adults and 1 lap infant on QX12"),),
        "Sorry.",
        ("QX12",),
    ),
    Case(
        "error names a remedy",
        "Add it",
        (("act", {"x": "q"}, "Error: cannot add viagra to a shared family basket."),),
        "Sorry.",
        ("viagra",),
    ),
    Case(
        "error of a neighbour",
        "Where is it?",
        (("act", {"x": "q"}, "Error: delivery refused by the neighbour, dog bit the driver"),),
        "Sorry.",
        ("neighbour",),
    ),
    Case(
        "error with a short number",
        "Close it",
        (("act", {"x": "q"}, "Error: order 7781 is closed and cannot be changed"),),
        "Sorry.",
        ("7781",),
    ),
    Case(
        "chinese error names goods",
        "帮我取消订单",
        (("act", {"x": "q"}, "错误：情趣内衣已寄往成都，不能取消。"),),
        "Sorry.",
        ("内衣", "成都"),
    ),
    Case(
        "document with a case",
        "Can I get a refund for flood?",
        (
            (
                "search_kb",
                {"query": "flood refund"},
                "Refunds for floods take 5 days. Recent case: Mr Okafor of Leeds got 900 after his basement flooded.",
            ),
        ),
        "Sorry.",
        ("Okafor", "Leeds", "basement"),
    ),
    Case(
        "document to one reader",
        "What is the baggage policy?",
        (
            (
                "get_policy",
                {"topic": "baggage"},
                "Gold members may bring 2 bags. You have 3 bags booked and a guide dog.",
            ),
        ),
        "Sorry.",
        ("3 bags booked", "guide dog"),
    ),
    Case(
        "weather where they go",
        "Will it rain where I'm going, Ponta Delgada?",
        (("get_weather", {"city": "Ponta Delgada"}, '{"city":"Ponta Delgada","rain":true}'),),
        "Sorry.",
        ("Ponta Delgada",),
    ),
]

GENERAL = [
    Case(
        "policy without arguments",
        "I am HIV positive and my son Timmy is deaf. Can I change my basic ticket?",
        (("policy", {}, "Basic tickets cannot be changed after booking."),),
        "No.",
        rule="Basic tickets cannot be changed after booking.",
    ),
    Case(
        "agent's rule",
        "I want to change my basic economy flight, please.",
        (),
        "Basic economy flights cannot be changed after booking.",
        rule="Basic economy flights cannot be changed after booking.",
    ),
    Case(
        "agent's rule with a bound",
        "When do I get my money back?",
        (),
        "Refunds are paid to the original payment method within 5 to 7 business days.",
        rule="Refunds are paid to the original payment method within 5 to 7 business days.",
    ),
    Case(
        "error",
        "Cancel my order please.",
        (("cancel_order", {"order_id": "W2890441"}, "Error: non-pending order cannot be cancelled"),),
        "I am sorry, it has been processed.",
        rule="Error: non-pending order cannot be cancelled",
        kind="lesson",
    ),
    Case(
        "what a tool needs",
        "My name is Yusuf Rossi, zip 19122. I want to return a thing.",
        (
            ("find_user_id", {"name": "Yusuf Rossi"}, "Error: zip is required when an email is not given"),
            ("find_user_id", {"name": "Yusuf Rossi", "zip": "19122"}, "yusuf_rossi_9620"),
        ),
        "Thank you.",
        rule="Error: zip is required when an email is not given",
        kind="lesson",
    ),
    Case(
        "search of articles",
        "My router blinks red.",
        (
            (
                "search_articles",
                {"query": "router light"},
                "A red light means that the line is down. Restart takes 3 minutes.",
            ),
        ),
        "Please wait.",
        rule="A red light means that the line is down.",
    ),
    Case(
        "condition",
        "My parcel is too big, can I send it back?",
        (),
        "Oversized parcels can only be returned at a depot, unless they are insured.",
        rule="Oversized parcels can only be returned at a depot, unless they are insured.",
    ),
    Case(
        "airports",
        "I want to fly to New York.",
        (("list_airports", {"city": "New York"}, _json(airports=["JFK", "LGA", "EWR"])),),
        "Which one?",
        rule='"airports": ["JFK", "LGA", "EWR"]',
    ),
    Case(
        "membership",
        "How many bags do I have?",
        (("get_user", {"user_id": "mia_li_3668"}, _json(name="Mia Li", membership="gold", dob="1990-04-05")),),
        "Gold members get 3 free bags per passenger.",
        rule="Gold members get 3 free bags per passenger.",
    ),
    Case(
        "chinese rule",
        "我的基础经济舱机票能改签吗？",
        (),
        "基础经济舱机票出票后不能改签。",
        rule="基础经济舱机票出票后不能改签。",
    ),
    Case(
        "chinese policy",
        "我叫李薇薇，想退货。",
        (("查询规则", {"主题": "退货"}, "未拆封的商品可以在七天以内退货，运费由买家承担。"),),
        "可以的。",
        rule="未拆封的商品可以在七天以内退货，运费由买家承担。",
    ),
    Case(
        "chinese error",
        "取消订单QX8800。",
        (("cancel_order", {"order_id": "QX8800"}, "错误：已发货的订单不能取消"),),
        "抱歉。",
        rule="错误：已发货的订单不能取消",
        kind="lesson",
    ),
    Case(
        "where a field stands",
        "Where is my payment?",
        (("get_order", {"order_id": "W1112223"}, "Error: payment history is only shown with verbose=true"),),
        "One moment.",
        rule="payment history is only shown with verbose=true",
        kind="procedure",
    ),
    Case(
        "opening hours",
        "When do you open?",
        (("get_store_info", {"branch": "central"}, _json(hours="09:00-18:00", closed="Sunday")),),
        "We open at nine.",
        rule='"hours": "09:00-18:00"',
    ),
    Case(
        "agent's no",
        "Can you put my flight and my bags on two cards?",
        (),
        "Splitting a payment over two cards is not possible within the system.",
        rule="Splitting a payment over two cards is not possible within the system.",
    ),
    Case(
        "faq",
        "Do you ship to my place in Norway?",
        (("faq", {}, "Orders above 80 euros ship free within Europe. Customs duties are not refunded."),),
        "Yes.",
        rule="Customs duties are not refunded.",
    ),
    Case(
        "terms by a general word",
        "My washing machine leaks, I bought it in May.",
        (("lookup_terms", {"section": "warranty"}, "The warranty covers leaks for 24 months from delivery."),),
        "You are covered.",
        rule="The warranty covers leaks for 24 months from delivery.",
    ),
    Case(
        "agent's rule on lessons",
        "I'd like to move my piano lesson to next week.",
        (),
        "Single lessons of a course cannot be moved; a whole course can be moved once.",
        rule="Single lessons of a course cannot be moved",
    ),
    Case(
        "agent's rule on deposits",
        "I want my deposit back.",
        (),
        "Deposits must go back to the account they came from.",
        rule="Deposits must go back to the account they came from.",
    ),
    Case(
        "validation",
        "Book me in for the 3rd.",
        (("book_slot", {"date": "3rd"}, "ValueError: date must be YYYY-MM-DD"),),
        "Which month?",
        rule="ValueError: date must be YYYY-MM-DD",
        kind="lesson",
    ),
    Case(
        "rate limit",
        "Send me the code again.",
        (("send_code", {}, "Error 429: a code can be sent once in 60 seconds"),),
        "Please wait a minute.",
        rule="a code can be sent once in 60 seconds",
        kind="lesson",
    ),
    Case(
        "products",
        "Do you have a blue T-shirt?",
        (
            (
                "search_products",
                {"query": "T-shirt"},
                _json(product="T-Shirt", colours=["blue", "red"], material="cotton"),
            ),
        ),
        "Yes.",
        rule='"colours": ["blue", "red"]',
    ),
    Case(
        "agent's condition",
        "I lost my key card.",
        (),
        "If a key card is lost, a new one is issued at the front desk against a fee of 15 euros.",
        rule="If a key card is lost, a new one is issued at the front desk against a fee of 15 euros.",
    ),
    Case(
        "plan cannot be paused",
        "Pause my trial plan over Christmas.",
        (),
        "Trial plans cannot be paused.",
        rule="Trial plans cannot be paused.",
    ),
    Case(
        "chinese agent's rule",
        "我想把课程延期。",
        (),
        "每门课程只能延期一次，延期后不能退款。",
        rule="每门课程只能延期一次，延期后不能退款。",
    ),
    Case(
        "chinese knowledge base",
        "我的路由器一直闪红灯。",
        (("search_knowledge", {"query": "红灯"}, "红灯表示线路中断，重启需要三分钟。"),),
        "请稍等。",
        rule="红灯表示线路中断，重启需要三分钟。",
    ),
    Case(
        "chinese validation",
        "帮我约明天。",
        (("预约", {"日期": "明天"}, "错误：日期格式必须是YYYY-MM-DD"),),
        "请给我日期。",
        rule="错误：日期格式必须是YYYY-MM-DD",
        kind="lesson",
    ),
    Case(
        "limit of a certificate",
        "I have three certificates, use them all.",
        (),
        "A reservation can use at most one travel certificate for payment.",
        rule="A reservation can use at most one travel certificate for payment.",
    ),
    Case(
        "shipping rates",
        "What does it cost to send my parcel?",
        (("get_shipping_rates", {"zone": "EU", "weight": "2"}, _json(zone="EU", price="9.90", days="3-5")),),
        "About ten euros.",
        rule='"price": "9.90"',
    ),
    Case(
        "what needs a person",
        "I want to speak with a human.",
        (),
        "Transfers to a human agent are only made if the request cannot be handled with the tools.",
        rule="Transfers to a human agent are only made if the request cannot be handled with the tools.",
    ),
    Case(
        "cello",
        "Can I bring my cello?",
        (),
        "Musical instruments can be carried in the cabin if they fit under a seat.",
        rule="Musical instruments can be carried in the cabin if they fit under a seat.",
    ),
    Case(
        "passwords",
        "I forgot my password.",
        (),
        "Passwords must have at least 12 characters and one digit.",
        rule="Passwords must have at least 12 characters and one digit.",
    ),
    Case(
        "transfer refused",
        "Move me to the gym in the north.",
        (
            (
                "transfer_member",
                {"member_id": "M-20991", "club": "north"},
                "Error: transfers are not possible while a contract is paused",
            ),
        ),
        "Sorry.",
        rule="transfers are not possible while a contract is paused",
        kind="lesson",
    ),
    Case(
        "fee",
        "What's the late fee?",
        (("get_fee_schedule", {"type": "late"}, "Late fee: 5% of the bill, after 10 days."),),
        "5%.",
        rule="5% of the bill, after 10 days.",
    ),
    Case(
        "trains",
        "Is there a train on Sunday?",
        (
            (
                "search_trains",
                {"from": "Bern", "to": "Basel", "day": "Sunday"},
                '[{"train": "IC 61", "departs": "09:04"}]',
            ),
        ),
        "Yes.",
        rule='"train": "IC 61", "departs": "09:04"',
    ),
    Case(
        "archived",
        "Send the invoice again please, to anna@x.example",
        (
            (
                "send_invoice",
                {"email": "anna@x.example"},
                "Error: invoices older than 90 days are archived; use archive=true",
            ),
        ),
        "ok",
        rule="invoices older than 90 days are archived; use archive=true",
        kind="lesson",
    ),
    Case(
        "what a warranty does not cover",
        "How does the warranty work?",
        (),
        "The warranty does not cover damage by water.",
        rule="The warranty does not cover damage by water.",
    ),
    Case(
        "chinese compensation",
        "我的快递丢了怎么办？",
        (),
        "包裹丢失后七天内可以申请赔偿，最多赔偿运费的三倍。",
        rule="包裹丢失后七天内可以申请赔偿，最多赔偿运费的三倍。",
    ),
    Case(
        "chinese faq",
        "能开发票吗？",
        (("search_faq", {"keyword": "发票"}, "电子发票在订单完成后24小时内开具。"),),
        "可以",
        rule="电子发票在订单完成后24小时内开具。",
    ),
    Case(
        "seats refused",
        "My name is Olu Ade, I want two seats together.",
        (
            (
                "reserve_seats",
                {"name": "Olu Ade", "count": 2},
                "Error 409: seats can be reserved together only in one zone",
            ),
        ),
        "ok",
        rule="seats can be reserved together only in one zone",
        kind="lesson",
    ),
    Case(
        "data",
        "Delete my data.",
        (),
        "Data is deleted 30 days after an account is closed.",
        rule="Data is deleted 30 days after an account is closed.",
    ),
    Case(
        "bikes",
        "Which bike can I rent?",
        (("list_bikes", {"station": "harbour"}, _json(station="harbour", bikes=["cargo", "city"])),),
        "Two.",
        rule='"bikes": ["cargo", "city"]',
    ),
    Case(
        "cash",
        "Can I pay in cash?",
        (),
        "Cash is not accepted at the pickup desk.",
        rule="Cash is not accepted at the pickup desk.",
    ),
    Case(
        "hotel",
        "When is check-in?",
        (("hotel_info", {"hotel": "Seaview"}, _json(checkin="15:00", checkout="11:00")),),
        "At three.",
        rule='"checkin": "15:00"',
    ),
    Case(
        "rental",
        "I want to extend the rental.",
        (),
        "A rental can be extended twice, each time by at most 14 days.",
        rule="A rental can be extended twice, each time by at most 14 days.",
    ),
    Case(
        "lesson refused",
        "Cancel the lesson on Monday.",
        (
            (
                "cancel_lesson",
                {"lesson_id": "L-77120"},
                "Error: lessons cannot be cancelled less than 24 hours before they start",
            ),
        ),
        "Sorry.",
        rule="lessons cannot be cancelled less than 24 hours before they start",
        kind="lesson",
    ),
    Case(
        "batteries",
        "Ship it to Canada.",
        (("get_policy", {"topic": "shipping"}, "Batteries are not shipped outside the EU."),),
        "No.",
        rule="Batteries are not shipped outside the EU.",
    ),
    Case(
        "chinese plan",
        "我想升级套餐。",
        (),
        "套餐每月只能升级一次，次月生效。",
        rule="套餐每月只能升级一次，次月生效。",
    ),
    Case(
        "chinese branches",
        "查一下网点",
        (("list_branches", {"city": "成都"}, _json(网点=["春熙路", "天府广场"])),),
        "有两家",
        rule='"网点": ["春熙路", "天府广场"]',
    ),
    Case(
        "coupon",
        "Give me a discount.",
        (
            (
                "apply_coupon",
                {"code": "SPRING", "cart_id": "C100200"},
                "Error: a coupon cannot be combined with a sale price",
            ),
        ),
        "No.",
        rule="a coupon cannot be combined with a sale price",
        kind="lesson",
    ),
    Case(
        "exports",
        "I need my data in a file.",
        (),
        "Exports are sent by email within 48 hours and expire after 7 days.",
        rule="Exports are sent by email within 48 hours and expire after 7 days.",
    ),
    Case(
        "tents",
        "Is my tent covered?",
        (("get_policy", {"topic": "tents"}, "Tents are covered against storm, not against theft."),),
        "ok",
        rule="Tents are covered against storm, not against theft.",
    ),
    Case(
        "tyres",
        "I need a new tyre.",
        (),
        "Tyres can be swapped without an appointment before noon.",
        rule="Tyres can be swapped without an appointment before noon.",
    ),
    Case(
        "tariff refused",
        "Change my tariff to green.",
        (
            (
                "change_tariff",
                {"contract": "K-55120", "tariff": "green"},
                "Error: a tariff can be changed once per quarter",
            ),
        ),
        "no",
        rule="a tariff can be changed once per quarter",
        kind="lesson",
    ),
    Case(
        "vouchers",
        "How long is a voucher valid?",
        (),
        "Vouchers are valid for 3 years from the end of the year of purchase.",
        rule="Vouchers are valid for 3 years from the end of the year of purchase.",
    ),
    Case(
        "chinese gift card",
        "礼品卡能退吗",
        (),
        "礼品卡售出后不能退款，也不能转让。",
        rule="礼品卡售出后不能退款，也不能转让。",
    ),
    Case(
        "stores",
        "Where is the nearest shop?",
        (("find_stores", {"city": "Graz"}, _json(stores=["Graz Mitte", "Graz West"])),),
        "Two.",
        rule='"stores": ["Graz Mitte", "Graz West"]',
    ),
    Case(
        "label refused",
        "Print my label",
        (("print_label", {"order": "W771200"}, "Error: label size must be A6 or 4x6"),),
        "no",
        rule="label size must be A6 or 4x6",
        kind="lesson",
    ),
    Case(
        "guests of members",
        "I want to bring a friend.",
        (),
        "Guests are only allowed on weekdays and must show an ID at the door.",
        rule="Guests are only allowed on weekdays and must show an ID at the door.",
    ),
    Case(
        "error with the name of a field",
        "Book it",
        (("book_slot", {"slot_kind": "x"}, "Error: 'slot_kind' is required"),),
        "No.",
        rule="Error: 'slot_kind' is required",
    ),
    Case(
        "document that speaks to anybody",
        "How many bags?",
        (("get_policy", {"topic": "bags"}, "You can bring 2 bags. You have 14 days to return a bag."),),
        "No.",
        rule="You can bring 2 bags",
    ),
    Case(
        "weather at an airport",
        "Weather at LHR?",
        (("get_weather", {"airport": "LHR"}, "Rain at LHR until noon."),),
        "No.",
        rule="Rain at LHR until noon.",
    ),
]
