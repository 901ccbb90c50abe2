// The run's facts, its warnings, and its ranks.
import { el } from "../../frame/dom";
import { isPointedOut } from "../../frame/address";
import { lifetimeBar, lifetimeTable } from "../../lifetime";
import { stateColour } from "../../pictures/palette";
import type { Panel } from "../../frame/panel";
import type { LoopRow, ProblemRow, RankRow, Report, RunRow } from "../../generated/report.generated";
import { csvButton } from "../../frame/save";
import { table } from "../../frame/table";
import { term } from "../../frame/tip";
import { count, namedRanks, percent, plural, seconds, signedPercent } from "../../wording/words";

const WORD: Record<string, string> = { note: "note", partial: "incomplete", doubtful: "doubtful" };

/** Missing or doubtful data, the worst first. */
export function problemList(problems: ProblemRow[]): HTMLElement {
    const list = el("ul", { class: "problems" });
    for (const problem of problems) {
        const who = problem.rank_count === 0 ? "" : problem.rank_count <= 8 ? ` (rank ${problem.ranks.join(", ")})` : ` (${plural(problem.rank_count, "rank")})`;
        const details = problem.details.length > 0 ? ` ${problem.details.slice(0, 3).join("; ")}.` : "";
        const advice = problem.advice ? el("span", { class: "advice" }, ` → ${problem.advice}`) : null;
        list.append(el("li", { class: problem.severity }, el("b", {}, WORD[problem.severity]), `${who}: ${problem.meaning}${details}`, advice));
    }
    return list;
}

/** The selection in words, or null if it is the whole run. */
export function selected({ selection: of, run }: Report): string | null {
    if (!of) {
        return null;
    }
    const moment = (word: string, time: number | null, iteration: number | null) => (iteration !== null ? `${word} iteration ${iteration}` : time !== null ? `${word} ${seconds(time)}` : null);
    const parts = [
        of.ranks && `${namedRanks(of.ranks, of.rank_count ?? 0)} (${count(of.rank_count ?? 0)} of ${plural(run.ranks, "rank")})`,
        moment("from", of.from_s, of.from_iteration),
        moment("to", of.to_s, of.to_iteration),
        of.region && `region ${of.region}`,
    ];
    return parts.filter(Boolean).join(", ");
}

export const facts: Panel = {
    id: "facts",
    title: "Facts, ranks",
    about: "What was recorded, how far to trust it, and each rank's time.",
    build(host, { report, views }) {
        host.append(factTable(report.run, report));
        if (report.run.problems.length > 0) {
            host.append(el("h3", {}, "Notes and warnings"), problemList(report.run.problems));
        }
        if (views.left_out.length > 0) {
            host.append(el("h3", {}, "Reduced in this page"), el("ul", {}, ...views.left_out.map((line) => el("li", {}, line))));
        }
        host.append(lifetimeBar(report) ?? "", rankTable(report), lifetimeTable(report) ?? "");
        if (report.clusters.length > 1) {
            host.append(clusterTable(report));
        }
        if (report.loops.length > 0) {
            host.append(loopTable(report));
        }
        if (report.counters.length > 0) {
            host.append(counterTable(report));
        }
    },
};

function factTable(run: RunRow, report: Report): HTMLElement {
    const started = new Date(run.started_unix_s * 1000).toISOString().replace("T", " ").slice(0, 16);
    const rows: [string | Node, string][] = [
        ["command", run.command.join(" ")],
        ["ranks", run.ranks_present === run.ranks ? count(run.ranks) : `${count(run.ranks_present)} of ${count(run.ranks)}`],
        ["hosts", count(run.hosts)],
        [term("elapsed"), seconds(run.elapsed_s)],
        ["MPI", `${run.mpi} (${run.abi})`],
        ["started", `${started} UTC`],
        ["records", `${count(run.events)}, of ${count(run.calls)} MPI calls and what else happened; ${count(run.dropped_events)} dropped`],
        [term("recorder", "recorder's own time"), seconds(run.recorder_s)],
        [term("idle"), seconds(run.idle_s)],
        [term("not recorded"), seconds(run.without_records_s)],
        [term("clock error"), run.hosts === 1 ? "none: one clock" : run.clock_error_s === null ? "clocks of hosts were not compared" : seconds(run.clock_error_s)],
        ["data", run.complete ? "complete" : "incomplete"],
        ["settings", run.settings.join("  ") || "–"],
        ["parameters", Object.entries(run.params).map(([name, value]) => `${name} = ${value}`).join(", ") || "–"],
        ["recorded by", `lbprof ${run.recorder}; reported by ${report.generator}`],
        ["run", run.id],
    ];
    const { load_balance_within_hosts: within, load_balance_between_hosts: between } = report.efficiency;
    if (within !== null && between !== null) {
        rows.splice(3, 0, [term("load balance"), `${percent(within)} within hosts × ${percent(between)} between them`]);
    }
    if (report.selection) {
        rows.unshift(["selected", selected(report) ?? "–"]);
    }
    const body = el("tbody", {}, ...rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value))));
    const csv = csvButton("the run", () => rows.map(([name, value]) => [typeof name === "string" ? name : name.textContent, value]));
    return el("div", { class: "table" }, el("table", { class: "facts" }, el("caption", {}, "The run"), body), el("div", { class: "below-table" }, csv));
}

