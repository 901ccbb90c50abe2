// Takes the pictures of docs/images: every panel of a page, 1280 pixels wide.
//
//   npm run screenshots -- PAGE.html FOLDER
//
// pngquant (a package of Debian's) makes them a third of their size.
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, placeIn, show } from "./tests/browser.mjs";

const MOST_BYTES = 150_000;

/** Panels with the height of their picture, and what is done before it is taken. */
const PICTURES = [
    { id: "summary", height: 960 },
    { id: "iterations", height: 860 },
    { id: "views", height: 900 },
    { id: "patterns", height: 620 },
    { id: "timeline", height: 720, before: chooseWait },
    { id: "waiting", height: 700 },
    { id: "whatif", height: 620 },
    { id: "calltree", height: 800 },
    { id: "callsites", height: 560 },
    { id: "communication", height: 1000 },
    { id: "overtime", height: 860 },
    { id: "overheads", height: 930 },
    { id: "facts", height: 900 },
    { id: "iterations", name: "dark", scheme: "dark", height: 620 },
];

async function chooseWait(page) {
    await page.locator("#panel-timeline td button").first().click();
    await page.getByLabel("zoom out").click();
    const place = await placeIn(page, "timeline", 1, 1);
    await page.mouse.move(place.x + 100, place.y + 100);
}

const [html, folder] = process.argv.slice(2);
if (!folder) {
    console.error("usage: npm run screenshots -- PAGE.html FOLDER");
    process.exit(2);
}
await mkdir(folder, { recursive: true });
const browser = await launch();
for (const { id, name = id, height, scheme = "light", before } of PICTURES) {
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme: scheme });
    await page.goto(pathToFileURL(resolve(html)).href);
    await page.waitForSelector("html[data-ready]");
    await show(page, id);
    await before?.(page);
    await page.waitForTimeout(200);
    const picture = execFileSync("pngquant", ["--strip", "--quality", "80-100", "-"], { input: await page.screenshot() });
    await page.close();
    await writeFile(join(folder, `page-${name}.png`), picture);
    console.log(`page-${name}.png: ${(picture.length / 1000).toFixed(0)} kB`);
    if (picture.length > MOST_BYTES) {
        console.error(`larger than ${MOST_BYTES / 1000} kB`);
        process.exitCode = 1;
    }
}
await browser.close();
