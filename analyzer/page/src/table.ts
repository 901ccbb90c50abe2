// Tables: sorted by any column, cut to a screenful until asked for all.
import { button, el } from "./dom";
import { explain } from "./tip";

export interface Column<Row> {
    title: string;
    /** The glossary's word for it. */
    term?: string;
    /** What a cell says. */
    cell(row: Row): string | Node;
    /** What it is sorted by; texts are sorted by themselves. */
    by?(row: Row): number | null;
    /** Numbers stand to the right. */
    right?: boolean;
}

export interface TableSpec<Row> {
    caption: string;
    rows: Row[];
    columns: Column<Row>[];
    /** Rows that are shown at first. */
    first?: number;
    /** Something happens when a row is pressed. */
    choose?(row: Row): void;
}

/** A word that is too long for a narrow cell: it may break anywhere, shorter ones never. */
const LONG = /\S{21}/;

/** A sortable table; the rows come in the order in which they shall stand at first. */
export function table<Row>(spec: TableSpec<Row>): HTMLElement {
    const first = spec.first ?? 20;
    let rows = spec.rows;
    let all = rows.length <= first;
    let sorted: { column: number; down: boolean } | null = null;
    const body = el("tbody");
    const heads = spec.columns.map((column, index) => head(column, () => sort(index)));
    const more = button("", () => {
        all = !all;
        fill();
    }, { class: "more" });

    const sort = (index: number) => {
        const column = spec.columns[index];
        const down: boolean = sorted?.column === index ? !sorted.down : column.by !== undefined;
        sorted = { column: index, down };
        rows = [...spec.rows].sort((a, b) => compare(column, a, b, down));
        heads.forEach((cell, at) => cell.setAttribute("aria-sort", at !== index ? "none" : down ? "descending" : "ascending"));
        fill();
    };
    const fill = () => {
        body.replaceChildren(...(all ? rows : rows.slice(0, first)).map((row) => line(spec, row)));
        more.textContent = all ? `show the first ${first} only` : `show all ${spec.rows.length}`;
        more.hidden = spec.rows.length <= first;
    };
    fill();
    const element = el("table", {}, el("caption", {}, spec.caption), el("thead", {}, el("tr", {}, ...heads)), body);
    return el("div", { class: "table" }, element, more);
}

function head<Row>(column: Column<Row>, press: () => void): HTMLElement {
    const control = explain(button(column.title, press, { class: column.term ? "sort term" : "sort" }), column.term);
    return el("th", { scope: "col", class: column.right ? "right" : undefined, "aria-sort": "none" }, control);
}

function line<Row>(spec: TableSpec<Row>, row: Row): HTMLElement {
    const cells = spec.columns.map((column) => {
        const cell = column.cell(row);
        return el("td", { class: column.right ? "right" : undefined }, LONG.test(text(cell)) ? el("span", { class: "long" }, cell) : cell);
    });
    const element = el("tr", {}, ...cells);
    if (spec.choose) {
        element.classList.add("choosable");
        element.addEventListener("click", () => spec.choose?.(row));
    }
    return element;
}

/** Rows without a value stand last, whichever way it goes. */
function compare<Row>(column: Column<Row>, a: Row, b: Row, down: boolean): number {
    const sign = down ? -1 : 1;
    if (!column.by) {
        return sign * text(column.cell(a)).localeCompare(text(column.cell(b)));
    }
    const [left, right] = [column.by(a), column.by(b)];
    if (left === null || right === null || Number.isNaN(left) || Number.isNaN(right)) {
        return Number(left === null || Number.isNaN(left)) - Number(right === null || Number.isNaN(right));
    }
    return sign * (left - right);
}

function text(cell: string | Node): string {
    return typeof cell === "string" ? cell : (cell.textContent ?? "");
}

/** A bar as long as `share` of its room, behind a text. */
export function bar(share: number, text: string, colour: string): HTMLElement {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${(100 * Math.max(0, Math.min(1, share))).toFixed(2)}%`;
    fill.style.background = colour;
    return el("span", { class: "bar" }, el("span", { class: "room" }, fill), el("span", { class: "value" }, text));
}
