"""How text is written that means to be taken for a message of the system, the developer or the person."""

from __future__ import annotations

MODEL = (
    r"(?:ai|a\.i\.|llms?|(?:large )?language models?|chat ?bots?|bots?|gpt(?:-?\w+)?|chatgpt|claude|gemini|copilot|"
    r"llama|mistral|(?:ai |virtual |digital |coding |automated |autonomous )?(?:assistants?|"
    r"agents?)|ai (?:models?|systems?))"
)
_START = (
    r"(?:^|(?<=[.!?;:,\n>*)\]}#|—–-])|(?<=[.!?:;>)\]]['\"])|"
    r"\b(?:please|now|and|then|must|should|shall|just|kindly|immediately|simply|instead|also|first|next|need to|"
    r"have to|you(?: can| will| may| are to)?|it is necessary to|make sure to|be sure to|i want you to|tell it to|"
    r"to do:?|in order to proceed)\s)\s*(?:['\"*_`(]{0,2})"
)
"""Where a verb is an imperative: at the start of a sentence, or after "please", "you must" and the like."""
_RULES = (
    r"(?:i\w{0,3}n?struct\w*|prompts?|rules?|guidelines?|directions?|directives?|commands?|"
    r"constraints?|restrictions?|"
    r"polic(?:y|ies)|training|programming|safeguards?|(?:content |safety )?filters?|guardrails?|orders|context|"
    r"conversations?|(?:system )?messages?)"
)
_BEFORE = (
    r"(?:previous|prior|above|earlier|preceding|existing|original|initial|former|past|foregoing|old|current|"
    r"system|safety|security|developer'?s?|your|any|every|all(?: of)?|these|those|everything|aforementioned|"
    r"(?:given|told|said|written|received) (?:before|above|earlier))"
)

