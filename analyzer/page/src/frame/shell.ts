// The frame of all pages: the head, panels of which one is shown at a time, dark and light themes, print.
import { formatAddress, isSelected, type Selection, type Target } from "./address";
import { button, el, panelLink } from "./dom";
import { keepFitting } from "./fit";
import { menuEntries, viewLinks, type MenuEntry } from "./menu";
import type { PanelOf } from "./panel";
import { onTheme, toggleTheme } from "./theme";
import { address, keepAddress, showWindow } from "./timewindow";

/** The JSON in an element of the page. */
export function read(id: string): unknown {
    return JSON.parse(document.getElementById(id)?.textContent ?? "null");
}

/** A panel in the page; `draw` is there once it was built. */
interface Place<Data> {
    panel: PanelOf<Data>;
    section: HTMLElement;
    body: HTMLElement;
    entry: MenuEntry;
    draw?: () => void;
    /** The selection by a link. */
    pointedOut: HTMLElement;
}

function place<Data>(panel: PanelOf<Data>, entry: MenuEntry): Place<Data> {
    const body = el("div", { class: "body" });
    const pointedOut = el("p", { class: "pointed-out", hidden: true });
    const section = el("section", { id: `panel-${panel.id}`, "aria-label": panel.title, tabindex: -1, hidden: true }, viewLinks(entry, panel.id), el("h2", {}, panel.title), el("p", { class: "about" }, panel.about), pointedOut, body);
    return { panel, section, body, entry, pointedOut };
}

/** Names what is selected, with a link to the panel without it. */
function selectionLine(panel: string, { rank, region, iterations }: Selection): Node[] {
    const parts = [
        rank !== null && `rank ${rank}`,
        region !== null && `region ${region}`,
        iterations && (iterations.first === iterations.last ? `iteration ${iterations.first}` : `iterations ${iterations.first} to ${iterations.last}`),
    ];
    return [el("b", {}, "Selected"), el("span", {}, `: ${parts.filter(Boolean).join(", ")} `), panelLink(panel, "clear")];
}

/** Builds a panel, or says why there is nothing in it. */
function build<Data>(at: Place<Data>, data: Data): void {
    if (at.draw) {
        return;
    }
    const missing = at.panel.missing?.(data) ?? null;
    if (missing !== null) {
        at.body.append(el("p", { class: "missing" }, missing));
    }
    keepFitting(at.body);
    at.draw = (missing === null ? at.panel.build(at.body, data) : undefined) ?? (() => {});
}

/** Something that a search finds, and the panel that shows it. */
export interface Hit {
    kind: string;
    name: string;
    target: Target;
}

/** Most of them that are listed. */
const MOST_HITS = 12;

/** A field that lists what it finds, with links. */
function searchBox(search: (wanted: string) => Hit[]): HTMLElement {
    const list = el("ul", { class: "hits", hidden: true });
    const close = () => (list.hidden = true);
    const fill = () => {
        const wanted = field.value.trim().toLowerCase();
        const hits = wanted ? search(wanted) : [];
        const links = hits.slice(0, MOST_HITS).map((hit) => el("li", {}, el("a", { href: formatAddress(hit.target), onclick: close }, hit.name), el("span", { class: "sub" }, ` ${hit.kind}`)));
        const rest = hits.length - links.length;
        list.replaceChildren(...links, ...(rest > 0 ? [el("li", { class: "sub" }, `and ${rest} more`)] : []), ...(wanted && hits.length === 0 ? [el("li", { class: "sub" }, "Nothing is found.")] : []));
        list.hidden = !wanted;
    };
    const field = el("input", { type: "search", placeholder: "region, call site, rank: /", "aria-label": "find a region, call site or rank", size: 22, oninput: fill, onfocus: fill });
    const onKey = (event: KeyboardEvent) => {
        if (event.key === "Escape") {
            close();
        } else if (event.key === "Enter" && event.target === field) {
            list.querySelector("a")?.click();
        } else {
            moveFocus(event, [field, ...list.querySelectorAll("a")]);
        }
    };
    const box = el("div", { class: "search", onkeydown: onKey }, field, list);
    document.addEventListener("pointerdown", (event) => box.contains(event.target as Node) || close());
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && !(event.target as Element).matches("input, select, textarea")) {
            event.preventDefault();
            field.focus();
        }
    });
    return box;
}

