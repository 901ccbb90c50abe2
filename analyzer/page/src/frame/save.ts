// Files of what the page shows: pictures as PNG, tables as CSV. They are made here; nothing is sent anywhere.
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
