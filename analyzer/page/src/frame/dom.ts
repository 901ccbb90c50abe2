// Elements. Text only ever enters as text: names from logs are data, never markup.

import { formatAddress, type Target } from "./address";

export type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** An element with attributes (`onclick` and the like are listeners) and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
    name: K,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === "function") {
            element.addEventListener(key.slice(2), value as EventListener);
        } else if (value === true) {
            element.setAttribute(key, "");
        } else if (value !== undefined && value !== false) {
            element.setAttribute(key, String(value));
        }
    }
    append(element, children);
    return element;
}

export function append(element: Element, children: Child[]): void {
    for (const child of children) {
        if (child !== null && child !== undefined && child !== false) {
            element.append(child instanceof Node ? child : String(child));
        }
    }
}

/** A labelled control. */
export function field(label: string, control: HTMLElement): HTMLLabelElement {
    return el("label", { class: "field" }, el("span", {}, label), control);
}

/** A list to choose from; `choose` gets the value. */
export function choice(
    options: [value: string, text: string][],
    chosen: string,
    choose: (value: string) => void,
): HTMLSelectElement {
    const select = el("select", { onchange: () => choose(select.value) });
    for (const [value, text] of options) {
        select.append(el("option", { value, selected: value === chosen }, text));
    }
    return select;
}

/** A button that is identified by its text. */
export function button(text: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
    return el("button", { type: "button", onclick: press, ...attributes }, text);
}

/** A link to another panel of the page, and to what is selected there. */
export function panelLink(target: string | Target, ...children: Child[]): HTMLAnchorElement {
    return el("a", { href: formatAddress(typeof target === "string" ? { panel: target } : target), class: "to-panel" }, ...children);
}
