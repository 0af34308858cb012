/**
 * A walk over the bytes of one JSON document, for documents of which making every value would cost too much: the caller
 * takes what it needs and steps over the rest. It accepts what `JSON.parse` accepts, nested at most `depthMax` levels;
 * that the bytes are UTF-8 is the caller's to see to. Linear in the bytes. Whatever it does not accept it throws
 * `OffTheWalk` for.
 */

/** The bytes are no JSON, or not the value that was asked for. */
export class OffTheWalk extends Error {}

export const OPEN_OBJECT = 0x7b;
export const OPEN_LIST = 0x5b;
export const QUOTE = 0x22;
const closeObject = 0x7d;
const closeList = 0x5d;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;

export class JsonWalk {
  /** Where the walk stands. */
  at: number;
  /** The string stepped over last lies here, without its quotes. */
  from = 0;
  to = 0;
  hasEscape = false;
  /** A string stepped over held a byte beyond ASCII. */
  hasWideBytes = false;
  private readonly bytes: Uint8Array;
  private readonly depthMax: number;
  private depth = 0;

  constructor(bytes: Uint8Array, depthMax: number) {
    this.bytes = bytes;
    this.depthMax = depthMax;
    this.at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  }

  /** Steps to the next token and says which byte it begins with; 0 at the end. */
  next(): number {
    const { bytes } = this;
    let { at } = this;
    let byte = bytes[at];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      at += 1;
      byte = bytes[at];
    }
    this.at = at;
    return byte ?? 0;
  }

  /** Into an object or a list, with `OPEN_OBJECT` or `OPEN_LIST`. */
  enter(open: number): void {
    if (this.next() !== open) throw new OffTheWalk();
    this.at += 1;
    this.depth += 1;
    if (this.depth > this.depthMax) throw new OffTheWalk();
  }

  /** After `enter`: to the value of the first key, or out of an object that has none. The key is the last string. */
  firstKey(): boolean {
    if (this.next() === closeObject) return this.leave();
    this.key();
    return true;
  }

  /** After a value: to that of the next key, or out of the object. */
  nextKey(): boolean {
    const byte = this.next();
    if (byte === closeObject) return this.leave();
    if (byte !== comma) throw new OffTheWalk();
    this.at += 1;
    this.next();
    this.key();
    return true;
  }

  /** As `firstKey`, in a list. */
  firstItem(): boolean {
    return this.next() === closeList ? this.leave() : true;
  }

  nextItem(): boolean {
    const byte = this.next();
    if (byte === closeList) return this.leave();
    if (byte !== comma) throw new OffTheWalk();
    this.at += 1;
    return true;
  }

  /** Over a string. */
  string(): void {
    if (this.next() !== QUOTE) throw new OffTheWalk();
    const { bytes } = this;
    let at = this.at + 1;
    let bits = 0;
    this.from = at;
    this.hasEscape = false;
    for (;;) {
      const byte = bytes[at];
      if (byte === QUOTE) break;
      // A control character, or the end.
      if (byte === undefined || byte < 0x20) throw new OffTheWalk();
      bits |= byte;
      if (byte === backslash) {
        this.hasEscape = true;
        at += escapeLength(bytes, at);
      } else at += 1;
    }
    this.to = at;
    this.at = at + 1;
    if (bits >= 0x80) this.hasWideBytes = true;
  }

  /** Whether the last string is `word`, spelled without an escape. */
  is(word: Uint8Array): boolean {
    const { from } = this;
    if (this.to - from !== word.length) return false;
    for (let at = 0; at < word.length; at += 1) if (this.bytes[from + at] !== word[at]) return false;
    return true;
  }

  /** Over any value. */
  skip(): void {
    const byte = this.next();
    if (byte === QUOTE) this.string();
    else if (byte === OPEN_OBJECT) {
      this.enter(OPEN_OBJECT);
      for (let more = this.firstKey(); more; more = this.nextKey()) this.skip();
    } else if (byte === OPEN_LIST) {
      this.enter(OPEN_LIST);
      for (let more = this.firstItem(); more; more = this.nextItem()) this.skip();
    } else if (byte === 0x74) this.word("true");
    else if (byte === 0x66) this.word("false");
    else if (byte === 0x6e) this.word("null");
    else this.number();
  }

  /** Nothing but white space may follow. */
  end(): void {
    this.next();
    if (this.at !== this.bytes.length) throw new OffTheWalk();
  }

  private key(): void {
    this.string();
    if (this.next() !== colon) throw new OffTheWalk();
    this.at += 1;
  }

  private leave(): false {
    this.at += 1;
    this.depth -= 1;
    return false;
  }

  private word(word: string): void {
    for (let at = 0; at < word.length; at += 1) {
      if (this.bytes[this.at + at] !== word.charCodeAt(at)) throw new OffTheWalk();
    }
    this.at += word.length;
  }

  private number(): void {
    const { bytes } = this;
    if (bytes[this.at] === minus) this.at += 1;
    if (bytes[this.at] === zero) this.at += 1;
    else this.digits();
    if (bytes[this.at] === 0x2e) {
      this.at += 1;
      this.digits();
    }
    if (bytes[this.at] === 0x65 || bytes[this.at] === 0x45) {
      this.at += 1;
      if (bytes[this.at] === 0x2b || bytes[this.at] === minus) this.at += 1;
      this.digits();
    }
  }

  private digits(): void {
    const from = this.at;
    while (isDigit(this.bytes[this.at])) this.at += 1;
    if (this.at === from) throw new OffTheWalk();
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}

const shortEscapes: ReadonlySet<number | undefined> = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));

function escapeLength(bytes: Uint8Array, at: number): number {
  if (shortEscapes.has(bytes[at + 1])) return 2;
  if (bytes[at + 1] !== 0x75) throw new OffTheWalk();
  for (let digit = at + 2; digit < at + 6; digit += 1) if (!isHex(bytes[digit])) throw new OffTheWalk();
  return 6;
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
