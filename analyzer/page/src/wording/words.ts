// Numbers and names as a reader wants them, the same as in the text report: three or four digits with a unit.

interface Unit {
    scale: number;
    symbol: string;
    decimals: number;
}

/** The unit in which `longest` seconds has one to three digits before the point. */
function unitFor(longest: number): Unit {
    const size = Math.abs(longest);
    const [scale, symbol] = size >= 0.9995 || size === 0 ? [1, "s"] : size >= 0.9995e-3 ? [1e3, "ms"] : [1e6, "µs"];
    const value = size * scale;
    const decimals = value >= 999.5 ? 0 : value >= 99.95 ? 1 : value >= 9.995 ? 2 : 3;
    return { scale, symbol, decimals };
}

function isNumber(value: number | null | undefined): value is number {
    return typeof value === "number" && Number.isFinite(value);
}

const DASH = "–";

/** The last part of a path; of a file that has the same name in each package of Python's, with that package. */
export function baseName(path: string): string {
    const parts = path.split("/");
    const isInPackage = ["__init__.py", "__main__.py"].includes(parts.at(-1) ?? "");
    return parts.slice(isInPackage ? -2 : -1).join("/");
}

/** A time with its unit: `1.32 s`; a dash where there is none. */
export function seconds(value: number | null | undefined): string {
    return isNumber(value) ? secondsLike(value, value) : DASH;
}

/** A time in the unit that suits `reference`; in its own where it would be 0 or too long in that. */
export function secondsLike(value: number | null | undefined, reference: number): string {
    if (!isNumber(value)) {
        return DASH;
    }
    const inUnit = (unit: Unit) => (value * unit.scale).toFixed(Math.min(unit.decimals, 2));
    const isZero = (text: string) => /^[-0.]*$/.test(text);
    let unit = unitFor(reference);
    const isLong = unit.scale > 1 && Math.abs(value * unit.scale) >= 999.5;
    if ((isZero(inUnit(unit)) && value !== 0) || isLong) {
        unit = unitFor(value);
    }
    const text = inUnit(unit);
    return `${text.replace("-", isZero(text) ? "" : "−")} ${unit.symbol}`;
}

/** Times of a column, of which this is the longest, in one unit: those that are too short for it are less than its last digit. */
export function oneUnit(longest: number): (value: number | null | undefined) => string {
    const unit = unitFor(longest);
    const { decimals } = unit;
    return (value) => {
        if (!isNumber(value)) {
            return DASH;
        }
        const text = (value * unit.scale).toFixed(decimals);
        if (!/^[-0.]*$/.test(text)) {
            return `${text.replace("-", "−")} ${unit.symbol}`;
        }
        return value > 0 ? `< ${(10 ** -decimals).toFixed(decimals)} ${unit.symbol}` : `${text.replace("-", "")} ${unit.symbol}`;
    };
}

/** A share of 0 to 1 in per cent: `87.4 %`; a dash where there is none. */
export function percent(share: number | null | undefined): string {
    if (!isNumber(share)) {
        return DASH;
    }
    const text = `${(100 * share).toFixed(1)} %`;
    return text === "-0.0 %" ? "0.0 %" : text.replace("-", "−");
}

/** A difference in per cent with its sign: `+12.5 %`. */
export function signedPercent(share: number | null | undefined): string {
    if (!isNumber(share)) {
        return DASH;
    }
    const rounded = Math.round(1000 * share) / 10;
    return rounded === 0 ? "0.0 %" : `${rounded > 0 ? "+" : "−"}${Math.abs(rounded).toFixed(1)} %`;
}

/** A whole number with commas between thousands: `1,234,567`. */
export function count(value: number | null | undefined): string {
    return isNumber(value) ? Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",") : DASH;
}

/** Bytes with a unit of powers of 1000: `1.32 MB`. */
export function bytes(value: number | null | undefined): string {
    if (!isNumber(value)) {
        return DASH;
    }
    const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let scaled = value;
    let unit = 0;
    while (scaled >= 999.5 && unit + 1 < units.length) {
        scaled /= 1000;
        unit += 1;
    }
    const decimals = unit === 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
    return `${scaled.toFixed(decimals)} ${units[unit]}`;
}

/** A plain ratio or index: `0.321`. */
export function ratio(value: number | null | undefined, decimals = 3): string {
    return isNumber(value) ? value.toFixed(decimals).replace("-", "−") : DASH;
}

/** `1 rank`, `2 ranks`. */
export function plural(n: number, word: string): string {
    return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

/** Ascending numbers: `0-3, 7`. */
export function ranges(numbers: number[]): string {
    const parts: [number, number][] = [];
    for (const number of numbers) {
        const last = parts.at(-1);
        if (last && last[1] + 1 === number) {
            last[1] = number;
        } else {
            parts.push([number, number]);
        }
    }
    return parts.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(", ");
}

/** `rank 3`, `ranks 0-3, 7`; with … where these are only the first of `n`. */
export function namedRanks(ranks: number[], n: number): string {
    return `${n === 1 ? "rank" : "ranks"} ${ranges(ranks)}${ranks.length < n ? " …" : ""}`;
}

/** A text in which a number and its unit stay on one line. */
export function keepUnits(text: string): string {
    return text.replace(/(\d) (?=(%|s|ms|µs|B|kB|MB|GB|TB)(?![\w]))/g, "$1\u00a0");
}

/** The name of code between calls that has no name of its own. */
const OTHER = "other code between calls";

/**
 * A region's path without the whole program, and without the outer regions of a long one: as a place in a sentence or a table.
 * Code that has no name of its own keeps the one around it, which distinguishes it from others.
 */
export function shortPath(path: string): string {
    // A '/' in a name is written \/.
    const names = path.split(/(?<!\\)\//);
    const least = path.endsWith(OTHER) ? 2 : 1;
    if (names[0] === "main" && names.length > least) {
        names.shift();
    }
    while (names.join("/").length > 36 && names.length > least) {
        names.shift();
    }
    return names.join("/");
}

/** Round numbers between `low` and `high`, about `wanted` of them. */
export function roundTicks(low: number, high: number, wanted: number): number[] {
    const rough = (high - low) / Math.max(1, wanted);
    if (!(rough > 0)) {
        return [];
    }
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
    const ticks: number[] = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
        ticks.push(k * step);
    }
    return ticks;
}

/** Text of a tick among ticks `step` apart: no more digits than are needed to distinguish them. */
export function secondsTick(value: number, step: number, longest: number): string {
    const unit = unitFor(longest);
    const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(step * unit.scale) + 1e-9)));
    return `${(value * unit.scale).toFixed(decimals)} ${unit.symbol}`;
}

/** A function's name with `<…>` in place of the arguments of each template in it; as it is where its brackets do not match. */
export function withoutTemplateArguments(name: string): string {
    let short = "";
    let depth = 0;
    for (let at = 0; at < name.length; at++) {
        // Brackets of operators (`operator<`, `->`) and of `<T as Trait>` follow no name.
        const before = name.slice(0, at);
        const opens = name[at] === "<" && (depth > 0 || (/\w$/.test(before) && !/\boperator$/.test(before)));
        const closes = name[at] === ">" && depth > 0 && !before.endsWith("-");
        if (opens && depth++ === 0) short += "<…>";
        if (depth === 0) short += name[at];
        if (closes) depth--;
    }
    return depth === 0 ? short : name;
}
