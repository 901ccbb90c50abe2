// Figures of the runs against the ranks or a parameter.
import { choice, el, field } from "../frame/dom";
import { EFFICIENCY_LIMITS, CATEGORIES, efficiencyColour } from "../pictures/palette";
import type { PanelOf } from "../frame/panel";
import { table } from "../frame/table";
import { colour } from "../frame/theme";
import { percent, plural, ratio, seconds } from "../wording/words";
import type { ScalingChart, ScalingTable, SectionRow, StudyData } from "../generated/studydata.generated";
import { type PlotSpec, Plot, type Series } from "./plot";
import { number } from "./runs";

/** More lines than this that nobody can distinguish. */
const MOST = 8;

export const scaling: PanelOf<StudyData> = {
    id: "scaling",
    title: "Scaling",
    about: "How times, speedup, efficiencies and overheads go with the ranks or a parameter; a line for each set of runs that have all else in common.",
    missing: (data) => (data.scaling.length > 0 ? null : "All runs have the same ranks and parameters."),
    build(host, data) {
        let shown = data.scaling[0];
        let first = 0;
        const figures = el("div");
        const charts = el("div", { class: "plots" });
        const remarks = el("ul", { class: "hint" });
        const which = el("div", { class: "controls" });
        let plots: Plot[] = [];
        const draw = () => plots.forEach((plot) => plot.draw());
        const fill = () => {
            const tables = shown.tables;
            which.replaceChildren();
            if (tables.length > MOST) {
                const groups: [string, string][] = [];
                for (let at = 0; at < tables.length; at += MOST) {
                    groups.push([String(at), `${at + 1} to ${Math.min(at + MOST, tables.length)} of ${tables.length}`]);
                }
                which.append(field("sets of runs", choice(groups, String(first), (value) => ((first = Number(value)), fill()))));
            }
            const some = tables.slice(first, first + MOST);
            figures.replaceChildren(...some.map((one) => el("div", {}, el("p", { class: "verdict" }, one.sentence), figureTable(shown, one))));
            const specs = lines(some).map(([section, name]) => spec(shown, some, section, name));
            plots = specs.map((one) => new Plot(one));
            charts.replaceChildren(...plots.map((plot, at) => el("figure", {}, el("figcaption", {}, specs[at].label), plot.element)));
            remarks.replaceChildren(...[...new Set(some.flatMap((table) => table.remarks))].map((remark) => el("li", {}, remark)));
            draw();
        };
        const names = data.scaling.map((one, at): [string, string] => [String(at), one.by]);
        const select = choice(names, "0", (value) => {
            shown = data.scaling[Number(value)];
            first = 0;
            fill();
        });
        host.append(el("div", { class: "controls" }, field("against", select)), which, figures, charts, remarks);
        fill();
        return draw;
    },
};

/** Text of a figure by its unit. */
const TEXTS = { seconds, share: percent, ratio: (value: number) => ratio(value, 2) };

function nameOfColumn({ by }: ScalingChart, x: number): string {
    return by === "ranks" ? plural(x, "rank") : `${by} ${number(x)}`;
}

/** All figures of a table; efficiencies on the colour of their limits. */
function figureTable(of: ScalingChart, { program, fixed, x, sections }: ScalingTable): HTMLElement {
    const rows = sections.flatMap((section) => section.lines.map((line) => ({ section, line })));
    const cell = (row: (typeof rows)[number], at: number) => {
        const value = row.line.values[at];
        const text = el("span", { class: "figure" }, value === null ? "–" : TEXTS[row.section.unit](value));
        if (value !== null && row.section.name === "Efficiency") {
            text.style.background = `color-mix(in srgb, ${efficiencyColour(value)} 45%, transparent)`;
        }
        return text;
    };
    return table({
        caption: `${[program, fixed].filter(Boolean).join(", ")}; efficiencies ${EFFICIENCY_LIMITS}`,
        rows,
        first: 40,
        columns: [
            { title: "figure", cell: ({ section, line }) => `${section.name.toLowerCase()}: ${line.name}` },
            ...x.map((value, at) => ({ title: nameOfColumn(of, value), cell: (row: (typeof rows)[number]) => cell(row, at), by: (row: (typeof rows)[number]) => row.line.values[at], right: true })),
        ],
    });
}

/** The figures that any of the tables has, by section. */
function lines(tables: ScalingTable[]): [SectionRow, string][] {
    const found = new Map<string, [SectionRow, string]>();
    for (const section of tables.flatMap((table) => table.sections)) {
        for (const line of section.lines) {
            found.set(`${section.name}/${line.name}`, found.get(`${section.name}/${line.name}`) ?? [section, line.name]);
        }
    }
    return [...found.values()].sort((a, b) => order(a[0]) - order(b[0]));
}

/** Speedup first: it is what a study of ranks is made for. */
function order(section: SectionRow): number {
    return ["Scaling", "Time", "Efficiency", "Overheads"].findIndex((name) => section.name.startsWith(name)) + 1 || 9;
}

/** Ideal speedups: one line for all tables that begin with as many ranks. */
function ideals(tables: ScalingTable[]): Series[] {
    const lines = new Map<number, Map<number, number>>();
    for (const { x, ideal_speedup: ideal } of tables) {
        const line = lines.get(x[0]) ?? new Map<number, number>();
        x.forEach((ranks, at) => ideal && line.set(ranks, ideal[at]));
        lines.set(x[0], line);
    }
    return [...lines].filter(([, line]) => line.size > 0).map(([first, line]): Series => {
        const x = [...line.keys()].sort((a, b) => a - b);
        const name = lines.size === 1 ? "ideal" : `ideal, from ${plural(first, "rank")}`;
        return { name, x, y: x.map((ranks) => line.get(ranks) ?? null), colour: colour("dim"), kind: "line", dashed: true };
    });
}

function spec(of: ScalingChart, tables: ScalingTable[], section: SectionRow, name: string): PlotSpec {
    const text = TEXTS[section.unit];
    const several = tables.length > 1;
    const series = tables.map((table, at): Series => {
        const values = table.sections.find((one) => one.name === section.name)?.lines.find((line) => line.name === name)?.values;
        return { name: several ? table.fixed || table.program : name, x: table.x, y: values ?? table.x.map(() => null), colour: CATEGORIES[at % CATEGORIES.length], kind: "both" };
    });
    const places = [...new Set(tables.flatMap((table) => table.x))].sort((a, b) => a - b);
    if (name === "speedup") {
        series.push(...ideals(tables));
    }
    return { label: `${section.name.toLowerCase()}: ${name}`, series, height: 230, text, xText: (x) => `${of.by === "ranks" ? "" : `${of.by} `}${number(x)}`, places: places.length <= 12 ? places : undefined };
}
