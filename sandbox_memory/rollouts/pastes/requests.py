"""How people ask in English to have a text worked on: translated, summed up, answered, checked, made better, judged.

A request is open if it leaves the text to the rest of the message: "translate this", "proofread:", "is that legit?",
"I found this on the web". One that names what is elsewhere is not: "review the branch", "fix the bug: …".
"""

from __future__ import annotations

from .words import LETTERS, THING, Phrase

_NOUN = (
    rf"(?:{LETTERS}|sentences?|wording|phrases?|words|lines?|drafts?|essays?|statements?|claims?|quotes?|poems?|lyrics|"
    r"stor(?:y|ies)|blurbs?|bio|captions?|prompts?|cover letters?|cv|resume|advice|tips?|headlines?|press releases?|"
    r"notices?|ads?|answers?|responses?|feedback|notes|minutes|memos?|speech|snippets?|logs?|errors?|outputs?|"
    r"descriptions?|body|bits?|parts?|things?|stuff|content|copy|invitations?|invites?|offers?|complaints?|questions?|"
    r"proposals?|contracts?|clauses?|terms|polic(?:y|ies)|recipes?|abstracts?|summar(?:y|ies)|sms|posts?|info\w*|"
    r"rumou?rs?|facts?|quotations?|instructions?|readme|changelog|release notes|commit messages?|titles?|slogans?|"
    r"translations?|ones?|requests?)"
)
_BORDER = (
    r"(?=\s*(?:$|[^\w\s'’]|\s[–—-])|\s+(?:(?:in)?to|in|for|as|with|using|so|and|but|or|please|pls|out|over|down|again|"
    r"from|by|on|at|before|if|because|it|since|when|myself|than|real|asap|now|today|online|yesterday|earlier|just|"
    r"sounds?|looks?|seems?|reads?|is|are|was|were|means?|says?|even|still|too|up|under|inside|posted|last|while|"
    r"through|via|about|like|without|within|more|less|shorter|longer|clearer|better|nicer|simpler|friendlier|polite|"
    r"formal|concise|right|true|legit|correct|real|fake|safe|spam|make|sound|look|read|mean|say|apply|thx|thanks|"
    r"mate|ok(?:ay)?|good|fine|a|an|the|any|me|you|\w+ly)\b)"
)
_AHEAD = r"(?:the following|following|what follows|the below)"
_THINGS = (
    r"(?:accounts?|algorithms?|api|apps?|applications?|approach|bookings?|branch(?:es)?|bugs?|builds?|buttons?|calls?|"
    r"cases?|cells?|changes?|ci|class(?:es)?|clusters?|codebase|columns?|commands?|commits?|components?|config\w*|"
    r"containers?|crash(?:es)?|databases?|day|deploy\w*|devices?|diffs?|director(?:y|ies)|endpoints?|environment|"
    r"exercises?|features?|fields?|files?|flags?|flights?|flow|folders?|forms?|functions?|game|hosts?|images?|"
    r"installation|integration|issues?|items?|jobs?|keys?|librar(?:y|ies)|machines?|meetings?|methods?|migrations?|"
    r"models?|modules?|months?|morning|evening|afternoon|numbers?|objects?|orders?|packages?|patch(?:es)?|payments?|"
    r"phone|pictures?|photos?|pipelines?|plugins?|ports?|prs?|problems?|process(?:es)?|products?|programs?|projects?|"
    r"pull requests?|quarter|quer(?:y|ies)|records?|refactor\w*|release|repos?|repositor(?:y|ies)|requirements?|"
    r"reservations?|resources?|rows?|schema|screens?|screenshots?|scripts?|servers?|services?|sessions?|settings?|"
    r"setup|sheets?|sites?|solutions?|steps?|stuff|styles?|subscriptions?|systems?|tables?|tasks?|tests?|test suite|"
    r"times?|tools?|topics?|trips?|tutorials?|urls?|use case|users?|values?|variables?|versions?|videos?|way|weeks?|"
    r"weekend|workflows?|workspaces?|years?|books?|movies?|songs?|courses?|idea|kind of|sort of|type of|conversation|"
    r"chat|thread)"
)
"""What is worked on where it is, and does not stand in a message."""
_SAYING = r"(?:description|text|message|title|body|comment|review|report|log|output|notes?|policy|invite)"
_THIS = (
    rf"(?:(?:{_AHEAD}|below)(?: (?:\w[\w'-]* ){{0,2}}?{THING}\b)?|(?:the )?above(?: {_NOUN}\b)?|"
    rf"the (?:\w+ ){{0,2}}?{_NOUN} (?:below|above|that follows)|"
    rf"(?:all (?:of )?)?(?:this|these)\b(?! (?:(?!{_SAYING}\b)[\w'-]+ ){{0,2}}?{_THINGS}\b(?! {_SAYING}s?\b))"
    rf"(?: (?:\w[\w'-]* ){{0,2}}?{_NOUN}\b)?)"
)
_THAT = rf"(?:(?:that|those)(?: (?:\w+ )?{_NOUN}\b{_BORDER}|{_BORDER})|(?:it|them){_BORDER})"
_WORK = (
    r"(?:translat(?:e|ing)|summari[sz](?:e|ing)|sum(?:ming)? up|proof-?read(?:ing)?|paraphras(?:e|ing)|"
    r"rephras(?:e|ing)|reword(?:ing)?|shorten(?:ing)?|condens(?:e|ing)|polish(?:ing)?|transcrib(?:e|ing)|"
    r"(?:spell|grammar|fact)[- ]?check(?:ing)?|tl;?dr|eli5|copy-?edit(?:ing)?)"
)
"""What can only be done to a text."""
_EDIT = (
    r"(?:re-?writ(?:e|ing)|edit(?:ing)?|correct(?:ing)?|improv(?:e|ing)|simplify(?:ing)?|"
    r"(?:tidy|clean)(?:ing)? up)"
)
_LOOK = (
    r"(?:(?:double-?)?check(?:ing)?(?: out| over)?|verify(?:ing)?|validate|review(?:ing)?|critique|assess|evaluate|"
    r"rate|grade|judge|explain(?:ing)?|interpret|analy[sz](?:e|ing)|decode|decipher|"
    r"(?:take |have )?(?:a )?(?:quick |closer |good )?look(?:ing)? (?:at|over|through)|"
    r"read(?:ing)?(?: through| over)?|go(?:ing)? (?:through|over)|respond(?:ing)? to|reply(?:ing)? to|answer(?:ing)?|"
    r"write back to|react to|comment on|classify|categori[sz]e|parse|(?:re)?format|continue|break(?: down)?|digest|"
    r"skim|understand(?:ing)?|make sense of|deal with|see|compare|contrast|discuss|debunk|refute|rebut|argue against|"
    r"counter|dissect|annotate|outline|rank|score|anonymi[sz]e|redact|transliterate|locali[sz]e|adapt|expand(?: on)?|"
    r"elaborate(?: on)?|vet|scan|inspect|examine|study|get)"
)
_TAKE = (
    r"(?:extract|pull|get|list|find|collect|take|pick|identify|count|name|spot|highlight)(?:ing)? [^.!?:：\n]{1,50}? "
    r"(?:from|in|out of|of) "
)
_APART = (
    r"(?:sum|break|look|read|check|double-?check|clean|tidy|write|type|dumb|boil)(?:m?ing)? THIS "
    r"(?:up|down|over|through|out)\b"
)
_OF = (
    r"(?:summary|translation|gist|meaning|point|review|proofread\w*|version|tone|author|source|language|sentiment|"
    r"intent|topic) of |help(?: me)? with |(?:reply|respond|answer) (?:exactly )?with "
)
_REMADE = (
    r"(?:put|turn|convert|rework|render|change) THIS\b[^.!?:：\n]{0,40}\b(?:into|to|in|as)\b|mak(?:e|ing) THIS "
    r"(?:sound|read|look|more|less|(?:a (?:bit|little) )?\w+er\b|polite|formal|concise|readable)"
)
_WORKING = (
    r"(?:possible|doable|feasible|supported|allowed|expected|failing|failed|broken|working|works?|done|slow|fast|needed|"
    r"required|necessary|happen\w*|called|used|useful|due|ready|running|deployed|installed|implemented|tested|fixed|"
    r"configured|enough|easy|hard|difficult|safe to|better (?:than|to|with)|the (?:best|right|correct) (?:way|place|"
    r"one|approach|tool|port|branch|file)|part of|related|worth|an? (?:bug|feature|regression|known)|"
    r"far|wrong|sorted|idea|in (?:the|our|your) (?:repo|code\w*|docs|config\w*|scope))\b"
)
"""What is asked of things that run, not of texts."""
_ABOUT = (
    rf"(?:is|are|was|were|isn't|aren't|wasn't) THIS(?! (?:\w+ )?{_WORKING})\b|"
    r"(?:does|do|did|doesn't|will|would|could) THIS (?:even |really |actually |still )?(?:make (?:any )?sense|sound|"
    r"look|seem|read|apply|mean|hold|check out|work as|come across|feel)\b|"
    r"how (?:does|do|did) THIS (?:sound|look|read|come across|feel)\b|how(?:'s| is) THIS *\?|"
    r"(?:what|who|whom|where|which \w+|why|when)(?: (?:on earth|exactly|the hell))?(?:'s| (?:does|do|did|is|are|was|"
    rf"were|would|could|should)) THIS(?! (?:\w+ )?{_WORKING})(?: (?:even |really |actually )?(?:mean|say|want|imply|"
    r"tell|about|supposed|saying|trying|telling|asking|from|try|talk\w*|refer\w*|in (?:plain |simple )?\w+)\b"
    r"[^.!?\n]{0,40}|[ ]*(?=\?))|"
    r"what do you (?:think|make|say|reckon) (?:of|about|to) THIS|what about THIS *\??\s*$|"
    r"(?:any |your |some )?(?:thoughts|opinions?|feedback|comments|ideas|input|advice|suggestions|takes?|views?) "
    r"(?:on|about) THIS|(?:can|could|should|do|must|may) (?:i|we) (?:trust|believe|worry about|pay|click(?: on)?|"
    r"answer|reply to|respond to|agree (?:with|to)|accept|sign|follow|act on|ignore|rely on|take) THIS|"
    r"(?:how|what) (?:should|do|would|can|could|shall|must) (?:i|we|you) (?:answer|reply|respond|react|say|do|write)"
    r"(?: back)?(?: to| with| about)? THIS|any idea what THIS\b|who (?:wrote|sent|says|said|made) THIS|"
    r"(?:do|would) you (?:agree with|believe|buy|understand) THIS|(?:what|which) language is THIS|"
    r"(?:if|whether|think|sure|say|believe|wonder|suspect|reckon|guess|feel|afraid|looks? like)(?: that)? "
    r"THIS (?:is|are|was|were|looks?|sounds?|seems?|makes?|means?|says?|could|might|reads?|feels?)"
    rf"(?! (?:\w+ )?{_WORKING})\b|"
    r"what (?:is|are|'s|'re|do|does|did) (?:they|he|she|the (?:sender|author|writer|speaker|caller)) "
    r"(?:really |actually |even )?"
    r"(?:want\w*|mean\w*|try\w*|say\w*|ask\w*|need|tell\w*|talk\w*)\b"
)
_JUDGED = (
    r"(?:is|are|was|were|isn't|aren't) THIS (?:(?:really|actually|even|still|all|any|at all|indeed)\s+)*(?:right|true|"
    r"correct|legit\w*|real|fake|fraud\w*|spam|phishing|accurate|valid|genuine|trustworthy|reliable|grammatical\w*|"
    r"(?:well|badly)[- ]\w+|polite|clear|readable|fair|legal|binding|plausible|misleading|nonsense|a (?:scam|joke|lie|"
    r"hoax|fraud|threat))\b|(?:does|do) THIS (?:even |really |actually )?(?:make (?:any )?sense|sound|read|mean)\b|"
    r"what(?: (?:on earth|exactly))? (?:does|do|did) THIS (?:even |really |actually )?(?:mean|say|want|imply)\b|"
    r"what do you (?:think|make) (?:of|about) THIS|how (?:should|do|would|can) i (?:answer|reply|respond)(?: to)? THIS|"
    r"(?:can|should|do) (?:i|we) (?:trust|believe|answer|reply to|respond to) THIS"
)
_THEY = (
    r"(?:some(?:one|body)|(?:a|an|my|our|the|one of (?:my|our)|his|her|their) (?:[\w'’-]+ ){1,4}?|"
    r"(?:he|she|they|you guys)\b|[A-Z][\w'-]{1,20} (?:[A-Z][\w'-]{1,20} )?)\s*(?:just |also |has |have |keeps? )*"
)
_TOLD = (
    r"(?:sent|wrote|posted|forwarded|texted|mailed|e-?mailed|messaged|gave|told|dm'?e?d|shared|shows?|replied|said|"
    r"published|claims?|claimed|sending|handed|pinged|left|put up|says|writes|pasted|answered|asked|asks|responded|"
    r"commented|announced|states?|stated|dropped|whatsapped|say|state|reads?|goes|claim|told)"
    r"(?: (?:me|us|to me|to us|back|over|around|out|him|her|you)\b)?"
)
_SPOKE = (
    r"(?:complain\w*|asked|explained|argued|insist\w*|warn\w*|suggest\w*|recommend\w*|mentioned|noted|added|confirmed|"
    r"promised|reported|tweet\w*|shouted|object\w*|demand\w*|pointed out|advis\w*|instructed|whisper\w*|predict\w*)"
)
_HERE = (
    r"(?:got|get|received|found|copied|saw|seen|read|came across|heard|pulled|grabbed|pasted|stumbled (?:up)?on|"
    rf"came over|dug up|spotted|noticed|was sent|were sent|{_TOLD})(?: (?:with|in|on|yesterday|today|just|also|"
    rf"recently)){{0,2}} THIS(?! (?:\w+ing|{_WORKING}))"
)
_CAME = (
    r"(?:(?:this|these)(?: \w+){0,2} (?:(?:is|are|was|were) (?:what|from|posted|sent|written|in my (?:inbox|mail)|"
    r"on the web|in the (?:news|mail|chat))\b|(?:just )?(?:came|comes|arrived|popped up|appeared|showed up|landed|"
    r"went out)\b)|(?:^\W*|\b(?:i|we) )(?:just )?(?:got|received|found|was sent) (?:a|an|another) (?:\w+ ){0,2}?"
    rf"(?:{LETTERS}|sms|notice|memo|note|dm|voicemail|flyer|leaflet|offer|warning)\b|"
    r"(?:(?:my|our|the|a|an|one of (?:my|our)) (?:[\w'’-]+ ){1,3}|he |she |they )(?:just )?(?:texted|messaged|"
    r"e-?mailed|mailed|wrote back|wrote|replied|answered|dm'?e?d)(?: (?:to )?(?:me|us))?(?: (?:back|today|yesterday|"
    r"this morning|earlier|last \w+|about [\w ]{1,30}))? *(?=[.!?:：;,…–—-]|$))"
)
_SOURCE = (
    r"^\W*(?:(?:copied|copy|pasted|taken|quoted|quoting|forwarded|fwd|seen|found|spotted|read|heard|straight|excerpt|"
    r"snippet|screenshot|text|quote|message|e-?mail|mail|note|statement|answer|reply|response)(?: (?:this|it))? "
    r"(?:from|on|in|off|at|by|of)\b|from (?:the|their|our|a|my|his|her|an|[A-Z]\w+)\b)[^\n]{0,80}$"
)
_HERES = (
    r"\bhere(?:'s| is| are|'re) (?:my|an?|the|some|our|his|her|their|one) (?:(?!link\b)[\w'-]+ ){0,3}?"
    rf"{_NOUN}(?=\W|$)(?! of (?:my|our|what i))"
)
_POLITE = (
    r"(?:(?:hi|hello|hey|please|pls|can|could|would|will|you|u|i|need|want|kindly|just|also|then|so|ok|okay|now|and|"
    r"to|like|help|me|us|let's|quickly|quick|one|more|give|your|a|do|is|it|that|this|go|ahead|there|again)\b"
    r"[\s,]*){0,8}"
)
_LEFT_OUT = (
    rf"(?:{_WORK}|(?:a )?(?:quick )?(?:summary|translation|proofread(?:ing)?|gist|paraphrase)|(?:wdyt|thoughts|"
    r"opinions?|feedback|comments|ideas|suggestions|any (?:thoughts|ideas|feedback|comments|opinions|advice)|"
    r"your (?:thoughts|opinion|take))(?=\W*[?:：]|\W*$)|"
    r"(?:how|what) (?:should|do|would|can|could|shall|must|to) (?:i |we |you )?(?:answer|reply|respond|react|say|"
    r"write)(?: back)?(?: (?:him|her|them|to (?:him|her|them)))?|"
    r"(?:(?:a (?:bit|little) )?(?:shorter|longer|simpler|clearer|nicer|friendlier|politer)|(?:more|less) (?:formal|"
    r"casual|polite|concise|direct|wordy|rude|technical))(?=\W|$)|"
    r"(?:answer|(?:reply|respond|write back) to) (?:him|her|them|this|that)|"
    r"what do (?:they|you) (?:want|mean|think)(?: (?:by|from) \w+)?|(?:any|see any|spot any|are there any) (?:\w+ )?"
    r"(?:mistakes|errors|typos|red flags)|what(?:'s| is| are) the (?:\w+ ){0,2}?(?:point|gist|takeaways?|message|tone|"
    r"meaning|catch)(?: here)?|explain (?:it )?(?:to me )?(?:like|as if)\b[^.!?:：\n]{0,40}(?=\s*(?:[:：]|$))|"
    r"(?:legit|scam|real|true|fake|spam|phishing|right|correct)(?: or (?:not|fake|legit|scam|real|false|wrong|spam))?"
    r"(?=\s*\?)|(?:edit|correct|improve|rewrite|simplify|check|review|explain|reply|respond|answer)(?=\s*[:：]\s*$))"
)
_HOW = (
    r"(?:[ ,]+(?:(?:in)?to|in|for|as|with|this|that|it|please|pls|me|us|a|an|the|and|or|of|at|most|max|about|briefly|"
    r"quickly|now|bullets?|bullet points|sentences?|words?|lines?|points?|paragraphs?|one|two|three|four|five|\d+|"
    r"short|plain|simple|thanks|thx|my|our|boss|team|mom|english|german|french|spanish|italian|chinese|japanese|"
    r"korean|portuguese|russian|dutch|polish|arabic|hindi|turkish|swedish|mandarin|[A-Z][a-z]+(?:ese|ish|ian|an|ch)))*"
)
_LANGUAGE = (
    r"(?:english|german|french|spanish|italian|chinese|japanese|korean|portuguese|russian|[A-Z][a-z]+(?:ese|ish|ian))"
)
_BARE = rf"^\W*{_POLITE}{_LEFT_OUT}{_HOW}\W*$"
"""A line that says what to do and not with what."""
_FIX = (
    r"(?:fix|correct|check|improve|polish|mend|clean up|adjust|review|look at|watch)(?:ing)? (?:(?:the|my|any|all|its?|"
    r"this|some|possible|for|our) ){0,3}(?:grammar\w*|spelling|typos?|punctuation|wording|phrasing|style|tone|english|"
    r"german|french|chinese|language|mistakes|capitali[sz]ation|formatting|flow|readability)\b[^.!?:：\n]{0,60}"
)
_WRITTEN = r"(?:(?:e-?|text )?(?:mails?|messages?)|letters?|tweets?|sms|announcements?|memos?|press release|invitation)"
_DICTATED = (
    r"(?:write|draft|compose|send|prepare|post|make|create|type|reply|respond|answer|text|e-?mail|message|publish|"
    rf"put together)(?: (?!that|which|for|to|of|in|with|about|and)[\w'-]+){{0,6}}? {_WRITTEN}\b(?! that| which)"
    r"[^.!?:：\n]{0,60}|(?:write|draft|compose|send|prepare|post|make|create|type|reply|respond|answer|text|e-?mail|"
    r"message|publish|put together)\b[^.!?:：\n]{0,80}?\b(?:(?:that|which) (?:says|reads|states|goes)|saying|reading|"
    r"stating|with the (?:\w+ )?(?:text|body|content|words|message|wording)|as follows)[^.!?:：\n]{0,20}"
)
_SMALL = r"(?:question|request|tip|suggestion|web|page|site)"
_PASSED_ON = (
    r"(?:e-?mail|mail|send|text|post|tweet|publish|forward|message|share|announce) (?:(?!about\b)[\w'-]+ ){0,3}?"
    r"(?:this|these|the following)\b[^.!?:：\n]{0,40}"
)
_WHOSE = r"(?:me )?(?:the|my|our|his|her|their|an?|[\w]+['’]s|some) [^.!?:：\n`/]{0,60}?"


