/** Test commands a headless run may execute without a human's word, wherever they were found. */
const listed: ReadonlySet<string> = new Set([
  "npm test",
  "npm run test",
  "pnpm test",
  "yarn test",
  "bun test",
  "bun run test",
  "deno test",
  "node --test",
  "pytest",
  "uv run pytest",
  "poetry run pytest",
  "python -m pytest",
  "python3 -m pytest",
  "python3 -m unittest",
  "go test ./...",
  "cargo test",
  "bundle exec rspec",
  "rspec",
  "phpunit",
  "vendor/bin/phpunit",
  "mvn test",
  "./mvnw test",
  "gradle test",
  "./gradlew test",
  "dotnet test",
  "make test",
]);

/** Set-ups that install what a lockfile names, inside the tree. */
const listedSetups: ReadonlySet<string> = new Set([
  "npm ci",
  "pnpm install --frozen-lockfile",
  "yarn install --frozen-lockfile",
  "yarn install --immutable",
  "bun install --frozen-lockfile",
  "uv sync --frozen",
  "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",
  "composer install --no-interaction",
]);

export function isListedCommand(command: string): boolean {
  return listed.has(command.trim());
}

export function isListedSetup(command: string): boolean {
  return listedSetups.has(command.trim());
}

/** Whether every command of a packet is of the fixed lists; one that is absent asks for nothing. */
export function hasListedCommands(packet: { readonly verify_cmd: string; readonly setup_cmd?: string }): boolean {
  const { verify_cmd, setup_cmd } = packet;
  return isListedCommand(verify_cmd) && (setup_cmd === undefined || isListedSetup(setup_cmd));
}
