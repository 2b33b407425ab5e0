"use strict";
// Reads closed claims (docs/reference/formats/closed-claims.md) with the parts of proof.js, under node or in a page.
//
//   OblivClosed.check(text) -> {proved: [sentence], unread: [word], refused, malformed}
//
// It checks that flows are flows, and the statements `most` and `attains`; others are named in `unread`.
(function (root) {
  const { Refused, need, unserved, boundByPrices, bySource } = root.OblivProof.parts;
  const MOST = 50e6; // pairs on channels that are held at once

  class Malformed extends Error {}

  function read(text) {
    const lines = text.split("\n");
    if (!/^[ -~\n]*$/.test(text) || lines.pop() !== "") throw new Malformed("not lines of ASCII text");
    let at = 0;
    const form = (condition, words) => { if (!condition) throw new Malformed("line " + at + ": " + words); };
    const word = () => (at < lines.length ? lines[at].split(" ", 1)[0] : "");
    function line(name, least, most) {
      form(word() === name, "expected " + name);
      const numbers = lines[at++].split(" ").slice(1);
      form(numbers.every((digits) => /^(0|[1-9]\d{0,4000})$/.test(digits)), "not natural numbers");
      form(numbers.length >= least && numbers.length <= (most === undefined ? least : most), "another count of numbers");
      return numbers.map(BigInt);
    }
    const many = (name, least, most) => { const all = []; while (word() === name) all.push(line(name, least, most)); return all; };
    function index(value, count) { form(value < BigInt(count), "a number is out of range"); return Number(value); }
    let held = 0;
    // a step function as [[place, value]]
    function places(numbers, size) {
      form(numbers.length % 3 === 0, "runs are threes of numbers");
      const all = [];
      let end = 0n;
      for (let k = 0; k < numbers.length; k += 3) {
        const [first, count, value] = numbers.slice(k, k + 3);
        form(first >= end && count > 0n && first + count <= BigInt(size), "runs do not ascend, or end beyond the domain");
        end = first + count;
        held += Number(count);
        need(held < MOST, "more than this script holds at once");
        for (let place = Number(first); place < Number(end); place++) all.push([place, value]);
      }
      return all;
    }
    form(line("obliv-claim", 1)[0] === 1n, "another version");
    const about = word() === "about" ? lines[at++].slice(6) : "";
    const nodes = line("nodes", 1)[0];
    const channels = many("channel", 3).map(([tail, head, bandwidth]) => {
      form(bandwidth > 0n, "a bandwidth is 0");
      return { tail: index(tail, nodes), head: index(head, nodes), bandwidth: String(bandwidth) };
    });
    const rows = [], ends = many("terminal", 3), N = ends.length;
    const lists = many("row", 0, Infinity);
    const row = (number) => {
      const k = index(number, lists.length);
      if (rows[k] === undefined) {
        const all = places(lists[k], N).filter((pair) => pair[1] > 0n);
        rows[k] = { to: all.map((pair) => pair[0]), value: all.map((pair) => pair[1]) };
      }
      return rows[k];
    };
    const matrix = (numbers) => places(numbers, N).map(([from, number]) => ({ from, row: row(number) }));
    const claim = {
      about, nodes: Array.from({ length: Math.min(Number(nodes), 1) }), channels, N,
      terminals: ends.map(([node]) => index(node, nodes)),
      sends: ends.map((end) => end[1]), takes: ends.map((end) => end[2]), pairs: null, lost: new Set(), statements: [],
    };
    if (word() === "unit") {
      const denominator = line("unit", 1)[0];
      form(denominator > 0n, "the unit is 1/0");
      claim.pairs = { denominator, channels: many("flow", 0, Infinity).map(matrix) };
      form(claim.pairs.channels.length === channels.length, "there is not one flow for each channel");
      if (word() === "lost") {
        for (const { from, row } of matrix(line("lost", 0, Infinity))) row.to.forEach((to) => claim.lost.add(from * N + to));
      }
    }
    while (word() !== "end") {
      const kind = word(), start = at + 1;
      if (kind === "most") {
        const [p, q] = line("most", 2);
        form(q > 0n, "a denominator is 0");
        const prices = many("price", 0, Infinity).map((numbers) => {
          const all = ends.map(() => 0n);
          places(numbers, N).forEach(([j, value]) => { all[j] = value; });
          return all;
        });
        const maps = many("map", N).map((map) => map.map((j) => index(j, N)));
        const bounds = many("bound", 1, Infinity).map(([k, ...word]) => {
          const price = prices[index(k, prices.length)], chain = word.map((m) => maps[index(m, maps.length)]).reverse();
          return ends.map((_, j) => price[chain.reduce((place, map) => map[place], j)]);
        });
        form(bounds.length === channels.length, "there is not one bound for each channel");
        claim.statements.push({ kind, start, p, q, bounds });
      } else if (kind === "attains") {
        const [p, q, c, scale] = line("attains", 4);
        form(q > 0n && scale > 0n, "a denominator is 0");
        claim.statements.push({ kind, start, p, q, c: index(c, channels.length), scale, traffic: matrix(line("traffic", 0, Infinity)) });
      } else {
        form(/^(least|ratio|ratio-attained|carried|blocked|cut|failure)$/.test(kind), "an unknown word, or the end is missing");
        claim.statements.push({ kind, start });
        do at++; while (at < lines.length && !/^(end|most|attains|least|ratio|ratio-attained|carried|blocked|cut|failure)( |$)/.test(lines[at]));
        if (kind === "failure") while (/^(most|attains|price|map|bound|traffic)( |$)/.test(word() + " ")) at++; // its own
      }
    }
    line("end", 0);
    form(at === lines.length && claim.statements.length > 0, "something follows the end, or there is no statement");
    return claim;
  }

  function most(claim, { p, q, bounds }) {
    claim.channels.forEach((channel, c) => {
      const bound = boundByPrices(claim.pairs.channels[c], bounds[c], claim, false);
      need(q * bound <= p * BigInt(channel.bandwidth) * claim.pairs.denominator, "channel " + c + " may carry more than " + p + "/" + q);
    });
    return "no admissible traffic loads a channel beyond " + p + "/" + q + " of its bandwidth";
  }

  function attains(claim, { p, q, c, scale, traffic }) {
    const sent = claim.sends.map(() => 0n), taken = claim.takes.map(() => 0n), rows = [];
    for (const { from, row } of traffic) {
      row.to.forEach((to, k) => {
        sent[from] += row.value[k];
        taken[to] += row.value[k];
        need(!claim.lost.has(from * claim.N + to), "the traffic is between terminals that are not connected");
        rows.push([from, to, row.value[k]]);
      });
    }
    need(sent.every((sum, i) => sum <= scale * claim.sends[i]), "a terminal sends more than its rate");
    need(taken.every((sum, j) => sum <= scale * claim.takes[j]), "a terminal takes more than its rate");
    const amounts = bySource(rows);
    let sum = 0n;
    for (const { from, row } of claim.pairs.channels[c]) {
      const here = new Map(amounts.get(from) || []);
      row.to.forEach((to, k) => { if (here.has(to)) sum += row.value[k] * here.get(to); });
    }
    need(q * sum === p * BigInt(claim.channels[c].bandwidth) * claim.pairs.denominator * scale,
      "the traffic does not load channel " + c + " by " + p + "/" + q);
    return "an admissible traffic loads channel " + c + " by exactly " + p + "/" + q + " of its bandwidth";
  }

  function check(text) {
    const answer = { proved: [], unread: [], refused: null, malformed: null };
    try {
      const claim = read(text);
      if (claim.pairs) {
        need(unserved(claim, claim.pairs).every(([from, to]) => claim.lost.has(from * claim.N + to)), "a pair has no flow");
        if (claim.lost.size) {
          claim.pairs.channels.flat().forEach(({ from, row }) => need(!row.to.some((to) => claim.lost.has(from * claim.N + to)),
            "a pair that is lost has a flow"));
        }
      }
      for (const statement of claim.statements) {
        if (statement.kind !== "most" && statement.kind !== "attains") answer.unread.push(statement.kind);
        else {
          need(claim.pairs, "a statement about flows, and there are none");
          answer.proved.push((statement.kind === "most" ? most : attains)(claim, statement));
        }
      }
    } catch (error) {
      if (error instanceof Refused) answer.refused = error.message;
      else answer.malformed = error instanceof Malformed ? error.message : "malformed (" + error.message + ")";
    }
    return answer;
  }

  root.OblivClosed = { check: check };
})(typeof globalThis === "undefined" ? this : globalThis);
