"""Verbs that ask a question of a routing: worst, throughput, average, compare, ratio, deadlock, failures; and list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from obliv.cli.options import (
    Clusters,
    Jobs,
    OtherTraffic,
    PathSamples,
    Seed,
    TopologySpec,
    TrafficWords,
    is_seeded,
    refuse_idle_seed,
)
from obliv.cli.output import Answer, ClaimAnswer, Picture, progress, require_outputs, say
from obliv.cli.specs import Specs, named_traffic, read_traffic, say_without_capacity, seeded
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.results.base import Result
    from obliv.topologies.base import Topology


def worst(
    specs: Specs,
    *,
    context: typer.Context,
    symmetry: Annotated[
        str,
        typer.Option("--symmetry", help="auto (symmetries of the topology), search, or off (solve every channel)."),
    ] = "auto",
    channels: Annotated[
        bool, typer.Option("--channels", help="Report the worst case of every channel, and which are alike.")
    ] = False,
    samples: PathSamples = 0,
    picture: Picture,
    jobs: Jobs = None,
    clusters: Clusters,
    seed: Seed = 0,
    answer: ClaimAnswer,
) -> None:
    """Find the exact worst case, with a certificate.

    The worst case is the largest load that admissible traffic can put on a channel; --output saves its certificate.

    Example: obliv worst torus:9x9 romm

    Example: obliv worst file:network.graphml ecmp --output claim.json.gz
    """
    from obliv.questions.worst_case import worst_case

    picture.require()
    if channels and (samples or is_seeded(context)):
        raise InputError("--channels is exact: leave out --samples and --seed")
    if not samples:
        refuse_idle_seed(context, "--samples")
    routing = specs.read(answer.output, picture.plot, capacity=True)
    certificate = answer.certificate or (answer.output is not None and not samples)
    result: Result
    with clusters.workers(jobs) as executor, progress() as step:
        if channels:
            from obliv.questions.worst_channels import worst_channels

            result = worst_channels(
                routing, symmetry=symmetry, certificate=certificate, executor=executor, progress=step
            )
        else:
            result = worst_case(
                routing,
                symmetry=symmetry,
                certificate=certificate,
                samples=samples or None,
                rng=seed if samples else None,
                executor=executor,
                progress=step,
            )
    answer.show_claim(result)
    picture.save(result.plot)


def throughput(
    specs: Specs,
    words: TrafficWords,
    *,
    context: typer.Context,
    samples: PathSamples = 0,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Compute the exact ideal throughput of traffic patterns.

    Example: obliv throughput torus:9x9 dor uniform transpose tornado
    """
    import obliv

    given = seeded(words, context, seed, needed="" if samples else "--samples")
    routing = specs.read(answer.output, capacity=True)
    patterns = read_traffic(given, routing.topology, answer.output)
    with progress() as step:
        result = obliv.throughput(routing, *patterns, samples=samples or None, rng=seed, progress=step)
    answer.show(result)


