// The page's own words for numbers, as a module for the tests.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const entry = fileURLToPath(new URL("../src/words.ts", import.meta.url));
const made = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
const words = await import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);

export const { seconds, secondsLike, percent, signedPercent, count, bytes, roundTicks, shortPath } = words;
