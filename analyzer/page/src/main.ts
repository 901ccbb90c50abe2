// The page of the report: reads the data that stand in it, makes a panel of each kind, shows one at a time.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { button, el } from "./dom";
import { unpackAll } from "./packed";
import type { Data, Panel } from "./panel";
import { PANELS } from "./panels";
import type { Report } from "./report";
import { onTheme, toggleTheme } from "./theme";
import { installTips } from "./tip";
import type { Views } from "./views";
import { seconds } from "./words";

/** A panel in the page; `draw` is there once it was built. */
interface Place {
    panel: Panel;
    section: HTMLElement;
    body: HTMLElement;
    link: HTMLAnchorElement;
    draw?: () => void;
}

function read(id: string): unknown {
    return JSON.parse(document.getElementById(id)?.textContent ?? "null");
}

function place(panel: Panel): Place {
    const link = el("a", { href: `#${panel.id}` }, panel.title);
    const body = el("div", { class: "body" });
    const section = el("section", { id: `panel-${panel.id}`, "aria-label": panel.title, tabindex: -1, hidden: true }, el("h2", {}, panel.title), el("p", { class: "about" }, panel.about), body);
    return { panel, section, body, link };
}

/** Builds a panel, or says why there is nothing in it. */
function build(at: Place, data: Data): void {
    if (at.draw) {
        return;
    }
    const missing = at.panel.missing?.(data) ?? null;
    if (missing !== null) {
        at.body.append(el("p", { class: "missing" }, missing));
    }
    at.draw = (missing === null ? at.panel.build(at.body, data) : undefined) ?? (() => {});
}

class Page {
    private readonly places = PANELS.map(place);
    private shown: Place = this.places[0];
    private printing = false;

    constructor(private readonly data: Data) {
        const { run } = data.report;
        const command = run.command.join(" ");
        document.title = `lbprof: ${command || "report"}`;
        const head = el(
            "header",
            {},
            el("h1", {}, command),
            el("span", { class: "sub" }, `${run.ranks} ranks · ${run.hosts} ${run.hosts === 1 ? "host" : "hosts"} · ${run.mpi.split(",")[0]} · ${seconds(run.elapsed_s)}`),
            el("span", { class: "buttons" }, button("dark / light", toggleTheme), button("print", () => window.print())),
        );
        const nav = el("nav", { "aria-label": "Panels" }, ...this.places.map((at) => at.link));
        const content = el("div", { class: "panels" }, ...this.places.map((at) => at.section));
        document.getElementById("page")?.replaceChildren(head, el("div", { class: "below" }, nav, content));
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
        const id = window.location.hash.slice(1);
        this.shown = this.places.find((at) => at.panel.id === id) ?? this.places[0];
        for (const at of this.places) {
            at.section.hidden = at !== this.shown;
            at.link.removeAttribute("aria-current");
        }
        this.shown.link.setAttribute("aria-current", "page");
        build(this.shown, this.data);
        this.draw();
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

async function start(): Promise<void> {
    installTips();
    const report = read("report") as Report;
    const views = (await unpackAll(read("views"))) as Views;
    new Page({ report, views });
    document.documentElement.dataset.ready = "true";
}

start().catch((error: unknown) => {
    const text = "This page could not be shown; the text report is in its source. ";
    document.getElementById("page")?.replaceChildren(el("p", { class: "missing" }, text + String(error)));
    throw error;
});
