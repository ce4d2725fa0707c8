"""Sampling a checkpoint: the file's format, determinism, and going on after an interruption."""

import json
import shutil
import subprocess
import sys

import pytest
import torch
from transformers import AutoTokenizer, dynamic_module_utils

from setrl.cli.sample import SampleModel
from setrl.evaluate import collecting
from setrl.evaluate.loading import load_evaluation
from setrl.logs.records import TEXTS_KEPT, read_records
from setrl.models import folder as model_folder
from setrl.models import local
from setrl.support import files
from setrl.support.errors import ConfigError, DataError, RunError
from setrl.tasks import domains
from setrl.tasks.base import domain_problems
from tests import tiny_model

DOMAIN = domains.by_name("polynomial")


OWN_CODE = """
from pathlib import Path
from transformers import Qwen3Config

(Path(__file__).parent / "ran").touch()

class OwnConfig(Qwen3Config):
    model_type = "kind_of_its_own"
"""


@pytest.mark.parametrize("trusted", [False, True])
def test_code_of_a_model_runs_only_if_it_may(tmp_path, monkeypatch, trusted):
    """Transformers would ask at the terminal, or fail without saying what setrl can do."""
    modules = tmp_path / "modules"
    monkeypatch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(modules))
    monkeypatch.syspath_prepend(str(modules))
    model = tiny_model.make(tmp_path / "model")
    config = files.read_json(model / "config.json")
    own = {"AutoConfig": "configuration_own.OwnConfig"}
    files.write_json(
        model / "config.json", {**config, "model_type": "kind_of_its_own", "auto_map": own}
    )
    (model / "configuration_own.py").write_text(OWN_CODE)
    if trusted:
        monkeypatch.setenv("SETRL_TRUST_REMOTE_CODE", "1")
        local.refuse_missing_model(model)
    else:
        with pytest.raises(ConfigError, match=r"has code of its own .*SETRL_TRUST_REMOTE_CODE=1"):
            local.refuse_missing_model(model)
    assert any(tmp_path.rglob("ran")) == trusted


def evaluate(checkpoint, path, problems=4, n=6, seed=3, temperature=1.0):
    task = domain_problems(DOMAIN, "test", problems, seed)
    model = local.LocalModel(checkpoint, temperature, task.max_tokens)
    return collecting.draw_and_read(task, model, n, seed, path, show_progress=False).path


def samples_of(path):
    return path.parent / "samples" / path.name


@pytest.fixture(scope="module")
def tiny_checkpoint(tmp_path_factory):
    return tiny_model.make(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="module")
def whole(tiny_checkpoint, tmp_path_factory):
    return evaluate(tiny_checkpoint, tmp_path_factory.mktemp("whole") / "deep" / "test.jsonl")


def test_every_line_holds_what_the_domain_reads(whole):
    records = read_records(whole)
    assert [r["prompt"] for r in records] == [p.prompt for p in DOMAIN.problems("test", 4, 3)]
    for record in records:
        readings = [DOMAIN.read(record["prompt"], text) for text in record["texts"]]
        assert record["correct"] == [int(reading.correct) for reading in readings]
        read = [one.strategy for one in readings]
        assert record["strategies"] == read
        assert record["answers"] == [reading.answer for reading in readings]
        assert (record["n"], record["seed"], record["temperature"]) == (6, 3, 1.0)
    assert load_evaluation(whole).correct_PN.shape == (4, 6)


def test_only_the_first_texts_are_kept(tiny_checkpoint, tmp_path):
    path = evaluate(tiny_checkpoint, tmp_path / "test.jsonl", problems=1, n=20)
    [record] = read_records(path)
    assert len(record["texts"]) == TEXTS_KEPT
    assert len(record["correct"]) == 20


def test_problems_have_different_samples(whole):
    assert len({tuple(record["texts"]) for record in read_records(whole)}) == 4


@pytest.mark.parametrize("kept_bytes", ["two problems", "two problems and a half line"])
def test_an_interrupted_call_goes_on_to_the_same_file(
    whole, tiny_checkpoint, tmp_path, kept_bytes, monkeypatch
):
    lines = samples_of(whole).read_bytes().splitlines(keepends=True)
    path = tmp_path / "test.jsonl"
    samples_of(path).parent.mkdir()
    kept = b"".join(lines[:13]) + (lines[13][:50] if "half" in kept_bytes else b"")
    samples_of(path).write_bytes(kept)
    asked = []
    draw = local.sample_ids
    monkeypatch.setattr(local, "sample_ids", lambda *args: asked.extend(args[1]) or draw(*args))
    evaluate(tiny_checkpoint, path)
    assert path.read_bytes() == whole.read_bytes()
    assert samples_of(path).read_bytes() == samples_of(whole).read_bytes()
    tokenizer = AutoTokenizer.from_pretrained(tiny_checkpoint)
    assert tokenizer.batch_decode(asked) == [r["prompt"] for r in read_records(whole)[2:]]


def test_a_finished_file_needs_no_model(whole):
    before = whole.read_bytes()
    evaluate("no/such/model", whole)
    assert whole.read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 7}, "made with n = 6, not 7"),
        ({"temperature": 0.5}, "made with temperature = 1.0, not 0.5"),
        ({"seed": 4}, "made with seed = 3, not 4"),
        ({"problems": 2}, "made with problems = "),
    ],
)
def test_a_file_of_other_settings_is_refused(whole, tiny_checkpoint, changes, message):
    before = whole.read_bytes()
    with pytest.raises(ValueError, match=message):
        evaluate(tiny_checkpoint, whole, **changes)
    assert whole.read_bytes() == before


