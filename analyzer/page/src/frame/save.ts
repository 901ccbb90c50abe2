// Files of what the page shows: pictures as PNG or SVG, tables as CSV. They are made here; nothing is sent anywhere.
import { button, el } from "./dom";
import { colour } from "./theme";

/** A file's name from what is in it. */
function fileName(text: string, ending: string): string {
    const words = text.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
    return `lbprof-${words || "page"}.${ending}`;
}

function save(name: string, blob: Blob): void {
    const address = URL.createObjectURL(blob);
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export type CsvCell = string | number | null | undefined;

/** A cell as RFC 4180 has it; what a spreadsheet would take for a formula stays text. */
function csvCell(cell: CsvCell): string {
    if (typeof cell !== "string") {
        return cell === null || cell === undefined || Number.isNaN(cell) ? "" : String(cell);
    }
    const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A button that saves a table; its first row has the heads. */
export function csvButton(title: string, rows: () => CsvCell[][]): HTMLButtonElement {
    const press = () => save(fileName(title, "csv"), new Blob([rows().map((row) => `${row.map(csvCell).join(",")}\r\n`).join("")], { type: "text/csv" }));
    return button("CSV", press, { class: "save", "aria-label": `save as CSV: ${title}` });
}

/** A button that saves pictures that lie above each other, on the page's background. */
export function pngButton(title: () => string, layers: () => Iterable<HTMLCanvasElement>): HTMLButtonElement {
    const press = () => {
        const all = [...layers()];
        const picture = el("canvas", { width: all[0]?.width ?? 1, height: all[0]?.height ?? 1 });
        const context = picture.getContext("2d") as CanvasRenderingContext2D;
        context.fillStyle = colour("back");
        context.fillRect(0, 0, picture.width, picture.height);
        all.forEach((layer) => context.drawImage(layer, 0, 0));
        picture.toBlob((blob) => blob && save(fileName(title(), "png"), blob), "image/png");
    };
    return button("PNG", press, { class: "save", "aria-label": "save this picture as PNG" });
}

/** A rectangle of a drawing, in pixels. */
export interface Shape {
    x: number;
    y: number;
    width: number;
    height: number;
    fill: string;
    text?: string;
}

/** A button that saves a drawing of rectangles. */
export function svgButton(title: string, shapes: () => { width: number; height: number; shapes: Shape[] }): HTMLButtonElement {
    const press = () => {
        const { width, height, shapes: all } = shapes();
        const space = "http://www.w3.org/2000/svg";
        const root = document.createElementNS(space, "svg");
        const add = (parent: Element, name: string, attributes: Record<string, string | number>) => {
            const element = document.createElementNS(space, name);
            Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, String(value)));
            parent.append(element);
            return element;
        };
        Object.entries({ xmlns: space, width, height, viewBox: `0 0 ${width} ${height}` }).forEach(([key, value]) => root.setAttribute(key, String(value)));
        add(root, "rect", { width, height, fill: colour("back") });
        add(root, "title", {}).textContent = title;
        for (const { x, y, width: w, height: h, fill, text } of all) {
            add(root, "rect", { x, y, width: Math.max(w - 1, 0.5), height: h, fill });
            // As many letters as have room.
            const shown = text?.slice(0, Math.floor((w - 6) / 6.2)) ?? "";
            if (shown.length > 1) {
                add(root, "text", { x: x + 3, y: y + h - 6, "font-family": "sans-serif", "font-size": 12, fill: colour("text") }).textContent = shown;
            }
        }
        save(fileName(title, "svg"), new Blob([new XMLSerializer().serializeToString(root)], { type: "image/svg+xml" }));
    };
    return button("SVG", press, { class: "save", "aria-label": `save as SVG: ${title}` });
}
