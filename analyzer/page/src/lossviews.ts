// The views that show a loss: for each kind a panel, with the rank, the region and the iterations that have most of it.
import type { IterationRange, Target } from "./address";
import { rankPanel } from "./mentions";
import type { Data } from "./panel";
import type { LossInWords, LossKind } from "./report.generated";
import { cellInTimeline, columnName, lastIn, rowOf, type Iterations } from "./views";

export interface LossView {
    text: string;
    target: Target;
}

/** The words for what is lost by. */
export const LOSS_NAMES: Record<LossKind, string> = {
    "imbalance": "load imbalance",
    "slow in turn": "ranks slow in turn",
    "slow in parts": "ranks slow in different parts",
    "dependency chains": "dependency chains",
    "serialization": "serialization",
    "control of parallelism": "control of parallelism",
    "communication": "communication",
    "file access": "file access",
    "called by MPI": "the program's code within MPI",
    "recorder": "recorder",
};

/** The views of a loss, the one that shows it best first. */
export function lossViews(data: Data, kind: LossKind, loss?: LossInWords): LossView[] {
    const { report } = data;
    const rank = loss?.ranks[0]?.rank ?? (kind === "imbalance" ? report.verdict.worst?.rank : undefined) ?? null;
    const region = loss?.region ?? (kind === "imbalance" ? report.verdict.worst?.region : undefined) ?? null;
    const views = {
        "imbalance": [rankView(data, rank, region), functionView(data, rank, region), causeView(data, rank, region)],
        "control of parallelism": [rankView(data, rank, region), causeView(data, rank, region)],
        "slow in turn": [worstIteration(data, rank), iterationMap(data, rank, region), causeView(data, rank, region)],
        "slow in parts": [functionView(data, rank, region), worstIteration(data, rank), causeView(data, rank, region)],
        "dependency chains": [worstIteration(data, rank), causeView(data, rank, region)],
        "serialization": [worstIteration(data, rank), iterationMap(data, rank, region), causeView(data, rank, region)],
        "communication": [siteView(data, loss), pairView(data)],
        "file access": [siteView(data, loss), rankView(data, rank, region)],
        "called by MPI": [siteView(data, loss), rankView(data, rank, region)],
        "recorder": [{ text: "the recorder's time by rank", target: { panel: "facts" } }],
    }[kind];
    return views.filter((view) => view !== null);
}

function rankView({ report, views }: Data, rank: number | null, region: string | null): LossView | null {
    if (rank === null || rowOf({ report, views }, rank) < 0) {
        return null;
    }
    const panel = rankPanel(report);
    return { text: panel === "iterations" ? `rank ${rank} in each iteration` : `rank ${rank} among all ranks`, target: { panel, rank, region } };
}

function functionView({ report }: Data, rank: number | null, region: string | null): LossView | null {
    return (report.functions?.tree[0]?.mean_s ?? 0) > 0 ? { text: "in which functions", target: { panel: "functions", rank, region } } : null;
}

function causeView({ report }: Data, rank: number | null, region: string | null): LossView | null {
    return report.blocking ? { text: rank === null ? "who waits" : `who waits for rank ${rank}`, target: { panel: "waiting", rank, region } } : null;
}

function iterationMap({ report }: Data, rank: number | null, region: string | null): LossView | null {
    return report.iterations.count > 0 ? { text: "iterations × ranks", target: { panel: "iterations", rank, region } } : null;
}

function pairView({ report }: Data): LossView | null {
    return report.communication ? { text: "who sends to whom", target: { panel: "communication" } } : null;
}

function siteView({ report }: Data, loss?: LossInWords): LossView | null {
    const at = loss?.waits_at ?? report.verdict.waits_at;
    if (!at || report.callsites.length === 0) {
        return null;
    }
    const operation = "operation" in at ? at.operation : at.operations[0];
    return { text: `MPI_${operation} among all calls`, target: { panel: "callsites", find: at.function?.replace(/\(.*$/s, "") || operation } };
}

/** The iteration in which the longest computation exceeds the mean most, in the timeline. */
function worstIteration(data: Data, rank: number | null): LossView | null {
    const of = data.views.iterations;
    const column = of ? columnOfMostImbalance(of) : -1;
    if (!of || column < 0) {
        return null;
    }
    const iterations: IterationRange = { first: of.first[column], last: lastIn(of, column) };
    const cell = cellInTimeline(data, of, column, 0);
    const target: Target = cell ? { ...cell, rank } : { panel: "iterations", rank, iterations };
    return { text: `${columnName(of, column)}, with most imbalance`, target };
}

function columnOfMostImbalance(of: Iterations): number {
    let [best, most] = [-1, 0];
    for (let column = 0; column < of.columns; column++) {
        const lost = of.max.at(column) - of.mean.at(column);
        if (lost > most) {
            [best, most] = [column, lost];
        }
    }
    return best;
}
