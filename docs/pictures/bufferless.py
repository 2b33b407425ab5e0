"""Makes the pictures of the pages on schedules of packets: ``python docs/pictures/bufferless.py``."""

from pathlib import Path
from typing import Any

from PIL import Image

from obliv import view
from obliv.bufferless.api import schedule
from obliv.bufferless.pictures.space_time import CYCLE, tint
from obliv.bufferless.problems import instance
from obliv.bufferless.results import Schedule
from obliv.view.axes import FAINT, INK, QUIET

HERE = Path(__file__).parent
DPI = 100


def waves() -> Schedule:
    """The centralized algorithm with frames so small that they can be seen."""
    drawn = instance("random-leveled:L=71,W=4,d=2,seed=2", packets=90, minlen=25, maxlen=60)
    return schedule(drawn, "centralized", constants="tuned", lam=12, s=4, rng=16)


def rounds() -> Schedule:
    """The distributed algorithm with few boats, so that some packets fail."""
    drawn = instance("random-leveled:L=71,W=4,d=2,seed=2", packets=90, minlen=25, maxlen=60)
    return schedule(drawn, "distributed", constants="tuned", lam=36, chi=6, s=3, timetable="oracle", rng=4)


def sizes() -> dict[str, list[Schedule]]:
    """Butterflies and meshes of growing size under several algorithms."""
    instances = [instance(f"butterfly:{k}") for k in (4, 6, 8, 10)] + [
        instance(f"leveled-mesh:{k}x{k}") for k in (8, 16, 32)
    ]
    kinds: dict[str, dict[str, Any]] = {
        "direct": {"algorithm": "direct"},
        "FIFO, with buffers": {"algorithm": "fifo"},
        "hot potato": {"algorithm": "hot-potato"},
        "centralized, tuned": {"algorithm": "centralized", "constants": "tuned"},
        "centralized, as in the paper": {"algorithm": "centralized", "constants": "paper"},
    }
    return {name: [schedule(drawn, **options) for drawn in instances] for name, options in kinds.items()}


def keep(ax: Any, name: str) -> None:
    """Write a picture with few colors, which makes the file small."""
    path = HERE / f"bufferless-{name}.png"
    view.save(ax, path, dpi=DPI)
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(palette=_palette(), dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def _palette() -> Image.Image:
    """The colors of the pictures, and what they are mixed with white for shading and smooth edges."""
    shares = (0.09, 0.24, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.92, 1.0)
    mixed = [tint(color, share) for color in (*CYCLE, INK, FAINT) for share in shares] + [
        tint(FAINT, 0.14),
        tint(QUIET, 1),
    ]
    flat = [round(255 * part) for color in [(1.0, 1.0, 1.0), *mixed] for part in color]
    palette = Image.new("P", (1, 1))
    palette.putpalette(flat + flat[:3] * (256 - len(flat) // 3))
    return palette


def main() -> None:
    """Waves, one phase, one round, hot potatoes, and routing times."""
    schedule_in_waves = waves()
    keep(view.space_time(schedule_in_waves), "waves")
    keep(view.one_phase(schedule_in_waves), "phase")
    keep(view.one_round(rounds()), "round")
    keep(view.space_time(schedule(instance("leveled-mesh:12x12", rng=1), "hot-potato"), packets=60), "hot-potato")
    keep(view.makespans(sizes()), "times")


if __name__ == "__main__":
    main()
