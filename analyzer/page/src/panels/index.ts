// All panels, in the order in which they are listed.
import type { Panel } from "../panel";
import { callSites } from "./callsites";
import { callTree } from "./calltree";
import { communication } from "./communication";
import { facts } from "./facts";
import { functions } from "./functions";
import { glossary } from "./glossary";
import { iterations } from "./iterations";
import { overheads } from "./overheads";
import { overTime } from "./overtime";
import { patterns } from "./patterns";
import { sinhaKale } from "./sinhakale";
import { summary } from "./summary";
import { timeline } from "./timeline";
import { waiting } from "./waiting";
import { whatIf } from "./whatif";

export const PANELS: Panel[] = [summary, iterations, sinhaKale, patterns, timeline, overTime, waiting, whatIf, functions, callTree, callSites, communication, overheads, facts, glossary];