def _of(pattern: str, what: str) -> str:
    return pattern.replace("THIS", what)


_LETTER = (
    rf"(?:{LETTERS}|note|notice|sms|memo|flyer|leaflet|"
    r"statement|quote|claim|essay|draft|poem|description|wording|sentence|phrase)"
)
_BEGIN = r"(?:^|(?<=[\s,;.!?…:(]))"
_DOING = (
    r"(?:do|doing|done|did|use|using|fix|fixing|solve|run|running|build|install|deploy|implement|set up|configure|"
    r"avoid|prevent|handle|automate|speed|debug|try|add|change|follow|like|apply|keep|prefer|want|need|before|after|make|test|"
    r"remember|note|about|know|is|was|has|had|for|of all|with|at|on|in|by|through|merge|finish|undo|revert|skip|"
    r"start|stop|cancel|pay|book|order|buy|delete|remove|commit|push|ship|move|rename|refactor|call|cause|caused|reproduce)"
)
_WORKS = (
    rf"{_APART}|(?:(?:{_WORK}|{_EDIT}|{_LOOK}) (?:me |us )?|{_TAKE}|{_OF})(?:all (?:of )?)?THIS|"
    rf"(?:{_WORK}|explain|tell me|understand|know) (?:me |to me )?what (?:this|they|he|she|these)\b"
)

