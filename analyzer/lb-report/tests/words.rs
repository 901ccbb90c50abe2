//! Sentences of all that is printed: nouns agree with their counts, and numbers are written in one way.

use std::fs;
use std::path::{Path, PathBuf};

use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::{found_model, json, plain, report, report_on};

/// Words that may follow a 1, though they end as plurals do: units, verbs, and nouns that end so.
const NO_PLURALS: [&str; 15] =
    ["as", "does", "has", "is", "its", "less", "makes", "ms", "ns", "pass", "process", "s", "this", "us", "was"];

/// What may follow a number of four digits and more without commas: units, words between two numbers, and what comes after a formula.
const UNITS: [&str; 13] = ["s", "ms", "B", "kB", "MB", "GB", "TB", "GiB", "MiB", "KiB", "to", "of", "error"];

/// What a number names after them, instead of counting what follows.
const NAMED: [&str; 6] = ["rank", "ranks", "cluster", "thread", "iteration", "region"];

/// Wrong counts in a text: `1 ranks`, `4345 times`.
fn wrong_counts(text: &str) -> Vec<String> {
    // Two spaces part the columns of a table.
    let lines = text.lines().map(|line| line.trim_start().replace("  ", " | "));
    let words: Vec<String> = lines.flat_map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
    let is_wrong = |three: &&[String]| {
        let number = three[1].trim_start_matches(['(', '"', '\'']);
        let word: String = three[2].chars().take_while(|char| char.is_alphabetic()).collect();
        let is_word = !word.is_empty() && word.chars().all(|char| char.is_ascii_lowercase());
        let is_plural = word.ends_with('s') && !NO_PLURALS.contains(&word.as_str());
        let is_name = NAMED.contains(&three[0].to_lowercase().trim_start_matches(['(', '"']));
        let is_long = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
        is_word && !is_name && ((number == "1" && is_plural) || (is_long && !UNITS.contains(&word.as_str())))
    };
    words.windows(3).filter(is_wrong).map(|three| three.join(" ")).collect()
}

/// The files below `folder` whose names end so.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let below = |path: PathBuf| if path.is_dir() { files(&path, end) } else { vec![path] };
    let mut all: Vec<PathBuf> = entries.flat_map(below).collect();
    all.retain(|path| path.to_string_lossy().ends_with(end));
    all.sort();
    all
}

#[test]
fn wrong_counts_are_found() {
    let found = |text| wrong_counts(text).len();
    assert_eq!((found("in 1 ranks (of 1 calls)"), found("pushed off 4345 times"), found("of 1000 events")), (2, 1, 1));
    assert_eq!(
        (found("1 rank is, 11 ranks, 4,345 times"), found("took 1234 s of 5000 ms"), found("in 1 ms")),
        (0, 0, 0)
    );
}

#[test]
fn all_that_is_known_to_be_printed_counts_rightly() {
    let analyzer = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["report/tests", "study/src", "lb-report/tests"];
    let snapshots = folders.iter().flat_map(|folder| files(&analyzer.join(folder), ".snap"));
    // The pages that show reports.
    let pages = ["reading-a-report", "report-reference", "compare", "study", "performance"];
    let documents = pages.map(|page| analyzer.join(format!("../docs/{page}.md")));
    let mut n = 0;
    for file in snapshots.chain(documents) {
        let text = fs::read_to_string(&file).expect("a text");
        assert_eq!(wrong_counts(&text), [""; 0], "{}", file.display());
        n += 1;
    }
    assert!(n > 40, "{n} files");
}

type MakeRun = fn() -> Scenario;

/// Computes, and meets the others.
fn once(script: RankScript) -> RankScript {
    script.compute(3).barrier(1)
}

#[test]
fn reports_on_very_little_and_on_much_count_rightly() {
    let scenarios: [(&str, MakeRun); 6] = [
        ("one rank, one call", || Scenario::ranks(1).each(|_, script| once(script))),
        ("two ranks, one call", || Scenario::ranks(2).each(|_, script| once(script))),
        ("one iteration", || Scenario::ranks(2).each(|_, script| script.iteration("step", once))),
        ("one message", || {
            Scenario::ranks(2).each(|rank, script| match rank {
                0 => script.compute(3).send(1, 1, 8, 1),
                _ => script.recv(0, 1, 8, 4),
            })
        }),
        ("one slow rank", || {
            Scenario::ranks(3).each(|rank, script| {
                let more = if rank == 2 { 5.0 } else { 0.0 };
                let work = move |script: RankScript| script.compute(2.0 + more).work(1.0, 1.0).count("cells", 1.0);
                script.repeat(12, move |_, script| script.region("work", work).barrier(6.0 - more))
            })
        }),
        ("many calls", || {
            Scenario::ranks(2).each(|rank, script| {
                let late = 0.01 * f64::from(rank);
                script.repeat(2500, move |_, script| script.compute(0.01 + late).barrier(0.02 - late))
            })
        }),
    ];
    for (what, scenario) in scenarios {
        let found = report_on(&found_model(scenario()));
        for text in [plain(&report(scenario()), 100), plain(&found, 100), json(&found)] {
            assert_eq!(wrong_counts(&text), [""; 0], "{what}");
        }
    }
}
