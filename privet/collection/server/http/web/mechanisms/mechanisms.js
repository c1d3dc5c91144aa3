/** The randomisers that run in the browser: the same draws from the same words as privet/mechanisms. */

import { geometricWeights } from "./geometric.js";
import { odds, piecewiseWindow, share, squareWaveWindow } from "./odds.js";
import { floorDivide, randomizedRounding, sampleCoordinates, unitPosition } from "./sampling.js";
import { bernoulliPositions } from "./sparse_bits.js";

const WINDOW_STEPS = 256;
const LAPLACE_STEPS = 1 << 16;
const LAPLACE_TAIL = 45; // reports are clipped 45 scales beyond the range
const MOST_LIST_ENTRIES = 1 << 18; // made-up neighbours that a browser is asked to draw and to remember

/** The bytes of the smallest signed integer that holds -extent .. extent - 1. */
export function bytesFor(extent) {
  return [1, 2, 4].find((bytes) => extent <= 2 ** (8 * bytes - 1)) ?? 8;
}

/** Report m of d coordinates of a numeric vector, each with the budget epsilon / m. */
class CoordinateMechanism {
  constructor(budget, domains, bestSample) {
    this.epsilon = budget.epsilon;
    this.domains = domains;
    this.dimension = domains.length;
    this.sampled = budget.sample ?? Math.max(1, Math.min(this.dimension, bestSample));
    this.share = share(this.epsilon, this.sampled);
  }

  get symbolBytes() {
    return bytesFor(this.largestSymbol + 1);
  }

  perturb(values, bits) {
    const coordinates = sampleCoordinates(this.dimension, this.sampled, bits);
    const chosen = coordinates ?? [...values.keys()];
    const positions = chosen.map((i) => unitPosition(values[i], this.domains[i].low, this.domains[i].high));
    return { coordinates, symbols: this.draw(positions, bits) };
  }

  /** What a symbol looks like on the scale of its feature. */
  reading(symbol, { low, high }) {
    return low + (high - low) * (0.5 + symbol / (2 * this.steps));
  }
}

/** One bit about each sampled coordinate: +1 the more likely, the larger the value. */
export class MultiBit extends CoordinateMechanism {
  constructor(budget, domains) {
    super(budget, domains, Math.trunc(budget.epsilon / 2.18));
    this.odds = odds(this.share);
    this.largestSymbol = 1;
  }

  draw(positions, bits) {
    const { high, low, total } = this.odds;
    const draws = bits.below(total, positions.length);
    return positions.map((position, i) => {
      const threshold = low + Math.min(Math.floor(position * (high - low)), high - low);
      return draws[i] < threshold ? 1 : -1;
    });
  }
}

/** A window of likely cells around the value, all other cells equally unlikely. */
class SlidingWindow extends CoordinateMechanism {
  constructor(budget, domains, bestSample, windowOf) {
    super(budget, domains, bestSample);
    odds(this.share); // refuses an extreme budget before the window is computed from it
    this.steps = WINDOW_STEPS;
    this.window = windowOf(this.share, this.steps);
    this.cells = this.steps + this.window;
    this.odds = odds(this.share, this.window, this.steps);
    this.largestSymbol = this.cells - 1;
  }

  draw(positions, bits) {
    const { high, low, total } = this.odds;
    const starts = randomizedRounding(positions, this.steps, bits);
    const draws = bits.below(total, positions.length);
    return starts.map((start, i) => {
      const beyond = draws[i] - this.window * high;
      const other = floorDivide(beyond, low);
      const cell = beyond < 0 ? start + floorDivide(draws[i], high) : other + (other >= start ? this.window : 0);
      return 2 * cell + 1 - this.cells;
    });
  }
}

export class HDS extends SlidingWindow {
  constructor(budget, domains) {
    super(budget, domains, 1, squareWaveWindow);
  }
}

export class Piecewise extends SlidingWindow {
  constructor(budget, domains) {
    super(budget, domains, Math.trunc(budget.epsilon / 2.5), piecewiseWindow);
  }
}

/** Discrete Laplace noise on a grid, by the exact sampler of Canonne, Kamath and Steinke. */
export class Laplace extends CoordinateMechanism {
  constructor(budget, domains) {
    super(budget, domains, 1);
    this.steps = LAPLACE_STEPS;
    const scale = (BigInt(this.steps) * this.share.denominator) / this.share.numerator + 1n;
    if (scale < 2n || scale > 1n << 44n) {
      throw new RangeError("The budget of one symbol is one that finite precision cannot serve.");
    }
    this.scale = Number(scale);
    this.reach = LAPLACE_TAIL * this.scale;
    this.largestSymbol = this.steps + 2 * this.reach;
  }