OPEN = Phrase(
    rf"{_BEGIN}(?:{_of(f'{_WORKS}|{_REMADE}|{_ABOUT}|{_HERE}', _THIS)}|{_FIX}(?=\W*$))|{_CAME}|{_SOURCE}|{_HERES}|"
    rf"(?:^|(?<=[.!?…] ))(?![^.!?\n]*\b{_DOING} (?:this|these)\b)(?=[^.!?\n]{{1,160}}\?)[^.!?\n]{{0,120}}?\b"
    rf"(?<!^){_THIS}(?! (?:\w+ )?{_WORKING})(?=[^.!?\n]*\?)|[\w]+'s (?:\w+ )?{_LETTER}\b(?=[^.!?\n]*\?)|"
    rf"{_BARE}|\b(?:this|these) (?:[\w'-]+ ){{0,2}}?{_LETTER}\b|"
    rf"^\W*{_POLITE}{_WORK} (?:for|to|into|in|as|so) [^.!?:：`/\n]{{1,60}}\W*$|"
    rf"^\W*{_POLITE}{_WORK}(?! (?:the|all|my|our|every|each|any|some|{_THINGS}|readme|docs?|notes)\b)"
    r"(?: [\w'’-]+){0,6}\W*$"
)
"""A request on a text that stands somewhere in the message."""
BACK = Phrase(
    rf"{_BEGIN}(?:(?:{_WORK}|(?:reply|respond|answer)(?:ing)?(?: to)?|{_EDIT}|explain|(?:summary|translation|gist) of) "
    rf"(?:me )?{_THAT}|{_of(f'{_APART}|{_REMADE}|{_JUDGED}', _THAT)})"
)
"""A request on a text that stands before it."""
WRITTEN = Phrase(
    rf"\b(?:an?|another|her|his|their|this|my) (?:[\w'-]+ ){{0,2}}?(?:{_LETTER}|apology|speech|bio|caption|"
    r"blurb|story|toast)\b[^?\n]*\b(?:it|that|them)\b"
)
"""What the text is that a request calls "it"."""
AHEAD = Phrase(rf"\b{_AHEAD}\b")
"""A text that stands after it."""
NAMED = Phrase(rf"\b(?:{_AHEAD}|(?:this|these) (?:\w[\w'-]* ){{0,2}}?{_LETTER})\b")
"""A text that may stand after it in the same line."""
ANNOUNCES = Phrase(
    rf"^\W*{_POLITE}(?:in|into|to) {_LANGUAGE}\b[^.!?:：\n]{{0,20}}$|"
    rf"\b(?!{_DOING} )[\w'-]+ (?:this|these)\b(?! {_THINGS}\b)(?! (?:\w+ )?{_WORKING})(?! way) [^.!?:：\n]{{1,40}}$|"
    rf"{_BEGIN}(?:{_FIX}|{_DICTATED}|{_PASSED_ON}|(?:{_WORK}|get the gist of) {_WHOSE}{THING}\b[^.!?:：\n`/]{{0,40}}|"
    rf"(?:this|his|her|their) (?:[\w'-]+ ){{0,2}}?(?!{_SMALL}){_LETTER}|{_of(_WORKS, _THAT)})\s*$"
)
"""Before a colon: what follows it is a text to be worked on, or to be written."""
ANNOUNCES_LINES = Phrase(
    rf"{_BEGIN}(?:{_WORK}|{_EDIT}|{_LOOK}) {_WHOSE}{_NOUN}\b[^.!?:：\n`/]{{0,40}}\s*$|^\W*{_POLITE}{_LOOK}\s*$|"
    rf"^\W*{_POLITE}{_WORK}\b[^:：`/\n]{{0,100}}$"
)
"""The same, if the colon ends its line."""
SPEAKS = Phrase(
    rf"(?:^|[,;.] *|\b(?:and|but|so) )(?:{_THEY}|(?!(?:i|we|you)\b)[^,;.!?:\n]{{1,60}} )(?:{_TOLD}|{_SPOKE})"
    r"(?<!i said)(?<!we said)(?<!you said)(?<!i say)(?<!i told you)\s*$"
)
"""Before a colon: somebody else's words follow."""
SPEAKS_LINES = Phrase(rf"^\W*{_THEY}{_TOLD} (?:on|in|to|at|from|via|under|during|about) [^.!?:：\n]{{1,40}}$")
"""The same, if the colon ends its line."""
OWN = Phrase(
    r"\b(?:(?:my|our) (?:\w+ )?(?:rules?|preferences?|conventions?|requirements?|wishes|setup|settings|defaults?|style|"
    r"guidelines?|instructions?|needs|habits|constraints|goals?|tasks?)|remember|keep in mind|always|never|from now on|"
    r"(?:what|how) (?:i|we) (?:want|need|think|like|prefer|do)|do (?:this|these|the following)|note (?:the following|"
    r"that)|the following (?:\w+ )?(?:rules?|steps?|things?|tasks?|changes?|conventions?|preferences?|requirements?|"
    r"guidelines?))\b"
)
"""In a request: what follows are the person's own wishes."""
COURTESY = Phrase(
    r"^\W*(?:(?:thanks?|thank you|thx|ty|cheers|please|pls|ok(?:ay)?|hi|hello|hey|best|regards|so much|a lot|"
    r"in advance|there|all|everyone|team|keep it \w+|make it \w+|asap|urgent(?:ly)?|no rush|quickly|briefly|"
    r"be (?:brief|honest|short)|good (?:morning|evening)|again|in \w+ (?:bullets?|sentences?|words?|lines?))\b"
    r"[\s,.!?–-]*)+$"
)
TASK = Phrase(
    r"\b(?:implement|build|fix|add|create|make|do|use|change|update|set up|tasks?|features?|spec\w*|requirements?|"
    r"goals?|plan|steps?|context|background|setup|about (?:me|us|you)|notes?|facts?|rules?|preferences?|i|we|my|our|"
    r"please|ideas?|todos?|bug|issue|problem|question|request|important|style|conventions?|config\w*|data|example)\b"
)
"""Before a colon: what follows is what a person wants done, or knows, however long it is."""
SELF = Phrase(r"\b(?:i|we|my|our|me|us|mine|i'm|i've|i'd|we're|we've)\b")
FIRST_PERSON = Phrase(r"^\W*(?:(?:hi|hello|hey|ok|so|well|and|but)\b[\s,]*)*(?:i|we|my|our|i'm|i've|i'd|we're|we've)\b")
"""A person speaks of themselves."""
RESUMES = Phrase(
    r"^\W*(?:(?:hi|ok|so|well|now|anyway|and|but)\b[\s,]*)*(?:(?:i|we|my|our|i'm|i've|i'd|we're|we've)\b|"
    r"(?:can|could|would|will|should|do|does|did|is|are|what|how|why|when|where|which|who|any)\b[^.\n]{0,200}\?\s*$)"
)
"""A paragraph in which the person goes on after somebody else's words."""
ATTACHED = Phrase(
    rf"\b(?:attach(?:ed|ment|ments)|enclosed|uploaded)\b|\b(?:{_WORK}|{_EDIT}|{_LOOK}|{_TAKE}|{_OF}|compare|use|what|"
    r"which|does|do|is there|are there|any\w*|based on|according to)\b[^.!?:：\n]{0,40}?\b(?:the|this|these|that) "
    r"(?:\w+ ){0,2}?(?:file|document|doc|pdf|article|report|letter|mail|e-?mail|message|transcript|paper|contract|"
    r"spreadsheet|notes|minutes|memo|invoice)s?\b"
)
"""A request on a document that a message carries."""
