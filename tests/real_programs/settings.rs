//! Every setting does what its row in collector/src/record/options.rs says, as a variable and as an option of lb-run.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use lbprof_collector::options::SETTINGS;
use lbprof_tests::launch::{Job, Outcome};
use lbprof_tests::mpi::{Family, Mpi};
use lbprof_tests::program::Program;
use lbprof_tests::suite::{self, MpiCheck};
use lbprof_tests::unharmed::{is_end_line, must_say};
use lbprof_tests::{place, run};
use libtest_mimic::Trial;
use serde_json::Value;

const RECORD: u64 = 64;

/// The tests, by the setting that they are of.
const TESTS: [(&str, &str, MpiCheck); 16] = [
    ("LBPROF_DIR", "templates_are_filled_in", templates_are_filled_in),
    ("LBPROF_DIR", "the_default_is_named_after_the_job", the_default_is_named_after_the_job),
    ("LBPROF_DIR", "a_run_never_mixes_with_an_older_one", a_run_never_mixes_with_an_older_one),
    ("LBPROF_DIR", "another_name_than_asked_for_is_reported", another_name_than_asked_for_is_reported),
    ("LBPROF_MODE", "profile_has_the_sums_of_events", profile_has_the_sums_of_events),
    ("LBPROF_MODE", "off_leaves_nothing", off_leaves_nothing),
    ("LBPROF_BUFFER", "buffer_is_the_size_of_the_ring", buffer_is_the_size_of_the_ring),
    ("LBPROF_LIMIT", "limit_ends_events_but_not_the_sums", limit_ends_events_but_not_the_sums),
    ("LBPROF_RANKS", "only_the_ranks_asked_for_record", only_the_ranks_asked_for_record),
    ("LBPROF_SUMMARY", "logs_end_with_summaries_where_asked", logs_end_with_summaries_where_asked),
    ("LBPROF_PCONTROL", "labels_name_phases", labels_name_phases),
    ("LBPROF_CLOCK", "the_clock_asked_for_is_used", the_clock_asked_for_is_used),
    ("LBPROF_DEPTH", "so_many_callers_are_recorded", so_many_callers_are_recorded),
    ("LBPROF_SAMPLE", "samples_are_as_many_as_asked_for", samples_are_as_many_as_asked_for),
    ("LBPROF_OPENMP", "regions_are_measured_unless_off", regions_are_measured_unless_off),
    ("LBPROF_VERBOSE", "verbose_says_where_the_logs_go", verbose_says_where_the_logs_go),
];

fn mixed<'a>(mpi: &'a Mpi, folder: &'a Path) -> anyhow::Result<Job<'a>> {
    let program = Program::read(Path::new("settings/mixed.c"))?.compiled(mpi)?;
    Ok(Job::new(mpi, 4, &program, folder))
}

fn recorded(job: &Job) -> anyhow::Result<Outcome> {
    job.recorded()?.must_succeed()
}

/// A sum over ranks of a call site's figures, by operation and line.
type Sums = BTreeMap<(String, u64), [u64; 3]>;

/// Calls, bytes sent and received at each call site. Which of a Waitall's two requests is in the call's own record and which in
/// a part, or in none, for a send may be complete at once and have no request of its own, differs from run to run: their bytes
/// are added up as those of Waitall.
fn sums(report: &Value) -> anyhow::Result<Sums> {
    let mut sums = Sums::new();
    for site in report["callsites"].as_array().context("callsites")? {
        let operation = site["operation"].as_str().context("operation")?;
        let is_part = operation == "Completed";
        let operation = if is_part { "Waitall" } else { operation }.to_owned();
        let figure = |key: &str| site[key].as_u64().with_context(|| format!("{key} of {site}"));
        let sum = sums.entry((operation, site["line"].as_u64().unwrap_or(0))).or_default();
        for (sum, key) in sum.iter_mut().zip(["calls", "sent_bytes", "received_bytes"]) {
            if !is_part || key != "calls" {
                *sum += figure(key)?;
            }
        }
    }
    Ok(sums)
}

