/**
 * The kinds of questions that the page can ask, in the order in which it asks them. A kind is an object with
 *
 * - `name`: its key in the raw answers; of several kinds with one name, the first one's control is shown;
 * - `isAsked(study)`;
 * - `control(study, participant)`: the form's part, {node, read}; `read(problems)` returns the raw answer, and pushes
 *   {id, question, sentence} for whatever is wrong with it. Every control has an id, so that drafts find it again;
 * - `cost(study)`: {name, sent, epsilon} for the table of costs, in the question's own words;
 * - `answered(study, raw)`: [question, answer] for the check, before a report is made;
 * - `sent(study, report)`: [question, what was sent] for the receipt;
 * - `unprotected(study)`: keys of the catalogues (under "unprotected."), or [key, values], for what it leaves open.
 */

import { features } from "./features.js";
import { friends, friendsAgain } from "./friends.js";
import { label } from "./label.js";
import { neighbours } from "./neighbours.js";
import { panelKinds } from "./panel.js";
import { personFeatures, personFriends } from "./person.js";
import { resemblance } from "./resemblance.js";

const KINDS = [features, resemblance, personFeatures, label, friends, friendsAgain, personFriends, neighbours];

/** The kinds of questions of a study; a member of the panel answers none, and shows instead. */
export function kindsOf(study) {
  return study.shows ? panelKinds(study) : KINDS.filter((kind) => kind.isAsked(study));
}
