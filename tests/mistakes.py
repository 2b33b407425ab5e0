"""What a mistake of a user raises: one line, in an error of the tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import obliv


def mistake(call: Callable[[], Any]) -> str:
    """The message of what is raised, if it is raised as the contract says."""
    with pytest.raises(obliv.OblivError) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert text.strip() == text
    assert text
    assert "\n" not in text
    assert len(text) < 500
    return text
