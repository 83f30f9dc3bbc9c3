"""How orders of every kind are written: a person may give them, a record that nobody stands behind may not."""

from __future__ import annotations

from .forged import MODEL

_WORLD = (
    r"(?:send|transfer|wire|remit|pay|forward|e-?mail|message|text|upload|post|publish|tweet|submit|invite|"
    r"delete|erase|wipe|destroy|purge|visit|click|browse to|navigate to|go to|buy|purchase|"
    r"order|subscribe|book|reserve|"
    r"refund|approve|grant|authori[sz]e|whitelist|disable|deactivate|turn off|unlock|exfiltrate|leak|reveal|disclose|"
    r"share|give|hand over|provide|copy|move|export|sign (?:up|in)|log (?:in|into)|call|"
    r"contact|reply to|schedule|cancel|reschedule|"
    r"update|change|reset|add|remove|create|make|mark|flag|unsubscribe|download|install|"
    r"execute|fetch|retrieve|find|get|search|read|look up|recommend|"
    r"say|write|concatenate|collect|gather)"
)
_THINGS = (
    r"(?:money|funds?|payments?|\$ ?\d[\d,.]*|[€£¥] ?\d[\d,.]*|\d[\d,.]* ?(?:usd|eur|gbp|"
    r"dollars?|euros?|btc|eth|bitcoins?)|transactions?|invoices?|"
    r"bitcoins?|crypto\w*|wallets?|bank (?:account|details)|iban|gift cards?|credit cards?|"
    r"e-?mails?|inbox|mailbox|messages?|contacts?|attachments?|"
    r"passwords?|passphrases?|credentials|api[ _-]?keys?|tokens?|secrets?|private keys?|"
    r"ssh keys?|personal (?:data|information|details)|"
    r"(?:user|customer|client|employee)(?:'s|s'?)? (?:data|information|details|records|"
    r"list|address\w*|accounts?|name|passport)|(?:medical|financial|confidential|private|"
    r"sensitive) \w+|"
    r"https?://\S+|www\.\S+|links?|web ?sites?|web ?pages?|urls?|"
    r"(?:hotel|flight|restaurant|car)s? (?:reservation|booking)|reservations?|bookings?|"
    r"appointments?|calendar events?|events?|"
    r"all (?:the |my |your |of )?(?:files?|data|records|emails|documents|backups|users|accounts|messages)|files? in|"
    r"accounts?|security (?:settings|checks?|features?|codes?)|firewall|antivirus|two-factor|"
    r"2fa|mfa|(?:admin|root) (?:access|rights|privileges?|role)|permissions?|"
    r"(?:to|with|at|from) [\w.+-]{1,64}@[\w-]{1,64}\.\w+|slack|channel)"
)
_MUST = (
    r"(?:must|should|shall|will|need to|have to|has to|are (?:required|instructed|authori[sz]ed|"
    r"obliged|ordered|to)|ought to)"
)

