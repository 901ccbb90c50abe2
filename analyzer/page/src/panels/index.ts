// All panels, in the order in which they are listed.
import type { Panel } from "../frame/panel";
import { callSites } from "./listing/callsites";
import { code } from "./code/code";
import { communication } from "./communication";
import { facts } from "./listing/facts";
import { glossary } from "./listing/glossary";
import { iterations } from "./iterations";
import { overheads } from "./methods/overheads";
import { overTime } from "./methods/overtime";
import { patterns } from "./methods/patterns";
import { stagesAndRanks } from "./methods/stages";
import { summary } from "./answer/summary";
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
