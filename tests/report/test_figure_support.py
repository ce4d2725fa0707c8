"""The figure of support dynamics: when it is drawn, and what its bars are."""

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from setrl.evaluate import compare_paths
from setrl.evaluate.comparison import STATES
from setrl.logs.options import LogOptions
from setrl.show.report.page import charts
from setrl.show.report.run import data_of
from setrl.show.report.style import LIGHT

DATA = Path(__file__).parents[1] / "data"
PUBLIC = [DATA / "log_cruxeval_input.jsonl", DATA / "log_cruxeval_output.jsonl"]


def support_chart(paths, folder):
    run, _ = data_of(paths, folder, LogOptions())
    return [chart for chart in charts(run) if chart.name.startswith("support")]


def test_bars_are_the_numbers_of_the_comparison(tmp_path):
    [chart] = support_chart(PUBLIC, tmp_path)
    row = compare_paths(*PUBLIC, ks=[10], support=True).support.rows[0]
    [bars] = [ax.patches for ax in chart.draw(LIGHT).axes]
    assert [bar.get_width() for bar in bars] == [getattr(row, state) for state in STATES]
    assert bars[1].get_x() == pytest.approx(row.preserved)
    assert chart.headline == (
        "log_cruxeval_output loses 188 of log_cruxeval_input's 380 problems and gains 143"
    )


def test_nothing_is_drawn_where_nothing_changed(tmp_path):
    log = DATA / "generations_svamp_50x30.jsonl"
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(log.read_bytes())
    found = support_chart([log, copy], tmp_path / "report")
    assert found == []
    assert support_chart([log], tmp_path / "one") == []
