// The three largest losses. Where the report names them itself they are its own; else they are made from its other figures.
import type { Report } from "./report";
import { shortPath } from "./words";

export interface Loss {
    /** Seconds of the mean rank. */
    seconds: number;
    what: string;
    where: string;
    who: string;
    /** What the run would be shorter by, where a replay tells. */
    gain_s: number | null;
    panel: string;
}

/** The largest losses first, three at most, none below 0.5 % of the elapsed time. */
export function losses(report: Report): Loss[] {
    const least = 0.005 * report.efficiency.elapsed_s;
    return [...causes(report), ...bare(report)]
        .filter((loss) => loss.seconds >= least)
        .sort((a, b) => b.seconds - a.seconds)
        .slice(0, 3);
}

/** What ranks do that others wait for, by region and kind, all ranks together. */
function causes(report: Report): Loss[] {
    const { blocking } = report;
    if (!blocking) {
        return [];
    }
    const groups = new Map<string, { caused: number; rank: number; most: number; region: string; kind: string }>();
    for (const cause of blocking.causes) {
        const kind = cause.class === "message delay" ? "messages on their way" : (cause.activity ?? "time not recorded");
        const key = `${kind}\n${cause.region}`;
        const group = groups.get(key) ?? { caused: 0, rank: cause.rank, most: 0, region: cause.region, kind };
        group.caused += cause.caused_s;
        if (cause.caused_s > group.most) {
            group.most = cause.caused_s;
            group.rank = cause.rank;
        }
        groups.set(key, group);
    }
    return [...groups.values()].map((group) => ({
        seconds: group.caused / report.run.ranks_present,
        what: `waiting for ${group.kind}`,
        where: shortPath(group.region),
        who: group.most > 0.95 * group.caused ? `rank ${group.rank}` : `mostly rank ${group.rank} (${Math.round((100 * group.most) / group.caused)} %)`,
        gain_s: group.kind === "computation" ? gain(report, group.region) : null,
        panel: "waiting",
    }));
}

/** What balancing a region would save. */
function gain(report: Report, region: string): number | null {
    return report.replays.find((replay) => replay.what === "region balanced" && replay.region === region)?.saved_s ?? null;
}

/** Without causes: imbalance and activities as they are. */
function bare(report: Report): Loss[] {
    if (report.blocking) {
        return [];
    }
    const { max_computation_s: longest, avg_computation_s: mean } = report.efficiency;
    const slowest = report.ranks.reduce((a, b) => (b.computation_s > a.computation_s ? b : a), report.ranks[0]);
    const imbalance = { seconds: longest - mean, what: "load imbalance", where: "the whole run", who: slowest ? `rank ${slowest.rank}` : "–", gain_s: null, panel: "iterations" };
    const others = report.activities
        .filter((activity) => activity.name !== "computation")
        .map((activity) => ({ seconds: activity.mean_s, what: activity.name, where: shortPath(activity.worst_region ?? "–"), who: `longest on rank ${activity.max_rank}`, gain_s: null, panel: "views" }));
    return [imbalance, ...others];
}