def test_samples_of_other_weights_are_refused_wherever_the_model_is(
    whole, tiny_checkpoint, tmp_path
):
    """`setrl sample` gave the samples of a base for those of the model that was trained from it."""
    before = whole.read_bytes()
    moved = shutil.copytree(tiny_checkpoint, tmp_path / "moved")
    evaluate(moved, whole)
    weights = (moved / "model.safetensors").read_bytes()
    (moved / "model.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    with pytest.raises(ConfigError, match=r"test\.jsonl was made with weights = .*, not "):
        evaluate(moved, whole)
    adapter = tmp_path / "adapter"
    files.write_json(adapter / "adapter_config.json", {"base_model_name_or_path": str(moved)})
    found = model_folder.fingerprint(adapter)
    (moved / "model.safetensors").write_bytes(weights)
    assert found != model_folder.fingerprint(adapter)
    assert whole.read_bytes() == before


def test_an_older_file_of_samples_goes_on_with_a_line_that_the_model_is_not_known(
    whole, tiny_checkpoint, tmp_path, capsys
):
    path = tmp_path / "test.jsonl"
    header, *samples = samples_of(whole).read_text().splitlines(keepends=True)
    older = json.loads(header)
    del older["settings"]["weights"]
    samples_of(path).parent.mkdir()
    samples_of(path).write_text(json.dumps(older) + "\n" + "".join(samples[:6]))
    where = {"checkpoint": tiny_checkpoint, "domain": "polynomial", "output": path}
    SampleModel(**where, problems=4, samples=6, seed=3).run()
    assert "not known which model drew the samples that were there" in capsys.readouterr().err
    assert path.read_bytes() == whole.read_bytes()


def test_the_number_of_threads_is_put_back(tiny_checkpoint, tmp_path):
    threads = torch.get_num_threads()
    evaluate(tiny_checkpoint, tmp_path / "test.jsonl", problems=1)
    assert torch.get_num_threads() == threads


def test_a_chat_model_gets_the_prompt_as_a_user_s_message(tiny_checkpoint, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        local, "sample_ids", lambda *args: asked.extend(args[1]) or [[[0]] * args[2]]
    )
    evaluate(tiny_checkpoint, tmp_path / "plain.jsonl", problems=1)
    load = local._load_model_and_tokenizer

    def load_chat(*args):
        model, tokenizer = load(*args)
        tokenizer.chat_template = "{{ messages[0]['content'] }}{{ messages[0]['role'] | length }}"
        return model, tokenizer

    monkeypatch.setattr(local, "_load_model_and_tokenizer", load_chat)
    chat = evaluate(tiny_checkpoint, tmp_path / "chat.jsonl", problems=1)
    prompt, in_template = AutoTokenizer.from_pretrained(tiny_checkpoint).batch_decode(asked)
    assert in_template == f"{prompt}4"
    assert read_records(chat)[0]["prompt"] == prompt


@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: bytes(99)])
def test_damaged_weights_get_a_sentence(tiny_checkpoint, tmp_path, spoil):
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "model")
    weights = folder / "model.safetensors"
    weights.write_bytes(spoil(weights.read_bytes()))
    with pytest.raises(DataError, match="model: the file of its weights is damaged"):
        evaluate(folder, tmp_path / "out.jsonl")


@pytest.fixture
def asked(monkeypatch):
    """What transformers is asked for, as (name, only on this disk); it finds nothing."""
    found = []

    def nothing(name, local_files_only=False):
        found.append((name, local_files_only))
        raise OSError("nothing there")

    monkeypatch.setattr(local.AutoConfig, "from_pretrained", nothing)
    return found


@pytest.mark.parametrize("name", ["./gone", "~/gone", "runs/pilot/base", "{there}/bsae"])
def test_a_mistyped_folder_is_refused_and_no_hub_is_asked(tmp_path, monkeypatch, asked, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base").mkdir()
    with pytest.raises(ConfigError, match=r"there is no such folder, and .* has base"):
        local.refuse_missing_model(name.format(there=tmp_path))
    assert asked == []


def test_a_hub_that_does_not_answer_is_not_asked_again_and_again(monkeypatch, asked):
    def refuse(url):
        raise RunError(f"{url} cannot be reached")

    monkeypatch.setattr(model_folder, "refuse_unreachable", refuse)
    with pytest.raises(ConfigError, match=r"Qwen/Qwen3 is not .*: https.* cannot be reached"):
        local.refuse_missing_model("Qwen/Qwen3")
    assert asked == []


def test_a_folder_without_a_model_is_refused_with_what_it_has(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ConfigError, match=r"names no model_type; it has notes\.txt"):
        model_folder.refuse_missing(tmp_path)


def test_a_missing_model_is_refused_without_pytorch():
    code = (
        "import sys; from setrl.models.folder import refuse_missing\n"
        "try: refuse_missing('./nowhere')\n"
        "except ValueError: print(sorted({'torch', 'transformers'} & sys.modules.keys()))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout == "[]\n"
