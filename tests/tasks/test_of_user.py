"""A domain from outside the library: as good as one of ours, and refused in words if it is none."""

import pickle

import pytest

from setrl import tasks
from setrl.support.errors import ConfigError
from setrl.tasks.config import read_config
from setrl.train.lm.resolved import ResolvedConfig

MODULE = """
from dataclasses import dataclass
from setrl.tasks.domains import Polynomial

@dataclass(frozen=True)
class Mine(Polynomial):
    level: int = 1
    name = "mine"
    splits = ("train", "test")

class Raw(Mine):
    chat = False

def broken(): return object()
def refuses(): raise ValueError("no such level")
"""
CONFIG = """
name: own
task: {task}
arms: {{grpo: {{method: grpo}}}}
prompts_per_step: 2
samples_per_prompt: 4
base_corpus: 128
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_domain.py").write_text(MODULE)
    return tmp_path


def config(folder, task):
    (folder / "config.yaml").write_text(CONFIG.format(task=task))
    return folder / "config.yaml"


@pytest.mark.parametrize(
    "task", ["my_domain:Mine", "{function: my_domain:Mine, level: 1, strategy: x}"]
)
def test_a_config_names_a_domain_of_a_user(folder, task):
    path = config(folder, task)
    resolved = ResolvedConfig.load(path)
    assert resolved.task.name == "mine"
    assert resolved.eval_splits == ("test",)
    assert resolved.sample_tokens == 13
    assert resolved.base.author is resolved.task.domain
    assert resolved.training_problems(0)[0].id.startswith("mine/train/")
    again = pickle.loads(pickle.dumps(resolved))
    assert again.training_problems(0) == resolved.training_problems(0)
    before = resolved.base.fingerprint
    assert again.base.fingerprint == before
    assert read_config(path).problems("test", 3, 0).problems
    (folder / "my_domain.py").write_text(MODULE + "# another author\n")
    assert resolved.base.fingerprint != before  # the model that imitates it is made again


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("my_domain:Mien", "did you mean 'Mine'"),
        ("my_domain", "given as 'module:name'"),
        ("my_domain:broken", "object has no name, vocabulary, .*, read"),
        ("my_domain:refuses", "no such level"),
        ("{function: my_domain:Mine, levle: 2}", "levle"),
        ("{function: my_domain:Mine, strategy: y}", "strategy must be 'x' or 'point'"),
        ("3", "task must be"),
    ],
)
def test_what_is_no_domain_is_refused(folder, task, said):
    with pytest.raises(ConfigError, match=said):
        ResolvedConfig.load(config(folder, task))
    with pytest.raises(ConfigError, match=said):
        read_config(folder / "config.yaml")


def test_a_whole_task_of_a_user_is_used_as_it_is(folder):
    (folder / "whole.py").write_text(
        "from setrl.tasks import DomainTask\nfrom setrl.tasks.domains import Quadratic\n"
        "def make(): return DomainTask(Quadratic())\n"
    )
    assert tasks.from_config(task={"function": "whole:make", "folder": str(folder)}).name == (
        "quadratic"
    )


@pytest.mark.parametrize(("domain", "chat"), [("Mine", None), ("Raw", False)])
def test_a_domain_says_that_its_prompts_are_plain_text_for_a_chat_model_too(folder, domain, chat):
    assert ResolvedConfig.load(config(folder, f"my_domain:{domain}")).form.chat is chat
