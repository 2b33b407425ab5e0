"""Configuration of the documentation site, which ``uv run --group site python docs/build.py`` builds."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

sys.path.insert(0, str(Path(__file__).parent))

from generate import KEY, generate

import obliv

REPOSITORY = "https://github.com/obliv-routing/obliv/blob/main"

project = "obliv"
author = "The obliv developers"
copyright = author
version = release = obliv.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_external_toc",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
external_toc_path = "_toc.yml"
suppress_warnings = ["etoc.toctree"]  # the gallery lists its pages itself

# Markdown as GitHub shows it: headings are targets of links, ``text title="x"`` is a language with an option.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# Prompts of commands and sessions are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"  # the docstrings say them in words

html_theme = "furo"
html_title = f"obliv {version}"
html_static_path = ["style"]
html_css_files = ["site.css"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,  # that page would load scripts from elsewhere
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    "ignore_repr_types": r"matplotlib\.",  # a picture stands there already
}


def resolve(app: Any, name: str, source: list[str]) -> None:
    """Point links to pages outside this folder to their copies on the site, or to the repository."""
    page = Path(app.srcdir, name)
    root = Path(app.srcdir).parent

    def target(found: re.Match[str]) -> str:
        path = (page.parent / found[1]).resolve()
        if path.is_relative_to(app.srcdir) or not path.exists():
            return found[0]
        copy = Path(app.srcdir, "reference/generated", f"{path.stem.lower()}.md")
        there = os.path.relpath(copy, page.parent) if copy.exists() else f"{REPOSITORY}/{path.relative_to(root)}"
        return f"]({there}{found[2] or ''})"

    source[0] = re.sub(r"\]\((\.\./[^):#]+\.md)(#[^)]*)?\)", target, source[0])


def link_works(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Link the keys of works in docstrings to the bibliography, which lies beside the pages of the API."""
    lines[:] = [KEY.sub(lambda key: f"`{key[0]} <bibliography.html#{key[1].lower()}>`__", line) for line in lines]


def divide(app: Any, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let code in the text break between the words of a name or path only; ``site.css`` forbids other places."""
    divided = re.compile(r"(?<=[\w)\]][-._/:=,;|(])(?=[^\W\d]|[\[(]|&)")
    token = re.compile(r'(?<=<span class="pre">)[^<]+')
    context["body"] = token.sub(lambda found: divided.sub("<wbr>", found[0]), context.get("body", ""))


def setup(app: Any) -> None:
    """Write the generated pages before the others are read."""
    generate(Path(app.srcdir, "reference/generated"))
    for name in ("edgelist", "anynet", "gml"):  # languages of examples that have no highlighting
        app.add_lexer(name, TextLexer)
    app.connect("source-read", resolve)
    app.connect("html-page-context", divide)
    app.connect("autodoc-process-docstring", link_works, priority=900)  # after numpydoc
