//! Runs as a user makes first: of programs that hardly do anything, or most of what they do outside of MPI's lifetime.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, ensure};
use lbprof_tests::launch::{Job, Outcome};
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::run;
use lbprof_tests::suite::{self, ProgramCheck};
use lbprof_tests::unharmed::{is_end_line, lb_report};
use libtest_mimic::Trial;
use serde_json::Value;

const TESTS: [(&str, &str, ProgramCheck); 9] = [
    ("time_outside_of_the_window_is_reported", "late_init.c", time_outside_of_the_window_is_reported),
    ("job_that_hung_says_where", "hangs.c", job_that_hung_says_where),
    ("hello_world_does_nothing_but_start_and_end", "hello.c", hello_world_does_nothing_but_start_and_end),
    ("program_without_mpi_gets_one_line", "never_starts.c", program_without_mpi_gets_one_line),
    ("script_that_clears_the_preload_gets_one_line", "hello.c", script_that_clears_the_preload_gets_one_line),
    ("script_whose_program_is_recorded_gets_none", "hello.c", script_whose_program_is_recorded_gets_none),
    ("unseen_calls_have_the_right_reason", "own_handle.c", unseen_calls_have_the_right_reason),
    ("bytes_written_by_a_rank_are_counted", "writes_files.c", bytes_written_by_a_rank_are_counted),
    ("all_programs_are_named", "hello.c", all_programs_are_named),
];

fn number(value: &Value, what: &str) -> anyhow::Result<f64> {
    value.as_f64().with_context(|| format!("{what} is not known"))
}

fn time_outside_of_the_window_is_reported(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 2, program, folder);
    let begin = Instant::now();
    job.recorded()?.must_succeed()?;
    let wall_s = begin.elapsed().as_secs_f64();
    let report = run::report(&job.run_folder()?)?;
    let of_rank = |rank: usize, phase: &str| number(&report["ranks"][rank]["lifetime"][phase], phase);
    // The system says to 10 ms when a process began.
    let late_s = of_rank(1, "before_init_s")? - of_rank(0, "before_init_s")?;
    ensure!(of_rank(1, "before_init_s")? >= 0.59, "{}", report["ranks"][1]["lifetime"]);
    let waited_s = of_rank(0, "init_s")? - of_rank(1, "init_s")?;
    ensure!((late_s - waited_s).abs() < 0.25, "rank 1 came {late_s} s later, rank 0 waited {waited_s} s");
    ensure!(of_rank(0, "after_finalize_s")? >= 0.5, "{}", report["ranks"][0]["lifetime"]);
    for rank in 0..2 {
        ensure!(of_rank(rank, "recorder_start_s")? >= 0.0 && of_rank(rank, "finalize_s")? >= 0.0);
    }
    let elapsed_s = number(&report["lifetime"]["elapsed_s"], "lifetime.elapsed_s")?;
    ensure!((1.1..=wall_s + 0.01).contains(&elapsed_s), "{elapsed_s} s of a job of {wall_s} s");
    let described = number(&report["run"]["elapsed_s"], "run.elapsed_s")? / elapsed_s;
    let share = number(&report["lifetime"]["described_share"], "lifetime.described_share")?;
    ensure!((share - described).abs() < 1e-9 && share < 0.8, "{share}, {described}");
    let answer = report["verdict"]["text"].as_str().context("verdict.text")?;
    // On a busy machine the answer is that ranks had no cores; the first screen has no room for this note then.
    let text = if run::has_crowded_cores(&report) { answer.to_owned() } else { text_of(&job)? };
    for words in ["before MPI_Init", "rank 1", "after MPI_Finalize"] {
        ensure!(text.contains(words), "no \"{words}\" in {text}");
    }
    let is_said = text.contains("efficiencies describe ") || text.contains("Set-up dominates");
    ensure!(is_said && !text.contains("Well balanced:"), "{text}");
    Ok(())
}

fn job_that_hung_says_where(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 2, program, folder);
    job.recorded_as_bare()?;
    let report = run::report(&job.run_folder()?)?;
    for rank in report["ranks"].as_array().context("ranks")? {
        ensure!(rank["in_call"]["operation"] == "Recv", "{rank}");
    }
    let words = report["verdict"]["text"].as_str().context("verdict.text")?;
    ensure!(words.contains("did not end by MPI_Finalize or exit") && words.contains("in MPI_Recv at "), "{words}");
    Ok(())
}

