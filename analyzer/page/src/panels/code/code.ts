// The program's code: its functions as it calls them, each function by itself, and who calls it, as an icicle graph and a table.
import type { Selection } from "../../frame/address";
import { type CodeRow, callersOf, functionsOf } from "../../data/codeviews";
import { button, choice, el, field } from "../../frame/dom";
import { Icicle } from "../../pictures/icicle";
import { key } from "../../pictures/legend";
import { LESS_COLOUR, MORE_COLOUR, stateColour } from "../../pictures/palette";
import { NO_CALLS } from "../../wording/emptyreasons";
import type { Panel } from "../../frame/panel";
import { csvButton } from "../../frame/save";
import { bar } from "../../frame/table";
import { explain } from "../../frame/tip";
import { baseName, count, oneUnit, percent, seconds, withoutTemplateArguments } from "../../wording/words";
import { functionTables } from "./functions";
import { sourceLines } from "./source";

/** An amount by which nodes can be weighted. */
interface Weight {
    id: string;
    text: string;
    of(row: CodeRow): number | null;
    /** True if nodes are coloured by what the slowest rank spends more or less. */
    compares?: boolean;
}

const WEIGHTS: Weight[] = [
    { id: "time", text: "time", of: (row) => row.time_s },
    { id: "computation", text: "computation", of: (row) => row.computation_s },
    { id: "waiting", text: "waiting", of: (row) => row.waiting_s },
    { id: "caused", text: "waiting caused", of: (row) => row.caused_s },
    { id: "lost", text: "lost time", of: (row) => row.lost_s },
    { id: "mean", text: "CPU time, mean", of: (row) => row.cpu_s, compares: true },
    { id: "slowest", text: "CPU time of the slowest rank", of: (row) => row.slowest_cpu_s, compares: true },
];

/** Nodes with less of the weight are folded at first. */
const OPEN_FROM = 0.02;

/** The place of a call of a function or of MPI. */
function place(row: CodeRow): string {
    const { at } = row;
    if (!at) {
        return "";
    }
    return at.file === null || at.line === null ? `+0x${(at.offset ?? 0).toString(16)}` : `${baseName(at.file)}:${at.line}`;
}

function name(row: CodeRow): string {
    return row.name || (place(row) ? `function called at ${place(row)}` : "function");
}

function label(row: CodeRow): string {
    return row.kind === "call" && place(row) ? `${name(row)} (${place(row)})` : name(row);
}

/** A colour behind text. */
function pale(colour: string): string {
    return `color-mix(in srgb, ${colour} 38%, var(--cell))`;
}

/** That of a state, or from computing to waiting; or one where the slowest rank spends more than the mean, another where less, grey where samples do not show a difference. */
function colour(row: CodeRow, compares = false): string {
    if (compares) {
        const of = Math.max(row.cpu_s ?? 0, row.slowest_cpu_s ?? 0);
        const share = row.excess_s !== null && of > 0 ? Math.min(Math.abs(row.excess_s) / of, 1) : 0;
        const tint = (row.excess_s ?? 0) > 0 ? MORE_COLOUR : LESS_COLOUR;
        return `color-mix(in srgb, ${tint} ${share > 0 ? Math.round(20 + 60 * share) : 0}%, var(--cell))`;
    }
    const idle = row.waiting_s ?? row.time_s - row.computation_s;
    const share = row.time_s > 0 ? Math.min(Math.max(idle / row.time_s, 0), 1) : 0;
    return pale(row.kind === "state" ? stateColour(row.name) : `color-mix(in srgb, ${stateColour("waiting")} ${Math.round(100 * share)}%, ${stateColour("computation")})`);
}

