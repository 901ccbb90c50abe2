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

/** The entries of the menu, each with the panels that are its views. */
const ENTRIES: Record<string, Panel[]> = {
    Answer: [summary],
    Code: [code, callSites],
    Iterations: [iterations],
    Timeline: [timeline, overTime],
    Waiting: [waiting],
    Messages: [communication],
    Threads: [threads],
    "What if": [whatIf],
    Methods: [stagesAndRanks, patterns, overheads],
    Data: [facts, glossary],
};

export const PANELS: Panel[] = Object.entries(ENTRIES).flatMap(([entry, panels]) => panels.map((panel) => ({ ...panel, entry })));
