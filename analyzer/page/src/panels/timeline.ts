// Ranks × time: what each rank does when, who waits for whom, and the messages between them.
import { button, choice, el, field } from "../dom";
import { rowOrder, rowSum, type Order } from "../order";
import { key } from "../legend";
import { stateColour } from "../palette";
import type { Data, Panel } from "../panel";
import { Picture, pictureHeight, type Plot, type Scene, type View } from "../picture";
import { markOutliers, outlierKey } from "../outliers";
import { paintTimeline, STACKED } from "../timeline/paint";
import { SpanIndex } from "../timeline/spans";
import { drawMessages, drawWait } from "../timeline/above";
import { waitOf, type Wait } from "../timeline/waits";
import { table } from "../table";
import { term } from "../tip";
import { ranksIn, rowLabel, rowName, rowOf, type Timeline } from "../views";
import { onWindow, showWindow, timeWindow, type TimeWindow } from "../window";
import { oneUnit, percent, plural, roundTicks, secondsLike, secondsTick, seconds, shortPath } from "../words";

export const timeline: Panel = {
    id: "timeline",
    title: "Timeline",
    about: "What each rank does when. Zoom in to see single calls and messages; click on a wait to see who ended it.",
    missing: ({ views, report }) => (views.timeline ? null : report.selection?.region ? "There is no timeline of a region: it shows all of the run, or a window." : "There is no timeline: calls were recorded as sums (profile mode), or --no-blocking was given."),
    build(host, data) {
        return new RanksOverTime(data, data.views.timeline as Timeline).fill(host);
    },
};

/** With more rows than this they are too low to show a stack each. */
const SHARED = 80;

class RanksOverTime {
    private order: Order = "rank";
    private rows: number[];
    /** Where each row of the matrices is shown. */
    private placeOf: number[] = [];
    private chosen: Wait | null = null;
    private messages = true;
    private readonly spans: SpanIndex | null;
    private readonly waits: SpanIndex;
    private readonly picture: Picture;
    private readonly inView = el("p", { class: "in-view", "aria-live": "polite" });
    private summing = false;
    private readonly details = el("div", { class: "details", "aria-live": "polite" });

    constructor(
        private readonly data: Data,
        private readonly of: Timeline,
    ) {
        const rowFor = (rank: number) => rowOf(data, rank);
        const { rows } = data.views.ranks;
        this.spans = of.spans ? new SpanIndex(of.spans, rows, rowFor) : null;
        this.waits = new SpanIndex(of.waits, rows, rowFor);
        this.rows = rowOrder(data.views, this.order, () => 0);
        this.place();
        this.picture = new Picture(this.scene(), pictureHeight(rows, 44, 26, 520));
    }

    fill(host: HTMLElement): () => void {
        const orders: [Order, string][] = [["rank", "rank"], ["load", "computation, the longest first"], ["host", "host"]];
        if (this.data.views.cluster_of_row) {
            orders.push(["cluster", "cluster"]);
        }
        const box = el("input", { type: "checkbox", checked: true, onchange: () => ((this.messages = !this.messages), this.picture.drawAbove()) });
        host.append(
            el(
                "div",
                { class: "controls" },
                field("sort by", choice(orders, this.order, (order) => this.sort(order as Order))),
                field("messages", box),
                button("+", () => this.zoom(0.5), { "aria-label": "zoom in" }),
                button("−", () => this.zoom(2), { "aria-label": "zoom out" }),
                button("show all", () => this.picture.reset()),
            ),
            el("div", { class: "legend" }, ...this.of.states.map((state) => key(stateColour(state), state)), key("var(--cell)", "not recorded, idle"), this.rows.length > SHARED && el("span", {}, `of many ranks, bands of ${STACKED} pixels show the shares of the states`), outlierKey(this.data)),
            this.picture.element,
            this.inView,
            this.details,
            this.longest(),
            el("p", { class: "hint" }, "Wheel: zoom in time, with Shift in ranks. Drag: zoom to the part; with Shift: move. Double click: all. A click chooses a wait; the arrow comes from the rank that ended it."),
        );
        this.explain();
        onWindow(this, (window) => this.follow(window));
        this.follow(timeWindow());
        return () => this.picture.draw();
    }

    /** Shows a window of time that another view was zoomed to. */
    private follow(window: TimeWindow | null): void {
        const { view } = this.picture;
        this.picture.zoomTo({ ...view, x0: window?.from ?? this.of.begin_s, x1: window?.to ?? this.of.end_s }, true);
        this.sumUpSoon();
    }