/** The lines that describe a node. */
function describe(row: CodeRow, weight: Weight, share: number): string[] {
    return [
        row.full_name ?? label(row),
        row.at ? `called in ${row.at.function ?? "a function"} (${place(row)})` : "",
        `${weight.text}: ${seconds(weight.of(row))} (${percent(share)})`,
        weight.id === "time" ? "" : `time: ${seconds(row.time_s)}`,
        `computation: ${seconds(row.computation_s)}${row.load_balance === null ? "" : `, load balance ${percent(row.load_balance)}, longest on rank ${row.slowest_rank}`}`,
        row.waiting_s === null ? "" : `waiting: ${seconds(row.waiting_s)}, waiting caused: ${seconds(row.caused_s)}`,
        row.excess_s === null ? "" : `CPU time of the slowest rank − mean: ${row.excess_s > 0 ? "+" : ""}${seconds(row.excess_s)} ± ${seconds(row.excess_error_s)}`,
    ].filter(Boolean);
}

export const code: Panel = {
    id: "code",
    title: "Code",
    about: "The program's functions as it calls them, with its loops and phases, down to the calls of MPI; each function by itself; and the callers of a function.",
    missing: ({ report }) => (report.call_tree.some((row) => row.kind !== "program") || report.functions ? null : NO_CALLS),
    build(host, { report, views }) {
        const tree: CodeRow[] = report.call_tree;
        const weights = WEIGHTS.filter(({ of }) => (of(tree[0]) ?? 0) > 0);
        const names = functionsOf(tree).slice(1).map((row) => row.name);
        const state = { view: "tree", weight: weights[0] ?? WEIGHTS[0], name: names[0] ?? "" };
        const picture = el("div", {});
        const tables = el("div", {}, ...(report.functions ? [...functionTables(report.functions, host), ...sourceLines(report.functions, views.sources)] : []));
        const found = el("output", { class: "sub" });
        const filter = el("input", { type: "search", size: 28, placeholder: "function, file or MPI call", oninput: () => search() });
        let view: CodeView;
        const search = () => {
            const wanted = filter.value.trim().toLowerCase();
            found.textContent = view.find(wanted, state.weight);
        };
        const draw = () => {
            const views: Record<string, () => CodeRow[]> = { tree: () => tree, functions: () => functionsOf(tree), callers: () => callersOf(tree, state.name) };
            view = new CodeView(views[state.view](), state.weight);
            picture.replaceChildren(...view.elements);
            tables.hidden = state.view !== "functions";
            callee.hidden = state.view !== "callers";
            search();
        };
        const show = (id: string) => {
            state.view = id;
            viewChoice.value = id;
            draw();
        };
        const viewChoice = choice([["tree", "call tree"], ["functions", "functions"], ["callers", "callers of a function"]], state.view, show);
        const weightChoice = choice(weights.map(({ id, text }): [string, string] => [id, text]), state.weight.id, (id) => {
            state.weight = weights.find((one) => one.id === id) ?? weights[0];
            draw();
        });
        const callee = field("function", choice(names.map((one): [string, string] => [one, one]), state.name, (one) => {
            state.name = one;
            draw();
        }));
        host.addEventListener("find", (event) => {
            filter.value = (event as CustomEvent<string>).detail;
            search();
        });
        host.addEventListener("selection", (event) => {
            if ((event as CustomEvent<Selection>).detail.region !== null && report.functions) {
                show("functions");
            }
        });
        host.append(el("div", { class: "controls" }, field("show", viewChoice), callee, field("as wide as their", weightChoice), field("find", filter), found, button("show all", () => view.zoom(0))), picture, tables);
        draw();
    },
};

/** An icicle graph of nodes, and their table. */
class CodeView {
    readonly elements: HTMLElement[];
    private readonly icicle: Icicle<CodeRow>;
    private readonly table: TreeTable;

