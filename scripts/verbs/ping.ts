import type { Engine } from "../engine/context.ts";
import { done, type Outcome } from "./outcome.ts";

declare const ATLAS_VERSION: string;

/** One line: loaded, which version, which hosts. */
export function ping(engine: Engine): Outcome {
  const { host, session } = engine.self;
  return done(
    { atlas: ATLAS_VERSION, node: process.versions.node, hosts: ["claude", "kimi"], host, session },
    `atlas ${ATLAS_VERSION} loaded on node ${process.versions.node}; hosts: claude, kimi`,
  );
}
