// The life of the ranks' processes as a bar: before, in and after MPI, and the part that the page describes.
import { el } from "./frame/dom";
import { key } from "./pictures/legend";
import { CATEGORIES, OTHERS_COLOUR, stateColour } from "./pictures/palette";
import type { RankRow, Report } from "./generated/report.generated";
import { table } from "./frame/table";
import { term } from "./frame/tip";
import { percent, seconds } from "./wording/words";

const COLOURS: Record<string, string> = {
    "before MPI_Init": "#a8b0a0",
    "MPI_Init": CATEGORIES[0],
    "starting the recorder": stateColour("recorder"),
    "MPI_Finalize": CATEGORIES[1],
    "after MPI_Finalize": OTHERS_COLOUR,
};

const AFTER = ["MPI_Finalize", "after MPI_Finalize"];

/** The bar, of the ranks' medians; null where the logs do not say, or a part of the run is selected. */
export function lifetimeBar(report: Report): HTMLElement | null {
    const { lifetime, run } = report;
    if (!lifetime) {
        return null;
    }
    const outside = lifetime.parts.map(({ phase, median_s, max_s, max_rank }) => ({
        isAfter: AFTER.includes(phase),
        time: median_s,
        colour: COLOURS[phase],
        text: `${phase} ${seconds(median_s)}${max_s > 1.1 * median_s ? ` (rank ${max_rank}: ${seconds(max_s)})` : ""}`,
    }));
    const described = { isAfter: false, time: run.elapsed_s, colour: "var(--accent)", text: `described here ${seconds(run.elapsed_s)}` };
    const parts = [...outside.filter(({ isAfter }) => !isAfter), described, ...outside.filter(({ isAfter }) => isAfter)];
    const whole = parts.reduce((sum, { time }) => sum + time, 0);
    const bar = el("div", { class: "lost-bar lifetime", role: "img", "aria-label": `Life of the processes: ${parts.map(({ text }) => text).join(", ")}` });
    for (const { time, colour, text } of parts) {
        const part = el("span", { title: text });
        part.style.width = `${(100 * time) / whole}%`;
        part.style.background = colour;
        bar.append(part);
    }
    const about = `From the first start of a process to the last exit: ${seconds(lifetime.elapsed_s)}. The efficiencies describe ${percent(lifetime.described_share)} of it; medians of the ranks:`;
    return el("div", { class: "lost-parts" }, el("h3", {}, "The processes' ", term("lifetime")), el("p", { class: "hint" }, about), bar, el("div", { class: "legend" }, ...parts.map(({ colour, text }) => key(colour, text))));
}

/** Share of the run outside of the window from which on the first screen has the bar. */
const MUCH = 0.05;

/** True if the time outside of the window is so long that it is reported first. */
export function isMuchOutside({ lifetime }: Report): boolean {
    return lifetime !== null && lifetime.described_share < 1 - MUCH;
}

/** The table by rank, or null if nothing is known. */
export function lifetimeTable({ ranks }: Report): HTMLElement | null {
    const times = ["before_init_s", "init_s", "recorder_start_s", "finalize_s", "after_finalize_s"] as const;
    const titles = ["before MPI_Init", "MPI_Init", "starting the recorder", "MPI_Finalize", "after MPI_Finalize"];
    const known = ranks.filter(({ lifetime }) => times.some((time) => lifetime[time] !== null));
    return known.length === 0
        ? null
        : table<RankRow>({
              caption: "Life of each rank's process outside of the time described",
              rows: known,
              first: 8,
              columns: [
                  { title: "rank", cell: (row) => String(row.rank), by: (row) => row.rank, right: true },
                  ...times.map((time, at) => ({ title: titles[at], time: (row: RankRow) => row.lifetime[time] })),
              ],
          });
}
