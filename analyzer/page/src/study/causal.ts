// The causal model: a column for each kind of quantity, from causes to effects; what is chosen shows its equations.
import { choice, el, field } from "../frame/dom";
import type { PanelOf } from "../frame/panel";
import { table } from "../frame/table";
import { percent, plural } from "../wording/words";
import type { CausalEdge, CausalGraph, CausalNode, StudyData } from "../generated/studydata.generated";

const KINDS: [CausalNode["kind"], string][] = [
    ["variable", "ranks and parameters"],
    ["work", "operations and quanta"],
    ["phase", "time of a phase"],
    ["total", "time of the run"],
    ["result", "result"],
];

const WIDTH = 148;
const HEIGHT = 30;
const GAP_X = 50;
const GAP_Y = 12;
/** Height of an edge that passes a column. */
const PASS = 6;
const TOP = 28;
/** Characters of a label that fit into a box. */
const FIT = 20;

export const causal: PanelOf<StudyData> = {
    id: "causal",
    title: "Causal model",
    about: "What depends on what. Choose a quantity to see its equations alone.",
    missing: (data) => (data.programs.some((one) => one.graph.edges.length > 0) ? null : ["There are no relations to draw.", ...data.problems].join(" ")),
    build(host, data) {
        const programs = data.programs.filter((one) => one.graph.edges.length > 0);
        const place = el("div");
        const fill = (at: number) => place.replaceChildren(...drawn(programs[at].graph));
        if (programs.length > 1) {
            const names = programs.map((one, at): [string, string] => [String(at), one.program]);
            host.append(el("div", { class: "controls" }, field("program", choice(names, "0", (value) => fill(Number(value))))));
        }
        host.append(place);
        fill(0);
    },
};

/** An element of SVG; text enters as text alone. */
function svg(name: string, attributes: Record<string, string | number> = {}, text?: string): SVGElement {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) {
        element.setAttribute(key, String(value));
    }
    if (text !== undefined) {
        element.textContent = text;
    }
    return element;
}

interface Place {
    node: CausalNode;
    x: number;
    y: number;
}

interface Layout {
    places: Map<string, Place>;
    /** The points at which each edge passes the columns between its ends: their left sides, and the height. */
    passes: Map<CausalEdge, [x: number, y: number][]>;
    width: number;
    height: number;
    heads: [string, number][];
}

/** Nodes by kind; results that follow from others stand after these. */
function columnsOf(graph: CausalGraph): { name: string; nodes: CausalNode[] }[] {
    const results = new Set(graph.nodes.filter((node) => node.kind === "result").map((node) => node.id));
    const follows = (node: CausalNode) => graph.edges.some((edge) => edge.to === node.id && results.has(edge.from));
    const columns = KINDS.map(([kind, name]) => ({ name, nodes: graph.nodes.filter((node) => node.kind === kind && !(results.has(node.id) && follows(node))) }));
    columns.push({ name: "", nodes: graph.nodes.filter((node) => results.has(node.id) && follows(node)) });
    return columns.filter(({ nodes }) => nodes.length > 0);
}

/** Columns by kind; within one, nodes and passing edges in the order of the mean height of what they come from, so that few cross. */
function layout(graph: CausalGraph): Layout {
    const columns = columnsOf(graph);
    const column = new Map(columns.flatMap(({ nodes }, at) => nodes.map((node) => [node.id, at])));
    const of: Layout = { places: new Map(), passes: new Map(graph.edges.map((edge) => [edge, []])), width: columns.length * (WIDTH + GAP_X) - GAP_X, height: 0, heads: [] };
    columns.forEach(({ name, nodes: own }, at) => {
        const x = at * (WIDTH + GAP_X);
        of.heads.push([name, x]);
        const middle = (edge: CausalEdge) => of.passes.get(edge)?.at(-1)?.[1] ?? (of.places.get(edge.from)?.y ?? 0) + HEIGHT / 2;
        const mean = (edges: CausalEdge[]) => (edges.length > 0 ? edges.reduce((sum, edge) => sum + middle(edge), 0) / edges.length : 0);
        const nodes = own.map((node) => ({ node, edge: null, wish: mean(graph.edges.filter((edge) => edge.to === node.id && column.get(edge.from) !== at)) }));
        const passing = graph.edges.filter((edge) => (column.get(edge.from) ?? at) < at && (column.get(edge.to) ?? at) > at).map((edge) => ({ node: null, edge, wish: middle(edge) }));
        let y = TOP;
        for (const { node, edge } of [...nodes, ...passing].sort((a, b) => a.wish - b.wish)) {
            if (node) {
                of.places.set(node.id, { node, x, y });
            } else {
                of.passes.get(edge)?.push([x, y + PASS / 2]);
            }
            y += (node ? HEIGHT : PASS) + GAP_Y;
        }
        of.height = Math.max(of.height, y);
    });
    return of;
}

