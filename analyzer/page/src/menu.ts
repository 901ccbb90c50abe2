// The menu: panels that answer one question are a group. In a narrow window each group is one word, and lists its panels when it is pressed.
import { el } from "./dom";

/** A panel's link, and the group that it is listed in; one without a group stands alone. */
export interface MenuEntry {
    group?: string;
    link: HTMLAnchorElement;
}

export function menu(entries: MenuEntry[]): HTMLElement {
    const groups: { name?: string; links: HTMLAnchorElement[] }[] = [];
    for (const { group, link } of entries) {
        const last = groups.at(-1);
        if (group !== undefined && last?.name === group) {
            last.links.push(link);
        } else {
            groups.push({ name: group, links: [link] });
        }
    }
    const nav = el("nav", { "aria-label": "Panels" });
    nav.append(...groups.map(({ name, links }) => (name === undefined ? links[0] : groupOf(nav, name, links))));
    document.addEventListener("pointerdown", (event) => nav.contains(event.target as Node) || close(nav));
    nav.addEventListener("keydown", (event) => event.key === "Escape" && close(nav));
    window.addEventListener("hashchange", () => close(nav));
    return nav;
}

/** A group; its button is shown in narrow windows alone. */
function groupOf(nav: HTMLElement, name: string, links: HTMLAnchorElement[]): HTMLElement {
    const list = el("div", { class: "entries" }, ...links);
    const press = () => {
        const wasOpen = button.getAttribute("aria-expanded") === "true";
        close(nav);
        button.setAttribute("aria-expanded", String(!wasOpen));
    };
    const button = el("button", { type: "button", class: "group-button", "aria-expanded": "false", onclick: press }, name);
    return el("div", { class: "group", role: "group", "aria-label": name }, button, el("span", { class: "group-name", "aria-hidden": "true" }, name), list);
}

/** Closes all lists. */
function close(nav: HTMLElement): void {
    nav.querySelectorAll(".group-button").forEach((button) => button.setAttribute("aria-expanded", "false"));
}
