// A picture of rows × a continuous axis on a canvas: margins, ticks, zoom by wheel and brush, a cursor for pointer and keyboard.
// What is drawn inside is the scene's business.
import { el } from "../frame/dom";
import { pngButton } from "../frame/save";
import { colour } from "../frame/theme";
import { hideTip, showAt } from "../frame/tip";

/** The part of the scene that is in view; rows count from the top. */
export interface View {
    x0: number;
    x1: number;
    y0: number;
    y1: number;
}

/** The plot to draw into: a context whose origin is the plot's upper left corner, in device pixels. */
export interface Plot {
    context: CanvasRenderingContext2D;
    width: number;
    height: number;
    ratio: number;
    view: View;
    /** Device pixel of a place on the axis, and of the upper edge of a row. */
    px(x: number): number;
    py(row: number): number;
}

export interface Scene {
    /** A description of the picture for screen readers. */
    label: string;
    rows: number;
    /** The whole axis. */
    x0: number;
    x1: number;
    /** The least width of a zoom. */
    least: number;
    /** The step of an arrow key in this view. */
    step(view: View): number;
    /** True if the view is fixed: a small picture beside others, over which the page scrolls. */
    still?: boolean;
    /** True if there is only the picture: no ticks, nothing below it. */
    isBare?: boolean;
    /** Room for the names of rows, in CSS pixels. */
    left?: number;
    paint(plot: Plot): void;
    /** Drawn above the picture whenever the cursor moves or something is chosen. */
    overlay?(plot: Plot): void;
    rowName(row: number): string;
    ticks(from: number, to: number, wanted: number): { at: number; text: string }[];
    describe(x: number, row: number): string[];
    /** A click, or Enter. */
    choose?(x: number, row: number): void;
    /** The view changed by zoom or brush. */
    moved?(view: View): void;
}

const LEFT = 92; // Room for names of rows, where the scene does not say.
const BOTTOM = 22;
const TOP = 4;
const RIGHT = 12;

/** Left and right margins, for charts that share the axis. */
export const MARGINS = { left: LEFT, right: RIGHT };

/** Height of a picture with as many rows, in CSS pixels: few are `tall`, more are `low`, and all together at most `most`. */
export function pictureHeight(rows: number, tall: number, low: number, most: number): number {
    return Math.max(60, Math.min(rows * tall, Math.max(rows * low, 0.45 * most), most)) + TOP + BOTTOM;
}

export class Picture {
    readonly element: HTMLElement;
    view: View;
    private readonly canvas = el("canvas", { tabindex: 0, role: "application" });
    private readonly above = el("canvas", { class: "above", "aria-hidden": "true" });
    private readonly said = el("output", { class: "readout" });
    private waiting = false;
    private cursor: { x: number; row: number } | null = null;
    private drag: { x: number; y: number; toX: number; toY: number; pan: boolean } | null = null;

    constructor(
        private scene: Scene,
        private height: number,
    ) {
        this.view = this.whole();
        const keys = scene.still ? "Arrow keys move the cursor, Enter chooses." : "Arrow keys move the cursor, + and − zoom, 0 shows all, Enter chooses.";
        this.canvas.setAttribute("aria-roledescription", `picture. ${keys}`);
        const frame = el("div", { class: "frame" }, this.canvas, this.above);
        this.said.className = scene.isBare ? "unseen" : "readout";
        this.element = el("div", { class: "picture" }, frame, this.said, !scene.isBare && pngButton(() => this.scene.label.split(":")[0], () => [this.canvas, this.above]));
        this.listen();
    }

    /** Shows another scene, or the same with other data; the view stays where it fits. */
    show(scene: Scene, height = this.height): void {
        const same = scene.x0 === this.scene.x0 && scene.x1 === this.scene.x1 && scene.rows === this.scene.rows;
        this.scene = scene;
        this.height = height;
        if (!same) {
            this.view = this.whole();
            this.cursor = null;
        }
        this.draw();
    }

    private get bottom(): number {
        return this.scene.isBare ? TOP : BOTTOM;
    }

    private get left(): number {
        return this.scene.left ?? LEFT;
    }

    private whole(): View {
        return { x0: this.scene.x0, x1: this.scene.x1, y0: 0, y1: this.scene.rows };
    }

    /** Moves the view; `silent` does not notify the scene. */
    zoomTo(view: View, silent = false): void {
        const { scene } = this;
        const width = Math.min(Math.max(view.x1 - view.x0, scene.least), scene.x1 - scene.x0);
        const rows = Math.min(Math.max(view.y1 - view.y0, 1), scene.rows);
        const x0 = Math.min(Math.max(view.x0, scene.x0), scene.x1 - width);
        const y0 = Math.min(Math.max(view.y0, 0), scene.rows - rows);
        this.view = { x0, x1: x0 + width, y0, y1: y0 + rows };
        this.drawSoon();
        if (!silent) {
            this.scene.moved?.(this.view);
        }
    }

