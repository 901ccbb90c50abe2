// An attribute by stage and by rank, over chosen stages and ranks, or of one stage or one rank.
import type { Selection } from "../../frame/address";
import { Chart, type ChartSpec } from "../../pictures/chart";
import { button, choice, el, field } from "../../frame/dom";
import { stateColour } from "../../pictures/palette";
import type { Data, Panel } from "../../frame/panel";
import { parseRange, parseRanks } from "../../data/ranklist";
import { ChosenStages, sources, stagesOf, wholeRun, type Source, type Stages } from "../../data/stages";
import { table } from "../../frame/table";
import { term } from "../../frame/tip";
import { rowName, rowOf } from "../../data/views";
import { onWindow, showWindow, timeWindow, type TimeWindow } from "../../frame/timewindow";
import { percent, plural, seconds, secondsLike } from "../../wording/words";

export const stagesAndRanks: Panel = {
    id: "stages",
    title: "Stages and ranks",
    about: "Any activity by stage and by rank. Choose ranks and stages, or click on one: the other chart then shows it alone.",
    missing: ({ views }) => (sources(views).length > 0 ? null : "Neither iterations nor a timeline are known: mark iterations with LBPROF_ITERATION_BEGIN of lbprof.h, or record with LBPROF_MODE=events."),
    build(host, data) {
        return new StagesAndRanks(data).fill(host);
    },
};

class StagesAndRanks {
    private readonly sources: Source[];
    private source: Source;
    private attribute = "computation";
    private length: number;
    private stages!: Stages;
    private share = false;
    private rankText = "";
    private stageText = "";
    private oneStage: number | null = null;
    private oneRow: number | null = null;
    private readonly byStage: Chart;
    private readonly byRank: Chart;
    private readonly totals = el("div", { class: "totals" });
    private readonly only = el("p", { class: "only", "aria-live": "polite" });
    private readonly wrong = el("p", { class: "missing", role: "alert" });
    private readonly stageTitle = el("h3");
    private readonly rankTitle = el("h3");
    private readonly choices = el("div", { class: "controls" });

    constructor(private readonly data: Data) {
        this.sources = sources(data.views);
        this.source = this.sources[0];
        this.length = defaultLength(this.source);
        this.add();
        this.byStage = new Chart(this.stageSpec());
        this.byRank = new Chart(this.rankSpec());
    }

    fill(host: HTMLElement): () => void {
        this.controls();
        this.show();
        host.append(this.choices, this.wrong, this.only, this.stageTitle, this.byStage.element, this.rankTitle, this.byRank.element, this.totals);
        onWindow(this, (window) => this.follow(window));
        host.addEventListener("selection", (event) => this.point((event as CustomEvent<Selection>).detail.rank));
        return () => {
            this.byStage.draw();
            this.byRank.draw();
            this.follow(timeWindow());
        };
    }

    /** Shows the rank that a link points out alone. */
    private point(rank: number | null): void {
        const row = rank === null ? -1 : rowOf(this.data, rank);
        if (row >= 0) {
            this.oneRow = row;
            this.change();
        }
    }

    private controls(): void {
        const { source } = this;
        const byName = choice(this.sources.map(({ name }) => [name, name]), source.name, (name) => {
            this.source = this.sources.find((one) => one.name === name) ?? source;
            this.length = defaultLength(this.source);
            if (!this.source.attributes.some((one) => one.name === this.attribute)) {
                this.attribute = "computation";
            }
            this.oneStage = null;
            this.controls();
            this.change();
        });
        const { isTime } = this;
        const length: HTMLInputElement = el("input", {
            type: "number",
            min: isTime ? (source.unit * 1e3).toPrecision(3) : source.unit,
            step: "any",
            value: isTime ? (this.length * source.unit * 1e3).toPrecision(4) : this.length * source.unit,
            class: "short",
            onchange: () => {
                const wanted = isTime ? Number(length.value) / 1e3 : Number(length.value);
                this.length = Math.min(source.columns, Math.max(1, Math.round(wanted / source.unit) || 1));
                this.oneStage = null;
                this.change();
                length.value = isTime ? (this.length * source.unit * 1e3).toPrecision(4) : String(this.length * source.unit);
            },
        });
        const lengthField = field("stage length", length);
        lengthField.append(isTime ? " ms" : " iterations");
        const text = (label: string, hint: string, value: string, take: (text: string) => void) => {
            const input: HTMLInputElement = el("input", { type: "text", placeholder: hint, value, size: 12, onchange: () => (take(input.value), this.change()) });
            return field(label, input);
        };
        this.choices.replaceChildren(
            field("attribute", choice(source.attributes.map(({ name }) => [name, name]), this.attribute, (name) => ((this.attribute = name), this.change()))),
            field("stages are", byName),
            lengthField,
            text("ranks", "all", this.rankText, (value) => ((this.rankText = value), (this.oneRow = null))),
            text("stages", "all", this.stageText, (value) => ((this.stageText = value), (this.oneStage = null))),
            field("as", choice([["time", "time"], ["share", "share of the stage"]], this.share ? "share" : "time", (value) => ((this.share = value === "share"), this.change()))),
        );
    }

