"""Kinds of personal data that are held back whatever they rest on: Art. 9 and 10 GDPR, and what is as private."""

from __future__ import annotations

import re

from ..governance.wording import kept

_TELLING = {
    "health": (
        r"hiv|aids|diabet\w*|insulin|canc(?:er|erous)\w*|tumou?rs?|chemo\w*|oncolog\w*|asthma\w*|allerg\w*|gluten|"
        r"celiac|coeliac|epilep\w*|seizures?|strokes?|heart (?:attack|disease|condition|failure)|cardi(?:ac|olog)\w*|"
        r"depress\w*|anxiety|bipolar|autis\w*|adhd|dementia|alzheimer\w*|parkinson\w*|schizo\w*|psych(?:iatr|olog|ot)\w*|"
        r"therap(?:y|ies|ist)\w*|pregnan\w*|miscarr\w*|abortions?|ivf|infertil\w*|menopaus\w*|deaf\w*|blind(?:ness)?|"
        r"hearing (?:aids?|loss|impair\w*)|wheelchairs?|disab(?:led|ilit)\w*|amput\w*|paraly\w*|surger\w*|surgical|"
        r"operated on|diagnos\w*|hepatitis|tuberculosis|covid\w*|infect\w*|symptoms?|hospital\w*|clinics?|doctors?|"
        r"physicians?|nurs(?:e|es|ing)|dentists?|dental|patients?|prescri\w*|medicat\w*|medicines?|pills?|dialysis|transplants?|"
        r"addict\w*|alcohol\w*|rehab\w*|sober\w*|overdos\w*|suicid\w*|injur\w*|fractur\w*|migraines?|arthritis|"
        r"obes\w*|anorex\w*|bulimi\w*|vaccin\w*|syndromes?|chronic\w*|terminal(?:ly)? ill\w*|disorders?|sick\w*|ill|"
        r"illness\w*|unwell|diseases?|oxygen|pacemakers?|walkers?|crutches|nut-free|mental\w*|stammer\w*|dyslex\w*"
    ),
    "belief": (
        r"muslims?|islam\w*|jew(?:s|ish)?|judais\w*|christian\w*|catholic\w*|protestant\w*|orthodox|hindu\w*|buddhis\w*|"
        r"sikh\w*|mormon\w*|atheis\w*|religio\w*|church\w*|mosques?|synagogues?|kosher|halal|ramadan|shabbat|sabbath|"
        r"bapti[sz]\w*|priests?|imams?|rabbis?|pray\w*|worship\w*|pilgrim\w*"
    ),
    "sexuality": (
        r"gay|lesbians?|bisexual\w*|homosexual\w*|heterosexual\w*|queer|transgender\w*|transsexual\w*|lgbt\w*|"
        r"same-sex|sexual\w*|non-?binary"
    ),
    "crime": (
        r"convict\w*|felon\w*|prison\w*|jail\w*|parole\w*|probation|arrest\w*|criminal\w*|offenders?|indict\w*|"
        r"police records?|sentenced|inmates?|on bail|ankle monitor"
    ),
    "origin": (
        r"ethnic\w*|racial\w*|african\w*|hispanics?|latin[oa]s?|asian|caucasian|roma|gyps\w*|refugees?|asylum\w*|"
        r"immigra\w*|undocumented|native american\w*|indigenous|black (?:man|woman|people|person)"
    ),
    "politics": (
        r"republicans?|democrats?|conservatives?|liberals?|communis\w*|socialis\w*|party members?|activis\w*|"
        r"political\w*|trade unions?|labou?r unions?|union (?:members?|reps?|stewards?)|unioni[sz]\w*|protesters?|"
        r"voted for"
    ),
    "family": (
        r"divorc\w*|separated from|marri(?:ed|age)s?|weddings?|spouses?|wi(?:fe|ves)|husbands?|ex-(?:wife|husband)|"
        r"widow\w*|fianc\w*|girlfriends?|boyfriends?|sons?|daughters?|bab(?:y|ies)|twins|mothers?|fathers?|moms?|mums?|"
        r"dads?|parents?|brothers?|sisters?|siblings?|grand(?:ma|pa|mother|father|son|daughter|child|children|parents?)\w*|"
        r"nephews?|nieces?|cousins?|uncles?|aunts?|adopt(?:ion|ed|ive)\w*|custody|alimony|funerals?|bereave\w*|deceased|"
        r"passed away|died|dying"
    ),
    "means": (
        r"debts?|bankrupt\w*|insolven\w*|arrears|overdr\w*|foreclos\w*|evict\w*|salar(?:y|ies)|wages?|incomes?|"
        r"unemploy\w*|laid off|fired|(?:lost|losing|loss of) (?:the|their|a|his|her) jobs?|job loss|employment|"
        r"employers?|redundan(?:t|cy)|welfare|food stamps|social benefits?|garnish\w*|credit (?:score|history|rating)|"
        r"pensions?|pawn\w*|homeless\w*|low[- ]income|poverty|lawsuits?|sued|suing|lawyers?|attorneys?|courts?"
    ),
}
_TELLING_ZH = {
    "health": (
        "艾滋|病(?!毒库)|糖尿|胰岛素|癌|肿瘤|化疗|哮喘|过敏|青霉素|癫痫|中风|抑郁|焦虑症|自闭|痴呆|孕|流产|堕胎|试管婴儿|"
        "聋|失明|盲人|轮椅|残疾|截肢|瘫痪|手术|确诊|诊断|乙肝|肝炎|结核|感染|症状|住院|医院|医生|护士|牙医|处方|药|"
        "透析|移植|戒毒|酗酒|自杀|受伤|骨折|疫苗|生病|患者|残障|助听器|康复"
    ),
    "belief": "穆斯林|伊斯兰|回族|清真|犹太|基督|天主教|佛教|道教|印度教|信教|教徒|宗教|教堂|礼拜|斋月|祈祷|信仰",
    "sexuality": "同性恋|同志伴侣|双性恋|跨性别|变性|性取向|出柜",
    "crime": "坐牢|监狱|入狱|服刑|判刑|前科|犯罪|罪犯|假释|缓刑|被捕|拘留|取保",
    "origin": "民族|种族|维吾尔|藏族|难民|庇护|移民|黑人",
    "politics": "党员|政治|工会|示威|抗议者|维权",
    "family": (
        "离婚|离异|结婚|婚姻|婚礼|丧偶|老公|老婆|丈夫|妻子|前妻|前夫|配偶|未婚|男友|女友|儿子|女儿|孩子|双胞胎|妈妈|"
        "母亲|爸爸|父亲|父母|哥哥|弟弟|姐姐|妹妹|奶奶|爷爷|外婆|外公|孙子|孙女|侄|收养|抚养|去世|过世|葬礼|丧"
    ),
    "means": (
        "欠租|欠款|欠债|债务|欠着|负债|网贷|破产|失业|裁员|下岗|工资|薪水|月薪|收入|低保|贫困|养老金|逾期|"
        "律师|法院|起诉|官司"
    ),
}
_GENERAL = {
    "health": r"health|medical\w*|fitness to travel|accessib\w*",
    "belief": r"faiths?",
    "family": r"famil\w*|child(?:ren)?|infants?|kids?|minors?|relatives?|couples?",
    "means": r"legal\w*|court|tax(?:es)?",
}
_GENERAL_ZH = {"health": "健康|医疗|身体状况", "family": "家庭|家人|儿童|婴儿|亲属|家属", "means": "法律|税"}

_TOLD = {
    name: (re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE), re.compile(_TELLING_ZH[name]))
    for name, words in _TELLING.items()
}
_NAMED = {
    name: (re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE), re.compile(_GENERAL_ZH.get(name, "(?!)")))
    for name, words in _GENERAL.items()
}


@kept(4096)
def told(text: str) -> frozenset[str]:
    """The kinds of which a text has a word that tells something of somebody: what they have, believe, are or owe."""
    plain = text.replace("_", " ")
    return frozenset(name for name, both in _TOLD.items() if any(each.search(plain) for each in both))


def touched(text: str) -> frozenset[str]:
    """The kinds that a text has any word of, also one that only names the kind, such as "medical"."""
    plain = text.replace("_", " ")
    return told(text) | {name for name, both in _NAMED.items() if any(each.search(plain) for each in both)}
