// Takes the pictures of docs/images: panels of a page, 1280 pixels wide. scripts/pictures/page makes the pages.
//
//   npm run screenshots -- PAGES FOLDER
//
// PAGES holds heat.html, of a recorded run, threads.html, of one with threads, and slow.html, of a run of thousands of ranks. pngquant (a
// package of Debian's) makes the pictures a third of their size.
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { drawn, launch, placeIn, show } from "./tests/browser.mjs";

const MOST_BYTES = 150_000;

/** Panels with the height of their picture, and what is done before it is taken. */
const PICTURES = [
    { id: "summary", height: 900 },
    { id: "iterations", height: 800 },
    { id: "iterations", name: "many-ranks", of: "slow", scheme: "dark", height: 760 },
    { id: "stages", height: 900 },
    { id: "timeline", height: 820, before: chooseWait },
    { id: "waiting", height: 700 },
    { id: "whatif", height: 560 },
    { id: "code", height: 640 },
    { id: "threads", of: "threads", height: 620 },
    { id: "summary", name: "phone", width: 390, height: 780 },
];

/** Chooses the longest wait, and shows some of what is around it. */
async function chooseWait(page) {
    await page.locator("#panel-timeline td button").first().click();
    await page.getByLabel("zoom out").click();
    await page.evaluate(() => window.scrollTo(0, 0));
    const place = await placeIn(page, "timeline", 0.5, 0.25);
    await page.mouse.move(place.x, place.y);
}

const [pages, folder] = process.argv.slice(2);
if (!folder) {
    console.error("usage: npm run screenshots -- PAGES FOLDER");
    process.exit(2);
}
await mkdir(folder, { recursive: true });
const browser = await launch();
for (const { id, name = id, of = "heat", width = 1280, height, scheme = "light", before } of PICTURES) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
    await page.goto(pathToFileURL(resolve(pages, `${of}.html`)).href);
    await page.waitForSelector("html[data-ready]");
    await show(page, id);
    await before?.(page);
    await drawn(page);
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