fn accounts_for_all_time(report: &Value) -> anyhow::Result<()> {
    let run = &report["run"];
    let number = |key: &str| run[key].as_f64().with_context(|| key.to_owned());
    let all = number("ranks_present")? * number("elapsed_s")?;
    let activities: f64 =
        report["activities"].as_array().context("activities")?.iter().filter_map(|one| one["time_s"].as_f64()).sum();
    let sum = activities + number("idle_s")? + number("paused_s")? + number("unknown_s")?;
    ensure!((sum - all).abs() <= 1e-6 * all, "the ranks' time is {all} s, that of all activities {sum} s");
    ensure!(number("unknown_s")? <= 1e-6 * all, "{} s are unknown", number("unknown_s")?);
    Ok(())
}

/// What must be the same however the run was recorded.
fn must_agree(found: &Value, events: &Value) -> anyhow::Result<()> {
    let (own, others) = (sums(found)?, sums(events)?);
    ensure!(own == others, "calls and bytes are\n{own:?}\nin events mode\n{others:?}");
    let regions = |report: &Value| -> anyhow::Result<Vec<Value>> {
        let regions = report["regions"].as_array().context("regions")?;
        Ok(regions.iter().map(|one| serde_json::json!([one["path"], one["iterations"], one["invocations"]])).collect())
    };
    ensure!(regions(found)? == regions(events)?, "{:?}, in events mode {:?}", regions(found)?, regions(events)?);
    ensure!(found["iterations"]["count"] == events["iterations"]["count"]);
    accounts_for_all_time(found)?;
    accounts_for_all_time(events)?;
    run::check_report(found)
}

fn has_problem(report: &Value, kind: &str) -> bool {
    run::problems(report).iter().any(|known| known == kind)
}

fn profile_has_the_sums_of_events(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let job = mixed(mpi, folder)?;
    let mut reports = Vec::new();
    for mode in ["events", "profile"] {
        let job = job.clone().with_env("LBPROF_MODE", mode).with_env("LBPROF_DIR", folder.join(mode));
        recorded(&job)?;
        reports.push(run::report(&folder.join(mode))?);
    }
    must_agree(&reports[1], &reports[0])?;
    let dump = run::dump(&folder.join("profile"))?;
    ensure!(dump.records.is_empty(), "profile mode wrote {} records", dump.records.len());
    ensure!(!run::dump(&folder.join("events"))?.records.is_empty(), "events mode wrote no records");
    Ok(())
}

fn off_leaves_nothing(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let job = mixed(mpi, folder)?.with_env("LBPROF_MODE", "off");
    let bare = job.bare()?.must_succeed()?;
    let recorded = recorded(&job)?;
    recorded.must_equal(&bare, mpi)?;
    must_say(&recorded, &[0])?;
    ensure!(run::runs_in(folder)?.is_empty(), "{:?}", run::runs_in(folder)?);
    Ok(())
}

/// How many of these records of a rank are parts that are in their calls' slots: the first of a call that received, or completed requests.
fn in_their_calls(records: &[&run::Record]) -> usize {
    let is_part = |record: &run::Record| ["Received", "Completed"].contains(&record.operation.as_str());
    records.windows(2).filter(|pair| is_part(pair[1]) && !is_part(pair[0])).count()
}

fn buffer_is_the_size_of_the_ring(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    // The value, whether it is accepted, and the bytes of the ring.
    let cases = [
        ("32K", true, 32 << 10),
        ("65536", true, 64 << 10),
        ("16m", true, 16 << 20),
        ("31K", false, 128 << 10),
        ("17M", false, 128 << 10),
        ("1e6", false, 128 << 10),
    ];
    for (value, accepted, bytes) in cases {
        let dir = folder.join(value);
        let job = mixed(mpi, folder)?.with_env("LBPROF_BUFFER", value).with_env("LBPROF_DIR", &dir);
        let outcome = recorded(&job)?;
        must_say(&outcome, &[usize::from(!accepted)])?;
        let report = run::report(&dir)?;
        ensure!(has_problem(&report, "BadSetting") != accepted, "{value}: {}", report["run"]["problems"]);
        let dump = run::dump(&dir)?;
        dump.check_invariants()?;
        for rank in 0..4 {
            let of_rank = dump.records.iter().filter(|record| record.rank == rank);
            // The first record is the flush that wrote the begin of the window, and no records.
            let mut flushes = of_rank.clone().filter(|record| record.operation == "Flush" && record.count > 0);
            let n_records = of_rank.clone().count() as u64;
            match flushes.next() {
                // A record counts those that its flush has written.
                Some(first) => {
                    let at_once: Vec<_> = of_rank.clone().take(first.count as usize).collect();
                    let slots = first.count as usize - in_their_calls(&at_once);
                    ensure!(
                        slots as u64 == bytes / RECORD,
                        "{value}: {} records at once, in {slots} slots",
                        first.count
                    );
                }
                None => ensure!(n_records <= bytes / RECORD, "{value}: {n_records} records and no flush"),
            }
        }
    }
    Ok(())
}