ORDERS: tuple[tuple[str, str], ...] = (
    (
        "it tells what to do in the world",
        r"(?:^|[.!?;\n:>)\]]\s{0,3}|,\s(?:please |then |and )|\b(?:please|kindly|immediately|"
        r"then|you must|you should|you need to|and then|and also|also|now|to you:|action required:)\s)"
        r"['\"*_`(-]{0,3}(?:please |kindly |immediately |quickly |now |also |just |always )*"
        rf"{_WORLD}\s(?:[^\s.!?;]+\s){{0,9}}?{_THINGS}(?!\w)",
    ),
    (
        "it tells what to do in the world",
        r"(?:^|[.!?;\n:>)\]]\s{0,3}|\bplease )['\"*_`(-]{0,3}(?:please |kindly |immediately )*(?:run|"
        r"execute|paste|type|enter)\s(?:[^\s.!?;]+\s){0,6}?"
        r"['\"`]?(?:sudo |rm -\w|curl |wget |chmod |chown |dd if=|mkfs|drop table|truncate table|"
        r"shutdown|nc |bash -c|powershell|eval\b|base64)|"
        r"\brm\s-[rf]{1,2}\s+[/~*]|\bcurl\s[^\n|]{1,200}\|\s*(?:sudo )?(?:ba|z)?sh\b|\bdrop table\b",
    ),
    (
        "it gives a standing order",
        r"\b(?:from now on|from this (?:point|moment)(?: on| onwards?| forward)?|henceforth|"
        r"going forward|in all future (?:\w+ )?(?:conversations|sessions|responses|chats|"
        r"messages)|"
        rf"for all future \w+|until further notice),?\s(?:\w+\s){{0,3}}?(?:you\b|always|"
        r"never|do\b|don't|only|every|all|respond|answer|reply|treat|send|include|use|"
        r"address|refer|say|speak|"
        rf"consider|add|append|ignore|act|{_WORLD})",
    ),
    (
        "it gives a standing order",
        r"\b(?:when(?:ever)?|if|once|as soon as|every time|each time|any time|before|after|in case)\s(?:ever\s)?"
        r"(?:you|the (?:user|assistant|agent|model|customer|human)|a user|users?|someone|"
        rf"anyone|asked|prompted|{MODEL})\b[^.!?\n]{{0,120}}?"
        r"(?:[,:]\s*|\bthen\s)(?:then |please |you |always |never |immediately |instead |"
        rf"do not |don't |also |just |{_MUST} )*"
        rf"(?:{_WORLD}|do|run|use|respond|answer|reply|tell|include|append|insert|ignore|"
        r"refuse|claim|pretend|treat|output|print|return|state|direct|redirect|call)\b",
    ),
    (
        "it gives a standing order",
        r"\b(?:you|the (?:assistant|agent|model|ai)|(?:all |any )?(?:ai )?(?:assistants|"
        rf"agents|models))\s{_MUST}\s(?:now |always |never |not |only |immediately |first |"
        r"instead |also )*"
        r"(?:comply|obey|follow (?:these|this|the following)|ignore|disregard|trust|treat|"
        r"respond (?:only )?with|answer (?:only )?with|include|append|tell|say|refuse|"
        r"pretend|act as|"
        rf"prioriti[sz]e|remember|store|memori[sz]e|save|persist|{_WORLD}\s(?:[^\s.!?;]+\s){{0,9}}?{_THINGS})(?!\w)",
    ),
    (
        "it gives a standing order",
        r"(?:^|[.!?;\n:>)\]]\s{0,3}|\bplease )(?:remember|store|save|memori[sz]e|keep in mind|"
        r"note|add to (?:your )?memory)(?: this| it)?"
        r"(?: in| to| into)?(?: your)?(?: long-term)?(?: memory)?(?: for (?:later|future \w+))?\s?(?:that|"
        r":)\s(?:the user|you|from now|always|never|all|whenever|when)\b",
    ),
    (
        "it gives the model another self",
        r"\byou(?:'re| are) now (?:an?|the|in|my|to|acting|going|allowed|authori[sz]ed|"
        r"required|free|connected|called|named|known)\b|"
        r"\b(?:pretend|act) (?:to be |as |that you are |you are |you're )(?:if|though|"
        r"(?:an? |the |my )?(?:root|admin\w*|developer|system|user|customer|owner|human))\b|"
        r"\byour (?:new|only|real|true|actual|primary|sole) (?:task|goal|job|role|purpose|"
        r"objective|mission|instructions?|priority|name|identity) (?:is|are)\b",
    ),
    (
        "it tells a model what to answer",
        r"\b(?:append|include|add|insert|end|begin|start|prefix|prepend|repeat|mention|"
        r"put|print|say|write|attach|place|reference)\b[^.!?\n]{0,100}\b"
        r"(?:your|every|each|all|any|all future|the end of (?:your|every|the)) (?:\w+ ){0,3}(?:repl(?:y|"
        r"ies)|responses?|answers?|summar(?:y|ies)|outputs?|reports? you)\b|"
        r"\bbefore (?:you )?(?:respond|reply|answer|replying|responding|answering)\b|"
        r"\bin every (?:future )?(?:reply|response|answer|conversation)\b|\b(?:save|store|"
        r"write|add|commit|keep) [^.!?\n]{0,30}\b(?:to|in|into) your (?:\w+ )?memory\b|"
        r"(?:在|于)?(?:你的)?(?:每(?:次|个|条)|所有|下(?:一)?次)?(?:回复|回答|答复|总结|"
        r"摘要)(?:的)?(?:末尾|结尾|最后|开头|中)(?:都)?(?:必须|请|要|应|加上|附上|附加|"
        r"写上|包含)",
    ),
    (
        "it does away with a check",
        r"\b(?:skip|bypass|disable|ignore|turn off|without|circumvent)\s(?:all |any |the |every |further )*(?:\w+ )?"
        r"(?:safety|security|content)\s(?:\w+ )?(?:checks?|protocols?|measures?|confirmations?|"
        r"filters?|polic(?:y|ies)|reviews?|restrictions|rules)\b|"
        r"\b(?:proceed|continue|execute|act|go ahead) without (?:asking|any confirmation|"
        r"confirmation|confirming|approval|permission|further)\b|"
        r"\b(?:no|without any|without) (?:restrictions?|filters?|limits?|censorship)(?: or \w+)?\b(?=[^.!?\n]{0,"
        r"40}(?:$|[.!?\n]|whatsoever|comply|must))|"
        r"\b(?:comply with|obey|fulfil|accept) (?:every|all|any) (?:\w+ )?(?:requests?|"
        r"orders?|commands?|instructions?)\b",
    ),
    (
        "it comes as new instructions",
        r"(?:^|[\n.!?\])>]\s{0,3}|\b(?:your|the) )(?:important |urgent |critical |updated |"
        r"additional |hidden |secret |special |mandatory |revised |real |actual )*"
        r"(?:new |updated |revised |additional |special |hidden |secret |important )(?:\w+ )?(?:instructions?|"
        r"tasks?|directives?|objectives?|orders|commands?|system prompt)\s?(?:\w+\s?){0,3}[:：]|"
        r"\b(?:strictly )?(?:adhere to|comply with|obey|follow|execute) (?:the |these |"
        r"this |all )(?:following |new |below |above )?(?:instructions?|orders?|commands?|"
        r"directives?)\b|"
        r"\b(?:do|complete|perform|execute) (?:the following|this|these)(?: \w+){0,2} (?:first|"
        r"instead|immediately|now|before anything)\b",
    ),
    (
        "it looks like the call of a tool",
        r"[{,]\s{0,4}[\"'](?:tool|tool_name|function|tool_calls?|function_call|recipient_name)[\"']\s?:|"
        r"[{,]\s{0,4}[\"']name[\"']\s?:\s?[\"'][\w.-]{1,60}[\"'],\s{0,4}[\"'](?:arguments|"
        r"parameters|args|input)[\"']\s?:|"
        r"(?:^|\n)\s{0,4}action\s?:.{1,100}\n\s{0,4}action input\s?:|\bto=functions\.|\bfunctions\.\w{1,60}\(|"
        r"\b(?:call|invoke|use|trigger|execute|run) (?:the )?[`'\"]?(?:delete|transfer|"
        r"wire|post|http_post|upload|forward|publish|wipe|drop|send_(?:e?mail|money|message|"
        r"payment)|"
        r"shell|exec)(?:_\w{1,40})?[`'\"]? (?:tool |function )?(?:with|to|on|and|for)\b",
    ),
    (
        "it claims an authority",
        r"\b(?:this (?:request|action|message|operation|instruction|command) (?:is|has been|"
        r"was) (?:\w+ )?(?:pre-?)?(?:authori[sz]ed|approved|verified|sanctioned))|"
        r"\bpre-?authori[sz]ed by\b|\bthis is (?:an? )?(?:important|urgent|official|authori[sz]ed|"
        r"direct) (?:message|order|instruction|command|request) (?:from|for|to)\b|"
        r"\bby order of\b|\b(?:this is|i am|i'm) (?:the |your |an? )(?:system )?(?:administrator|"
        r"admin|developer|operator|security team|it department|support team)\b",
    ),
    (
        "it gives a standing order",
        r"(?:从现在起|从现在开始|从此以后|从今以后|今后|以后|此后)[，,]?(?:你|AI|助手|"
        r"模型|系统|智能体|请|所有|每次|都|一律)|"
        r"你(?:必须|务必|一定要|应当|需要|只能|不得|不许)(?:立即|马上|始终|总是|永远|首先|"
        r"先|只|严格)?(?:[^。！？\n]{0,20})|"
        r"(?:当|每当|如果|只要|一旦)(?:你|用户|有人|客户|助手|模型|被问)[^。！？\n]{0,40}[，,](?:就|"
        r"请|则|你|都|一律|必须|务必|立即)|"
        r"(?:请)?(?:记住|牢记|保存到(?:你的)?记忆|写入(?:你的)?记忆)[：:，,]?(?:用户|你|"
        r"从现在|以后|永远|总是|任何时候|每次)",
    ),
    (
        "it tells what to do in the world",
        r"(?:^|[。！？；;：:\n，,”」])\s{0,3}(?:请|立即|立刻|马上|务必|现在|帮我|并|然后|同时|接着|赶紧|速速)*"
        r"(?:把|将)[^。！？\n]{1,40}(?:发送|发给|发到|转发|转账|转给|汇给|汇到|上传|删除|"
        r"删掉|清空|公开|泄露|分享|提交|导出|付给|改成|改为|标记为|设为)|"
        r"(?:^|[。！？；;：:\n，,”」])\s{0,3}(?:请|立即|立刻|马上|务必|现在|帮我|并|然后|同时|接着|赶紧)*"
        r"(?:发送|转发|转账|汇款|支付|付款|上传|删除|清空|访问|打开|点击|下载|运行|执行|"
        r"购买|预订|批准|授权|泄露|透露|提供|邀请|关闭|禁用|重置)"
        r"[^。！？\n]{0,30}(?:邮件|邮箱|消息|密码|密钥|口令|令牌|凭证|账户|账号|元|美元|"
        r"款|资金|钱|链接|网站|网址|网页|http|文件|数据|记录|信息|权限|防火墙|验证|命令|"
        r"脚本|rm |curl |通讯录|联系人|隐私|订单|会议)",
    ),
    (
        "it comes as new instructions",
        r"(?:^|[\n。！？])\s{0,3}(?:重要|紧急|最新|新的|新|附加|隐藏|特殊|系统)(?:的)?(?:系统)?(?:指令|"
        r"指示|任务|命令|提示|通知)\s?[：:]|"
        r"(?:严格)?(?:遵循|遵守|服从|执行)(?:以下|下面|下列|如下|这些)(?:的)?(?:指令|指示|命令|要求)",
    ),
)
"""Each with the reason that is given for it."""
