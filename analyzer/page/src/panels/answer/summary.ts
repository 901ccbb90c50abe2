// The first screen: what was lost, where, and what to do about it. Its numbers lead to the other panels.
import type { Target } from "../../frame/address";
import { el, panelLink } from "../../frame/dom";
import { isMuchOutside, lifetimeBar } from "../../lifetime";
import { findingViews, lostTo, type FindingView } from "./findingviews";
import { linkMentions } from "../../wording/mentions";
import { overview } from "./overview";
import { EFFICIENCY_LIMITS, CATEGORIES, efficiencyColour, stateColour } from "../../pictures/palette";
import type { Data, Panel } from "../../frame/panel";
import type { ClusterRow, EfficiencyRow, Report } from "../../generated/report.generated";
import { csvButton } from "../../frame/save";
import { bar, table } from "../../frame/table";
import { term } from "../../frame/tip";
import { count, namedRanks, percent, plural, seconds, secondsLike } from "../../wording/words";
import { scenario, scenarios } from "../whatif";
import { problemList, selected } from "../listing/facts";

export const summary: Panel = {
    id: "summary",
    title: "Answer",
    about: "What this run lost, where, and what would help. Links lead to the pictures that show it.",
    build(host, data: Data) {
        const { report } = data;
        const chosen = selected(report);
        if (chosen) {
            host.append(el("p", { class: "selected" }, el("b", {}, "Selected"), `: ${chosen}. All figures refer to this selection only.`));
        }
        host.append(answer(data));
        const lost = lostParts(data);
        if (lost) {
            host.append(lost);
        }
        host.append(efficiencyTree(report));
        const life = isMuchOutside(report) ? lifetimeBar(report) : null;
        const pictures = overview(data, slowRanks(report));
        host.append(pictures.element, life ?? "");
        if (report.run.problems.length > 0) {
            host.append(problemList(report.run.problems));
        }
        host.append(findingList(data), whatIf(report), dataLine(report));
        return pictures.draw;
    },
};

/** The sentence of the first screen, and its lines: where, what would be gained, what to do, and notes. */
function answer(data: Data): HTMLElement {
    const { report } = data;
    const { sentence, lines } = report.verdict.answer;
    const list = el("dl", {});
    for (const { label, text } of lines) {
        const target = labelTarget(label, data);
        list.append(el("dt", {}, target ? panelLink(target, label) : label), el("dd", { class: label === "note" ? "note" : undefined }, ...linkMentions(text, report)));
    }
    return el("div", { class: "verdict", id: "verdict" }, el("p", {}, ...linkMentions(sentence, report)), lines.length > 0 && list);
}

/** The view that shows what a line says; null where a line shows nothing that is in a picture. */
function labelTarget(label: string, data: Data): Target | null {
    const { report } = data;
    if (label === "gain") {
        return report.predictions.length > 0 ? { panel: "whatif" } : null;
    }
    const [finding] = report.findings;
    const views = finding ? findingViews(data, finding) : [];
    return label === "where" ? ((views.find(({ target }) => target.panel === "code") ?? views[0])?.target ?? null) : null;
}

/** The ranks that the answer is about. */
function slowRanks({ findings }: Report): number[] {
    return findings[0]?.ranks.slice(0, 4) ?? [];
}

/** Parts below it are not worth a word: 0.0 %. */
const LEAST_PART = 0.0005;

/** The elapsed time as a bar: computation, and each part that is lost, with a link to the picture that shows it. */
function lostParts(data: Data): HTMLElement | null {
    const { verdict } = data.report;
    const parts = lostTo(data.report).filter(({ share }) => share >= LEAST_PART);
    if (parts.length === 0 || verdict.lost_share === null) {
        return null;
    }
    const names = [{ text: "computation", share: 1 - verdict.lost_share, colour: stateColour("computation"), view: null as FindingView | null }];
    parts.forEach((finding, at) => {
        const [view] = findingViews(data, finding);
        names.push({ text: finding.kind, share: finding.share, colour: `color-mix(in srgb, ${stateColour("waiting")} ${100 - 22 * Math.min(at, 3)}%, var(--cell))`, view: view ?? null });
    });
    const bar = el("div", { class: "lost-bar", role: "img", "aria-label": names.map(({ text, share }) => `${text} ${percent(share)}`).join(", ") });
    const legend = el("div", { class: "legend" });
    for (const { text, share, colour, view } of names) {
        const part = el("span", { title: `${text} ${percent(share)}` });
        part.style.width = `${100 * Math.max(0, share)}%`;
        part.style.background = colour;
        bar.append(part);
        const swatch = el("span", { class: "swatch" });
        swatch.style.background = colour;
        const words = `${text} ${percent(share)}`;
        legend.append(el("span", { class: "key" }, swatch, view ? panelLink(view.target, words) : words));
    }
    return el("div", { class: "lost-parts" }, bar, legend);
}

