// Bundles src/ into dist/: page.js and page.css of a run, study.js and study.css of a study, compare.js and compare.css of a comparison, which lb-report carries inside of it.
//
//   node build.mjs           writes them (npm run build)
//   node build.mjs --check   ends with 1 where they are not what the sources make
//
// Before that it makes the types of what the pages read, src/generated/*.generated.ts, from docs/*.schema.json, and of the states of time.
import { readFile, mkdir, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { compile } from "json-schema-to-typescript";

const BUDGET_BYTES = 300_000;
const BANNER = "/* Generated from analyzer/page/src by `npm run build`; do not edit. Contains uPlot (MIT, Leon Sorokin) and d3-hierarchy (ISC, Mike Bostock). */";

let differs = false;

/** Writes a generated file, or finds out whether it is what it should be. */
async function keep(name, text) {
    if (!process.argv.includes("--check")) {
        await writeFile(name, text);
    } else if ((await readFile(name, "utf8").catch(() => "")) !== text) {
        console.error(`${name} is not what its sources make: run npm run build`);
        differs = true;
    }
}

/** Makes the types of a JSON document from its schema; packed arrays have been unpacked where they are read. */
async function types(document, name, imports = "") {
    const text = await readFile(`../../docs/${document}.schema.json`, "utf8");
    const schema = JSON.parse(text, (_, value) => {
        if (value?.$ref === "#/$defs/PackedNumbers") {
            return { ...value, $ref: undefined, tsType: "PackedNumbers" };
        }
        if (value?.prefixItems) {
            // The name that the compiler knows a tuple's items by.
            return { ...value, items: value.prefixItems, prefixItems: undefined };
        }
        // A reference beside a description would be made an interface of its own, EfficiencyRow1.
        const { $ref, ...beside } = value ?? {};
        return $ref && Object.keys(beside).length > 0 ? { ...beside, allOf: [{ $ref }] } : value;
    });
    delete schema.$defs.PackedNumbers;
    delete schema.$defs.NumberEncoding;
    const bannerComment = `// Generated from docs/${document}.schema.json by \`npm run build\`; do not edit.${imports}`;
    const made = await compile(schema, name, { additionalProperties: false, bannerComment, format: false });
    await keep(`src/generated/${name.toLowerCase()}.generated.ts`, made);
}

/** Makes the page's part of the states of time, with the rows of their table in Rust's syntax. */
async function states() {
    const table = await readFile("../../collector/src/record/states.table", "utf8");
    const rows = [...table.matchAll(/^ +\w+ = \d+, +(\w+), +("[^"]+"), +"[^"]+", +("#\w+"), .*?("[^"]+");$/gm)];
    const lines = rows.map(([, group, label, colour, sentence]) => `    ${label}: { group: "${group}", colour: ${colour}, sentence: ${sentence} },\n`);
    const banner = "// Generated from collector/src/record/states.table by `npm run build`; do not edit.\n\n";
    await keep("src/generated/states.generated.ts", `${banner}export const STATES: Record<string, { group: string; colour: string; sentence: string }> = {\n${lines.join("")}};\n`);
}
await states();
await types("report", "Report");
await types("page-data", "Views", '\nimport type { PackedNumbers } from "../data/packed";');
await types("study-page-data", "StudyData");
await types("compare", "ComparisonDocument");

const result = await build({
    entryPoints: { page: "src/main.ts", study: "src/study/main.ts", compare: "src/compare/main.ts" },
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

const sizes = { page: 0, study: 0, compare: 0 };
await mkdir("dist", { recursive: true });
for (const file of result.outputFiles) {
    const name = `dist/${file.path.split("/").at(-1)}`;
    sizes[file.path.split("/").at(-1).split(".")[0]] += file.contents.length;
    // The bundle stands between tags of HTML, where these would end it.
    if (/<\/(script|style)|<!--/i.test(file.text)) {
        throw new Error(`${name} holds a tag that would end its element in the page`);
    }
    await keep(name, file.text);
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
