// Threads of OpenMP: what the cores of ranks lose, and how long each thread works in each parallel region.
import { el } from "../frame/dom";
import { scaleGradient, scalePixels, stateColour } from "../pictures/palette";
import { PackedNumbers } from "../data/packed";
import type { Panel } from "../frame/panel";
import { Picture, pictureHeight, type Scene } from "../pictures/picture";
import { paintMeans, poolMeans } from "../pictures/pool";
import type { CoreLoss, CoreLossKind, ParallelRegionRow, PoolUse, ThreadPoolRow } from "../generated/report.generated";
import { bar, table } from "../frame/table";
import { term } from "../frame/tip";
import { count, percent, plural, roundTicks, seconds } from "../wording/words";
import { sitePlace } from "./listing/callsites";

export const threads: Panel = {
    id: "threads",
    title: "Threads",
    about: "How the threads of each rank share the work of OpenMP's parallel regions, and how much pools of other threads work.",
    isOptional: true,
    missing: ({ report }) => {
        if ((report.threads?.regions.length ?? 0) > 0 || (report.thread_pools?.length ?? 0) > 0) {
            return null;
        }
        return report.selection
            ? "Threads are not known of a region, or of a part of the time that the log has no records of: make the page without --region, --from and --to."
            : "No parallel region of OpenMP was recorded: the program has none, its run-time library is not GNU's (libgomp.so), or LBPROF_OPENMP=off was set.";
    },
    build(host, { report }) {
        const ofPools = pools(report.thread_pools ?? []);
        const all = report.threads;
        if (!all || all.regions.length === 0) {
            host.append(...ofPools);
            return;
        }
        const picture = new Picture(scene(all.regions), pictureHeight(all.regions.length, 34, 20, 460));
        const scale = el("span", { class: "scale" });
        scale.style.background = scaleGradient("viridis");
        host.append(
            el("p", {}, `${plural(all.cores, "core")}: ${percent(all.parallel)} of their time is work; MPI leaves ${percent(all.mpi)}, and of this the threads use ${percent(all.threads)}.`),
            el("h3", {}, "Work of each thread, by ", term("parallel region")),
            el("div", { class: "legend" }, "share of the region's time in which the thread works: 0 %", scale, "100 %"),
            picture.element,
            losses(all.losses),
            regions(all.regions),
            ...ofPools,
        );
        return () => picture.draw();
    },
};

/** A row for each region, a column for each thread. */
function scene(rows: ParallelRegionRow[]): Scene {
    const columns = Math.max(1, ...rows.map((row) => row.threads.length));
    const share = (row: ParallelRegionRow, thread: number) => (row.threads[thread]?.useful_s ?? NaN) / row.elapsed_s;
    const shares = new PackedNumbers(Float32Array.from({ length: rows.length * columns }, (_, at) => share(rows[Math.floor(at / columns)], at % columns)), 1);
    const order = rows.map((_, row) => row);
    return {
        label: `Work by thread: ${plural(rows.length, "parallel region")} by ${plural(columns, "thread")}`,
        rows: rows.length,
        x0: 0,
        x1: columns,
        least: 1,
        step: () => 1,
        left: 250,
        paint: (plot) => paintMeans(plot, poolMeans(shares, columns, order, plot.view, plot.width, plot.height), { low: 0, high: 1 }, scalePixels("viridis")),
        rowName: (row) => regionName(rows[row], rows),
        ticks: (from, to, wanted) =>
            roundTicks(from, to, wanted)
                .filter((tick) => tick % 1 === 0 && tick < columns)
                .map((tick) => ({ at: tick + 0.5, text: `thread ${tick}` })),
        describe: (x, row) => {
            const region = rows[row];
            const thread = region.threads[Math.floor(x)];
            const who = `thread ${Math.floor(x)} of ${region.team} in ${regionName(region, rows)}`;
            return thread ? [who, `works ${seconds(thread.useful_s)} of ${seconds(region.elapsed_s)} (${percent(thread.useful_s / region.elapsed_s)})`, `works longest in ${count(thread.longest)} of ${plural(region.instances, "instance")}`] : [who, "no such thread, or not listed"];
        },
    };
}

/** The place of a region, with the address if several are on one line. */
function regionName(row: ParallelRegionRow, rows: ParallelRegionRow[]): string {
    const name = sitePlace(row);
    const others = rows.filter((other) => other !== row && sitePlace(other) === name && other.offset !== row.offset);
    return others.length > 0 && row.function !== null ? `${name} +0x${(row.offset ?? 0).toString(16)}` : name;
}

