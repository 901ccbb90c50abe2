// The second data element of the page: matrices by rank, iteration, region and time, unpacked.
import type { Packed } from "./packed";
import type { Data } from "./panel";

export interface Iterations {
    region: string;
    count: number;
    columns: number;
    per_column: number;
    /** Number of the first iteration of each column. */
    first: number[];
    /** Rows × columns: how often a rank of the row went through an iteration of the column. */
    passes: Packed;
    /** Rows × columns: seconds of an iteration, the mean of those passes. */
    computation: Packed;
    blocking: Packed | null;
    activities: Record<string, Packed>;
    /** Of an iteration, by column: mean over ranks from begin to end; longest and mean computation. */
    elapsed: Packed;
    max: Packed;
    mean: Packed;
    /** Of all iterations up to and with the column. */
    micro_load_balance: Packed;
}

export interface RegionRows {
    path: string;
    seconds: Record<string, Packed>;
    calls: Packed;
}

export interface Waits {
    rank: Packed;
    begin_s: Packed;
    end_s: Packed;
    state: Packed;
    states: string[];
    region: Packed;
    site: Packed;
    /** Number of the rank that ended the wait. */
    delay_source: Packed;
}

export interface Messages {
    from: Packed;
    to: Packed;
    sent_s: Packed;
    received_s: Packed;
    bytes: Packed;
    tag: Packed;
}

export interface Spans {
    rank: Packed;
    begin_s: Packed;
    end_s: Packed;
    state: Packed;
    region: Packed;
    site: Packed;
}

export interface Timeline {
    begin_s: number;
    end_s: number;
    bins: number;
    states: string[];
    /** Rows × bins: share of the bin's time in each state; they add up to less than 1 where the rank was not recorded. */
    share: Record<string, Packed>;
    /** Names that waits and spans refer to by number. */
    regions: string[];
    sites: string[];
    waits: Waits;
    messages: Messages;
    spans: Spans | null;
}

export interface Views {
    version: number;
    /** `per_row` ranks stand in a row of all matrices (means); `first` has the number of the first of each. */
    ranks: { count: number; rows: number; per_row: number; first: number[] };
    hosts: string[];
    host_of_row: number[];
    cluster_of_row: (number | null)[] | null;
    activities: string[];
    iterations: Iterations | null;
    regions: RegionRows[];
    timeline: Timeline | null;
    left_out: string[];
}

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
