import { existsSync, readdirSync } from "node:fs";
import project from "./jest.package.js";

const packages = [".", "core", "http", "engine", "gateway", "certification-kit", "cli"]
  .concat(readdirSync("connectors").map((name) => `connectors/${name}`))
  .filter((path) => existsSync(`${path}/test`));

/** All packages in one process and with one summary. */
export default {
  projects: packages.map((path) => ({
    ...project,
    rootDir: path,
    displayName: path === "." ? "repository" : path,
  })),
  reporters: ["default", "<rootDir>/scripts/jest-summary.js"],
  coverageProvider: "v8",
};
