"""`python -m studies` runs every study by its name."""

import pytest

from studies import __main__ as command


def test_the_help_names_every_study_and_others_are_refused(tmp_path):
    assert all(study in command.main.__doc__ for study in command.STUDIES)
    with pytest.raises(ValueError, match="unknown study 'bandit'; did you mean 'bandits'"):
        command.main("bandit", tmp_path)


@pytest.mark.parametrize("study", command.STUDIES)
def test_a_study_writes_to_the_folder_that_is_given(study, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(command.STUDIES, study, lambda folder: folder / f"{study}.json")
    command.main(study, tmp_path)
    assert capsys.readouterr().out == f"{tmp_path / study}.json\n"
