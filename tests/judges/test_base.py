from hypothesis import given
from hypothesis import strategies as st

from setrl import DEGENERATE
from setrl.judges import by_first_appearance


@given(st.lists(st.integers(-1, 5)))
def test_labels_are_renamed_and_mean_the_same(labels):
    named = by_first_appearance(labels)
    pairs = [(i, j) for i in range(len(labels)) for j in range(i)]
    assert all((labels[i] == labels[j]) == (named[i] == named[j]) for i, j in pairs)
    assert [label == DEGENERATE for label in labels] == [label == DEGENERATE for label in named]
    seen = list(dict.fromkeys(label for label in named if label != DEGENERATE))
    assert seen == list(range(len(seen)))