    /** Sums up once before the next frame, however often the view moves until then. */
    private sumUpSoon(): void {
        if (!this.summing) {
            this.summing = true;
            requestAnimationFrame(() => {
                this.summing = false;
                const { x0, x1 } = this.picture.view;
                this.inView.textContent = sumUp(this.data, this.of, x0, x1);
            });
        }
    }

    private zoom(factor: number): void {
        const { view } = this.picture;
        const middle = (view.x0 + view.x1) / 2;
        const half = ((view.x1 - view.x0) / 2) * factor;
        this.picture.zoomTo({ ...view, x0: middle - half, x1: middle + half });
    }

    private sort(order: Order): void {
        this.order = order;
        const computation = this.of.share["computation"];
        this.rows = rowOrder(this.data.views, order, (row) => (computation ? rowSum(computation, this.of.bins, row) : 0));
        this.place();
        this.picture.show(this.scene());
    }

    private place(): void {
        this.rows.forEach((row, at) => (this.placeOf[row] = at));
    }

    /** Where the row of a rank is shown, −1 where it is in none. */
    private shownAt = (rank: number): number => {
        const row = rowOf(this.data, rank);
        return row < 0 ? -1 : this.placeOf[row];
    };

    private scene(): Scene {
        const { of, rows } = this;
        const length = of.end_s - of.begin_s;
        return {
            label: `Timeline of ${plural(rows.length, "row")} of ranks over ${seconds(length)}`,
            rows: rows.length,
            x0: of.begin_s,
            x1: of.end_s,
            least: length / 1e6,
            step: (view: View) => (view.x1 - view.x0) / 100,
            paint: (plot) => {
                paintTimeline(plot, of, rows, this.spans);
                markOutliers(plot, this.data, rows);
            },
            overlay: (plot) => this.above(plot),
            rowName: (row) => rowLabel(this.data.views, rows[row]),
            ticks: (from, to, wanted) => {
                const ticks = roundTicks(from, to, wanted);
                const step = (ticks[1] ?? to) - (ticks[0] ?? from);
                return ticks.map((at) => ({ at, text: secondsTick(at, step, to) }));
            },
            describe: (x, row) => this.describe(x, row),
            choose: (x, row) => this.choose(x, row),
            moved: (view) => {
                const isAll = view.x0 <= of.begin_s && view.x1 >= of.end_s;
                showWindow(isAll ? null : { from: view.x0, to: view.x1 }, this);
                this.sumUpSoon();
            },
        };
    }

    private above(plot: Plot): void {
        if (this.messages) {
            drawMessages(plot, this.of.messages, this.shownAt);
        }
        if (this.chosen) {
            drawWait(plot, this.chosen, this.shownAt);
        }
    }

    private describe(x: number, row: number): string[] {
        const { of } = this;
        const matrixRow = this.rows[row];
        const lines = [`${rowName(this.data.views, matrixRow)} at ${secondsLike(x, of.end_s)}`];
        const span = this.spans?.at(matrixRow, x) ?? -1;
        if (span >= 0 && of.spans) {
            const { begin_s, end_s, state, region, site } = of.spans;
            const place = of.sites[site.at(span)];
            const name = of.states[state.at(span)];
            lines.push(`${name}, ${seconds(end_s.at(span) - begin_s.at(span))}`, `in ${shortPath(of.regions[region.at(span)] ?? "main")}`);
            if (place && name !== "computation") {
                lines.push(place);
            }
        } else {
            const bin = Math.min(of.bins - 1, Math.floor(((x - of.begin_s) / (of.end_s - of.begin_s)) * of.bins));
            const shares = of.states.map((state) => [state, of.share[state].at(matrixRow * of.bins + bin)] as const);
            lines.push(...shares.filter(([, share]) => share >= 0.005).map(([state, share]) => `${state} ${percent(share)}`));
        }
        const wait = this.waits.at(matrixRow, x);
        return wait >= 0 ? [...lines, waitLine(waitOf(of, wait))] : lines;
    }

    /** The wait under the place, or the nearest in the same row within a few pixels. */
    private choose(x: number, row: number): void {
        const { view } = this.picture;
        const near = (view.x1 - view.x0) / 150;
        const found = this.waits.nearest(this.rows[row], x, near);
        this.select(found < 0 ? null : waitOf(this.of, found));
    }

    private select(wait: Wait | null): void {
        this.chosen = wait;
        this.explain();
        this.picture.drawAbove();
    }

