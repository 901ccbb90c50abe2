// Ranks × time: what each rank does when, who waits for whom, and the messages between them.
import type { Selection } from "../frame/address";
import { append, button, choice, el, field, panelLink } from "../frame/dom";
import { NOT_REPLAYED } from "../wording/emptyreasons";
import { rowOrder, rowSum, type Order } from "../data/roworder";
import { key } from "../pictures/legend";
import { lifetimeBar } from "../lifetime";
import { stateColour } from "../pictures/palette";
import type { Data, Panel } from "../frame/panel";
import { Picture, pictureHeight, type Plot, type Scene, type View } from "../pictures/picture";
import { listedOutlierRows, markOutliers, outlierKey } from "../data/outliers";
import { drawSelected } from "../pictures/outline";
import { causeChain, type ChainLink } from "../timeline/chain";
import { paintLine, paintMain, paintTimeline, STACKED } from "../timeline/paint";
import { functionKeys, stackAt, StacksOfRank, type Stacks } from "../timeline/stacks";
import { Tracks } from "../timeline/tracks";
import { SpanIndex } from "../timeline/spans";
import { drawMessages, drawWait } from "../timeline/overlay";
import { ThreadsOfRank } from "../timeline/teams";
import { waitNumber, waitOf, type Wait } from "../timeline/waits";
import { table } from "../frame/table";
import { term } from "../frame/tip";
import { columnOf, ranksIn, rowLabel, rowName, rowOf, timesOf, type Timeline } from "../data/views";
import { onWindow, showWindow, timeWindow, type TimeWindow } from "../frame/timewindow";
import { sitePlace } from "./listing/callsites";
import { functionName } from "./code/functions";
import { oneUnit, percent, plural, roundTicks, secondsLike, secondsTick, seconds, shortPath } from "../wording/words";

export const timeline: Panel = {
    id: "timeline",
    title: "Timeline",
    about: "What each rank does when. Zoom in to see single calls and messages; click on a wait to see what caused it.",
    missing: ({ views, report }) => (views.timeline ? null : report.selection?.region ? "There is no timeline of a region: make the page without --region; --from and --to show a window." : `There is no timeline. ${NOT_REPLAYED}`),
    build(host, data) {
        return new RanksOverTime(data, data.views.timeline as Timeline).fill(host);
    },
};

