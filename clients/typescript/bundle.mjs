// Bundles the package for browsers without a build: a script with the global `strongroom`, and one module.

import { build } from "esbuild";

// The errors have the names of their classes.
const names = { minify: true, keepNames: true };
const options = { entryPoints: ["dist/index.js"], bundle: true, target: "es2022", ...names };
await build({ ...options, format: "iife", globalName: "strongroom", outfile: "dist/strongroom.js" });
await build({ ...options, format: "esm", outfile: "dist/strongroom.mjs" });
