// Entries of legends.
import { el } from "../frame/dom";

/** A colour and what it means. */
export function key(colour: string, text: string): HTMLElement {
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = colour;
    return el("span", { class: "key" }, swatch, text);
}
