/** Doing a thing again that another program stands in the way of for a moment. */

const triesMax = 5;
const pauseMs = 20;

/**
 * A service that copies the folder elsewhere, or scans it, holds a file for a moment (EBUSY, EPERM, EACCES): a few
 * tries, some 200 ms in all, then its error is thrown. Any other error is thrown at once.
 */
export function patiently(act: () => void): void {
  for (let tries = 1; ; tries += 1) {
    try {
      act();
      return;
    } catch (error) {
      const isHeld = ["EBUSY", "EPERM", "EACCES"].includes(String((error as { code?: unknown } | null)?.code));
      if (!isHeld || tries === triesMax) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs * tries);
    }
  }
}