  draw(positions, bits) {
    const points = randomizedRounding(positions, this.steps, bits);
    const noise = discreteLaplace(this.scale, positions.length, bits);
    return points.map((point, i) => {
      const clipped = Math.min(Math.max(point + noise[i], -this.reach), this.steps + this.reach);
      return 2 * clipped - this.steps;
    });
  }
}

/** Pr[k] proportional to exp(-|k| / scale), from uniform integers alone. */
function discreteLaplace(scale, count, bits) {
  const result = new Array(count).fill(0);
  let pending = [...result.keys()];
  while (pending.length > 0) {
    const offsets = bits.below(scale, pending.length);
    const accepted = bernoulliExp(offsets, scale, bits);
    const waiting = pending.filter((_, i) => !accepted[i]);
    const places = pending.filter((_, i) => accepted[i]);
    const geometric = geometricDraws(places.length, bits);
    const magnitudes = offsets.filter((_, i) => accepted[i]).map((offset, i) => offset + scale * geometric[i]);
    const signs = bits.below(2, places.length);
    places.forEach((place, i) => (result[place] = signs[i] === 1 ? -magnitudes[i] : magnitudes[i]));
    pending = [...waiting, ...places.filter((_, i) => signs[i] === 1 && magnitudes[i] === 0)]; // no negative zero
  }
  return result;
}

/** True with probability exp(-numerator / denominator): the first failing coin of bias n / (d k) has an odd k. */
function bernoulliExp(numerators, denominator, bits) {
  const odd = new Array(numerators.length).fill(false);
  let running = [...numerators.keys()];
  for (let k = 1; running.length > 0; k += 1) {
    const draws = bits.below(denominator * k, running.length);
    const hit = running.map((place, i) => draws[i] < numerators[place]);
    running.forEach((place, i) => (odd[place] = hit[i] ? odd[place] : k % 2 === 1));
    running = running.filter((_, i) => hit[i]);
  }
  return odd;
}

/** Pr[V >= v] = exp(-v). */
function geometricDraws(count, bits) {
  const result = new Array(count).fill(0);
  let running = [...result.keys()];
  while (running.length > 0) {
    const again = bernoulliExp(new Array(running.length).fill(1), 1, bits);
    running = running.filter((_, i) => again[i]);
    running.forEach((place) => (result[place] += 1));
  }
  return result;
}

/** Refuse what is no whole number from 0 to count - 1. */
function checkCode(value, count) {
  if (!Number.isInteger(value) || value < 0 || value >= count) throw new RangeError("An answer is not one of the choices.");
}

/** Refuse a declared number that is no whole number from `least` to `most`. */
function checkParameter(value, least, most) {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`A declared number must be a whole number from ${least} to ${most}.`);
  }
}

/** Keep the truth with weight `high`, move to each of the other choices with weight `low`; one draw each. */
export function answer(truths, choices, weights, bits) {
  const bounds = weights.map(({ high, low }, i) => high + (choices[i] - 1) * low);
  return bits.below(bounds, truths.length).map((draw, i) => {
    const { high, low } = weights[i];
    if (draw < high) return truths[i];
    const other = floorDivide(draw - high, low);
    return other + (other >= truths[i] ? 1 : 0);
  });
}

/** Randomised response over a label's classes. */
export class RandomizedResponse {
  constructor(budget, classes) {
    this.epsilon = budget.epsilon;
    this.classes = classes;
    this.odds = odds(share(this.epsilon, 1), 1, classes - 1);
    this.symbolBytes = bytesFor(classes);
  }

  perturb(label, bits) {
    checkCode(label, this.classes);
    return answer([label], [this.classes], [this.odds], bits)[0];
  }
}

