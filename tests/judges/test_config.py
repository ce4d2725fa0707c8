"""Judges by name and from mappings."""

import inspect
import re
from pathlib import Path

import pytest

from setrl.judges import Group, LMJudge, RetryRule
from setrl.judges.config import by_name, from_config, reseeded
from setrl.judges.pairwise import PairwiseJudge
from studies.faulty import NoisyJudge

DOCS = Path(__file__).parents[2] / "docs"
NOISY = "studies.faulty:NoisyJudge"


def test_texts_and_mappings_name_the_same_judge():
    mapping = {"judge": "oracle", "domain": "polynomial", "options": {"strategy": "point"}}
    assert from_config("oracle:polynomial") == from_config({**mapping, "options": {}})
    assert from_config(mapping).domain.strategy == "point"


def test_judges_are_made_of_judges():
    noisy = {"judge": NOISY, "of": "oracle:quadratic", "flips": 0.05, "seed": 3}
    judge = from_config({"judge": "pairwise", "of": noisy})
    assert isinstance(judge, PairwiseJudge)
    inner = judge.same.of
    assert isinstance(inner, NoisyJudge)
    assert (inner.flips, inner.seed) == (0.05, 3)


def test_a_language_model_takes_all_its_settings(tmp_path):
    judge = from_config(
        {
            "judge": "lm",
            "model": "m",
            "endpoint": "http://localhost:1/v1",
            "style": "code",
            "cache": tmp_path / "c.sqlite",
            "retry_rule": {"max_share": 0.2},
            "limits": {"concurrency": 3, "max_requests": 7},
            "request": {"temperature": 0.5},
        }
    )
    with judge:
        assert isinstance(judge, LMJudge)
        assert judge.retry_rule == RetryRule(max_share=0.2)
        limits = judge.endpoint.limits
        assert (limits.concurrency, limits.max_requests) == (3, 7)
        assert (judge.endpoint.temperature, judge.style.name) == (0.5, "code")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("oracl:quadratic", "unknown judge 'oracl'; did you mean 'oracle'"),
        ("studies.clusters:nothing", "has no function 'nothing'"),
        ("nowhere:mine", "no module 'nowhere'"),
        ({"judge": "studies.clusters:last_number", "text": "7"}, "must return a judge, with name"),
        ("exact:x", "a function is given as 'module:name'"),
        ({"domain": "quadratic"}, "needs the key 'judge'"),
        ({"judge": "oracle"}, "judge oracle needs the option 'domain'"),
        ({"judge": NOISY, "of": "exact", "flip": 1}, "did you mean 'flips'"),
        ({"judge": "lm", "model": "m", "endpoint": "e"}, "url must start with http"),
        (
            {"judge": "lm", "model": "m", "endpoint": "http://e", "limits": {"timeout": 1}},
            "unknown option of limits 'timeout'; did you mean 'timeout_s'",
        ),
        (
            {"judge": "lm", "model": "m", "endpoint": "http://e", "retry_rule": {"share": 1}},
            "unknown option of retry_rule 'share'; did you mean 'max_share'",
        ),
    ],
)
def test_what_is_wrong_is_named(config, message):
    with pytest.raises(ValueError, match=message):
        from_config(config)


def test_language_models_get_other_seeds_wherever_they_are():
    inner = {"judge": "lm", "model": "m", "endpoint": "http://e", "seed": 4}
    noisy = {"judge": NOISY, "of": inner, "flips": 0.1, "seed": 1}
    found = reseeded({"judge": "pairwise", "of": noisy}, by=3)["of"]
    assert found == {**noisy, "of": {**inner, "seed": 7}}
    assert inner["seed"] == 4
    assert reseeded({"judge": "exact"}, by=3) == {"judge": "exact"}


def test_every_name_has_a_sentence():
    assert all(make.__doc__ for make in by_name.values())


@pytest.mark.parametrize("name", by_name)
def test_the_pages_have_every_judge(name):
    make = by_name[name]
    made = inspect.signature(make, eval_str=True).return_annotation
    judge = make if inspect.isclass(make) else made
    guide, reference = (DOCS / page for page in ("judges.md", "reference/judges.md"))
    text = guide.read_text(encoding="utf-8")
    assert f"| `{judge.__name__}(" in text, "docs/judges.md has no row for it"
    [listed] = re.findall(r"judge: pairwise +# or (.*)", text)
    assert name in ["pairwise", *listed.split(", ")], "the YAML example of docs/judges.md lists all"
    path = f"::: setrl.judges.{judge.__module__.rpartition('.')[2]}.{judge.__name__}"
    kept = reference.read_text(encoding="utf-8")
    assert path in kept or f"::: setrl.judges.{judge.__name__}" in kept, f"{reference}: no {path}"


def test_keys_and_embeddings_may_be_functions_of_ones_own():
    groups = [Group.of_texts("p", ("1+1=2", "3-1=2", "3"))]
    answers = from_config({"judge": "exact", "key": "studies.clusters:last_number"})
    assert answers.judge(groups)[0].labels_N == (0, 0, 1)
    settings = {"encode": "studies.clusters:runs_of_letters", "threshold": 0.5}
    near = from_config({"judge": "embedding", **settings})
    assert near.judge([Group.of_texts("p", ("1+1=2", "1+1=3", "(4-5)"))])[0].labels_N == (0, 0, 1)
    assert near.name == "embedding:studies.clusters:runs_of_letters, threshold 0.5"


def test_a_config_without_a_judge_is_refused_by_its_keys_and_not_by_their_values():
    with pytest.raises(ValueError, match=r"it has endpoint, api_key$") as refused:
        from_config({"endpoint": "http://user:word@host/v1", "api_key": "sk-1"})
    assert "sk-1" not in str(refused.value)
