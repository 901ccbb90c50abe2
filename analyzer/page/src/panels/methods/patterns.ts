// Patterns and dispersion of Calzarossa, Massari and Tessera: regions × ranks in four colours, and how unequal the ranks are.
import { isPointedOut } from "../../frame/address";
import { choice, el, field } from "../../frame/dom";
import { PATTERN_COLOURS, pixel, stateColour } from "../../pictures/palette";
import { key } from "../../pictures/legend";
import type { Data, Panel } from "../../frame/panel";
import { Picture, type Plot, type Scene } from "../../pictures/picture";
import { putOver } from "../../pictures/pool";
import type { ActivityRow, PatternRow, RegionRow, Report } from "../../generated/report.generated";
import { table } from "../../frame/table";
import { term } from "../../frame/tip";
import { blockLabel, blockName, rankAt, rowOf } from "../../data/views";
import { count, percent, plural, ratio, roundTicks, seconds, secondsLike, shortPath } from "../../wording/words";

const MEANING: Record<string, string> = { m: "the shortest time", l: "lower 15 % of the range", "-": "between", u: "upper 15 % of the range", M: "the longest time" };

export const patterns: Panel = {
    id: "patterns",
    title: "Regions, patterns",
    about: "In which regions and activities the ranks differ, which ranks that are, and how much it matters.",
    build(host, data) {
        const draw = picture(host, data);
        host.append(activityTable(data.report), regionTable(data.report), efficiencyTable(data.report));
        return draw;
    },
};

function picture(host: HTMLElement, data: Data): (() => void) | undefined {
    const all = data.report.dispersion.patterns;
    const names = [...new Set(all.map((pattern) => pattern.activity))];
    if (names.length === 0) {
        host.append(el("p", { class: "missing" }, "There are no patterns: no region takes time, or there is one rank. Record more ranks, or mark regions with LBPROF_PHASE_BEGIN of lbprof.h."));
        return undefined;
    }
    const of = (activity: string) => all.filter((pattern) => pattern.activity === activity);
    const height = (rows: PatternRow[]) => Math.max(rows.length, 2) * 18 + 26;
    let shown = of(names[0]);
    const view = new Picture(scene(data, shown), height(shown));
    const select = choice(names.map((name) => [name, name]), names[0], (name) => {
        shown = of(name);
        view.show(scene(data, shown), height(shown));
    });
    const legend = el("div", { class: "legend" }, term("patterns"), ...["m", "l", "-", "u", "M"].map((letter) => key(PATTERN_COLOURS[letter] ?? "var(--cell)", MEANING[letter])));
    host.append(el("div", { class: "controls" }, field("activity", select)), legend, view.element);
    return () => view.draw();
}

function scene(data: Data, rows: PatternRow[]): Scene {
    const { views } = data;
    const n = Math.max(0, ...rows.map((row) => row.ranks.length));
    const each = rows[0]?.ranks_per_letter ?? 1;
    return {
        label: `Patterns of ${rows[0]?.activity}: ${plural(rows.length, "region")} by ${plural(views.ranks.count, "rank")}`,
        rows: rows.length,
        x0: 0,
        x1: n,
        least: 1,
        step: () => 1,
        left: 250,
        paint: (plot) => paint(plot, rows, n),
        rowName: (row) => shortPath(rows[row].region),
        ticks: (from, to, wanted) =>
            roundTicks(from, to, wanted)
                .filter((tick) => tick % 1 === 0 && tick < n)
                .map((tick) => ({ at: tick + 0.5, text: blockLabel(views, tick, each) })),
        describe: (x, row) => {
            const at = Math.min(Math.floor(x), n - 1);
            const pattern = rows[row];
            const letter = pattern.ranks[at] ?? "-";
            const time = each === 1 ? secondsOf(data, pattern, rankAt(views, at)) : NaN;
            return [
                `${blockName(views, at, each)} in ${shortPath(pattern.region)}`,
                `${pattern.activity}${Number.isNaN(time) ? "" : ` ${secondsLike(time, pattern.max_s)}`}: ${MEANING[letter] ?? "between"}`,
                `all ranks: ${secondsLike(pattern.min_s, pattern.max_s)} to ${seconds(pattern.max_s)}`,
            ];
        },
    };
}

function secondsOf(data: Data, pattern: PatternRow, rank: number): number {
    const region = data.views.regions.find((one) => one.path === pattern.region);
    return region?.seconds[pattern.activity]?.at(rowOf(data, rank)) ?? NaN;
}

/** A pixel that stands for several ranks has the longest or the least of them, else what most are. */
function letterOf(letters: string, from: number, to: number): string {
    const part = letters.slice(from, to);
    if (part.length <= 1 || part.includes("M")) {
        return part.includes("M") ? "M" : part;
    }
    if (part.includes("m")) {
        return "m";
    }
    const n = (letter: string) => part.split(letter).length;
    return ["-", "u", "l"].reduce((best, letter) => (n(letter) > n(best) ? letter : best));
}

