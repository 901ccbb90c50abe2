// The answer of a comparison: how the elapsed time changed, its reasons, and the efficiencies of both sides.
import type { ComparisonDocument, ReasonRow, RunRatio } from "../generated/comparisondocument.generated";
import { el } from "../frame/dom";
import { efficiencyColour, EFFICIENCY_LIMITS, stateColour } from "../pictures/palette";
import type { PanelOf } from "../frame/panel";
import { bar, table } from "../frame/table";
import { percent, seconds, secondsLike, shortPath } from "../wording/words";
import { changeColumns } from "./changecolumns";

export const answer: PanelOf<ComparisonDocument> = {
    id: "answer",
    title: "Answer",
    about: "How the elapsed time changed from the base runs to the new ones, and why.",
    build(host, data) {
        const remarks = data.remarks.map((remark) => el("li", {}, remark));
        host.append(el("div", { class: "verdict" }, el("p", {}, data.verdict)), elapsedBars(data));
        host.append(el("ul", { class: "hint" }, ...remarks), reasonTable(data), efficiencyTable(data), ...conditionTable(data));
    },
};

/** The mean elapsed times of both sides, to one scale. */
function elapsedBars({ elapsed }: ComparisonDocument): HTMLElement {
    const most = Math.max(elapsed.base_s, elapsed.new_s);
    const row = (name: string, time: number, more: string) => el("tr", {}, el("td", {}, name), el("td", {}, bar(time / most, secondsLike(time, most), stateColour("computation"))), el("td", {}, more));
    const relative = elapsed.relative === null ? "" : ` (${elapsed.relative < 0 ? "−" : "+"}${percent(Math.abs(elapsed.relative))})`;
    const change = `${elapsed.change_s < 0 ? "−" : "+"}${seconds(Math.abs(elapsed.change_s))}${relative}${elapsed.beyond_noise ? "" : ", within noise"}`;
    return el("table", { class: "tree" }, el("caption", {}, "Elapsed time, means of the runs"), el("tbody", {}, row("base", elapsed.base_s, ""), row("new", elapsed.new_s, change)));
}

/** The ranks that a change is of. */
function whose({ all_ranks, ranks, longest }: ReasonRow): string {
    if (longest) {
        return `rank ${longest.rank} is longest`;
    }
    return all_ranks ? "all ranks" : ranks.map(({ rank }) => `rank ${rank}`).join(", ");
}

function reasonTable(data: ComparisonDocument): HTMLElement {
    return table<ReasonRow>({
        caption: data.by_cause ? "Reasons, with the waiting that they cause" : "Where the time changed",
        rows: data.reasons,
        first: 10,
        columns: [
            { title: "what", cell: (row) => row.what },
            { title: "in", term: "region", cell: (row) => (row.region === null ? "–" : shortPath(row.region)) },
            ...changeColumns<ReasonRow>(),
            { title: "share", cell: (row) => percent(row.share), by: (row) => row.share, right: true },
            { title: "ranks", cell: whose },
            { title: "noise", cell: (row) => (row.beyond_noise ? "" : "within noise") },
        ],
    });
}

function efficiencyTable(data: ComparisonDocument): HTMLElement {
    const cell = (value: number | null) => (value === null ? "–" : bar(value, percent(value), efficiencyColour(value)));
    return table<RunRatio>({
        caption: `Efficiencies (${EFFICIENCY_LIMITS})`,
        rows: data.efficiencies,
        columns: [
            { title: "efficiency", cell: (row) => row.name },
            { title: "base", cell: (row) => cell(row.base), by: (row) => row.base },
            { title: "new", cell: (row) => cell(row.new), by: (row) => row.new },
            { title: "noise", cell: (row) => (row.beyond_noise ? "" : "within noise") },
        ],
    });
}

function conditionTable({ conditions }: ComparisonDocument): HTMLElement[] {
    const rows = conditions.map(({ condition, outcome, value, base }) => ({ condition, outcome, value, base }));
    const number = (value: number | null) => (value === null ? "–" : String(Number(value.toPrecision(5))));
    const columns = [
        { title: "fail if", cell: (row: (typeof rows)[number]) => row.condition },
        { title: "outcome", cell: (row: (typeof rows)[number]) => String(row.outcome) },
        { title: "base", cell: (row: (typeof rows)[number]) => number(row.base), right: true },
        { title: "new", cell: (row: (typeof rows)[number]) => number(row.value), right: true },
    ];
    return rows.length > 0 ? [table({ caption: "Conditions", rows, columns })] : [];
}
