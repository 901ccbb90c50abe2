// The run over time: efficiencies and what ranks do, by windows of time.
import { Chart } from "../../pictures/chart";
import { el } from "../../frame/dom";
import { NOT_REPLAYED } from "../../wording/emptyreasons";
import { key } from "../../pictures/legend";
import { CATEGORIES, stateColour } from "../../pictures/palette";
import type { Panel } from "../../frame/panel";
import type { Report, WindowRow } from "../../generated/report.generated";
import { table } from "../../frame/table";
import { onWindow, showWindow, timeWindow } from "../../frame/timewindow";
import { percent, seconds, secondsLike } from "../../wording/words";

export const overTime: Panel = {
    id: "overtime",
    title: "Over time",
    about: "Efficiencies and what ranks do, from the begin of the run to its end: when did it get worse?",
    missing: ({ report }) => (report.windows.length > 0 ? null : report.selection?.region ? "Windows of time are of all regions: make the page without --region." : `Nothing is known of single windows of time. ${NOT_REPLAYED}`),
    build(host, { report }) {
        const end = report.windows.at(-1)?.end_s ?? 0;
        const zoomed = (from: number, to: number) => showWindow(from <= 0 && to >= end ? null : { from, to }, chart);
        const chart: Chart = new Chart({ ...efficiencies(report), zoomed });
        const zoom = () => chart.zoomTo(timeWindow()?.from ?? 0, timeWindow()?.to ?? end);
        onWindow(chart, zoom);
        host.append(chart.element, states(report));
        return () => {
            chart.draw();
            zoom();
        };
    },
};

const NAMES = { parallel: "parallel efficiency", load_balance: "load balance", communication: "communication efficiency" } as const;

/** Efficiencies by window, at the middle of each. */
function efficiencies({ windows, run }: Report) {
    return {
        label: "Efficiencies by window of time",
        x: windows.map((row) => (row.begin_s + row.end_s) / 2),
        series: Object.entries(NAMES).map(([name, text], at) => ({ name: text, values: windows.map((row) => row[name as keyof typeof NAMES] ?? NaN), colour: CATEGORIES[at] })),
        height: 280,
        text: percent,
        xText: (at: number) => secondsLike(at, run.elapsed_s),
        range: [0, 1.02] as [number, number],
    };
}

/** The share of each state, a bar for each window. */
function states(report: Report): HTMLElement {
    const names = [...new Set(report.windows.flatMap((row) => row.states.map((state) => state.state)))];
    const order = ["computation", "waiting"];
    names.sort((a, b) => (order.indexOf(a) + 9) % 9 - (order.indexOf(b) + 9) % 9);
    const whole = Math.max(...report.windows.map((row) => row.states.reduce((sum, state) => sum + state.time_s, 0)));
    const bars = report.windows.map((row) => {
        const text = row.states.map((state) => `${state.state} ${percent(state.time_s / whole)}`).join(", ");
        const column = el("div", { class: "column", title: `${seconds(row.begin_s)} to ${seconds(row.end_s)}: ${text}` });
        for (const name of names) {
            const part = el("span");
            const time = row.states.find((state) => state.state === name)?.time_s ?? 0;
            part.style.height = `${(100 * time) / whole}%`;
            part.style.background = stateColour(name);
            column.append(part);
        }
        return column;
    });
    const text = names.map((name) => `${name} ${percent(report.windows.reduce((sum, row) => sum + (row.states.find((state) => state.state === name)?.time_s ?? 0), 0) / (whole * report.windows.length))}`).join(", ");
    const picture = el("div", { class: "states", role: "img", "aria-label": `Share of the ranks' time over the run: ${text}` }, ...bars);
    return el(
        "div",
        {},
        el("h3", {}, "What ranks do"),
        el("div", { class: "legend" }, ...names.map((name) => key(stateColour(name), name))),
        picture,
        table<WindowRow>({
            caption: "Windows of time",
            rows: report.windows,
            first: 10,
            columns: [
                { title: "from", time: (row) => row.begin_s },
                { title: "to", time: (row) => row.end_s },
                ...efficiencyColumns(),
            ],
        }),
    );
}

function efficiencyColumns() {
    const column = (name: keyof typeof NAMES) => ({ title: NAMES[name], term: NAMES[name], cell: (row: WindowRow) => percent(row[name]), by: (row: WindowRow) => row[name], right: true });
    const rank = { title: "slowest rank", cell: (row: WindowRow) => (row.slowest_rank === null ? "–" : String(row.slowest_rank)), by: (row: WindowRow) => row.slowest_rank, right: true };
    return [column("parallel"), column("load_balance"), column("communication"), rank];
}
