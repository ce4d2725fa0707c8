import pytest
from transformers import AutoTokenizer

from setrl.models.small.tokenizer import make_tokenizer
from setrl.tasks.domains import DOMAINS, by_name, corpus


@pytest.mark.parametrize("name", DOMAINS)
def test_texts_of_every_domain_come_back(name):
    domain = by_name(name)
    tokenizer = make_tokenizer(domain.vocabulary)
    for problem, written in corpus(domain, 50, seed=1):
        for text in (problem.prompt, written.text):
            ids = tokenizer(text)["input_ids"]
            assert tokenizer.unk_token_id not in ids
            assert tokenizer.decode(ids) == text
        assert len(ids) <= domain.max_new_tokens


def test_the_longest_token_wins():
    assert make_tokenizer(["a", "aa", "b"]).tokenize("aaab") == ["aa", "a", "b"]


def test_it_is_the_same_from_disk(tmp_path):
    tokenizer = make_tokenizer(["a", "aa", " b"])
    tokenizer.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again("aaa b")["input_ids"] == tokenizer("aaa b")["input_ids"] == [4, 3, 5]
    assert (again.pad_token, again.eos_token, again.padding_side) == ("<pad>", "<eos>", "left")
    assert again.decode([4, 5]) == "aa b"


def test_what_it_cannot_write_is_unknown():
    tokenizer = make_tokenizer(["a"])
    assert tokenizer.unk_token_id in tokenizer("a?")["input_ids"]


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [(["a", "a"], r"\['a'\] more than once"), (["", "a"], "empty"), (["<eos>"], "reserved")],
)
def test_wrong_vocabularies(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        make_tokenizer(vocabulary)
