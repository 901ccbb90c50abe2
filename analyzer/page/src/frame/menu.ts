// The menu: one entry for each question. The panels that answer the same one are views of its entry, with links to one another above them.
import { el } from "./dom";

/** A panel in the menu: the entry that it is a view of, and whether there is nothing in it. */
export interface MenuPanel {
    id: string;
    title: string;
    entry?: string;
    isEmpty: boolean;
    isOptional?: boolean;
}

/** An entry, and the panels that are its views. */
export interface MenuEntry {
    link: HTMLAnchorElement;
    panels: MenuPanel[];
}

/** Groups panels to entries, in their order. The link of an entry leads to its first panel with something in it. */
export function menuEntries(panels: MenuPanel[]): MenuEntry[] {
    const groups: MenuPanel[][] = [];
    for (const panel of panels) {
        const last = groups.at(-1);
        if (panel.entry !== undefined && last?.[0].entry === panel.entry) {
            last.push(panel);
        } else {
            groups.push([panel]);
        }
    }
    const shown = groups.filter((group) => !group.every((panel) => panel.isEmpty && panel.isOptional));
    return shown.map((group) => {
        const first = group.find((panel) => !panel.isEmpty) ?? group[0];
        return { link: el("a", { href: `#${first.id}` }, first.entry ?? first.title), panels: group };
    });
}

/** Links to all views of an entry, of which one is shown; nothing where there is only one. */
export function viewLinks({ panels }: MenuEntry, shown: string): HTMLElement | undefined {
    const links = panels.map(({ id, title }) => el("a", { href: `#${id}`, "aria-current": id === shown ? "page" : undefined }, title));
    return links.length > 1 ? el("div", { class: "view-links", role: "navigation", "aria-label": "Views" }, ...links) : undefined;
}
