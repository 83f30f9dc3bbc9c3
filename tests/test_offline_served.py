"""What the offline model keeps where one agent serves many people: the rule, not the case; each wish under its name."""

from __future__ import annotations

import pytest

from sandbox_memory.models.offline import general
from sandbox_memory.models.offline.sentences import title
from sandbox_memory.records import Kind
from sandbox_memory.sameness import Said, same

from .rollouts_kit import talk
from .test_offline_speech import MANY, texts

# What an agent says to one customer, and the rule in it; an empty text where there is none.
CASES = [
    ("Since your parcel is oversized, it cannot be returned", "if the parcel is oversized, it cannot be returned"),
    ("Your subscription is on hold", "Your subscription is on hold"),
    (
        "The lease L5521Q is of the old kind, which cannot be extended",
        "if the lease is of the old kind, it cannot be extended",
    ),
    (
        "The deposit is returned to the payer (IBAN ending in 4410) within 3 days",
        "The deposit is returned to the payer within 3 days",
    ),
    (
        "Loans can only be renewed twice (three times for staff)",
        "Loans can only be renewed twice (three times for staff)",
    ),
    ("Claim 77120344 cannot be reopened", ""),
    ("I cannot override this limit", ""),
    ("I cannot move the remaining lessons", ""),
    ("I cannot cancel single lessons of a course", "I cannot cancel single lessons of a course"),
    ("The refund will arrive on your Visa card within 5 days", ""),
    ("You are eligible for a free lesson", ""),
    (
        "You are eligible for a free lesson only after ten paid ones",
        "You are eligible for a free lesson only after ten paid ones",
    ),
]


@pytest.mark.parametrize(("said", "rule"), CASES)
def test_what_an_agent_says_of_a_case_is_kept_as_the_rule_behind_it(said: str, rule: str) -> None:
    assert general.rule(said) == rule


def heard(user: str, agent: str) -> list[str]:
    return texts(talk(("user", f"My member id is li_4471. {user}"), ("assistant", agent)), layout=MANY)


def test_a_reason_after_a_rule_and_a_label_before_it_stay_with_it() -> None:
    agent = (
        "1. **Sealed Boxes**: You can send them back at any time.\n"
        "2. **Opened Boxes**: Unfortunately, no returns can be made.\n\n"
        "Rush orders cannot be changed because they are packed at once."
    )
    assert heard("I have a question about a box.", agent) == [
        "**Sealed Boxes**: You can send them back at any time",
        "**Opened Boxes**: Unfortunately, no returns can be made",
        "Rush orders cannot be changed because they are packed at once",
    ]


def test_an_empty_remark_on_a_policy_is_no_rule_but_opens_one() -> None:
    assert heard("Hello.", "The policy on late fees is quite strict.") == []
    told = "the policy on late fees is quite strict, and waivers are not allowed"
    assert heard("Hello.", f"I understand, but {told}.") == [told]


@pytest.mark.parametrize(
    "said",
    [
        "My plans have changed.",
        "I've had a change of schedule and won't be needing these lessons anymore.",
        "I'm the only guest this evening.",
        "The reason is that I no longer need it.",
        "Use my voucher for the difference.",
        "I'd prefer to swap the lesson for the same one with another teacher.",
        "Please don't cancel anything else.",
        "I don't need the books in that order anymore.",
        "I'd like to first upgrade contract K77Q12 to premium, then end it.",
        "If there's any other way that can be considered here, please let me know.",
        "Could you make a note for customer service to review my case?",
        "I only need a single room, not a double.",
        "My name is Ada Brandt, and I live in Aldon, 80417.",
    ],
)
def test_what_somebody_says_of_the_matter_at_hand_is_not_kept(said: str) -> None:
    assert heard(said, "Of course.") == []


def test_what_somebody_says_of_themselves_is_theirs_without_what_they_claim_to_follow() -> None:
    raw = heard("I'm a gold member, so I should get priority treatment.", "I see.")
    assert raw == ["li_4471: I'm a gold member"]


def test_a_full_name_serves_where_no_account_is_given() -> None:
    said = talk(("user", "My name is Ada Brandt, and I never take lessons before noon."), ("assistant", "Noted."))
    assert texts(said, Kind.PREFERENCE, layout=MANY) == ["Ada Brandt: I never take lessons before noon"]


def told(one: str, two: str, kind: Kind = Kind.FACT) -> bool:
    first, second = (Said(kind, text, "", served=True) for text in (one, two))
    forth, back = same(first, second), same(second, first)
    assert forth == back
    return forth


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "Trial plans cannot be paused, including over the holidays",
            "trial plans cannot be paused, which includes weekends",
        ),
        (
            "Deposits must go to the payer or a voucher",
            "deposits can only be paid back to the payer or an existing voucher",
        ),
        (
            "Deposits for returned items must either go to the payer or a voucher",
            "Deposits must go to the payer or a voucher",
        ),
        ("Deposits must go back to the payer due to policy restrictions", "Deposits must go to the payer or a voucher"),
        ("the warranty is non-transferable", "the extended warranty is non-transferable and cannot be paused"),
        ("if the contract is on a trial plan, it cannot be paused", "trial plans cannot be paused"),
    ],
)
def test_one_rule_told_to_many_is_one_line(one: str, two: str) -> None:
    assert told(one, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Plans cannot be paused", "Trial plans cannot be paused"),
        ("Flights cannot be paused", "Basic economy reservations cannot be paused"),
        ("Plans can be paused", "Plans can only be paused"),
        ("Trial plans cannot be paused", "Trial plans can be paused"),
        ("Trial plans cannot be paused", "Trial plans cannot be paused within 14 days of purchase"),
        ("Deposits are returned within 5 days", "Deposits are returned within 7 days"),
        ("Deposits must go to the payer", "As a staff member, deposits must go to the payer"),
        ("Lessons cannot be moved", "Lessons cannot be moved unless the teacher agrees"),
    ],
)
def test_a_rule_for_others_or_with_a_bound_is_another_rule(one: str, two: str) -> None:
    assert not told(one, two)


def test_one_persons_wish_in_other_words_is_one_line_and_another_persons_is_not() -> None:
    wish = "li_4471: I'm willing to pay a late fee if needed, up to $40"
    assert told(wish, "li_4471: I'm willing to pay up to $40 for the late fee", Kind.PREFERENCE)
    assert not told(wish, "bo_1182: I'm willing to pay up to $40 for the late fee", Kind.PREFERENCE)
    assert not told(wish, "li_4471: I'm willing to pay up to $60 for the late fee", Kind.PREFERENCE)
    assert told("Ada Brandt: I do not wish to add insurance", "Ada Brandt: I don't need insurance", Kind.PREFERENCE)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("I'm Ada Brandt. I need to move a lesson.", "move a lesson"),
        ("um, I was wondering if I could swap a lesson", "I was wondering if I could swap a lesson"),
        ('"Shall I compare thee to a summer day?"', ""),
    ],
)
def test_a_title_is_what_is_asked_not_who_asks_nor_what_they_recite(message: str, name: str) -> None:
    assert title(message) == name
