// Tracks above the timeline, on its axis: the iterations of the main loop, the regions that all ranks are in, and those of one rank.
import { categoryColour, OTHERS_COLOUR } from "../pictures/palette";
import type { Data } from "../frame/panel";
import { Picture, type Plot, type Scene, type View } from "../pictures/picture";
import { poolMeans } from "../pictures/pool";
import { colour } from "../frame/theme";
import { columnName, rowOf, type Timeline } from "../data/views";
import { percent, seconds, secondsLike, shortPath } from "../wording/words";
import type { SpanIndex } from "./spans";

const HEIGHT = 26;

interface Track {
    name: string;
    paint(plot: Plot, top: number, height: number): void;
    describe(x: number): string[];
}

/** The tracks that there are data for; null where there are none. */
export class Tracks {
    readonly picture: Picture;
    private rank: number | null;
    /** The place of the region that stands out. */
    private pointedOut: number | null = null;

    constructor(
        private readonly data: Data,
        private readonly of: Timeline,
        private readonly spans: SpanIndex | null,
        private readonly moved: (view: View) => void,
    ) {
        this.rank = data.report.verdict.worst?.rank ?? null;
        this.picture = new Picture(this.scene(), this.height());
        this.picture.element.classList.add("tracks");
    }

    /** Shows the regions of this rank. */
    show(rank: number): void {
        this.rank = rank;
        this.picture.show(this.scene(), this.height());
    }

    /** Lets this region stand out: all others are pale. */
    pointOut(region: string | null): void {
        const at = this.of.region_course.regions.findIndex((one) => this.of.regions[one] === region);
        this.pointedOut = at < 0 ? null : at;
        this.picture.draw();
    }

    /** Draws in the colour of a region, by its place among those that are distinguished; the place after the last is of all others. */
    private ink(context: CanvasRenderingContext2D, at: number): void {
        context.fillStyle = at < this.of.region_course.regions.length ? categoryColour(at) : OTHERS_COLOUR;
        context.globalAlpha = this.pointedOut === null || this.pointedOut === at ? 1 : 0.15;
    }

    /** Colours with the regions that they stand for. */
    keys(): [colour: string, text: string][] {
        const { regions } = this.of.region_course;
        const named = regions.map((region, at): [string, string] => [categoryColour(at), shortPath(this.of.regions[region] ?? "main")]);
        return this.hasOthers() ? [...named, [OTHERS_COLOUR, "other regions"]] : named;
    }

    private tracks(): Track[] {
        return [this.iterations(), this.allRanks(), this.oneRank()].filter((track) => track !== null);
    }

    private height(): number {
        return this.tracks().length * HEIGHT + 8;
    }

    private scene(): Scene {
        const { of } = this;
        const tracks = this.tracks();
        return {
            label: `Tracks above the timeline: ${tracks.map(({ name }) => name).join(", ")}`,
            isBare: true,
            rows: tracks.length,
            x0: of.begin_s,
            x1: of.end_s,
            least: (of.end_s - of.begin_s) / 1e6,
            step: (view) => (view.x1 - view.x0) / 100,
            paint: (plot) =>
                tracks.forEach((track, row) => {
                    track.paint(plot, plot.py(row) + plot.ratio, plot.py(row + 1) - plot.py(row) - 2 * plot.ratio);
                    plot.context.globalAlpha = 1;
                }),
            rowName: (row) => tracks[row].name,
            ticks: () => [],
            describe: (x, row) => [`${tracks[row].name} at ${secondsLike(x, of.end_s)}`, ...tracks[row].describe(x)],
            moved: (view) => this.moved(view),
        };
    }

