// The functions by samples: in which of them ranks compute, and in which the slow rank does so longer than the others.
import type { Selection } from "../../frame/address";
import { choice, el, field } from "../../frame/dom";
import { stateColour } from "../../pictures/palette";
import type { FunctionRow, FunctionTable, OtherThreadsRow, OtherThreadsFunctions, RegionFunctions } from "../../generated/report.generated";
import { csvButton } from "../../frame/save";
import { type Column, table } from "../../frame/table";
import { baseName, percent, plural, seconds } from "../../wording/words";

/** A difference with its error; a dash where it may be chance. */
function difference(excess: number, error: number, significant: boolean): string {
    return significant ? `${excess > 0 ? "+" : ""}${seconds(excess)} ± ${seconds(error)}` : "–";
}

/** A function with its file and line, as far as they are known. */
export function functionName(row: Pick<FunctionRow, "function" | "file" | "line" | "module">): string {
    const file = row.file === null ? null : baseName(row.file);
    const place = file ? (row.line === null ? file : `${file}:${row.line}`) : (row.module?.split("/").at(-1) ?? "generated code");
    return row.function ? `${row.function} (${place})` : place;
}

/** The functions by samples: those of the first threads by region, which follow what is selected in `host`, and those of others. */
export function functionTables(all: FunctionTable, host: HTMLElement): HTMLElement[] {
    const { program } = all;
    if (all.samples === 0 || program.cpu_s === 0) {
        const asleep = el("p", {}, `Outside of MPI the ranks took no CPU time to sample (${plural(all.samples, "sample")}, all in MPI): they slept, or waited for I/O. The timeline shows when.`);
        return [...(all.samples > 0 ? [asleep] : []), ...all.other_threads.flatMap(otherThreads), ...unplaced(all)];
    }
    const parts = [program, ...all.regions];
    const tables = byRegion(parts, rows);
    host.addEventListener("selection", (event) => {
        const { region } = (event as CustomEvent<Selection>).detail;
        const at = parts.findIndex((part, at) => at > 0 && part.region === region);
        const list = tables[0].querySelector("select");
        if (region !== null && at > 0 && list) {
            list.value = String(at);
            list.dispatchEvent(new Event("change"));
        }
    });
    return [
        el("h3", {}, "By samples"),
        el("p", {}, `${plural(all.samples, "sample")} of CPU time on ${plural(all.ranks, "rank")}, one every ${seconds(all.period_s)}; ${seconds(all.computation_s)} of computation, ${seconds(all.mpi_s)} in MPI, all ranks together.`),
        ...tables,
        el("div", { class: "below-table" }, csvButton("functions of all regions", () => csv(parts))),
        ...all.other_threads.flatMap(otherThreads),
        ...unplaced(all),
    ];
}

/** A table of one of these, the first of which is the whole program, and what chooses it. */
function byRegion<Part extends { region: string }>(parts: Part[], rows: (part: Part) => HTMLElement): HTMLElement[] {
    const place = el("div", {}, rows(parts[0]));
    const names = parts.map((part, at): [string, string] => [String(at), at === 0 ? "whole program" : short(part.region)]);
    const choose = choice(names, "0", (at) => place.replaceChildren(rows(parts[Number(at)])));
    return [el("div", { class: "controls" }, field("region", choose)), place];
}

/** The functions of threads other than the first of each rank. */
function otherThreads(threads: OtherThreadsRow): HTMLElement[] {
    const parts = [threads.program, ...threads.regions];
    const what = threads.call_mpi ? "other threads with MPI calls" : "threads without MPI calls";
    return [
        el("h3", {}, `Functions of ${what}`),
        el("p", { class: "hint" }, `${plural(threads.threads, "thread")} on ${plural(threads.ranks, "rank")}, ${plural(threads.samples, "sample")}; those of a rank together, in the region that its first thread was in.`),
        ...byRegion(parts, (part) => rowsOfOthers(part)),
        el("div", { class: "below-table" }, csvButton(`functions of ${what}`, () => csv(parts))),
    ];
}