    private add(): void {
        this.stages = stagesOf(this.source, this.attribute, this.length, this.data.views);
    }

    private change(): void {
        this.add();
        this.show();
        this.byStage.show(this.stageSpec());
        this.follow(timeWindow());
        this.byRank.show(this.rankSpec());
    }

    /** True if stages are slices of time. */
    private get isTime(): boolean {
        return this.source.unitName === "s";
    }

    private get stageSeconds(): number {
        return this.length * this.source.unit;
    }

    /** Shows the stages of a window of time that another view was zoomed to. */
    private follow(window: TimeWindow | null): void {
        if (this.isTime) {
            const last = Math.max(this.stages.count - 1, 1);
            this.byStage.zoomTo(window ? window.from / this.stageSeconds : 0, window ? Math.min(window.to / this.stageSeconds, last) : last);
        }
    }

    /** Rows of the chosen ranks. */
    private rows(): number[] {
        if (this.oneRow !== null) {
            return [this.oneRow];
        }
        const ranks = parseRanks(this.rankText, this.data);
        if (typeof ranks === "string") {
            return [];
        }
        return [...new Set([...ranks].map((rank) => rowOf(this.data, rank)))].filter((row) => row >= 0).sort((a, b) => a - b);
    }

    private chosenStages(): number[] {
        if (this.oneStage !== null) {
            return [this.oneStage];
        }
        const all = Array.from({ length: this.stages.count }, (_, stage) => stage);
        const parts = this.stageText.split(",").filter((part) => part.trim() !== "");
        const ranges = parts.map(parseRange);
        return parts.length === 0 ? all : all.filter((stage) => ranges.some((range) => range?.(stage)));
    }

    private stageName(stage: number): string {
        const { source, stages } = this;
        const first = stage * stages.columns;
        const last = Math.min(first + stages.columns, source.columns);
        if (source.unitName === "s") {
            return `stage ${stage} (${secondsLike(source.begin(first), this.data.report.run.elapsed_s)} to ${secondsLike(source.begin(last), this.data.report.run.elapsed_s)})`;
        }
        const end = source.end(last - 1);
        return end > source.begin(first) ? `stage ${stage} (iterations ${source.begin(first)} to ${end})` : `stage ${stage} (iteration ${source.begin(first)})`;
    }

    private chosen(rows: number[], stages: number[]): ChosenStages {
        return new ChosenStages(this.data.views, this.stages, rows, stages);
    }

    private stageSpec(): ChartSpec {
        const stages = this.oneStage === null ? this.chosenStages() : Array.from({ length: this.stages.count }, (_, stage) => stage);
        const chosen = this.chosen(this.rows(), stages);
        const values = stages.map((stage) => (this.share ? chosen.shareOfStage(stage) : chosen.inStage(stage)));
        return {
            label: `${this.attribute} by stage`,
            x: stages,
            ...this.look(values, stages.length <= 200),
            xText: (stage) => String(stage),
            zoomed: (from, to) => this.isTime && showWindow(from <= 0 && to >= this.stages.count - 1 ? null : { from: from * this.stageSeconds, to: to * this.stageSeconds }, this),
            choose: (index) => {
                this.oneStage = this.oneStage === stages[index] ? null : stages[index];
                this.change();
            },
        };
    }

