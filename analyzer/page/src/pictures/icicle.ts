// An icicle graph: each node of a tree is a box under the one around it, as wide as its share of that one. The boxes are elements, so that
// the browser shortens their texts, and the focus and the arrow keys reach them.
import { hierarchy, partition, type HierarchyRectangularNode } from "d3-hierarchy";
import { el } from "../frame/dom";
import { hideTip, showAt } from "../frame/tip";

/** A node, and where the one around it is in the list, in which it comes first; null for the outermost. */
export interface TreeRow {
    parent: number | null;
}

export interface IcicleSpec<Row extends TreeRow> {
    label: string;
    rows: Row[];
    name(row: Row): string;
    colour(row: Row): string;
    /** The lines of text for a node. `share` is its share of the outermost node. */
    describe(row: Row, share: number): string[];
}

/** Height of a box, in pixels. */
const HEIGHT = 22;

/** Narrower boxes are left out: share of the whole width. */
const LEAST = 0.001;

interface Item {
    at: number;
    children: Item[];
}

type Box = HierarchyRectangularNode<Item>;

export class Icicle<Row extends TreeRow> {
    readonly element: HTMLElement;
    private boxes: Box[] = [];
    private zoomed = 0;
    private focused = 0;
    private isFound: ((row: Row) => boolean) | null = null;
    private readonly elements = new Map<number, HTMLElement>();

    constructor(
        private readonly spec: IcicleSpec<Row>,
        weight: (row: Row) => number,
    ) {
        this.element = el("div", { class: "icicle", role: "tree", "aria-label": spec.label, onkeydown: (event: KeyboardEvent) => this.key(event) });
        this.weigh(weight);
    }

    /** Makes the boxes as wide as this, nodes within included. */
    weigh(weight: (row: Row) => number): void {
        const { rows } = this.spec;
        const items: Item[] = rows.map((_, at) => ({ at, children: [] }));
        rows.forEach((row, at) => row.parent !== null && items[row.parent].children.push(items[at]));
        const root = hierarchy(items[0], (item) => item.children);
        // No wider than the one around it, whatever rounding has made of the sums.
        root.eachAfter((node) => {
            const within = (node.children ?? []).reduce((sum, child) => sum + (child.value ?? 0), 0);
            (node as { value?: number }).value = Math.max(weight(rows[node.data.at]), within, 0);
        });
        this.boxes = [];
        partition<Item>()(root).each((box) => {
            this.boxes[box.data.at] = box;
        });
        this.draw();
    }

    /** Outlines what is found and dims the rest; null: all is as it was. */
    find(isFound: ((row: Row) => boolean) | null): void {
        this.isFound = isFound;
        this.mark();
    }

    /** Shows a node as wide as the picture. */
    zoom(at: number): void {
        this.zoomed = at;
        this.focused = at;
        this.draw();
    }

    private draw(): void {
        const root = this.boxes[0];
        const { x0, x1 } = this.boxes[this.zoomed];
        const width = x1 - x0 || 1;
        const hadFocus = this.element.contains(document.activeElement);
        this.elements.clear();
        let deepest = 0;
        for (const box of this.boxes) {
            const left = Math.max(0, (box.x0 - x0) / width);
            const right = Math.min(1, (box.x1 - x0) / width);
            if (right - left >= LEAST && (box.value ?? 0) > 0) {
                deepest = Math.max(deepest, box.depth);
                this.elements.set(box.data.at, this.box(box, left, right, root.value || 1));
            }
        }
        this.element.style.height = `${(deepest + 1) * HEIGHT}px`;
        this.element.replaceChildren(...this.elements.values());
        this.mark();
        this.focusable();
        if (hadFocus) {
            this.elements.get(this.focused)?.focus();
        }
    }

    private box(box: Box, left: number, right: number, whole: number): HTMLElement {
        const { at } = box.data;
        const row = this.spec.rows[at];
        const lines = this.spec.describe(row, (box.value ?? 0) / whole);
        const element = el(
            "div",
            {
                role: "treeitem",
                class: "box",
                "aria-level": box.depth + 1,
                "aria-label": lines.join(", "),
                "aria-selected": String(at === this.zoomed),
                onclick: () => this.zoom(at),
                onpointermove: (event: PointerEvent) => showAt(event.clientX, event.clientY, lines),
                onpointerleave: hideTip,
                onfocus: () => {
                    const place = element.getBoundingClientRect();
                    showAt(place.left, place.bottom - 12, lines);
                },
                onblur: hideTip,
            },
            this.spec.name(row),
        );
        element.style.left = `${100 * left}%`;
        element.style.width = `${100 * (right - left)}%`;
        element.style.top = `${box.depth * HEIGHT}px`;
        element.style.background = this.spec.colour(row);
        return element;
    }

    private mark(): void {
        for (const [at, element] of this.elements) {
            const isFound = this.isFound?.(this.spec.rows[at]);
            element.classList.toggle("found", isFound === true);
            element.classList.toggle("other", isFound === false);
        }
    }

    /** Tab reaches one box; the arrow keys the others. */
    private focusable(): void {
        if (!this.elements.has(this.focused)) {
            this.focused = this.zoomed;
        }
        for (const [at, element] of this.elements) {
            element.tabIndex = at === this.focused ? 0 : -1;
        }
    }

    private key(event: KeyboardEvent): void {
        const box = this.boxes[this.focused];
        const beside = (step: number) => {
            const all = (box.parent?.children ?? []).filter((one) => this.elements.has(one.data.at));
            return all[all.indexOf(box) + step];
        };
        const moves: Record<string, () => Box | null | undefined> = {
            ArrowUp: () => box.parent,
            ArrowDown: () => box.children?.find((one) => this.elements.has(one.data.at)),
            ArrowLeft: () => beside(-1),
            ArrowRight: () => beside(1),
        };
        if (event.key === "Enter" || event.key === " ") {
            this.zoom(this.focused);
        } else if (event.key === "Escape" || event.key === "0") {
            this.zoom(0);
        } else if (moves[event.key]) {
            const next = moves[event.key]();
            if (next) {
                this.focused = next.data.at;
                this.focusable();
                this.elements.get(this.focused)?.focus();
            }
        } else {
            return;
        }
        event.preventDefault();
    }
}
