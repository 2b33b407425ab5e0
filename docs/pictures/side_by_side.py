"""Sets figures of a paper side by side, with few colors, which makes the file small."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image


def side_by_side(path: Path, draw: Callable[[Path, str], None], *names: str) -> None:
    """Draw each of the named figures and write them, from left to right, into one picture."""
    with TemporaryDirectory() as folder:
        files = [Path(folder, f"{name}.png") for name in names]
        for file, name in zip(files, names, strict=True):
            draw(file, name)
        figures = [Image.open(file).convert("RGB") for file in files]
    row = Image.new("RGB", (sum(one.width for one in figures), max(one.height for one in figures)), "white")
    at = 0
    for one in figures:
        row.paste(one, (at, 0))
        at += one.width
    row.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
