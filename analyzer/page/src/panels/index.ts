// All panels, in the order in which they are listed.
import type { Panel } from "../panel";
import { callSites } from "./callsites";
import { code } from "./code";
import { communication } from "./communication";
import { facts } from "./facts";
import { glossary } from "./glossary";
import { iterations } from "./iterations";
import { overheads } from "./overheads";
import { overTime } from "./overtime";
import { patterns } from "./patterns";
import { stagesAndRanks } from "./stages";
import { summary } from "./summary";
import { threads } from "./threads";
import { timeline } from "./timeline";
import { waiting } from "./waiting";
import { whatIf } from "./whatif";

/** Panels by the question that they answer; a panel that answers one by itself has no group. */
const GROUPS: [question: string | undefined, panels: Panel[]][] = [
    [undefined, [summary]],
    ["Where", [code, callSites]],
    ["When", [iterations, timeline, overTime]],
    ["Who", [waiting, communication, threads]],
    [undefined, [whatIf]],
    ["Expert", [stagesAndRanks, patterns, overheads, facts, glossary]],
];

export const PANELS: Panel[] = GROUPS.flatMap(([group, panels]) => panels.map((panel) => ({ ...panel, group })));
