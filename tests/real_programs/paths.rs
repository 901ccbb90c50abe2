//! Programs that say by which functions they came to each of their calls.
//!
//! Of scripts the functions are those of the script alone, with the lines of their calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::run::Dump;
use lbprof_tests::suite::{self, Case};
use lbprof_tests::{known_outcome, run};
use libtest_mimic::Trial;
use serde_json::Value;

/// A function without a name; a path that goes no further.
const NAMELESS: &str = "?";
const CUT: &str = "!";

fn expected(case: &Case) -> anyhow::Result<BTreeMap<i32, String>> {
    let line = |line: &str| {
        let (tag, path) = line.split_once(' ').context("a tag and a path")?;
        Ok((tag.parse()?, path.to_owned()))
    };
    case.program.values("path").map(line).collect()
}

/// Returns whether a path is the expected one, in which `*` stands for any functions, one at least.
fn is_like(expected: &str, path: &str) -> bool {
    let parts: Vec<&str> = expected.split("*").collect();
    let [first, middle @ .., last] = &parts[..] else { return expected == path };
    let inner = path.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
    inner.is_some_and(|inner| {
        middle.iter().try_fold(inner, |rest, part| rest.split_once(part).map(|(_, after)| after)).is_some()
    })
}

fn defined<'a>(dump: &'a Dump, kind: &str) -> anyhow::Result<HashMap<(u64, u64), &'a Value>> {
    let lines = dump.others.get("definition").into_iter().flatten().filter(|line| line["definition"] == kind);
    let of = |line: &'a Value| {
        let (rank, id) = (line["rank"].as_u64(), line["value"]["id"].as_u64());
        Ok(((rank.context("a rank")?, id.context("an id")?), line))
    };
    lines.map(of).collect()
}

/// An id in the dump, unless it is the one that stands for none.
fn known_id(value: &Value) -> Option<u64> {
    value.as_u64().filter(|&id| id != u64::from(u32::MAX))
}

fn line_of(site: &Value, rank: u32, functions: &HashMap<(u64, u64), &Value>) -> anyhow::Result<Option<String>> {
    let Some(function) = known_id(&site["function"]) else { return Ok(None) };
    let function = functions.get(&(u64::from(rank), function)).context("a function's definition")?;
    Ok(Some(format!("{}:{}", function["value"]["name"].as_str().context("a name")?, site["offset"])))
}

/// The log has the modules that its call sites and samples are in, and no others.
fn no_module_is_unused(dump: &Dump) -> anyhow::Result<()> {
    let lines = |kind: &str| dump.others.get(kind).into_iter().flatten();
    let sites = lines("definition").filter(|line| line["definition"] == "call_site");
    let of_sites: Vec<_> = sites.map(|line| (&line["rank"], &line["value"]["module"])).collect();
    let of_samples: Vec<_> = lines("sample").map(|line| (&line["rank"], &line["module"])).collect();
    for line in lines("definition").filter(|line| line["definition"] == "module") {
        let (rank, module) = (&line["rank"], &line["value"]);
        let is_used = of_sites.contains(&(rank, &module["id"])) || of_samples.contains(&(rank, &module["path"]));
        ensure!(is_used, "nothing is in {line}");
    }
    Ok(())
}

