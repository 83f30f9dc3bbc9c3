"""How applications tell a conversation again that they keep themselves: nearly as it was, or not nearly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Items = list[dict[str, Any]]
Retelling = Callable[[Items], Items]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def users(change: Callable[[str], str]) -> Retelling:
    return lambda items: [user(change(each["content"])) if each.get("role") == "user" else each for each in items]


def answers(change: Callable[[str], str]) -> Retelling:
    return lambda items: [
        answer(change(each["content"])) if each.get("role") == "assistant" else each for each in items
    ]


def plain(text: str) -> str:
    return text.replace("**", "").replace("`", "")


def only_messages(items: Items) -> Items:
    return [each for each in items if each.get("role")]


def merged(items: Items) -> Items:
    """The messages of one speaker that stand side by side as one: some models take no others."""
    found: Items = []
    for each in items:
        if found and each.get("role") and found[-1].get("role") == each["role"]:
            found[-1] = {**each, "content": f"{found[-1]['content']}\n\n{each['content']}"}
        else:
            found.append(each)
    return found


def between(note: dict[str, Any]) -> Retelling:
    return lambda items: [each for item in items for each in ((note, item) if item.get("role") == "user" else (item,))]


def last_turns(items: Items) -> Items:
    """Without the messages before the first user's last but one."""
    asked = [place for place, each in enumerate(items) if each.get("role") == "user"]
    return items[asked[max(0, len(asked) - 2)] :]


def from_an_answer(items: Items) -> Items:
    """Cut by a number of items: it begins with an answer."""
    return answers(plain)(items[1:])


def halved(items: Items) -> Items:
    """A message in two parts that follow one another."""
    found: Items = []
    for each in items:
        if each.get("role") == "user" and len(words := each["content"].split(" ")) > 7:
            found += [user(" ".join(words[:4])), user(" ".join(words[4:]))]
        else:
            found.append(each)
    return found


def pictured(item: dict[str, Any]) -> dict[str, Any]:
    if item.get("role") != "user":
        return item
    return {**item, "content": [{"type": "input_text", "text": text} for text in (item["content"], "[image]")]}


def texts_of_tools(items: Items) -> Items:
    return [
        each if each.get("role") else answer(f"[tool] {each.get('output', each.get('arguments'))}") for each in items
    ]


def told(items: Items, names: tuple[str, str] = ("User", "Assistant")) -> str:
    return "\n".join(f"{names[each['role'] == 'assistant']}: {each['content']}" for each in items if each.get("role"))


RETELLINGS: dict[str, Retelling] = {
    "as it was": lambda items: items,
    "answers without markdown": answers(plain),
    "answers cut": answers(lambda text: text[:15]),
    "no tools, no markdown": lambda items: answers(plain)(only_messages(items)),
    "answers of a turn in one": lambda items: merged(only_messages(items)),
    "the last turns, answers cut": lambda items: answers(lambda text: text[:12] + "…")(last_turns(items)),
    "system notes between": lambda items: answers(plain)(between({"role": "system", "content": "Be brief."})(items)),
    "blanks collapsed": users(lambda text: f"  {text.replace(' ', '  ')}\n"),
    "a time before each": users(lambda text: f"[2026-05-01 10:22] {text}"),
    "only what users said": lambda items: [each for each in items if each.get("role") == "user"],
    "in tags": lambda items: answers(plain)(users(lambda text: f"<user_input>\n{text}\n</user_input>")(items)),
    # held out while the rules were made
    "answers summed up": answers(lambda text: f"(The assistant dealt with it, {len(text)} characters.)"),
    "outputs cut": lambda items: [
        {**each, "output": each["output"][:9] + " [truncated]"} if "output" in each else each for each in items
    ],
    "users' words cut": lambda items: answers(plain)(
        users(lambda text: text[: len(text) * 3 // 4] + "… [truncated]")(items)
    ),
    "a name before each": lambda items: answers(plain)(users(lambda text: f"User: {text}")(items)),
    "a time and a name": users(lambda text: f"Ann Meier (10:22): {text}"),
    "a time after each": users(lambda text: f"{text} (sent at 10:22 AM)"),
    "in capitals and wide": users(lambda text: text.upper().replace("A", "Ａ")),
    "curly quotes, no stops": users(lambda text: f"“{text.rstrip('.。')}”"),
    "with what was looked up": lambda items: answers(plain)(
        users(lambda text: f"Context: the wiki says that builds are slow on Mondays.\n\nQuestion: {text}")(items)
    ),
    "users' messages in halves": lambda items: answers(plain)(halved(items)),
    "tools as texts": texts_of_tools,
    "from an answer on": from_an_answer,
    "parts, with a picture left out": lambda items: answers(plain)([pictured(each) for each in items]),
    "other ids": lambda items: [
        {**each, "call_id": f"x{each['call_id']}"} if "call_id" in each else each for each in answers(plain)(items)
    ],
    "one of the middle left out": lambda items: answers(plain)(
        [each for place, each in enumerate(items) if place not in (len(items) // 2, len(items) // 2 + 1)]
    ),
    "what users said in one": lambda items: [
        user("\n\n".join(each["content"] for each in items if each.get("role") == "user")),
        answer("Noted."),
    ],
    "quoted": lambda items: answers(plain)(users(lambda text: f"> {text}")(items)),
    "ISO time lines": users(lambda text: f"2026-05-01T10:22:00Z\n{text}"),
    "a summary first": lambda items: [
        user("Summary of the conversation so far: the user greeted the assistant."),
        *answers(plain)(items),
    ],
}
"""What is sent in the place of the conversation's items, before the newest message."""


def twice(items: Items) -> Items:
    """Each message of a user two times: the second one is new, wherever it may come from."""
    return [each for item in items for each in ((item, item) if item.get("role") == "user" else (item,))]


IN_ONE: dict[str, Callable[[Items, str], str]] = {
    "speaker by speaker": lambda items, now: f"{told(items)}\nUser: {now}\nAssistant:",
    "with a heading": lambda items, now: f"Conversation so far:\n{told(items, ('Human', 'AI'))}\n\n{now}",
    "in Chinese": lambda items, now: f"以下是之前的对话:\n{told(items, ('用户', '助手'))}\n用户：{now}",
}
"""The conversation and the newest message as one text."""
