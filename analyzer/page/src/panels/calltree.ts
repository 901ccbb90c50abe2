// The program's functions as it calls them, down to the calls of MPI: an icicle graph and a table.
import { button, choice, el, field } from "../dom";
import { Icicle } from "../icicle";
import { key } from "../legend";
import { stateColour } from "../palette";
import { NO_CALLS } from "../emptyreasons";
import type { Panel } from "../panel";
import type { CallTreeRow } from "../report.generated";
import { csvButton, svgButton } from "../save";
import { bar } from "../table";
import { explain } from "../tip";
import { count, oneUnit, percent, seconds } from "../words";

/** The amounts by which nodes can be weighted. */
const WEIGHTS: { id: string; text: string; of(row: CallTreeRow): number | null }[] = [
    { id: "time", text: "time", of: (row) => row.time_s },
    { id: "computation", text: "computation", of: (row) => row.computation_s },
    { id: "waiting", text: "waiting", of: (row) => row.waiting_s },
    { id: "caused", text: "waiting caused", of: (row) => row.caused_s },
    { id: "lost", text: "lost time", of: (row) => row.lost_s },
];

/** Nodes with less of the weight are folded at first. */
const OPEN_FROM = 0.02;

/** The place of a call of a function or of MPI. */
function place(row: CallTreeRow): string {
    const { at } = row;
    if (!at) {
        return "";
    }
    return at.file === null || at.line === null ? `+0x${(at.offset ?? 0).toString(16)}` : `${at.file.split("/").at(-1)}:${at.line}`;
}

function name(row: CallTreeRow): string {
    return row.name || (place(row) ? `function called at ${place(row)}` : "function");
}

function label(row: CallTreeRow): string {
    return row.kind === "call" && place(row) ? `${name(row)} (${place(row)})` : name(row);
}

/** From computing to waiting. */
function colour(row: CallTreeRow): string {
    const idle = row.waiting_s ?? row.time_s - row.computation_s;
    const share = row.time_s > 0 ? Math.min(Math.max(idle / row.time_s, 0), 1) : 0;
    const mixed = `color-mix(in srgb, ${stateColour("waiting")} ${Math.round(100 * share)}%, ${stateColour("computation")})`;
    return `color-mix(in srgb, ${mixed} 38%, var(--cell))`;
}

export const callTree: Panel = {
    id: "calltree",
    title: "Call tree",
    about: "The program's functions as it calls them, with its loops and phases, down to the calls of MPI.",
    missing: ({ report }) => (report.call_tree.some((row) => row.kind !== "program") ? null : NO_CALLS),
    build(host, { report }) {
        const rows = report.call_tree;
        const weights = WEIGHTS.filter(({ of }) => of(rows[0]) !== null);
        let weight = weights[0];
        const describe = (row: CallTreeRow, share: number) =>
            [
                row.full_name ?? label(row),
                row.kind === "computation" ? "computes between calls of MPI: an estimate by samples" : "",
                row.at ? `called in ${row.at.function ?? "a function"} (${place(row)})` : "",
                `${weight.text}: ${seconds(weight.of(row))} (${percent(share)})`,
                weight.id === "time" ? "" : `time: ${seconds(row.time_s)}`,
                `computation: ${seconds(row.computation_s)}${row.load_balance === null ? "" : `, load balance ${percent(row.load_balance)}, longest on rank ${row.slowest_rank}`}`,
                row.waiting_s === null ? "" : `waiting: ${seconds(row.waiting_s)}, waiting caused: ${seconds(row.caused_s)}`,
            ].filter(Boolean);
        const icicle = new Icicle<CallTreeRow>({ label: "Icicle graph of the call tree", rows, name: label, colour, describe }, (row) => weight.of(row) ?? 0);
        const table = new TreeTable(rows, (at) => icicle.zoom(at));
        const found = el("output", { class: "sub" });
        const filter = el("input", { type: "search", size: 28, placeholder: "function, file or MPI call", oninput: () => search() });
        const search = () => {
            const wanted = filter.value.trim().toLowerCase();
            const matches = (row: CallTreeRow) => `${label(row)} ${row.full_name ?? ""} ${row.at?.file ?? ""} ${row.region ?? ""}`.toLowerCase().includes(wanted);
            icicle.find(wanted ? matches : null);
            table.find(wanted ? matches : null);
            found.textContent = wanted ? `${count(rows.filter(matches).length)} found, with ${percent(share(rows, matches, weight.of))} of the ${weight.text}` : "";
        };
        const weigh = (id: string) => {
            weight = weights.find((one) => one.id === id) ?? weights[0];
            icicle.weigh((row) => weight.of(row) ?? 0);
            table.weigh(weight.of);
            search();
        };
        table.weigh(weight.of);
        host.addEventListener("find", (event) => {
            filter.value = (event as CustomEvent<string>).detail;
            search();
        });
        const idle = rows[0].waiting_s === null ? "in MPI" : "waiting";
        host.append(
            el(
                "div",
                { class: "controls" },
                field("as wide as their", choice(weights.map(({ id, text }): [string, string] => [id, text]), weight.id, weigh)),
                field("find", filter),
                found,
                button("show all", () => icicle.zoom(0)),
            ),
            icicle.element,
            svgButton("call tree", () => icicle.shapes()),
            el("div", { class: "legend" }, key(stateColour("computation"), "computes"), key(stateColour("waiting"), idle)),
            el("p", { class: "hint" }, "A click, or Enter, shows a function as wide as the picture. The more of its time is red, the more of it is spent ", idle, "."),
            table.element,
        );
    },
};

