/**
 * The six properties of resuming ("Resume Means Resume", arXiv 2608.03836) and the cells of each: what must be tried,
 * on which kinds of run. A further kind is a further name; a cell it takes part in names it.
 */

export const kinds = ["change", "adopted change", "adopted graph"] as const;
export type Kind = (typeof kinds)[number];

export const properties = [
  "prefix continuation",
  "effect exactly-once",
  "fork determinism",
  "checkpoint validity",
  "consume-once",
  "recovery determinism",
] as const;
export type Property = (typeof properties)[number];

export interface Cell {
  readonly property: Property;
  readonly cell: string;
  readonly kinds: readonly Kind[];
}

const every = kinds;
const changes = ["change", "adopted change"] as const;

export const cells: readonly Cell[] = [
  { property: "prefix continuation", cell: "killed at a system call of each writing command", kinds: every },
  { property: "prefix continuation", cell: "acknowledged appends under random kills", kinds: every },
  { property: "prefix continuation", cell: "finished steps by their side effects", kinds: changes },

  { property: "effect exactly-once", cell: "make tree", kinds: ["change"] },
  { property: "effect exactly-once", cell: "commit", kinds: every },
  { property: "effect exactly-once", cell: "remove tree", kinds: every },
  { property: "effect exactly-once", cell: "dispatch", kinds: changes },
  { property: "effect exactly-once", cell: "verify", kinds: ["change"] },
  { property: "effect exactly-once", cell: "deliver", kinds: ["change"] },

  { property: "fork determinism", cell: "lines and artifacts of the parent", kinds: every },
  { property: "fork determinism", cell: "its own line: id, no owner, no trees", kinds: every },
  { property: "fork determinism", cell: "the original stays untouched", kinds: every },
  { property: "fork determinism", cell: "twice, driven alike: instructions and views", kinds: every },

  { property: "checkpoint validity", cell: "illegal event", kinds: every },
  { property: "checkpoint validity", cell: "wrong-shaped artifact", kinds: changes },
  { property: "checkpoint validity", cell: "edited view", kinds: every },
  { property: "checkpoint validity", cell: "swapped artifact", kinds: every },
  { property: "checkpoint validity", cell: "newer version", kinds: every },

  { property: "consume-once", cell: "a gate", kinds: changes },
  { property: "consume-once", cell: "a dispatch", kinds: changes },
  { property: "consume-once", cell: "a claim", kinds: every },
  { property: "consume-once", cell: "two pid namespaces over one folder", kinds: every },

  { property: "recovery determinism", cell: "twice from the same bytes", kinds: every },
  { property: "recovery determinism", cell: "shuffled folder entries", kinds: every },
  { property: "recovery determinism", cell: "a shifted clock", kinds: every },
  { property: "recovery determinism", cell: "other modification times", kinds: every },
];
