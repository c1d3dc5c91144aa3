/** Which m of d coordinates a user reports, and where their values lie in their ranges. */

import { RESOLUTION } from "./bits.js";

const ascending = (a, b) => a - b;

/** floor(a / b) of safe integers, exactly: a double's quotient could round up. */
export function floorDivide(a, b) {
  const rest = ((a % b) + b) % b;
  return (a - rest) / b;
}

/**
 * A uniform subset of `count` of `dimension` coordinates, ascending; null when it is all of them.
 * Repeated values are drawn again until none is left; above half of the coordinates the complement is drawn.
 */
export function sampleCoordinates(dimension, count, bits) {
  if (count === dimension) return null;
  if (2 * count > dimension) {
    const leftOut = new Set(sampleCoordinates(dimension, dimension - count, bits));
    return Array.from({ length: dimension }, (_, i) => i).filter((i) => !leftOut.has(i));
  }
  const picks = bits.below(dimension, count).sort(ascending);
  const repeated = () => [...picks.keys()].filter((i) => i > 0 && picks[i] === picks[i - 1]);
  for (let places = repeated(); places.length > 0; places = repeated()) {
    const again = bits.below(dimension, places.length);
    places.forEach((place, i) => (picks[place] = again[i]));
    picks.sort(ascending);
  }
  return picks;
}

/** Where a value lies in its declared range, as a number in [0, 1]; what lies outside is clipped. */
export function unitPosition(value, low, high) {
  // Every comparison with NaN is false, so that a draw would become a constant that betrays it.
  if (!Number.isFinite(value)) throw new RangeError("An answer is not a number.");
  return Math.min(Math.max((value - low) / (high - low), 0), 1);
}

/** Round position * steps to a neighbouring integer so that the mean is kept. */
export function randomizedRounding(positions, steps, bits) {
  const draws = bits.below(RESOLUTION, positions.length);
  return positions.map((position, i) => {
    const scaled = position * steps;
    const whole = Math.floor(scaled);
    return whole + (draws[i] < Math.floor((scaled - whole) * RESOLUTION) ? 1 : 0);
  });
}
