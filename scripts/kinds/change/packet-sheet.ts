/**
 * The sheet an agent reads: three trusted lines, then nothing but fenced data. What does not fit lies beside it in
 * numbered parts, each fenced the same way and listed in the sheet.
 */
import { type FenceLabel, fence } from "../../core/fence.ts";
import { utf8Bytes } from "../../core/quote.ts";

export interface AgentPacket {
  readonly markdown: string;
  /** To be written beside the sheet; names are relative, `diff/001.patch`. */
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** A text was longer than may be handed over, so the agent does not see all of it. */
  readonly isCut: boolean;
}

/** One text. `folder` and `extension` name its parts if it does not fit. */
export interface Section {
  readonly label: FenceLabel;
  readonly text: string;
  readonly folder: string;
  readonly extension: "txt" | "json" | "patch";
  /** Shown in its place from where it is cut. */
  readonly rest?: string;
}

export const sheetBytesMax = 60 * 1024;
export const sectionBytesMax = 2 * 1024 * 1024;
/** The fence's two marks and the line ends around them. */
const fenceBytesMax = 256;
const restBytesMax = 8 * 1024;

/**
 * At most 60 KB of sheet and of each part; of one section at most 2 MB, from where its `rest` stands instead. Parts end
 * at a line's end, or inside a longer line between two characters. Sections stand in the sheet as long as there is room,
 * the ones named first before the others. Throws `RangeError` for a nonce that is not 8 to 64 hex digits: a fence would
 * not hold.
 */
export function sheet(
  head: readonly [string, string, string],
  sections: readonly Section[],
  nonce: string,
): AgentPacket {
  if (!/^[0-9a-f]{8,64}$/.test(nonce)) throw new RangeError("a fence's nonce is 8 to 64 hex digits");
  const lines = head.map((line) => withoutNonce(oneLine(line), nonce));
  const choices = sections.map((section) => choiceOf(section, nonce));
  // Listings are small, so all of them fit; each section then takes the place of its listing if there is room.
  let taken = utf8Bytes([...lines, "", ...choices.map((choice) => choice.listing), ""].join("\n"));
  const shown = choices.map((choice) => {
    const more = utf8Bytes(choice.inline) - utf8Bytes(choice.listing);
    const isInline = taken + more <= sheetBytesMax;
    if (isInline) taken += more;
    return { ...choice, isInline };
  });
  const beside = shown.filter((choice) => !choice.isInline);
  return {
    markdown: [...lines, "", ...shown.map((choice) => (choice.isInline ? choice.inline : choice.listing)), ""].join(
      "\n",
    ),
    files: beside.flatMap((choice) => choice.files),
    isCut: beside.some((choice) => choice.isCut),
  };
}

interface Choice extends Pick<AgentPacket, "files" | "isCut"> {
  readonly inline: string;
  readonly listing: string;
}

function choiceOf(section: Section, nonce: string): Choice {
  // Done before measuring, because the fence puts a longer word in a nonce's place.
  const text = withoutNonce(section.text, nonce);
  const bytes = new TextEncoder().encode(text);
  const end = cutBefore(bytes, 0, sectionBytesMax);
  const isCut = end < bytes.length;
  const files = split(bytes.subarray(0, end), sheetBytesMax - fenceBytesMax).map((part, index) => ({
    name: `${section.folder}/${String(index + 1).padStart(3, "0")}.${section.extension}`,
    text: `${fence(section.label, part, nonce)}\n`,
  }));
  const rest = bounded(withoutNonce(section.rest ?? "", nonce), restBytesMax);
  const listing = [
    "too long for this sheet: read these files beside it, in order",
    ...files.map((file) => `${file.name} (${utf8Bytes(file.text)} bytes)`),
    ...(isCut ? [`${bytes.length - end} more bytes are not handed over`, rest] : []),
  ];
  return {
    inline: fence(section.label, text, nonce),
    listing: fence(section.label, listing.join("\n"), nonce),
    files,
    isCut,
  };
}

function withoutNonce(text: string, nonce: string): string {
  return text.replaceAll(nonce, "(nonce removed)");
}

/** Trusted lines hold paths, and a path may hold a line end. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]+/g, " ");
}

function split(bytes: Uint8Array, partBytesMax: number): readonly string[] {
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = cutBefore(bytes, from, partBytesMax);
    parts.push(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, end)));
    from = end;
  }
  return parts;
}

/** Where a piece of at most `bytesMax` from `from` ends: after its last line end, else before a character begins. */
function cutBefore(bytes: Uint8Array, from: number, bytesMax: number): number {
  const limit = from + bytesMax;
  if (limit >= bytes.length) return bytes.length;
  const newline = bytes.lastIndexOf(0x0a, limit - 1);
  if (newline >= from) return newline + 1;
  let end = limit;
  while (end > from + 1 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** The text's first lines, at most `bytesMax` bytes of them. */
function bounded(text: string, bytesMax: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  const kept = bytes.subarray(0, cutBefore(bytes, 0, bytesMax - 64));
  return `${new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept)}\n(list cut here)`;
}