function drawn(graph: CausalGraph): HTMLElement[] {
    const { places, passes, width, height, heads } = layout(graph);
    const picture = svg("svg", { viewBox: `-4 0 ${width + 8} ${height}`, width: width + 8, class: "causal", role: "group", "aria-label": "Causal model" });
    for (const [name, x] of heads) {
        picture.append(svg("text", { x, y: 14, class: "head" }, name));
    }
    const curves = new Map<CausalEdge, SVGElement>();
    for (const edge of graph.edges) {
        const [from, to] = [places.get(edge.from), places.get(edge.to)];
        if (!from || !to) {
            continue;
        }
        const path = svg("path", { d: curve(from, to, passes.get(edge) ?? []), class: `edge ${edge.kind}` });
        path.append(svg("title", {}, said(edge)));
        curves.set(edge, path);
        picture.append(path);
    }
    const equations = el("div");
    let chosen: string | null = null;
    const boxes = new Map<string, SVGElement>();
    const fill = () => {
        const is = (edge: CausalEdge) => chosen === null || edge.from === chosen || edge.to === chosen;
        curves.forEach((path, edge) => {
            path.classList.toggle("chosen", chosen !== null && is(edge));
            path.classList.toggle("faint", !is(edge));
        });
        boxes.forEach((box, id) => {
            box.setAttribute("aria-pressed", String(id === chosen));
            box.classList.toggle("faint", chosen !== null && id !== chosen && !graph.edges.some((edge) => is(edge) && (edge.from === id || edge.to === id)));
        });
        equations.replaceChildren(edges(graph, graph.edges.filter(is), chosen));
    };
    for (const place of places.values()) {
        const box = node(place, () => {
            chosen = chosen === place.node.id ? null : place.node.id;
            fill();
        });
        boxes.set(place.node.id, box);
        picture.append(box);
    }
    fill();
    const independent = graph.independent.map(([from, to]) => el("li", {}, el("bdi", {}, label(graph, to)), " does not depend on ", el("bdi", {}, label(graph, from)), "."));
    return [el("div", { class: "scrolls" }, picture as unknown as HTMLElement), el("ul", { class: "hint" }, ...independent), equations];
}

function label(graph: CausalGraph, id: string): string {
    return graph.nodes.find((node) => node.id === id)?.label ?? id;
}

/** From the right of a box to the left of another, straight past the columns between; within a column around it. */
function curve(from: Place, to: Place, passes: [number, number][]): string {
    let [x, y] = [from.x + WIDTH, from.y + HEIGHT / 2];
    const end = to.y + HEIGHT / 2;
    if (to.x <= from.x) {
        const bend = x + 40;
        return `M${x},${y} C${bend},${y} ${bend},${end} ${to.x + WIDTH},${end}`;
    }
    let path = `M${x},${y}`;
    for (const [nextX, nextY] of [...passes, [to.x, end]]) {
        const middle = (x + nextX) / 2;
        path += ` C${middle},${y} ${middle},${nextY} ${nextX},${nextY}`;
        [x, y] = [nextX + WIDTH, nextY];
        if (nextX !== to.x) {
            path += ` H${x}`;
        }
    }
    return path;
}

function node({ node: of, x, y }: Place, press: () => void): SVGElement {
    const group = svg("g", { class: `node ${of.kind}`, tabindex: 0, role: "button", "aria-pressed": "false", "aria-label": of.label, transform: `translate(${x},${y})` });
    const text = [...of.label];
    const shown = text.length > FIT ? `${text.slice(0, 8).join("")}…${text.slice(9 - FIT).join("")}` : of.label;
    // What is wider than its characters are mostly is cut at the end of the box.
    const inside = svg("svg", { width: WIDTH - 4, height: HEIGHT });
    inside.append(svg("text", { x: 8, y: 19 }, shown));
    group.append(svg("rect", { width: WIDTH, height: HEIGHT, rx: 5 }), inside, svg("title", {}, of.label));
    group.addEventListener("click", press);
    group.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            press();
        }
    });
    return group;
}

function said(edge: CausalEdge): string {
    return edge.relative_error === null ? edge.text : `${edge.text} (error ${percent(edge.relative_error)})`;
}

function edges(graph: CausalGraph, rows: CausalEdge[], chosen: string | null): HTMLElement {
    return table<CausalEdge>({
        caption: chosen === null ? "Equations" : `Equations of ${label(graph, chosen)}`,
        rows,
        first: 40,
        columns: [
            { title: "effect", cell: (edge) => label(graph, edge.to) },
            { title: "cause", cell: (edge) => label(graph, edge.from) },
            { title: "equation", cell: (edge) => edge.text },
            { title: "by", cell: (edge) => (edge.kind === "fitted" ? plural(edge.n_runs ?? 0, "run") : edge.kind === "defined" ? "definition" : "not known") },
            { title: "error", cell: (edge) => percent(edge.relative_error), by: (edge) => edge.relative_error, right: true },
            { title: "note", cell: (edge) => edge.note ?? "" },
        ],
    });
}
