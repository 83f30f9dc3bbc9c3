"""Why work is pending, in the language of the page; what somebody else said stays as it came."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from agents.exceptions import MaxTurnsExceeded, ModelBehaviorError, ModelRefusalError, UserError

from sandbox_memory.doors.web import causes
from sandbox_memory.doors.web.page import _environment
from sandbox_memory.doors.web.wording import Words
from sandbox_memory.errors import ModelError
from sandbox_memory.models import ExtractionDraft
from sandbox_memory.models.agents_sdk import ADVICE, AgentsModel, LenientJson
from sandbox_memory.pipeline import extracting
from sandbox_memory.trusting.checking import NOTES

from .kit import process
from .web_kit import HOME, client_of, furnished, texts


def provider_failed(kind: str, **given: Any) -> str:
    """The cause that the model door notes for what a provider, its client or the SDK raises."""
    request: Any = SimpleNamespace(url="https://api.example.com/v1/responses")

    def answered(status: int) -> Any:
        return SimpleNamespace(status_code=status, request=request, headers={})

    raised: dict[str, Exception] = {
        "timeout": TimeoutError(),
        "refused": ModelRefusalError("I will not do that."),
        "silent": MaxTurnsExceeded("max turns"),
        "key": openai.AuthenticationError("Invalid key", response=answered(401), body=None),
        "quota": openai.RateLimitError("You exceeded your quota.", response=answered(429), body=None),
        "network": openai.APIConnectionError(message="Connection refused.", request=request),
        "no key": UserError("OPENAI_API_KEY is not set"),
        "other": ZeroDivisionError("division by zero"),
        "answer": given.get("error", Exception()),
    }
    return AgentsModel("gpt-5.4-mini")._failure(raised[kind], 3).cause


def misbehaved(answer: str) -> str:
    """The cause for what a model answered."""
    with pytest.raises(ModelBehaviorError) as raised:
        LenientJson(ExtractionDraft).validate_json(answer)
    return provider_failed("answer", error=raised.value)


@pytest.mark.parametrize(
    ("text", "english", "chinese", "words"),
    [
        (provider_failed("timeout"), "gpt-5.4-mini did not answer in time.", "gpt-5.4-mini 没有及时答复。", ""),
        (provider_failed("refused"), "refused to answer.", "拒绝答复。", "I will not do that."),
        (provider_failed("silent"), "no answer within 3 turns", "3 轮内没有给出答复", ""),
        (provider_failed("key"), "(status 401)", "无法使用（状态 401）", ""),
        (provider_failed("quota"), "failed with status 429.", "出错，状态 429。", "You exceeded your quota."),
        (provider_failed("network"), "cannot be reached", "无法连接 gpt-5.4-mini", "Connection refused."),
        (provider_failed("no key"), "Set the key and", "请设置服务商所需的密钥", "OPENAI_API_KEY is not set"),
        (provider_failed("other"), "failed (ZeroDivisionError).", "出错（ZeroDivisionError）。", "division by zero"),
        (misbehaved("no"), "did not answer in JSON", "答复不是 JSON", ""),
        (misbehaved('{"colour": "red"}'), "answered JSON, but none", "但没有所要的内容", ""),
        (misbehaved('{"memories": 7}'), "has the wrong type", "有一个值类型不对", "memories"),
        ("no operation of the answer could be used (it proposed none)", "Nothing of", "没有一项能用", ""),
        ("no operation of the answer could be used (a line: no proof)", "Nothing of", "没有一项", "a line: no proof"),
        ("the model left summary empty, but not all of its answer", "is incomplete", "不完整", ""),
        ("the model did not answer before the session's close had to end", "did not answer before", "没有答复", ""),
        ("the call of the model was cancelled", "was cancelled", "被取消", ""),
        (extracting.LATE, "before its turn came", "还没轮到它", ""),
        ("the offline model cannot answer a summary request", "cannot do this work", "离线模型做不了", ""),
        ("memories/raw_memories/a.md is a symlink", "a.md is a symlink", "a.md 是符号链接", ""),
        ("memories/INBOX.md is a folder", "INBOX.md is a folder", "INBOX.md 是文件夹", ""),
        ("memories/raw_memories: is not a folder. Memory never goes through or into such a thing; move it away",
         "is a file where a folder belongs", "而这里应当是文件夹", ""),
        ("memories/MEMORY.md has more than 16 MiB", "more than 16 MiB", "超过 16 MiB", ""),
        ("memories/MEMORY.md is UTF-16 or UTF-32; save it as UTF-8", "save it as UTF-8", "请存为 UTF-8", ""),
        ("memories/INBOX.md has marks of a merge conflict; solve it", "merge conflict", "合并冲突", ""),
        ("memories/a.md cannot be opened: permission denied", "permission denied", "没有权限", ""),
        ("HTTP 429: the quota of this project is used up", "It says:", "原文：", "HTTP 429: the quota"),
        ("sessions/a.jsonl: No space left on device. Free some", "It says:", "原文：", "No space left on device"),
        ("<b>bold</b>", "It says:", "原文：", "&lt;b&gt;bold&lt;/b&gt;"),
    ],
)  # fmt: skip
def test_a_cause_of_ours_is_told_in_the_language_of_the_page_and_any_other_as_it_came(
    text: str, english: str, chinese: str, words: str
) -> None:
    for language, ours in (("en", english), ("zh", chinese)):
        parts = _environment().get_template("parts.html").module
        shown = str(parts.why_pending(text, Words(language)))  # type: ignore[attr-defined]
        assert ours in shown and ADVICE not in shown
        quoted = re.findall(r"<q[^>]*>(.*?)</q>", shown)
        assert (words in quoted[0]) if words else not quoted
        assert language == "en" or not words or 'lang="en"' in shown, "a foreign message names its language"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_cause_has_its_words(language: str) -> None:
    for name, pattern in causes._CAUSES:
        fields = {field for _, field, _, _ in Formatter().parse(texts(language)[f"cause-{name}"]) if field}
        assert fields <= pattern.groupindex.keys(), name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_of_finding_has_its_words(language: str) -> None:
    sources = (Path(causes.__file__).parents[2]).rglob("*.py")
    made = {kind for path in sources for kind in re.findall(r'Finding\(\s*"(\w+)"', path.read_text(encoding="utf-8"))}
    assert made > {"forged", "secret"}
    for kind in made | set(NOTES):
        assert texts(language)[f"finding-{kind}"] and texts(language)[f"means-{kind}"]


def test_a_finding_is_explained_in_the_language_of_the_page(tmp_path: Path) -> None:
    furnished(tmp_path)
    (tmp_path / "memories" / "layout.toml").write_text("", encoding="utf-8")
    shown = client_of(tmp_path).get(HOME + "check", headers={"accept-language": "zh"}).text
    assert f"<p>{texts('zh')['means-planted']}</p>" in shown and '<p lang="en">looks like' in shown


def test_failed_work_is_told_in_the_language_of_the_page(tmp_path: Path) -> None:
    furnished(tmp_path)
    page = client_of(tmp_path)

    class Late:
        name = "late"

        async def answer(self, request: object) -> None:
            raise ModelError(provider_failed("quota"), retryable=False)

    process(tmp_path, Late())
    for path in ("work", "history"):
        shown = page.get(HOME + path, headers={"accept-language": "zh"}).text
        assert "gpt-5.4-mini 出错，状态 429。" in shown and '<q lang="en">You exceeded your quota.</q>' in shown
        assert "failed with status" not in shown
