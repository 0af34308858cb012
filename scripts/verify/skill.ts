/** An installed skill, as its file says. Untrusted text. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
}

export const skillBytesMax = 64 * 1024;
