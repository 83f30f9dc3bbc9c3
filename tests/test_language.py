"""A memory keeps the language it was said in: a model that translates is asked again; then what was said is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sandbox_memory.governance.language import TRANSLATED, foreign, in_own_words, language
from sandbox_memory.models import Answer, ConsolidationDraft, DraftOperation, Request
from sandbox_memory.records import Kind, Usage

from .kit import LIMITS, EchoModel, agree, pipeline, process, run, state, tell, texts

# ---- which language


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Our staging port is 8443.", "latin"),
        ("我们的测试端口是8443", "han"),
        ("我們的測試連接埠是8443", "han"),
        ("把 deploy script 的 timeout 改成 30s", "han"),
        ("用 make test 跑测试", "han"),
        ('`make test` 失败: "ENV is not set"', "han"),
        ("ask 李雷 about the invoices", "latin"),
        ("ステージングのポートは8443です", "kana"),
        ("우리 스테이징 포트는 8443 입니다", "hangul"),
        ("порт стенда теперь 8443", "cyrillic"),
        ("منفذ الخادم التجريبي هو 8443", "arabic"),
        ("พอร์ตคือ 8443", "thai"),
        ("`make test ENV=prod`", ""),
        ("8443", ""),
        ("src/app/main.py:12", ""),
        ("mia_li_3668: 8443", ""),
        ("⟦secret:password⟧", ""),
        ("", ""),
    ],
)
def test_the_script_that_carries_a_text(text: str, script: str) -> None:
    assert language(text)[0] == script


@pytest.mark.parametrize(
    ("text", "tongue"),
    [
        ("Always use the tabs of the editor", "english"),
        ("Bitte immer auf Deutsch antworten und nie auf Englisch", "german"),
        ("Répondez toujours en français, et jamais en anglais", "french"),
        ("Siempre responde en español, por favor", "spanish"),
        ("Voglio sempre risposte brevi, non lunghe", "italian"),
        ("Ik wil altijd korte antwoorden", "dutch"),
        ("Tabs", ""),
        ("staging port", ""),
    ],
)
def test_the_language_of_latin_letters_where_it_is_plain(text: str, tongue: str) -> None:
    assert language(text)[1] == tongue


PAIRS = [
    ("我们的测试端口是8443", "The test port is 8443"),
    ("The test port is 8443", "测试端口是8443"),
    ("我喜欢简短的回答", "The user prefers short answers"),
    ("ポートは8443です", "The port is 8443"),
    ("ポートは8443です", "端口是8443，请注意"),
    ("порт стенда теперь 8443", "The port of the stand is 8443 now"),
    ("Bitte immer auf Deutsch antworten und nie auf Englisch", "Always answer in German and never in English"),
    ("El puerto de staging es el 8443 y no el 8080", "The port of staging is 8443 and not 8080"),
    ("把 deploy script 的 timeout 改成 30s", "The timeout of the deploy script is 30s"),
]


@pytest.mark.parametrize(("said", "text"), PAIRS)
def test_a_translation_is_foreign_and_what_was_said_is_not(said: str, text: str) -> None:
    assert foreign(text, [said]) and not foreign(said, [said])
    assert not foreign(text, [said, text]), "one of the quotes is in it"


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("`make test` showed 12 passed", ["make test", "12 passed in 3.1s"]),
        ("李雷负责支付", ["李雷 owns payments, 他负责支付"]),
        ("Port: 8443", ["端口是8443"]),
        ("用 `pnpm install` 装依赖", ["装依赖请用 pnpm install"]),
        ("mia_li_3668: 我喜欢靠过道的座位", ["我的用户名是mia_li_3668", "我喜欢靠过道的座位"]),
        ("anything at all", []),
        ("anything at all", [""]),
    ],
)
def test_what_has_no_language_of_its_own_is_not_judged(text: str, quotes: list[str]) -> None:
    assert not foreign(text, quotes)


def test_in_own_words_is_the_sentence_that_says_most_of_it() -> None:
    said = "你好。我们的测试端口是8443。谢谢你的帮助。"
    assert in_own_words("The test port is 8443", [said]) == "我们的测试端口是8443"
    assert in_own_words("mia_li_3: The test port is 8443", [said]) == "mia_li_3: 我们的测试端口是8443"
    assert in_own_words("x", ["make test", "端口"]) == "make test"
    assert len(in_own_words("The port", ["很长的话，" * 300])) <= 400


# ---- a model that translates

SAID = {
    "我们的测试端口是8443。": "The test port is 8443.",
    "我喜欢简短的回答。": "The user prefers short answers.",
    "Bitte immer auf Deutsch antworten und nie auf Englisch.": "Always answer in German and never in English.",
    "Our staging port is 9443.": "我们的预发布端口是9443。",
}


class Translating(EchoModel):
    """Translates every text; `obeys` says whether it stops when it is told to."""

    def __init__(self, obeys: bool, *, quotes: bool = False) -> None:
        super().__init__()
        self.obeys, self.quotes = obeys, quotes
        self.inputs: list[str] = []

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        found = await super().answer(request)
        if hasattr(found.value, "memories"):
            self.inputs.append(request.input)
            if not (self.obeys and "Do not translate." in request.input):
                for memory in found.value.memories:
                    memory.text = SAID[memory.text]
                    if self.quotes:
                        memory.quotes[0].text = memory.text
        return found


@pytest.mark.parametrize("obeys", [True, False])
@pytest.mark.parametrize("said", SAID)
def test_it_is_asked_once_more_and_then_the_words_that_were_said_are_kept(
    tmp_path: Path, obeys: bool, said: str
) -> None:
    tell(tmp_path, said)
    model = Translating(obeys)
    report = process(tmp_path, model)
    assert (
        len(model.inputs) == 2 and f"- {SAID[said]}" in model.inputs[1] and model.inputs[1].startswith(model.inputs[0])
    )
    assert {text.rstrip("。.") for text in texts(tmp_path)} == {said.rstrip("。.")}
    assert [refusal.why for refusal in report.refused] == ([] if obeys else [TRANSLATED])
    assert report.usage.requests == 3, "two extractions and a consolidation"
    assert state(tmp_path).rollouts["chat"].usage == {"requests": 2, "input_tokens": 20, "output_tokens": 10}
    agree(tmp_path)


def test_one_try_is_enough_for_it(tmp_path: Path) -> None:
    """The second question is none of the tries that a failed call has."""
    tell(tmp_path, next(iter(SAID)))
    model = Translating(True)
    from dataclasses import replace

    run(pipeline(tmp_path).process((model, model), replace(LIMITS, attempts=1)))
    assert texts(tmp_path) == {next(iter(SAID))}


@pytest.mark.parametrize("obeys", [True, False])
def test_translated_quotes_are_asked_for_again_too(tmp_path: Path, obeys: bool) -> None:
    tell(tmp_path, "我们的测试端口是8443。")
    model = Translating(obeys, quotes=True)
    process(tmp_path, model)
    assert len(model.inputs) == 2
    known = texts(tmp_path) if obeys else set()
    assert known == ({"我们的测试端口是8443。"} if obeys else set())


class Breaking(Translating):
    """Fails when it is asked once more."""

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        from sandbox_memory.errors import ModelError

        if "Do not translate." in request.input:
            raise ModelError("busy")
        return await super().answer(request)


def test_a_second_answer_that_fails_costs_nothing(tmp_path: Path) -> None:
    tell(tmp_path, "我们的测试端口是8443。")
    report = process(tmp_path, Breaking(True))
    assert not report.failed and texts(tmp_path) == {"我们的测试端口是8443"}


def test_one_that_does_not_translate_is_asked_once(tmp_path: Path) -> None:
    tell(tmp_path, *SAID, "用 `make test ENV=ci` 跑测试", "Please ask 李雷 about the invoices", rollout="mixed")
    model = EchoModel()
    process(tmp_path, model)
    assert model.extracted == ["mixed"] and len(texts(tmp_path)) == len(SAID) + 2


class Rewording(EchoModel):
    """Adds its candidates in these words."""

    def __init__(self, words: Mapping[str, str]) -> None:
        super().__init__()
        self.words = words

    async def answer(self, request: Request[Any]) -> Answer[Any]:
        if hasattr(request.material, "rollout"):
            return await super().answer(request)
        operations = [
            DraftOperation(op="add", candidates=[f"c{n}"], text=self.words[candidate.text])
            for n, candidate in enumerate(request.material.candidates, 1)  # type: ignore[attr-defined]
        ]
        return Answer(ConsolidationDraft(operations=operations), Usage(1, 20, 5))


def test_a_consolidation_that_translates_keeps_the_candidates_words(tmp_path: Path) -> None:
    tell(tmp_path, *SAID)
    process(tmp_path, Rewording(SAID))
    assert texts(tmp_path) == set(SAID)
    assert {record.kind for record in state(tmp_path).visible().values()} == {Kind.FACT}


def test_a_consolidation_may_reword_in_the_same_language(tmp_path: Path) -> None:
    tell(tmp_path, "我们的测试端口是8443。")
    process(tmp_path, Rewording({"我们的测试端口是8443。": "测试端口是8443"}))
    assert texts(tmp_path) == {"测试端口是8443"}
