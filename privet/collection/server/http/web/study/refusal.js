/** Refusals in words for the person at the screen. */

import { text } from "../texts/texts.js";

/** A headline, an explanation, whether a later try may help, and ids to compare. */
export class Refusal extends Error {
  constructor(headline, explanation, temporary = false, facts = {}) {
    super(explanation);
    this.headline = headline;
    this.temporary = temporary;
    this.facts = facts;
  }

  /** The refusal whose words the catalogues keep as refusal.KEY.headline and refusal.KEY.text. */
  static of(key, values = {}, temporary = false) {
    return new Refusal(text(`refusal.${key}.headline`, values), text(`refusal.${key}.text`, values), temporary);
  }
}
