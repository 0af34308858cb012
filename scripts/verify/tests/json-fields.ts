/** Fields of a JSON report from elsewhere: whatever is not of the kind that is asked for is not there. Never throws. */
export type Fields = Readonly<Record<string, unknown>>;

export function parsedObject(text: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(text.replace(/^\ufeff/, "")));
  } catch {
    return null;
  }
}

export function fieldsOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

export function arrayAt(value: unknown, key: string): readonly unknown[] | null {
  const found = fieldsOf(value)?.[key];
  return Array.isArray(found) ? found : null;
}

export function stringAt(value: unknown, key: string): string {
  const found = fieldsOf(value)?.[key];
  return typeof found === "string" ? found : "";
}

export function numberAt(value: unknown, key: string): number | null {
  const found = fieldsOf(value)?.[key];
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}
