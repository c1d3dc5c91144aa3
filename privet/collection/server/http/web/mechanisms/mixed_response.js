/** Randomised response on a few answers of a mixed questionnaire: the same draws as privet/mechanisms/mixed_response.py. */

import { RESOLUTION } from "./bits.js";
import { answer, bytesFor } from "./mechanisms.js";
import { odds, share } from "./odds.js";
import { sampleCoordinates, unitPosition } from "./sampling.js";

export class MixedResponse {
  constructor(budget, domains) {
    this.epsilon = budget.epsilon;
    this.domains = domains;
    this.dimension = domains.length;
    this.sampled = budget.sample ?? Math.max(1, Math.min(this.dimension, Math.trunc(budget.epsilon / 2.18)));
    this.share = share(this.epsilon, this.sampled);
    this.levels = domains.map(({ kind, count, extras }) => (kind === "categories" ? count : 2) + extras);
    this.choices = domains.map(({ kind, count }) => (kind === "several" ? count : 1));
    const weights = new Map();
    for (const levels of this.levels) if (!weights.has(levels)) weights.set(levels, odds(this.share, 1, levels - 1));
    this.weights = this.levels.map((levels) => weights.get(levels));
    this.symbolBytes = bytesFor(this.levels.reduce((most, levels, i) => Math.max(most, levels * this.choices[i]), 0));
  }

  perturb(values, bits) {
    const coordinates = sampleCoordinates(this.dimension, this.sampled, bits);
    const chosen = coordinates ?? [...values.keys()];
    // Every answer takes one draw, so that what kind it is of does not show in the number of draws.
    const firsts = bits.below(
      chosen.map((i) => (this.domains[i].kind === "interval" ? RESOLUTION : this.choices[i])),
      chosen.length,
    );
    const truths = chosen.map((i, place) => this.truth(values[i], i, firsts[place]));
    const levels = chosen.map((i) => this.levels[i]);
    const sent = answer(truths, levels, chosen.map((i) => this.weights[i]), bits);
    const option = (i, place) => (this.domains[i].kind === "several" ? firsts[place] : 0);
    return { coordinates, symbols: chosen.map((i, place) => option(i, place) * levels[place] + sent[place]) };
  }

  /** The true level of an answer; answers of their own are coded above its largest value. */
  truth(value, i, first) {
    const { kind, low, high, extras } = this.domains[i];
    if (!Number.isFinite(value)) throw new RangeError("An answer is not a number.");
    if (value > high && extras > 0) {
      if (!Number.isInteger(value - high) || value - high > extras) throw new RangeError("An answer is not one of the choices.");
      return this.levels[i] - extras - 1 + (value - high);
    }
    if (kind === "interval") return first < Math.floor(unitPosition(value, low, high) * RESOLUTION) ? 1 : 0;
    if (!Number.isInteger(value) || value < 0 || value > high) throw new RangeError("An answer is not one of the choices.");
    return kind === "several" ? (value >> first) & 1 : value;
  }

  /** Which choice a symbol is about, 0 where there is none, and its level. */
  decode(symbol, i) {
    return [Math.floor(symbol / this.levels[i]), symbol % this.levels[i]];
  }
}
