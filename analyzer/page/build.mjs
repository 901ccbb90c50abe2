// Bundles src/ into dist/: page.js and page.css of a run, study.js and study.css of a study, which lb-report carries inside of it.
//
//   node build.mjs           writes them (npm run build)
//   node build.mjs --check   ends with 1 where they are not what the sources make
import { readFile, mkdir, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const BUDGET_BYTES = 300_000;
const BANNER = "/* Generated from analyzer/page/src by `npm run build`; do not edit. Contains uPlot (MIT, Leon Sorokin). */";

const result = await build({
    entryPoints: { page: "src/main.ts", study: "src/study/main.ts" },
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    banner: { js: BANNER, css: BANNER },
    outdir: "dist",
    write: false,
    logLevel: "warning",
});

const sizes = { page: 0, study: 0 };
let differs = false;
await mkdir("dist", { recursive: true });
for (const file of result.outputFiles) {
    const name = `dist/${file.path.split("/").at(-1)}`;
    sizes[file.path.split("/").at(-1).split(".")[0]] += file.contents.length;
    // The bundle stands between tags of HTML, where these would end it.
    if (/<\/(script|style)|<!--/i.test(file.text)) {
        throw new Error(`${name} holds a tag that would end its element in the page`);
    }
    if (process.argv.includes("--check")) {
        const written = await readFile(name, "utf8").catch(() => "");
        if (written !== file.text) {
            console.error(`${name} is not what its sources make: run npm run build`);
            differs = true;
        }
    } else {
        await writeFile(name, file.contents);
    }
}
let isLarge = false;
for (const [name, size] of Object.entries(sizes)) {
    console.log(`${name}: ${(size / 1000).toFixed(1)} kB`);
    if (size > BUDGET_BYTES) {
        console.error(`${name} is larger than ${BUDGET_BYTES / 1000} kB`);
        isLarge = true;
    }
}
process.exitCode = differs || isLarge ? 1 : 0;
