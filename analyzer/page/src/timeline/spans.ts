// Spans of time by row, to be found by time.
import type { PackedNumbers } from "../data/packed";

interface Intervals {
    rank: Pick<PackedNumbers, "length" | "at">;
    begin_s: PackedNumbers;
    end_s: PackedNumbers;
}

export class SpanIndex {
    /** By row: numbers of spans in the order of their begins, and of each the latest end so far. */
    private readonly order: Uint32Array[];
    private readonly latest: Float64Array[];

    constructor(
        private readonly of: Intervals,
        rows: number,
        rowFor: (rank: number) => number,
    ) {
        const lists: number[][] = Array.from({ length: rows }, () => []);
        const known = new Map<number, number>();
        for (let i = 0; i < of.rank.length; i++) {
            const rank = of.rank.at(i);
            const row = known.get(rank) ?? rowFor(rank);
            known.set(rank, row);
            lists[row]?.push(i);
        }
        this.order = lists.map((list) => Uint32Array.from(list.sort((a, b) => of.begin_s.at(a) - of.begin_s.at(b))));
        this.latest = this.order.map((list) => {
            let end = -Infinity;
            return Float64Array.from(list, (i) => (end = Math.max(end, of.end_s.at(i))));
        });
    }

    /** Place of the first span of the row that ends after `from`. */
    private first(row: number, from: number): number {
        const latest = this.latest[row];
        let low = 0;
        let high = latest.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (latest[middle] > from) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** About how many spans of the row touch `from` to `to`. */
    countIn(row: number, from: number, to: number): number {
        let n = 0;
        this.each(row, from, to, () => ++n < 20_000);
        return n;
    }

    /** Calls `see` with the number of each span that touches `from` to `to`, until it returns false. */
    each(row: number, from: number, to: number, see: (index: number) => boolean | void): void {
        const list = this.order[row];
        for (let at = this.first(row, from); at < list.length; at++) {
            const index = list[at];
            if (this.of.begin_s.at(index) > to) {
                return;
            }
            if (this.of.end_s.at(index) >= from && see(index) === false) {
                return;
            }
        }
    }

    /** The shortest span over `time`, −1 where there is none. */
    at(row: number, time: number): number {
        return this.nearest(row, time, 0);
    }

    /** The shortest span over `time`, else the nearest within `reach` of it, else −1. */
    nearest(row: number, time: number, reach: number): number {
        let best = -1;
        let least = Infinity;
        this.each(row, time - reach, time + reach, (index) => {
            const begin = this.of.begin_s.at(index);
            const end = this.of.end_s.at(index);
            const away = Math.max(begin - time, time - end, 0);
            // Any span over the place is nearer than one beside it.
            const rank = away > 0 ? 1e6 + away : end - begin;
            if (rank < least) {
                least = rank;
                best = index;
            }
        });
        return best;
    }
}
