"""The proof of one channel of a claim, term by term."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from obliv._util.text import plural
from obliv.results.base import Channel, Result
from obliv.results.codec import Record, entry
from obliv.results.format import brief, shown

__all__ = ["Explanation", "Term"]

_SHOWN = 24  # terms in the text; the rows have all

_RULES = {
    "prices": "prices of destinations, and what every source sends beyond them",
    "rows": "the largest load of every source",
    "columns": "the largest load of every destination",
}


@dataclass(frozen=True)
class Term(Record):
    """One terminal's part of a bound, as the load of the channel.

    Parameters
    ----------
    side : {"source", "destination"}
        Whether it bounds what the terminal sends, or is the price of what it receives.
    terminal : int
    name : str
    partner : int or None
        The other end of the pair with the largest weight less price; None for a price.
    partner_name : str
    weight : Fraction
        What one packet per cycle between the two puts on the channel.
    price : Fraction
        The price of the destination.
    rate : Fraction
        The packets per cycle that the terminal sends or receives.
    amount : Fraction
        Rate × (weight − price), or rate × price.
    """

    side: str = entry(column="side")
    terminal: int = entry(column="terminal")
    name: str = entry(column="name")
    partner: int | None = entry(column="partner")
    partner_name: str = entry(column="partner_name")
    weight: Fraction = entry(column="weight")
    price: Fraction = entry(column="price")
    rate: Fraction = entry(column="rate")
    amount: Fraction = entry(column="amount")

    def in_words(self, priced: bool) -> str:
        """Return the term as a sum."""
        times = "" if self.rate == 1 else f"{brief(self.rate)} × "
        if self.partner is None:
            return f"{brief(self.amount)} = {times}the price" if times else brief(self.amount)
        direction = "to" if self.side == "source" else "from"
        less = f" less its price {brief(self.price)}" if priced and self.price else ""
        pair = f"{brief(self.weight)} {direction} {self.partner_name}{less}"
        return f"{brief(self.amount)} = {times}({pair})" if times else f"{brief(self.amount)} = {pair}"


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """The proof of one channel: the terms that add up to the bound of its load, and what the claim allows.

    Terms are loads of the channel, of terminals that add something. By ``prices``, every source adds the largest weight
    less price of a destination, and every destination its price; by ``rows`` and ``columns``, the simple bound, every
    source or every destination adds its largest weight.

    Examples
    --------
    >>> import obliv
    >>> obliv.explain(obliv.worst_case(obliv.DOR(obliv.line(3)), certificate=True), 0)
    explanation: dor on line:3
      channel   0: 0 -> 1
      claim     it carries at most 1
      verdict   holds: at most 1
      by        prices of destinations, and what every source sends beyond them
      source 0  1 = 1 to 1
      sum       1
    """

    kind: ClassVar[str] = "explanation"
    table: ClassVar[str] = "terms"
    columns: ClassVar[tuple[str, ...]] = ("topology", "routing", "side", "terminal", "name", "amount")

    channel: Channel = entry(
        Channel(0, 0, 0),
        label="channel",
        text=lambda proof: f"{proof.channel.id}: {proof.channel_names[0]} -> {proof.channel_names[1]}",
    )
    channel_names: tuple[str, str] = ("", "")
    limit: Fraction = entry(Fraction(0), label="claim", text=lambda proof: f"it carries at most {shown(proof.limit)}")
    bound: Fraction = entry(
        Fraction(0),
        label="verdict",
        text=lambda proof: f"{'holds' if proof.holds else 'is not proved'}: at most {shown(proof.bound)}",
    )
    rule: str = entry("rows", label="by", text=lambda proof: _RULES[proof.rule])
    terms: tuple[Term, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the bound is within the claim."""
        return self.bound <= self.limit

    def summary(self) -> list[tuple[str, str]]:
        priced = self.rule == "prices"
        lines = super().summary()
        for term in self.terms[:_SHOWN]:
            what = "price of" if term.partner is None else term.side
            lines.append((f"{what} {term.name}", term.in_words(priced)))
        if rest := self.terms[_SHOWN:]:
            total = sum((term.amount for term in rest), Fraction(0))
            lines.append((plural(len(rest), "more term"), f"{brief(total)}; all in CSV"))
        return [*lines, ("sum", shown(self.bound))]
