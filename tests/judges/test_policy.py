import pytest

from setrl.judges import Skip, Stop, Wait
from setrl.judges.policy import POLICIES


def test_skip_neither_waits_nor_stops():
    assert Skip().pause_s("timeout") is None
    assert not Skip().is_over(unknown=1000, asked=1000)


def test_wait_waits_for_the_service_alone():
    for reason in ("timeout", "rate_limit", "server_error", "connection"):
        assert Wait(every_s=7).pause_s(reason) == 7
    for reason in ("unparsable", "wrong_length", "bad_id", "refused", "budget"):
        assert Wait().pause_s(reason) is None


def test_stop_stops_beyond_its_limits():
    assert not Stop(count=2).is_over(unknown=2, asked=3)
    assert Stop(count=2).is_over(unknown=3, asked=3)
    by_share = Stop(count=None, share=0.5, at_least=10)
    assert not by_share.is_over(unknown=9, asked=9)
    assert not by_share.is_over(unknown=5, asked=10)
    assert by_share.is_over(unknown=6, asked=10)


def test_limits_of_stop_are_checked():
    with pytest.raises(ValueError, match=r"share must be in \[0, 1\), got 1.5"):
        Stop(share=1.5)
    with pytest.raises(ValueError, match="count must be 0 or more, got -1"):
        Stop(count=-1)


def test_policies_have_names():
    assert [POLICIES[name]() for name in ("skip", "wait", "stop")] == [Skip(), Wait(), Stop()]
