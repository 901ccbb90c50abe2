// Modules of the page's own code for the tests.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** What the module `src/<name>.ts` exports. */
export async function source(name) {
    const entry = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
    const made = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false, loader: { ".css": "empty" } });
    return import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);
}
