// The columns that all tables of changes have.
import { stateColour } from "../pictures/palette";
import type { Column } from "../frame/table";

/** Times of both sides, and their difference with a bar: blue is shorter, red is longer. */
export function changeColumns<Row extends { base_s: number; new_s: number; change_s: number }>(): Column<Row>[] {
    return [
        { title: "base", time: (row) => row.base_s },
        { title: "new", time: (row) => row.new_s },
        { title: "change", time: (row) => row.change_s, bar: (row) => stateColour(row.change_s < 0 ? "computation" : "waiting") },
    ];
}