/** The share of the whole that is in nodes that match, each counted once. */
function share(rows: CallTreeRow[], matches: (row: CallTreeRow) => boolean, of: (row: CallTreeRow) => number | null): number {
    const within: boolean[] = [];
    let sum = 0;
    rows.forEach((row, at) => {
        const around = row.parent !== null && within[row.parent];
        within[at] = around || matches(row);
        sum += within[at] && !around ? (of(row) ?? 0) : 0;
    });
    return sum / (of(rows[0]) || 1);
}

/** The tree as a table whose rows fold. */
class TreeTable {
    readonly element: HTMLElement;
    private readonly body = el("tbody");
    private open = new Set<number>();
    private readonly inner: number[][];
    private found: Set<number> | null = null;

    constructor(
        private readonly rows: CallTreeRow[],
        private readonly choose: (at: number) => void,
    ) {
        this.inner = rows.map(() => []);
        rows.forEach((row, at) => row.parent !== null && this.inner[row.parent].push(at));
        const heads: [string, string | undefined][] = [["function, loop or call", undefined], ["time", undefined], ["computation", "computation"], ["waiting", "waiting"], ["waiting caused", "cause"], ["lost", undefined], ["load balance", "load balance"], ["micro load balance", "micro load balance"], ["slowest rank", undefined], ["calls", undefined]];
        const head = heads.map(([title, term], at) => el("th", { scope: "col", class: at > 1 ? "right" : undefined }, explain(el("span", { class: term ? "term" : undefined }, title), term)));
        const caption = el("caption", {}, "Sums over ranks; what is in a node is included");
        const keys = ["depth", "kind", "name", "full_name", "region", "time_s", "alone_s", "computation_s", "waiting_s", "caused_s", "lost_s", "load_balance", "micro_load_balance", "slowest_rank", "calls", "bytes"] as const;
        const csv = csvButton("call tree", () => [[...keys, "called_at"], ...rows.map((row) => [...keys.map((key) => row[key]), place(row)])]);
        this.element = el("div", { class: "table" }, el("table", { class: "calltree" }, caption, el("thead", {}, el("tr", {}, ...head)), this.body), el("div", { class: "below-table" }, csv));
    }

    /** Unfolds what has much of this. */
    weigh(of: (row: CallTreeRow) => number | null): void {
        const whole = of(this.rows[0]) || 1;
        this.open = new Set(this.rows.flatMap((row, at) => (row.kind !== "call" && (of(row) ?? 0) / whole >= OPEN_FROM ? [at] : [])));
        this.fill();
    }

    /** Shows what is found and what is around it alone; null: all that is unfolded. */
    find(isFound: ((row: CallTreeRow) => boolean) | null): void {
        this.found = isFound && new Set();
        this.rows.forEach((row, at) => {
            for (let next: number | null = isFound?.(row) ? at : null; next !== null; next = this.rows[next].parent) {
                this.found?.add(next);
            }
        });
        this.fill();
    }

    private fill(focus?: number): void {
        const longest = this.rows[0].time_s;
        const words = oneUnit(longest);
        const shown: number[] = [];
        const visit = (at: number) => {
            if (this.found && !this.found.has(at)) {
                return;
            }
            shown.push(at);
            if (this.found || this.open.has(at)) {
                this.inner[at].forEach(visit);
            }
        };
        visit(0);
        const nothing = el("tr", {}, el("td", { class: "sub" }, "Nothing is found."));
        this.body.replaceChildren(...(shown.length > 0 ? shown.map((at) => this.line(at, words, longest)) : [nothing]));
        if (focus !== undefined) {
            this.body.querySelector<HTMLElement>(`[data-node="${focus}"]`)?.focus();
        }
    }

    private line(at: number, words: (time: number | null) => string, longest: number): HTMLElement {
        const row = this.rows[at];
        const number = (text: string) => el("td", { class: "right" }, text);
        // How evenly next to nothing is computed says nothing.
        const computes = row.computation_s >= 0.01 * row.time_s;
        const balance = (value: number | null) => number(computes ? percent(value) : "–");
        return el(
            "tr",
            {},
            this.nameCell(at, row),
            el("td", {}, bar(longest > 0 ? row.time_s / longest : 0, `${words(row.time_s)} (${percent(row.share)})`, colour(row))),
            number(words(row.computation_s)),
            number(words(row.waiting_s)),
            number(words(row.caused_s)),
            number(words(row.lost_s)),
            balance(row.load_balance),
            balance(row.micro_load_balance),
            number(computes && row.slowest_rank !== null ? String(row.slowest_rank) : "–"),
            number(count(row.calls)),
        );
    }

    private nameCell(at: number, row: CallTreeRow): HTMLElement {
        const isOpen = this.found !== null || this.open.has(at);
        const toggle = () => {
            this.open.has(at) ? this.open.delete(at) : this.open.add(at);
            this.fill(at);
        };
        const folds = this.inner[at].length > 0 && this.found === null;
        const sign = folds ? button(isOpen ? "▾" : "▸", toggle, { class: "fold", "aria-expanded": String(isOpen), "aria-label": `${isOpen ? "fold" : "unfold"} ${name(row)}`, "data-node": at }) : el("span", { class: "fold" });
        const link = button(label(row), () => this.choose(at), { class: `node ${row.kind}`, title: [row.full_name, row.at ? `called at ${place(row)}` : null, row.region].filter(Boolean).join("\n") });
        const rest = row.left_out > 0 ? el("span", { class: "sub" }, ` and ${count(row.left_out)} smaller`) : null;
        const cell = el("td", { class: "name" }, sign, link, rest);
        cell.style.paddingLeft = `${Math.min(row.depth, 16) * 16}px`;
        return cell;
    }
}