interface Branch {
    name: string;
    depth: number;
    value: number | null;
    /** The least that it may be, where it is not known well. */
    least?: number;
    formula: string;
    from: [number | null, number | null];
    means: string;
    panel: string | Target;
}

/** The group of ranks that the answer judges; undefined where it judges all. */
function judged({ clusters, verdict }: Report): ClusterRow | undefined {
    return clusters.find((cluster) => cluster.id === verdict.cluster?.id);
}

function branches(of: EfficiencyRow, { verdict }: Report): Branch[] {
    const { avg_computation_s: mean, max_computation_s: longest, elapsed_s: elapsed, t_ideal_s: ideal } = of;
    const row = (name: string, depth: number, value: number | null, formula: string, from: [number | null, number | null], means: string, panel: string | Target, least?: number) => ({ name, depth, value, formula, from, means, panel, least });
    const whole = [
        row("parallel efficiency", 0, of.parallel, "mean / elapsed", [mean, elapsed], "the share that computes", "stages"),
        row("load balance", 1, of.load_balance, "mean / longest", [mean, longest], "lost: ranks that compute longer", { panel: "iterations", rank: verdict.worst?.rank }),
        row("communication efficiency", 1, of.communication, "longest / elapsed", [longest, elapsed], "lost: MPI on the longest rank", "waiting"),
    ];
    if (of.t_ideal_max_s === null) {
        return whole;
    }
    const least = (value: number | null) => (of.t_ideal_certain ? undefined : (value ?? 0));
    return [
        ...whole,
        row("micro load balance", 2, of.micro_load_balance_max, "longest / ideal", [longest, ideal], "lost: serialization", "iterations", least(of.micro_load_balance_min)),
        row("transfer", 2, of.transfer_max, "ideal / elapsed", [ideal, elapsed], "lost: messages, calls themselves", "timeline", least(of.transfer_min)),
    ];
}

/** The source of the ideal time, or the reason why it is unknown. */
function aboutIdeal(of: EfficiencyRow): string | null {
    const { t_ideal_phase_profile_s: ideal, t_ideal_phase_profile_bound_s: bound, elapsed_s: elapsed } = of;
    if (of.t_ideal_replay_s !== null) {
        return null;
    }
    if (ideal === null) {
        return "Micro load balance and transfer need iterations, found or marked, on all ranks that compute.";
    }
    if (of.t_ideal_phase_profile_above_elapsed) {
        return `Micro load balance and transfer are not known: the ideal time by iterations, ${seconds(ideal)}, is above the elapsed time, for ranks do not wait for each other at the end of each.`;
    }
    const error = `${seconds(ideal)} by iterations and may be up to ${secondsLike(bound, elapsed)} longer`;
    return of.t_ideal_certain ? `The ideal time is ${error}.` : `Micro load balance and transfer are ranges: the ideal time is ${error}, for ranks also wait for each other within them.`;
}

