// The first screen: what was lost, where, and what to do about it. Its numbers lead to the other panels.
import { el, panelLink } from "../dom";
import { SERIES, stateColour } from "../palette";
import type { Data, Panel } from "../panel";
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
        host.append(efficiencyTree(report.efficiency), lossList(report), whatIf(report), dataLine(report));
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
        row("parallel efficiency", 0, of.parallel, "mean / elapsed", [mean, elapsed], "the share that computes", "views"),
        row("load balance", 1, of.load_balance, "mean / longest", [mean, longest], "lost: ranks that compute longer", "iterations"),
        row("communication efficiency", 1, of.communication, "longest / elapsed", [longest, elapsed], "lost: MPI on the longest rank", "waiting"),
        row("micro load balance", 2, of.micro_load_balance, "longest / ideal", [longest, ideal], "lost: another rank slow each time", "iterations"),
        row("transfer", 2, of.transfer, "ideal / elapsed", [ideal, elapsed], "lost: messages, calls themselves", "timeline"),
    ];
}

function efficiencyTree(of: Efficiency): HTMLElement {
    const body = el("tbody");
    for (const branch of branches(of)) {
        const name = el("td", { class: `depth${branch.depth}` }, term(branch.name));
        const [above, below] = branch.from;
        // A line may end between the formula and its times alone.
        const formula = [el("span", {}, branch.formula), " ", el("span", {}, `= ${secondsLike(above, below ?? 1)} / ${seconds(below)}`)];
        body.append(
            el(
                "tr",
                { "data-efficiency": branch.name },
                name,
                el("td", {}, bar(branch.value ?? 0, percent(branch.value), stateColour("computation"))),
                el("td", { class: "formula" }, ...formula),
                el("td", {}, panelLink(branch.panel, branch.means)),
            ),
        );
    }
    const caption = el("caption", {}, "Efficiency: parallel = load balance × micro load balance × transfer");
    return el("div", { class: "table" }, el("table", { class: "tree" }, caption, body));
}

/** The three largest losses, in the words of the text report. */
function lossList({ losses }: Report): HTMLElement {
    if (losses.length === 0) {
        return el("p", {}, "No single loss costs 1 % of the elapsed time.");
    }
    const most = losses[0].lost_s;
    const list = el("ol", { class: "losses", "aria-label": "Largest losses" });
    for (const loss of losses.slice(0, 3)) {
        const panel = loss.measured ? panelLink("waiting", "Causes of waiting") : panelLink("views", "Stages and ranks");
        list.append(el("li", {}, bar(loss.lost_s / most, "", stateColour("waiting")), el("span", {}, `${keepUnits(loss.text)} → `, panel)));
    }
    return el("div", {}, el("h3", {}, "Largest losses, of the mean rank's time, by what causes them"), list);
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

