"""The page: parses, asks the network nothing, escapes samples, and says what the summary says."""

import base64
import hashlib
import json
import re
from html import unescape as html_text
from html.parser import HTMLParser

import pytest

from setrl.show.report import style, write_report
from setrl.show.report.run import ReportedRun
from setrl.show.report.verdict import verdict_in_words
from setrl.support.errors import ConfigError
from setrl.support.wording import percent
from setrl.train.runs.resume import write_status
from tests import fake_run

ATTACK = "<script>alert('x')</script><img src=x onerror=alert(1)>"
VOID = {"meta", "img", "source", "br"}


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks that tags close in order."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.links, self.texts, self.scripts = [], [], [], [], []
        self.feed(path.read_text())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [v for k, v in attributes if k in ("src", "href", "srcset", "action")]
        assert not any(name.startswith("on") for name, _ in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)
        elif self.open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts))


@pytest.fixture(autouse=True, scope="module")
def coarse_pictures():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "DPI", 40)
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "comparison"
    fake_run.make(folder, problems=5, n=8, steps=12, text=ATTACK)
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def verdict(run):
    return verdict_in_words(ReportedRun(run))


@pytest.fixture(scope="module")
def page(run):
    return Page(run / "report.html")


def test_the_page_asks_the_network_nothing(run, page):
    assert page.links == []
    html = run.joinpath("report.html").read_text()
    without = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"https?://|@import|url\(", without)


def test_the_policy_allows_the_one_script_of_the_page_and_no_request(run, page):
    policy = re.search(
        r'Content-Security-Policy" content="(.*?)"', run.joinpath("report.html").read_text()
    )
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
    assert html_text(policy.group(1)).startswith(
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src"
    )
    assert "connect-src" not in policy.group(1)
    assert page.tags.count("script") == len(page.scripts) == 2


def test_samples_are_data_in_the_json_that_the_script_reads(page):
    assert "img" not in page.tags
    assert "<" not in page.scripts[0]
    data = json.loads(page.scripts[0])
    examples = [one for split in data["solved"] for one in split["examples"]]
    texts = [sample["text"] for one in examples for sample in one["samples"]]
    assert texts
    assert all(text.endswith(ATTACK) for text in texts)


def test_a_page_is_smaller_than_a_megabyte(run):
    assert (run / "report.html").stat().st_size < 1_000_000


def test_the_verdict_in_words_is_on_the_page_without_its_script(page, verdict):
    assert verdict
    assert all(sentence in page.text for sentence in verdict)


def test_the_verdict_has_the_numbers_of_the_summary(run, verdict):
    summary = json.loads((run / "summary.json").read_text())
    split = summary["splits"]["shifted"]
    for arm in split["arms"].values():
        assert percent(arm["metrics"]["pass@1"]["value"]) in " ".join(verdict)
    kept = summary["splits"]["test"]["arms"]["grpo"]["metrics"]["correct_strategies@8"]["value"]
    assert any(f"GRPO keeps {kept:.1f}" in s for s in verdict)


def test_tables_hold_the_summary_s_numbers(run, page):
    summary = json.loads((run / "summary.json").read_text())
    for split in summary["splits"].values():
        for arm in split["arms"].values():
            for name in ("pass@1", "pass@8", "majority@8"):
                assert percent(arm["metrics"][name]["value"]) in page.text
            assert f"{arm['metrics']['correct_strategies@8']['value']:.1f}" in page.text


def test_cells_have_the_numbers_that_they_are_sorted_by(run):
    html = (run / "report.html").read_text()
    split = json.loads((run / "summary.json").read_text())["splits"]["shifted"]
    table = html.partition("<caption>shifted split: means")[2].partition("</table>")[0]
    rows = dict(re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', table))
    for arm, name in (("base", "base"), ("poly_epo", "Poly-EPO")):
        first = re.search(r'data-value="([^"]*)"', rows[name])[1]
        assert float(first) == pytest.approx(split["arms"][arm]["metrics"]["pass@1"]["value"])
    assert 'class="is-unclear" data-value=' in rows["Poly-EPO"]


def test_what_was_run_is_on_the_page(page):
    for fact in (
        "setrl train --config recipes/polynomial/config.yaml",
        "0123456789abcdef0123456789abcdef01234567",
        "trl 1.16.0",
        "samples_per_prompt: 8",
        "5 problems × 8 samples, temperature 1",
    ):
        assert fact in page.text


def test_figures_are_written_beside_the_page(run):
    names = {path.name for path in (run / "figures").iterdir()}
    assert names == {
        "pass_at_k_shifted.png",
        "pass_at_k_test.png",
        "support_shifted.png",
        "frontier_shifted.png",
        "frontier_test.png",
    }
    for name in names:
        assert (run / "figures" / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("unsaved_figures")
@pytest.mark.parametrize(
    ("options", "gone", "still"),
    [
        ({"evaluated": False}, "Of the base", "Nothing has been evaluated yet"),
        (
            {"arms": ("poly_epo",)},
            "Poly-EPO − GRPO",
            "Poly-EPO − base",
        ),
        ({"base": False}, "Of the base", "Correct strategies in 4 samples on the test split"),
        ({"seeds": (3,)}, "2 seeds", "training seeds 3"),
        ({"arms": (), "seeds": ()}, "One prompt", "base: 3 problems"),
    ],
)
def test_missing_parts_are_left_out(tmp_path, options, gone, still):
    run = fake_run.make(tmp_path / "r", **{"problems": 3, "n": 4, "steps": 3, **options})
    text = Page(write_report(run)).text.partition("How pass@k")[0]
    assert gone not in text
    assert still in text or still in Page(run / "report.html").text


def test_an_empty_run_directory_has_a_page(tmp_path):
    write_status(tmp_path / "empty", "running", name="empty", kind="comparison")
    page = Page(write_report(tmp_path / "empty"))
    assert "empty" in page.text
    assert page.links == []


@pytest.mark.usefixtures("unsaved_figures")
def test_a_run_in_progress_has_a_page(tmp_path):
    run = fake_run.make(tmp_path / "r", problems=3, n=4, steps=3)
    metrics = run / "grpo/seed_0/metrics.jsonl"
    metrics.write_text(metrics.read_text()[:-30])
    (run / "grpo/seed_1/metrics.jsonl").unlink()
    evaluation = run / "grpo/seed_0/evaluation/test.jsonl"
    evaluation.write_text("".join(evaluation.read_text().splitlines(keepends=True)[:2]))
    assert "2 problems × 4 samples" in Page(write_report(run)).text


def test_no_such_folder(tmp_path):
    with pytest.raises(ConfigError, match="nowhere is not a run directory"):
        write_report(tmp_path / "nowhere")
