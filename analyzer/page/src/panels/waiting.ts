// Causes of waiting: the ranks that delay others, their activities, and the cost of each phase.
import { formatAddress, isPointedOut, type Selection, type Target } from "../frame/address";
import { el, panelLink } from "../frame/dom";
import { NOT_REPLAYED } from "../wording/emptyreasons";
import { RankMatrix, type Place } from "../pictures/matrix";
import { stateColour } from "../pictures/palette";
import type { Data, Panel } from "../frame/panel";
import type { BlockingTable, WaitsByClass, CauseRow, PhaseRow, Report, SiteRow, WaitRow } from "../generated/report.generated";
import { bar, table } from "../frame/table";
import { term } from "../frame/tip";
import { waitName } from "../timeline/waits";
import { placeOf, rowOf, type Pairs } from "../data/views";
import { count, oneUnit, percent, plural, ratio, seconds, secondsLike, shortPath } from "../wording/words";
import { sitePlace } from "./listing/callsites";

export const waiting: Panel = {
    id: "waiting",
    title: "Causes of waiting",
    about: "Who made whom wait, and by doing what. All causes together are all waiting.",
    missing: ({ report }) => (report.blocking ? null : `Causes of waiting are not known. ${NOT_REPLAYED}`),
    build(host, data) {
        const { report } = data;
        const of = report.blocking as BlockingTable;
        host.append(el("p", {}, `Ranks wait ${seconds(of.total_s)} of their ${seconds(of.ranks_time_s)} (${percent(of.share)}).`));
        const matrix = pairMatrix(data, of);
        host.append(el("div", { class: "columns" }, classes(of), matrix?.element), causes(of, data), phases(of), el("div", { class: "columns" }, states(of), waitsBySite(of, report)));
        host.addEventListener("selection", (event) => matrix?.select((event as CustomEvent<Selection>).detail.rank));
        return () => matrix?.draw();
    },
};

const PARTS: [key: "imbalance" | keyof WaitsByClass, term: string, depth: number][] = [
    ["imbalance", "workload imbalance", 0],
    ["imbalance_amdahl", "Amdahl", 1],
    ["imbalance_global", "global", 1],
    ["imbalance_temporal", "temporal", 1],
    ["imbalance_chains", "dependency chains", 1],
    ["imbalance_unsplit", "not separated", 1],
    ["communication", "communication", 0],
    ["message_delay", "message delay", 0],
    ["control", "control of parallelism", 0],
    ["recorder", "recorder", 0],
];

function classes(of: BlockingTable): HTMLElement {
    const part = (name: "imbalance" | keyof WaitsByClass) =>
        name === "imbalance" ? { time: of.imbalance_s, share: of.imbalance_share } : { time: of.by_class[name], share: of.by_class_share[name] };
    const rows = PARTS.map(([name, word, depth]) => ({ word, depth, ...part(name) })).filter((row) => row.share >= 0.0005);
    const element = table({
        caption: "By what it is caused",
        rows,
        columns: [
            { title: "cause", term: "cause", cell: (row) => el("span", { class: `depth${row.depth}` }, term(row.word)) },
            { title: "waiting", term: "waiting", time: (row) => row.time, bar: () => stateColour("waiting") },
            { title: "share", cell: (row) => percent(row.share), by: (row) => row.time, right: true },
        ],
    });
    element.id = "classes";
    return element;
}

/** Rows wait, columns are why. */
function pairMatrix(data: Data, of: BlockingTable): RankMatrix | null {
    const pairs = data.views.waits;
    if (!pairs) {
        return null;
    }
    const describe = ({ row, column, isOwn, isPair, amount, largest, most }: Place) => [
        `${row} ${row.startsWith("ranks") ? "wait" : "waits"} ${Number.isNaN(amount) ? "0 s" : secondsLike(amount, most)}`,
        isOwn && isPair ? "because of itself" : `because of ${column}`,
        ...(isPair || Number.isNaN(amount) ? [] : [`of these at most ${secondsLike(largest, most)} one rank because of another`]),
    ];
    const choose = (row: number, column: number) => {
        const target = longestWait(data, (rank) => blockOf(data, pairs, rank) === row, (rank) => blockOf(data, pairs, rank) === column);
        if (target) {
            window.location.hash = formatAddress(target);
        }
    };
    const matrix = new RankMatrix(data, { title: "Who (row) waits for whom (column)", label: "Who waits for whom", text: (time) => (time > 0 ? seconds(time) : "0 s"), describe, choose }, pairs);
    matrix.element.append(el("p", { class: "hint" }, "A click shows the longest wait of a pair in the timeline, with its chain of causes, if it is among the 20,000 longest."));
    if (of.not_selected_s > 0) {
        matrix.element.append(el("p", { class: "hint" }, `Ranks that are not selected are waited for ${seconds(of.not_selected_s)}.`));
    }
    return matrix;
}

/** The block of a matrix that holds a rank. */
function blockOf({ views }: Data, pairs: Pairs, rank: number): number {
    return Math.floor(placeOf(views, rank) / pairs.per_block);
}

/** The place in the timeline of the longest wait of some ranks that others ended; null where none is known. */
function longestWait({ views }: Data, isWaiting: (rank: number) => boolean, isSource: (rank: number) => boolean): Target | null {
    const waits = views.timeline?.waits;
    // The longest come first.
    for (let at = 0; at < (waits?.rank.length ?? 0); at++) {
        const [rank, source] = [waits!.rank.at(at), waits!.delay_source.at(at)];
        if (!Number.isNaN(source) && isWaiting(rank) && isSource(source)) {
            return { panel: "timeline", rank, find: waitName(at) };
        }
    }
    return null;
}

