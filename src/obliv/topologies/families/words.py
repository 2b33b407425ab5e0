"""Networks whose nodes are words and whose channels shift them: de Bruijn and Kautz graphs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from obliv._util.typing import Array, NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.checks import integers
from obliv.topologies.make import build

__all__ = ["debruijn", "kautz"]


@register_topology("debruijn", aliases=("de-bruijn",), example="debruijn:d=2,n=4")
def debruijn(d: int, n: int) -> Topology:
    """De Bruijn graph: words of `n` letters from an alphabet of `d`, with a channel to each word reached by a shift.

    Parameters
    ----------
    d : int
        Letters, which is also the out-degree; at least 2.
    n : int
        Letters of a word, which is also the diameter; at least 1.

    Returns
    -------
    Topology
        d^n nodes, all of them terminals, named by their words and numbered as the words are sorted. Channels lead one
        way only, from w₁w₂…wₙ to w₂…wₙa for every letter a, in that order: node v to d·v + a modulo d^n. The d words
        of one letter only would have a channel to themselves, which is left out.

    Raises
    ------
    TopologyError
        If a parameter is out of range, or the network is too large.

    References
    ----------
    [SP89] M. R. Samatham and D. K. Pradhan, "The de Bruijn multiprocessor network: a versatile parallel processing and
    sorting network for VLSI", IEEE Trans. Computers 38 (4), 1989.

    Examples
    --------
    >>> debruijn(2, 4)
    <Topology debruijn:d=2,n=4: 16 nodes, 30 channels, 16 terminals>
    >>> debruijn(2, 4).channel_name(0)
    '0000 -> 0001'
    """
    d, n = integers("debruijn", d=d, n=n)
    spec = f"debruijn:d={d},n={n}"
    _check(spec, d, n)
    nodes = d**n
    require_network(nodes, nodes * d - d, spec)
    number = np.arange(nodes)
    letters = number[:, None] // d ** np.arange(n)[::-1] % d
    links = np.column_stack([np.repeat(number, d), ((number[:, None] * d + np.arange(d)) % nodes).ravel()])
    return build(
        spec,
        nodes,
        links[links[:, 0] != links[:, 1]],
        labels=_words(letters, d),
        positions=_circle((number + 0.5) / nodes),
        generators=_renamed(letters, d, lambda words: words @ d ** np.arange(n)[::-1]),
        notes=(f"{d} self-loops dropped: a packet for its own node needs no channel",),
    )


@register_topology("kautz", example="kautz:d=2,n=3")
def kautz(d: int, n: int) -> Topology:
    """Kautz graph: words of `n` of `d` + 1 letters without equal adjacent letters, with a channel to each shifted word.

    Parameters
    ----------
    d : int
        Out-degree, one less than there are letters; at least 2.
    n : int
        Letters of a word, which is also the diameter; at least 1. Others write K(d, n) for words of n + 1 letters.

    Returns
    -------
    Topology
        d^n + d^(n-1) nodes, all of them terminals, named by their words and numbered as the words are sorted. Channels
        lead one way only, from w₁w₂…wₙ to w₂…wₙa for every letter a other than wₙ, in that order.

    Raises
    ------
    TopologyError
        If a parameter is out of range, or the network is too large.

    References
    ----------
    [Kau68] W. H. Kautz, "Bounds on directed (d, k) graphs", in Theory of cellular logic networks and machines,
    AFCRL-68-0668, 1968.

    [BP89] J.-C. Bermond and C. Peyrat, "De Bruijn and Kautz networks: a competitor for the hypercube?", Hypercube and
    distributed computers, 1989.

    Examples
    --------
    >>> kautz(2, 3)
    <Topology kautz:d=2,n=3: 12 nodes, 24 channels, 12 terminals>
    >>> kautz(2, 3).channel_name(0)
    '010 -> 101'
    """
    d, n = integers("kautz", d=d, n=n)
    spec = f"kautz:d={d},n={n}"
    _check(spec, d, n)
    nodes = (d + 1) * d ** (n - 1)
    require_network(nodes, nodes * d, spec)
    weights = d ** np.arange(n)[::-1]
    letters = np.arange(nodes)[:, None] // weights
    letters[:, 1:] %= d  # the index among the d letters that may follow
    for k in range(1, n):
        letters[:, k] += letters[:, k] >= letters[:, k - 1]

    def numbers(words: Array) -> Array:
        rest = words[:, 1:] - (words[:, 1:] > words[:, :-1])
        number: Array = words[:, 0] * weights[0] + rest @ weights[1:]
        return number

    more = np.arange(d) + (np.arange(d) >= letters[:, -1:])
    following = np.concatenate([np.repeat(letters[:, 1:], d, axis=0), more.reshape(-1, 1)], axis=1)
    sign = (-1) ** np.arange(n)
    turn = (np.diff(letters, axis=1) % (d + 1) * sign[1:] @ weights[1:] + letters[:, 0] * weights[0]) / nodes
    return build(
        spec,
        nodes,
        np.column_stack([np.repeat(np.arange(nodes), d), numbers(following)]),
        labels=_words(letters, d + 1),
        positions=_circle(turn),
        generators=_renamed(letters, d + 1, numbers),
    )


def _check(spec: str, d: int, n: int) -> None:
    if d < 2 or n < 1:
        raise TopologyError(f"{spec}: needs d >= 2 and n >= 1")
    if n * (d.bit_length() - 1) > 31:
        raise TopologyError(f"{spec}: {d}^{n} nodes are too many; fewer than 2^31 are supported")


def _words(letters: Array, alphabet: int) -> tuple[str, ...]:
    between = "" if alphabet <= 10 else ","
    return tuple(between.join(map(str, word)) for word in letters.tolist())


def _renamed(letters: Array, alphabet: int, numbers: Callable[[Array], Array]) -> tuple[NodeArray, ...]:
    """Return the node maps of two permutations of the letters that generate all others."""
    rotated = (np.arange(alphabet) + 1) % alphabet
    swapped = np.array([1, 0, *range(2, alphabet)])
    return tuple(numbers(to[letters]).astype(np.int32) for to in (rotated, swapped))


def _circle(turn: Array) -> Array:
    """Return places on a circle, clockwise from the top."""
    places: Array = np.column_stack([np.sin(2 * np.pi * turn), np.cos(2 * np.pi * turn)])
    return places
