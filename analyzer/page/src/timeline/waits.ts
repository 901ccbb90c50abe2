// One wait of a rank.
import type { Timeline } from "../views";

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
