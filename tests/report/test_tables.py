"""Tables: what differs is marked, and every number can be sorted."""

from dataclasses import replace

from setrl.show.report.tables import NONE, difference_table, evaluation_table, tables
from tests.report.test_headlines import data, difference, split


def cells(table, name):
    return dict(zip(table.columns, dict(table.rows)[name], strict=True))


def test_numbers_show_what_the_paired_difference_to_the_reference_shows():
    one = split(poly=(0.1, 0.1, 0.1, 0.04))
    shown = data(one)
    poly = cells(evaluation_table(shown, one), "Poly-EPO")
    assert (poly["pass@1"].shows, poly["pass@8"].shows) == ("above", "unclear")
    assert poly["pass@1"].value == 0.5
    assert {cell.shows for cell in cells(evaluation_table(shown, one), "GRPO").values()} == {"fact"}
    below = split(poly=(-0.1, 0, 0, 0))
    assert cells(evaluation_table(data(below), below), "Poly-EPO")["pass@1"].shows == "below"
    differences = difference_table(shown, one)
    found = cells(differences, "Poly-EPO − GRPO")
    assert (found["pass@1, points"].shows, found["pass@1, points"].value) == ("above", 0.1)


def test_a_difference_that_the_table_shows_as_0_is_not_marked():
    one = split()
    tiny = {"pass@1": difference(0.0004, reach=0.0001)}
    one = replace(one, differences=(replace(one.differences[0], metrics=tiny),))
    found = cells(difference_table(data(one), one), "Poly-EPO − GRPO")
    assert (found["pass@1, points"].text, found["pass@1, points"].shows) == ("0.0", "unclear")


def test_columns_that_no_log_fills_are_left_out_and_those_of_a_run_stay():
    for name, is_there in (("given", False), ("shifted", True)):
        one = split(name)
        table = tables(data(one))[0]
        assert ("majority@8" in table.columns) == is_there
        assert all(len(row) == len(table.columns) for _, row in table.rows)
        if is_there:
            assert cells(table, "GRPO")["majority@8"] == NONE
