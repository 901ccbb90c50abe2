// What a page holds, read as the page's own code does not: from the file's text, with node's gzip.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

/** Where scripts/tests/page put them. */
export const FOLDER = process.env.LBPROF_PAGES ?? fileURLToPath(new URL("../../../target/pages", import.meta.url));

/** Path of a page that scripts/tests/page made. */
export function pagePath(name) {
    return join(FOLDER, `${name}.html`);
}

function element(name, id) {
    const found = new RegExp(`<script[^>]*id="${id}"[^>]*>([^]*?)</script>`).exec(readFileSync(pagePath(name), "utf8"));
    return JSON.parse(found[1]);
}

/** The two data elements of a page. */
export function dataOf(name) {
    return { report: element(name, "report"), views: element(name, "views") };
}

/** Writes a page that is one of them but for these keys of its report, or of its views, and returns its name. */
export function pageWith(name, as, changes, id = "report") {
    const changed = JSON.stringify({ ...element(name, id), ...changes }).replaceAll("<", "\\u003c");
    const text = readFileSync(pagePath(name), "utf8").replace(new RegExp(`(<script[^>]*id="${id}"[^>]*>)[^]*?(<\\/script>)`), (_, begin, end) => begin + changed + end);
    writeFileSync(pagePath(as), text);
    return as;
}

/** A packed array of whole numbers; null for none. */
export function packed(numbers, scale = 1) {
    const bytes = Buffer.alloc(4 * numbers.length);
    numbers.forEach((number, at) => bytes.writeUInt32LE(number ?? 4294967295, 4 * at));
    return { type: "u32", scale, data: gzipSync(bytes).toString("base64") };
}

/** The data element of the page of a study. */
export function studyOf(name) {
    return element(name, "study");
}

/** The data element of the page of a comparison. */
export function comparisonOf(name) {
    return element(name, "comparison");
}

/** The numbers of a packed array. */
export function unpack({ type, scale = 1, data }) {
    const bytes = gunzipSync(Buffer.from(data, "base64"));
    const read = {
        u8: [1, (at) => bytes.readUInt8(at)],
        u32: [4, (at) => none(bytes.readUInt32LE(at), 4294967295)],
        i32: [4, (at) => bytes.readInt32LE(at)],
        f16: [2, (at) => half(bytes.readUInt16LE(at))],
        f32: [4, (at) => bytes.readFloatLE(at)],
    }[type];
    const [width, value] = read;
    return Array.from({ length: bytes.length / width }, (_, i) => value(i * width) * scale);
}

function none(value, mark) {
    return value === mark ? NaN : value;
}

function half(bits) {
    const exponent = (bits >> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    const size = exponent === 0 ? fraction * 2 ** -14 : exponent === 31 ? (fraction ? NaN : Infinity) : (1 + fraction) * 2 ** (exponent - 15);
    return bits & 0x8000 ? -size : size;
}