    constructor(
        private readonly rows: CodeRow[],
        weight: Weight,
    ) {
        const spec = { label: "Icicle graph of the code", rows, name: (row: CodeRow) => withoutTemplateArguments(label(row)), colour: (row: CodeRow) => colour(row, weight.compares), describe: (row: CodeRow, share: number) => describe(row, weight, share) };
        this.icicle = new Icicle<CodeRow>(spec, (row) => weight.of(row) ?? 0);
        this.table = new TreeTable(rows, (at) => this.zoom(at));
        this.table.weigh(weight.of);
        const idle = rows[0].waiting_s === null ? "in MPI" : "waiting";
        const states = [...new Set(rows.filter(({ kind }) => kind === "state").map(({ name }) => name))];
        const keys = weight.compares ? [key(MORE_COLOUR, "more on the slowest rank"), key(LESS_COLOUR, "less"), key("var(--cell)", "no difference beyond chance")] : [key(pale(stateColour("computation")), "computes"), key(pale(stateColour("waiting")), idle), ...states.map((name) => key(pale(stateColour(name)), name))];
        const hint = weight.compares ? "" : ` Its colour lies between the two, by the share of its time that is spent ${idle}.`;
        this.elements = [
            this.icicle.element,
            el("div", { class: "legend" }, ...keys),
            el("p", { class: "hint" }, `A click, or Enter, shows a function as wide as the picture.${hint}`),
            this.table.element,
        ];
    }

    zoom(at: number): void {
        this.icicle.zoom(at);
    }

    /** Shows what a word finds, and says how much that is. */
    find(wanted: string, weight: Weight): string {
        const matches = (row: CodeRow) => `${label(row)} ${row.full_name ?? ""} ${row.at?.file ?? ""} ${row.region ?? ""}`.toLowerCase().includes(wanted);
        this.icicle.find(wanted ? matches : null);
        this.table.find(wanted ? matches : null);
        return wanted ? `${count(this.rows.filter(matches).length)} found, with ${percent(share(this.rows, matches, weight.of))} of the ${weight.text}` : "";
    }
}

/** The share of the whole that is in nodes that match, each counted once. */
function share(rows: CodeRow[], matches: (row: CodeRow) => boolean, of: (row: CodeRow) => number | null): number {
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
        private readonly rows: CodeRow[],
        private readonly choose: (at: number) => void,
    ) {
        this.inner = rows.map(() => []);
        rows.forEach((row, at) => row.parent !== null && this.inner[row.parent].push(at));
        const heads: [string, string | undefined][] = [["function, loop or call", undefined], ["time", undefined], ["computation", "computation"], ["waiting", "waiting"], ["waiting caused", "cause"], ["lost", undefined], ["load balance", "load balance"], ["micro load balance", "micro load balance"], ["slowest rank", undefined], ["calls", undefined]];
        const head = heads.map(([title, term], at) => el("th", { scope: "col", class: at > 1 ? "right" : undefined }, explain(el("span", { class: term ? "term" : undefined }, title), term)));
        const caption = el("caption", {}, "Sums over ranks; what is in a node is included");
        const keys = ["depth", "kind", "name", "full_name", "region", "time_s", "alone_s", "computation_s", "mpi_s", "waiting_s", "caused_s", "lost_s", "cpu_s", "slowest_cpu_s", "excess_s", "load_balance", "micro_load_balance", "slowest_rank", "calls", "bytes"] as const;
        const csv = csvButton("code", () => [[...keys, "called_at"], ...rows.map((row) => [...keys.map((key) => row[key]), place(row)])]);
        this.element = el("div", { class: "table" }, el("table", { class: "code-rows" }, caption, el("thead", {}, el("tr", {}, ...head)), this.body), el("div", { class: "below-table" }, csv));
    }

    /** Unfolds what has much of this. */
    weigh(of: (row: CodeRow) => number | null): void {
        const whole = of(this.rows[0]) || 1;
        this.open = new Set(this.rows.flatMap((row, at) => (row.kind !== "call" && (of(row) ?? 0) / whole >= OPEN_FROM ? [at] : [])));
        this.fill();
    }

    /** Shows what is found and what is around it alone; null: all that is unfolded. */
    find(isFound: ((row: CodeRow) => boolean) | null): void {
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

    private nameCell(at: number, row: CodeRow): HTMLElement {
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
