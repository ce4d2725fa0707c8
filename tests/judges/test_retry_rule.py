import pytest

from setrl.judges import RetryRule


def test_groups_are_skipped_by_default():
    assert RetryRule().pause_s("timeout") is None
    assert not RetryRule().is_over(unknown=1000, asked=1000)


def test_only_the_service_is_waited_for():
    for reason in ("timeout", "rate_limit", "server_error", "connection"):
        assert RetryRule(wait_s=7).pause_s(reason) == 7
    for reason in ("unparsable", "wrong_length", "bad_id", "refused", "budget"):
        assert RetryRule(wait_s=7).pause_s(reason) is None


def test_a_run_stops_beyond_its_limits():
    by_share = RetryRule(max_share=0.5, at_least=10)
    assert not by_share.is_over(unknown=9, asked=9)
    assert not by_share.is_over(unknown=5, asked=10)
    assert by_share.is_over(unknown=6, asked=10)
    assert RetryRule(max_share=0.0, at_least=1).is_over(unknown=1, asked=10)


def test_waiting_and_stopping_can_be_combined():
    rule = RetryRule(wait_s=7, max_share=0.0)
    assert rule.pause_s("timeout") == 7
    assert rule.is_over(unknown=1, asked=20)


def test_limits_are_checked():
    with pytest.raises(ValueError, match=r"max_share must be in \[0, 1\), got 1.5"):
        RetryRule(max_share=1.5)