def average(
    specs: Specs,
    *,
    context: typer.Context,
    samples: Annotated[
        int | None, typer.Option("--samples", help="Random permutations to draw.", show_default="100000")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Use all permutations (up to 9 terminals).")] = False,
    ensemble: Annotated[
        str, typer.Option("--ensemble", help="permutations, birkhoff:K (mixtures of K permutations) or sinkhorn.")
    ] = "permutations",
    jobs: Annotated[
        int, typer.Option("--jobs", min=0, help="Threads (0 = one per core); the answer does not depend on it.")
    ] = 0,
    path_samples: Annotated[
        int, typer.Option("--path-samples", min=0, help="Random paths sampled per pair (0 = exact pair loads).")
    ] = 0,
    picture: Picture,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Estimate the average throughput over random permutations.

    The estimate comes with its standard error; --exact uses all permutations.

    Example: obliv average mesh:8x8 o1turn --samples 1000000
    """
    from obliv.questions.average import average_case

    picture.require()
    routing = specs.read(answer.output, picture.plot, capacity=True)
    if exact and samples is not None:
        raise InputError("--exact uses all permutations and cannot be combined with --samples")
    if exact and not path_samples:
        refuse_idle_seed(context, "--path-samples")
    with answer.best_so_far(), progress() as step:
        result = average_case(
            routing,
            100_000 if samples is None else samples,
            seed,
            exact=exact,
            ensemble=ensemble,
            path_samples=path_samples or None,
            jobs=jobs or None,
            progress=step,
        )
    answer.show(result)
    picture.save(result.plot)


def compare(
    topology: TopologySpec,
    routings: Annotated[
        list[str],
        typer.Argument(metavar="ROUTING... [TRAFFIC]...", help="For example dor o1turn valiant, or dor transpose."),
    ],
    *,
    context: typer.Context,
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="TOPOLOGY", help="Another topology; may be repeated.")
    ] = None,
    traffic: Annotated[
        list[str] | None,
        typer.Option(
            "--traffic", metavar="TRAFFIC", help="Another way to give TRAFFIC; may be repeated (or A,B for two)."
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="Random permutations for the average (0 = no average).")
    ] = 0,
    deadlock: Annotated[
        bool, typer.Option("--deadlock", help="Find deadlocks, and the fewest virtual channels without.")
    ] = False,
    unit: Annotated[
        Literal["capacity", "throughput", "load"] | None,
        typer.Option("--unit", help="Fractions of capacity (default where known), throughputs or channel loads."),
    ] = None,
    picture: Picture,
    seed: Seed = 0,
    answer: Answer,
) -> None:
    """Compare routings: worst case, average, patterns, hops.

    Example: obliv compare mesh:8x8 dor o1turn valiant u2turn --traffic transpose --samples 10000

    Example: obliv compare mesh:3x3 dor u2turn --also mesh:5x5 --also mesh:7x7 --plot radix.png
    """
    import obliv

    picture.require()
    routings, words = split_traffic(routings)
    if not routings:
        raise InputError(f"{words[0]!r:.60} is a traffic pattern: name a routing before it, as in  dor {words[0]:.60}")
    patterns = [spec for text in named_traffic(words, traffic) for spec in split_patterns(text)]
    patterns = seeded(patterns, context, seed, needed="" if samples else "--samples")
    networks = _read((topology, *(also or ())), patterns, answer.output, picture.plot)
    with answer.best_so_far(), progress() as step:
        result = obliv.compare(
            networks,
            *routings,
            traffic=patterns,
            samples=samples,
            deadlock=deadlock,
            unit=unit or "",
            rng=seed,
            progress=step,
        )
    answer.show(result)
    picture.save(result.plot)


def _read(topologies: Sequence[str], patterns: Sequence[str], *outputs: Path | None) -> list[Topology]:
    """Return topologies, print notes on them and their traffic, and refuse outputs that would replace their files."""
    import obliv

    require_outputs(*outputs)
    networks = [obliv.topology(spec) for spec in topologies]
    for network in networks:
        say_without_capacity(network)
    notes = [note for network in networks for note in network.notes]
    inputs = [source for network in networks for source in network.sources]
    for spec, network in product(patterns, networks):
        with suppress(InputError):  # a pattern may fit other topologies
            pattern = obliv.traffic(spec, network)
            notes += pattern.notes
            inputs += pattern.sources
    require_outputs(*outputs, inputs=inputs)
    for note in dict.fromkeys(notes):
        say(note)
    return networks


def split_traffic(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return routings, and traffic among them: the specs and mixes of traffic whose names no routing has.

    Examples
    --------
    >>> split_traffic(["dor", "1/2*dor+1/2*valiant", "transpose", "1/2*uniform+1/2*shift:3"])
    (['dor', '1/2*dor+1/2*valiant'], ['transpose', '1/2*uniform+1/2*shift:3'])
    """
    from obliv.specs.registry import PATTERNS, ROUTINGS

    traffic = []
    for word in words:
        name = word.partition("+")[0].partition(":")[0].rpartition("*")[2].strip()
        if name in PATTERNS and name not in ROUTINGS:
            traffic.append(word)
    return [word for word in words if word not in traffic], traffic


def split_patterns(text: str) -> list[str]:
    """Return the specs of ``A,B``: a comma before a registered name, or before a weight, begins the next pattern."""
    from obliv.specs.registry import PATTERNS, split_arguments

    patterns: list[str] = []
    for piece in split_arguments(text):
        name = re.match(r"[^:*]*", piece.strip())
        parameter = name is not None and name[0] not in PATTERNS and re.match(r"[\d.(]|[\w-]+=", piece.strip())
        if patterns and parameter and "*" not in piece:
            patterns[-1] += f",{piece}"
        else:
            patterns.append(piece.strip())
    return patterns


def ratio(
    specs: Specs,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TRAFFIC]...", help="Ratio under this traffic only.", show_default=False),
    ] = None,
    *,
    context: typer.Context,
    traffic: OtherTraffic = None,
    instances: Annotated[
        int, typer.Option("--instances", min=0, help="Random placements of a job to average over (0 = one placement).")
    ] = 0,
    adaptive: Annotated[
        bool,
        typer.Option("--adaptive", help="With --traffic: the best rates for each traffic over the routing's paths."),
    ] = False,
    picture: Picture,
    seed: Seed = 0,
    answer: ClaimAnswer,
) -> None:
    """Compute the oblivious performance ratio, with a certificate.

    The ratio is the largest link load of the routing divided by that of the best routing, maximized over all traffic.

    On fat trees whose best routing is known for all traffic, a closed form gives it; this is checked. On all other
    networks linear programs do (extra "design"); both bounds are proved, and mostly meet.

    Example: obliv ratio fattree:8,3 osrm3-d

    Example: obliv ratio torus:4x4 dor

    Example: obliv ratio fattree:16,3 dmodk --traffic torus3d --instances 32

    Example: obliv ratio mesh:4x4 sampled:4,base=valiant --traffic transpose --adaptive
    """
    from obliv.designs.network_ratios import compact as oblivious
    from obliv.designs.network_ratios.patterns import any_rows, traffic_ratio
    from obliv.questions.ratio import has_base_load

    picture.require()
    named = [any_rows(spec) for spec in named_traffic(words, traffic)]
    _require_fitting(named, instances, adaptive, answer)
    if not instances:
        named = seeded(named, context, seed, needed="--instances")
    routing = specs.read(answer.output, picture.plot)
    if named and answer.certificate and has_base_load(routing.topology):
        raise InputError(
            f"a closed form gives the best routing of all traffic on {routing.topology.spec}: leave out --certificate, "
            "or --traffic for a certificate of the ratio over all traffic"
        )
    result: Result
    with progress() as step, answer.best_so_far():
        if named:
            patterns = named if instances else read_traffic(named, routing.topology, answer.output, picture.plot)
            proof = not instances and (answer.certificate or answer.output is not None)
            result = traffic_ratio(
                routing,
                *patterns,
                instances=instances,
                adaptive=adaptive,
                rng=seed,
                certificate=proof,
                progress=step,
            )
        else:
            proof = answer.certificate or answer.output is not None
            result = oblivious.ratio(routing, certificate=proof, progress=step)
    answer.show_claim(result)
    picture.save(result.plot)