/** Moves the focus among `elements` with the arrow keys. */
function moveFocus(event: KeyboardEvent, elements: HTMLElement[]): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = step && elements[elements.indexOf(document.activeElement as HTMLElement) + step];
    if (next) {
        event.preventDefault();
        next.focus();
    }
}

/** The page: a head, and panels of which one is shown at a time. */
export class Page<Data> {
    private readonly places: Place<Data>[];
    private shown: Place<Data>;
    private printing = false;

    constructor(
        panels: PanelOf<Data>[],
        private readonly data: Data,
        head: { title: string; sub: string },
        search?: (wanted: string) => Hit[],
    ) {
        const entries = menuEntries(panels.map((panel) => ({ ...panel, isEmpty: (panel.missing?.(data) ?? null) !== null })));
        this.places = entries.flatMap((entry) => entry.panels.map(({ id }) => place(panels.find((panel) => panel.id === id)!, entry)));
        this.shown = this.places[0];
        document.title = `lbprof: ${head.title || "report"}`;
        const header = el(
            "header",
            {},
            el("h1", {}, head.title),
            el("span", { class: "sub" }, head.sub),
            search && searchBox(search),
            el("span", { class: "buttons" }, button("dark / light", toggleTheme), button("print", () => window.print())),
        );
        const nav = el("nav", { "aria-label": "Panels" }, ...entries.map((entry) => entry.link));
        const content = el("div", { class: "panels" }, ...this.places.map((at) => at.section));
        document.getElementById("page")?.replaceChildren(header, el("div", { class: "below" }, nav, content));
        this.listen();
        this.show(false);
    }

    private listen(): void {
        window.addEventListener("hashchange", () => this.show(true));
        onTheme(() => this.draw());
        new ResizeObserver(() => this.draw()).observe(document.body);
        window.addEventListener("beforeprint", () => this.print(true));
        window.addEventListener("afterprint", () => this.print(false));
    }

    /** Shows the panel that the address names, else the first. */
    private show(moveFocus: boolean): void {
        const { panel, window: zoomed, find, selection } = address();
        this.shown = this.places.find((at) => at.panel.id === panel) ?? this.places[0];
        if (zoomed) {
            showWindow(zoomed, null);
        }
        keepAddress();
        for (const at of this.places) {
            at.section.hidden = at !== this.shown;
            at.entry.link.removeAttribute("aria-current");
        }
        this.shown.entry.link.setAttribute("aria-current", "page");
        build(this.shown, this.data);
        this.draw();
        const { body, pointedOut } = this.shown;
        pointedOut.hidden = !isSelected(selection);
        pointedOut.replaceChildren(...selectionLine(this.shown.panel.id, selection));
        const receivers = [body, ...body.querySelectorAll(".table")];
        for (const one of receivers) {
            one.dispatchEvent(new CustomEvent("selection", { detail: selection }));
            if (find) {
                one.dispatchEvent(new CustomEvent("find", { detail: find }));
            }
        }
        if (moveFocus) {
            window.scrollTo(0, 0);
            this.shown.section.focus({ preventScroll: true });
        }
    }

    private draw(): void {
        for (const at of this.places) {
            if (!at.section.hidden) {
                at.draw?.();
            }
        }
    }

    /** Paper shows all panels, in light colours. */
    private print(begins: boolean): void {
        if (this.printing === begins) {
            return;
        }
        this.printing = begins;
        const root = document.documentElement;
        if (begins) {
            root.dataset.before = root.dataset.theme ?? "";
            root.dataset.theme = "light";
            for (const at of this.places) {
                at.section.hidden = false;
                build(at, this.data);
            }
            this.draw();
        } else {
            root.dataset.theme = root.dataset.before || undefined;
            if (!root.dataset.before) {
                delete root.dataset.theme;
            }
            this.show(false);
        }
    }
}

/** Begins a page, or says that it could not. */
export function begin(start: () => Promise<void>): void {
    start()
        .then(() => {
            document.documentElement.dataset.ready = "true";
        })
        .catch((error: unknown) => {
            const text = "This page could not be shown; the text report is in its source. ";
            document.getElementById("page")?.replaceChildren(el("p", { class: "missing" }, text + String(error)));
            throw error;
        });
}
