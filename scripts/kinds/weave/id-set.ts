/** Texts of one document, known by where they lie in it: no string is made of any. */
import { OffTheWalk } from "../../core/json-walk.ts";

const slotsMin = 1024;
/** No honest ids come near it; ids made to collide would otherwise cost the square of their number. */
const probesMax = 128;

export class IdSet {
  private readonly bytes: Uint8Array;
  /** Pairs of beginning and end, at the place their hash gives or behind it; an end of 0 is a free slot. */
  private slots = new Int32Array(2 * slotsMin);
  private mask = slotsMin - 1;
  private size = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** `to` is not 0: before a text stands at least its quote. Both throw `OffTheWalk` where too many ids collide. */
  add(from: number, to: number): void {
    if (2 * this.size > this.mask) this.grow();
    const slot = this.slotOf(from, to);
    if (this.slots[slot + 1] !== 0) return;
    this.slots[slot] = from;
    this.slots[slot + 1] = to;
    this.size += 1;
  }

  has(from: number, to: number): boolean {
    return this.slots[this.slotOf(from, to) + 1] !== 0;
  }

  /** Where an equal text stands, or the free slot it would take. */
  private slotOf(from: number, to: number): number {
    const { bytes, slots, mask } = this;
    let hash = 0x811c9dc5;
    for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    hash ^= hash >>> 15;
    for (let probe = 0; probe < probesMax; probe += 1) {
      const slot = 2 * ((hash + probe) & mask);
      const end = slots[slot + 1] as number;
      if (end === 0 || this.isSame(slots[slot] as number, end, from, to)) return slot;
    }
    throw new OffTheWalk();
  }

  private isSame(from: number, to: number, otherFrom: number, otherTo: number): boolean {
    if (to - from !== otherTo - otherFrom) return false;
    for (let at = 0; at < to - from; at += 1) if (this.bytes[from + at] !== this.bytes[otherFrom + at]) return false;
    return true;
  }

  private grow(): void {
    const before = this.slots;
    this.slots = new Int32Array(2 * before.length);
    this.mask = before.length - 1;
    this.size = 0;
    for (let slot = 0; slot < before.length; slot += 2) {
      const to = before[slot + 1] as number;
      if (to !== 0) this.add(before[slot] as number, to);
    }
  }
}
