"""`python -m studies` runs every study by its name."""

from typing import get_args, get_type_hints

import pytest

from studies import __main__ as command


def test_every_study_can_be_named():
    choices = get_args(get_type_hints(command.main)["study"])
    assert set(choices) == set(command.STUDIES)


@pytest.mark.parametrize("study", command.STUDIES)
def test_a_study_writes_to_the_folder_that_is_given(study, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(command.STUDIES, study, lambda folder: folder / f"{study}.json")
    command.main(study, tmp_path)
    assert capsys.readouterr().out == f"{tmp_path / study}.json\n"
