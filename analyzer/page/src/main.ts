// The page of a report: reads the data embedded in it, creates the panels, and shows one at a time.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { unpackAll } from "./data/packed";
import { PANELS } from "./panels";
import { sitePlace } from "./panels/listing/callsites";
import type { Report } from "./generated/report.generated";
import { Page, begin, read, type Hit } from "./frame/shell";
import { installTips } from "./frame/tip";
import type { Views } from "./data/views";
import { plural, seconds } from "./wording/words";

/** Ranks, regions, functions and call sites whose names have this in them. */
function search(report: Report, wanted: string): Hit[] {
    const has = (text: string) => text.toLowerCase().includes(wanted);
    const number = /^(?:rank )?(\d+)$/.exec(wanted)?.[1];
    const ranks = report.ranks.filter((rank) => String(rank.rank) === number);
    const functions = [...new Set(report.call_tree.filter((row) => row.kind !== "call" && has(row.name)).map((row) => row.name))];
    const sites = report.callsites.filter((site) => has(`${site.operation} at ${sitePlace(site)}`));
    return [
        ...ranks.map((rank) => ({ kind: `on ${rank.host}`, name: `rank ${rank.rank}`, target: { panel: "facts", rank: rank.rank, find: String(rank.rank) } })),
        ...report.regions.filter((region) => has(region.path)).map((region) => ({ kind: "region", name: region.path, target: { panel: "patterns", region: region.path, find: region.path } })),
        ...functions.map((name) => ({ kind: "code", name, target: { panel: "code", find: name } })),
        ...sites.map((site) => ({ kind: "call site", name: `${site.operation} at ${sitePlace(site)}`, target: { panel: "callsites", find: site.function ? sitePlace(site) : site.operation } })),
    ];
}

begin(async () => {
    installTips();
    const report = read("report") as Report;
    const views = (await unpackAll(read("views"))) as Views;
    const { run } = report;
    new Page(PANELS, { report, views }, {
        title: run.command.join(" "),
        sub: [plural(run.ranks, "rank"), plural(run.hosts, "host"), run.mpi.split(",")[0], seconds(run.elapsed_s)].map((part) => part.replaceAll(" ", "\u00a0")).join(" · "),
    }, (wanted) => search(report, wanted));
});