const LOST_TO: Record<CoreLossKind, string> = {
    "mpi": "MPI, and threads that wait for it",
    "serial": "threads idle while the first one computes alone",
    "thread-imbalance": "waiting for threads that work longer",
    "mutex": "critical sections, atomic operations, locks",
    "ordered": "ordered sections",
    "tasks": "waiting for tasks",
    "fork-join": "starting and ending regions",
};

/** What is lost to, with the name of a mutex or the line where threads wait for it. */
function lostTo({ kind, mutex }: CoreLoss): string {
    if (mutex === null) {
        return LOST_TO[kind];
    }
    const name = mutex.name === null ? "" : ` ${mutex.name}`;
    const at = mutex.at?.line ? ` (line ${mutex.at.line})` : "";
    return { critical: `critical section${name}${at}`, lock: `lock${name}${at}`, atomic: `atomic operation${at}` }[mutex.kind];
}

function losses(rows: CoreLoss[]): HTMLElement {
    if (rows.length === 0) {
        return el("p", {}, "No single loss takes 1 % of the cores' time.");
    }
    const thread = ({ heavy_thread: heavy }: CoreLoss) => (heavy === null ? "–" : heavy.against_others === null ? `${heavy.thread}, alone` : `${heavy.thread}, ${heavy.against_others.toFixed(1)} times the mean of the others`);
    return table<CoreLoss>({
        caption: "What the cores lose",
        rows,
        first: 8,
        columns: [
            { title: "lost to", cell: lostTo },
            { title: "share of the cores' time", cell: (row) => bar(row.share, percent(row.share), stateColour("waiting")), by: (row) => row.share },
            { title: "all cores", time: (row) => row.core_s },
            { title: "in", cell: (row) => (row.at ? sitePlace(row.at) : row.function ? `${row.function.name} (${percent(row.function.share)} of it)` : "–") },
            { title: "thread that works longest", cell: thread },
        ],
    });
}

function regions(rows: ParallelRegionRow[]): HTMLElement {
    return table<ParallelRegionRow>({
        caption: "Parallel regions, all ranks together; times of threads are sums",
        rows,
        first: 12,
        columns: [
            { title: "region", cell: (row) => regionName(row, rows) },
            { title: "threads", cell: (row) => count(row.team), by: (row) => row.team, right: true },
            { title: "ranks", cell: (row) => count(row.ranks), by: (row) => row.ranks, right: true },
            { title: "instances", cell: (row) => count(row.instances), by: (row) => row.instances, right: true },
            { title: "elapsed", time: (row) => row.elapsed_s },
            { title: "work", time: (row) => row.useful_s, bar: () => stateColour("computation") },
            { title: "in MPI", time: (row) => row.mpi_s + row.idle_for_mpi_s },
            { title: "imbalance", time: (row) => row.imbalance_s },
            { title: "locks, order, tasks", time: (row) => row.mutex_s + row.ordered_s + row.tasks_s },
            { title: "fork, join", time: (row) => row.fork_join_s },
        ],
    });
}

/** How much of their time the threads of pools work, and in which regions. */
function pools(rows: ThreadPoolRow[]): HTMLElement[] {
    if (rows.length === 0) {
        return [];
    }
    type PoolLine = { name: string; threads: number | null; use: PoolUse };
    const lines = rows.flatMap((pool): PoolLine[] => [
        { name: pool.name, threads: pool.threads, use: pool.program },
        ...pool.regions.map((use) => ({ name: `– ${use.region}`, threads: null, use })),
    ]);
    const share = ({ use }: PoolLine) => (use.utilization === null ? "–" : bar(Math.min(1, use.utilization), `${percent(use.utilization)} ± ${percent(use.utilization_error)}`, stateColour("computation")));
    return [
        table<PoolLine>({
            caption: "Pools of threads, by the routine with which they start, and by region: CPU time without waiting / (threads × time), by samples",
            rows: lines,
            first: 12,
            columns: [
                { title: "pool, region", cell: (row) => row.name },
                { title: "threads", cell: (row) => (row.threads === null ? "" : count(row.threads)), right: true },
                { title: "used", cell: share },
                { title: "CPU", time: (row) => row.use.cpu_s },
                { title: "waiting", time: (row) => row.use.waiting_s },
            ],
        }),
    ];
}
