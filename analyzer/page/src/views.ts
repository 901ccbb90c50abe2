// The second data element of the page: matrices by rank, iteration, region and time, unpacked.
import type { Packed } from "./packed";
import type { Data } from "./panel";
import type { IterationsData as Iterations, Views } from "./views.generated";

export type { IterationsData as Iterations, MessagesData as Messages, TimelineData as Timeline, Views } from "./views.generated";

/** What is shown, by its name: computation, any activity, waiting. */
export function attributes(of: Iterations): [string, Packed][] {
    const list: [string, Packed][] = [["computation", of.computation], ...Object.entries(of.activities)];
    return of.blocking ? [...list, ["waiting", of.blocking]] : list;
}

/** Iterations that column `column` stands for: the last may hold fewer. */
export function iterationsIn(iterations: Iterations, column: number): number {
    return Math.min(iterations.per_column, iterations.count - column * iterations.per_column);
}

/** Number of the last iteration of a column: of several with gaps between their numbers, the last that it may be. */
export function lastIn(iterations: Iterations, column: number): number {
    const first = iterations.first[column];
    const n = iterationsIn(iterations, column);
    return n === 1 ? first : (iterations.first[column + 1] ?? first + n) - 1;
}

/** `iteration 7`, or `iterations 10 to 14` where a column holds several. */
export function columnName(iterations: Iterations, column: number): string {
    const [first, last] = [iterations.first[column], lastIn(iterations, column)];
    return first === last ? `iteration ${first}` : `iterations ${first} to ${last}`;
}

/** Whether the numbers of iterations follow one another without gaps, as far as columns show. */
export function isGapless({ first, per_column }: Iterations): boolean {
    return first.every((number, column) => number === first[0] + column * per_column);
}

/** How many ranks row `row` of all matrices stands for. */
export function ranksIn({ ranks }: Views, row: number): number {
    return Math.min(ranks.per_row, ranks.count - row * ranks.per_row);
}

/** `rank 3`, or `ranks 8 to 11`. */
export function rowName(views: Views, row: number): string {
    const first = views.ranks.first[row];
    const next = views.ranks.first[row + 1] ?? first + ranksIn(views, row);
    return views.ranks.per_row === 1 ? `rank ${first}` : `ranks ${first} to ${next - 1}`;
}

/** The name of a row where there is little room: `rank 3`, or `8–11`. */
export function rowLabel(views: Views, row: number): string {
    return views.ranks.per_row === 1 ? rowName(views, row) : rowName(views, row).replace("ranks ", "").replace(" to ", "–");
}

/** By rank its row, of each page's data once. */
const rowsByRank = new WeakMap<Data, Map<number, number>>();

/** The row that holds `rank`, −1 where none does: of a rank that was not selected. */
export function rowOf(data: Data, rank: number): number {
    let rows = rowsByRank.get(data);
    if (!rows) {
        const { per_row } = data.views.ranks;
        rows = new Map(data.report.ranks.map((one, place) => [one.rank, Math.floor(place / per_row)]));
        rowsByRank.set(data, rows);
    }
    return rows.get(rank) ?? -1;
}