function paint(plot: Plot, rows: PatternRow[], n: number): void {
    const image = new ImageData(plot.width, plot.height);
    const pixels = new Uint32Array(image.data.buffer);
    const { view } = plot;
    const step = (view.x1 - view.x0) / plot.width;
    for (let row = Math.floor(view.y0); row < view.y1; row++) {
        const line = new Uint32Array(plot.width);
        for (let x = 0; x < plot.width; x++) {
            const from = Math.min(n - 1, Math.floor(view.x0 + x * step));
            const colour = PATTERN_COLOURS[letterOf(rows[row].ranks, from, Math.max(from + 1, Math.ceil(view.x0 + (x + 1) * step - 1e-9)))];
            line[x] = colour ? pixel(colour) : 0;
        }
        const gap = plot.ratio;
        for (let y = Math.max(0, Math.round(plot.py(row)) + gap); y < Math.min(plot.height, Math.round(plot.py(row + 1)) - gap); y++) {
            pixels.set(line, Math.floor(y) * plot.width);
        }
    }
    putOver(plot, image);
    separate(plot);
}

/** Thin lines between ranks, where there is room. */
function separate(plot: Plot): void {
    if (plot.px(1) - plot.px(0) < 8 * plot.ratio) {
        return;
    }
    plot.context.fillStyle = "rgba(127,127,127,0.55)";
    for (let rank = Math.ceil(plot.view.x0); rank < plot.view.x1; rank++) {
        plot.context.fillRect(Math.round(plot.px(rank)), 0, plot.ratio, plot.height);
    }
}

function star(severe: boolean, text: string): string {
    return severe ? `★ ${text}` : text;
}

function activityTable(report: Report): HTMLElement {
    const rows = [...report.activities].sort((a, b) => (b.sid_a ?? -1) - (a.sid_a ?? -1));
    return table<ActivityRow>({
        caption: "Dispersion by activity (★: severe)",
        rows,
        columns: [
            { title: "activity", cell: (row) => term(row.name) },
            { title: "mean of a rank", time: (row) => row.mean_s, bar: (row) => stateColour(row.name) },
            { title: "share", cell: (row) => percent(row.share), by: (row) => row.share, right: true },
            { title: "ID_A", term: "ID_A", cell: (row) => ratio(row.id_a), by: (row) => row.id_a, right: true },
            { title: "SID_A", term: "SID_A", cell: (row) => star(row.severe, ratio(row.sid_a, 4)), by: (row) => row.sid_a, right: true },
            { title: "longest", time: (row) => row.max_s, suffix: (row) => ` (rank ${row.max_rank})` },
            { title: "most of it in", term: "region", cell: (row) => shortPath(row.worst_region ?? "–") },
        ],
    });
}

function regionTable(report: Report): HTMLElement {
    const rows = report.regions.filter((row) => row.time_s > 0).sort((a, b) => (b.sid_c ?? -1) - (a.sid_c ?? -1));
    return table<RegionRow>({
        caption: "Dispersion by region, inner regions excluded (★: the largest SID_C)",
        rows,
        isSelected: (row, selection) => isPointedOut(selection, { region: row.path }),
        first: 15,
        columns: [
            { title: "region", term: "region", cell: (row) => shortPath(row.path) },
            { title: "mean of a rank", time: (row) => row.mean_s, bar: () => stateColour("management") },
            { title: "share", cell: (row) => percent(row.share), by: (row) => row.share, right: true },
            { title: "ID_C", term: "ID_C", cell: (row) => ratio(row.id_c), by: (row) => row.id_c, right: true },
            { title: "SID_C", term: "SID_C", cell: (row) => star(row.severe, ratio(row.sid_c, 4)), by: (row) => row.sid_c, right: true },
            { title: "deviating rank", term: "ID_P", cell: (row) => (row.most_imbalanced ? `${row.most_imbalanced.rank} (${ratio(row.most_imbalanced.id_p)})` : "–"), by: (row) => row.most_imbalanced?.rank ?? null, right: true },
            { title: "group", term: "group", cell: (row) => (row.group === null ? "–" : String(row.group)), by: (row) => row.group, right: true },
        ],
    });
}

/** The rank that computes longest, where that is more than noise. */
function slowest(row: RegionRow): number | null {
    return row.slowest_stands_out ? row.slowest_rank : null;
}

function efficiencyTable(report: Report): HTMLElement {
    const share = (title: string, name: string, value: (row: RegionRow) => number | null) => ({ title, term: name, cell: (row: RegionRow) => percent(value(row)), by: value, right: true });
    return table<RegionRow>({
        caption: "Efficiency by region, inner regions included",
        rows: report.regions,
        key: (row) => row.path,
        isSelected: (row, selection) => isPointedOut(selection, { region: row.path }),
        first: 15,
        columns: [
            { title: "region", term: "region", cell: (row) => row.path },
            { title: "kind", cell: (row) => row.kind },
            { title: "iterations", term: "iteration", cell: (row) => count(row.iterations), by: (row) => row.iterations, right: true },
            { title: "elapsed", time: (row) => row.efficiency.elapsed_s },
            share("parallel", "parallel efficiency", (row) => row.efficiency.parallel),
            share("load balance", "load balance", (row) => row.efficiency.load_balance),
            share("communication", "communication efficiency", (row) => row.efficiency.communication),
            { title: "slowest rank", cell: (row) => String(slowest(row) ?? "–"), by: slowest, right: true },
        ],
    });
}
