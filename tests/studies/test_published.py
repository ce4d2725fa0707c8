"""The figures of docs/results are drawn from the intervals of summary.json."""

import pytest

from setrl.evaluate.summary import summarise_run
from setrl.show.report.figures_evaluation import difference_to
from setrl.support.files import read_json, write_json
from studies.figures import RESULTS
from studies.published import charts, read
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
        mine, given = (difference_to(of, "poly_epo", "grpo").metrics for of in (again, split))
        assert mine["pass@1"] == given["pass@1"]


def test_every_split_has_its_two_figures_and_no_claim_about_all_k(published):
    folder, _ = published
    found = charts(folder)
    assert [one.name for one in found] == [
        "pass_at_k_shifted", "pass_at_k_test", "frontier_shifted", "frontier_test",
    ]  # fmt: skip
    assert found[0].headline == "pass@k on the shifted split: base, GRPO, Poly-EPO"


def test_a_control_run_has_the_outcomes_of_the_file():
    data = read(RESULTS / "control_multi_goal")
    written = read_json(RESULTS / "control_multi_goal" / "summary.json")["arms"]
    for arm, metrics in written.items():
        for name, found in metrics.items():
            again = data.outcome(arm, name)
            assert (again.value, again.stderr) == pytest.approx((found["mean"], found["stderr"]))
    [chart] = charts(RESULTS / "control_multi_goal")
    assert chart.name == "frontier"