/** Randomised response on m sampled categorical features; nothing is sent about the others. */
export class SampledResponse {
  constructor(budget, domains) {
    this.domains = domains;
    this.dimension = domains.length;
    this.sampled = budget.sample ?? this.dimension;
    let perFeature = budget.epsilon / this.sampled;
    while (this.sampled * perFeature > budget.epsilon) perFeature = nextBelow(perFeature);
    this.epsilon = this.sampled * perFeature;
    this.share = share(this.epsilon, this.sampled);
    const weights = new Map();
    for (const { count } of domains) if (!weights.has(count)) weights.set(count, odds(this.share, 1, count - 1));
    this.weights = domains.map(({ count }) => weights.get(count));
    this.symbolBytes = bytesFor(domains.reduce((most, { count }) => Math.max(most, count), 0));
  }

  perturb(values, bits) {
    const coordinates = sampleCoordinates(this.dimension, this.sampled, bits);
    const chosen = coordinates ?? [...values.keys()];
    for (const value of values) if (!Number.isInteger(value)) throw new RangeError("An answer is not a whole number.");
    const counts = chosen.map((i) => this.domains[i].count);
    const truths = chosen.map((i, place) => Math.min(Math.max(values[i], 0), counts[place] - 1));
    const weights = chosen.map((i) => this.weights[i]);
    return { coordinates, symbols: answer(truths, counts, weights, bits) };
  }
}

/** Randomised response among the options that a person was offered; one symbol tells the answer and their number. */
export class OfferedResponse {
  constructor(budget) {
    this.epsilon = budget.epsilon;
    this.most = budget.most;
    checkParameter(this.most, 2, 255);
    this.share = share(this.epsilon, 1);
    odds(this.share, 1, this.most - 1); // refuses an extreme budget whatever a person is offered
    this.numReports = ((this.most - 1) * (this.most + 2)) / 2;
    this.symbolBytes = bytesFor(this.numReports);
  }

  perturb([position, options], bits) {
    if (!Number.isInteger(options) || options < 2 || options > this.most) {
      throw new RangeError("The number of options is not one that was declared.");
    }
    checkCode(position, options);
    const weights = odds(this.share, 1, options - 1);
    return firstCode(options) + answer([position], [options], [weights], bits)[0];
  }

  /** The probability of the true option and of each other one. */
  chances(options) {
    const { high, low, total } = odds(this.share, 1, options - 1);
    return [high / total, low / total];
  }

  /** The reported position and the number of options that a symbol tells. */
  decode(symbol) {
    let options = 2;
    while (symbol >= firstCode(options + 1)) options += 1;
    return [symbol - firstCode(options), options];
  }

  /** The positions that a symbol names. */
  held(symbol) {
    return [this.decode(symbol)[0]];
  }
}

/** Several of the offered options in one symbol: subsets with the true option with weight e^epsilon, others with 1. */
export class SubsetResponse {
  constructor(budget) {
    this.epsilon = budget.epsilon;
    this.most = budget.most;
    checkParameter(this.most, 2, 255);
    const { sizes } = budget;
    const isSize = (size, i) => Number.isInteger(size) && size > 0 && size < i + 2 && choose(i + 2, size) <= MOST_SUBSETS;
    if (!Array.isArray(sizes) || sizes.length !== this.most - 1 || !sizes.every(isSize)) {
      throw new RangeError("The sizes of subsets are not ones that a device can list.");
    }
    this.sizes = sizes;
    this.share = share(this.epsilon, 1);
    sizes.forEach((_, i) => this.weights(i + 2)); // refuses an extreme budget whatever a person is offered
    this.starts = [0];
    sizes.forEach((size, i) => this.starts.push(this.starts[i] + choose(i + 2, size)));
    this.numReports = this.starts.at(-1);
    this.symbolBytes = bytesFor(this.numReports);
  }

  weights(options) {
    const size = this.sizes[options - 2];
    return odds(this.share, choose(options - 1, size - 1), choose(options - 1, size));
  }

  perturb([position, options], bits) {
    if (!Number.isInteger(options) || options < 2 || options > this.most) {
      throw new RangeError("The number of options is not one that was declared.");
    }
    checkCode(position, options);
    const { high, low, total } = this.weights(options);
    const size = this.sizes[options - 2];
    const border = choose(options - 1, size - 1) * high;
    const [draw] = bits.below(total, 1);
    const holds = draw < border;
    const [rest, weight] = holds ? [draw, high] : [draw - border, low];
    const place = (rest - (rest % weight)) / weight; // exact up to 2^53
    const chosen = subsets(options, size).map((subset, i) => [subset, i]).filter(([subset]) => subset.includes(position) === holds);
    return this.starts[options - 2] + chosen[place][1];
  }

