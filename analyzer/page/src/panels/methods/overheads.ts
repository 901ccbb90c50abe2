// The overheads of phases, relative to the same work on one rank.
import { Chart } from "../../pictures/chart";
import { choice, el, field } from "../../frame/dom";
import { NO_CALLS } from "../../wording/emptyreasons";
import { CATEGORIES, stateColour } from "../../pictures/palette";
import type { Data, Panel } from "../../frame/panel";
import type { OverheadPhase, Report } from "../../generated/report.generated";
import { bar, table } from "../../frame/table";
import { term } from "../../frame/tip";
import { placeOf, rankAt } from "../../data/views";
import { percent, plural, ratio, roundTicks, seconds } from "../../wording/words";

export const overheads: Panel = {
    id: "overheads",
    title: "Overheads",
    about: "What each phase of the run costs against the same work on one rank.",
    missing: ({ report }) => (report.overheads.phases.length > 0 ? null : NO_CALLS),
    build(host, data) {
        const { report } = data;
        const { overheads: of } = report;
        host.append(
            el(
                "p",
                {},
                term("time on one rank"),
                ` ${seconds(of.t_seq_s)} (assumed), `,
                term("speedup"),
                ` ${ratio(of.speedup, 2)} on ${plural(report.run.ranks_present, "rank")}, efficiency ${percent(of.efficiency)}.`,
            ),
            phases(report),
            imbalance(report),
        );
        return byRank(host, data);
    },
};

function phaseColour(phase: string): string {
    return phase === "useful work" ? stateColour("computation") : stateColour(phase);
}

function phases(report: Report): HTMLElement {
    const rows = report.overheads.phases;
    const most = Math.max(...rows.map((row) => row.ratio ?? 0), 1e-12);
    return table<OverheadPhase>({
        caption: "Phases; all of them fill the elapsed time of every rank",
        rows,
        columns: [
            { title: "phase", cell: (row) => term(row.phase) },
            { title: "overhead ratio", term: "overhead ratio", cell: (row) => bar((row.ratio ?? 0) / most, percent(row.ratio), phaseColour(row.phase)), by: (row) => row.ratio },
            { title: "mean of a rank", time: (row) => row.mean_s },
            { title: "largest ratio", cell: (row) => percent(row.ratio_max), by: (row) => row.ratio_max, right: true },
        ],
    });
}

const WORDS: Record<string, string> = { amdahl: "Amdahl", chains: "dependency chains", unsplit: "not separated" };

function imbalance(report: Report): HTMLElement {
    const of = report.overheads.imbalance;
    const names = of.unsplit === null ? (["amdahl", "global", "temporal", "chains"] as const) : (["amdahl", "global", "unsplit"] as const);
    const parts = names.map((name) => ({ name: WORDS[name] ?? name, time: of[name]?.mean_s ?? null, ratio: of[name]?.ratio ?? null }));
    return table({
        caption: "Of that from imbalance: what ranks wait for others that compute",
        rows: parts,
        columns: [
            { title: "part", cell: (row) => term(row.name) },
            { title: "mean of a rank", time: (row) => row.time, bar: () => stateColour("waiting") },
            { title: "ratio", term: "overhead ratio", cell: (row) => percent(row.ratio), by: (row) => row.ratio, right: true },
        ],
    });
}

function byRank(host: HTMLElement, { report, views }: Data): (() => void) | void {
    const rows = report.overheads.phases.filter((phase) => phase.ratio_by_rank);
    if (rows.length === 0 || views.ranks.count < 2) {
        return undefined;
    }
    const spec = (phase: OverheadPhase) => ({
        label: `Overhead ratio of ${phase.phase} by rank`,
        x: (phase.ratio_by_rank ?? []).map((_, at) => rankAt(views, at * phase.ranks_per_ratio)),
        series: [{ name: phase.phase, values: phase.ratio_by_rank as number[], colour: phase.phase === "useful work" ? CATEGORIES[1] : phaseColour(phase.phase), bars: true }],
        height: 220,
        text: percent,
        xText: (rank: number) => (phase.ranks_per_ratio > 1 ? `largest of ranks ${rank} to ${rankAt(views, Math.min(placeOf(views, rank) + phase.ranks_per_ratio, views.ranks.count) - 1)}` : `rank ${rank}`),
        ticks: (from: number, to: number, wanted: number) =>
            roundTicks(from, to, wanted)
                .filter((rank) => rank % 1 === 0)
                .map((rank) => ({ at: rank, text: String(rank) })),
    });
    const chart = new Chart(spec(rows[0]));
    const select = choice(rows.map((row, at) => [String(at), row.phase]), "0", (value) => chart.show(spec(rows[Number(value)])));
    host.append(el("h3", {}, "By rank"), el("div", { class: "controls" }, field("phase", select)), chart.element);
    return () => chart.draw();
}
