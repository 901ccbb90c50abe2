// The threads of a rank on the timeline's axis, on demand: its parallel regions, and the threads of their teams where each was recorded.
import { choice, el, field } from "../frame/dom";
import { key } from "../pictures/legend";
import { categoryColour } from "../pictures/palette";
import { Picture, pictureHeight, type Plot, type Scene } from "../pictures/picture";
import { onWindow, showWindow, type TimeWindow } from "../frame/timewindow";
import type { Timeline } from "../data/views";
import { percent, plural, roundTicks, seconds, secondsLike, secondsTick } from "../wording/words";
import { SpanIndex } from "./spans";

type Teams = NonNullable<Timeline["teams"]>;

/** Regions that have a colour of their own in the legend. */
const MOST_KEYS = 10;

/** A picture that is made when it is opened; null where ranks have no parallel regions. */
export class ThreadsOfRank {
    readonly element: HTMLElement;
    private picture: Picture | null = null;
    private rank: number;
    private window: TimeWindow | null = null;
    private readonly place = el("div");

    static of(timeline: Timeline, rank: number | null): ThreadsOfRank | null {
        return timeline.teams ? new ThreadsOfRank(timeline, timeline.teams, rank) : null;
    }

    private constructor(
        private readonly of: Timeline,
        private readonly teams: Teams,
        wanted: number | null,
    ) {
        const ranks = [...new Set(Array.from({ length: teams.rank.length }, (_, at) => teams.rank.at(at)))].sort((a, b) => a - b);
        this.rank = wanted !== null && ranks.includes(wanted) ? wanted : ranks[0];
        const names = ranks.map((rank): [string, string] => [String(rank), `rank ${rank}`]);
        const chooser = choice(names, String(this.rank), (rank) => ((this.rank = Number(rank)), this.show()));
        const keys = teams.names.slice(0, MOST_KEYS).map((name, at) => key(categoryColour(at), name));
        const details = el("details", { ontoggle: () => details.open && !this.picture && this.show() }, el("summary", {}, "Threads of a rank"), el("div", { class: "controls" }, field("threads of", chooser)), el("div", { class: "legend" }, ...keys), this.place);
        this.element = details;
        onWindow(this, (window) => this.follow(window));
    }

    /** Draws again, if it is open. */
    draw(): void {
        this.picture?.draw();
    }

    private show(): void {
        const scene = this.scene();
        this.picture = new Picture(scene, pictureHeight(scene.rows, 26, 18, 400));
        this.place.replaceChildren(this.picture.element);
        this.follow(this.window);
        this.picture.draw();
    }

    private follow(window: TimeWindow | null): void {
        this.window = window;
        if (this.picture) {
            const { view } = this.picture;
            this.picture.zoomTo({ ...view, x0: window?.from ?? this.of.begin_s, x1: window?.to ?? this.of.end_s }, true);
        }
    }

    /** A row for the regions, then one for each thread: of the team that was the largest, where the log has each. */
    private scene(): Scene {
        const { of, teams, rank } = this;
        const own = Array.from({ length: teams.rank.length }, (_, at) => at).filter((at) => teams.rank.at(at) === rank);
        const threads = own.reduce((most, at) => Math.max(most, (teams.thread.at(at) || 0) + (Number.isNaN(teams.thread.at(at)) ? 0 : 1)), 0);
        const rowFor = (at: number) => (Number.isNaN(teams.thread.at(at)) ? 0 : teams.thread.at(at) + 1);
        const rows = threads + 1;
        // The index finds spans by the row that takes the place of a rank.
        const rowOfSpan = Float64Array.from({ length: teams.rank.length }, (_, at) => (teams.rank.at(at) === rank ? rowFor(at) : -1));
        const spans = new SpanIndex({ ...teams, rank: { length: rowOfSpan.length, at: (index: number) => rowOfSpan[index] } }, rows, (row) => row);
        const describe = (x: number, row: number) => {
            const at = spans.at(row, x);
            const where = row === 0 ? `parallel regions of rank ${rank}` : `thread ${row - 1} of rank ${rank}`;
            return [`${where} at ${secondsLike(x, of.end_s)}`, ...(at < 0 ? ["in no parallel region"] : this.lines(at))];
        };
        return {
            label: `Threads of rank ${rank}: ${plural(threads, "thread")} in ${plural(own.length, "interval")}`,
            rows,
            x0: of.begin_s,
            x1: of.end_s,
            least: (of.end_s - of.begin_s) / 1e6,
            step: (view) => (view.x1 - view.x0) / 100,
            paint: (plot) => {
                for (let row = 0; row < rows; row++) {
                    spans.each(row, plot.view.x0, plot.view.x1, (at) => this.bar(plot, row, at));
                }
            },
            rowName: (row) => (row === 0 ? "regions" : `thread ${row - 1}`),
            ticks: (from, to, wanted) => {
                const ticks = roundTicks(from, to, wanted);
                const step = (ticks[1] ?? to) - (ticks[0] ?? from);
                return ticks.map((at) => ({ at, text: secondsTick(at, step, to) }));
            },
            describe,
            moved: (view) => showWindow(view.x0 <= of.begin_s && view.x1 >= of.end_s ? null : { from: view.x0, to: view.x1 }, this),
        };
    }

    /** A region, or a thread in it: full colour as high as the share of the time in which the thread works. */
    private bar({ context, px, py, view, ratio }: Plot, row: number, at: number): void {
        const { teams } = this;
        const [left, right] = [px(Math.max(teams.begin_s.at(at), view.x0)), px(Math.min(teams.end_s.at(at), view.x1))];
        const [top, height] = [py(row) + ratio, py(row + 1) - py(row) - 2 * ratio];
        const share = row === 0 ? 1 : this.share(at);
        context.fillStyle = categoryColour(teams.name.at(at));
        context.globalAlpha = 0.3;
        context.fillRect(left, top, Math.max(right - left, 0.5), height);
        context.globalAlpha = 1;
        context.fillRect(left, top + (1 - share) * height, Math.max(right - left, 0.5), share * height);
    }

    /** The share of its time in which a thread works. */
    private share(at: number): number {
        const { begin_s, end_s, useful_s } = this.teams;
        return Math.min(1, useful_s.at(at) / Math.max(end_s.at(at) - begin_s.at(at), 1e-12));
    }

    private lines(at: number): string[] {
        const { teams } = this;
        const lines = [`${teams.names[teams.name.at(at)] ?? "parallel region"}, ${seconds(teams.end_s.at(at) - teams.begin_s.at(at))}`];
        return Number.isNaN(teams.thread.at(at)) ? [...lines, plural(teams.team.at(at), "thread")] : [...lines, `works ${percent(this.share(at))} of it`];
    }
}
