/** Words of a text or of code, by which two texts can be said to be about one thing. */

const stopWords = new Set(
  (
    "the and for with that this from into are was were will would should shall must can may not but when then than else " +
    "its their there here where which who what how why all any each every some more most other same such only own too " +
    "very has have had does did done been being use used using also still after before between while about over under " +
    "out off again once both few nor per via yes returns return work works make makes made need needs new old code " +
    "file files test tests add adds added change changes changed now without within"
  ).split(" "),
);

/** Scripts that write no spaces: their words are told by two letters each. */
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+$/u;
const pieces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+|\p{Lu}?\p{Ll}[\p{Ll}\p{M}]*|\p{Lu}[\p{Lu}\p{M}]*(?!\p{Ll})|\p{Lo}[\p{Lo}\p{M}]*|\p{N}+/gu;

/** In lower case, without endings, split at case and underscore, at least three letters; without words that say nothing. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [piece] of text.normalize("NFC").matchAll(pieces)) {
    if (unspaced.test(piece)) {
      for (const pair of pairsOf(piece)) words.add(pair);
      continue;
    }
    const word = piece.toLowerCase();
    if ([...word].length >= 3 && !stopWords.has(word)) words.add(stemOf(word));
  }
  return words;
}

function pairsOf(run: string): readonly string[] {
  const letters = [...run];
  if (letters.length === 1) return letters;
  return letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
}

/** `clamped`, `clamping` and `clamps` are `clamp`. */
function stemOf(word: string): string {
  const bare = word.replace(/(ing|ed|es|s)$/, "");
  return bare.length >= 3 ? bare.replace(/(.)\1$/, "$1").replace(/(?<=..)e$/, "") : word;
}
