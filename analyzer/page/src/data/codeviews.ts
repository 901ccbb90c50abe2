// Views of the calling-context tree: each is a tree of the same rows, and a pure function of the rows of the report.
import type { CallTreeRow } from "../generated/report.generated";

export type CodeRow = CallTreeRow;

/** The amounts of a row that add up. */
const SUMS = ["time_s", "alone_s", "computation_s", "mpi_s", "waiting_s", "caused_s", "lost_s", "cpu_s", "slowest_cpu_s", "calls", "bytes"] as const;

/** Adds the amounts of a row, so many times. */
function add(sum: CodeRow, row: CodeRow, times = 1): void {
    for (const key of SUMS) {
        (sum as Record<(typeof SUMS)[number], number | null>)[key] = row[key] === null && sum[key] === null ? null : (sum[key] ?? 0) + times * (row[key] ?? 0);
    }
}

/** A row of its own, without amounts and without what is known of one way to reach it alone. */
function empty(row: CodeRow, parent: number | null, depth: number): CodeRow {
    const none = { at: null, region: null, core_states: null, load_balance: null, micro_load_balance: null, slowest_rank: null, max_computation_s: 0, excess_s: null, excess_error_s: null, caused_alone_s: null, lost_alone_s: null, left_out: 0 };
    const copy: CodeRow = { ...row, ...none, parent, depth };
    for (const key of SUMS) {
        (copy as Record<(typeof SUMS)[number], number | null>)[key] = row[key] === null ? null : 0;
    }
    return copy;
}

/** The function that each row is of: itself, or the one around it. */
function owners(rows: CodeRow[]): number[] {
    const owner: number[] = [];
    rows.forEach((row, at) => (owner[at] = row.kind === "function" || row.parent === null ? at : owner[row.parent]));
    return owner;
}

/** Shares of the outermost row, and the rows with most time first. */
function finished(rows: CodeRow[]): CodeRow[] {
    return rows.map((row) => ({ ...row, share: rows[0].time_s > 0 ? row.time_s / rows[0].time_s : 0 }));
}

/** Each function by itself, however the program gets there: its own code, loops and calls of MPI. */
export function functionsOf(rows: CodeRow[]): CodeRow[] {
    const owner = owners(rows);
    const byName = new Map<string, CodeRow>();
    const own = rows.map((row) => ({ ...row }));
    rows.forEach((row) => row.parent !== null && add(own[row.parent], row, -1));
    own.forEach((row, at) => {
        const { name } = rows[owner[at]];
        const sum = byName.get(name) ?? empty(rows[owner[at]], 0, 1);
        byName.set(name, sum);
        add(sum, { ...row, alone_s: row.time_s });
    });
    const functions = [...byName.values()].map((row): CodeRow => ({ ...row, kind: "function" }));
    functions.sort((a, b) => b.time_s - a.time_s);
    return finished([{ ...rows[0], left_out: 0 }, ...functions]);
}

/** The callers of a function, of these in turn, and so on: the outermost row is the function, and in each lies what called it. */
export function callersOf(rows: CodeRow[], name: string): CodeRow[] {
    const owner = owners(rows);
    const isCalled = rows.map((row, at) => owner[at] === at && row.name === name);
    const inside: boolean[] = [];
    const callers: CodeRow[] = [];
    const known = new Map<string, number>();
    rows.forEach((row, at) => {
        const isWithin = row.parent !== null && inside[row.parent];
        inside[at] = isWithin || isCalled[at];
        // A function within itself is counted once.
        if (!isCalled[at] || isWithin) {
            return;
        }
        let [around, depth]: [number | null, number] = [null, 0];
        for (let next: number | null = at; next !== null; next = rows[next].parent === null ? null : owner[rows[next].parent as number]) {
            const id: string = `${around}/${rows[next].name}`;
            const place: number = known.get(id) ?? callers.push(empty(rows[next], around, depth)) - 1;
            known.set(id, place);
            add(callers[place], row);
            [around, depth] = [place, depth + 1];
        }
    });
    return finished(inOrder(callers));
}

/** Rows in depth-first order, those with most time first. */
function inOrder(rows: CodeRow[]): CodeRow[] {
    const ordered: CodeRow[] = [];
    const visit = (at: number, parent: number | null) => {
        const place = ordered.push({ ...rows[at], parent }) - 1;
        const within = rows.flatMap((row, inner) => (row.parent === at ? [inner] : []));
        within.sort((a, b) => rows[b].time_s - rows[a].time_s).forEach((inner) => visit(inner, place));
    };
    if (rows.length > 0) {
        visit(0, null);
    }
    return ordered;
}
