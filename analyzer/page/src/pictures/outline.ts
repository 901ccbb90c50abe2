// Outlines the row or columns of a picture that a link points to, or the cells where both meet.
import { markRow } from "../data/outliers";
import type { Plot } from "./picture";
import { colour } from "../frame/theme";

export interface SelectedCells {
    /** The row that is shown, counted from the top; null for none. */
    row: number | null;
    /** Places on the axis; null for all. */
    columns: { from: number; to: number } | null;
}

/** Width of outlined columns at least, in CSS pixels. */
const LEAST_WIDTH = 6;

export function drawSelected(plot: Plot, { row, columns }: SelectedCells): void {
    if (row !== null) {
        markRow(plot, row);
    }
    if (columns) {
        const { context, ratio, height } = plot;
        const [left, right] = [plot.px(columns.from), plot.px(columns.to)];
        const width = Math.max(right - left, LEAST_WIDTH * ratio);
        for (const [ink, thick] of [[colour("back"), 5], [colour("text"), 2]] as const) {
            context.strokeStyle = ink;
            context.lineWidth = thick * ratio;
            context.strokeRect((left + right - width) / 2, ratio, width, height - 2 * ratio);
        }
    }
}
