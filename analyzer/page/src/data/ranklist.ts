// Lists of ranks as --ranks takes them: 3, 8-15, 12-, 0-63:4, host=node1*, cluster=2, with commas between.
import type { Data } from "../frame/panel";
import { rankNumbers } from "./views";

/** The facts about a rank. Ranks that share a row have the host and cluster of the first one. */
interface Rank {
    rank: number;
    host: string;
    cluster: number | null;
}

function ranksOf({ report, views }: Data): Rank[] {
    const listed = new Map(report.ranks.map((rank) => [rank.rank, rank]));
    return rankNumbers(views).map((rank, place) => {
        const row = Math.floor(place / views.ranks.per_row);
        return listed.get(rank) ?? { rank, host: views.hosts[views.host_of_row[row]] ?? "", cluster: views.cluster_of_row[row] };
    });
}

/** The ranks that `text` names, or a sentence on what is wrong with it. An empty text names all. */
export function parseRanks(text: string, data: Data): Set<number> | string {
    const parts = text.split(",").map((part) => part.trim()).filter((part) => part !== "");
    if (parts.length === 0) {
        return new Set(rankNumbers(data.views));
    }
    const ranks = ranksOf(data);
    const chosen = new Set<number>();
    for (const part of parts) {
        const accepts = predicate(part);
        if (!accepts) {
            return `“${part}” is no list of ranks: 3, 8-15, 12-, 0-63:4, host=NAME*, cluster=2`;
        }
        for (const rank of ranks) {
            if (accepts(rank)) {
                chosen.add(rank.rank);
            }
        }
    }
    return chosen.size > 0 ? chosen : "no rank of the run is in this list";
}

type Accepts = (rank: Rank) => boolean;

function predicate(part: string): Accepts | null {
    const host = /^host=(.+)$/.exec(part);
    if (host) {
        const pattern = host[1].replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
        const expression = new RegExp(`^${pattern}$`);
        return (rank) => expression.test(rank.host);
    }
    const cluster = /^cluster=(\d+)$/.exec(part);
    if (cluster) {
        return (rank) => rank.cluster === Number(cluster[1]);
    }
    const range = parseRange(part);
    return range && ((rank) => range(rank.rank));
}

/** Returns whether a number is in `8`, `8-15`, `8-` or `8-15:4`, or null if the text is none of these. */
export function parseRange(text: string): ((value: number) => boolean) | null {
    const found = /^(\d+)(?:(-)(\d*)(?::(\d+))?)?$/.exec(text.trim());
    if (!found) {
        return null;
    }
    const from = Number(found[1]);
    const to = found[2] === undefined ? from : found[3] === "" ? Infinity : Number(found[3]);
    const step = Math.max(1, Number(found[4] ?? 1));
    return (value) => value >= from && value <= to && (value - from) % step === 0;
}