    /** Height of a row in the view, in CSS pixels. */
    rowHeight(): number {
        return (this.height - TOP - this.bottom) / (this.view.y1 - this.view.y0);
    }

    reset(): void {
        this.zoomTo(this.whole());
    }

    /** Draws once before the next frame, however often the view moves until then. */
    private drawSoon(): void {
        if (!this.waiting) {
            this.waiting = true;
            requestAnimationFrame(() => {
                this.waiting = false;
                this.draw();
            });
        }
    }

    draw(): void {
        const width = this.element.clientWidth;
        if (width < this.left + RIGHT + 10) {
            return;
        }
        this.canvas.setAttribute("aria-label", this.scene.label);
        const plot = this.plot(this.canvas, width);
        const { context, ratio, view } = plot;
        context.fillStyle = colour("cell");
        context.fillRect(0, 0, plot.width, plot.height);
        context.save();
        context.beginPath();
        context.rect(0, 0, plot.width, plot.height);
        context.clip();
        this.scene.paint(plot);
        context.restore();
        context.strokeStyle = colour("line");
        context.lineWidth = ratio;
        context.strokeRect(0, 0, plot.width, plot.height);
        this.axes(plot, view);
        this.drawAbove();
    }

    private plot(canvas: HTMLCanvasElement, width: number): Plot {
        const ratio = window.devicePixelRatio || 1;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(this.height * ratio);
        canvas.style.width = `${width}px`;
        canvas.style.height = `${this.height}px`;
        const context = canvas.getContext("2d") as CanvasRenderingContext2D;
        context.translate(Math.round(this.left * ratio), Math.round(TOP * ratio));
        const { view } = this;
        const plotWidth = Math.round((width - this.left - RIGHT) * ratio);
        const plotHeight = Math.round((this.height - TOP - this.bottom) * ratio);
        return {
            context,
            width: plotWidth,
            height: plotHeight,
            ratio,
            view,
            px: (x) => ((x - view.x0) / (view.x1 - view.x0)) * plotWidth,
            py: (row) => ((row - view.y0) / (view.y1 - view.y0)) * plotHeight,
        };
    }

    private axes(plot: Plot, view: View): void {
        const { context, ratio } = plot;
        context.fillStyle = colour("dim");
        context.strokeStyle = colour("line");
        context.font = `${11 * ratio}px system-ui, sans-serif`;
        context.textBaseline = "top";
        context.textAlign = "center";
        for (const tick of this.scene.ticks(view.x0, view.x1, plot.width / ratio / 110)) {
            const x = plot.px(tick.at);
            context.fillRect(x, plot.height, ratio, 4 * ratio);
            const half = context.measureText(tick.text).width / 2;
            context.fillText(tick.text, Math.min(x, plot.width + RIGHT * ratio - half), plot.height + 6 * ratio);
        }
        context.textAlign = "right";
        context.textBaseline = "middle";
        const every = roundStep(((view.y1 - view.y0) * 14 * ratio) / plot.height);
        for (let row = Math.ceil(Math.floor(view.y0) / every) * every; row < view.y1; row += every) {
            const middle = plot.py(row + 0.5);
            if (middle > 0 && middle < plot.height) {
                context.fillText(fit(context, this.scene.rowName(row), (this.left - 10) * ratio), -6 * ratio, Math.max(middle, 6 * ratio));
            }
        }
    }

