"""Secrets stay where they are: in no text of a value, no error, no file."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from capmodel.live.load.access import (
    Access,
    Credentials,
    Secret,
    Tls,
    credentials_from_environment,
    credentials_from_file,
)
from capmodel.model.errors import InputError

PASSWORD = "hunter2-and-more"


@pytest.fixture
def access() -> Access:
    return Access(("10.0.0.1",), credentials=Credentials("scott", Secret(PASSWORD)), tls=Tls())


def test_no_text_of_a_value_shows_a_secret(access: Access) -> None:
    shown = f"{access} {access!r} {access.credentials} {access.credentials!r}"
    assert PASSWORD not in shown and "***" in shown
    assert access.credentials is not None and PASSWORD in access.credentials.password.reveal(), "negative control"


def test_secrets_are_taken_out_of_the_words_of_others(access: Access) -> None:
    assert access.hidden(f"bad password {PASSWORD} for scott") == "bad password *** for scott"
    assert Access(("10.0.0.1",)).hidden("nothing to hide") == "nothing to hide"


def test_a_secret_reaches_the_processes(access: Access) -> None:
    """Through a pipe between them; no file, no command line."""
    other = pickle.loads(pickle.dumps(access))
    assert other.credentials.password.reveal() == PASSWORD


def test_credentials_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_USER", "scott")
    monkeypatch.setenv("DB_PASSWORD", PASSWORD)
    assert credentials_from_environment("DB_USER", "DB_PASSWORD").password.reveal() == PASSWORD
    with pytest.raises(InputError, match="NO_SUCH") as refused:
        credentials_from_environment("DB_USER", "NO_SUCH")
    assert PASSWORD not in str(refused.value)


def test_credentials_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text(f"# ours\nusername = scott\npassword = {PASSWORD}=\n")
    found = credentials_from_file(file)
    assert (found.username, found.password.reveal()) == ("scott", f"{PASSWORD}=")


def test_a_broken_file_is_refused_without_showing_it(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text(f"user: scott\npassword = {PASSWORD}\n")
    with pytest.raises(InputError) as refused:
        credentials_from_file(file)
    assert PASSWORD not in str(refused.value)
    with pytest.raises(InputError, match="can be read"):
        credentials_from_file(tmp_path / "none")