FORGED: tuple[tuple[str, str], ...] = (
    (
        "it has the marks of a role",
        r"<\|[\w/ -]{2,40}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|developer|im_start|im_end|"
        r"tool_call|function_calls?|invoke|antml)\b[^<>\n]{0,80}>|"
        r"#{2,}\s{0,2}[\[(]?(?:system|developer|assistant|admin)(?:[_ ](?:message|prompt|"
        r"override|note|instructions?))?[\])]?"
        r"(?=\s*(?::|\n|$|[A-Z]))|#{2,6} ?(?:new |updated |important )?instructions?\s*:|"
        r"\[(?:system|admin|developer|root)(?: (?:message|prompt|override|note|notice|instructions?|command))?\]|"
        r"(?:^|\n)[\s>*_#-]{0,6}(?:begin|end|start) (?:of )?(?:the )?(?:system|user|admin|"
        r"hidden|new|developer)? ?(?:prompt|instructions?)\b|"
        r"(?:^|\n)[\s>*_#\[\"'-]{0,6}(?:system|developer|assistant)(?: (?:message|prompt|"
        r"override|note|instructions?))?[\]\"']?"
        r"\s?[:：]\s{0,3}[\"']?(?:you\b|your\b|ignore|disregard|forget|new\b|from now|"
        r"do not|don't|always|never|must\b|the (?:user|assistant|agent)|"
        r"please|all |override|as an?\b|this is|reveal|send|execute|run |switch|enter|"
        r"enable|disable|grant|你|忽略|请|从现在)|"
        r"(?:^|\n)[\s>*_-]{0,4}human:.{0,400}\n\s{0,4}assistant:|"
        r"(?:^|\n)\s{0,4}assistant:\s(?:sure|ok|okay|yes|of course|certainly|understood|here)\b|"
        r"(?:^|\n)[\s>*_#\[-]{0,6}(?:system ?(?:note|notice|alert|update|override|directive|"
        r"message)|systemhinweis|systemnachricht|note système|"
        r"nota del? sistema|nota di sistema)\s?[\])]?\s?[:：]|"
        r"^\s{0,4}(?:important )?system (?:update|override|reset)\b",
    ),
    (
        "it wants earlier instructions ignored",
        rf"{_START}(?:completely |fully |totally |immediately |entirely |simply |safely )?"
        r"(?:ignore|disregard|forget|override|overwrite|bypass|discard|abandon|neglect|dismiss|cancel|erase|"
        r"pay no (?:attention|heed) to|do not (?:follow|obey)|don't (?:follow|obey)|stop (?:following|obeying)|"
        r"set aside|put aside|throw (?:out|away))\s"
        rf"(?:\w+(?:'s)?,?\s){{0,3}}?{_BEFORE}\s(?:[\w'-]+,?\s){{0,4}}?{_RULES}\b|"
        rf"{_START}(?:ignore|disregard|forget|override|bypass)\s(?:all |any |about )*(?:of )?"
        rf"(?:the |these |those |your )(?:\w+ )?{_RULES}\s(?:above|before|given|so far|"
        r"you (?:were|have|got|received)|that (?:were|came|you)|from (?:above|before|your|the))\b",
    ),
    (
        "it wants earlier instructions ignored",
        rf"{_START}(?:ignore|disregard|forget)\s(?:about\s)?(?:everything|anything|all|what(?:ever)?)\s"
        r"(?:that\s)?(?:(?:you|i|we|they|was|were|has been|have been|'ve|had)\s){0,3}"
        r"(?:(?:been\s)?(?:told|said|instructed|asked|taught|learned|know|given|above|"
        r"before|written|stated|previous(?:ly)?|prior)\b)",
    ),
    (
        "it wants earlier instructions ignored",
        r"\b(?:instead of|rather than) (?:following|obeying) (?:your|the) (?:\w+ )?(?:instructions?|"
        r"rules|guidelines)\b|"
        r"\b(?:your|all|any|the) (?:previous|prior|earlier|original|initial|above|old) "
        r"(?:instructions?|prompts?|rules|guidelines|directives|orders) "
        r"(?:are|is|have been|has been|were|no longer)\s(?:\w+ )?(?:void|null|cancel\w*|obsolete|invalid|superseded|"
        r"revoked|replaced|overridden|suspended|outdated|appl(?:y|ies)|ignored)",
    ),
    (
        "it gives the model another self",
        r"\byou(?:'re| are) (?:now|no longer) (?:an? )?(?:dan\b|unrestricted|unfiltered|"
        r"uncensored|jailbroken|free of|"
        r"free from|bound|restricted|limited|subject to|required to|in (?:\w+ ){1,3}mode|evil|rogue|operating|root\b|"
        r"the (?:system|admin\w*|developer|user)|an? (?:\w+ )?(?:ai|assistant|model|agent|bot) "
        r"(?:with(?:out)?|that|who|which|named|called|free|not)\b)|"
        r"\b(?:act|respond|behave|answer|operate|roleplay|role-play|pretend)\b[^.!?\n]{0,60}\b(?:with(?:out)? (?"
        r":any |no )?"
        r"(?:restrictions|filters?|limits|limitations|guidelines|censorship|safety|ethical|"
        r"moral|content polic\w+)|no restrictions|unrestricted|unfiltered|"
        r"uncensored|jailbr\w+|do anything now)|"
        r"(?:enter|enable|activate|switch (?:in)?to|turn on|engage)\s(?:\w+\s){0,2}(?:developer|"
        r"debug|god|dan|jailbreak|"
        r"admin(?:istrator)?|maintenance|unrestricted|root|sudo|override|dev)[ -]mode\b|\bdo anything now\b|"
        r"\bdan mode\b|\bdeveloper mode (?:is )?(?:now )?(?:enabled|activated|on|output)\b",
    ),
    (
        "it asks for what a model is told",
        rf"(?:{_START}|\b(?:can|could|would) you )(?:please )?(?:reveal|show|print|repeat|"
        r"output|display|leak|disclose|dump|expose|reproduce|"
        r"recite|share|write out|write down|tell|give|return|echo|list|include|send|quote|"
        r"summari[sz]e|translate|encode|reply with|respond with|append|copy)\s"
        r"(?:[\w']+\s){0,4}?(?:your|the|its|all|any)\s(?:\w+\s){0,3}?(?:(?<=your )|(?<=full )|"
        r"(?<=exact )|(?<=entire )|(?<=complete )|"
        r"(?<=original )|(?<=initial )|(?<=hidden )|(?<=secret )|(?<=internal )|(?<=system )|"
        r"(?<=verbatim )|(?<=the )|(?<=own ))"
        r"(?:system (?:prompt|message|instructions?)|(?:initial|hidden|secret|original|internal|system|developer) "
        r"(?:instructions?|prompts?|rules|guidelines|configuration))\b|"
        rf"{_START}(?:reveal|repeat|print|output|display|leak|disclose|dump|expose|recite|"
        rf"tell me|show me|give me)\s(?:[\w']+\s){{0,3}}?"
        r"your\s(?:\w+\s){0,2}?(?:instructions?|prompt|rules|guidelines|configuration|"
        r"api keys?|credentials|secrets?|passwords?)\b|"
        r"\brepeat (?:everything|all|the (?:text|words|contents?))\s(?:\w+\s){0,3}?above\b|"
        r"\bwhat (?:is|are|was|were) your (?:\w+ )?(?:system prompt|(?:initial|hidden|"
        r"system|"
        r"original|secret) instructions?)",
    ),
    (
        "it wants something kept from the person",
        r"\b(?:do not|don't|dont|never|must not|without|avoid|refrain from)\s(?:\w+\s){0,2}?"
        r"(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting|reveal|revealing|"
        r"disclos\w+|warn|warning|show|showing|let|letting|ask|asking|report|reporting)\s"
        r"(?:(?:this|it|that|anything|about|of|any|the|to|these|instructions?|message)\s){0,5}(?:the |your |to the )?"
        r"(?:user|human|operator|account owner|owner of the account)\b|"
        r"\bkeep (?:this|it|these instructions) (?:secret|hidden|a secret|confidential|"
        r"quiet)\b[^.!?\n]{0,20}\b(?:from|the) (?:the )?user\b",
    ),
    (
        "it addresses a model",
        r"\b(?:dear|attention|attn|hello|hey|hi|note (?:to|for)|notice (?:to|for)|message (?:to|"
        r"for)|instructions? (?:to|for)|"
        r"reminder (?:to|for)|important for|for the attention of|warning to|memo to)[:,]?\s(?:all |"
        rf"the |any |every |our |fellow |this )*{MODEL}\b"
        r"(?=\s*(?:[:,.!;—–-]|\n|$|reading|processing|that|who|assistants?|agents?|you|please|must|should))|"
        rf"\bif you(?:'re| are) (?:an? |the |any )?(?:\w+ )?{MODEL}\b|"
        rf"\b(?:to|for) you, (?:the |an? )?{MODEL}\b|"
        rf"\b(?:any |all |every |the )?(?:\w+ )?{MODEL}\s(?:\w+\s){{0,2}}?(?:reading|processing|"
        r"parsing|summari[sz]ing|analy[sz]ing|viewing|that reads?|who reads?|"
        r"which reads?|handling) this\b|"
        rf"\bas an? {MODEL}(?: \w+)?, you (?:must|should|will|are|have|need|shall)\b|"
        r"(?:^|[\n.!?]\s{0,3})(?:ai|assistant|agent|llm|chatbot|ai (?:model|assistant|"
        r"agent)|model|gpt|claude|chatgpt)\s?[:,]\s(?:please |you |now |do |don't |"
        r"ignore|when|if|always|never|send|add|from now|remember|forward|run|execute)|"
        r"\bbefore you (?:can )?(?:solve|complete|do|finish|continue|answer|proceed|start)\b[^.!?\n]{0,60}\b(?:t"
        r"ask|request|question|job)\b"
        r"[^.!?\n]{0,60}[,:]\s*(?:please |you )",
    ),
    (
        "it claims an authority",
        r"\bas (?:the|an|your|a) (?:\w+ )?(?:administrator|admin|developer|owner|root|"
        r"creator|operator|ceo|supervisor|"
        r"security (?:team|officer)|openai|anthropic|google)(?: of [\w ]{1,40})?,? i (?:hereby )?(?:authori[sz]e"
        r"|instruct|order|command|"
        r"require|permit|grant|direct|approve|allow)|"
        r"\b(?:i am|i'm|this is) (?:the |your |an? )?(?:system |chief )?(?:creator|openai|anthropic|"
        r"(?:openai|anthropic|google|microsoft)(?:'s)? \w+|developer who (?:made|built|created) you|ai developer)\b|"
        r"\b(?:admin|administrator|system|developer|root|security|emergency)[ _](?:override|"
        r"directive)\b(?=\s*[:\]—!.-])|"
        r"\bsudo mode\b|\boverride code\b|(?:^|\n)\s{0,4}override\s?:|"
        r"\b(?:your|the|all) (?:\w+ )?(?:rules|guidelines|restrictions|instructions|safety (?:protocols?|"
        r"checks?|filters?|measures))\s"
        r"(?:have (?:now )?(?:been )?(?:changed|disabled|lifted|removed|suspended|updated)|"
        r"are (?:now )?(?:disabled|lifted|off|suspended))\b|"
        r"\bsafety (?:protocols?|checks?|filters?|measures) (?:are |have been |is )?(?:now )?(?:disabled|"
        r"lifted|suspended|off)\b|"
        r"\b(?:directive|instruction|order|prompt|message)s? (?:supersedes?|overrides?|"
        r"replaces?) (?:all|any|your|every|the) (?:\w+ )?(?:prior|previous|other|earlier|"
        r"instructions?|rules|ones)\b",
    ),
    (
        "it has an encoded order",
        r"\b(?:decode|decrypt|base64|rot13|unhex)\b[^.!?\n]{0,80}\b(?:and|then)\s(?:\w+\s){0,2}?"
        r"(?:execute|follow|obey|run|do|perform|carry out|comply|act on|answer|respond)\b|"
        r"(?:解码|解密)[^。！？\n]{0,30}(?:执行|照做|遵循|运行|回答)",
    ),
    (
        "it wants earlier instructions ignored",
        r"(?<![不别勿会让能止图免可何么样])(?:请|立即|立刻|现在|马上|务必|必须|应该|完全|"
        r"直接)?(?:忽略|无视|忘记|忘掉|忽视|抛开|抛弃|丢弃|放弃|跳过|绕过|覆盖|取消|不要(?:再)?(?:理会|"
        r"遵守|遵循|听从|管)|停止遵循)"
        r"(?:掉)?[^。！？!?\n，,]{0,8}(?:之前|以前|以上|上面|上述|先前|前面|此前|所有|"
        r"全部|一切|任何|系统|原有|原来|你的|既有|现有|安全)"
        r"[^。！？!?\n，,]{0,10}(?:指令|指示|提示|规则|设定|要求|命令|限制|约束|说明|对话|内容|准则|规定|策略)",
    ),
    (
        "it gives the model another self",
        r"你(?:现在|从现在起|已经)?(?:是|变成|成为|扮演)[^。！？\n]{0,24}(?:没有(?:任何)?(?:限制|"
        r"约束|过滤|道德)|不受(?:任何)?(?:限制|约束)|无限制|越狱|DAN)|"
        r"(?:进入|开启|启用|切换到|激活)[^。！？\n]{0,6}(?:开发者|调试|越狱|管理员|上帝|"
        r"无限制|维护|超级)模式|不再受[^。！？\n]{0,12}(?:限制|约束)",
    ),
    (
        "it asks for what a model is told",
        r"(?:输出|显示|告诉我|泄露|泄漏|打印|复述|重复|给出|透露|展示|公开|说出|列出|返回)[^。！？\n]{0,12}"
        r"(?:系统提示|系统指令|系统消息|初始指令|初始提示|隐藏(?:的)?指令|你的(?:全部|"
        r"完整|原始)?(?:指令|提示词|设定|规则|密钥|密码|配置))|"
        r"把(?:你的)?(?:系统提示|系统指令|初始指令|提示词)[^。！？\n]{0,12}(?:发|告诉|输出|给)",
    ),
    (
        "it wants something kept from the person",
        r"(?:不要|别|勿|不得|无需|不必|禁止|切勿|千万别)(?:再)?(?:告诉|通知|告知|提醒|"
        r"让|向|对|跟)[^。！？\n，,]{0,4}(?:用户|使用者|操作员|对方本人|人类)(?:知道|透露|"
        r"提及|提起|说明|披露|报告|说)?",
    ),
    (
        "it addresses a model",
        r"(?:致|给|写给|请|提醒|告知|亲爱的|注意[:：，]?)(?:所有|各位|任何|正在阅读的|"
        r"阅读本文的|阅读此文的|处理本文的)*(?:的)?(?:AI|人工智能|大模型|大语言模型|语言模型|"
        r"智能体|机器人|智能助手|AI ?助手|AI ?模型)(?:助手|模型|代理|系统)?(?=\s*(?:[:：,，。!！]|"
        r"的|请|必须|应|需|在|阅读|$))|"
        r"如果你是(?:一个|一名|一款)?(?:AI|人工智能|大模型|大语言模型|语言模型|智能体|机器人|智能助手|助手)|"
        r"作为(?:一个|一名)?(?:AI|人工智能|大模型|语言模型|智能体|智能助手)(?:助手|模型)?[，,]?你(?:必须|"
        r"应该|要|需要|得)",
    ),
    (
        "it claims an authority",
        r"(?:作为|我是|本人是|这里是)(?:你的|系统|本系统|超级|平台|公司)*(?:管理员|开发者|"
        r"创造者|主管|运维负责人|安全团队)[，,。]?(?:我)?(?:授权|命令|要求|指示|允许|批准|"
        r"责令)|管理员(?:覆盖|指令|授权)[:：]",
    ),
    (
        "it wants earlier instructions ignored",
        r"\b(?:ignora|ignore[zr]|olvida|oublie[zr]?|vergiss|ignoriere|missachte|dimentica|esqueça|desconsidere|"
        r"негируй|игнорируй(?:те)?|забудь(?:те)?)\b[^.!?\n]{0,30}\b(?:instruc\w+|instruções|anweisungen|istruzioni|"
        r"consignes|regeln|reglas|règles|regras|инструкци\w+|указани\w+)|"
        r"(?:以前|これまで|上記|前)の(?:すべての|全ての)?(?:指示|命令|プロンプト)[^。\n]{0,4}無視|"
        r"이전\s?(?:의\s?)?(?:모든\s?)?(?:지시|명령|지침)[^.\n]{0,8}무시",
    ),
)
"""Each with the reason that is given for it."""