fn limit_ends_events_but_not_the_sums(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    const LIMIT: u64 = 12 << 10;
    let job = mixed(mpi, folder)?.with_env("LBPROF_BUFFER", "32K");
    let mut reports = Vec::new();
    for limit in [LIMIT, 0] {
        let dir = folder.join(limit.to_string());
        let job = job.clone().with_env("LBPROF_LIMIT", limit.to_string()).with_env("LBPROF_DIR", &dir);
        recorded(&job)?;
        let report = run::report(&dir)?;
        ensure!(has_problem(&report, "LimitReached") == (limit != 0), "{limit}: {}", report["run"]["problems"]);
        ensure!(!has_problem(&report, "Gap") && !has_problem(&report, "Dropped"), "{}", report["run"]["problems"]);
        reports.push(report);
    }
    must_agree(&reports[0], &reports[1])?;
    let dump = run::dump(&folder.join(LIMIT.to_string()))?;
    ensure!(!dump.records.is_empty() && dump.others.contains_key("profile"), "events, then a profile");
    for rank in 0..4 {
        let log = folder.join(format!("{LIMIT}/rank-{rank:06}.lbp"));
        // At most the block that passes the limit, a profile and the definitions come on top.
        let bytes = fs::metadata(&log)?.len();
        ensure!((LIMIT..3 * LIMIT).contains(&bytes), "{} has {bytes} bytes", log.display());
    }
    Ok(())
}

fn only_the_ranks_asked_for_record(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    // Ranks beyond those of the run are no mistake.
    for (list, expected) in [("0,2-3", vec![0, 2, 3]), ("1-63:2", vec![1, 3]), ("all", vec![0, 1, 2, 3])] {
        let dir = folder.join(list);
        let job = mixed(mpi, folder)?.with_env("LBPROF_RANKS", list).with_env("LBPROF_DIR", &dir);
        must_say(&recorded(&job)?, &[0])?;
        let report = run::report(&dir)?;
        ensure!(!has_problem(&report, "MissingRank"), "{list}: {}", report["run"]["problems"]);
        let ranks: Vec<u64> =
            report["ranks"].as_array().context("ranks")?.iter().filter_map(|rank| rank["rank"].as_u64()).collect();
        ensure!(ranks == expected, "{list}: {ranks:?}");
        ensure!(report["run"]["ranks"] == 4 && report["run"]["ranks_recorded"] == expected.len(), "{}", report["run"]);
    }
    Ok(())
}

/// A variable in which a batch system gives the job's id, and which no launcher here looks at.
const JOB_ID: &str = "JOB_ID";

fn templates_are_filled_in(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
    let job =
        mixed(mpi, folder)?.with_env(JOB_ID, "77/3.head").with_env("LBPROF_DIR", folder.join("deeper/%x on %h/%j%%%y"));
    recorded(&job)?;
    let expected = folder.join("deeper").join(format!("mixed on {}", host.trim())).join("77_3.head%%y");
    ensure!(expected.is_dir(), "{} is not there", expected.display());
    run::report(&expected)?;
    Ok(())
}

fn the_default_is_named_after_the_job(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let mut job = mixed(mpi, folder)?;
    job.wrapper = ["env", "-u", "LBPROF_DIR"].map(Into::into).to_vec();
    // Nobody asked for a name, so that the next one is taken without a word.
    for _ in 0..2 {
        must_say(&recorded(&job)?, &[0])?;
    }
    recorded(&job.clone().with_env(JOB_ID, "4711"))?;
    for name in ["lbprof-out", "lbprof-out-2", "lbprof-out-4711"] {
        run::report(&folder.join(name)).context(name)?;
    }
    Ok(())
}

