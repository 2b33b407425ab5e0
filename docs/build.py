"""Build the documentation site into ``docs/_build/site``; every warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.cmd.build import main

if __name__ == "__main__":
    here = Path(__file__).parent
    folders = ["-d", str(here / "_build/cache"), str(here), str(here / "_build/site")]
    print("building takes one to two minutes", file=sys.stderr)
    status = main(["-W", "--keep-going", "-q", "-b", "html", *folders, *sys.argv[1:]])
    if status == 0:
        print(f"open {here / '_build/site/index.html'}", file=sys.stderr)
    sys.exit(status)
