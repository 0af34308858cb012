/** Test commands a headless run may execute without a human's word, wherever they were found. */
const listed: ReadonlySet<string> = new Set([
  "npm test",
  "npm run test",
  "pnpm test",
  "yarn test",
  "bun test",
  "deno test",
  "node --test",
  "pytest",
  "python -m pytest",
  "python3 -m pytest",
  "python3 -m unittest",
  "go test ./...",
  "cargo test",
  "bundle exec rspec",
  "rspec",
  "phpunit",
  "mvn test",
  "gradle test",
  "dotnet test",
  "make test",
]);

export function isListedCommand(command: string): boolean {
  return listed.has(command.trim());
}