/// The paths of the calls with each tag, as a run's dump has them; of a script, its functions.
fn found(dump: &Dump, is_script: bool) -> anyhow::Result<BTreeMap<i32, BTreeSet<String>>> {
    no_module_is_unused(dump)?;
    let (sites, of_scripts) = (defined(dump, "call_site")?, defined(dump, "function")?);
    let modules = defined(dump, "module")?;
    let mut found: BTreeMap<i32, BTreeSet<String>> = BTreeMap::new();
    for record in dump.records.iter().filter(|record| record.operation == "Sendrecv") {
        let mut functions = Vec::new();
        let mut at = record.call_site;
        while let Some(id) = at {
            let line = sites.get(&(u64::from(record.rank), id)).context("a call site's definition")?;
            let site = &line["value"];
            at = known_id(&site["parent"]);
            if is_script {
                functions.extend(line_of(site, record.rank, &of_scripts)?);
                continue;
            }
            let function = line["name"].as_str().and_then(|place| place.split_once(" ("));
            let module = site["module"].as_u64().and_then(|id| modules.get(&(u64::from(record.rank), id)));
            let path = module.and_then(|module| module["value"]["path"].as_str());
            let is_libc = path.is_none_or(|path| path.contains("/libc.so"));
            functions.push(function.filter(|_| !is_libc).map_or(NAMELESS, |(name, _)| name).to_owned());
            if at.is_none() && site["cut"] == true {
                functions.push(CUT.to_owned());
            }
        }
        if functions.is_empty() {
            functions.push(NAMELESS.to_owned());
        }
        functions.reverse();
        functions.dedup_by(|a, b| *a == NAMELESS && b == NAMELESS);
        found.entry(record.tag.context("a tag")?).or_default().insert(functions.join(" > "));
    }
    Ok(found)
}

fn every_call_has_its_path(case: &Case) -> anyhow::Result<()> {
    let expected = expected(case)?;
    let job = Job::of_case(case)?.with_env_of(&case.program);
    let plugins = job.folder.clone();
    let job = job.with_env("PLUGINS", plugins);
    let bare = known_outcome::of_bare(&job)?.must_succeed()?;
    if let Some(why) = bare.stdout.iter().find(|line| line.starts_with("cannot be tested")) {
        eprintln!("{}: {why}", case.name);
        return Ok(());
    }
    job.recorded()?.must_succeed()?.must_equal(&bare, &case.mpi)?;
    let found = found(&run::dump(&job.run_folder()?)?, case.program.is_script())?;
    ensure!(found.keys().eq(expected.keys()), "paths of {:?}", found.keys());
    for (tag, paths) in found {
        let expected = expected.get(&tag).with_context(|| format!("tag {tag}"))?;
        let is_one = paths.len() == 1 && paths.iter().all(|path| is_like(expected, path));
        ensure!(is_one, "tag {tag}: {paths:#?} where {expected} was expected");
    }
    Ok(())
}

/// The path of the call with a number of 10 bits in programs/many_paths/bits.c.
fn path_of_number(number: i32) -> String {
    let steps = (0..10).map(|bit| if number >> bit & 1 == 1 { "one" } else { "zero" });
    ["main"].into_iter().chain(steps).chain(["helper"]).collect::<Vec<_>>().join(" > ")
}

fn many_paths_are_distinguished_and_ever_new_ones_are_cut(case: &Case) -> anyhow::Result<()> {
    const OF_RANDOM_NUMBERS: i32 = 5000;
    let job = Job::of_case(case)?;
    job.recorded()?.must_succeed()?;
    let dump = run::dump(&job.run_folder()?)?;
    let problems = defined_problems(&dump);
    ensure!(problems.contains("PathsShortened"), "{problems:?}");
    for (tag, paths) in found(&dump, false)? {
        if tag == OF_RANDOM_NUMBERS {
            let is_part = |path: &String| {
                let inner = path.trim_start_matches("! > ").trim_start_matches("main > ");
                let steps = inner.strip_suffix("helper").map(|steps| steps.split_terminator(" > "));
                steps.is_some_and(|mut steps| steps.all(|function| ["zero", "one"].contains(&function)))
            };
            ensure!(paths.iter().all(is_part), "{:?}", paths.iter().find(|path| !is_part(path)));
            ensure!(paths.iter().any(|path| path.starts_with(CUT)), "no path is cut");
        } else {
            ensure!(paths == BTreeSet::from([path_of_number(tag)]), "tag {tag}: {paths:?}");
        }
    }
    Ok(())
}

fn defined_problems(dump: &Dump) -> BTreeSet<&str> {
    let lines = dump.others.get("definition").into_iter().flatten().filter(|line| line["definition"] == "problem");
    lines.filter_map(|line| line["name"].as_str()).collect()
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut cases = suite::cases("paths", "paths", every_call_has_its_path)?;
    cases.extend(suite::cases("many_paths", "many_paths", many_paths_are_distinguished_and_ever_new_ones_are_cut)?);
    Ok(cases)
}