function efficiencyTree(report: Report): HTMLElement {
    const group = judged(report);
    const of = group?.efficiency ?? report.efficiency;
    const rows = branches(of, report);
    const body = el("tbody");
    for (const branch of rows) {
        const name = el("td", { class: `depth${branch.depth}` }, term(branch.name));
        const [above, below] = branch.from;
        // A line may end between the formula and its times alone.
        const formula = [el("span", {}, branch.formula), " ", el("span", {}, `= ${secondsLike(above, below ?? 1)} / ${seconds(below)}`)];
        body.append(
            el(
                "tr",
                { "data-efficiency": branch.name },
                name,
                el("td", {}, efficiencyBar(branch)),
                el("td", { class: "formula" }, ...formula),
                el("td", {}, panelLink(branch.panel, branch.means)),
            ),
        );
    }
    const whose = group ? ` of ${namedRanks(group.ranks, group.rank_count)}` : "";
    const caption = el("caption", {}, `Efficiency${whose}: parallel = load balance × micro load balance × transfer (${EFFICIENCY_LIMITS})`);
    const about = aboutIdeal(of);
    const csv = csvButton("efficiency", () => [["efficiency", "least", "value", "numerator [s]", "denominator [s]"], ...rows.map(({ name, least, value, from }) => [name, least ?? value, value, ...from])]);
    return el("div", { class: "table" }, el("table", { class: "tree" }, caption, body), el("div", { class: "below-table" }, csv), about === null ? null : el("p", { class: "hint" }, about));
}

function efficiencyBar(branch: Branch): HTMLElement {
    const efficiency = branch.least ?? branch.value ?? 0;
    return bar(efficiency, range(branch), efficiencyColour(efficiency));
}

/** `87.4 %`, or `60.1 % to 87.4 %` where it is not known better. */
function range({ least, value }: Branch): string {
    return least === undefined ? percent(value) : `${percent(least)} to ${percent(value)}`;
}

/** Parts below it are not listed. */
const LEAST_LISTED = 0.01;

/** The three largest parts of what is lost, in the words of the text report, each with the views that show it. */
function findingList(data: Data): HTMLElement {
    const { report } = data;
    const parts = lostTo(report).filter(({ share }) => share >= LEAST_LISTED);
    if (parts.length === 0) {
        return el("p", {}, "Nothing costs 1 % of the elapsed time by itself.");
    }
    const most = Math.max(...parts.map(({ seconds }) => seconds));
    const list = el("ol", { class: "losses", "aria-label": "Largest findings" });
    for (const finding of parts.slice(0, 3)) {
        const text = finding.place ? `${finding.sentence} Where: ${finding.place.text}.` : finding.sentence;
        const views = findingViews(data, finding).flatMap(({ text, target }, at) => [at === 0 ? " → " : " · ", panelLink(target, text)]);
        list.append(el("li", {}, bar(finding.seconds / most, "", stateColour("waiting")), el("span", {}, ...linkMentions(text, report), ...views)));
    }
    return el("div", {}, el("h3", {}, "Largest findings, of the mean rank's time"), list);
}

function whatIf(report: Report): HTMLElement {
    const asked = scenarios(report);
    // What would help is not known of a run that failed, or had no cores to compute.
    if (asked.length === 0 || !report.verdict.advised) {
        return el("div");
    }
    const measured = report.predictions.find((replay) => replay.scenario === "as measured");
    const elapsed = measured?.time_s ?? report.run.elapsed_s;
    return table({
        caption: "What the run would take if …",
        rows: asked,
        first: 6,
        columns: [
            { title: "if", term: "what if", cell: (row) => panelLink("whatif", scenario(row)) },
            { title: "run", time: (row) => row.time_s, bar: () => CATEGORIES[1], share: (row) => row.time_s / elapsed },
            { title: "saved", time: (row) => row.saved_s, suffix: (row) => ` (${percent(row.saved_share)})` },
        ],
    });
}

function dataLine({ run }: Report): HTMLElement {
    const ranks = run.ranks_present === run.ranks ? `all ${plural(run.ranks, "rank")}` : `${run.ranks_present} of ${plural(run.ranks, "rank")}`;
    const share = run.recorder_share;
    const clock = run.hosts === 1 ? "one clock" : run.clock_error_s === null ? "clocks of hosts were not compared" : `clocks agree to ${seconds(run.clock_error_s)}`;
    const recorder = share > 0 && share < 0.001 ? `${(100 * share).toFixed(2)} %` : percent(share);
    return el(
        "p",
        { class: "data" },
        panelLink("facts", "Data"),
        `: ${ranks}, ${count(run.events)} records, ${count(run.dropped_events)} dropped; the recorder took ${seconds(run.recorder_s)} (${recorder}); ${clock}; ${seconds(run.elapsed_s)} elapsed.`,
    );
}

