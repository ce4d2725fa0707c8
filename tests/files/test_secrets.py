"""Keys and passwords: what is one, and what other people see of them."""

import pytest

from setrl.models.served.client import Client
from setrl.models.served.endpoint import Endpoint, refuse_unreachable
from setrl.support.errors import ConfigError, RunError
from setrl.support.secrets import is_secret, without_secrets

URL = "http://localhost:1/v1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("endpoint: https://me:p%40ss@host/v1", "endpoint: https://[secret]@host/v1"),
        ("setrl judge --endpoint http://me:pass@h", "setrl judge --endpoint http://[secret]@h"),
        ("extra_body:\n  api_key: sk-1 2\n  n: 3", 'extra_body:\n  api_key: "[secret]"\n  n: 3'),
        ('{"api_key": "a, b", "n": 3}', '{"api_key": "[secret]", "n": 3}'),
        ("a: {password: x, temperature: 1}", 'a: {password: "[secret]", temperature: 1}'),
        ("  MY_API_KEY: 'x'", '  MY_API_KEY: "[secret]"'),
        ("https://h/v1?a=1&api-key=x&b=2", "https://h/v1?a=1&api-key=[secret]&b=2"),
    ],
)
def test_secrets_are_hidden(text, shown):
    assert without_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 3\nsample_tokens: 24000\ntokens: 5",
        "api_key_variable: OPENAI_API_KEY",
        "api_key: $MY_KEY",
        "secret:\n  nested: 1",
        "mail me@host, see https://host/@me/x",
    ],
)
def test_all_else_stays(text):
    assert without_secrets(text) == text


def test_the_names_of_secrets():
    assert all(map(is_secret, ["api_key", "apikey", "hf_token", "Authorization", "client_secret"]))
    assert not any(map(is_secret, ["max_tokens", "tokens", "key", "api_key_variable", "group"]))


def test_an_address_with_a_password_is_refused_without_the_password():
    for use in (lambda url: Endpoint(url, "m"), refuse_unreachable):
        with pytest.raises(ConfigError, match=r"a user and a password.*//\[secret\]@host") as error:
            use("http://me:hunter2@host/v1")
        assert "hunter2" not in str(error.value)
    with pytest.raises(ConfigError, match="must be an address such as"):
        Endpoint("http://host:port/v1", "m")
    with pytest.raises(RunError, match=r"key=\[secret\] cannot be reached"):
        refuse_unreachable(f"{URL}?key=hunter2")


def test_a_secret_of_a_request_is_the_name_of_a_variable(monkeypatch):
    with pytest.raises(ConfigError, match=r"must not hold a\.api_key itself") as error:
        Endpoint(URL, "m", extra_body={"a": {"api_key": "hunter2"}})
    assert "hunter2" not in str(error.value)
    endpoint = Endpoint(URL, "m", extra_body={"api_key": "$MY_KEY"})
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(ConfigError, match="the environment variable MY_KEY of extra_body is not"):
        Client(endpoint)


@pytest.mark.parametrize("key", ["sk-12345678\n", "sk-1234 5678", "sk-1234\r\nX: y", "sk-é"])
def test_a_key_that_no_header_can_hold_is_refused_at_the_start(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigError, match="the key in OPENAI_API_KEY holds a space") as error:
        Client(Endpoint(URL, "m"))
    assert "1234" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("http://h", "http://h/chat/completions"),
        ("https://h/d?api-version=2024", "https://h/d/chat/completions?api-version=2024"),
    ],
)
def test_a_query_stays_behind_the_path(url, address):
    assert Endpoint(url, "m").address == address
