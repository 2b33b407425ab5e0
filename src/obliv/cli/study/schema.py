"""``obliv study schema``: the JSON Schema of study files."""

from __future__ import annotations

__all__ = ["schema"]


def schema() -> None:
    """Print the JSON Schema of study files, for editors.

    Example: obliv study schema
    """
    import obliv.study
    from obliv.cli.output import json_text, write

    write(json_text(obliv.study.schema()))