function rankTable(report: Report): HTMLElement {
    const listed = report.ranks.length;
    const element = table<RankRow>({
        caption: listed < report.run.ranks_present ? `Ranks: ${count(listed)} of ${count(report.run.ranks_present)}, those with the largest and smallest figures` : "Ranks",
        rows: report.ranks,
        key: (row) => String(row.rank),
        isSelected: (row, selection) => isPointedOut(selection, { rank: row.rank }),
        columns: [
            { title: "rank", cell: (row) => String(row.rank), by: (row) => row.rank, right: true },
            { title: "host", cell: (row) => row.host },
            { title: "cluster", term: "cluster", cell: (row) => (row.cluster === null ? "–" : String(row.cluster)), by: (row) => row.cluster, right: true },
            { title: "computation", term: "computation", time: (row) => row.computation_s, bar: () => stateColour("computation") },
            { title: "over mean", cell: (row) => signedPercent(row.over_mean), by: (row) => row.over_mean, right: true },
            { title: "in MPI", time: (row) => row.mpi_s },
            { title: "waits", term: "waiting", time: (row) => row.blocked_s },
            { title: "causes waiting", term: "cause", time: (row) => row.blocking_caused_s },
        ],
    });
    if (listed < report.run.ranks_present) {
        element.append(el("p", { class: "hint" }, "All ranks one by one: lb-report --full --json, --csv, or lb-report export parquet."));
    }
    return element;
}

function clusterTable(report: Report): HTMLElement {
    return table({
        caption: "Clusters: efficiencies as if there were no other ranks",
        rows: report.clusters,
        columns: [
            { title: "cluster", term: "cluster", cell: (row) => String(row.id), by: (row) => row.id, right: true },
            { title: "ranks", cell: (row) => count(row.rank_count), by: (row) => row.rank_count, right: true },
            { title: "parallel efficiency", term: "parallel efficiency", cell: (row) => percent(row.efficiency.parallel), by: (row) => row.efficiency.parallel, right: true },
            { title: "load balance", term: "load balance", cell: (row) => percent(row.efficiency.load_balance), by: (row) => row.efficiency.load_balance, right: true },
            { title: "longest computation", term: "computation", time: (row) => row.efficiency.max_computation_s },
            { title: "elapsed", term: "elapsed", time: (row) => row.efficiency.elapsed_s },
        ],
    });
}

function loopTable(report: Report): HTMLElement {
    const place = (loop: LoopRow) => (loop.ends_at ? loop.ends_at.operation + (loop.ends_at.function ? ` at ${loop.ends_at.function}` : "") + (loop.ends_at.file ? ` (${loop.ends_at.file}:${loop.ends_at.line})` : "") : "–");
    return table<LoopRow>({
        caption: "Loops found in the calls",
        rows: report.loops,
        first: 8,
        columns: [
            { title: "loop", term: "iteration", cell: (row) => row.name },
            { title: "an iteration ends with", cell: place },
            { title: "iterations", cell: (row) => count(row.iterations_max), by: (row) => row.iterations_max, right: true },
            { title: "covers", cell: (row) => percent(row.covered), by: (row) => row.covered, right: true },
            { title: "sure", cell: (row) => row.confidence ?? "–" },
        ],
    });
}

function counterTable(report: Report): HTMLElement {
    const number = (value: number) => (Number.isInteger(value) ? count(value) : value.toPrecision(4));
    return table({
        caption: "The program's own counters",
        rows: report.counters,
        columns: [
            { title: "counter", cell: (row) => row.name },
            { title: "region", term: "region", cell: (row) => row.region },
            { title: "values", cell: (row) => count(row.n), by: (row) => row.n, right: true },
            { title: "mean", cell: (row) => number(row.mean), by: (row) => row.mean, right: true },
            { title: "min", cell: (row) => number(row.min), by: (row) => row.min, right: true },
            { title: "max", cell: (row) => number(row.max), by: (row) => row.max, right: true },
        ],
    });
}
