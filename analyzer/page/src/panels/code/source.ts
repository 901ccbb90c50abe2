// Lines of the source with the share of their function's samples beside them.
import { el } from "../../frame/dom";
import { stateColour } from "../../pictures/palette";
import type { FunctionRow, FunctionTable } from "../../generated/report.generated";
import { bar } from "../../frame/table";
import type { Views } from "../../data/views";
import { percent } from "../../wording/words";
import { functionName } from "./functions";

/** Functions whose lines are open at first. */
const OPEN = 2;

/** The lines of functions, those with most samples first; how to get them where the page has none. */
export function sourceLines(all: FunctionTable, sources: Views["sources"]): HTMLElement[] {
    const rows = [...all.program.functions, ...all.other_threads.flatMap((threads) => threads.program.functions)].filter((row) => row.lines.length > 0);
    const found = rows.flatMap((row) => {
        const lines = linesOf(row, sources);
        return lines.length > 0 ? [{ row, lines }] : [];
    });
    if (found.length === 0) {
        const hint = sources.length > 0 || rows.length === 0 ? "" : "lb-report --html FILE --source puts the lines of the source beside their samples, where the source is found.";
        return hint ? [el("p", { class: "hint" }, hint)] : [];
    }
    return [
        el("h3", {}, "Source lines"),
        ...found.map(({ row, lines }, at) => el("details", { open: at < OPEN }, el("summary", {}, `${functionName(row)}, ${percent(row.share)}`), el("div", { class: "table" }, el("table", { class: "source" }, el("tbody", {}, ...lines))))),
    ];
}

/** The lines near a function's sampled ones. */
function linesOf(row: FunctionRow, sources: Views["sources"]): HTMLElement[] {
    const shares = new Map(row.lines.map((line) => [line.line, line.mean_s / row.mean_s]));
    const near = sources.filter(({ file, first, lines }) => file === row.file && row.lines.some(({ line }) => line >= first && line < first + lines.length));
    return near.flatMap(({ first, lines }, at) => [
        ...(at > 0 ? [el("tr", {}, el("td"), el("td", { class: "right sub" }, "⋮"), el("td"))] : []),
        ...lines.map((text, offset) => {
            const share = shares.get(first + offset);
            return el("tr", {}, el("td", {}, share === undefined ? null : bar(share, percent(share), stateColour("computation"))), el("td", { class: "right sub" }, String(first + offset)), el("td", {}, el("code", {}, text)));
        }),
    ]);
}
