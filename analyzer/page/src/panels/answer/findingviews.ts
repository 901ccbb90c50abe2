// The views that show a finding: panels with the rank, the region, the calls or the iterations that have most of it.
import type { IterationRange, Target } from "../../frame/address";
import { rankPanel } from "../../wording/mentions";
import type { Data } from "../../frame/panel";
import type { FindingPlace, FindingRow } from "../../generated/report.generated";
import { cellInTimeline, columnName, lastIn, rowOf, type Iterations } from "../../data/views";

export interface FindingView {
    text: string;
    target: Target;
}

/** The parts of what is lost. */
export function lostTo({ findings }: { findings: FindingRow[] }): FindingRow[] {
    return findings.filter(({ seconds }) => seconds > 0);
}

/** The views of a finding, the one that shows it best first: of a call, of ranks, or of iterations where no rank stands out. */
export function findingViews(data: Data, { ranks, place }: FindingRow): FindingView[] {
    const [rank, region] = [ranks[0] ?? null, place?.region ?? null];
    const inCall = place !== null && place.operation !== null;
    const inWork = !inCall && (place !== null || rank !== null);
    const found = [
        ...(inCall ? [siteView(data, place), pairView(data)] : []),
        ...(inWork && ranks.length !== 1 ? [worstIteration(data, rank), iterationMap(data, rank, region)] : []),
        rankView(data, rank, region),
        ...(inWork ? [functionView(data, rank, region), causeView(data, rank, region)] : []),
    ];
    const views = found.filter((view) => view !== null);
    return views.length > 0 ? views : [{ text: "times by rank", target: { panel: "facts" } }];
}

function rankView({ report, views }: Data, rank: number | null, region: string | null): FindingView | null {
    if (rank === null || rowOf({ report, views }, rank) < 0) {
        return null;
    }
    const panel = rankPanel(report);
    return { text: panel === "iterations" ? `rank ${rank} in each iteration` : `rank ${rank} among all ranks`, target: { panel, rank, region } };
}

function functionView({ report }: Data, rank: number | null, region: string | null): FindingView | null {
    return (report.functions?.program.cpu_s ?? 0) > 0 ? { text: "in which functions", target: { panel: "code", rank, region } } : null;
}

function causeView({ report }: Data, rank: number | null, region: string | null): FindingView | null {
    return report.blocking ? { text: rank === null ? "who waits" : `who waits for rank ${rank}`, target: { panel: "waiting", rank, region } } : null;
}

function iterationMap({ report }: Data, rank: number | null, region: string | null): FindingView | null {
    return report.iterations.count > 0 ? { text: "iterations × ranks", target: { panel: "iterations", rank, region } } : null;
}

function pairView({ report }: Data): FindingView | null {
    return report.communication ? { text: "who sends to whom", target: { panel: "communication" } } : null;
}

function siteView({ report }: Data, { operation, function: name }: FindingPlace): FindingView | null {
    if (operation === null || report.callsites.length === 0) {
        return null;
    }
    return { text: `MPI_${operation} among all calls`, target: { panel: "callsites", find: name?.replace(/\(.*$/s, "") || operation } };
}

/** The iteration in which the longest computation exceeds the mean most, in the timeline. */
function worstIteration(data: Data, rank: number | null): FindingView | null {
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
