// Draws messages, the chosen wait and the rank that ended it on top of the timeline.
import type { Plot } from "../pictures/picture";
import { colour } from "../frame/theme";
import type { Messages } from "../data/views";
import type { Wait } from "./waits";

/** More messages than this in view are not drawn: they would hide all else. */
const MOST_MESSAGES = 120;

type ShownAt = (rank: number) => number;

export function drawMessages(plot: Plot, of: Messages, shownAt: ShownAt): void {
    const { view } = plot;
    const inView: number[] = [];
    for (let i = 0; i < of.from.length; i++) {
        if (of.received_s.at(i) >= view.x0 && of.sent_s.at(i) <= view.x1) {
            inView.push(i);
            if (inView.length > MOST_MESSAGES) {
                return;
            }
        }
    }
    for (const i of inView) {
        const from = shownAt(of.from.at(i));
        const to = shownAt(of.to.at(i));
        if (from >= 0 && to >= 0 && from !== to) {
            arrow(plot, of.sent_s.at(i), from, of.received_s.at(i), to, 1);
        }
    }
}

/** The wait outlined, the delaySource's row at that time, and an arrow from it. */
export function drawWait(plot: Plot, wait: Wait, shownAt: ShownAt): void {
    const own = shownAt(wait.rank);
    const delaySource = wait.delaySource === null ? -1 : shownAt(wait.delaySource);
    outline(plot, wait, own, 2.5);
    if (delaySource >= 0 && delaySource !== own) {
        const { context, ratio } = plot;
        context.setLineDash([6 * ratio, 3 * ratio]);
        outline(plot, wait, delaySource, 2);
        context.setLineDash([]);
        arrow(plot, wait.end, delaySource, wait.end, own, 2.5);
    }
}

function outline(plot: Plot, wait: Wait, row: number, width: number): void {
    const { context, ratio } = plot;
    const left = plot.px(wait.begin);
    const [x, y, w, h] = [left, plot.py(row), Math.max(plot.px(wait.end) - left, 3 * ratio), plot.py(row + 1) - plot.py(row)];
    for (const [ink, thick] of [[colour("back"), width + 2], [colour("text"), width]] as const) {
        context.strokeStyle = ink;
        context.lineWidth = thick * ratio;
        context.strokeRect(x, y, w, h);
    }
}

function arrow(plot: Plot, fromX: number, fromRow: number, toX: number, toRow: number, width: number): void {
    const { context, ratio } = plot;
    const [x0, y0, x1, y1] = [plot.px(fromX), plot.py(fromRow + 0.5), plot.px(toX), plot.py(toRow + 0.5)];
    const angle = Math.atan2(y1 - y0, x1 - x0);
    const tip = (4 + 2 * width) * ratio;
    for (const [ink, thick] of [[colour("back"), width + 1.5], [colour("text"), width]] as const) {
        context.strokeStyle = ink;
        context.fillStyle = ink;
        context.lineWidth = thick * ratio;
        context.beginPath();
        context.moveTo(x0, y0);
        context.lineTo(x1, y1);
        context.stroke();
        context.beginPath();
        context.moveTo(x1, y1);
        context.lineTo(x1 - tip * Math.cos(angle - 0.4), y1 - tip * Math.sin(angle - 0.4));
        context.lineTo(x1 - tip * Math.cos(angle + 0.4), y1 - tip * Math.sin(angle + 0.4));
        context.fill();
    }
}
