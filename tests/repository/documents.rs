//! The documents: their links lead somewhere, and they use the field's words.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words and phrases that the documents do not use, with those that they use instead. Code, and output quoted as code, may have them.
const RETIRED: [(&str, &str); 12] = [
    ("told", "reported"),
    ("tells", "reports, shows"),
    ("behind", "after"),
    ("on their way", "in transit"),
    ("on its way", "in transit"),
    ("that there is", "existing"),
    ("imbalance that moves", "serialization"),
    ("deed", "communication event"),
    ("causer", "delay source"),
    ("gathering", "collective instance"),
    ("stretch", "interval"),
    ("stretches", "intervals"),
];

/// Words that neither names nor comments of the sources use: the field has others ([`RETIRED`]).
const PRIVATE: &str = "told tells deed deeds causer causers gathering gatherings hearing hearings stretch stretches \
                       story stories talk talks fans culprit";

const SOURCES: &str = "interpose/src interpose/include interpose/launch/src interpose/tests collector/src collector/tests \
                       analyzer/thresholds/src analyzer/analysis/src analyzer/report/src analyzer/report/tests \
                       analyzer/export/src analyzer/study/src analyzer/lb-report/src analyzer/lb-report/tests \
                       analyzer/page/src tests/runs/src tests/simulator/src";

fn root() -> PathBuf {
    lbprof_tests::place::workspace()
}

/// The text of the sources in `folders`, which are divided by blanks, and below, by path from the root.
fn texts_of_sources(folders: &str) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    folders.split_whitespace().for_each(|folder| sources(&root().join(folder), &mut paths));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("sources are UTF-8");
        (path.strip_prefix(root()).unwrap_or(&path).display().to_string(), text)
    };
    paths.into_iter().map(read).collect()
}
fn documents() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for folder in ["", "docs"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("the folder is there") {
            let name = entry.expect("the folder can be read").file_name().into_string().expect("names are UTF-8");
            if name.ends_with(".md") {
                paths.push(Path::new(folder).join(name));
            }
        }
    }
    paths.sort();
    let read = |path: &PathBuf| std::fs::read_to_string(root().join(path)).expect("the document can be read");
    paths.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

