// The page of a comparison: what changed, and why.
import "../style.css";
import { Page, begin, read } from "../frame/shell";
import { installTips } from "../frame/tip";
import { plural } from "../wording/words";
import { answer } from "./answer";
import { changes } from "./changes";
import { comparedRuns } from "./runs";
import type { ComparisonDocument } from "../generated/comparisondocument.generated";

begin(async () => {
    installTips();
    const data = read("comparison") as ComparisonDocument;
    const sub = [data.base, data.new].map((runs) => plural(runs.length, "run")).join(" against ");
    new Page([answer, changes, comparedRuns], data, { title: data.new[0]?.command.join(" ") ?? "comparison", sub });
});
