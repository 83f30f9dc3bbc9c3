"""The words for what people paste, in English and Chinese, as parts of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property


class Phrase:
    """A pattern, in any case, that is compiled when it is first looked for: that takes the large ones a second."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place in the text where it matches."""
        return self._compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All of them."""
        return self._compiled.finditer(text)


THING = (
    r"(?:e-?mails?|mails?|messages?|texts?|sms|pages?|web ?pages?|web ?sites?|sites?|articles?|"
    r"(?:blog |forum |reddit )?posts?|threads?|tickets?|issue|"
    r"(?:bug |error |incident )?reports?|reviews?|comments?|logs?|outputs?|errors?|error messages?|"
    r"(?:stack ?)?traces?|tracebacks?|"
    r"docs?|documents?|documentation|files?|contents?|letters?|notes from|transcripts?|"
    r"snippets?|excerpts?|passages?|paragraphs?|"
    r"quotes?|chats?|conversations?|repl(?:y|ies)|responses?|search results?|readme|manuals?|"
    r"handbooks?|runbooks?|contracts?|policy|policies|"
    r"invoices?|listings?|announcements?|newsletters?|tweets?|descriptions?|summar(?:y|"
    r"ies)|attachments?|minutes|memos?|tables?|payload|json|html|csv|xml|yaml|"
    r"recipes?|abstracts?|papers?|stor(?:y|ies))"
)
LETTERS = (
    r"(?:e-?mails?|mails?|messages?|texts?|web ?pages?|pages?|web ?sites?|articles?|(?:blog |"
    r"forum |reddit )?posts?|threads?|tickets?|reviews?|comments?|letters?|"
    r"transcripts?|passages?|paragraphs?|excerpts?|announcements?|newsletters?|chats?|"
    r"conversations?|repl(?:y|ies)|documents?|reports?)"
)
THING_ZH = (
    r"(?:邮件|信件|来信|消息|短信|网页|页面|网站|文章|帖子|工单|报告|评论|评价|日志|输出|"
    r"报错|错误信息|堆栈|文档|文件|内容|原文|全文|文本|段落|资料|"
    r"合同|条款|手册|说明书?|公告|通知|聊天记录|对话|回复|回答|搜索结果|结果|代码|数据|"
    r"表格|纪要|发票|新闻|博客|截图文字)"
)
