// The functions that ranks are in over time, by samples: their colours, and those of one rank with their callers as a picture.
import { FUNCTION_COLOURS, OTHERS_COLOUR } from "../pictures/palette";
import { Picture, type Plot, type Scene } from "../pictures/picture";
import { onWindow, showWindow, type TimeWindow } from "../frame/timewindow";
import { rowName, rowOf, type Timeline } from "../data/views";
import type { Data } from "../frame/panel";
import { percent, secondsLike, withoutTemplateArguments } from "../wording/words";
import { el } from "../frame/dom";

export type Stacks = NonNullable<Timeline["stacks"]>;

/** Height of a function in the picture of a rank's stacks, and the most callers that are shown, the outermost. */
const HEIGHT = 18;
const MOST_DEEP = 24;

/** Functions in less of the computation than this have no colour of their own. */
const LEAST_SEEN = 0.002;

/** By timeline the functions that have a colour, those seen most first. */
const shown = new WeakMap<Timeline, number[]>();

function shownFunctions(times: Timeline, of: Stacks): number[] {
    const found = shown.get(times) ?? mostSeen(times, of).slice(0, FUNCTION_COLOURS.length);
    shown.set(times, found);
    return found;
}

/** The functions that are seen while ranks compute, those seen most first. */
function mostSeen(times: Timeline, of: Stacks): number[] {
    const seen = of.functions.map(() => 0);
    const computation = times.share["computation"];
    for (let at = 0; at < of.node.length; at++) {
        const node = of.node.at(at);
        if (!Number.isNaN(node)) {
            const bin = Math.floor((((at % of.bins) + 0.5) / of.bins) * times.bins);
            seen[of.function.at(node)] += computation?.at(Math.floor(at / of.bins) * times.bins + bin) || 0;
        }
    }
    const least = LEAST_SEEN * seen.reduce((sum, one) => sum + one, 0);
    return seen.map((_, at) => at).filter((at) => seen[at] > least).sort((a, b) => seen[b] - seen[a]);
}

/** The colour of a function; only those that are seen most have their own. */
export function functionColour(times: Timeline, of: Stacks, at: number): string {
    return FUNCTION_COLOURS[shownFunctions(times, of).indexOf(at)] ?? OTHERS_COLOUR;
}

/** Colours with the functions that they stand for. */
export function functionKeys(times: Timeline, of: Stacks): [colour: string, text: string][] {
    const keys = shownFunctions(times, of).map((at): [string, string] => [functionColour(times, of, at), withoutTemplateArguments(of.functions[at])]);
    return of.functions.filter(Boolean).length > keys.length ? [...keys, [OTHERS_COLOUR, "other functions"]] : keys;
}

function nodeAt(times: Timeline, of: Stacks, row: number, time: number): number {
    const bin = Math.min(of.bins - 1, Math.floor(((time - times.begin_s) / (times.end_s - times.begin_s)) * of.bins));
    return of.node.at(row * of.bins + bin);
}

/** The function with most samples there, NaN without samples. */
export function functionAt(times: Timeline, of: Stacks, row: number, time: number): number {
    return of.function.at(nodeAt(times, of, row, time));
}

/** The functions there, the innermost first. */
export function stackAt(times: Timeline, of: Stacks, row: number, time: number): string[] {
    return nodesOf(of, nodeAt(times, of, row, time)).map((node) => of.functions[of.function.at(node)]);
}

/** A node and its callers. */
function nodesOf(of: Stacks, node: number): number[] {
    const nodes: number[] = [];
    for (let at = node; !Number.isNaN(at); at = of.parent.at(at)) {
        nodes.push(at);
    }
    return nodes;
}

/** The functions of one rank over time, below their callers. */
export class StacksOfRank {
    readonly element: HTMLElement;
    private readonly title = el("h3");
    private readonly picture: Picture;
    /** By bin the nodes, the outermost first. */
    private stacks: number[][] = [];

