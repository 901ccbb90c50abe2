//! A ratchet on habits of naming and writing: no figure of `scripts/habits` may become worse than the committed one.
//!
//! `tests/repository/habits.json` holds the committed figures. A change that improves one lowers it there, so that it stays:
//! `UPDATE_HABITS=1 cargo test -p lbprof-tests --test repository habits`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

type HabitFigures = BTreeMap<String, f64>;

const SIZES: [&str; 2] = ["lines", "functions"];

fn project_root() -> PathBuf {
    lbprof_tests::place::workspace()
}

fn measure_habits() -> HabitFigures {
    let root = project_root();
    let output = Command::new("python3").arg(root.join("scripts/habits")).arg(&root).arg("--json").output();
    let output = output.expect("python3 runs scripts/habits; scripts/setup test installs it");
    assert!(output.status.success(), "scripts/habits failed: {}", String::from_utf8_lossy(&output.stderr));
    let mut figures: HabitFigures = serde_json::from_slice(&output.stdout).expect("scripts/habits --json prints JSON");
    figures.retain(|name, _| !SIZES.contains(&name.as_str()));
    figures
}

fn read_committed_figures() -> HabitFigures {
    let path = project_root().join("tests/repository/habits.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn describe_regressions(committed: &HabitFigures, measured: &HabitFigures) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = committed.keys().chain(measured.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| match (committed.get(name), measured.get(name)) {
            (Some(limit), Some(figure)) if figure > limit => {
                Some(format!("{name} rose from {limit} to {figure}; `scripts/habits --list {name}` shows the places"))
            }
            (Some(_), Some(_)) => None,
            _ => Some(format!("{name} is missing from tests/repository/habits.json or from scripts/habits")),
        })
        .collect()
}

#[test]
fn no_habit_is_worse_than_committed() {
    let measured = measure_habits();
    if std::env::var_os("UPDATE_HABITS").is_some() {
        let text = serde_json::to_string_pretty(&measured).expect("figures are plain numbers");
        std::fs::write(project_root().join("tests/repository/habits.json"), text + "\n")
            .expect("tests/repository/habits.json is writable");
        return;
    }
    let regressions = describe_regressions(&read_committed_figures(), &measured);
    assert!(regressions.is_empty(), "{}", regressions.join("\n"));
}

#[test]
fn a_worse_figure_and_a_missing_one_are_regressions() {
    let committed = HabitFigures::from([("closures".to_owned(), 2.0), ("for_each".to_owned(), 20.0)]);
    let measured = HabitFigures::from([("closures".to_owned(), 2.1), ("for_each".to_owned(), 19.0)]);
    assert_eq!(describe_regressions(&committed, &measured).len(), 1);
    assert!(describe_regressions(&committed, &committed).is_empty());
    assert_eq!(describe_regressions(&committed, &HabitFigures::new()).len(), 2);
}