  /** The probability that a report holds the true option, and that it holds any one other. */
  chances(options) {
    const { high, low, total } = this.weights(options);
    const size = this.sizes[options - 2];
    const both = size > 1 ? choose(options - 2, size - 2) : 0;
    return [(choose(options - 1, size - 1) * high) / total, (both * high + choose(options - 2, size - 1) * low) / total];
  }

  /** The place of the reported subset among those of as many options, and the number of options. */
  decode(symbol) {
    let options = 2;
    while (symbol >= this.starts[options - 1]) options += 1;
    return [symbol - this.starts[options - 2], options];
  }

  /** The positions that a symbol names. */
  held(symbol) {
    const [place, options] = this.decode(symbol);
    return subsets(options, this.sizes[options - 2])[place];
  }
}

const MOST_SUBSETS = 2 ** 14;

/** The number of subsets of a size; exact as far as it is small, and large where it is large. */
function choose(options, size) {
  let found = size > options ? 0 : 1;
  for (let i = 1; i <= size && found > 0; i += 1) found = Math.round((found * (options - size + i)) / i);
  return found;
}

/** All subsets of 0 .. options - 1 of a size, in lexicographic order. */
function subsets(options, size, first = 0) {
  if (size === 0) return [[]];
  const found = [];
  for (let each = first; each <= options - size; each += 1) {
    for (const rest of subsets(options, size - 1, each + 1)) found.push([each, ...rest]);
  }
  return found;
}

/** The code of position 0 among some number of options. */
function firstCode(options) {
  return ((options - 2) * (options + 1)) / 2;
}

/** Two-sided geometric noise on the number of friends in each class, cut to 0 .. cap. */
export class Counts {
  constructor(budget, classes) {
    this.epsilon = budget.epsilon;
    this.classes = classes;
    this.cap = budget.cap;
    checkParameter(this.cap, 1, 1023);
    this.weights = geometricWeights(this.epsilon, this.cap);
    this.symbolBytes = bytesFor(this.cap + 1);
  }

  perturb(counts, bits) {
    if (counts.length !== this.classes) throw new RangeError("There is not one number for each class.");
    for (const count of counts) checkCode(count, this.cap + 1);
    const draws = bits.below(this.weights.total, counts.length);
    return counts.map((count, i) => this.symbol(count, draws[i]));
  }

  /** The report that a draw stands for: every report has as many draws as its weight, in ascending order. */
  symbol(count, draw) {
    const { inner, ends } = this.weights;
    let rest = draw - ends[count];
    let report = 0;
    while (rest >= 0) {
      report += 1;
      rest -= report < this.cap ? inner[Math.abs(report - count)] : ends[this.cap - count];
    }
    return report;
  }
}

/** The largest double below a positive one. */
function nextBelow(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  view.setBigUint64(0, view.getBigUint64(0) - 1n);
  return view.getFloat64(0);
}

/** Flip each bit of a neighbour list with probability 1 / (1 + e^epsilon). */
export class AdjacencyResponse {
  constructor(budget, nodes) {
    this.epsilon = budget.epsilon;
    this.nodes = nodes;
    this.oneSided = budget.one_sided;
    this.odds = odds(share(this.epsilon, 1));
    this.relationshipEpsilon = this.oneSided ? this.epsilon : 2 * this.epsilon;
    // Nothing tells this page that everybody was given the same numbers, so both ends of a pair might report it.
    this.chargedEpsilon = 2 * this.epsilon;
    // Public numbers only: a refusal that depended on somebody's list would betray it.
    this.tooLong = (nodes - 1) * (this.odds.low / this.odds.total) > MOST_LIST_ENTRIES;
  }

  /** How many bits a node's list has. */
  length(node) {
    return this.nodes - 1 - (this.oneSided ? node : 0);
  }

  perturb(neighbours, node, bits) {
    for (const id of neighbours) checkCode(id, this.nodes);
    const rank = (id) => (this.oneSided ? id - node - 1 : id - (id > node ? 1 : 0));
    const unrank = (place) => (this.oneSided ? place + node + 1 : place + (place >= node ? 1 : 0));
    const reported = new Set(neighbours.filter((id) => !this.oneSided || id > node).map(rank));
    for (const place of bernoulliPositions(this.length(node), this.odds.low, this.odds.total, bits)) {
      if (!reported.delete(place)) reported.add(place);
    }
    return [...reported].sort((a, b) => a - b).map(unrank);
  }
}