fn bytes_written_by_a_rank_are_counted(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 2, program, folder);
    let outcome = job.recorded()?.must_succeed()?;
    let report = run::report(&job.run_folder()?)?;
    for line in &outcome.stdout {
        let (rank, bytes) = line.split_once(' ').context("a rank and its bytes")?;
        let (rank, own): (usize, f64) = (rank.parse()?, bytes.parse()?);
        let found = number(&report["ranks"][rank]["usage"]["written_bytes"], "written_bytes")?;
        // The log of so few calls is small.
        ensure!((own..own + 2e6).contains(&found), "{found} bytes of rank {rank}, by its own count {own}");
        // The system counts nothing where the file system is in memory. Ranks that lacked a core are all that the answer is about.
        let words = report["verdict"]["text"].as_str().context("verdict.text")?;
        let is_named = words.contains(&format!("rank {rank} wrote "));
        ensure!(is_named == (own >= 20e6) || run::has_crowded_cores(&report), "rank {rank} wrote {own}: {words}");
    }
    Ok(())
}

fn text_of(job: &Job) -> anyhow::Result<String> {
    let (_, text) = lb_report(&job.run_folder()?)?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn lines_of_ours(outcome: &Outcome) -> Vec<&str> {
    outcome
        .stderr
        .lines()
        .filter(|line| (line.contains("lbprof:") && !is_end_line(line)) || line.contains("lb-run:"))
        .collect()
}

fn hello_world_does_nothing_but_start_and_end(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 2, program, folder);
    let recorded = job.recorded_as_bare()?.must_succeed()?;
    ensure!(lines_of_ours(&recorded).is_empty(), "{}", recorded.stderr);
    let text = text_of(&job)?;
    ensure!(text.contains("did nothing but start and end MPI"), "{text}");
    ensure!(!text.contains("statically") && !text.contains("dlsym"), "{text}");
    Ok(())
}

fn program_without_mpi_gets_one_line(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 2, program, folder);
    let recorded = job.recorded_as_bare()?;
    ensure!(recorded.code == Some(3), "it ended with {:?}", recorded.code);
    let lines = lines_of_ours(&recorded);
    ensure!(lines.len() == 1 && lines[0].contains("never_starts: ended without MPI_Init"), "{lines:?}");
    ensure!(!lines[0].contains('?'), "it loaded MPI: {lines:?}");
    ensure!(!job.logs().exists(), "there is a folder");
    Ok(())
}

fn job_of_script<'a>(mpi: &'a Mpi, program: &Path, folder: &'a Path, script: &str) -> Job<'a> {
    let mut job = Job::new(mpi, 2, program, folder);
    job.wrapper = ["bash", "-c", script, "bash"].map(OsString::from).to_vec();
    job
}

fn script_that_clears_the_preload_gets_one_line(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = job_of_script(mpi, program, folder, "env -u LD_PRELOAD \"$@\"; exit $?");
    let recorded = job.recorded_as_bare()?.must_succeed()?;
    let lines = lines_of_ours(&recorded);
    ensure!(lines.len() == 1 && lines[0].contains("no program that it started was recorded"), "{lines:?}");
    Ok(())
}

fn script_whose_program_is_recorded_gets_none(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = job_of_script(mpi, program, folder, "\"$@\"; exit $?");
    let recorded = job.recorded_as_bare()?.must_succeed()?;
    ensure!(lines_of_ours(&recorded).is_empty(), "{}", recorded.stderr);
    ensure!(text_of(&job)?.contains("2 ranks"), "nothing was recorded");
    Ok(())
}

fn unseen_calls_have_the_right_reason(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 2, program, folder);
    let recorded = job.recorded_as_bare()?.must_succeed()?;
    let lines = lines_of_ours(&recorded);
    ensure!(lines.len() == 1 && lines[0].contains("no MPI call was seen"), "{lines:?}");
    let report = run::report(&job.run_folder()?)?;
    ensure!(run::problems(&report).iter().any(|kind| kind == "NothingSeen"), "{}", report["run"]["problems"]);
    let text = text_of(&job)?;
    ensure!(text.contains("dlsym") && !text.contains("statically"), "{text}");
    Ok(())
}

fn all_programs_are_named(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let script = "if [ \"${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\" = 0 ]; then exec \"$@\" ocean; else exec \"$@\" ice; fi";
    let mut job = job_of_script(mpi, program, folder, script);
    job.ranks = 3;
    let report = job.report()?;
    let programs = report["run"]["programs"].as_array().context("run.programs")?;
    let found: Vec<(Option<&str>, Option<&str>)> =
        programs.iter().map(|one| (one["command"][1].as_str(), one["ranks_text"].as_str())).collect();
    ensure!(found == [(Some("ocean"), Some("0")), (Some("ice"), Some("1, 2"))], "{programs:?}");
    let text = text_of(&job)?;
    ensure!(text.contains("ocean (rank 0)") && text.contains("ice (ranks 1, 2)"), "{text}");
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for mpi in mpi::all()? {
        for (name, source, check) in TESTS {
            trials.push(suite::of_program(&mpi, name, &format!("first_contact/{source}"), check));
        }
    }
    Ok(trials)
}
