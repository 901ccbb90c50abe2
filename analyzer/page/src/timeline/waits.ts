// One wait of a rank.
import type { Timeline } from "../data/views";

export interface Wait {
    rank: number;
    begin: number;
    end: number;
    state: string;
    region: string;
    site: string;
    /** The rank that ended it. */
    delaySource: number | null;
}

export function waitOf({ waits, regions, sites }: Timeline, at: number): Wait {
    const delaySource = waits.delay_source.at(at);
    return {
        rank: waits.rank.at(at),
        begin: waits.begin_s.at(at),
        end: waits.end_s.at(at),
        state: waits.states[waits.state.at(at)] ?? "waiting",
        region: regions[waits.region.at(at)] ?? "main",
        site: sites[waits.site.at(at)] ?? "",
        delaySource: Number.isNaN(delaySource) ? null : delaySource,
    };
}

/** The name in addresses of the wait with this number. */
export function waitName(at: number): string {
    return `wait ${at}`;
}

/** The number of the wait that is called so; −1 where it is none. */
export function waitNumber(name: string, { waits }: Timeline): number {
    const at = Number(/^wait (\d+)$/.exec(name)?.[1] ?? -1);
    return at < waits.rank.length ? at : -1;
}