def _require_fitting(named: list[str], instances: int, adaptive: bool, answer: ClaimAnswer) -> None:
    """Refuse options that need traffic or exact ratios."""
    if instances and answer.certificate:
        raise InputError("an estimate has no certificate: leave out --instances or --certificate")
    if instances and not named:
        raise InputError("--instances averages over placements of a job: name the job, for example --traffic torus3d")
    if adaptive and not named:
        raise InputError("--adaptive finds the best rates for one traffic: name it, for example --traffic uniform")


def deadlock(
    specs: Specs,
    *,
    vc: Annotated[
        str | None,
        typer.Option(
            "--vc",
            metavar="SCHEME",
            help="Virtual channels: none, phase, turn, turn+uturn, family, phase-order, double-y, updown; "
            "on rings also dateline, or any of the others with +dateline; lanes: SL-to-VL tables of a fabric.",
        ),
    ] = None,
    fewest: Annotated[
        bool, typer.Option("--fewest", help="Find the deadlock-free scheme with the fewest virtual channels.")
    ] = False,
    picture: Picture,
    answer: Answer,
) -> None:
    """Find deadlocks: cycles of channel dependencies.

    The exit status is 1 if there is one.

    Example: obliv deadlock mesh:8x8 u2turn --vc turn

    Example: obliv deadlock torus:5x5 romm --fewest
    """
    from obliv.questions.deadlocks import deadlock as analysis

    if fewest and vc is not None:
        raise InputError("--fewest tries every scheme and cannot be combined with --vc")
    picture.require()
    routing = specs.read(answer.output, picture.plot)
    result: Result
    with progress() as step:
        if fewest:
            result = least = analysis.fewest_virtual_channels(routing, progress=step)
            acyclic = least.fewest is not None
        else:
            result = graph = analysis.deadlock(routing, vc, certificate=answer.output is not None, progress=step)
            acyclic = graph.acyclic
    answer.show(result, hide=("certificate",))
    picture.save(result.plot)
    if not acyclic:
        raise typer.Exit(1)