fn a_run_never_mixes_with_an_older_one(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let job = mixed(mpi, folder)?;
    // What is there already need not be a run.
    fs::create_dir(folder.join("logs-2"))?;
    fs::write(folder.join("logs-3"), "")?;
    for _ in 0..2 {
        recorded(&job)?;
    }
    let mut ids = BTreeSet::new();
    for name in ["logs", "logs-4"] {
        let report = run::report(&folder.join(name)).context(name)?;
        ensure!(!has_problem(&report, "OtherRun"), "{}", report["run"]["problems"]);
        ids.insert(report["run"]["id"].to_string());
    }
    ensure!(ids.len() == 2, "two runs have the id {ids:?}");
    ensure!(fs::read_dir(folder.join("logs-2"))?.next().is_none());
    Ok(())
}

fn another_name_than_asked_for_is_reported(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let job = mixed(mpi, folder)?;
    must_say(&recorded(&job)?, &[0])?;
    let outcome = recorded(&job)?;
    must_say(&outcome, &[1])?;
    let expected = format!("rank 0: the logs go to {0}-2, for {0} exists", job.logs().display());
    ensure!(outcome.stderr.contains(&expected), "{}", outcome.stderr);
    Ok(())
}

fn labels_name_phases(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(Path::new("settings/control.c"))?.compiled(mpi)?;
    for (value, expected) in [("levels", vec!["main/phase 5"]), ("labels", vec!["main/phase 5", "main/solver"])] {
        let dir = folder.join(value);
        let job =
            Job::new(mpi, 1, &program, folder).with_env("LBPROF_PCONTROL", value).with_env("LBPROF_DIR", dir.clone());
        recorded(&job)?;
        let report = run::report(&dir)?;
        let regions = report["regions"].as_array().context("regions")?;
        let mut paths: Vec<&str> = regions.iter().filter_map(|region| region["path"].as_str()).collect();
        paths.retain(|path| *path != "main");
        ensure!(paths == expected, "{value}: {paths:?}");
        // One of four barriers is within MPI_Pcontrol(0) and (1).
        let barriers = run::dump(&dir)?.records.iter().filter(|record| record.operation == "Barrier").count();
        ensure!(barriers == 3 && has_problem(&report, "Paused"), "{value}: {barriers} barriers");
    }
    Ok(())
}

fn the_clock_asked_for_is_used(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo")?;
    let invariant = cpuinfo.contains("constant_tsc") && cpuinfo.contains("nonstop_tsc");
    for (value, expected) in
        [("monotonic", "monotonic"), ("tsc", "tsc"), ("auto", if invariant { "tsc" } else { "monotonic" })]
    {
        let dir = folder.join(value);
        let job = mixed(mpi, folder)?.with_env("LBPROF_CLOCK", value).with_env("LBPROF_DIR", &dir);
        recorded(&job)?;
        let dump = run::dump(&dir)?;
        for rank in dump.others.get("rank").context("no heads of logs")? {
            ensure!(rank["clock"] == expected, "{value}: {}", rank["clock"]);
        }
        dump.check_invariants()?;
        // 12 times 2 ms of sleep on rank 1, whatever the clock.
        let report = run::report(&dir)?;
        let computation = report["ranks"][1]["computation_s"].as_f64().context("computation_s")?;
        let elapsed = report["run"]["elapsed_s"].as_f64().context("elapsed_s")?;
        ensure!((0.024..elapsed).contains(&computation), "{value}: rank 1 computes {computation} s of {elapsed} s");
    }
    Ok(())
}

/// A run of paths/shapes.c, where the paths of calls are long.
fn shapes(mpi: &Mpi, folder: &Path, name: &str, value: &str) -> anyhow::Result<PathBuf> {
    let program = Program::read(Path::new("paths/shapes.c"))?;
    let job = Job::new(mpi, 2, &program.compiled(mpi)?, folder).with_env("PLUGINS", folder.as_os_str());
    let job = job.with_env(name, value);
    recorded(&job)?;
    job.run_folder()
}