    private rankSpec(): ChartSpec {
        const rows = this.oneRow === null ? this.rows() : Array.from({ length: this.data.views.ranks.rows }, (_, row) => row);
        const chosen = this.chosen(rows, this.chosenStages());
        const values = rows.map((row) => (this.share ? chosen.shareOfRow(row) : chosen.inRow(row)));
        return {
            label: `${this.attribute} by rank`,
            x: rows.map((row) => this.data.views.ranks.first[row]),
            ...this.look(values, true),
            xText: (rank) => String(rank),
            choose: (index) => {
                this.oneRow = this.oneRow === rows[index] ? null : rows[index];
                this.change();
            },
        };
    }

    private look(values: number[], bars: boolean) {
        const longest = Math.max(...values, 0);
        return {
            series: [{ name: this.attribute, values, colour: stateColour(this.attribute), bars }],
            height: 200,
            whole: true,
            text: (value: number) => (this.share ? percent(value) : secondsLike(value, longest)),
        };
    }

    /** Titles, what is chosen, and the table of totals. */
    private show(): void {
        const { views } = this.data;
        const rows = this.rows();
        const stages = this.chosenStages();
        const ranks = parseRanks(this.rankText, this.data);
        this.wrong.textContent = typeof ranks === "string" ? ranks : stages.length === 0 ? "no stage is in this list: 3, 8-15, 12-, 0-63:4" : "";
        const of = this.share ? "share of the time that is" : "time in";
        const who = this.oneRow === null ? `of ${plural(this.chosen(rows, stages).ranks, "rank")} together` : `of ${rowName(views, this.oneRow)}`;
        const when = this.oneStage === null ? `over ${plural(stages.length, "stage")}` : `in ${this.stageName(this.oneStage)}`;
        this.stageTitle.replaceChildren(`By `, term("stage"), `: ${of} ${this.attribute}, ${who}`);
        this.rankTitle.replaceChildren(`By rank: ${of} ${this.attribute}, ${when}`);
        this.only.replaceChildren(...this.pills());
        this.totals.replaceChildren(this.totalTable(rows, stages));
    }

    private pills(): HTMLElement[] {
        const pills: HTMLElement[] = [];
        if (this.oneStage !== null) {
            pills.push(button(`only ${this.stageName(this.oneStage)} ✕`, () => ((this.oneStage = null), this.change())));
        }
        if (this.oneRow !== null) {
            pills.push(button(`only ${rowName(this.data.views, this.oneRow)} ✕`, () => ((this.oneRow = null), this.change())));
        }
        return pills;
    }

    private stageLength(): string {
        const { source } = this;
        return source.unitName === "s" ? seconds(this.length * source.unit) : plural(this.length * source.unit, "iteration");
    }

    private totalTable(rows: number[], stages: number[]): HTMLElement {
        const { views } = this.data;
        const of = this.source.attributes.map(({ name }) => {
            const all = name === this.attribute ? this.stages : stagesOf(this.source, name, this.length, views);
            return { name, ...new ChosenStages(views, all, rows, stages).total(), whole_s: wholeRun(this.data, rows, name) };
        });
        return table({
            caption: `What was chosen: ${plural(this.chosen(rows, stages).ranks, "rank")}, ${plural(stages.length, "stage")} of ${this.stageLength()} each`,
            rows: of,
            columns: [
                { title: "attribute", cell: (row) => term(row.name) },
                { title: "all ranks", time: (row) => row.sum_s },
                { title: "mean of a rank", time: (row) => row.mean_s },
                { title: "share of their time", cell: (row) => percent(row.share), by: (row) => row.sum_s, right: true },
                { title: "longest", time: (row) => (row.sum_s > 0 ? row.longest_s : null), suffix: (row) => (row.sum_s > 0 ? ` (${rowName(views, row.longest_row ?? 0)})` : "") },
                { title: "these ranks in the whole run", time: (row) => row.whole_s },
            ],
        });
    }
}

/** About 100 stages at first. */
function defaultLength(source: Source): number {
    return source.unitName === "s" ? Math.max(1, Math.round(source.columns / 100)) : 1;
}