    constructor(
        private readonly data: Data,
        private readonly times: Timeline,
        private readonly of: Stacks,
        private rank: number,
    ) {
        this.read();
        this.picture = new Picture(this.scene(), this.height());
        this.element = el("div", {}, this.title, this.picture.element);
        onWindow(this, (window) => this.follow(window));
    }

    /** Shows the functions of this rank. */
    show(rank: number): void {
        this.rank = rank;
        this.read();
        this.picture.show(this.scene(), this.height());
    }

    draw(): void {
        this.picture.draw();
    }

    private get row(): number {
        return Math.max(rowOf(this.data, this.rank), 0);
    }

    private read(): void {
        const { bins, node } = this.of;
        this.stacks = Array.from({ length: bins }, (_, bin) => nodesOf(this.of, node.at(this.row * bins + bin)).reverse().slice(0, MOST_DEEP));
        this.title.textContent = `Function stacks of ${rowName(this.data.views, this.row)}, by samples`;
    }

    private depth(): number {
        return this.stacks.reduce((most, stack) => Math.max(most, stack.length), 1);
    }

    private height(): number {
        return this.depth() * HEIGHT + 26;
    }

    private follow(window: TimeWindow | null): void {
        this.picture.zoomTo({ ...this.picture.view, x0: window?.from ?? this.times.begin_s, x1: window?.to ?? this.times.end_s }, true);
    }

    private scene(): Scene {
        const { times, of } = this;
        const bin = (x: number) => Math.min(of.bins - 1, Math.floor(((x - times.begin_s) / (times.end_s - times.begin_s)) * of.bins));
        return {
            label: `Function stacks of ${rowName(this.data.views, this.row)} over time`,
            rows: this.depth(),
            x0: times.begin_s,
            x1: times.end_s,
            least: (times.end_s - times.begin_s) / 1e6,
            step: (view) => Math.max((view.x1 - view.x0) / 100, (times.end_s - times.begin_s) / of.bins),
            paint: (plot) => this.paint(plot),
            rowName: () => "",
            ticks: () => [],
            describe: (x, depth) => {
                const stack = this.stacks[bin(x)].slice(0, depth + 1).reverse();
                const n = this.stacks.filter((other) => other[depth] === stack.at(0)).length;
                return [secondsLike(x, times.end_s), ...(stack.length > depth ? [...stack.map((node) => of.functions[of.function.at(node)]), `in ${percent(n / of.bins)} of the picture`] : ["no sample"])];
            },
            moved: ({ x0, x1 }) => showWindow(x0 <= times.begin_s && x1 >= times.end_s ? null : { from: x0, to: x1 }, this),
        };
    }

    /** Boxes of successive bins in the same function, with its name where there is room. */
    private paint({ context, px, py, ratio }: Plot): void {
        const { times, of, stacks } = this;
        const at = (bin: number) => px(times.begin_s + (bin / of.bins) * (times.end_s - times.begin_s));
        context.font = `${11 * ratio}px system-ui, sans-serif`;
        context.textBaseline = "middle";
        context.textAlign = "left";
        for (let depth = 0; depth < this.depth(); depth++) {
            for (let from = 0, to = 0; from < of.bins; from = to) {
                const node = stacks[from][depth];
                for (to = from + 1; to < of.bins && stacks[to][depth] === node; to++);
                if (node === undefined) {
                    continue;
                }
                const [left, right, name] = [at(from), at(to), withoutTemplateArguments(of.functions[of.function.at(node)])];
                context.fillStyle = functionColour(times, of, of.function.at(node));
                context.fillRect(left, py(depth) + ratio, Math.max(right - left, 0.5), py(depth + 1) - py(depth) - ratio);
                if (context.measureText(name).width + 8 * ratio < right - Math.max(left, 0)) {
                    context.fillStyle = "#000000";
                    context.fillText(name, Math.max(left, 0) + 4 * ratio, (py(depth) + py(depth + 1)) / 2);
                }
            }
        }
    }
}