    /** What is known of the chosen wait. */
    private explain(): void {
        const { chosen, of } = this;
        if (!chosen) {
            this.details.replaceChildren(el("p", { class: "about" }, "No wait is chosen: click on one, or choose one of the longest below."));
            return;
        }
        const delaySource = chosen.delaySource === null ? "It is not known who ended it." : `Rank ${chosen.delaySource} ended it.`;
        this.details.replaceChildren(
            el("p", {}, el("b", {}, `Rank ${chosen.rank} waits ${seconds(chosen.end - chosen.begin)}`), ` from ${secondsLike(chosen.begin, of.end_s)} to ${secondsLike(chosen.end, of.end_s)}: `, term(chosen.state), `. ${delaySource}`),
            el("p", {}, `In ${shortPath(chosen.region)}${chosen.site ? `, at ${chosen.site}` : ""}.`),
            el("p", {}, button("zoom to it", () => this.zoomTo(chosen)), " ", button("forget it", () => this.select(null))),
        );
    }

    private zoomTo(wait: Wait): void {
        const room = Math.max((wait.end - wait.begin) * 0.6, (this.of.end_s - this.of.begin_s) / 2e5);
        this.picture.zoomTo({ x0: wait.begin - room, x1: wait.end + room, y0: 0, y1: this.rows.length });
    }

    private longest(): HTMLElement {
        const { of } = this;
        const n = of.waits.rank.length;
        const all = Array.from({ length: n }, (_, at) => waitOf(of, at)).sort((a, b) => b.end - b.begin - (a.end - a.begin));
        const top = all.slice(0, 100);
        if (top.length === 0) {
            return el("p", { class: "missing" }, "No waits are known here.");
        }
        const words = oneUnit(top[0].end - top[0].begin);
        return table<Wait>({
            caption: "Longest waits",
            rows: top,
            first: 6,
            columns: [
                { title: "wait", cell: (row) => button(words(row.end - row.begin), () => (this.select(row), this.zoomTo(row))), by: (row) => row.end - row.begin, right: true },
                { title: "rank", cell: (row) => String(row.rank), by: (row) => row.rank, right: true },
                { title: "for rank", term: "cause", cell: (row) => (row.delaySource === null ? "–" : String(row.delaySource)), by: (row) => row.delaySource, right: true },
                { title: "why", term: "waiting", cell: (row) => term(row.state) },
                { title: "from", time: (row) => row.begin },
                { title: "region", term: "region", cell: (row) => shortPath(row.region) },
                { title: "at", term: "call site", cell: (row) => row.site },
            ],
        });
    }
}

/** What the ranks do from one time to another, by the slices of time that lie in it. */
function sumUp(data: Data, of: Timeline, from: number, to: number): string {
    const length = (of.end_s - of.begin_s) / of.bins;
    const first = Math.max(0, Math.floor((from - of.begin_s) / length));
    const last = Math.min(of.bins, Math.max(first + 1, Math.ceil((to - of.begin_s) / length)));
    const { rows } = data.views.ranks;
    const ranks = data.views.ranks.count;
    const states = of.states.map((state) => {
        const perRow = Array.from({ length: rows }, (_, row) => {
            let sum = 0;
            for (let bin = first; bin < last; bin++) {
                sum += of.share[state].at(row * of.bins + bin) || 0;
            }
            return sum / (last - first);
        });
        return { state, perRow, share: perRow.reduce((all, share, row) => all + share * ranksIn(data.views, row), 0) / ranks };
    });
    const shares = states.filter(({ share }) => share >= 0.0005).sort((a, b) => b.share - a.share);
    const parts = shares.map(({ state, share }) => `${state} ${percent(share)}`);
    const computing = states.find(({ state }) => state === "computation")?.perRow ?? [];
    const most = Math.max(0, ...computing);
    const mean = states.find(({ state }) => state === "computation")?.share ?? 0;
    const balance = most > 0 ? ` Load balance ${percent(mean / most)}; longest computation: ${rowName(data.views, computing.indexOf(most))}.` : "";
    return `In view, ${secondsLike(from, of.end_s)} to ${secondsLike(to, of.end_s)}: ${parts.join(", ")} of the ranks' time.${balance}`;
}

function waitLine(wait: Wait): string {
    return `${wait.state}, waits ${seconds(wait.end - wait.begin)}${wait.delaySource === null ? "" : ` for rank ${wait.delaySource}`}`;
}