fn so_many_callers_are_recorded(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    for depth in [0, 1] {
        let folder = place::subfolder(folder, &depth.to_string())?;
        let dump = run::dump(&shapes(mpi, &folder, "LBPROF_DEPTH", &depth.to_string())?)?;
        let definitions = dump.others.get("definition").context("definitions")?;
        let site = |id: u64, rank: u32| {
            let is_it = |line: &&Value| {
                line["definition"] == "call_site" && line["value"]["id"] == id && line["rank"] == u64::from(rank)
            };
            definitions.iter().find(is_it).map(|line| &line["value"]).context("its definition")
        };
        for record in dump.records.iter().filter(|record| record.operation == "Sendrecv").step_by(17) {
            let mut one = site(record.call_site.context("a call site")?, record.rank)?;
            for _ in 0..depth {
                one = site(one["parent"].as_u64().context("a caller")?, record.rank)?;
            }
            ensure!(one["parent"] == u32::MAX && one["cut"] == true, "depth {depth}: {one}");
        }
    }
    Ok(())
}

fn samples_are_as_many_as_asked_for(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(Path::new("sampling/shares.c"))?.compiled(mpi)?;
    for per_second in [0, 100, 2000] {
        let folder = place::subfolder(folder, &per_second.to_string())?;
        let job = Job::new(mpi, 1, &program, &folder).with_env("LBPROF_SAMPLE", per_second.to_string());
        recorded(&job)?;
        let dump = run::dump(&job.run_folder()?)?;
        let samples = dump.others.get("sample").map(Vec::as_slice).unwrap_or_default();
        let weights: f64 = samples.iter().filter_map(|sample| sample["weight_s"].as_f64()).sum();
        let expected = f64::from(per_second) * weights;
        ensure!((samples.len() as f64 - expected).abs() <= 0.11 * expected, "{} samples of {weights} s", samples.len());
        ensure!((weights == 0.0) == (per_second == 0) && (per_second == 0 || weights > 0.5), "{weights} s");
    }
    Ok(())
}

