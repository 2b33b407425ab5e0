"""Write the manual pages of all commands into a folder.

``uv run python docs/man.py man``, then ``man -l man/obliv-worst.1``.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import click
from typer.main import get_command

import obliv
from obliv.cli.app import VERBS, app

__all__ = ["pages"]


def pages() -> dict[str, str]:
    """Return the source of every page by its name, such as ``obliv-fabric-check``."""
    result = {}
    group = get_command(app)
    with click.Context(group, info_name="obliv") as context:
        verbs = {verb: group.get_command(context, verb) for verb in VERBS}  # type: ignore[attr-defined]
        result["obliv"] = _page(group, context, ["obliv"], verbs)
        todo = [(command, context, ["obliv", verb]) for verb, command in verbs.items()]
        while todo:
            command, parent, words = todo.pop()
            below = getattr(command, "commands", {})
            with click.Context(command, info_name=words[-1], parent=parent) as own:
                result["-".join(words)] = _page(command, own, words, below)
                todo += [(sub, own, [*words, name]) for name, sub in below.items()]
    return result


def _page(command: Any, context: click.Context, words: list[str], below: dict[str, Any]) -> str:
    name = "-".join(words)
    summary, _, rest = inspect.cleandoc(command.help or "").partition("\n")
    pieces = command.collect_usage_pieces(context)
    lines = [
        f'.TH "{name.upper()}" 1 "" "obliv {obliv.__version__}" "obliv manual"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        f"\\fB{_text(' '.join(words))}\\fR {_text(' '.join(pieces))}",
    ]
    if rest.strip():
        lines += [".SH DESCRIPTION", *_paragraphs(rest)]
    records = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    for title, rows in (
        ("OPTIONS", records),
        ("COMMANDS", [(" ".join([*words, sub]), of.get_short_help_str(200)) for sub, of in below.items()]),
    ):
        lines += [f".SH {title}"] if rows else []
        for left, right in rows:
            lines += [".TP", f"\\fB{_text(left)}\\fR", _text(" ".join(right.split()))]
    lines += [
        ".SH EXIT STATUS",
        "0 for success, 1 for a check that failed, 2 for bad usage or input, 130 after an interrupt.",
    ]
    others = [f"\\fB{_text('-'.join([*words, sub]))}\\fR(1)" for sub in below] or [f"\\fB{_text(words[0])}\\fR(1)"]
    return "\n".join([*lines, ".SH SEE ALSO", ", ".join(others)]) + "\n"


def _paragraphs(text: str) -> list[str]:
    lines = []
    for paragraph in text.replace("\b", "").strip().split("\n\n"):
        lines += [".PP", *map(_text, paragraph.splitlines())]
    return lines


def _text(text: str) -> str:
    """Return text as troff prints it: hyphens of options as they are typed, no requests by accident."""
    text = text.strip().replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "man")
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in pages().items():
        (folder / f"{name}.1").write_text(source, encoding="utf-8")
