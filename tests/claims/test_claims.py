"""The ledger: every row is confirmed, and a row that is wrong is found out."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import mean, pvariance
from typing import Any

import numpy as np
import pytest

import claims as ledger
from claims import (
    beyond_centred,
    beyond_counts,
    beyond_set_size,
    beyond_water_filling,
    exact,
    maxpo_cost,
    note_algorithms,
    note_estimator,
    note_propositions,
    note_sequential,
    note_single_turn,
    note_specular,
    report,
    scores,
    tutorial_examples,
    tutorial_method,
    tutorial_objective,
)
from claims.claims import (
    DOCUMENTS,
    OF_ONE_SIDE,
    REFUTED,
    RELATIONS,
    Claim,
    Finding,
    Part,
    Quantity,
    Shown,
    Trial,
    Verdict,
    claim,
    control,
    corrected,
    examine,
    fill,
    judge,
    kind,
    remark,
    run,
    scaled,
    shown,
    stated,
)
from claims.formulas import Formula
from claims.highlights import HIGHLIGHTS
from setrl import objectives
from setrl.theory import ActionTable, TabularObjective

IDS = [row.id for row in ledger.CLAIMS]
PAGE = Path(__file__).parents[2] / "docs" / "claims.md"


@cache
def found(id: str) -> tuple[Claim, list[Trial | Shown]]:
    """A row of the ledger, and what its check yields."""
    row = next(row for row in ledger.CLAIMS if row.id == id)
    return row, run(row)


@cache
def finding(id: str) -> Finding:
    return judge(*found(id))


def confirmed(id: str, **changes: Any) -> bool:
    """Whether the row is still confirmed with these changes of its quantity."""
    row, trials = found(id)
    changed = replace(row, quantity=replace(row.quantity, **changes))
    return judge(changed, trials).confirmed


def row(verdict: Verdict, trials: list, counterexample: str = "", **pins: str) -> Claim:
    """A claim whose check yields these trials."""

    def check():
        """Anything."""
        yield from trials

    named = claim(
        "a",
        "A book",
        "p. 1",
        verdict,
        compares=("it", "always"),
        how="so",
        truth="x",
        kindly="y" * (verdict is Verdict.READING),
        counterexample=counterexample,
        **pins,
    )
    return named(check)


@pytest.mark.parametrize("id", IDS)
def test_every_claim_is_confirmed_as_it_stands_and_not_otherwise(id):
    mine = finding(id)
    assert mine.confirmed, report.table([mine])
    check_verdict(mine)
    check_pins(mine)
    check_words(mine)
    if mine.claim.quantity:
        check_relation(mine.claim)
        check_sides(mine.claim)


def check_verdict(mine: Finding) -> None:
    """No other verdict would be confirmed."""
    for verdict in set(Verdict) - {mine.claim.verdict}:
        kindly = "so" * (verdict is Verdict.READING)
        other = replace(
            mine.claim, verdict=verdict, word="", counterexample="", truth="so", kindly=kindly
        )
        assert not replace(mine, claim=other).confirmed, verdict


def check_pins(mine: Finding) -> None:
    """A row pins how many cases it tried, and its counterexample."""
    row = mine.claim
    assert row.tried == mine.tried != ""
    assert (row.counterexample != "") is (row.verdict in REFUTED)
    pins: list[dict[str, str]] = [{"tried": "0 stated"}, {"nearest": "1/1001"}]
    pins += [{"counterexample": "n=0"}] * (row.verdict in REFUTED)
    for pin in pins:
        assert not replace(mine, claim=replace(row, **pin)).confirmed, pin


# What a relation implies: a row whose relation is the first may not be told from the others.
IMPLIES = {"=": {"≤", "≥"}, "<": {"≤", "≠"}, ">": {"≥", "≠"}}


def other_relations(row: Claim) -> set[str]:
    relations = set(RELATIONS) - {row.quantity.relation} - IMPLIES.get(row.quantity.relation, set())
    one_sided = row.quantity.relation in OF_ONE_SIDE
    return {relation for relation in relations if (relation in OF_ONE_SIDE) is one_sided}


def check_relation(row: Claim) -> None:
    """The sentence with another relation is not confirmed."""
    for relation in other_relations(row):
        with suppress(TypeError):  # the relation does not compare such sides
            assert not confirmed(row.id, relation=relation), relation


def neighbours(number: Any) -> list[Any]:
    """Numbers near the number of a row, or rows of printed numbers with another last digit."""
    if isinstance(number, tuple):
        return [(*number[:i], _next(text), *number[i + 1 :]) for i, text in enumerate(number)] + [
            number[:-1]
        ]
    near = [number + 1, number - 1, number * 2, number * Fraction(11, 10) + Fraction(1, 1000)]
    return [other for other in near if other != number]


def _next(printed: str) -> str:
    digits = len(printed.partition(".")[2])
    return f"{float(printed.replace('−', '-')) + 10.0**-digits:.{digits}f}"


def check_sides(row: Claim) -> None:
    """The sentence with another number or formula is not confirmed."""
    if isinstance(row.quantity.right, (int, float, Fraction, tuple)):
        for other in neighbours(row.quantity.right):
            assert not confirmed(row.id, right=other), other
    for side in ("left", "right"):
        formula = getattr(row.quantity, side)
        if isinstance(formula, Formula):
            assert not confirmed(row.id, **{side: Formula(f"{formula!s} + 1")}), side


@pytest.mark.parametrize(
    ("quantity", "sides", "held"),
    [
        (("it", "=", "that"), (1, 1), True),
        (("it", "≠", "that"), (1, 1), False),
        (("it", "<", "that"), (1, 1), False),
        (("it", "≤", "that"), (1, 1), True),
        (("it", ">", 0), (0,), False),
        (("it", "≥", 0), (0,), True),
        (("it", "≈", ("0.83", "−1.5")), ([0.8333, -1.39],), False),
        (("it", "≈", ("0.83", "−1.5")), ([0.8333, -1.51],), True),
        (("it", "≈", ("0.83",)), ([0.83, 1],), False),
        (("it", "≈", ("0.83",)), ([0.8352],), False),
        (("it", "exactly if", "that"), (False, False), True),
        (("it", "exactly if", "that"), (True, False), False),
        (("it", "always"), (True,), True),
        (("it", "never"), (True,), False),
    ],
)
def test_a_quantity_is_compared_as_it_is_written(quantity, sides, held):
    assert Quantity(*quantity).holds(sides, {}) is held


@pytest.mark.parametrize(
    ("relation", "sides"),
    [
        (">", ([1], [0])),
        (">", (True, 0)),
        ("≤", ((1,), 2)),
        ("<", ("a", "b")),
        ("=", (True, True)),
        ("exactly if", (1, 1)),
        ("always", (1,)),
        ("≈", ([1], [1])),
        ("=", ([0.83], ("0.83",))),
    ],
)
def test_a_relation_compares_only_what_it_is_about(relation, sides):
    right = None if relation == "always" else "that"
    with pytest.raises(TypeError, match=r"compare|orders"):
        Quantity("it", relation, right).holds(sides, {})


def test_a_formula_of_a_row_is_evaluated_for_its_trials():
    quantity = Quantity(Formula("C(N, n)"), "=", Formula("N(N−1)/2"))
    assert quantity.holds((), {"N": 5, "n": 2})
    assert not quantity.holds((), {"N": 5, "n": 1})
    assert Quantity(Formula("N²"), ">", "the other").holds((8,), {"N": 3})


def test_a_sentence_is_made_from_its_quantity():
    made = row(Verdict.HOLDS, [])
    assert made.sentence == "Anything (it: always)."
    named = replace(made, text="So $q, and more.", quantity=Quantity("f", ">", 1234))
    assert named.sentence == "So f > 1,234, and more."
    with pytest.raises(ValueError, match="'always' needs another number of sides"):
        Quantity("it", "always", 1)
    with pytest.raises(ValueError, match="unknown relation 'about'"):
        Quantity("f", "about", 1)
    with pytest.raises(ValueError, match="'a' states something: give `compares`"):
        examine(replace(row(Verdict.HOLDS, [stated(True)]), quantity=None))


def texts(row: Claim) -> list[str]:
    sides = (row.quantity.left, row.quantity.right) if row.quantity else ()
    words = [side for side in sides if isinstance(side, str)]
    return [row.text, row.truth, row.kindly, row.how, *words]


def typed_by_hand(text: str) -> list[str]:
    """Digits that stand for neither a name nor a formula."""
    rest = re.sub(r"\$\{?\w+\}?", "", re.sub(r"⟦[^⟦⟧]*[^\W\d][^⟦⟧]*⟧|⟦\D*\{[^⟦⟧]*⟧", "", text))
    return re.findall(r"\S*\d\S*", rest)


def check_words(mine: Finding) -> None:
    """No number of a text is typed by hand."""
    for text in texts(mine.claim):
        assert not typed_by_hand(text), text
        assert not set("$⟦⟧") & set(mine.say(text.replace("$q", ""))), text


def test_a_number_that_is_typed_by_hand_is_found():
    assert typed_by_hand("$wrong of the 160 pairs") == ["160"]
    assert typed_by_hand("in ⟦160⟧ of $pairs") == ["⟦160⟧"]
    assert typed_by_hand("⟦1/n⟧ of $pairs_2, n = $n.most") == []


def test_a_text_says_what_its_check_shows():
    trials = [shown(wrong=3), stated(True, n=2), stated(True, n=4), remark(True, p=Fraction(1, 2))]
    named = replace(row(Verdict.HOLDS, trials), how="$wrong at n = $n, n ≤ $n.most, p = $p")
    assert examine(named).say(named.how) == "3 at n = 2, 4, n ≤ 4, p = 1/2"
    with pytest.raises(ValueError, match=r"\$wrong is both 3 and 4"):
        judge(named, [shown(wrong=3), shown(wrong=4)])
    with pytest.raises(KeyError, match="missing"):
        fill("$missing", {})


def test_every_row_but_a_definition_says_what_it_compares():
    for r in ledger.CLAIMS:
        assert (r.quantity is None) is (r.verdict is Verdict.DEFINITION), r.id


def test_the_ledger_covers_the_documents():
    assert len(set(IDS)) == len(IDS) >= 80
    assert {r.document for r in ledger.CLAIMS} == set(DOCUMENTS)
    for r in ledger.CLAIMS:
        assert all([r.how, r.where, r.text.endswith(".")]), r.id


@pytest.mark.parametrize(
    ("trials", "verdict"),
    [
        ([stated(True)], Verdict.HOLDS),
        ([stated(True), remark(True)], Verdict.HOLDS),
        ([stated(True), remark(False)], Verdict.INCONCLUSIVE),
        ([stated(True), control(True)], Verdict.HOLDS),
        ([stated(True), control(False)], Verdict.INCONCLUSIVE),
        ([stated(False)], Verdict.INCONCLUSIVE),
        ([stated(False), corrected(True)], Verdict.FAILS),
        ([stated(False), corrected(True), corrected(False)], Verdict.INCONCLUSIVE),
        ([stated(False), scaled(True)], Verdict.UP_TO_SCALE),
        ([stated(False), scaled(False)], Verdict.INCONCLUSIVE),
        ([stated(True), scaled(True)], Verdict.HOLDS),
        ([stated(False), kind(True), corrected(True)], Verdict.READING),
        ([stated(False), kind(True), kind(False)], Verdict.INCONCLUSIVE),
        ([stated(True), kind(True)], Verdict.HOLDS),
        ([kind(True)], Verdict.INCONCLUSIVE),
        ([corrected(True)], Verdict.INCONCLUSIVE),
        ([remark(True)], Verdict.DEFINITION),
        ([remark(False)], Verdict.INCONCLUSIVE),
        ([], Verdict.INCONCLUSIVE),
    ],
)
def test_the_verdict_follows_from_the_trials_alone(trials, verdict):
    assert examine(row(Verdict.HOLDS, trials)).concluded is verdict


def test_the_first_failure_is_the_counterexample():
    trials = [stated(True, n=1), stated(False, n=2), stated(False, n=3)]
    for verdict, other in zip(REFUTED, (scaled, kind, corrected), strict=True):
        tried = f"2 of 3 stated, 1 {other.__name__}"
        assert examine(row(verdict, [*trials, other(True)], "n=2", tried=tried)).confirmed
        assert not examine(row(verdict, [*trials, other(True)], "n=3", tried=tried)).confirmed
        assert not examine(row(verdict, [*trials, other(True)], "n=2", tried="2 of 3")).confirmed


def test_a_claim_that_fails_says_what_is_true():
    with pytest.raises(ValueError, match="'a' fails: give `truth`"):
        claim("a", "A book", "p. 1", Verdict.FAILS, how="so", counterexample="n=1")(lambda: [])
    with pytest.raises(ValueError, match="'a' holds: give `counterexample`"):
        claim("a", "A book", "p. 1", Verdict.HOLDS, how="so", counterexample="n=1")(lambda: [])


def test_a_row_is_called_only_what_its_verdict_can_be_called():
    for verdict, word in ((Verdict.HOLDS, "misprint"), (Verdict.READING, "analogy")):
        made = row(verdict, [])
        with pytest.raises(ValueError, match=f"'a' {verdict.value}: it cannot be '{word}'"):
            replace(made, word=word)
    made = replace(row(Verdict.FAILS, [stated(False), corrected(True)]), word="misprint")
    assert examine(made).name == "misprint"
    assert examine(replace(made, verdict=Verdict.HOLDS, word="")).name == "fails"


def test_a_reading_and_nothing_else_has_a_kind_reading():
    for verdict, kindly in ((Verdict.READING, ""), (Verdict.FAILS, "so")):
        with pytest.raises(ValueError, match="'a': give `kindly` if and only if it is a reading"):
            claim("a", "A book", "p. 1", verdict, how="so", truth="x", kindly=kindly)(lambda: [])


def patched(monkeypatch, module, name, broken):
    """Replace a helper that the rows imported by name with a broken one."""
    original = getattr(module, name)
    for place in (*ledger.SECTIONS, exact):
        if getattr(place, name, None) is original:
            monkeypatch.setattr(place, name, broken(original))


# helper, what breaks it, rows that must notice
MUTANTS = {
    "advantage without its baseline": (
        exact,
        "advantage",
        lambda _: lambda f, p, n, a: exact.expected(f, p, n - 1, (a,)),
        ["note-homogeneous", "note-ex-3.4", "note-eq-15", "note-ex-5.4-value", "note-f-srl"],
    ),
    "advantages of the wrong sign": (
        exact,
        "advantages",
        lambda old: lambda *args: [-a for a in old(*args)],
        ["note-lemma-3.3", "note-ex-3.5-order", "note-ex-3.6-rare", "tutorial-two-strategies"],
    ),
    "half the gradient": (
        exact,
        "logit_gradient",
        lambda old: lambda *args: [g / 2 for g in old(*args)],
        ["note-eq-6", "note-prop-2.6-all", "note-alg-1", "note-prop-3.7", "maxpo-ei-unbiased"],
    ),
    "a covariance that is not centred": (
        exact,
        "covariance",
        lambda _: lambda f, g, p, n: exact.expected(lambda s: f(s) * g(s), p, n),
        ["note-observation", "note-prop-3.7", "note-two-objectives", "note-def-4.1-diversity"],
    ),
    "estimates that forget the policy": (
        exact,
        "estimate",
        lambda old: lambda credits, group, p: old(credits, group, [Fraction(0)] * len(p)),
        ["note-eq-6", "note-eq-7", "maxpo-bon-mean", "tutorial-shapley"],
    ),
    "advantages by all sets for those by a sample's": (
        exact,
        "deviation",
        lambda old: lambda f, n: lambda group: [a * 2 for a in old(f, n)(group)],
        ["note-alg-2-mean", "summaries-mean-form", "maxpo-is-set-rl", "tutorial-eight-samples"],
    ),
    "a set gradient that is not centred": (
        exact,
        "logit_gradient",
        lambda old: lambda f, p, n: [g + q for g, q in zip(old(f, p, n), p, strict=True)],
        ["note-baseline-rule", "tutorial-no-constant-weight", "note-grpo-drop-in"],
    ),
    "the worst choice of sets for the best": (
        note_sequential,
        "largest",
        lambda _: lambda values: [min(column) for column in zip(*values, strict=True)],
        ["note-q-learning"],
    ),
    "scaffold values of mixed sets that are too large": (
        note_propositions,
        "mixed_scaffold",
        lambda old: lambda *args, **named: old(*args, **named) * 2,
        ["note-heterogeneous-more", "note-prop-4.3"],
    ),
    "scores that grow with the set": (
        note_propositions,
        "dominated",
        lambda old: (
            lambda p: [(name, q, lambda s, f=f: f(s) * len(s) ** 2, d) for name, q, f, d in old(p)]
        ),
        ["note-larger-sets"],
    ),
    "samples found with a strategy as if by chance": (
        tutorial_objective,
        "missed",
        lambda _: lambda num, size, avoided: Fraction(num - avoided, num) ** size,
        ["tutorial-decomposition"],
    ),
    "covariances without their sign": (
        tutorial_objective,
        "covariance_in_sets",
        lambda old: lambda *args: abs(old(*args)),
        ["tutorial-covariance-sign"],
    ),
    "a mixture for any row": (
        tutorial_examples,
        "_mixture",
        lambda _: lambda row: {Fraction(1, 2): Fraction(1)},
        ["tutorial-table-possible"],
    ),
    "as much noise for 25 sets as for 500": (
        tutorial_method,
        "added_variance",
        lambda old: lambda num, num_sets, rng: old(num, 500, rng),
        ["tutorial-enough-sets"],
    ),
    "a kind of set counted once": (
        note_algorithms,
        "fillings",
        lambda old: lambda *args: [(1, filled) for _, filled in old(*args)],
        ["note-all-sets-feasible"],
    ),
    "advantages that are not standardised": (
        note_estimator,
        "_mean_standardised",
        lambda _: lambda f, p, num, size: [float(g) for g in exact.logit_gradient(f, p, size)],
        ["note-grpo-drop-in"],
    ),
    "every gap added up twice": (
        maxpo_cost,
        "by_gaps",
        lambda old: lambda rewards, size: [old(rewards, size) for _ in range(2)][-1],
        ["maxpo-quadratic"],
    ),
    "separate sets against the mean of all": (
        note_single_turn,
        "_separate",
        lambda old: lambda score, split: lambda group: [a / 2 for a in old(score, split)(group)],
        ["note-naive"],
    ),
    "samples left out that are not": (
        beyond_centred,
        "_v",
        lambda old: lambda score, rest, size: old(score, rest, size) + Fraction(1, 9),
        ["beyond-centred"],
    ),
    "leave-two-out for one sample fewer": (
        beyond_set_size,
        "leave_two_out",
        lambda old: lambda num, size: old(num, min(size + 1, num - 1)),
        ["beyond-set-size", "beyond-set-size-limit", "beyond-set-size-actions"],
    ),
    "expected improvement that forgets the policy": (
        beyond_set_size,
        "improvement",
        lambda old: lambda num, size, p: old(num, size, p / 2),
        ["beyond-leave-two-out"],
    ),
    "as much water for α as for 1": (
        beyond_water_filling,
        "water_filling",
        lambda old: lambda success, alpha=1: old(success),
        ["beyond-water-filling", "beyond-price"],
    ),
    "a threshold for sets without the new sample": (
        beyond_water_filling,
        "critical_success",
        lambda old: lambda *args: old(*args) + Fraction(1, 7),
        ["beyond-invasion"],
    ),
    "growth by the sign of the advantage": (
        beyond_water_filling,
        "growth_of_new",
        lambda _: lambda shares, success, new: Fraction(1),
        ["beyond-growth"],
    ),
    "every right sample paid as the first": (
        beyond_counts,
        "paid",
        lambda old: lambda pay: old(lambda j: pay(1)),
        ["beyond-counts-credit", "beyond-counts-shapley"],
    ),
    "a share in the sets of one size": (
        beyond_counts,
        "mean_gain",
        lambda old: lambda score, group, size: old(score, group, max(size - 1, 1)),
        ["beyond-shapley-sets"],
    ),
    "counts of samples, right or wrong": (
        beyond_counts,
        "value_of_counts",
        lambda old: lambda shares, success, num: old(shares, [1] * len(success), num),
        ["beyond-counts-shares"],
    ),
    "a variance that is not centred": (
        beyond_counts,
        "variance_with",
        lambda _: lambda q, b: q * (1 - b) ** 2 + (1 - q) * b * b,
        ["beyond-counts-baseline"],
    ),
    "an even rest that is not spread": (
        note_specular,
        "_even_rest",
        lambda old: lambda p, others, size: abs(old(p, others, size)),
        ["note-ex-5.4-turning"],
    ),
    "a weight that falls with accuracy": (
        tutorial_method,
        "weight_of_product",
        lambda old: lambda p, size: 1 / old(p, size),
        ["tutorial-weight-falls", "tutorial-no-constant-weight"],
    ),
    "removed probability shared in proportion": (
        note_specular,
        "diminish",
        lambda _: _in_proportion,
        ["note-def-5.1", "note-ex-5.4-share"],
    ),
}


def _in_proportion(p, removed):
    rest = 1 - sum(p[a] for a in removed)
    return tuple(Fraction(0) if a in removed else q / rest for a, q in enumerate(p))


def refuted(row: Claim) -> bool:
    """Whether one trial is enough against the verdict: a claim that holds allows no failure."""
    trials = (one for case in row.cases for one in row.check(*case) if isinstance(one, Trial))
    may_fail = set() if row.verdict is Verdict.HOLDS else {Part.STATED}
    return any(one.part not in may_fail and not row.held(one) for one in trials)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_formula_is_found_out(name, monkeypatch):
    module, helper, broken, ids = MUTANTS[name]
    patched(monkeypatch, module, helper, broken)
    for id in ids:
        row = ledger.find(id)[0]
        assert refuted(row) or not examine(row).confirmed, id


@pytest.mark.parametrize("part", Part)
@pytest.mark.parametrize("verdict", [Verdict.HOLDS, Verdict.FAILS])
def test_one_trial_is_enough_only_where_it_alone_decides(verdict, part):
    tried = row(verdict, [stated(True), Trial(part, (False,), {})])
    decides = part is not Part.STATED or verdict is Verdict.HOLDS
    assert refuted(tried) is decides
    assert not decides or examine(tried).concluded is not verdict


def test_a_wrong_set_value_is_found_out(monkeypatch):
    monkeypatch.setattr(note_sequential.Process, "occupancy", lambda *_, **__: [Fraction(1, 2)] * 2)
    assert not examine(ledger.find("note-lemma-2.2")[0]).confirmed


def test_the_page_is_what_the_ledger_writes():
    page = report.markdown([finding(id) for id in IDS])
    assert PAGE.read_text(encoding="utf-8") == page, (
        "run `python -m claims --markdown docs/claims.md`"
    )


def test_the_texts_of_all_claims_say_what_they_said():
    """The page leaves out how claims were checked, and what else is known of those that hold."""
    texts = report.explained([finding(id) for id in IDS]) + "\n"
    recorded = Path(__file__).with_name("texts.txt").read_text(encoding="utf-8")
    assert recorded == texts, "run `python -m claims --texts tests/claims/texts.txt`, and read it"


def test_the_page_opens_with_every_claim_that_fails():
    page = PAGE.read_text(encoding="utf-8")
    opening = page[: page.index(f"## {DOCUMENTS[0]}")]
    failing = opening.partition("## What fails\n")[2]
    listed = re.findall(r"\[(\S+)\]\(#\1\)", failing)
    assert listed == [row.id for row in ledger.CLAIMS if row.verdict is Verdict.FAILS]


def test_the_page_opens_with_highlights_and_their_verdicts():
    names = {
        Verdict.HOLDS: "holds",
        Verdict.FAILS: "fails",
        Verdict.UP_TO_SCALE: "holds up to scale",
        Verdict.READING: "depends on the reading",
    }
    page = PAGE.read_text(encoding="utf-8")
    for row in HIGHLIGHTS:
        named = ledger.find(row.id)[0]
        verdict = named.word or names[named.verdict]
        linked = f"[{verdict}](#{row.id}). {row.in_short}."
        as_card = f"### {row.says}\n\nVerdict: {linked}\n\nCounterexample ("
        assert f"- {row.says}: {linked}" in page or as_card in page
    assert page.count("\nCounterexample (") == report.CARDS


def test_links_within_the_page_lead_to_entries():
    page = PAGE.read_text(encoding="utf-8")
    anchors = re.findall(r'<a id="(\S+)"></a>', page)
    assert sorted(anchors) == sorted(IDS)
    headings = [
        one.lower().replace(" ", "-") for one in re.findall(r"^## (.+)$", page, re.MULTILINE)
    ]
    assert set(re.findall(r"\]\(#([^\s)]+)\)", page)) <= {*anchors, *headings}


def test_a_page_of_few_claims_has_only_their_highlights():
    page = report.markdown([finding("maxpo-is-set-rl"), finding("tutorial-removal")])
    assert page.count("](#maxpo-is-set-rl)") == 1
    assert "- Poly-EPO tutorial: [tutorial-removal](#tutorial-removal)" in page
    assert "](#note-" not in page


def test_verify_prints_and_writes(tmp_path):
    lines: list[str] = []
    written = tmp_path / "claims.json", tmp_path / "claims.md"
    done = ledger.verify(
        ["note-ex-2.3", "maxpo-eq"],
        json_path=written[0],
        markdown_path=written[1],
        echo=lines.append,
    )
    assert done
    assert re.search(r"^3 holds; \d+ s\n3 claims: all confirmed\Z", lines[-1], re.MULTILINE)
    data = json.loads(written[0].read_text(encoding="utf-8"))
    assert data["schema_version"] == 1
    assert [r["id"] for r in data["claims"]] == ["note-ex-2.3", "maxpo-eq-83", "maxpo-eq-84"]
    assert all(r["confirmed"] for r in data["claims"])
    assert "Example 2.3" in written[1].read_text(encoding="utf-8")


def test_all_rows_are_written_as_json():
    found = report.as_json([finding(id) for id in IDS])
    written = json.loads(json.dumps(found))
    assert [row["id"] for row in written["claims"]] == IDS
    sides = {row["id"]: row["quantity"] for row in written["claims"]}
    assert sides["note-number-of-sets"]["right"] == "C(N, n)"
    halves = [
        row for row in ledger.CLAIMS if isinstance(row.quantity and row.quantity.right, Fraction)
    ]
    assert halves
    for row in halves:
        assert Fraction(sides[row.id]["right"]) == row.quantity.right


def test_the_opening_counts_what_the_rows_say():
    sources = [row for row in ledger.CLAIMS if row.document != DOCUMENTS[-1]]
    fails = [row for row in sources if row.verdict is Verdict.FAILS]
    slips = [row for row in fails if row.word]
    strict = [row for row in sources if row.verdict is Verdict.READING]
    assert report.in_one_sentence([finding(row.id) for row in sources]) == (
        f"Of the {len(sources)} claims of the sources {len(fails) - len(slips)} fail, {len(slips)} "
        "more are slips\n(inconsistent, a misprint, an analogy or pseudocode), and "
        f"{len(strict)} have a counterexample\nunder their strict reading."
    )


def test_the_page_says_what_limits_a_claim():
    page = PAGE.read_text(encoding="utf-8")
    for row in ledger.CLAIMS:
        entry = page.partition(f'<a id="{row.id}"></a>')[2].partition("<a id=")[0]
        assert finding(row.id).say(row.truth) in entry, row.id


def test_a_counterexample_with_a_policy_names_what_scores_its_sets():
    without = {"note-ex-5.4-share"}  # adds probabilities up, and scores nothing
    for row in ledger.CLAIMS:
        names = re.findall(r"(?:^|, )([^\s=]+)=", row.counterexample)
        says = {"f", "r", "others"} & set(names) or "f = 1{" in row.sentence
        assert says or "π" not in names or row.id in without, row.counterexample


def repeated(id: str) -> dict[str, Any]:
    """The numbers of a counterexample as they stand on the page; its f as a score."""
    entry = PAGE.read_text(encoding="utf-8").partition(f'<a id="{id}"></a>')[2]
    printed = re.search(r"Counterexample \(.*?\): (.*)", entry)[1]
    name, _, listed = re.match(r"f=(\w+)( of (\(.*?\)))?, ", printed).groups()
    rest = printed[printed.index(", ", printed.index(")") if listed else 0) + 2 :]
    texts = dict(re.findall(r"([^\s=,]+)=(.*?)(?=, [^\s=,]+=|$)", rest))
    values = {key: eval(_exact(text), {"Fraction": Fraction}) for key, text in texts.items()}
    rewards = eval(_exact(listed), {"Fraction": Fraction})
    return {**values, "f": scores.KINDS[name](rewards)}


def _exact(text: str) -> str:
    return re.sub(r"(?<![\w.])(\d+)/(\d+)", r"Fraction(\1, \2)", text)


def test_counterexamples_can_be_repeated_from_the_page():
    case = repeated("note-lowest-variance")
    sizes = case["f"], case["n"]
    variances = [
        float(exact.trace_variance(credit(*sizes), case["π"], case["N"]))
        for credit in (exact.contrast, exact.gain)
    ]
    assert variances == pytest.approx([case["all_sets"], case["EI"]], abs=1e-4)
    case = repeated("note-alg-1")
    found = exact.mean_estimate(
        exact.from_sets(case["f"], exact.all_sets(case["N"], case["n"])), case["π"], case["N"]
    )
    assert tuple(found) == case["mean_of_ĝ"]
    assert tuple(exact.logit_gradient(case["f"], case["π"], case["n"])) == case["gradient"]
    case = repeated("note-likelihood-sign")
    gradient = exact.logit_gradient(case["f"], case["π"], case["n"])
    assert exact.log_likelihood_rates(gradient, case["π"])[case["y"]] == case["rate"]
    assert exact.advantage(case["f"], case["π"], case["n"], case["y"]) == case["A"]
    for id in ("maxpo-variance", "maxpo-variance-large-k"):
        case = repeated(id)
        both = [
            exact.trace_variance(credit(case["f"], case["K"]), case["π"], case["B"])
            for credit in (exact.contrast, exact.gain)
        ]
        if "EI" in case:
            assert both == [case["L2O"], case["EI"]]
        else:
            assert float(both[0] / both[1]) == pytest.approx(case["L2O_over_EI"], abs=1e-3)


def test_verify_reports_a_wrong_row(monkeypatch):
    wrong = row(Verdict.HOLDS, [stated(False, n=2, A=Fraction(1, 3)), corrected(True)])
    monkeypatch.setattr(ledger, "CLAIMS", (wrong,))
    lines: list[str] = []
    assert not ledger.verify(echo=lines.append)
    assert "a says 'holds', its check 'fails' (stated: 1 of 1 failed, first n=2, A=1/3)" in lines[0]
    assert lines[0].endswith("\n1 claim: 1 not confirmed: a")


def test_unknown_claims_are_named():
    with pytest.raises(
        ValueError, match=r"unknown claim 'note-lema-3\.3'; did you mean 'note-lemma-3\.3"
    ):
        ledger.find("note-lema-3.3")


def test_find_keeps_the_order_of_the_ledger():
    assert [r.id for r in ledger.find("maxpo-eq", "note-gamma")] == [
        "note-gamma",
        "maxpo-eq-83",
        "maxpo-eq-84",
    ]
    assert ledger.find() == ledger.CLAIMS


POLICY = exact.policy(1, 2, 4)
PAIRS = {
    "max": (scores.maximum((2, 1, 0)), objectives.max(), {}),
    "mean": (scores.mean((2, 1, 0)), objectives.mean(), {}),
    "polychromic": (
        scores.polychromic((2, 1, 0), (0, 0, -1)),
        objectives.polychromic(),
        {"strategies": [0, 0, -1]},
    ),
    "differ": (scores.differ(), objectives.differ(), {"strategies": [0, 1, 2]}),
    "majority": (scores.majority((2, 1, 0)), objectives.majority(), {"answers": [0, 1, 2]}),
    "rarest_correct": (
        scores.rarest_correct((1, 1, 0)),
        objectives.rarest_correct(),
        {"strategies": [0, 1, 2]},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_ledger_and_the_library_agree(name, size):
    score, objective, fields = PAIRS[name]
    rewards = [1, 1, 0] if name == "rarest_correct" else [2, 1, 0]
    tabular = TabularObjective(objective, ActionTable(rewards, **fields), set_size=size)
    policy = [float(q) for q in POLICY]
    mine = [float(a) for a in exact.advantages(score, POLICY, size)]
    np.testing.assert_allclose(tabular.advantages(policy), mine, atol=1e-14)
    gradient = [float(g) for g in exact.logit_gradient(score, POLICY, size)]
    np.testing.assert_allclose(tabular.gradient(policy), gradient, atol=1e-14)


def ordered(score):
    """A score that takes its members in any order."""
    return lambda draw: score(tuple(sorted(draw)))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_gradient_is_that_of_the_score_function(size):
    """∂J/∂z = Σ_draws P · f · Σᵢ ∂ log π(aᵢ)/∂z, over all ordered draws."""
    score = ordered(scores.polychromic((2, 1, 0), (0, 1, 1)))
    found = [Fraction(0)] * 3
    for draw, chance in exact.ordered_draws(POLICY, size):
        for z, p in enumerate(POLICY):
            found[z] += chance * score(draw) * sum((a == z) - p for a in draw)
    assert exact.logit_gradient(score, POLICY, size) == found


@pytest.mark.parametrize("size", [1, 2, 3])
def test_moments_over_multisets_are_those_over_ordered_draws(size):
    one, other = ordered(scores.polychromic((2, 1, 0), (0, 1, 1))), ordered(scores.differ())
    listed = list(exact.ordered_draws(POLICY, size))
    means = [
        sum(chance * f(draw) for draw, chance in listed)
        for f in (one, other, lambda draw: one(draw) * other(draw))
    ]
    assert exact.expected(one, POLICY, size) == means[0]
    assert exact.covariance(one, other, POLICY, size) == means[2] - means[0] * means[1]
    given_2 = sum(
        chance * one((2, *rest)) for rest, chance in exact.ordered_draws(POLICY, size - 1)
    )
    assert exact.advantages(one, POLICY, size)[2] == given_2 - means[0]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_set_means_are_means_over_the_sets_of_a_group(size):
    score = scores.polychromic((2, 1, 0), (0, 1, 1))
    group = (0, 2, 1, 1)
    means = exact.group_means(score, group, size)
    sets, smaller = (list(combinations(range(4), k)) for k in (size, size - 1))

    def mean_of(kept):
        return mean(ordered(score)([group[i] for i in s]) for s in kept)

    assert mean_of(sets) == means.U
    assert means.u == [mean_of([s for s in sets if i in s]) for i in range(4)]
    if size < 4:
        assert means.v == [mean_of([s for s in sets if i not in s]) for i in range(4)]
    if size > 1:
        assert means.w == [mean_of([s for s in smaller if i not in s]) for i in range(4)]
    assert means.variance == pvariance([ordered(score)([group[i] for i in s]) for s in sets])


def test_policies_are_listed_smallest_denominator_first():
    found = list(exact.policies(2, 4))
    assert found == [exact.policy(*w) for w in [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1)]]
    assert all(sum(p) == 1 for p in exact.policies(3, 7))


def test_draws_are_a_distribution():
    for num in (1, 2, 3):
        assert sum(chance for _, chance in exact.draws(POLICY, num)) == 1
    assert dict(exact.draws(exact.policy(1, 2), 2))[(0, 1)] == Fraction(4, 9)
