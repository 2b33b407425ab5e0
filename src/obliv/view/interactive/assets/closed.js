"use strict";
// Reads closed claims (docs/reference/formats/closed-claims.md) with the parts of proof.js, under node or in a page.
//
//   OblivClosed.check(text) -> {proved: [sentence], refused, malformed}
//
// It reads all of them, as obliv_check.py does, whose comments say why each check proves its statement.
(function (root) {
  const { Refused, need, unserved, boundByPrices } = root.OblivProof.parts;
  const MOST = 50e6; // pairs on channels that are held at once
  const ABOUT_FLOWS = ["most", "attains", "ratio", "ratio-attained", "failure"];

  class Malformed extends Error {}

  // ---- The file. A step function is a list [[place, value]] without zeros; a matrix is [{from, row}].

  function read(text) {
    const lines = text.endsWith("end") ? text.split("\n") : text.split("\n").slice(0, -1);
    let at = 0, held = 0;
    const form = (condition, words) => { if (!condition) throw new Malformed("line " + at + ": " + words); };
    form(/^[ -~\n]*$/.test(text) && (text.endsWith("\n") || text.endsWith("\nend")), "not lines of ASCII text");
    const word = () => (at < lines.length ? lines[at].split(" ", 1)[0] : "");
    function line(name, least, most) {
      form(word() === name, "expected " + name);
      const numbers = lines[at++].split(" ").slice(1);
      form(numbers.every((digits) => /^(0|[1-9]\d{0,3999})$/.test(digits)), "not natural numbers");
      form(numbers.length >= least && numbers.length <= (most === undefined ? least : most), "another count of numbers");
      return numbers.map(BigInt);
    }
    const many = (name, read) => { const all = []; while (word() === name) all.push(read()); return all; };
    const times = (count, read) => Array.from({ length: count }, read);
    function index(value, count) { form(value < BigInt(count), "a number is out of range"); return Number(value); }
    function positive(value) { form(value > 0n, "a number that must be at least 1 is 0"); return value; }
    function places(numbers, size) {
      form(numbers.length % 3 === 0, "runs are threes of numbers");
      const all = [];
      let end = 0n;
      for (let k = 0; k < numbers.length; k += 3) {
        const [first, count, value] = numbers.slice(k, k + 3);
        form(first >= end && count > 0n && (size === null || first + count <= BigInt(size)), "runs do not ascend, or end beyond the domain");
        end = first + count;
        if (size === null) continue; // of a row that may be used nowhere
        held += Number(count);
        need(held < MOST, "more than this script holds at once");
        for (let place = Number(first); place < Number(end); place++) all.push([place, value]);
      }
      return all;
    }
    form(lines[at] === "obliv-claim 1", "another version");
    at++;
    const about = word() === "about" ? lines[at++].slice(6) : "";
    form(about.length <= 1000 && lines[at - 1] !== "about ", "about has up to 1,000 characters");
    const nodes = line("nodes", 1)[0];
    form(nodes <= 10000000n, "too many nodes");
    const channels = many("channel", () => line("channel", 3)).map(([tail, head, bandwidth]) => (
      { tail: index(tail, nodes), head: index(head, nodes), bandwidth: positive(bandwidth) }));
    const ends = many("terminal", () => line("terminal", 3)), N = ends.length, C = channels.length, V = Number(nodes);
    const terminals = ends.map(([node]) => index(node, nodes));
    const lists = many("row", () => { const list = line("row", 0, Infinity); places(list, null); return list; });
    const known = new Map();
    function row(number, size) {
      const k = index(number, lists.length), name = k + ":" + size;
      if (!known.has(name)) {
        const all = places(lists[k], size).filter((pair) => pair[1] > 0n);
        known.set(name, { to: all.map((pair) => pair[0]), value: all.map((pair) => pair[1]) });
      }
      return known.get(name);
    }
    const matrix = (numbers, size) => places(numbers, N).map(([from, number]) => ({ from, row: row(number, size) }));
    const whole = (name, size) => matrix(line(name, 0, Infinity), size);
    const dense = (numbers, size) => fill(places(numbers, size), size);
    const claim = {
      about, channels, terminals, N, C, V, nodes: [0], // one node is enough for the parts of proof.js
      sends: ends.map((end) => end[1]), takes: ends.map((end) => end[2]), pairs: null, lost: new Set(), statements: [],
    };
    const missing = () => new Set(whole("lost", N).flatMap(({ from, row }) => row.to.map((to) => from * N + to)));
    if (word() === "unit") claim.pairs = { denominator: positive(line("unit", 1)[0]), channels: times(C, () => whole("flow", N)) };
    if (word() === "lost") claim.lost = missing();
    const lengths = () => { const [scale, ...rest] = line("lengths", 1, Infinity); return { scale: positive(scale), length: dense(rest, C) }; };
    const parts = {
      most() {
        const prices = many("price", () => dense(line("price", 0, Infinity), N));
        const maps = many("map", () => line("map", N).map((j) => index(j, N)));
        return { bounds: times(C, () => {
          const [k, ...word] = line("bound", 1, Infinity);
          const price = prices[index(k, prices.length)], chain = word.map((m) => maps[index(m, maps.length)]).reverse();
          return ends.map((_, j) => price[chain.reduce((place, map) => map[place], j)]);
        }) };
      },
      attains: () => ({ traffic: whole("traffic", N) }),
      least() {
        const adversaries = many("adversary", () => {
          const [c, weight, ...rest] = line("adversary", 2, Infinity);
          return { c: index(c, C), scale: positive(weight), traffic: matrix(rest, N) };
        });
        form(adversaries.every(({ c }, k) => !k || adversaries[k - 1].c < c), "channels must ascend");
        const allowed = word() === "allowed" ? times(N, () => whole("allowed", C)) : null;
        return { adversaries, allowed, potentials: times(N, () => whole("potential", V)) };
      },
      ratio: () => ({ all: times(C, () => ({ ...lengths(), distance: whole("distance", V) })) }),
      "ratio-attained": () => ({ traffic: whole("traffic", N), carrier: whole("carrier", C) }),
      carried: () => ({ traffic: whole("traffic", N), carrier: whole("carrier", C) }),
      blocked: () => ({ traffic: whole("traffic", N), ...lengths(), distance: whole("distance", V) }),
      cut: () => ({ side: dense(line("side", 0, Infinity), V) }),
      failure() {
        const removed = places(line("removed", 0, Infinity), C).filter((pair) => pair[1] > 0n).map((pair) => pair[0]);
        const lost = word() === "lost" ? missing() : claim.lost;
        const changed = many("changed", () => {
          const [c, ...rest] = line("changed", 1, Infinity);
          return [index(c, C), matrix(rest, N)];
        });
        form(changed.every(([c], k) => !k || changed[k - 1][0] < c), "channels must ascend");
        const inside = [];
        while (word() === "most" || word() === "attains") inside.push(statement());
        form(inside.length > 0, "a failure has at least one statement");
        return { removed, lost, changed: new Map(changed), inside };
      },
    };
    function statement() {
      const kind = word();
      form(Object.hasOwn(parts, kind) && (claim.pairs || !ABOUT_FLOWS.includes(kind)), "not a statement, or one about flows without flows");
      const names = { attains: "pqct", "ratio-attained": "pqct", carried: "pqt", blocked: "pqt", cut: "b", failure: "" }[kind];
      const found = { kind }, numbers = line(kind, (names === undefined ? "pq" : names).length);
      [...(names === undefined ? "pq" : names)].forEach((name, k) => {
        found[name] = name === "c" ? index(numbers[k], C) : "qt".includes(name) ? positive(numbers[k]) : numbers[k];
      });
      return Object.assign(found, parts[kind]());
    }
    while (word() !== "end") claim.statements.push(statement());
    line("end", 0);
    form(at === lines.length && claim.statements.length > 0, "something follows the end, or there is no statement");
    return claim;
  }

  function fill(pairs, size) {
    const all = new Array(size).fill(0n);
    pairs.forEach(([place, value]) => { all[place] = value; });
    return all;
  }

  // ---- Flows, traffic, potentials

  function requireFlows(claim) {
    const lost = ([from, to]) => claim.lost.has(from * claim.N + to);
    need(unserved(claim, claim.pairs).every(lost), "a pair has no flow");
    claim.pairs.channels.flat().forEach(({ from, row }) => need(!row.to.some((to) => lost([from, to])), "a pair that is lost has a flow"));
  }

  // Calls act(i, j, value) for all entries of a matrix that are not 0.
  const entries = (matrix, act) => matrix.forEach(({ from, row }) => row.to.forEach((to, k) => act(from, to, row.value[k])));

  function table(matrix) {
    const all = new Map();
    entries(matrix, (i, j, value) => { all.set(i + ":" + j, value); });
    return all;
  }

  function requireAdmissible(claim, traffic, scale) {
    const sent = claim.sends.map(() => 0n), taken = claim.takes.map(() => 0n);
    entries(traffic, (i, j, value) => {
      sent[i] += value;
      taken[j] += value;
      need(!claim.lost.has(i * claim.N + j), "the traffic is between terminals that are not connected");
    });
    need(sent.every((sum, i) => sum <= scale * claim.sends[i]), "a terminal sends more than its rate");
    need(taken.every((sum, j) => sum <= scale * claim.takes[j]), "a terminal takes more than its rate");
  }

  function requireLoad(claim, { p, q, c, t, traffic }) {
    const amount = table(traffic);
    let sum = 0n;
    entries(claim.pairs.channels[c], (i, j, value) => { sum += value * (amount.get(i + ":" + j) || 0n); });
    need(q * sum === p * claim.channels[c].bandwidth * claim.pairs.denominator * t, "the traffic loads channel " + c + " by another amount");
  }

  function requireCarried(claim, { p, q, t, traffic, carrier }) {
    const used = claim.channels.map(() => 0n), balance = new Map();
    const add = (i, v, value) => balance.set(i + ":" + v, (balance.get(i + ":" + v) || 0n) + value);
    entries(carrier, (i, c, value) => {
      used[c] += value;
      add(i, claim.channels[c].tail, value);
      add(i, claim.channels[c].head, -value);
    });
    entries(traffic, (i, j, value) => { add(i, claim.terminals[i], -value); add(i, claim.terminals[j], value); });
    for (const sum of balance.values()) need(sum === 0n, "the carrier does not bring what is sent");
    used.forEach((sum, c) => need(q * sum <= p * claim.channels[c].bandwidth * t, "the carrier loads channel " + c + " by more"));
  }

  // The potential of a row over nodes, which must not rise over an allowed channel by more than its length.
  function heights(claim, row, length, allowed) {
    const height = fill(row.to.map((v, k) => [v, row.value[k]]), claim.V);
    claim.channels.forEach(({ tail, head }, c) => need((allowed && !allowed.has(c)) || height[head] <= height[tail] + length(c),
      "a potential rises along channel " + c + " by more than its length"));
    return height;
  }

  // For each source, how far a terminal is by the potentials of a matrix; 0 where there are none.
  function distances(claim, length, matrix) {
    const known = new Map(), of = new Map();
    for (const { from, row } of matrix) {
      if (!known.has(row)) known.set(row, heights(claim, row, (c) => length[c]));
      of.set(from, known.get(row));
    }
    return (i, j) => {
      const height = of.get(i), rise = height ? height[claim.terminals[j]] - height[claim.terminals[i]] : 0n;
      return rise > 0n ? rise : 0n;
    };
  }

  const dot = (claim, length) => claim.channels.reduce((sum, channel, c) => sum + channel.bandwidth * length[c], 0n);

  // ---- Statements

  const provers = {
    most(claim, { p, q, bounds }) {
      claim.channels.forEach((channel, c) => {
        const bound = boundByPrices(claim.pairs.channels[c], bounds[c], claim, false);
        need(q * bound <= p * channel.bandwidth * claim.pairs.denominator, "channel " + c + " may carry more than " + p + "/" + q);
      });
      return "no admissible traffic loads a channel beyond " + p + "/" + q + " of its bandwidth";
    },
    attains(claim, found) {
      requireAdmissible(claim, found.traffic, found.t);
      requireLoad(claim, found);
      return "an admissible traffic loads channel " + found.c + " by exactly " + found.p + "/" + found.q + " of its bandwidth";
    },
    least(claim, { p, q, adversaries, allowed, potentials }) {
      const lengths = new Map(), may = allowed && allowed.map((matrix) => new Map(matrix.map(({ from, row }) => [from, new Set(row.to)])));
      const allows = (i, j) => (may ? may[i].get(j) || new Set() : null);
      let weights = 0n, far = 0n;
      for (const { c, scale, traffic } of adversaries) {
        requireAdmissible(claim, traffic, scale);
        weights += scale * claim.channels[c].bandwidth;
        entries(traffic, (i, j, value) => { lengths.set(i + ":" + j + ":" + c, value); });
      }
      if (allowed && claim.pairs) {
        claim.pairs.channels.forEach((flow, c) => entries(flow, (i, j) => need(allows(i, j).has(c), "a flow uses channel " + c + ", which is not allowed")));
      }
      potentials.forEach((matrix, i) => matrix.forEach(({ from: j, row }) => {
        if (claim.lost.has(i * claim.N + j)) return;
        const height = heights(claim, row, (c) => lengths.get(i + ":" + j + ":" + c) || 0n, allows(i, j));
        const rise = height[claim.terminals[j]] - height[claim.terminals[i]];
        if (rise > 0n) far += rise;
      }));
      need(weights > 0n && q * far >= p * weights, "the distances do not prove it");
      return "every routing" + (allowed ? " that keeps to the channels allowed" : "") + " is loaded on some channel by " + p + "/" + q + " or more";
    },
    ratio(claim, { p, q, all }) {
      all.forEach(({ scale, length, distance }, c) => {
        const far = distances(claim, length, distance);
        need(q * dot(claim, length) <= p * claim.channels[c].bandwidth * scale, "the lengths of channel " + c + " do not prove it");
        entries(claim.pairs.channels[c], (i, j, value) => need(i === j || value * scale <= claim.pairs.denominator * far(i, j),
          "from " + i + " to " + j + ", more than the distance is carried over channel " + c));
      });
      return "whatever traffic some routing carries, this one loads no channel beyond " + p + "/" + q + " under it";
    },
    "ratio-attained"(claim, found) {
      entries(found.traffic, (i, j) => need(i !== j, "a terminal sends to itself"));
      requireCarried(claim, { ...found, p: 1n, q: 1n });
      requireLoad(claim, found);
      return "a traffic that some routing carries loads channel " + found.c + " by exactly " + found.p + "/" + found.q + " of its bandwidth";
    },
    carried(claim, found) {
      requireCarried(claim, found);
      return "some routing carries the traffic given with no channel beyond " + found.p + "/" + found.q + " of its bandwidth";
    },
    blocked(claim, { p, q, t, traffic, length, distance }) {
      const far = distances(claim, length, distance), most = dot(claim, length);
      let paid = 0n;
      entries(traffic, (i, j, value) => { paid += value * far(i, j); });
      need(most > 0n && q * paid >= p * t * most, "the distances do not prove it");
      return "every routing loads some channel by " + p + "/" + q + " of its bandwidth or more under the traffic";
    },
    cut(claim, { b, side }) {
      const inside = claim.terminals.filter((node) => side[node] > 0n).length;
      const there = claim.channels.filter(({ tail, head }) => side[tail] > 0n && side[head] === 0n);
      need(Math.abs(2 * inside - claim.N) <= 1 && there.reduce((sum, channel) => sum + channel.bandwidth, 0n) === b, "another cut");
      return "a cut that halves the terminals has bandwidth " + b;
    },
    failure(claim, { removed, lost, changed, inside }) {
      const flows = claim.pairs.channels.map((flow, c) => (changed.has(c) ? changed.get(c) : flow));
      const left = { ...claim, lost, pairs: { denominator: claim.pairs.denominator, channels: flows } };
      removed.forEach((c) => need(flows[c].every(({ row }) => row.to.length === 0), "a flow uses a channel that is removed"));
      requireFlows(left);
      return "without " + removed.join(", ") + ": " + inside.map((found) => provers[found.kind](left, found)).join("; ");
    },
  };

  function check(text) {
    const answer = { proved: [], refused: null, malformed: null };
    try {
      const claim = read(text);
      if (claim.pairs) requireFlows(claim);
      for (const found of claim.statements) answer.proved.push(provers[found.kind](claim, found));
    } catch (error) {
      if (error instanceof Refused) answer.refused = error.message;
      else answer.malformed = error instanceof Malformed ? error.message : "malformed (" + error.message + ")";
    }
    return answer;
  }

  root.OblivClosed = { check: check };
})(typeof globalThis === "undefined" ? this : globalThis);
