"""In which language a text is: a memory keeps the one in which it was said.

Languages of different scripts are told apart by their letters, those of one script by their commonest words, and only
where that is plain. What has no language does not count: code, names, paths, numbers, and what stands in quotation
marks. A sentence with words of another language in it is of the language that joins them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from .wording import IDENTIFIER, SENTENCE_END, hard_words, normal

TRANSLATED = "it is not in the language in which it was said; the words that were said are kept"
"""Why a text was not taken as it was."""
LEAST = 2
"""Words, or pairs of characters where words are not set apart, from which on a text has a language."""
JOINING = 2
"""How much more a word of another script than the Latin one counts: in such a sentence Latin words are terms."""
LONGEST = 400
"""Characters that the words which were said may have, to stand for themselves."""

_LITERAL = re.compile(
    r"```.{0,4000}?```|`[^`\n]{0,400}`|\"[^\"\n]{2,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^«»\n]{1,400}»|"
    r"「[^「」\n]{1,400}」|『[^『』\n]{1,400}』|《[^《》\n]{1,400}》|⟦[^⟦⟧\n]{0,100}⟧",
    re.DOTALL,
)
_OPTION = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*|\b\d[\w.,:/-]*")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w'-]*|^[A-Z][\w'-]+(?: [A-Z][\w'-]+)+(?=:)", re.MULTILINE)
_UNSPACED = {
    "han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "kana": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d",
    "thai": "\u0e00-\u0e7f",
    "lao": "\u0e80-\u0eff",
    "khmer": "\u1780-\u17ff",
    "burmese": "\u1000-\u109f",
}
_SPACED = {
    "latin": "a-zA-Z\u00c0-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "hebrew": "\u0590-\u05ff",
    "hangul": "\uac00-\ud7af\u1100-\u11ff",
    "devanagari": "\u0900-\u097f",
    "bengali": "\u0980-\u09ff",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "gujarati": "\u0a80-\u0aff",
    "punjabi": "\u0a00-\u0a7f",
    "kannada": "\u0c80-\u0cff",
    "malayalam": "\u0d00-\u0d7f",
    "georgian": "\u10a0-\u10ff",
    "armenian": "\u0530-\u058f",
    "ethiopic": "\u1200-\u137f",
}
_SCRIPTS = {name: re.compile(rf"[{chars}]") for name, chars in _UNSPACED.items()} | {
    name: re.compile(rf"(?<![{chars}])[{chars}'’]*[{chars}]{{2,}}") for name, chars in _SPACED.items()
}
_COMMON = {
    "english": "the and is are was were of to with that this for not it you we our my they from when before after has "
    "have be by should must always never if or as at your their does do don't would which who all only in on no use "
    "uses user wants want prefers prefer can cannot will each every than into about then these those",
    "german": "der die das und ist sind nicht mit ein eine einen für auf den dem von zu wir ich sie immer nie bitte "
    "oder wenn vor nach auch werden wird unser unsere mein meine kein keine bei im in zum zur aus dass sollte müssen "
    "an er es so was will als benutze verwende möchte soll nur",
    "french": "le la les des une est sont pas avec pour dans sur nous vous je il elle toujours jamais et ou que qui "
    "notre votre mon mes ce cette du au aux avant après quand doit y sans plus être en de on ne veut un",
    "spanish": "el los las una es son no con para por en nosotros usted yo siempre nunca y o que quien nuestro nuestra "
    "mi este esta del al antes después cuando debe sin más ser está como pero de la un quiero quiere",
    "portuguese": "o os as uma é são não com para por em nós você eu sempre nunca e ou que quem nosso nossa meu este "
    "esta do da dos ao antes depois quando deve sem mais ser está como mas de a um quero",
    "italian": "il lo gli una è sono non con per nel nella noi voi io sempre mai e o che chi nostro nostra mio questo "
    "questa del della al prima dopo quando deve senza più essere come ma di la un in voglio",
    "dutch": "de het een en is zijn niet met voor op van naar wij ik je altijd nooit of die dat als onze mijn geen bij "
    "uit na wanneer moet zonder meer worden ook maar in was wil we",
}
_TONGUES = {
    word: tuple(name for name, words in _COMMON.items() if word in words.split())
    for words in _COMMON.values()
    for word in words.split()
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_OWNER = re.compile(r"(?=[\w.@-]*[\d_@])[A-Za-z0-9][\w.@-]*: ")


def foreign(text: str, quotes: Iterable[str]) -> bool:
    """True if a text is in a language that none of the quotes is in; False where either has none to tell."""
    script, tongue = language(text)
    known = [found for found in map(language, quotes) if found[0]]
    if not script or not known:
        return False
    same = [other for other in known if other[0] == script]
    return not same or bool(tongue and all(other[1] for other in same) and tongue not in {other[1] for other in same})


def in_own_words(text: str, quotes: Sequence[str]) -> str:
    """What was said, in place of a text in another language: the sentence that says most of it; never too long."""
    spoken = [sentence for quote in quotes for sentence in SENTENCE_END.split(quote) if language(sentence)[0]]
    spoken = spoken or list(quotes)
    hard = set(hard_words(normal(text)))
    best = max(spoken, key=lambda each: (len(hard & set(hard_words(normal(each)))), -spoken.index(each)))
    words = " ".join(best.split()).strip(" -*>#.。")
    if len(words) > LONGEST:
        cut = max((words.rfind(mark, 0, LONGEST) for mark in ",;，；、 "), default=-1)
        words = words[: cut if cut > LONGEST // 2 else LONGEST].rstrip(" ,;，；、")
    owner = _OWNER.match(text)
    return f"{owner.group()}{words}" if owner and owner.group() not in words else words


@lru_cache(maxsize=1 << 12)
def language(text: str) -> tuple[str, str]:
    """The script that carries a text, and the language if it shares that with others and is plain; else empty texts.

    Chinese and Japanese share characters: with kana among them, a text is Japanese.
    """
    plain = _LITERAL.sub(" ", text)
    for pattern in (IDENTIFIER, _OPTION, _NAME):
        plain = pattern.sub(" ", plain)
    sizes = {name: len(pattern.findall(plain)) / (2 if name in _UNSPACED else 1) for name, pattern in _SCRIPTS.items()}
    if sizes["kana"] and 10 * sizes["kana"] >= sizes["han"]:
        sizes["kana"], sizes["han"] = sizes["kana"] + sizes["han"], 0
    weights = {name: size if name == "latin" else JOINING * size for name, size in sizes.items()}
    script = max(weights, key=lambda name: weights[name])
    if weights[script] < LEAST:
        return "", ""
    return script, _tongue(plain) if script == "latin" else ""


def _tongue(plain: str) -> str:
    """The language of a text in Latin letters, by its commonest words; empty if two are possible."""
    found: Counter[str] = Counter()
    for word in _WORD.findall(plain.lower().replace("’", "'")):
        found.update(_TONGUES.get(word, ()))
    ranked = [*found.most_common(2), ("", 0), ("", 0)]
    (name, most), (_, second) = ranked[:2]
    return name if most >= LEAST and most >= 2 * second + (second > 0) else ""