class RanksOverTime {
    private order: Order = "rank";
    private rows: number[];
    /** The position of each row of the matrices. */
    private placeOf: number[] = [];
    private chosen: Wait | null = null;
    private chain: ChainLink[] = [];
    private selection: Selection = { rank: null, region: null, iterations: null };
    private messages = true;
    private readonly spans: SpanIndex | null;
    private readonly waits: SpanIndex;
    private readonly picture: Picture;
    private readonly tracks: Tracks;
    private readonly threads: ThreadsOfRank | null;
    private readonly legend = el("div", { class: "legend" });
    private readonly stacks: StacksOfRank | null;
    /** The functions by samples, while these are shown. */
    private functions: Stacks | null = null;
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
        this.stacks = of.stacks && new StacksOfRank(data, of, of.stacks, data.report.verdict.worst?.rank ?? data.views.ranks.first[0]);
        this.threads = ThreadsOfRank.of(of, data.report.verdict.worst?.rank ?? null);
        this.tracks = new Tracks(data, of, this.spans, ({ x0, x1 }) => this.picture.zoomTo({ ...this.picture.view, x0, x1 }));
    }

    fill(host: HTMLElement): () => void {
        const orders: [Order, string][] = [["rank", "rank"], ["load", "computation: slow ranks on top"], ["host", "host"]];
        if (this.data.views.cluster_of_row) {
            orders.push(["cluster", "cluster"]);
        }
        const box = el("input", { type: "checkbox", checked: true, onchange: () => ((this.messages = !this.messages), this.picture.drawAbove()) });
        host.append(
            el(
                "div",
                { class: "controls" },
                this.of.stacks && field("show", choice([["states", "states"], ["functions", "functions, by samples"]], "states", (what) => this.showFunctions(what === "functions"))),
                field("sort by", choice(orders, this.order, (order) => this.sort(order as Order))),
                field("messages", box),
                button("+", () => this.zoom(0.5), { "aria-label": "zoom in" }),
                button("−", () => this.zoom(2), { "aria-label": "zoom out" }),
                button("show all", () => this.picture.reset()),
            ),
            this.legend,
            this.tracks.picture.element,
            this.picture.element,
            el("details", { open: this.tracks.keys().length <= 8 }, el("summary", {}, "Colours of regions"), el("div", { class: "legend" }, ...this.tracks.keys().map(([colour, text]) => key(colour, text)))),
            this.stacks?.element ?? "",
            this.threads?.element ?? "",
            this.inView,
            this.details,
            this.longest(),
            lifetimeBar(this.data.report) ?? "",
            el("p", { class: "hint" }, "Wheel: zoom in time, with Shift in ranks. Drag: zoom to the part; with Shift: move. Double click: all. Keys W, S: zoom; A, D: move. A click chooses a wait; arrows come from the ranks that ended it."),
        );
        this.explain();
        host.addEventListener("selection", (event) => this.point((event as CustomEvent<Selection>).detail));
        host.addEventListener("find", (event) => {
            const at = waitNumber((event as CustomEvent<string>).detail, this.of);
            if (at >= 0) {
                this.select(waitOf(this.of, at));
                this.zoomTo(waitOf(this.of, at));
            }
        });
        onWindow(this, (window) => this.follow(window));
        this.follow(timeWindow());
        return () => {
            this.tracks.picture.draw();
            this.picture.draw();
            this.stacks?.draw();
            this.threads?.draw();
            this.explainColours();
        };
    }

    /** Marks what a link points out, and chooses the longest wait of this rank, or for it, in these iterations. */
    private point(selection: Selection): void {
        this.selection = selection;
        this.tracks.pointOut(selection.region);
        if (selection.rank !== null) {
            this.tracks.show(selection.rank);
        }
        const window = this.selectedTimes();
        if (window && selection.rank !== null) {
            const { waits } = this.of;
            const touches = (at: number) => waits.end_s.at(at) > window.from && waits.begin_s.at(at) < window.to && (waits.rank.at(at) === selection.rank || waits.delay_source.at(at) === selection.rank);
            const first = Array.from({ length: waits.rank.length }, (_, at) => at).find(touches);
            this.select(first === undefined ? null : waitOf(this.of, first));
        }
        this.picture.drawAbove();
    }

    /** When the selected iterations begin and end. */
    private selectedTimes(): TimeWindow | null {
        const { iterations: range } = this.selection;
        const of = this.data.views.iterations;
        const [from, to] = range && of ? [columnOf(of, range.first), columnOf(of, range.last)] : [-1, -1];
        return of && from >= 0 && to >= 0 ? timesOf(this.data, of, from, to + 1) : null;
    }

    private showFunctions(wanted: boolean): void {
        this.functions = wanted ? this.of.stacks : null;
        this.explainColours();
        this.picture.draw();
    }

    /** The legend: states, or functions, and what a pixel shows. */
    private explainColours(): void {
        const states = this.of.states.filter((state) => !this.functions || state !== "computation");
        const functions = this.functions ? [...functionKeys(this.of, this.functions), [stateColour("computation"), "computation without samples"]] : [];
        const isMain = this.functions || this.picture.rowHeight() < STACKED;
        this.legend.replaceChildren(
            ...functions.map(([colour, text]) => key(colour, text)),
            ...states.map((state) => key(stateColour(state), state)),
            key("var(--cell)", "not recorded, idle"),
            isMain ? "a pixel has the state with most time in it" : "",
            outlierKey(this.data) || "",
        );
    }

    /** Shows a window of time that another view was zoomed to. */
    private follow(window: TimeWindow | null): void {
        const { view } = this.picture;
        this.picture.zoomTo({ ...view, x0: window?.from ?? this.of.begin_s, x1: window?.to ?? this.of.end_s }, true);
        this.zoomTracks();
        this.sumUpSoon();
    }

    private zoomTracks(): void {
        const { x0, x1 } = this.picture.view;
        this.tracks.picture.zoomTo({ ...this.tracks.picture.view, x0, x1 }, true);
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

    /** The position of the row of a rank, or −1 if it is in none. */
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
                this.functions ? paintMain(plot, of, rows, this.spans, this.functions) : paintTimeline(plot, of, rows, this.spans);
                if (this.picture.rowHeight() < 2) {
                    listedOutlierRows(this.data).forEach((row) => paintLine(plot, of, row, this.placeOf[row]));
                }
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
                this.zoomTracks();
                this.explainColours();
                this.sumUpSoon();
            },
        };
    }

    private above(plot: Plot): void {
        if (this.messages) {
            drawMessages(plot, this.of.messages, this.shownAt);
        }
        const { rank } = this.selection;
        const window = this.selectedTimes();
        drawSelected(plot, { row: rank === null || this.shownAt(rank) < 0 ? null : this.shownAt(rank), columns: window });
        if (this.chosen) {
            [...this.chain].reverse().forEach(({ waited }) => waited && drawWait(plot, waited, this.shownAt));
            drawWait(plot, this.chosen, this.shownAt);
        }
    }

    private describe(x: number, row: number): string[] {
        const { of } = this;
        const matrixRow = this.rows[row];
        const lines = [`${rowName(this.data.views, matrixRow)} at ${secondsLike(x, of.end_s)}`];
        const span = this.spans?.at(matrixRow, x) ?? -1;
        lines.push(...(this.functions ? stackAt(of, this.functions, matrixRow, x) : []));
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
        this.stacks?.show(this.data.views.ranks.first[this.rows[row]]);
    }

    private select(wait: Wait | null): void {
        this.chosen = wait;
        this.chain = wait ? causeChain(wait, (rank, from, to) => this.waitsOf(rank, from, to)) : [];
        if (wait) {
            this.tracks.show(this.chain.at(-1)?.rank ?? wait.rank);
        }
        this.explain();
        this.picture.drawAbove();
    }

    /** Describes the chosen wait. */
    private explain(): void {
        const { chosen, of } = this;
        if (!chosen) {
            this.details.replaceChildren(el("p", { class: "about" }, "No wait is chosen: click on one, or choose one of the longest below."));
            return;
        }
        this.details.replaceChildren(
            el("p", {}, el("b", {}, `Rank ${chosen.rank} waits ${seconds(chosen.end - chosen.begin)}`), ` from ${secondsLike(chosen.begin, of.end_s)} to ${secondsLike(chosen.end, of.end_s)}: `, term(chosen.state), ...this.placeOfWait(chosen), "."),
            this.causes(chosen),
            el("p", {}, button("zoom to it", () => this.zoomTo(chosen)), " ", button("forget it", () => this.select(null))),
        );
    }

    /** The place of a wait: the call and its source line, and the region. */
    private placeOfWait({ site, region }: Wait): (string | Node)[] {
        const operation = this.data.report.callsites.find((one) => sitePlace(one) === site)?.operation;
        const call = operation ? `MPI_${operation} at ${site}` : site;
        return [...(site ? [", in ", panelLink({ panel: "callsites", find: operation ? site : (/\(([^()]+:\d+)\)/.exec(site)?.[1] ?? site) }, call)] : []), `, region ${shortPath(region)}`];
    }

    /** The chain of causes, from the rank that ended the wait on. */
    private causes(wait: Wait): HTMLElement {
        if (this.chain.length === 0) {
            return el("p", {}, "It is not known who ended it: no rank did, or the calls could not be matched.");
        }
        const list = el("ol", { class: "chain", "aria-label": "Chain of causes" });
        for (const [at, link] of this.chain.entries()) {
            const { rank, begin, end, waited } = link;
            const word = at === 0 ? `Rank ${rank} ended it.` : `Rank ${rank} ended that.`;
            const work = end > begin ? ` Until then it worked ${seconds(end - begin)}` : "";
            const line = el("li", {}, el("b", {}, word), work);
            append(line, work ? [...this.work(link), "."] : []);
            append(line, waited ? [` Before, it waited ${seconds(waited.end - Math.max(waited.begin, wait.begin))} for rank ${waited.delaySource}`, ...this.placeOfWait(waited), "."] : []);
            list.append(line);
        }
        const last = this.chain.at(-1)!;
        const all = panelLink({ panel: "waiting", rank: last.rank }, `all that waits for rank ${last.rank}`);
        return el("div", {}, el("p", {}, term("chain of causes", "Chain of causes"), ":"), list, el("p", {}, el("b", {}, `Cause: rank ${last.rank}`), ". See ", all, "."));
    }

    /** The work of a rank from the start of a link to its end: the region with most of that time, and the function with most of the region. */
    private work({ rank, begin, end }: ChainLink): (string | Node)[] {
        const { of } = this;
        const row = rowOf(this.data, rank);
        const all = of.spans;
        if (!all || !this.spans || row < 0) {
            const cause = this.data.report.blocking?.causes.find((one) => one.rank === rank);
            return cause ? [`; over the whole run most waiting comes from its ${cause.activity ?? "messages"} in ${shortPath(cause.region)}`, ...this.functionOf(cause.region)] : [];
        }
        const times = new Map<string, number>();
        this.spans.each(row, begin, end, (index) => {
            const state = of.states[all.state.at(index)];
            const time = Math.min(all.end_s.at(index), end) - Math.max(all.begin_s.at(index), begin);
            if (state !== "waiting" && time > 0) {
                const region = of.regions[all.region.at(index)] ?? "main";
                const place = `${state === "computation" ? "" : `${of.sites[all.site.at(index)] ?? state} in `}${shortPath(region)}\n${region}`;
                times.set(place, (times.get(place) ?? 0) + time);
            }
        });
        const [most] = [...times].sort((a, b) => b[1] - a[1]);
        if (!most) {
            return [];
        }
        const [words, region] = most[0].split("\n");
        return [`, ${seconds(most[1])} of it in ${words}`, ...this.functionOf(region)];
    }

    /** The source line: the function with most samples in a region. */
    private functionOf(region: string): (string | Node)[] {
        const found = this.data.report.functions?.regions.find((one) => one.region === region)?.functions[0];
        return found ? [", mostly in ", panelLink({ panel: "code", region }, functionName(found))] : [];
    }

    /** The waits of a rank that touch a time. */
    private waitsOf(rank: number, from: number, to: number): Wait[] {
        const found: Wait[] = [];
        const row = rowOf(this.data, rank);
        if (row >= 0) {
            this.waits.each(row, from, to, (index) => {
                if (this.of.waits.rank.at(index) === rank) {
                    found.push(waitOf(this.of, index));
                }
            });
        }
        return found;
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
            return el("p", { class: "missing" }, "No rank waits here: the calls were too few, or every partner was there in time.");
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

/** The states of the ranks in a range of time, by the slices of time in it. */
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
