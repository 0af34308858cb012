/** Programs that run no tests and hide none: they count as followed. */
const names = new Set(
  (
    ": [ cat chmod chown clear cp curl cut date df diff dirname basename du echo exit export false grep " +
    "git gzip head id kill ln ls mkdir mktemp mv popd printf ps pushd pwd read realpath rm rmdir rsync sed set " +
    "shift shopt sleep sort stat tail tar tee test touch tr true tsc type ulimit umask uname unset unzip " +
    "wait wc which whoami xz zip " +
    "biome eslint prettier stylelint oxlint standard xo tslint rimraf del-cli mkdirp shx cpy ncp copyfiles husky " +
    "lint-staged tsup rollup webpack esbuild swc babel vite vue-tsc svelte-check svelte-kit next nuxt astro parcel " +
    "unbuild pkgroll microbundle ncc typedoc api-extractor publint attw size-limit knip depcheck madge sort-package-json " +
    "commitlint cspell markdownlint markdownlint-cli2 remark ls-lint changeset semantic-release prisma graphql-codegen " +
    "ruff black isort flake8 mypy pyright pylint bandit pip pip3 pre-commit codespell " +
    "gofmt goimports golangci-lint staticcheck govulncheck rustfmt rustup rubocop php-cs-fixer phpstan psalm phpcs " +
    "shellcheck shfmt hadolint yamllint actionlint buf protoc gcc g++ cc clang"
  ).split(" "),
);

export function isHarmless(program: string): boolean {
  return names.has(program);
}
