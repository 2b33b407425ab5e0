"""Makes the picture of worst and random traffic in BookSim2: ``BOOKSIM=PATH python docs/pictures/booksim.py``."""

import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import obliv
from obliv import view
from obliv.io.simulators.booksim import write_without_deadlock
from obliv.io.simulators.booksim_runs import program_of, run_booksim
from obliv.questions.worst_case import worst_traffic

RATES = (0.05, 0.1, 0.15, 0.19, 0.21, 0.24, 0.26, 0.29, 0.32, 0.34, 0.38, 0.42, 0.46, 0.5)


def latencies(routing: obliv.Routing, traffic: obliv.Traffic) -> list[float]:
    """The mean latency at each rate, up to the first that is not stable."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "simulation.cfg")
        write_without_deadlock(routing, config, traffic)
        for rate in RATES:
            run = run_booksim(program_of(None), config, traffic, rate, 1)
            if run is None or run.latency is None:
                break
            found.append(run.latency)
            if not run.stable:
                break
    return found


def main() -> None:
    """The latency of ten random permutations and of the worst one, over the rate."""
    routing = obliv.routing("dor", "mesh:6x6")
    worst = worst_traffic(routing)
    limit = obliv.throughput(routing, worst).patterns[0].throughput
    patterns = [obliv.traffic(f"random-permutation:seed={k}", routing.topology) for k in range(1, 11)]
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    ax = figure.subplots()
    for pattern in [*patterns, worst]:
        means = latencies(routing, pattern)
        color, label = (
            ("#d1410c", "the worst permutation") if pattern is worst else ("#0072b2", "ten random permutations")
        )
        shown = label if pattern in (patterns[0], worst) else None
        ax.plot(RATES[: len(means)], means, color=color, label=shown, linewidth=2.4 if pattern is worst else 1.1)
    ax.axvline(float(limit or 0), color="#d1410c", linestyle="--", linewidth=1.0, label=f"obliv worst: {limit}")
    ax.set(xlim=(0, 0.5), ylim=(0, 100), xlabel="rate, in packets per node and cycle", ylabel="mean latency, in cycles")
    ax.set_title(f"{routing.spec} on {routing.topology.spec} in BookSim2")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="upper left")
    view.save(figure, Path(__file__).with_name("booksim-worst.png"), dpi=110)


if __name__ == "__main__":
    main()