/** The functions of times for which it is not known what the ranks did. */
function unplaced({ unplaced }: FunctionTable): HTMLElement[] {
    if (!unplaced) return [];
    const why = "Of all threads, at times for which there are no records: they are missing, recording was paused, or calls were recorded as sums and the recorder did not note where these samples belong. Computation and calls of MPI are not distinguished.";
    return [el("h3", {}, "Functions, regions not known"), el("p", { class: "hint" }, why), rowsUnder(`${seconds(unplaced.cpu_s)} of CPU time on average`, unplaced)];
}

/** A region's path as a list has room for it. */
function short(path: string): string {
    const LONGEST = 48;
    return path.length <= LONGEST ? path : `…${path.slice(1 - LONGEST)}`;
}

/** The functions of a region. */
function rows(part: RegionFunctions): HTMLElement {
    const notRunning = part.max_not_running_s >= 0.05 * part.computation_s && part.not_running_rank !== null ? `, not running (asleep, waiting for a core, or in the kernel) up to ${seconds(part.max_not_running_s)}, on rank ${part.not_running_rank}` : "";
    const slowest = part.slowest_rank === null ? "" : `; rank ${part.slowest_rank} computes longest: ${seconds(part.slowest_computation_s)}, the mean is ${seconds(part.computation_s)}`;
    return rowsUnder(`${seconds(part.cpu_s)} of CPU time on average${notRunning}${slowest}`, part);
}

function rowsOfOthers(part: OtherThreadsFunctions): HTMLElement {
    const during = part.during_mpi_s > 0 ? `, ${seconds(part.during_mpi_s)} of it while the first thread was in MPI` : "";
    return rowsUnder(`${seconds(part.cpu_s)} of CPU time on average${during}`, part);
}

function rowsUnder(caption: string, part: Pick<RegionFunctions, "functions" | "others">): HTMLElement {
    const others = part.others.functions > 0 ? `; ${plural(part.others.functions, "other function")}: ${seconds(part.others.mean_s)}` : "";
    return table<FunctionRow>({
        caption: `${caption}${others}. ± is one standard error, – a difference below two`,
        rows: part.functions,
        columns: [
            { title: "function", cell: functionName },
            { title: "share", cell: (row) => percent(row.share), by: (row) => row.share, right: true },
            { title: "mean", time: (row) => row.mean_s, bar: () => stateColour("computation") },
            { title: "min", time: (row) => row.min_s },
            { title: "max", time: (row) => row.max_s },
            { title: "max on rank", cell: (row) => String(row.max_rank), by: (row) => row.max_rank, right: true },
            { title: "slowest rank − mean", cell: (row) => difference(row.excess_s, row.excess_error_s, row.significant), by: (row) => row.excess_s, right: true },
            ...counted(part.functions),
            { title: "lines", cell: (row) => row.lines.map((line) => `${line.line} (${percent(line.mean_s / row.mean_s)})`).join(", ") },
        ],
    });
}

/** The hardware counters, if the processors have them. */
function counted(rows: FunctionRow[]): Column<FunctionRow>[] {
    if (rows.every((row) => row.instructions === null)) return [];
    return [
        { title: "instructions", cell: (row) => row.instructions?.toExponential(2) ?? "–", by: (row) => row.instructions, right: true },
        { title: "instructions per cycle", cell: (row) => row.ipc?.toFixed(2) ?? "–", by: (row) => row.ipc, right: true },
    ];
}

function csv(parts: (RegionFunctions | OtherThreadsFunctions)[]): (string | number | null)[][] {
    const keys = ["function", "file", "line", "module", "samples", "mean_s", "error_s", "share", "min_s", "max_s", "max_rank", "slowest_s", "excess_s", "excess_error_s", "instructions", "ipc", "slowest_instructions", "slowest_ipc"] as const;
    return [["region", ...keys], ...parts.slice(1).flatMap((part) => part.functions.map((row) => [part.region, ...keys.map((key) => row[key])]))];
}
