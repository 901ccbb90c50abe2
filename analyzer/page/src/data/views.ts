// The second data element of the page: matrices by rank, iteration, region and time, unpacked.
import type { PackedNumbers } from "./packed";
import type { TimeWindow, Target } from "../frame/address";
import type { Data } from "../frame/panel";
import type { IterationsData as Iterations, Views } from "../generated/views.generated";

export type { IterationsData as Iterations, MessagesData as Messages, PairData as Pairs, TimelineData as Timeline, Views } from "../generated/views.generated";

/** The name of a shown amount: computation, any activity, waiting. */
export function attributes(of: Iterations): [string, PackedNumbers][] {
    const list: [string, PackedNumbers][] = [["computation", of.computation], ...Object.entries(of.activities)];
    return of.blocking ? [...list, ["waiting", of.blocking]] : list;
}

/** Iterations that column `column` stands for: the last may hold fewer, and so may the first one of blocks. */
export function iterationsIn(iterations: Iterations, column: number): number {
    const { count, first, per_column } = iterations;
    if (column + 1 < first.length) {
        return Math.min(per_column, first[column + 1] - first[column]);
    }
    const before = first.slice(0, column).reduce((sum, _, earlier) => sum + iterationsIn(iterations, earlier), 0);
    return Math.min(per_column, count - before);
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

/** The column that holds an iteration, −1 where none does. */
export function columnOf(iterations: Iterations, number: number): number {
    const column = iterations.first.findLastIndex((first) => first <= number);
    return column >= 0 && number <= lastIn(iterations, column) ? column : -1;
}

/** When the columns from `from` to `to`, without this one, begin and end; null where that is all of the loop, or not known. */
export function timesOf({ report }: Data, of: Iterations, from: number, to: number): TimeWindow | null {
    const begin = (column: number) => (column < of.columns ? of.begin_s.at(column) : report.run.elapsed_s);
    const window = { from: begin(from), to: begin(to) };
    return (from <= 0 && to >= of.columns) || !(window.from < window.to) ? null : window;
}

/** The place in the timeline of a cell of iterations × ranks; null where there is no timeline. */
export function cellInTimeline(data: Data, of: Iterations, column: number, row: number): Target | null {
    if (!data.views.timeline) {
        return null;
    }
    const outlier = of.outliers?.ranks.find((rank) => rowOf(data, rank) === row);
    return { panel: "timeline", window: timesOf(data, of, column, column + 1), rank: outlier ?? data.views.ranks.first[row], iterations: { first: of.first[column], last: lastIn(of, column) } };
}

/** Returns whether the numbers of iterations are successive, as far as columns show. */
export function isGapless({ first, per_column }: Iterations): boolean {
    return first.every((number, column) => number === first[0] + column * per_column);
}

/** The number of ranks in row `row` of all matrices. */
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

/** The numbers of all ranks, in their order. */
export function rankNumbers({ ranks }: Views): number[] {
    return ranks.numbers.flatMap(([first, step, count]) => Array.from({ length: count }, (_, at) => first + at * step));
}

/** The number of the rank at a place in the order of the ranks. */
export function rankAt({ ranks }: Views, place: number): number {
    let before = 0;
    for (const [first, step, count] of ranks.numbers) {
        if (place < before + count) {
            return first + (place - before) * step;
        }
        before += count;
    }
    return NaN;
}

/** The place of `rank` in their order, −1 where there is none: of a rank that was not selected. */
export function placeOf({ ranks }: Views, rank: number): number {
    let before = 0;
    for (const [first, step, count] of ranks.numbers) {
        const at = (rank - first) / step;
        if (at >= 0 && at < count && at % 1 === 0) {
            return before + at;
        }
        before += count;
    }
    return -1;
}

/** The row that holds `rank`, −1 where none does. */
export function rowOf(data: Data, rank: number): number {
    const place = placeOf(data.views, rank);
    return place < 0 ? -1 : Math.floor(place / data.views.ranks.per_row);
}

/** `rank 3`, or `ranks 8 to 11`: those of a block of successive ranks. */
export function blockName(views: Views, block: number, perBlock: number): string {
    const first = rankAt(views, block * perBlock);
    const last = rankAt(views, Math.min((block + 1) * perBlock, views.ranks.count) - 1);
    return first === last ? `rank ${first}` : `ranks ${first} to ${last}`;
}

/** The short name of a row: `rank 3`, or `8–11`. */
export function blockLabel(views: Views, block: number, perBlock: number): string {
    return blockName(views, block, perBlock).replace("ranks ", "").replace(" to ", "–");
}
