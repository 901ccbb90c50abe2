// Orders of the rows of matrices: by rank, load, host or cluster.
import type { PackedNumbers } from "./packed";
import type { Views } from "./views";

export type Order = "rank" | "load" | "host" | "cluster";

/** Row numbers in the wanted order. Rows that are equal in it are ordered by rank. */
export function rowOrder(views: Views, order: Order, load: (row: number) => number): number[] {
    const rows = Array.from({ length: views.ranks.rows }, (_, row) => row);
    const keys: Record<Order, (row: number) => number> = {
        rank: (row) => row,
        load: (row) => -load(row),
        host: (row) => views.host_of_row[row],
        cluster: (row) => views.cluster_of_row?.[row] ?? Number.MAX_SAFE_INTEGER,
    };
    const key = keys[order];
    return rows.sort((a, b) => key(a) - key(b) || a - b);
}

/** Sum of a row of a matrix. Missing values count as zero. */
export function rowSum(matrix: PackedNumbers, columns: number, row: number): number {
    let sum = 0;
    for (let i = row * columns; i < (row + 1) * columns; i++) {
        const value = matrix.at(i);
        if (value === value) {
            sum += value;
        }
    }
    return sum;
}
