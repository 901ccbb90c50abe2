// The page of a study: its runs, how they change and scale, and the laws that they follow.
import "uplot/dist/uPlot.min.css";
import "../style.css";
import "./study.css";
import { Page, begin, read } from "../frame/shell";
import { installTips } from "../frame/tip";
import { plural } from "../wording/words";
import { causal } from "./causal";
import { history } from "./history";
import type { StudyData } from "../generated/studydata.generated";
import { models } from "./models";
import { runs } from "./runs";
import { scaling } from "./scaling";

begin(async () => {
    installTips();
    const data = read("study") as StudyData;
    const programs = [...new Set(data.runs.map((run) => run.program))].join(", ");
    new Page([runs, history, scaling, models, causal], data, { title: data.name, sub: `${plural(data.runs.length, "run")} of ${programs}` });
});
