/** The parsers of languages that only their own programs can parse: which program, how it is asked, what its no looks like. */

export type NativeLanguage = "python" | "ruby" | "php" | "go" | "shell";

export interface NativeAsk {
  readonly tool: string;
  readonly args: readonly string[];
}

export interface NativeTool {
  /** The name under which the text lies in a folder of its own, or which the program is told for what it reads on stdin. */
  readonly input: string;
  readonly onStdin: boolean;
  /** A text is refused where every program that is there refuses it. */
  readonly asks: readonly NativeAsk[];
  /** Only a no of this form counts, beside the name of the input. */
  readonly says: RegExp;
  /** Prints the version, from whose first `x.y` it is told; null: it has none to print. */
  readonly version: readonly string[] | null;
}

const compile =
  'import sys; sys.stdout.write("Python %d.%d" % sys.version_info[:2]); sys.stdout.flush(); ' +
  'compile(sys.stdin.buffer.read(), "input.py", "exec", dont_inherit=True)';
const pythonArgs = ["-I", "-S", "-B", "-W", "ignore", "-c", compile];
/** The one that is called `python3` first; then by number, because an old grammar refuses what a new one takes. */
const pythons = ["python3", ...Array.from({ length: 12 }, (_, index) => `python3.${20 - index}`)];

export const nativeTools: Readonly<Record<NativeLanguage, NativeTool>> = {
  python: {
    input: "input.py",
    onStdin: true,
    asks: pythons.map((tool) => ({ tool, args: pythonArgs })),
    says: /^(SyntaxError|IndentationError|TabError)\b/m,
    version: ["-I", "-S", "-c", 'import sys; print("Python %d.%d" % sys.version_info[:2])'],
  },
  ruby: {
    input: "input.rb",
    onStdin: false,
    asks: [{ tool: "ruby", args: ["--disable=gems,rubyopt", "-c", "input.rb"] }],
    says: /input\.rb/,
    version: ["--disable=gems,rubyopt", "--version"],
  },
  php: {
    input: "input.php",
    onStdin: false,
    asks: [{ tool: "php", args: ["-n", "-l", "input.php"] }],
    says: /\b(Parse|Fatal) error\b/,
    version: ["-n", "--version"],
  },
  go: {
    input: "input.go",
    onStdin: false,
    asks: [{ tool: "gofmt", args: ["-e", "-l", "input.go"] }],
    says: /input\.go:\d+/,
    version: null,
  },
  shell: {
    input: "input.sh",
    onStdin: false,
    asks: [
      // What a script switches on with `shopt` is never switched on by a parser that executes nothing.
      { tool: "bash", args: ["-O", "extglob", "-n", "input.sh"] },
      { tool: "bash", args: ["-n", "input.sh"] },
      { tool: "sh", args: ["-n", "input.sh"] },
    ],
    says: /input\.sh: (line )?\d+:/,
    version: null,
  },
};
