// What all charts that uPlot draws have in common.
import uPlot from "uplot";
import { colour } from "./theme";

/** How axes look in the theme of now. */
export function axisLook(): uPlot.Axis {
    const lines = { stroke: colour("line"), width: 1 };
    return { stroke: colour("dim"), grid: lines, ticks: lines, font: "11px system-ui, sans-serif" };
}

/** Says what the picture in an element shows to those who do not see it. */
export function label(element: HTMLElement, text: string): void {
    const canvas = element.querySelector("canvas");
    canvas?.setAttribute("role", "img");
    canvas?.setAttribute("aria-label", text);
}
