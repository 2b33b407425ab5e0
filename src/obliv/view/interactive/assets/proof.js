"use strict";
// Checks the proof of a worst case inside a page, with whole numbers of any size and nothing else.
//
//   OblivProof.check(payload) -> {holds, proved, channels, failed, text}
//   OblivProof.loads(payload) -> the loads of pairs, unpacked
//
// It holds if
//   1. the loads of every pair are a flow of one packet from its source to its destination;
//   2. the witness is admissible and puts the claimed load on the channel that is named;
//   3. every channel is bounded by the claim L = claim * bandwidth * denominator: a "simple" one by
//      min(sum of row maxima, sum of column maxima) <= L, one with [dual, word] by
//      sum_i max(0, max_j (w_ij - v_j)) + sum_j v_j <= L, v the dual carried along the generators of the word;
//      where terminals have rates, each term counts times the rate of its terminal;
//   4. the loads that the page shows are those that follow from the loads of pairs.
// Any prices >= 0 prove a true bound, so neither optimality nor symmetry needs to be believed.
// What is believed: that the loads of pairs are those of the routing that the page names.
(function (root) {
  class Refused extends Error {}

  function need(condition, text) {
    if (!condition) throw new Refused(text);
  }

  function whole(value) {
    need(typeof value === "number" ? Number.isSafeInteger(value) : /^-?\d{1,4000}$/.test(value), "not a whole number");
    return BigInt(value);
  }

  // A fraction as [numerator, denominator].
  function fraction(text) {
    const parts = /^(\d{1,4000})(?:\/(\d{1,4000}))?$/.exec(text);
    need(parts !== null, "not a number: " + String(text).slice(0, 40));
    const number = [BigInt(parts[1]), BigInt(parts[2] || 1)];
    need(number[1] > 0n, "a denominator is zero");
    return number;
  }

  const equal = (one, two) => one[0] * two[1] === two[0] * one[1];
  const below = (one, two) => one[0] * two[1] <= two[0] * one[1];
  const plus = (one, two) => [one[0] * two[1] + two[0] * one[1], one[1] * two[1]];
  const times = (one, two) => [one[0] * two[0], one[1] * two[1]];
  const isIndex = (value, count) => Number.isInteger(value) && value >= 0 && value < count;
  const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a; };

  // Whole numbers of seven bits a byte, the lowest first; see packing.py.
  function numbers(text) {
    const bytes = root.atob(text);
    const out = [];
    let value = 0, scale = 1;
    for (let k = 0; k < bytes.length; k++) {
      const byte = bytes.charCodeAt(k);
      value += (byte & 127) * scale;
      need(value < 2 ** 31, "a number in the loads is out of range");
      if (byte & 128) scale *= 128;
      else { out.push(value); value = 0; scale = 1; }
    }
    need(scale === 1, "the loads are cut short");
    return out;
  }

  // {denominator, values, rows: [{to, value}], channels: [[{from, row}]]}; values are numerators, rows are shared.
  function loads(payload) {
    const packed = payload.crossing, terminals = payload.terminals.length;
    const denominator = whole(packed.denominator), values = packed.values.map(whole);
    need(denominator > 0n, "the denominator is not positive");
    need(values.every((value) => value > 0n), "a load is not positive");
    let text = numbers(packed.rows), at = 0;
    const next = () => { need(at < text.length, "the loads are cut short"); return text[at++]; };
    const rows = [];
    while (at < text.length) {
      const row = { to: [], value: [] };
      let to = 0;
      for (let left = next(), first = true; left > 0; left--, first = false) {
        const gap = next(), value = next();
        need(first || gap > 0, "a pair is listed twice");
        to += gap;
        need(to < terminals && value < values.length, "a row is out of range");
        row.to.push(to);
        row.value.push(values[value]);
      }
      rows.push(row);
    }
    text = numbers(packed.channels);
    at = 0;
    const channels = payload.channels.map(() => {
      const list = [];
      let from = 0;
      for (let left = next(), first = true; left > 0; left--, first = false) {
        const gap = next(), row = next();
        need(first || gap > 0, "a source is listed twice");
        from += gap;
        need(from < terminals && row < rows.length, "a source is out of range");
        list.push({ from: from, row: rows[row] });
      }
      return list;
    });
    need(at === text.length, "the loads are about another number of channels");
    return { denominator: denominator, values: values, rows: rows, channels: channels };
  }

  // The pairs that no packet serves; refuses loads that are not a flow of one packet for every other pair.
  function unserved(payload, pairs) {
    const count = payload.terminals.length, nodes = payload.nodes.length, whole = pairs.denominator;
    const bySource = payload.terminals.map(() => []);
    pairs.channels.forEach((list, c) => list.forEach((part) => bySource[part.from].push([c, part.row])));
    const missing = [];
    for (let from = 0; from < count; from++) {
      const gain = payload.terminals.map(() => new Map());
      const add = (to, node, amount) => gain[to].set(node, (gain[to].get(node) || 0n) + amount);
      for (const [c, row] of bySource[from]) {
        const channel = payload.channels[c];
        for (let k = 0; k < row.to.length; k++) {
          add(row.to[k], channel.tail, -row.value[k]);
          add(row.to[k], channel.head, row.value[k]);
        }
      }
      for (let to = 0; to < count; to++) {
        const apart = payload.terminals[to] !== payload.terminals[from];
        if (apart && gain[to].size === 0) { missing.push([from, to]); continue; }
        if (apart) { add(to, payload.terminals[from], whole); add(to, payload.terminals[to], -whole); }
        for (const amount of gain[to].values()) {
          need(amount === 0n, "the loads of the pair " + from + " -> " + to + " are not a flow of one packet");
        }
      }
    }
    need(nodes > 0, "the network has no nodes");
    return missing;
  }

  function checkForm(payload) {
    const nodes = payload.nodes.length, proof = payload.proof, terminals = payload.terminals;
    need(payload.version === 1, "another version of the form");
    need(proof && typeof proof === "object", payload.proof_reason || "the page has no proof");
    need(payload.crossing && typeof payload.crossing === "object", "the page has no loads of pairs");
    need(proof.kind === "worst" || proof.kind === "ratio", "another kind of claim");
    need(terminals.every((node) => isIndex(node, nodes)) && new Set(terminals).size === terminals.length,
      "the terminals are not different nodes");
    payload.nodes.forEach((node, v) => need(node.terminal === null ? !terminals.includes(v) : terminals[node.terminal] === v,
      "node " + v + " has the number of another terminal"));
    for (const channel of payload.channels) {
      need(isIndex(channel.tail, nodes) && isIndex(channel.head, nodes), "a channel has an end that does not exist");
      need(fraction(channel.bandwidth)[0] > 0n, "a bandwidth is not positive");
    }
    need(proof.channels.length === payload.channels.length, "the proof is about another number of channels");
    need(whole(proof.denominator) === whole(payload.crossing.denominator), "the denominators differ");
    const named = payload.channels[proof.channel.id];
    need(isIndex(proof.channel.id, payload.channels.length)
      && named.tail === proof.channel.tail && named.head === proof.channel.head,
    "the channel that is named is another one");
    for (const prices of proof.duals) {
      need(prices.length === terminals.length, "a price vector does not have one price per terminal");
      need(prices.every((price) => whole(price) >= 0n), "a price is negative");
    }
    for (const image of proof.generators) {
      need(image.length === nodes && image.every((node) => isIndex(node, nodes)) && new Set(image).size === nodes,
        "a generator is not a permutation of the nodes");
    }
    for (const entry of proof.channels) {
      need(entry === "simple" || (entry.length === 2 && isIndex(entry[0], proof.duals.length)
        && entry[1].every((step) => isIndex(step, proof.generators.length))),
      "a channel refers to a dual or a generator that does not exist");
    }
  }

  function rates(payload, side) {
    const list = payload[side] ? payload[side].map(fraction) : payload.terminals.map(() => [1n, 1n]);
    need(list.length === payload.terminals.length, "there is not one rate per terminal");
    return list;
  }

  // The witness as rows [source, destination, amount].
  function witness(payload) {
    const proof = payload.proof, count = payload.terminals.length;
    if (proof.traffic === null) {
      need(!payload.injection && !payload.ejection, "terminals have rates, so the witness must be a traffic matrix");
      need(proof.permutation.length === count && proof.permutation.every((to) => isIndex(to, count))
        && new Set(proof.permutation).size === count, "the permutation is invalid");
      return proof.permutation.map((to, from) => [from, to, [1n, 1n]]);
    }
    need(proof.permutation === null, "there are two witnesses");
    const rows = proof.traffic.map(([from, to, amount]) => [from, to, fraction(amount)]);
    checkAdmissible(payload, rows);
    return rows;
  }

  function checkAdmissible(payload, rows) {
    const sent = new Map(), taken = new Map(), count = payload.terminals.length;
    const add = (sums, k, amount) => sums.set(k, plus(sums.get(k) || [0n, 1n], amount));
    for (const [from, to, amount] of rows) {
      need(isIndex(from, count) && isIndex(to, count), "a row of the traffic is out of range");
      add(sent, from, amount);
      add(taken, to, amount);
    }
    for (const [sums, side] of [[sent, "injection"], [taken, "ejection"]]) {
      const most = payload[side] ? rates(payload, side) : null;
      for (const [k, sum] of sums) {
        need(below(sum, most ? most[k] : [1n, 1n]), "the traffic exceeds what a terminal may send or take");
      }
    }
  }

  // The load of a channel under traffic given as a map from source to [[destination, amount]].
  function loadUnder(payload, pairs, c, traffic) {
    let sum = [0n, 1n];
    for (const { from, row } of pairs.channels[c]) {
      for (const [to, amount] of traffic.get(from) || []) {
        const k = row.to.indexOf(to);
        if (k >= 0 && !(payload.proof && payload.proof.kind === "ratio" && to === from)) {
          sum = plus(sum, times(amount, [row.value[k], 1n]));
        }
      }
    }
    const speed = fraction(payload.channels[c].bandwidth);
    return times(sum, [speed[1], speed[0] * pairs.denominator]);
  }

  function bySource(rows) {
    const traffic = new Map();
    for (const [from, to, amount] of rows) {
      if (!traffic.has(from)) traffic.set(from, []);
      traffic.get(from).push([to, amount]);
    }
    return traffic;
  }

  // The prices of a channel, carried along its word.
  function carried(payload, dual, word) {
    const proof = payload.proof, prices = payload.terminals.map(() => 0n);
    const numberOf = new Map(payload.terminals.map((node, k) => [node, k]));
    payload.terminals.forEach((node, k) => {
      for (const step of word) node = proof.generators[step][node];
      need(numberOf.has(node), "a word moves a terminal onto a node that is not a terminal");
      prices[numberOf.get(node)] = whole(proof.duals[dual][k]);
    });
    return prices;
  }

  // Rates as whole numbers over their common denominator.
  function scaled(payload) {
    const sends = rates(payload, "injection"), takes = rates(payload, "ejection");
    const scale = [...sends, ...takes].reduce((all, rate) => all / gcd(all, rate[1]) * rate[1], 1n);
    const over = (list) => list.map((rate) => rate[0] * (scale / rate[1]));
    return { scale: scale, sends: over(sends), takes: over(takes) };
  }

  function boundByPrices(list, prices, demand, skipSelf) {
    let bound = 0n;
    prices.forEach((price, to) => { bound += demand.takes[to] * price; });
    for (const { from, row } of list) {
      let most = 0n;
      for (let k = 0; k < row.to.length; k++) {
        const rest = row.value[k] - prices[row.to[k]];
        if (rest > most && !(skipSelf && row.to[k] === from)) most = rest;
      }
      bound += demand.sends[from] * most;
    }
    return bound;
  }

  function simpleBound(list, demand, skipSelf) {
    const columns = demand.takes.map(() => 0n);
    for (const { from, row } of list) {
      for (let k = 0; k < row.to.length; k++) {
        const to = row.to[k];
        if (row.value[k] > columns[to] && !(skipSelf && to === from)) columns[to] = row.value[k];
      }
    }
    const byColumns = columns.reduce((sum, most, to) => sum + demand.takes[to] * most, 0n);
    const byRows = boundByPrices(list, columns.map(() => 0n), demand, skipSelf);
    return byRows < byColumns ? byRows : byColumns;
  }

  // The channels that are not bounded by the claim.
  function above(payload, pairs) {
    const proof = payload.proof, demand = scaled(payload), claim = fraction(proof.claim), moved = new Map();
    const skipSelf = proof.kind === "ratio", over = [];
    payload.channels.forEach((channel, c) => {
      const entry = proof.channels[c];
      let bound;
      if (entry === "simple") bound = simpleBound(pairs.channels[c], demand, skipSelf);
      else {
        const name = entry[0] + ":" + entry[1].join(",");
        if (!moved.has(name)) moved.set(name, carried(payload, entry[0], entry[1]));
        bound = boundByPrices(pairs.channels[c], moved.get(name), demand, skipSelf);
      }
      const most = times(times(claim, fraction(channel.bandwidth)), [pairs.denominator * demand.scale, 1n]);
      if (!below([bound, 1n], most)) over.push(c);
    });
    return over;
  }

  // Refuses a page whose pictures show other loads than those that follow from the loads of pairs.
  function checkShown(payload, pairs, traffic) {
    const proof = payload.proof, claim = fraction(proof.claim), worst = payload.worst;
    need(worst && worst.load !== null && equal(fraction(worst.load), claim) && worst.channel === proof.channel.id,
      "the page shows another worst load than it proves");
    need(JSON.stringify([worst.permutation, worst.traffic]) === JSON.stringify([proof.permutation, proof.traffic]),
      "the page shows another worst traffic than it proves");
    const count = BigInt(payload.terminals.length);
    const own = ownPairs(payload);
    for (const view of payload.views) {
      need(view.loads.length === payload.channels.length, "a list of loads has another length than the channels");
      view.loads.forEach((text, c) => {
        let load;
        if (view.kind === "worst") load = loadUnder(payload, pairs, c, traffic);
        else if (view.kind === "own") {
          checkAdmissible(payload, own[c]);
          load = loadUnder(payload, pairs, c, bySource(own[c]));
          need(below(load, claim), "the load of channel " + c + " by itself exceeds the claim");
        } else if (view.kind === "uniform") {
          let sum = 0n;
          for (const { row } of pairs.channels[c]) for (const value of row.value) sum += value;
          const speed = fraction(payload.channels[c].bandwidth);
          load = [sum * speed[1], speed[0] * pairs.denominator * count];
        } else if (view.kind.startsWith("traffic:")) return; // a pattern by its name: not part of the proof
        else throw new Refused("loads of an unknown kind are shown");
        need(equal(load, fraction(text)), "the load that is shown for channel " + c + " is not that of its pairs");
      });
    }
    if (payload.views.length) {
      payload.channels.forEach((channel, c) => need(channel.load === payload.views[0].loads[c],
        "the load of channel " + c + " is given in two ways"));
    }
  }

  // For every channel the pairs of its own worst traffic, as [source, destination, amount].
  function ownPairs(payload) {
    if (!payload.own) return payload.channels.map(() => []);
    const text = numbers(payload.own.pairs), scale = whole(payload.own.scale), count = payload.terminals.length;
    let at = 0;
    const next = () => { need(at < text.length, "the worst pairs are cut short"); return text[at++]; };
    return payload.channels.map(() => {
      const list = [];
      for (let left = next(); left > 0; left--) {
        const pair = [next(), next(), [BigInt(next()), scale]];
        need(pair[0] < count && pair[1] < count, "a worst pair is out of range");
        list.push(pair);
      }
      return list;
    });
  }

  function check(payload) {
    const total = payload && Array.isArray(payload.channels) ? payload.channels.length : 0;
    const answer = (proved, failed) => ({
      holds: failed.length === 0,
      proved: proved,
      channels: total,
      failed: failed,
      text: failed.length === 0 ? total + " of " + total + " channels proved in this page"
        : "not proved: " + failed[0].detail + (failed.length > 1 ? ", and " + (failed.length - 1) + " more" : ""),
    });
    try {
      checkForm(payload);
      const pairs = loads(payload);
      const missing = unserved(payload, pairs).length;
      need(missing === (payload.proof.skipped || 0), missing + " pairs have no path");
      const traffic = bySource(witness(payload));
      const load = loadUnder(payload, pairs, payload.proof.channel.id, traffic);
      need(equal(load, fraction(payload.proof.claim)), "the witness does not put the claimed load on the channel");
      checkShown(payload, pairs, traffic);
      const over = above(payload, pairs);
      return answer(total - over.length, over.map((c) => ({
        what: "channel", channel: c, detail: "channel " + c + " may carry more than claimed",
      })));
    } catch (error) {
      const text = error instanceof Refused ? error.message : "the page is malformed (" + error.message + ")";
      return answer(0, [{ what: "page", channel: null, detail: text }]);
    }
  }

  root.OblivProof = {
    check: check, loads: loads, ownPairs: ownPairs, fraction: fraction, loadUnder: loadUnder,
    parts: { Refused, need, unserved, boundByPrices, bySource },
  };
})(typeof globalThis === "undefined" ? this : globalThis);
