"""``obliv study show``: the table of a store."""

from __future__ import annotations

from obliv.cli.output import Answer, require_outputs
from obliv.cli.study.options import StoreFile, StudyName

__all__ = ["show"]


def show(store: StoreFile, *, study: StudyName = "", answer: Answer) -> None:
    """Print the table of a store: routings by measures.

    A row for each routing on each topology, a column for each measure.

    Example: obliv study show meshes.db

    Example: obliv study show meshes.db --format markdown
    """
    import obliv.study

    require_outputs(answer.output, inputs=((str(store), ""),))
    answer.show(obliv.study.show(store, study))