def failures(
    specs: Specs,
    *,
    of: Annotated[str, typer.Option("--of", help="What fails: each of the links or of the nodes.")] = "links",
    fail: Annotated[
        list[str] | None,
        typer.Option("--fail", metavar="A-B", help="Fail this link, or this node, instead; repeat."),
    ] = None,
    repair: Annotated[
        str,
        typer.Option(
            "--repair",
            metavar="ROUTING",
            help="Route what is left by this: ecmp, shortest, updown, valiant (default: the routing itself).",
        ),
    ] = "",
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", min=0, help="Number of failures to list (default: 2 in the table, all in CSV)."
        ),
    ] = None,
    picture: Picture,
    answer: Answer,
) -> None:
    """Find the worst case after each single failure, worst ones first.

    A link is a channel with its opposite. The routing routes what is left anew: ecmp, shortest, updown; for others say
    how with --repair. Failures are ranked by deadlocks, then lost pairs, then the worst load. --output saves a
    certificate of all figures too.

    Example: obliv failures torus:5x5 ecmp

    Example: obliv failures mesh:7x6 o1turn --repair ecmp

    Example: obliv failures file:network.graphml updown --of nodes
    """
    from obliv.questions.failures import failures as after_failures

    picture.require()
    routing = specs.read(answer.output, picture.plot)
    with answer.best_so_far(listed := partial(replace, top=top)):
        with progress() as step:
            result = after_failures(
                routing,
                of=of,
                fail=fail or (),
                repair=repair,
                certificate=answer.output is not None,
                progress=step,
            )
        answer.show(listed(result), hide=("certificate",))
        picture.save(result.plot)


def list_(
    what: Annotated[
        Literal["topologies", "routings", "traffic", "patterns"],
        typer.Argument(metavar="topologies|routings|traffic", help="What to list; patterns is the same as traffic."),
    ],
    answer: Answer,
) -> None:
    """List the topologies, routings or traffic patterns.

    Example: obliv list routings
    """
    from obliv.results.base import Listing, Name
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    require_outputs(answer.output)
    what = "traffic" if what == "patterns" else what
    registry = {"topologies": TOPOLOGIES, "routings": ROUTINGS, "traffic": PATTERNS}[what]
    names = tuple(Name(entry.name, entry.example, tuple(entry.aliases), entry.summary) for entry in registry)
    answer.show(Listing(what=what, names=names))