    /** Draws what lies above the picture: the scene's overlay, the cursor, the brush. */
    drawAbove(): void {
        const width = this.element.clientWidth;
        // A pointer or the focus may leave a picture because its panel is hidden.
        if (width < this.left + RIGHT + 10) {
            return;
        }
        const plot = this.plot(this.above, width);
        const { context, ratio } = plot;
        context.beginPath();
        context.rect(0, 0, plot.width, plot.height);
        context.clip();
        this.scene.overlay?.(plot);
        if (this.cursor) {
            const { x, row } = this.cursor;
            context.strokeStyle = colour("text");
            context.lineWidth = ratio;
            context.setLineDash([3 * ratio, 3 * ratio]);
            const left = plot.px(Math.max(x, plot.view.x0));
            const right = plot.px(x + this.scene.step(plot.view));
            context.strokeRect(left, plot.py(row), Math.max(3 * ratio, right - left), plot.py(row + 1) - plot.py(row));
            context.setLineDash([]);
        }
        if (this.drag && !this.drag.pan && !this.scene.still) {
            const { x, y, toX, toY } = this.brushed(this.drag, plot);
            context.fillStyle = "rgba(127,127,127,0.35)";
            context.fillRect(Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y));
        }
    }

    /** A brush that is flat takes all rows. */
    private brushed(drag: { x: number; y: number; toX: number; toY: number }, plot: Plot) {
        const { x, toX, y, toY } = drag;
        return Math.abs(toY - y) < 12 * plot.ratio ? { x, toX, y: 0, toY: plot.height } : { x, toX, y, toY };
    }

    private at(event: MouseEvent): { px: number; py: number; x: number; row: number; inside: boolean } {
        const box = this.canvas.getBoundingClientRect();
        const ratio = window.devicePixelRatio || 1;
        const px = event.clientX - box.left - this.left;
        const py = event.clientY - box.top - TOP;
        const width = box.width - this.left - RIGHT;
        const height = box.height - TOP - this.bottom;
        const { view } = this;
        const row = Math.floor(view.y0 + (py / height) * (view.y1 - view.y0));
        return {
            px: px * ratio,
            py: py * ratio,
            x: view.x0 + (px / width) * (view.x1 - view.x0),
            row: Math.min(Math.max(row, 0), this.scene.rows - 1),
            inside: px >= 0 && py >= 0 && px <= width && py <= height,
        };
    }

    private listen(): void {
        const { canvas } = this;
        if (this.scene.still) {
            canvas.style.touchAction = "auto";
        } else {
            canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
            canvas.addEventListener("dblclick", () => this.reset());
        }
        canvas.addEventListener("pointerdown", (event) => {
            const place = this.at(event);
            if (event.button === 0 && place.inside) {
                canvas.setPointerCapture(event.pointerId);
                this.drag = { x: place.px, y: place.py, toX: place.px, toY: place.py, pan: event.shiftKey && !this.scene.still };
            }
        });
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.release(event));
        canvas.addEventListener("pointerleave", () => {
            hideTip();
            this.cursor = null;
            this.drawAbove();
        });
        canvas.addEventListener("keydown", (event) => this.key(event));
        canvas.addEventListener("blur", () => {
            this.said.textContent = "";
            this.cursor = null;
            hideTip();
            this.drawAbove();
        });
    }

    private wheel(event: WheelEvent): void {
        const place = this.at(event);
        const isAll = this.view.x1 - this.view.x0 >= this.scene.x1 - this.scene.x0 && this.view.y1 - this.view.y0 >= this.scene.rows;
        if (!place.inside || (isAll && event.deltaY > 0)) {
            return; // The page scrolls on.
        }
        event.preventDefault();
        const factor = Math.exp(Math.sign(event.deltaY) * 0.25);
        this.zoomBy(factor, place.x, event.shiftKey ? place.row + 0.5 : null);
    }

    /** Makes the view `factor` as wide around `x`, or as high around `row` where one is given. */
    private zoomBy(factor: number, x: number, row: number | null): void {
        const { view } = this;
        if (row !== null) {
            this.zoomTo({ ...view, y0: row - (row - view.y0) * factor, y1: row + (view.y1 - row) * factor });
        } else {
            this.zoomTo({ ...view, x0: x - (x - view.x0) * factor, x1: x + (view.x1 - x) * factor });
        }
    }

    private move(event: PointerEvent): void {
        const place = this.at(event);
        if (this.drag) {
            if (this.drag.pan) {
                this.pan(place.px - this.drag.toX, place.py - this.drag.toY);
            }
            this.drag.toX = place.px;
            this.drag.toY = place.py;
        } else if (place.inside) {
            this.cursor = null;
            showAt(event.clientX, event.clientY, this.scene.describe(place.x, place.row));
        } else {
            hideTip();
        }
        this.drawAbove();
    }

    private pan(dx: number, dy: number): void {
        const { view } = this;
        const box = this.canvas.getBoundingClientRect();
        const ratio = window.devicePixelRatio || 1;
        const x = (dx / ratio / (box.width - this.left - RIGHT)) * (view.x1 - view.x0);
        const y = (dy / ratio / (box.height - TOP - this.bottom)) * (view.y1 - view.y0);
        this.zoomTo({ x0: view.x0 - x, x1: view.x1 - x, y0: view.y0 - y, y1: view.y1 - y });
    }

    private release(event: PointerEvent): void {
        const drag = this.drag;
        this.drag = null;
        if (!drag) {
            return;
        }
        const place = this.at(event);
        const moved = Math.hypot(drag.toX - drag.x, drag.toY - drag.y);
        if (moved < 5) {
            this.scene.choose?.(place.x, place.row);
        } else if (!this.scene.still && !drag.pan && Math.abs(drag.toX - drag.x) > 5) {
            this.zoomToBrush(drag);
        }
        this.drawAbove();
    }

    private zoomToBrush(drag: { x: number; y: number; toX: number; toY: number }): void {
        const plot = this.plot(this.above, this.element.clientWidth);
        const { x, toX, y, toY } = this.brushed(drag, plot);
        const { view } = this;
        const column = (at: number) => view.x0 + (at / plot.width) * (view.x1 - view.x0);
        const row = (at: number) => view.y0 + (at / plot.height) * (view.y1 - view.y0);
        this.zoomTo({
            x0: column(Math.min(x, toX)),
            x1: column(Math.max(x, toX)),
            y0: Math.floor(row(Math.min(y, toY))),
            y1: Math.ceil(row(Math.max(y, toY))),
        });
    }

    private key(event: KeyboardEvent): void {
        const { scene, view } = this;
        const cursor = this.cursor ?? { x: view.x0, row: Math.floor(view.y0) };
        const far = event.shiftKey ? 10 : 1;
        const step = scene.step(view);
        const moves: Record<string, [number, number]> = {
            ArrowLeft: [-step * far, 0],
            ArrowRight: [step * far, 0],
            ArrowUp: [0, -far],
            ArrowDown: [0, far],
        };
        const move = moves[event.key];
        if (move) {
            const first = this.cursor === null;
            cursor.x = Math.min(Math.max(cursor.x + (first ? 0 : move[0]), scene.x0), scene.x1 - step);
            cursor.row = Math.min(Math.max(cursor.row + (first ? 0 : move[1]), 0), scene.rows - 1);
            this.follow(cursor);
        } else if (this.scene.still && event.key !== "Enter" && event.key !== " ") {
            return;
        } else if (event.ctrlKey || event.metaKey || event.altKey) {
            return;
        } else if (event.key === "+" || event.key === "=") {
            this.zoomBy(1 / 1.5, cursor.x, null);
        } else if (event.key === "-" || event.key === "−") {
            this.zoomBy(1.5, cursor.x, null);
        } else if (TRACE_KEYS[event.key]) {
            const { zoom, shift } = TRACE_KEYS[event.key];
            const width = (view.x1 - view.x0) * zoom;
            const x0 = (view.x0 + view.x1 - width) / 2 + shift * (view.x1 - view.x0);
            this.zoomTo({ ...view, x0, x1: x0 + width });
        } else if (event.key === "0" || event.key === "Escape") {
            this.reset();
        } else if (event.key === "Enter" || event.key === " ") {
            scene.choose?.(cursor.x + step / 2, cursor.row);
        } else {
            return;
        }
        event.preventDefault();
        this.drawAbove();
    }

    /** Puts the keyboard's cursor there, into view, and says what is under it. */
    private follow(cursor: { x: number; row: number }): void {
        this.cursor = cursor;
        const { view, scene } = this;
        const step = scene.step(view);
        const width = view.x1 - view.x0;
        const rows = view.y1 - view.y0;
        if (cursor.x < view.x0 || cursor.x + step > view.x1 || cursor.row < view.y0 || cursor.row + 1 > view.y1) {
            const x0 = cursor.x < view.x0 ? cursor.x : cursor.x + step > view.x1 ? cursor.x + step - width : view.x0;
            const y0 = cursor.row < view.y0 ? cursor.row : cursor.row + 1 > view.y1 ? cursor.row + 1 - rows : view.y0;
            this.zoomTo({ x0, x1: x0 + width, y0, y1: y0 + rows });
        }
        this.said.textContent = scene.describe(cursor.x + step / 2, cursor.row).join(" · ");
    }
}

/** The keys by which browsers of traces (Perfetto, Chromium) zoom and move: factors of the view's width. */
const TRACE_KEYS: Record<string, { zoom: number; shift: number }> = {
    w: { zoom: 1 / 1.5, shift: 0 },
    s: { zoom: 1.5, shift: 0 },
    a: { zoom: 1, shift: -0.125 },
    d: { zoom: 1, shift: 0.125 },
};

/** The least of 1, 2, 5, 10, 20, 50 … that is `rough` or more. */
function roundStep(rough: number): number {
    const power = 10 ** Math.max(0, Math.floor(Math.log10(rough)));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? 10 * power;
}

/** `text`, its begin left out where it is wider than `width`. */
function fit(context: CanvasRenderingContext2D, text: string, width: number): string {
    if (context.measureText(text).width <= width) {
        return text;
    }
    let from = 1;
    while (from < text.length && context.measureText(`…${text.slice(from)}`).width > width) {
        from += 1;
    }
    return `…${text.slice(from)}`;
}