fn prose(text: &str) -> Vec<(usize, String)> {
    let mut in_block = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if !in_block && !line.starts_with("    ") {
            lines.push((number + 1, line.split('`').step_by(2).collect::<Vec<_>>().join(" ")));
        }
    }
    lines
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let same = (0..).map(|n| if n == 0 { anchor.clone() } else { format!("{anchor}-{n}") });
        let free = same.into_iter().find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.starts_with("http") && !target.contains(' '))
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for (document, text) in documents() {
        for link in links(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => root().join(&document),
                _ => root().join(&document).with_file_name("").join(path),
            };
            let is_found = target.exists()
                && (anchor.is_empty()
                    || std::fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor)));
            if !is_found {
                broken.push(format!("{document}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn retired_words_are_not_used() {
    let mut found = Vec::new();
    for (document, text) in documents() {
        for (number, line) in prose(&text) {
            let words = line.to_lowercase();
            let words: Vec<&str> =
                words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            let line = format!(" {} ", words.join(" "));
            for (retired, instead) in RETIRED {
                if line.contains(&format!(" {retired} ")) {
                    found.push(format!("{document}:{number}: \"{retired}\", say: {instead}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The sources in `folder` and below.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| ["rs", "ts", "h", "css"].iter().any(|one| kind == *one)) {
            found.push(path);
        }
    }
}

/// The words of a line, those in `snake_case` and `CamelCase` names too, in small letters.
fn words_of(line: &str) -> Vec<String> {
    let mut parted = String::with_capacity(line.len());
    let mut was_small = false;
    for letter in line.chars() {
        if letter.is_uppercase() && was_small || !letter.is_alphanumeric() {
            parted.push(' ');
        }
        was_small = letter.is_lowercase();
        parted.extend(letter.to_lowercase().filter(|letter| letter.is_alphanumeric()));
    }
    parted.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn words_of_names_are_found() {
    let words = words_of("fn is_told(&self) -> TheDeed; // MPI_Recv");
    assert_eq!(words, ["fn", "is", "told", "self", "the", "deed", "mpi", "recv"]);
}

#[test]
fn private_words_are_not_in_the_sources() {
    let texts = texts_of_sources(SOURCES);
    assert!(texts.len() > 300, "{} sources", texts.len());
    let mut found = Vec::new();
    for (path, text) in texts {
        for (line, number) in text.lines().zip(1..) {
            let words = words_of(line).into_iter().filter(|word| PRIVATE.split(' ').any(|private| private == word));
            found.extend(words.map(|word| format!("{path}:{number}: {word}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Returns the number of the line of the first example in comments that `cargo test --doc` would run.
fn first_example(text: &str) -> Option<usize> {
    let mut is_inside = false;
    text.lines().zip(1..).find_map(|(line, number)| {
        let comment = line.trim_start().strip_prefix("//!").or_else(|| line.trim_start().strip_prefix("///"))?;
        let kind = comment.trim_start().strip_prefix("```")?;
        is_inside = !is_inside;
        (is_inside && matches!(kind, "" | "rust" | "no_run" | "should_panic")).then_some(number)
    })
}

#[test]
fn the_first_example_of_rust_is_found() {
    assert_eq!(first_example("/// ```text\n/// a\n/// ```\n\n    /// ```\n    /// f();\n    /// ```"), Some(5));
    assert_eq!(first_example("//! ```text\n//! a\n//! ```"), None);
}

#[test]
fn examples_are_run() {
    for source in SOURCES.split(' ') {
        let manifest = root().join(source).with_file_name("Cargo.toml");
        if !std::fs::read_to_string(manifest).is_ok_and(|manifest| manifest.contains("doctest = false")) {
            continue;
        }
        for (path, text) in texts_of_sources(source) {
            assert_eq!(first_example(&text), None, "{path} has an example that its crate does not run");
        }
    }
}

/// The document that the sources cite for each metric.
const METRICS: &str = "docs/metrics.md";

/// Returns the sections of [`METRICS`] that a source cites, with the lines of the citations; 0 where no number follows.
fn metric_citations(text: &str) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        for (at, _) in line.match_indices(METRICS) {
            let rest = line[at + METRICS.len()..].strip_prefix(" §");
            if let Some(rest) = rest {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                found.push((number, digits.parse().unwrap_or(0)));
            }
        }
    }
    found
}

#[test]
fn each_citation_of_a_metric_resolves_and_each_section_is_cited() {
    let text = std::fs::read_to_string(root().join(METRICS)).expect("the document is there");
    let titles = text.lines().filter_map(|line| line.strip_prefix("## ")?.split_once(". "));
    let sections: BTreeSet<u32> = titles.filter_map(|(number, _)| number.parse().ok()).collect();
    let mut cited = BTreeSet::new();
    let mut wrong = Vec::new();
    for (path, source) in texts_of_sources(&format!("{SOURCES} analyzer/analysis/tests")) {
        for (line, section) in metric_citations(&source) {
            cited.insert(section);
            if !sections.contains(&section) {
                wrong.push(format!("{path}:{line}: section {section}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{METRICS} lacks the sections cited in {wrong:#?}");
    assert_eq!(cited, sections, "sections of {METRICS} that no source cites, or the other way round");
}

/// Most lines of the README: what a newcomer reads before the first run.
const MAX_README_LINES: usize = 120;

#[test]
fn the_readme_is_short() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("the README is there");
    let lines = text.lines().count();
    assert!(lines <= MAX_README_LINES, "{lines} lines in README.md: move details into docs/");
}

#[test]
fn the_summary_of_the_book_has_all_documents() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary is there");
    let listed: BTreeSet<&str> = links(&summary).collect();
    let names = documents().into_iter().filter_map(|(path, _)| path.strip_prefix("docs/").map(str::to_owned));
    let missing: Vec<String> = names.filter(|name| name != "SUMMARY.md" && !listed.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
}

#[test]
fn tables_of_keys_are_made_from_the_schemas() {
    for (document, key) in [
        ("report-json.md", "| `run.ranks` | number | Size of MPI_COMM_WORLD |"),
        ("page-data.md", "| `version` | number | 2 |"),
        ("page-data.md", "| `iterations.begin_s` | packed array |"),
        ("study-page-data.md", "| `runs[].ranks` | number | Its ranks |"),
        ("study-format.md", "| `hosts[].host` | text | Name of the host |"),
        ("compare-json.md", "| `conditions[].metric` | text | Its metric |"),
    ] {
        let script = root().join("scripts/document-keys");
        let output = std::process::Command::new("python3").arg(script).arg(root().join("docs").join(document)).output();
        let output = output.expect("python3 is there");
        let text = String::from_utf8(output.stdout).expect("documents are UTF-8");
        assert!(output.status.success() && text.contains(key), "{document} has no row {key}");
        assert!(!text.contains("<!-- keys of"), "{document} has a mark that was not filled in");
    }
}
