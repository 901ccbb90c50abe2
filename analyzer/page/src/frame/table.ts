// Tables: sorted by any column, cut to a screenful until asked for all.
import type { Selection } from "./address";
import { button, el } from "./dom";
import { csvButton, type CsvCell } from "./save";
import { explain } from "./tip";
import { oneUnit } from "../wording/words";

export interface Column<Row> {
    title: string;
    /** The glossary's word for it. */
    term?: string;
    /** The text of a cell; for times it is derived from the number. */
    cell?(row: Row): string | Node;
    /** Seconds: all of the column in one unit. */
    time?(row: Row): number | null | undefined;
    /** The colour of a bar beside the time. */
    bar?(row: Row): string;
    /** The length of its bar, as a fraction of the room. Default: the time's share of the longest. */
    share?(row: Row): number;
    /** The text after the time. */
    suffix?(row: Row): string;
    /** The sort key; texts are sorted by themselves. */
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
    /** What a row is worth: rows with less than 0.1 % of the sum are shown only with all others. */
    amount?(row: Row): number;
    /** The text by which a search finds a row. */
    key?(row: Row): string;
    /** Returns whether a link points to a row. */
    isSelected?(row: Row, selection: Selection): boolean;
    /** Something happens when a row is pressed. */
    choose?(row: Row): void;
}

/** A word that is too long for a narrow cell: it may break anywhere, shorter ones never. */
const LONG = /\S{21}/;

/** Rows with less of the sum are shown only with all others. */
const LEAST_AMOUNT = 0.001;

/** A column as it is shown. */
interface Shown<Row> extends Column<Row> {
    cell(row: Row): string | Node;
}

/** The contents of a column: times in one unit, with bars. */
function shown<Row>(column: Column<Row>, rows: Row[]): Shown<Row> {
    const { time } = column;
    if (!time) {
        return { ...column, cell: column.cell ?? (() => "") };
    }
    const longest = rows.reduce((most, row) => Math.max(most, Math.abs(time(row) || 0)), 0);
    const words = oneUnit(longest);
    const cell = (row: Row) => {
        const text = words(time(row)) + (column.suffix?.(row) ?? "");
        return column.bar ? bar(column.share?.(row) ?? (time(row) || 0) / (longest || 1), text, column.bar(row)) : text;
    };
    return { by: (row) => time(row) ?? null, right: !column.bar, ...column, cell };
}

/** A sortable table; the rows come in the order in which they shall stand at first. */
export function table<Row>({ columns, ...rest }: TableSpec<Row>): HTMLElement {
    const spec = { ...rest, columns: columns.map((column) => shown(column, rest.rows)) };
    const whole = spec.rows.reduce((sum, row) => sum + (spec.amount?.(row) ?? 0), 0);
    const isWorth = (row: Row) => !spec.amount || spec.amount(row) >= LEAST_AMOUNT * whole;
    const first = Math.min(spec.first ?? 20, spec.rows.filter(isWorth).length);
    let rows = spec.rows;
    let all = rows.length <= first;
    const shownRows = () => (all ? rows : rows.filter(isWorth).slice(0, first));
    let selected: (row: Row) => boolean = () => false;
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
        body.replaceChildren(...shownRows().map((row) => line(spec, row, selected(row))));
        more.textContent = all ? `show the first ${first} only` : `show all ${spec.rows.length}`;
        more.hidden = spec.rows.length <= first;
    };
    fill();
    /** Shows the row that a search has found, wherever it is. */
    const find = (wanted: string) => {
        const at = rows.findIndex((row) => spec.key?.(row) === wanted);
        if (at >= 0) {
            all ||= !shownRows().includes(rows[at]);
            fill();
            const line = body.children[shownRows().indexOf(rows[at])];
            line.classList.add("found-row");
            requestAnimationFrame(() => line.scrollIntoView({ block: "center" }));
        }
    };
    /** Marks the rows that a link points out, the first of which is shown. */
    const mark = (selection: Selection) => {
        selected = (row) => spec.isSelected?.(row, selection) ?? false;
        all ||= !rows.filter(selected).slice(0, 1).every((row) => shownRows().includes(row));
        fill();
    };
    const element = el("table", {}, el("caption", {}, spec.caption), el("thead", {}, el("tr", {}, ...heads)), body);
    const csv = csvButton(spec.caption, () => [csvHeads(spec.columns), ...rows.map((row) => spec.columns.map((column) => csvValue(column, row)))]);
    return el("div", { class: "table", onfind: (event: CustomEvent<string>) => find(event.detail), onselection: (event: CustomEvent<Selection>) => mark(event.detail) }, element, el("div", { class: "below-table" }, more, csv));
}

/** Heads of columns with the unit of times. */
function csvHeads<Row>(columns: Column<Row>[]): string[] {
    return columns.map((column) => (column.time ? `${column.title} [s]` : column.title));
}

/** A cell with all its digits: numbers as they are, everything else as it is shown. */
function csvValue<Row>(column: Shown<Row>, row: Row): CsvCell {
    return column.time || column.by ? (column.time ?? column.by)?.(row) : text(column.cell(row));
}

function head<Row>(column: Column<Row>, press: () => void): HTMLElement {
    const control = explain(button(column.title, press, { class: column.term ? "sort term" : "sort" }), column.term);
    return el("th", { scope: "col", class: column.right ? "right" : undefined, "aria-sort": "none" }, control);
}

function line<Row>(spec: Omit<TableSpec<Row>, "columns"> & { columns: Shown<Row>[] }, row: Row, isSelected: boolean): HTMLElement {
    const cells = spec.columns.map((column) => {
        const cell = column.cell(row);
        return el("td", { class: column.right ? "right" : undefined }, LONG.test(text(cell)) ? el("span", { class: "long" }, cell) : cell);
    });
    const element = el("tr", { class: isSelected ? "selected-row" : undefined }, ...cells);
    if (spec.choose) {
        element.classList.add("choosable");
        element.addEventListener("click", () => spec.choose?.(row));
    }
    return element;
}

/** Rows without a value stand last, whichever way it goes. */
function compare<Row>(column: Shown<Row>, a: Row, b: Row, down: boolean): number {
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

/** A bar as long as `share` of its room, after a text. */
export function bar(share: number, text: string, colour: string): HTMLElement {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${(100 * Math.max(0, Math.min(1, share))).toFixed(2)}%`;
    fill.style.background = colour;
    return el("span", { class: "bar" }, el("span", { class: "room" }, fill), el("span", { class: "value" }, text));
}
