// The page of the report: reads the data that stand in it, makes a panel of each kind, shows one at a time.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { unpackAll } from "./packed";
import { PANELS } from "./panels";
import type { Report } from "./report.generated";
import { Page, begin, read } from "./shell";
import { installTips } from "./tip";
import type { Views } from "./views";
import { plural, seconds } from "./words";

begin(async () => {
    installTips();
    const report = read("report") as Report;
    const views = (await unpackAll(read("views"))) as Views;
    const { run } = report;
    new Page(PANELS, { report, views }, {
        title: run.command.join(" "),
        sub: `${plural(run.ranks, "rank")} · ${plural(run.hosts, "host")} · ${run.mpi.split(",")[0]} · ${seconds(run.elapsed_s)}`,
    });
});
