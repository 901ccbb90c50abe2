// Links in sentences of the report: ranks, regions, iterations and calls that a sentence names lead to the picture that shows them.
import type { Target } from "../frame/address";
import { panelLink } from "../frame/dom";
import { sitePlace } from "../panels/listing/callsites";
import { functionName } from "../panels/code/functions";
import type { Report } from "../generated/report.generated";
import { keepUnits, shortPath } from "./words";

/** A part of a sentence and what it names. */
export interface Mention {
    start: number;
    end: number;
    target: Target;
}

/** The panel that shows single ranks best. */
export function rankPanel(report: Report): string {
    return report.iterations.count > 0 ? "iterations" : "facts";
}

/** Finds what a sentence names, in the order of its words. */
export function findMentions(text: string, report: Report): Mention[] {
    const found = [...ranksIn(text, report), ...iterationsIn(text), ...sitesIn(text, report), ...functionsIn(text, report), ...regionsIn(text, report)];
    found.sort((a, b) => a.start - b.start || b.end - a.end);
    let end = 0;
    return found.filter((mention) => {
        const isFree = mention.start >= end;
        end = isFree ? mention.end : end;
        return isFree;
    });
}

/** A sentence with links. */
export function linkMentions(text: string, report: Report): (string | Node)[] {
    const parts: (string | Node)[] = [];
    let at = 0;
    for (const { start, end, target } of findMentions(text, report)) {
        parts.push(keepUnits(text.slice(at, start)), panelLink(target, text.slice(start, end)));
        at = end;
    }
    return [...parts, keepUnits(text.slice(at))];
}

/** `rank 3`, and the numbers of `ranks 0 (58 %), 2 (42 %)`; a range, `ranks 4-7`, is none of them. */
function ranksIn(text: string, report: Report): Mention[] {
    const panel = rankPanel(report);
    const mentions: Mention[] = [];
    for (const list of text.matchAll(/\branks? \d+(?:[-–]\d+)?(?: \([\d.,]+ %\))?(?:(?:,| and|, and) \d+(?:[-–]\d+)?(?: \([\d.,]+ %\))?(?![\d.]* ?(?:s|ms|µs|%|[kMG]?B)\b))*/gi)) {
        const numbers = list[0].replace(/\([^)]*\)/g, (share) => " ".repeat(share.length));
        for (const number of numbers.matchAll(/(?<![-–\d])\d+(?![-–\d])/g)) {
            const isFirst = mentions.at(-1)?.start !== list.index && number.index < 8;
            const start = list.index + (isFirst && /^rank /i.test(list[0]) ? 0 : number.index);
            mentions.push({ start, end: list.index + number.index + number[0].length, target: { panel, rank: Number(number[0]) } });
        }
    }
    return mentions;
}

function iterationsIn(text: string): Mention[] {
    return [...text.matchAll(/\biterations? (\d+)(?:(?: to |[-–])(\d+))?/gi)].map((match) => ({
        start: match.index,
        end: match.index + match[0].length,
        target: { panel: "iterations", iterations: { first: Number(match[1]), last: Number(match[2] ?? match[1]) } },
    }));
}

/** Calls at their places: `Recv at halo (a.c:12)`. */
function sitesIn(text: string, report: Report): Mention[] {
    const names = new Map(report.callsites.flatMap((site) => {
        const place = sitePlace(site);
        return [`MPI_${site.operation} at ${place}`, `${site.operation} at ${place}`].map((name) => [name, { panel: "callsites", find: site.function ? place : site.operation }] as const);
    }));
    return places(text, names, () => true);
}

/** Sampled functions with their lines: `update (a.c:22)`, and those in which ranks compute longer, which may be elsewhere in the same function. */
function functionsIn(text: string, report: Report): Mention[] {
    const { functions, verdict } = report;
    const explained = [verdict.worst?.explained, ...verdict.slow_parts.map((part) => part.explained)].flatMap((found) => found?.functions ?? []);
    const rows = functions ? [functions.program, ...functions.regions].flatMap((part) => part.functions) : [];
    const named = [...rows, ...explained].filter((row) => row.function !== null);
    return places(text, new Map(named.map((row) => [functionName(row), { panel: "code", find: row.function }])), () => true);
}

/** Regions by their paths; a path of one name, which may be a word, only where the sentence says that it is a region. */
function regionsIn(text: string, report: Report): Mention[] {
    const panel = report.functions && report.functions.samples > 0 ? "code" : "patterns";
    const names = new Map(report.regions.filter(({ path }) => path !== "main").flatMap(({ path }) => [path, shortPath(path)].map((name) => [name, { panel, region: path }] as const)));
    return places(text, names, (name, before) => name.includes("/") || /\b(?:regions?|in|of) $/.test(before));
}

/** The positions of names in a text, as whole words, long names first. */
function places(text: string, names: Map<string, Target>, isMeant: (name: string, before: string) => boolean): Mention[] {
    const mentions: Mention[] = [];
    for (const name of [...names.keys()].sort((a, b) => b.length - a.length)) {
        for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
            const end = start + name.length;
            const isWhole = !/[\w/]$/.test(text.slice(0, start)) && !/^[\w/]/.test(text.slice(end));
            const isTaken = mentions.some((other) => start < other.end && other.start < end);
            if (isWhole && !isTaken && isMeant(name, text.slice(0, start))) {
                mentions.push({ start, end, target: names.get(name)! });
            }
        }
    }
    return mentions;
}
