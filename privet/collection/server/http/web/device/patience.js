/** Tries again while the server is away. */

const LONGEST_PAUSE = 60;

/** A failure that a later try may mend: a sentence, and the seconds that the server wants us to wait, if it says. */
export class Trouble extends Error {
  constructor(sentence, wait = undefined) {
    super(sentence);
    this.wait = wait;
    this.temporary = true;
  }
}

/**
 * The result of `work()`, which is tried again after every error that is `temporary`. `onTrouble(sentence, seconds)`
 * hears of each failed try, and `nudge` (an EventTarget) ends a pause early, as does a connection that comes back.
 */
export async function patiently(work, onTrouble, nudge) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!error.temporary) throw error;
      const seconds = error.wait ?? Math.min(LONGEST_PAUSE, 2 ** attempt);
      onTrouble(error.message, seconds);
      // Jitter, so that browsers that lost a server together do not come back together.
      await pause(seconds * (1 + Math.random() / 4), nudge);
    }
  }
}

function pause(seconds, nudge) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      nudge.removeEventListener("nudge", wake);
      window.removeEventListener("online", wake);
      resolve();
    };
    const timer = setTimeout(wake, 1000 * seconds);
    nudge.addEventListener("nudge", wake);
    window.addEventListener("online", wake);
  });
}
