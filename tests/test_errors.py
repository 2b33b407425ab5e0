"""Errors: one tree, picklable, with the place of what is wrong."""

from __future__ import annotations

import pickle

import pytest

from obliv import errors
from obliv.errors import FileError, InputError, Interrupted, OblivError, OptionError

NAMES = [name for name in errors.__all__ if name.endswith("Error")]
EXAMPLES = [
    *(getattr(errors, name)("what is wrong") for name in NAMES if name != "OptionError"),
    OptionError("lam", "{lam} is 3; it must be even"),
    FileError("what is wrong", "network.txt"),
    FileError("what is wrong", "network.txt", 7),
    Interrupted("after 3 of 5 samples", {"so": "far"}),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=repr)
def test_errors_are_picklable(error: BaseException) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_a_file_error_keeps_its_place() -> None:
    error = pickle.loads(pickle.dumps(FileError("what is wrong", "network.txt", 7)))
    assert (error.message, error.path, error.line) == ("what is wrong", "network.txt", 7)
    assert str(error) == "network.txt:7: what is wrong"


def test_bad_input_is_a_value_error() -> None:
    for name in errors.__all__:
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, OblivError) and kind is not OblivError:
            assert issubclass(kind, InputError) == (name not in ("CheckError", "MissingExtraError"))
            also = {"CheckError": AssertionError, "MissingExtraError": ImportError}.get(name, ValueError)
            assert issubclass(kind, also)
