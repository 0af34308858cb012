export type ReportFormat = "junit" | "tap" | "go-json" | "jest-json" | "vitest-json" | "playwright-json" | "rspec-json";
