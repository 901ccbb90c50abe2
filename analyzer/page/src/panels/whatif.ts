// The run under other conditions, and the chain that set its time.
import { el, panelLink } from "../frame/dom";
import { CATEGORIES, stateColour } from "../pictures/palette";
import type { Panel } from "../frame/panel";
import type { PathRow, PredictionRow, Report } from "../generated/report.generated";
import { table } from "../frame/table";
import { NOT_REPLAYED } from "../wording/emptyreasons";
import { bytes, count, percent, plural, seconds, shortPath } from "../wording/words";

/** The scenario of a prediction, in words. */
export function scenario(replay: PredictionRow): string {
    switch (replay.scenario) {
        case "ideal network":
            return "the network were ideal";
        case "region balanced":
            return `${shortPath(replay.region ?? "main")} were balanced`;
        case "region balanced in each iteration":
            return `${shortPath(replay.region ?? "main")} were balanced in each iteration`;
        case "run balanced in each iteration":
            return "every iteration were balanced";
        case "regions balanced":
            return "every region were balanced";
        case "rank as the mean":
            return `rank ${replay.rank} computed no more than the mean`;
        case "rank faster":
            return `${replay.rank === null ? "each coordinator" : `rank ${replay.rank}`} computed ${replay.times === null ? "in no time" : `${replay.times} times as fast`}`;
        case "region faster":
            return `${shortPath(replay.region ?? "main")} were ${replay.times} times as fast`;
        case "function faster":
            return `${replay.region} were ${replay.times} times as fast`;
        case "threads balanced":
            return replay.region === null ? "threads worked equally long in each parallel region" : `threads worked equally long in ${replay.region}`;
        case "function on all threads":
            return `${replay.region} ran on all threads`;
        case "network":
            return `the network had ${seconds(replay.latency_s)} and ${bytes(replay.bytes_per_s)}/s`;
        default:
            return replay.scenario;
    }
}

export const whatIf: Panel = {
    id: "whatif",
    title: "What if",
    about: "How long the run would take under other conditions, and the chain of work and messages that set its time.",
    missing: ({ report }) => (report.predictions.length > 0 || report.critical_path ? null : report.selection?.region ? "How long it would take otherwise, and what set its time, are known of all of the run or of a window: make the page without --region." : NOT_REPLAYED),
    build(host, { report }) {
        if (report.predictions.length > 0) {
            host.append(replays(report), ...report.prediction_notes.map((note) => el("p", { class: "hint" }, `${note}.`)));
        } else {
            const calls = panelLink("waiting", "Causes of waiting");
            host.append(el("p", { class: "hint" }, "How long the run would take otherwise is not known: the logs do not show what some calls waited for (", calls, ")."));
        }
        if (report.critical_path) {
            host.append(el("div", { class: "columns" }, parts(report), ranks(report)));
        }
    },
};

/** The predictions, the largest saving first. */
export function scenarios(report: Report): PredictionRow[] {
    return report.predictions.filter((replay) => replay.scenario !== "as measured").sort((a, b) => b.saved_s - a.saved_s);
}

function replays(report: Report): HTMLElement {
    const measured = report.predictions.find((replay) => replay.scenario === "as measured")?.time_s ?? report.run.elapsed_s;
    return table<PredictionRow>({
        caption: `What if: all calls replayed in their order. The run took ${seconds(report.run.elapsed_s)}, its replay with everything as it was ${seconds(measured)}`,
        rows: scenarios(report),
        columns: [
            { title: "if", term: "what if", cell: scenario },
            { title: "run", time: (row) => row.time_s, bar: () => CATEGORIES[1], share: (row) => row.time_s / measured },
            { title: "saved", time: (row) => row.saved_s },
            { title: "share", cell: (row) => percent(row.saved_share), by: (row) => row.saved_s, right: true },
        ],
    });
}

function partName(part: PathRow): string {
    return `${part.activity === "message delay" ? "messages in transit" : (part.activity ?? "not recorded")} in ${shortPath(part.region)}`;
}

function parts(report: Report): HTMLElement {
    const path = report.critical_path as NonNullable<Report["critical_path"]>;
    return table<PathRow>({
        caption: `Critical path, ${seconds(path.time_s)}: what was done on it`,
        rows: path.parts,
        first: 15,
        columns: [
            { title: "part", term: "critical path", cell: partName },
            { title: "time", time: (row) => row.time_s, bar: (row) => stateColour(row.activity ?? "") },
            { title: "share", cell: (row) => percent(row.share), by: (row) => row.time_s, right: true },
            { title: "most on", cell: (row) => `rank ${row.rank} (${percent(row.rank_share)})`, by: (row) => row.rank, right: true },
        ],
    });
}

function ranks(report: Report): HTMLElement {
    const path = report.critical_path as NonNullable<Report["critical_path"]>;
    return table({
        caption: path.left_out_s > 0 ? `Which ranks it goes through: ${plural(path.ranks.length, "rank")} of ${count(path.rank_count)}; the others ${seconds(path.left_out_s)}` : "Which ranks it goes through",
        rows: path.ranks,
        first: 15,
        columns: [
            { title: "rank", cell: (row) => String(row.rank), by: (row) => row.rank, right: true },
            { title: "time", time: (row) => row.time_s, bar: () => CATEGORIES[0] },
            { title: "share", cell: (row) => percent(row.share), by: (row) => row.time_s, right: true },
        ],
    });
}
