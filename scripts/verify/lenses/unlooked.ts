/** What a lens did not look at, counted by why. The words are fixed; nothing of a file's name or text is in them. */
export class Unlooked {
  private readonly counts = new Map<string, number>();

  add(why: string): void {
    this.counts.set(why, (this.counts.get(why) ?? 0) + 1);
  }

  /** `2 files: ruby is not installed; 1 file: too large`; null: everything was looked at. */
  sentence(): string | null {
    const parts = [...this.counts].map(([why, count]) => `${count} ${count === 1 ? "file" : "files"}: ${why}`);
    return parts.length === 0 ? null : parts.join("; ");
  }
}