    /** Iterations, light and dark in turn. */
    private iterations(): Track | null {
        const of = this.data.views.iterations;
        if (!of) {
            return null;
        }
        const begin = (column: number) => (column < of.columns ? of.begin_s.at(column) : this.of.end_s);
        return {
            name: "iterations",
            paint: ({ context, px, view, ratio }, top, height) => {
                context.font = `${11 * ratio}px system-ui, sans-serif`;
                context.textBaseline = "middle";
                context.textAlign = "left";
                for (let column = 0; column < of.columns; column++) {
                    const [left, right] = [px(Math.max(begin(column), view.x0)), px(Math.min(begin(column + 1), view.x1))];
                    if (right <= left) {
                        continue;
                    }
                    context.fillStyle = column % 2 === 0 ? colour("line") : colour("cell");
                    context.fillRect(left, top, Math.max(right - left, 0.5), height);
                    const text = String(of.first[column]);
                    if (context.measureText(text).width + 6 * ratio < right - left) {
                        context.fillStyle = colour("text");
                        context.fillText(text, left + 3 * ratio, top + height / 2);
                    }
                }
            },
            describe: (x) => {
                const column = Array.from({ length: of.columns }, (_, at) => begin(at)).findLastIndex((at) => at <= x);
                return column < 0 ? ["before the main loop"] : [columnName(of, column), `of ${shortPath(of.region)}`];
            },
        };
    }

    private hasOthers(): boolean {
        const { bins, regions, share } = this.of.region_course;
        return Array.from({ length: bins }, (_, bin) => share.at(regions.length * bins + bin)).some((one) => one > 0);
    }

    /** The share of the ranks' time in each region, stacked. */
    private allRanks(): Track | null {
        const { of } = this;
        const { bins, regions, share } = of.region_course;
        if (share.length === 0) {
            return null;
        }
        const place = (x: number) => ((x - of.begin_s) / (of.end_s - of.begin_s)) * bins;
        const name = (row: number) => (row < regions.length ? shortPath(of.regions[regions[row]] ?? "main") : "other regions");
        return {
            name: "regions, all",
            paint: ({ context, width, view }, top, height) => {
                const levels = new Float32Array(width);
                for (let row = 0; row <= regions.length; row++) {
                    const means = poolMeans(share, bins, [row], { x0: place(view.x0), x1: Math.min(place(view.x1), bins), y0: 0, y1: 1 }, width, 1);
                    this.ink(context, row);
                    for (let x = 0; x < width; x++) {
                        if (means[x] > 0) {
                            const from = Math.round(top + levels[x] * height);
                            levels[x] += means[x];
                            context.fillRect(x, from, 1, Math.round(top + levels[x] * height) - from);
                        }
                    }
                }
            },
            describe: (x) => {
                const bin = Math.min(Math.floor(place(x)), bins - 1);
                const shares = Array.from({ length: regions.length + 1 }, (_, row) => ({ row, of: share.at(row * bins + bin) }));
                return shares
                    .filter(({ of }) => of >= 0.005)
                    .sort((a, b) => b.of - a.of)
                    .slice(0, 6)
                    .map(({ row, of }) => `${name(row)} ${percent(of)}`);
            },
        };
    }

    /** The regions of one rank, of short runs. */
    private oneRank(): Track | null {
        const { of, spans, rank } = this;
        const all = of.spans;
        const row = rank === null ? -1 : rowOf(this.data, rank);
        if (!all || !spans || row < 0) {
            return null;
        }
        const places = new Map(of.region_course.regions.map((region, at) => [region, at]));
        return {
            name: `regions, ${rank}`,
            paint: ({ context, px, view }, top, height) =>
                spans.each(row, view.x0, view.x1, (index) => {
                    const [left, right] = [px(Math.max(all.begin_s.at(index), view.x0)), px(Math.min(all.end_s.at(index), view.x1))];
                    this.ink(context, places.get(all.region.at(index)) ?? places.size);
                    context.fillRect(left, top, Math.max(right - left, 0.5), height);
                }),
            describe: (x) => {
                const span = spans.at(row, x);
                return span < 0 ? ["not recorded"] : [`rank ${rank} in ${of.regions[all.region.at(span)] ?? "main"}`, `${of.states[all.state.at(span)]}, ${seconds(all.end_s.at(span) - all.begin_s.at(span))}`];
            },
        };
    }
}
