"""The proof of a worst case for a page: prices, how they are carried, and the witness.

The script of a page checks it as the contract of saved claims says, with whole numbers of any size: it carries the
prices, bounds every channel against the claim, and adds up the load of the witness. What the page proves rests on the
loads of pairs inside it. These come from the checker's own walk over paths, next hops or phases, never from a closed
form, and the script checks that the loads of every pair are a flow of one packet from its source to its destination.
That this flow is the one of the routing named in the page is what a reader still has to believe, or check with
``obliv verify``.
"""

from __future__ import annotations

from typing import Any

from obliv.checker.claims import Claim, read_claim
from obliv.checker.flows.links import threshold_prices
from obliv.results import Result
from obliv.routings.base import Routing
from obliv.view.interactive.packing import number

__all__ = ["claim_of", "page_proof"]


def claim_of(result: Result) -> Claim:
    """Return the claim of a result with a certificate; MalformedError if there is none."""
    return read_claim(result.to_dict())


def page_proof(claim: Claim, routing: Routing) -> dict[str, Any]:
    """Return a claim for the script of a page; thresholds become the prices that they stand for."""
    duals = [list(map(number, prices)) for prices in claim.duals]
    channels: list[Any] = []
    for c, entry in enumerate(claim.channels):
        if isinstance(entry, dict):
            flows = routing.link_flows
            if flows is None:
                raise ValueError(f"channel {c} is proved by a threshold, which only differences of flows have")
            channels.append([len(duals), []])
            duals.append([number(int(price)) for price in threshold_prices(flows.over(c), entry["threshold"])])
        else:
            channels.append(entry)
    return {
        "kind": claim.kind,
        "claim": str(claim.channel_load),
        "channel": claim.channel,
        "permutation": claim.permutation,
        "traffic": None if claim.traffic is None else [[s, d, str(amount)] for s, d, amount in claim.traffic],
        "denominator": str(claim.denominator),
        "duals": duals,
        "generators": claim.generators,
        "channels": channels,
        "skipped": (routing.skipped if routing.partial else 0) if claim.skipped is None else claim.skipped,
    }
