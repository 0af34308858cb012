/** The base name of a lease's files in `results/` and `packets/`: `<slot>.<attempt>.<epoch>`. Hooks and engine agree on it. */
export function leaseFileBase(lease: string): string {
  return lease.replace(/[#@/]/g, ".");
}
