// How the program changed from run to run: runs that differ in nothing but when they were made, and their labels.
import { choice, el, field } from "../frame/dom";
import { CATEGORIES } from "../pictures/palette";
import type { PanelOf } from "../frame/panel";
import { percent, plural, seconds, secondsLike } from "../wording/words";
import { table } from "../frame/table";
import type { StudyRunRow, StudyData } from "../generated/studydata.generated";
import { type PlotSpec, Plot } from "./plot";
import { number } from "./runs";

/** Runs of one program on as many ranks with the same parameters, the oldest first. */
interface RunSeries {
    name: string;
    runs: StudyRunRow[];
}

/** The series of at least two runs, the longest first. */
export function seriesOf(runs: StudyRunRow[]): RunSeries[] {
    const found = new Map<string, StudyRunRow[]>();
    for (const run of runs) {
        const params = Object.entries(run.params).map(([name, value]) => `${name}=${number(value)}`);
        const name = [run.program, plural(run.ranks, "rank"), ...params].join(", ");
        found.set(name, [...(found.get(name) ?? []), run]);
    }
    return [...found]
        .filter(([, own]) => own.length > 1)
        .map(([name, own]) => ({ name, runs: own.sort((a, b) => a.started_unix_s - b.started_unix_s || a.number - b.number) }))
        .sort((a, b) => b.runs.length - a.runs.length);
}

/** The label of a run, or its number. */
function labelOf(run: StudyRunRow): string {
    return run.label || `run ${run.number}`;
}

/** The change against the run before, in per cent of it. */
function change(value: number, before: number | undefined): string {
    if (before === undefined || before <= 0) {
        return "–";
    }
    const share = value / before - 1;
    return `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
}

function specs({ name, runs }: RunSeries): PlotSpec[] {
    const x = runs.map((_, at) => at + 1);
    const xText = (place: number) => (Number.isInteger(place) && runs[place - 1] ? labelOf(runs[place - 1]) : "");
    const places = x.length <= 16 ? x : undefined;
    const shares: [string, (run: StudyRunRow) => number | null][] = [
        ["parallel efficiency", (run) => run.parallel],
        ["load balance", (run) => run.load_balance],
        ["transfer", (run) => run.transfer],
    ];
    return [
        { label: `elapsed time: ${name}`, series: [{ name: "elapsed", x, y: runs.map((run) => run.elapsed_s), colour: CATEGORIES[0], kind: "both" }], height: 230, text: seconds, xText, places },
        { label: `efficiencies: ${name}`, series: shares.map(([title, of], at) => ({ name: title, x, y: runs.map(of), colour: CATEGORIES[at % CATEGORIES.length], kind: "both" })), height: 230, text: percent, xText, places },
    ];
}

export const history: PanelOf<StudyData> = {
    id: "history",
    title: "History",
    about: "How the program changed from run to run: runs on as many ranks with the same parameters, the oldest first, by label.",
    missing: (data) => (seriesOf(data.runs).length > 0 ? null : "No two runs have the same program, ranks and parameters. Add a run for each commit: lb-report study add … --label COMMIT."),
    build(host, data) {
        const all = seriesOf(data.runs);
        const charts = el("div", { class: "plots" });
        const listed = el("div");
        let plots: Plot[] = [];
        const draw = () => plots.forEach((plot) => plot.draw());
        const fill = (shown: RunSeries) => {
            const { runs } = shown;
            const longest = Math.max(...runs.map((run) => run.elapsed_s));
            const place = new Map(runs.map((run, at) => [run, at]));
            const before = (run: StudyRunRow) => runs[(place.get(run) ?? 0) - 1]?.elapsed_s;
            const made = specs(shown);
            plots = made.map((spec) => new Plot(spec));
            charts.replaceChildren(...plots.map((plot, at) => el("figure", {}, el("figcaption", {}, made[at].label), plot.element)));
            listed.replaceChildren(
                table<StudyRunRow>({
                    caption: "From run to run",
                    rows: runs,
                    first: 40,
                    columns: [
                        { title: "run", cell: (run) => String(run.number), by: (run) => run.number, right: true },
                        { title: "label", cell: (run) => run.label || "–" },
                        { title: "started", cell: (run) => new Date(1000 * run.started_unix_s).toISOString().slice(0, 16).replace("T", " "), by: (run) => run.started_unix_s },
                        { title: "elapsed", cell: (run) => secondsLike(run.elapsed_s, longest), by: (run) => run.elapsed_s, right: true },
                        { title: "change", cell: (run) => change(run.elapsed_s, before(run)), by: (run) => run.elapsed_s / (before(run) ?? run.elapsed_s), right: true },
                        { title: "parallel efficiency", cell: (run) => percent(run.parallel), by: (run) => run.parallel, right: true },
                        { title: "load balance", cell: (run) => percent(run.load_balance), by: (run) => run.load_balance, right: true },
                    ],
                }),
            );
            draw();
        };
        const select = choice(all.map(({ name }, at): [string, string] => [String(at), name]), "0", (value) => fill(all[Number(value)]));
        host.append(el("div", { class: "controls" }, field("runs of", select)), charts, listed);
        fill(all[0]);
        return draw;
    },
};
