"""Makes the picture of worst and random traffic: ``BOOKSIM=PATH python docs/pictures/booksim.py``, 15 minutes."""

from pathlib import Path
from statistics import fmean

from matplotlib.figure import Figure

import obliv
from obliv import view

RANDOM = 10


def main() -> None:
    """The latency of ten random permutations and of the worst one, over the rate."""
    traffic = [*(f"random-permutation:seed={k}" for k in range(1, RANDOM + 1)), "worst"]
    draw([obliv.simulate("mesh:6x6", "dor", pattern, seeds=2) for pattern in traffic])


def draw(results: list[obliv.Simulation]) -> None:
    """Draw one line a result, and the prediction for the last one."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    ax = figure.subplots()
    for result in results:
        worst = result is results[-1]
        rates = sorted({run.rate for run in result.runs})
        means = [fmean(run.latency or 0.0 for run in result.runs if run.rate == rate) for rate in rates]
        color, label = ("#d1410c", "the worst permutation") if worst else ("#0072b2", "ten random permutations")
        shown = label if result in (results[0], results[-1]) else None
        ax.plot(rates, means, color=color, linewidth=2.4 if worst else 1.0, label=shown, zorder=3 if worst else 2)
    limit = results[-1].predicted
    ax.axvline(float(limit), color="#d1410c", linestyle="--", linewidth=1.0, label=f"guaranteed by obliv: {limit}")
    ax.set(xlim=(0, None), ylim=(0, 80), xlabel="rate, in packets per node and cycle", ylabel="mean latency, in cycles")
    ax.set_title(f"{results[-1].routing} on {results[-1].topology} in BookSim2")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="upper right")
    view.save(figure, Path(__file__).with_name("booksim-worst.png"), dpi=110)


if __name__ == "__main__":
    main()
