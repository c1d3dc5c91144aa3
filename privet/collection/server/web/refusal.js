/** A refusal in words for the person at the screen: a headline, an explanation, and whether a later try may help. */
export class Refusal extends Error {
  constructor(headline, explanation, temporary = false, facts = {}) {
    super(explanation);
    this.headline = headline;
    this.temporary = temporary;
    this.facts = facts;
  }
}
