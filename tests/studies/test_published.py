"""The figures of docs/results are drawn from the intervals of summary.json."""

import pytest

from setrl.evaluate.summary import summarise_run
from setrl.show.report.figures_evaluation import difference_to
from setrl.support.files import write_json
from studies.published import draw, main, read
from tests import fake_run


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A run's summary.json, and nothing else of it."""
    root = tmp_path_factory.mktemp("published")
    run = fake_run.make(root / "run", ("grpo", "poly_epo"), problems=4, n=32, steps=1)
    summary = summarise_run(run)
    write_json(root / "summary.json", summary.to_json())
    return root, summary


def test_means_and_intervals_are_those_of_the_file(published):
    folder, summary = published
    data = read(folder)
    assert list(data.summary.splits) == list(summary.splits)
    for name, split in summary.splits.items():
        again = data.summary.splits[name]
        for arm, found in split.arms.items():
            assert again.arms[arm].metrics["pass@32"].ends == found.metrics["pass@32"].ends
        mine, given = (difference_to(one, "poly_epo", "grpo") for one in (again, split))
        assert mine["pass@1"] == given["pass@1"]


def test_every_split_has_its_two_figures_and_no_claim_about_all_k(published):
    folder, _ = published
    charts = draw(read(folder))
    assert [one.name for one in charts] == [
        "pass_at_k_shifted", "frontier_shifted", "pass_at_k_test", "frontier_test",
    ]  # fmt: skip
    assert charts[0].headline == "pass@k on the shifted split: base, GRPO, Poly-EPO"


def test_figures_go_where_the_numbers_are(published, capsys):
    folder, _ = published
    main((folder,))
    assert len(capsys.readouterr().out.splitlines()) == len(list(folder.glob("*.png"))) == 4
