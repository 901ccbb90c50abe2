// The chain of causes of a wait: the rank that ended it worked until then, or waited itself, for another one, and so on.
//
//   rank 1   |..........wait..........|        1. rank 1 waits for rank 0,
//   rank 0   |=|.....wait.....|== w ==|        2. which works a part of that time, and waited for rank 2 before,
//   rank 2   |====== work ====|                3. which works.
import type { Wait } from "./waits";

/** The activity of the rank that ended a wait, during the wait. */
export interface ChainLink {
    rank: number;
    /** From here to `end` it worked: from the end of its own last wait, or the begin of the wait that it ended. */
    begin: number;
    end: number;
    /** The wait before that, within the wait that is explained; null if it worked all the time. */
    waited: Wait | null;
}

/** A chain goes on where the rank's own wait explains at least this share of the time. */
const LEAST_SHARE = 0.1;

const MOST_LINKS = 16;

/** The links of a chain, from the rank that ended `wait` on; `waitsOf` has a rank's waits that touch a time, in any order. */
export function causeChain(wait: Wait, waitsOf: (rank: number, from: number, to: number) => Wait[]): ChainLink[] {
    const links: ChainLink[] = [];
    const begin = wait.begin;
    let [source, end] = [wait.delaySource, wait.end];
    while (source !== null && links.length < MOST_LINKS && !links.some((link) => link.rank === source && link.begin < end && end <= link.end)) {
        const [rank, until] = [source, end];
        const earlier = waitsOf(rank, begin, until).filter((other) => other.end > begin && other.end <= until && other.begin < other.end);
        const last = earlier.reduce<Wait | null>((best, other) => (best === null || other.end > best.end ? other : best), null);
        const explains = last === null ? 0 : (last.end - Math.max(last.begin, begin)) / (wait.end - wait.begin);
        const waited = last !== null && last.delaySource !== null && explains >= LEAST_SHARE ? last : null;
        links.push({ rank, begin: waited ? waited.end : begin, end: until, waited });
        [source, end] = waited ? [waited.delaySource, waited.end] : [null, until];
    }
    return links;
}
