"""The generated pages of the reference: commands by their own help, the Python API by its docstrings, JSON Schemas.

They are written into ``docs/reference/generated`` whenever the site is built.
"""

from __future__ import annotations

import ast
import json
import re
import types
from pathlib import Path
from typing import Any

import click
from typer.main import get_command

import obliv
from obliv.cli.app import VERBS, app
from obliv.results.markup import schemas

__all__ = ["KEY", "bibliography", "generate"]

#: The key of a work in a docstring.
KEY = re.compile(r"\[([A-Z][A-Za-z]{1,7}[0-9]{2})\]")

_REFERENCES = re.compile(r"^References\n-+\n(.*?)(?=\n\n[A-Z]\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)

ROOT = Path(__file__).resolve().parents[1]

#: Pages of the API: title and the packages whose names stand there.
ROOMS = {
    "topologies": ("Topologies", ("topologies", "io")),
    "routings": ("Routings", ("routings", "loads")),
    "traffic": ("Traffic", ("patterns", "matching")),
    "analyses": ("Analyses", ("analysis", "checker")),
    "designs": ("Designs, bounds and ratios", ("designs",)),
    "results": ("Results", ("results",)),
    "registration": ("Registration", ("specs",)),
    "errors": ("Errors", ("errors",)),
}
#: Packages that are used by their own name, each on a page.
PACKAGES = ("bufferless", "fabric", "io", "papers", "study", "testing", "view")


def generate(folder: Path) -> None:
    """Write all generated pages into a folder; a page that has not changed is left as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"help": _commands(), "schemas": _schemas(), "bibliography": bibliography(), **_api()}
    for name in ("CONTRIBUTING", "CHANGELOG"):
        pages[name.lower()] = _moved((ROOT / f"{name}.md").read_text(encoding="utf-8"))
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.stem not in pages:
            path.unlink()


def _commands() -> str:
    parts = [
        "# Help of all commands",
        "What `obliv VERB --help` prints. The page of each verb explains and shows examples.",
    ]
    group = get_command(app)
    with click.Context(group, info_name="obliv") as context:
        for verb in VERBS:
            command = group.get_command(context, verb)  # type: ignore[attr-defined]
            parts += _help(command, context, f"obliv {verb}", 2)
    return "\n\n".join(parts) + "\n"


def _moved(page: str) -> str:
    """Return a page of the repository's top folder with its links as seen from the generated pages."""
    page = re.sub(r"\]\(docs/", "](../../", page)
    return re.sub(r"\]\((?!\.\./|#|[a-z]+:)", "](../../../", page)


def bibliography() -> str:
    """Return the page of all works that docstrings name under "References", by key, with the modules that do.

    A work begins with its key, ``[TD02]``; what follows the year, such as a section, is not part of the work. A key
    stands for one work, here and wherever else it is used.
    """
    works: dict[str, str] = {}
    named: dict[str, set[str]] = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                found = _REFERENCES.search(text)
                for entry in re.split(r"\n\n", found[1]) if found else ():
                    key, work = _work(" ".join(entry.split()), module)
                    if works.setdefault(key, work) != work:
                        raise ValueError(f"{module}: [{key}] is {work!r}, elsewhere {works[key]!r}")
                for key in KEY.findall(text):
                    named.setdefault(key, set()).add(module)
    if unknown := named.keys() - works.keys():
        raise ValueError(f"keys without a work: {', '.join(sorted(unknown))}")
    lines = []
    for key in sorted(works, key=str.lower):
        modules = ", ".join(f"`{name}`" for name in sorted(named[key]))
        lines.append(f'- <a id="{key.lower()}"></a>**[{key}]** {works[key]}. ({modules})')
    head = "The works that the code follows, by the keys that docstrings use, each with the modules that name it."
    return f"# Bibliography\n\n{head}\n\n" + "\n".join(lines) + "\n"


def _work(entry: str, module: str) -> tuple[str, str]:
    """Return the key of a work and the work, without the section or theorem that is named."""
    found = re.fullmatch(rf"{KEY.pattern} (.*?)(, (section|Theorem|footnote|chapter) [^,]*)?\.", entry)
    if not found:
        raise ValueError(f'{module}: under "References", {entry!r} is not like  [TD02] Authors, "Title", place year.')
    return found[1], found[2]


def _help(command: Any, parent: click.Context, name: str, level: int) -> list[str]:
    with click.Context(command, info_name=name.rpartition(" ")[2], parent=parent) as context:
        context.terminal_width = context.max_content_width = 100
        text = command.get_help(context).strip()
        parts = [f"{'#' * level} {name}", f"```text\n{text}\n```"]
        for sub, below in sorted(getattr(command, "commands", {}).items()):
            parts += _help(below, context, f"{name} {sub}", level + 1)
    return parts


def _schemas() -> str:
    parts = [
        "# JSON Schemas",
        "The form of every result in JSON, as `--format json`, `--output` and `Result.save` write it, made from the "
        "declared fields of the results. Draft 2020-12; keys that are always there are required.",
    ]
    for kind, schema in sorted(schemas().items()):
        parts += [f"## {kind}", f"```json\n{json.dumps(schema, indent=2, ensure_ascii=False)}\n```"]
    return "\n\n".join(parts) + "\n"


def _api() -> dict[str, str]:
    names = {name: getattr(obliv, name) for name in dir(obliv) if not name.startswith("_")}
    pages = {}
    for page, (title, packages) in ROOMS.items():
        own = [name for name, thing in names.items() if _room(thing) in packages]
        pages[f"api-{page}"] = _page(title, "obliv", own)
    for package in PACKAGES:
        module = getattr(obliv, package)
        own = [name for name in getattr(module, "__all__", dir(module)) if not name.startswith("_")]
        public = [name for name in own if not isinstance(getattr(module, name), types.ModuleType)]
        pages[f"api-{package}"] = _page(f"obliv.{package}", f"obliv.{package}", public)
    return pages


def _room(thing: Any) -> str:
    words = str(getattr(thing, "__module__", "")).split(".")
    return words[1] if words[0] == "obliv" and len(words) > 1 else ""


def _page(title: str, module: str, names: list[str]) -> str:
    parts = [f"# {title}"]
    for name in sorted(names, key=lambda name: (isinstance(getattr(_module(module), name), type), name.lower())):
        thing = getattr(_module(module), name)
        kind = "autoclass" if isinstance(thing, type) else "autofunction" if callable(thing) else "autodata"
        parts.append(f"```{{eval-rst}}\n.. {kind}:: {module}.{name}\n```")
    return "\n\n".join(parts) + "\n"


def _module(name: str) -> Any:
    return obliv if name == "obliv" else getattr(obliv, name.partition(".")[2])