fn regions_are_measured_unless_off(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(Path::new("threads/serial_part.c"))?.compiled(mpi)?;
    for (value, mode) in
        [("auto", "events"), ("auto", "profile"), ("threads", "events"), ("threads", "profile"), ("off", "events")]
    {
        let folder = place::subfolder(folder, &format!("{value}-{mode}"))?;
        let job = Job::new(mpi, 2, &program, &folder).with_env("LBPROF_OPENMP", value).with_env("LBPROF_MODE", mode);
        let report = job.report()?;
        let instances = |region: &Value| region["instances"].as_u64();
        let regions = report["threads"]["regions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let stencil = regions.iter().find(|region| region["function"] == "stencil").and_then(instances);
        let expected = (value != "off").then_some(20);
        ensure!(stencil == expected, "{value}, {mode}: {stencil:?} instances of {regions:?}");
    }
    Ok(())
}

fn verbose_says_where_the_logs_go(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let job = mixed(mpi, folder)?;
    let lines = |outcome: &Outcome| -> Vec<String> {
        outcome.stderr.lines().filter(|line| line.contains("lbprof: ")).map(str::to_owned).collect()
    };
    let silent = lines(&recorded(&job.clone().with_env("LBPROF_VERBOSE", "0"))?);
    ensure!(silent.is_empty(), "{silent:?}");
    for (number, level) in [None, Some("1")].into_iter().enumerate() {
        let dir = folder.join(format!("run-{number}"));
        let job = job.clone().with_env("LBPROF_DIR", &dir);
        let job = level.map_or(job.clone(), |level| job.with_env("LBPROF_VERBOSE", level));
        let said = lines(&recorded(&job)?);
        ensure!(said.len() == 1 && is_end_line(&said[0]), "{said:?}");
        ensure!(said[0].contains(&format!("lbprof: {} rank", job.ranks)), "{said:?}");
        let folder = dir.display();
        ensure!(said[0].contains(&format!(" {folder}; read it with: lb-report {folder}")), "{said:?}");
    }
    Ok(())
}

/// The 4 ranks' logs end with a summary, or none does, and the first look that it gives has the sums of the events.
fn logs_end_with_summaries_where_asked(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    for (mode, summary, expected) in
        [("events", "on", 4), ("events", "off", 0), ("profile", "auto", 4), ("profile", "off", 0)]
    {
        let own = place::subfolder(folder, &format!("{mode}-{summary}"))?;
        // Rings of 32 KiB are full several times.
        let job = mixed(mpi, &own)?.with_env("LBPROF_BUFFER", "32K").with_env("LBPROF_MODE", mode);
        let job = job.with_env("LBPROF_SUMMARY", summary);
        recorded(&job)?;
        let logs = job.run_folder()?;
        let look = run::report_asking(&logs, &["--summary"])?;
        let facts = &look["run"]["summary"];
        ensure!(facts["ranks_from_summaries"] == expected, "{mode}, {summary}: {facts}");
        ensure!(facts["ranks_from_events"] == 4 - expected, "{mode}, {summary}: {facts}");
        must_agree(&look, &run::report(&logs)?)?;
    }
    Ok(())
}

fn options_equal_variables(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let values = [
        ("LBPROF_DIR", "here-%x"),
        ("LBPROF_MODE", "profile"),
        ("LBPROF_BUFFER", "64K"),
        ("LBPROF_LIMIT", "1M"),
        ("LBPROF_RANKS", "0-2"),
        ("LBPROF_SUMMARY", "on"),
        ("LBPROF_PCONTROL", "labels"),
        ("LBPROF_DEPTH", "3"),
        ("LBPROF_SAMPLE", "50"),
        ("LBPROF_OPENMP", "off"),
        ("LBPROF_VERBOSE", "1"),
    ];
    let flags: Vec<(&str, &str)> = SETTINGS.iter().filter_map(|one| Some((one.name, one.flag?))).collect();
    let named: Vec<&str> = flags.iter().map(|(name, _)| *name).collect();
    ensure!(named == values.map(|(name, _)| name), "options of lb-run: {named:?}");
    let folders = [place::subfolder(folder, "variables")?, place::subfolder(folder, "options")?];
    let mut by_variables = mixed(mpi, &folders[0])?;
    for (name, value) in values {
        by_variables = by_variables.with_env(name, value);
    }
    let first = recorded(&by_variables)?;
    // The options count where variables say otherwise.
    let by_options = mixed(mpi, &folders[1])?.with_env("LBPROF_MODE", "off").with_env("LBPROF_RANKS", "3");
    let options: Vec<String> =
        flags.iter().zip(values).map(|((_, flag), (_, value))| format!("--{flag}={value}")).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let second = by_options.recorded_with(&options)?.must_succeed()?;
    second.must_equal(&first, mpi)?;
    let reports = [0, 1].map(|i: usize| run::report(&folders[i].join("here-mixed")));
    let [variables, options] = reports;
    let (variables, options) = (variables?, options?);
    ensure!(variables["run"]["settings"] == options["run"]["settings"], "{} {}", variables["run"], options["run"]);
    ensure!(variables["run"]["settings"].as_array().is_some_and(|given| given.len() == values.len()));
    ensure!(options["run"]["ranks_recorded"] == 3);
    Ok(())
}

/// Hides the launcher from the ranks, by which alone MPICH's jobs are named.
fn ranks_of_a_job_without_a_name_share_a_folder(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    // Open MPI's processes need the variable that names the job.
    if mpi.family != Family::Mpich {
        return Ok(());
    }
    let script = "unset LBPROF_JOB; said=said.$PMI_RANK; process=$(\"$@\" >$said & echo $!); \
                  while kill -0 $process 2>/dev/null; do sleep 0.02; done; cat $said";
    let program = Program::read(Path::new("harmless/normal.c"))?.compiled(mpi)?;
    let mut job = Job::new(mpi, 2, &program, folder);
    job.wrapper = ["sh", "-c", script, "sh"].map(OsString::from).to_vec();
    must_say(&recorded(&job)?, &[0])?;
    let report = run::report(&job.run_folder()?)?;
    ensure!(report["run"]["ranks_recorded"] == 2, "{}", report["run"]);
    let problems = run::problems(&report);
    ensure!(!problems.iter().any(|kind| kind == "ClocksUnknown"), "{problems:?}");
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut checks = TESTS.map(|(_, name, check)| (name, check)).to_vec();
    checks.push(("options_equal_variables", options_equal_variables));
    checks.push(("ranks_of_a_job_without_a_name_share_a_folder", ranks_of_a_job_without_a_name_share_a_folder));
    let mut trials = suite::of_mpis(&checks)?;
    trials.push(suite::trial("every_setting_has_a_test".into(), || {
        for setting in SETTINGS {
            ensure!(TESTS.iter().any(|(of, ..)| *of == setting.name), "no test of {}", setting.name);
        }
        Ok(())
    }));
    Ok(trials)
}
