// Ticks of axes on which columns of iterations stand side by side.
import { isGapless, type Iterations } from "../data/views";
import { roundTicks } from "../wording/words";

/** Ticks at round iterations, in the middle of a column that holds one alone; where numbers have gaps at round columns. */
export function iterationTicks(of: Iterations, from: number, to: number, wanted: number): { at: number; text: string }[] {
    const start = isGapless(of) ? of.first[0] : 0;
    const width = isGapless(of) ? of.per_column : 1;
    const place = (column: number) => start + column * width;
    return roundTicks(place(from), place(to), wanted)
        .filter((tick) => tick % 1 === 0)
        .map((tick) => ({ tick, column: (tick - start) / width }))
        .filter(({ column }) => column >= 0 && column < of.columns)
        .map(({ tick, column }) => ({ at: column + (of.per_column === 1 ? 0.5 : 0), text: String(isGapless(of) ? tick : of.first[column]) }));
}
