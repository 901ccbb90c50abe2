// The look of axes and the labels of all charts that uPlot draws.
import uPlot from "uplot";
import { colour } from "../frame/theme";

/** The style of axes in the current theme. */
export function axisLook(): uPlot.Axis {
    const lines = { stroke: colour("line"), width: 1 };
    return { stroke: colour("dim"), grid: lines, ticks: lines, font: "11px system-ui, sans-serif" };
}

/** Describes the picture in an element for screen readers. */
export function label(element: HTMLElement, text: string): void {
    const canvas = element.querySelector("canvas");
    canvas?.setAttribute("role", "img");
    canvas?.setAttribute("aria-label", text);
}
