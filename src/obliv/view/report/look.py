"""The look that reports and the live page share: templates, the style sheet, and the choice of colors."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from obliv._util.text import printable

if TYPE_CHECKING:
    import jinja2

__all__ = ["asset", "environment"]


def asset(name: str) -> str:
    """Return a file of the folder ``assets``."""
    return _text("obliv.view.report", f"assets/{name}")


def environment(*packages: str) -> jinja2.Environment:
    """Return an environment with the templates of reports, and those of other packages before them."""
    import jinja2

    loaders = [
        jinja2.FunctionLoader(lambda name, package=package: _found(package, f"templates/{name}"))  # type: ignore[misc]
        for package in (*packages, "obliv.view.report")
    ]
    made = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.ChoiceLoader(loaders),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": True, "allow_nan": False}
    made.filters["printable"] = printable
    return made


def _found(package: str, name: str) -> str | None:
    return _text(package, name) if resources.files(package).joinpath(name).is_file() else None


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
