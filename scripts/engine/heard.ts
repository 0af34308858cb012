/** That a session follows what it was told: its pointer need not be said again. */
import { readSession, stateFolder, writeSession } from "../platform/sessions.ts";
import type { Engine } from "./context.ts";

/** Called by whatever prints a run's instruction. A record that cannot be written costs one more pointer. */
export function acknowledge(engine: Engine): void {
  const { session } = engine.self;
  const state = stateFolder(engine.environment);
  const record = session === null ? null : readSession(engine.fs, state, session);
  if (record?.told === undefined || (!record.owed && record.heard === record.told)) return;
  writeSession(engine.fs, state, { ...record, owed: false, heard: record.told });
}
