//! Names in logs may be anything: no output has the reader's program obey them.

use std::fs;
use std::path::Path;
use std::process::Output;

use lbprof_report::rows::words::is_hostile;
use lbprof_simulator::scenario::Scenario;

use crate::program::lb_report;

/// Names that a terminal, a page, a spreadsheet or Markdown would obey.
const NAMES: [&str; 4] = [
    "\x1b[31mred\x07\u{9b}2J\u{202e}evil\nnext line\u{0}",
    "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'&",
    "=HYPERLINK(\"http://evil\")",
    "| a | [b](http://evil) ![c](http://evil) `d` <img src=x onerror=alert(3)>",
];

/// A run whose names are all `name`.
fn record(here: &Path, folder: &str, run: u64, name: &'static str) {
    let scenario = Scenario::ranks(2)
        .run_id(run)
        .header(0, move |header| {
            header.command = vec![format!("./{name}"), name.to_owned()];
            header.mpi = name.to_owned();
        })
        .hosts(move |_| name.to_owned())
        .each(move |rank, script| {
            script.param(name, 1.0).at(name).repeat(12, move |_, script| {
                script
                    .region(name, |script| script.compute_in(name, 10 * (rank + 1)).count(name, 1.0))
                    .barrier(30 - 10 * rank)
            })
        });
    scenario.write(&here.join(folder)).unwrap();
}

/// Commands whose words are parted by spaces. The study is made by the first of them that needs it.
const COMMANDS: [&str; 20] = [
    "out",
    "out --top 9",
    "out --json",
    "out --json=summary",
    "out --csv tables",
    "out --html page.html",
    "dump out",
    "compare out other",
    "compare out other --full",
    "compare out other --json report.json",
    "compare out other --junit result.xml",
    "study add s out other",
    "study list s",
    "study show s",
    "study model s",
    "study graph s --json graph.json",
    "study html s study.html",
    "study export s --extrap extrap.jsonl",
    "export folded out -o stacks.folded",
    "export talp out -o talp.json",
];

const MARKDOWN: [&str; 2] = ["out --markdown", "compare out other --markdown"];

fn printed(here: &Path, command: &str) -> String {
    let Output { status, stdout, stderr } = lb_report(here, &command.split(' ').collect::<Vec<_>>()).output().unwrap();
    let text = String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap();
    assert!([Some(0), Some(2), Some(5)].contains(&status.code()), "{command}: {status}\n{text}");
    assert!(!text.contains("panicked"), "{command}: {text}");
    text
}

fn require_readable(what: &str, text: &str) {
    let hostile: Vec<char> = text.chars().filter(|&char| char != '\n' && is_hostile(char)).collect();
    assert!(hostile.is_empty(), "{what}: {hostile:?} in {text}");
}

/// All files below a folder that commands have written, by their names.
fn written(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if ["out", "other", "s"].contains(&name.as_str()) {
            continue;
        }
        match path.is_dir() {
            true => files.extend(written(&path)),
            false => files.push((name, fs::read_to_string(&path).unwrap())),
        }
    }
    files
}

#[test]
fn no_output_has_its_reader_obey_a_name() {
    for name in NAMES {
        let here = tempfile::tempdir().unwrap();
        record(here.path(), "out", 1, name);
        record(here.path(), "other", 2, name);
        for command in COMMANDS {
            require_readable(command, &printed(here.path(), command));
        }
        for command in MARKDOWN {
            let text = printed(here.path(), command);
            require_readable(command, &text);
            // In code nothing is obeyed, and outside of it nothing that is escaped.
            let shown: String = text.split('`').step_by(2).collect();
            for obeyed in ["<img", "<script", "](http"] {
                let escaped = format!("\\{obeyed}");
                assert!(!shown.replace(&escaped, "").contains(obeyed), "{command}: {text}");
            }
        }
        let files = written(here.path());
        assert!(files.len() > 20, "{}", files.len());
        for (file, text) in files {
            require_readable(&file, &text);
            if file.ends_with(".html") || file.ends_with(".xml") {
                assert!(!text.contains("<img src=x") && !text.contains("<script>alert"), "{file}");
            }
            if file.ends_with(".csv") {
                require_no_formula(&file, &text);
            }
        }
    }
}

/// No cell of a table begins with what a spreadsheet takes for a formula, unless it is a number.
fn require_no_formula(file: &str, text: &str) {
    let mut table = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    for row in table.records() {
        for cell in &row.unwrap() {
            let is_formula = cell.starts_with(['=', '+', '-', '@', '\t']) && cell.parse::<f64>().is_err();
            assert!(!is_formula, "{file}: {cell}");
        }
    }
}