/** Formats β. Very large values mean that the waiting has another cause. */
function beta(value: number | null): string {
    return value !== null && value >= 1000 ? "> 1000" : ratio(value, 2);
}

function causeName(cause: CauseRow): string {
    const what = cause.class === "message delay" ? "messages in transit" : (cause.activity ?? "not recorded");
    return `${what} in ${shortPath(cause.region)}`;
}

function causes(of: BlockingTable, data: Data): HTMLElement {
    const { report } = data;
    const element = table<CauseRow>({
        caption: "Causes: what a rank does that others wait for",
        rows: of.causes,
        first: 10,
        amount: (row) => row.caused_s,
        isSelected: (row, selection) => isPointedOut(selection, row),
        columns: [
            { title: "what a rank does", term: "cause", cell: causeName },
            { title: "rank", cell: (row) => (rowOf(data, row.rank) >= 0 ? String(row.rank) : `${row.rank} (not selected)`), by: (row) => row.rank, right: true },
            { title: "class", cell: (row) => term(row.class) },
            { title: "waiting caused", term: "waiting", time: (row) => row.caused_s, bar: () => stateColour("waiting") },
            { title: "share", cell: (row) => percent(row.share), by: (row) => row.caused_s, right: true },
            { title: "own time", time: (row) => row.own_s },
            { title: "β", term: "β", cell: (row) => beta(row.beta), by: (row) => row.beta, right: true },
        ],
    });
    element.id = "causes";
    if (of.causes_left_out.count > 0) {
        element.append(el("p", { class: "hint" }, `${plural(of.causes_left_out.count, "smaller cause")} of ${seconds(of.causes_left_out.time_s)} in all: lb-report --full --json lists them.`));
    }
    if (report.predictions.length > 0) {
        element.append(el("p", { class: "hint" }, "What the run would gain without one of them: ", panelLink("whatif", "What if"), "."));
    }
    return element;
}

function phases(of: BlockingTable): HTMLElement {
    const most = of.phases[0]?.total_s ?? 1;
    const words = oneUnit(most);
    return table<PhaseRow>({
        caption: "Total cost of phases, all ranks together: own time and the waiting that it causes",
        rows: of.phases,
        first: 8,
        amount: (row) => row.total_s,
        isSelected: (row, selection) => isPointedOut(selection, { region: row.region }),
        columns: [
            { title: "region", term: "region", cell: (row) => shortPath(row.region) },
            { title: "class", cell: (row) => term(row.class) },
            { title: "own time", time: (row) => row.own_s },
            { title: "waiting caused", term: "waiting", time: (row) => row.caused_s },
            { title: "total cost", term: "total cost", cell: (row) => costBar(row, most, words(row.total_s)), by: (row) => row.total_s },
            { title: "β", term: "β", cell: (row) => beta(row.beta), by: (row) => row.beta, right: true },
        ],
    });
}

/** Own time and waiting caused, one after the other. A message's delay has no time of its own. */
function costBar(row: PhaseRow, most: number, text: string): HTMLElement {
    const element = bar(0, text, "");
    const room = element.querySelector(".room") as HTMLElement;
    room.classList.add("stacked");
    const part = (time: number, colour: string) => {
        const fill = el("span", { class: "fill" });
        fill.style.width = `${(100 * time) / most}%`;
        fill.style.background = colour;
        return fill;
    };
    const own = Math.max(0, row.total_s - row.caused_s);
    room.replaceChildren(part(own, stateColour("computation")), part(row.caused_s, stateColour("waiting")));
    return element;
}

function states(of: BlockingTable): HTMLElement {
    return table({
        caption: "Why ranks wait",
        rows: [...of.states].sort((a, b) => b.blocked_s - a.blocked_s),
        amount: (row) => row.blocked_s,
        columns: [
            { title: "why", term: "waiting", cell: (row) => term(row.state) },
            { title: "time", time: (row) => row.blocked_s, bar: () => stateColour("waiting") },
            { title: "of that transit", term: "transit", time: (row) => row.delay_s || null },
            { title: "count", cell: (row) => count(row.count), by: (row) => row.count, right: true },
        ],
    });
}

function waitsBySite(of: BlockingTable, report: Report): HTMLElement {
    const sites = new Map<number | null, SiteRow>(report.callsites.map((site) => [site.id, site]));
    const place = (row: WaitRow) => {
        const site = row.callsite === null ? undefined : sites.get(row.callsite);
        return site ? panelLink({ panel: "callsites", find: sitePlace(site) }, sitePlace(site)) : "–";
    };
    return table<WaitRow>({
        caption: "Where ranks wait",
        rows: of.waits,
        first: 10,
        amount: (row) => row.blocked_s,
        columns: [
            { title: "call", cell: (row) => row.operation || "–" },
            { title: "at", term: "call site", cell: place },
            { title: "in", term: "region", cell: (row) => shortPath(row.region) },
            { title: "why", term: "waiting", cell: (row) => term(row.state) },
            { title: "time", time: (row) => row.blocked_s, bar: () => stateColour("waiting") },
            { title: "count", cell: (row) => count(row.count), by: (row) => row.count, right: true },
        ],
    });
}
