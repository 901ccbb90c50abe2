// The first screen: what was lost, where, and what to do about it. Its numbers lead to the other panels.
import { el, panelLink } from "../dom";
import { SERIES, stateColour } from "../palette";
import type { Data, Panel } from "../panel";
import { losses, type Loss } from "../losses";
import type { Efficiency, Report } from "../report";
import { bar, table } from "../table";
import { term } from "../tip";
import { count, keepUnits, percent, plural, seconds, secondsLike } from "../words";
import { question } from "./whatif";
import { problemList } from "./facts";

export const summary: Panel = {
    id: "summary",
    title: "Summary",
    about: "What this run lost, where, and what would help.",
    build(host, { report }: Data) {
        host.append(el("p", { class: "verdict", id: "verdict" }, keepUnits(report.verdict.text)));
        if (report.run.problems.length > 0) {
            host.append(problemList(report.run.problems));
        }
        host.append(efficiencyTree(report.efficiency), lossTable(report), whatIf(report), dataLine(report));
    },
};

interface Branch {
    name: string;
    depth: number;
    value: number | null;
    formula: string;
    from: [number | null, number | null];
    means: string;
    panel: string;
}

function branches(of: Efficiency): Branch[] {
    const { avg_computation_s: mean, max_computation_s: longest, elapsed_s: elapsed, t_ideal_s: ideal } = of;
    const row = (name: string, depth: number, value: number | null, formula: string, from: [number | null, number | null], means: string, panel: string) => ({ name, depth, value, formula, from, means, panel });
    return [
        row("parallel efficiency", 0, of.parallel, "mean / elapsed", [mean, elapsed], "share of the machine's time that computes", "views"),
        row("load balance", 1, of.load_balance, "mean / longest", [mean, longest], "do all ranks compute equally long?", "iterations"),
        row("communication efficiency", 1, of.communication, "longest / elapsed", [longest, elapsed], "does the slowest rank never wait?", "waiting"),
        row("micro load balance", 2, of.micro_load_balance, "longest / ideal", [longest, ideal], "is it always the same rank that is slowest?", "iterations"),
        row("transfer", 2, of.transfer, "ideal / elapsed", [ideal, elapsed], "does the network cost nothing?", "timeline"),
    ];
}

function efficiencyTree(of: Efficiency): HTMLElement {
    const body = el("tbody");
    for (const branch of branches(of)) {
        const name = el("td", { class: `depth${branch.depth}` }, term(branch.name));
        const [above, below] = branch.from;
        const times = `${branch.formula} = ${secondsLike(above, below ?? 1)} / ${seconds(below)}`;
        body.append(
            el(
                "tr",
                { "data-efficiency": branch.name },
                name,
                el("td", {}, bar(branch.value ?? 0, percent(branch.value), stateColour("computation"))),
                el("td", { class: "formula" }, times),
                el("td", {}, panelLink(branch.panel, branch.means)),
            ),
        );
    }
    const caption = el("caption", {}, "Efficiency: parallel = load balance × micro load balance × transfer");
    return el("table", { class: "tree" }, caption, body);
}

function lossTable(report: Report): HTMLElement {
    const rows = losses(report);
    const elapsed = report.efficiency.elapsed_s;
    if (rows.length === 0) {
        return el("p", {}, "Nothing that stands out is lost.");
    }
    const most = Math.max(...rows.map((row) => row.seconds));
    return table<Loss>({
        caption: "Largest losses, of the mean rank's time",
        rows,
        columns: [
            { title: "lost", term: "lost", cell: (row) => bar(row.seconds / most, `${secondsLike(row.seconds, most)} (${percent(row.seconds / elapsed)})`, stateColour("waiting")), by: (row) => row.seconds },
            { title: "what", cell: (row) => panelLink(row.panel, row.what) },
            { title: "where", cell: (row) => row.where },
            { title: "who", cell: (row) => row.who },
            { title: "gain if mended", term: "what if", cell: (row) => (row.gain_s === null ? "–" : `about ${secondsLike(row.gain_s, most)} (${percent(row.gain_s / elapsed)})`), by: (row) => row.gain_s, right: true },
        ],
    });
}

function whatIf(report: Report): HTMLElement {
    const asked = report.replays.filter((replay) => replay.what !== "as measured");
    if (asked.length === 0) {
        return el("div");
    }
    const measured = report.replays.find((replay) => replay.what === "as measured");
    const elapsed = measured?.time_s ?? report.run.elapsed_s;
    return table({
        caption: "What the run would take if …",
        rows: asked,
        first: 6,
        columns: [
            { title: "if", term: "what if", cell: (row) => panelLink("whatif", question(row)) },
            { title: "run", cell: (row) => bar(row.time_s / elapsed, secondsLike(row.time_s, elapsed), SERIES[1]), by: (row) => row.time_s },
            { title: "saved", cell: (row) => `${secondsLike(row.saved_s, elapsed)} (${percent(row.saved_s / elapsed)})`, by: (row) => row.saved_s, right: true },
        ],
    });
}

function dataLine({ run }: Report): HTMLElement {
    const ranks = run.ranks_present === run.ranks ? `all ${plural(run.ranks, "rank")}` : `${run.ranks_present} of ${plural(run.ranks, "rank")}`;
    const share = run.recorder_s / Math.max(run.ranks_present * run.elapsed_s, 1e-12);
    const clock = run.clock_error_s === null ? "clocks of hosts were not compared" : `clocks agree to ${seconds(run.clock_error_s)}`;
    return el(
        "p",
        { class: "data" },
        panelLink("facts", "Data"),
        `: ${ranks}, ${count(run.events)} records, ${count(run.dropped_events)} dropped; the recorder took ${seconds(run.recorder_s)} (${percent(share)}); ${clock}; ${seconds(run.elapsed_s)} elapsed.`,
    );
}

