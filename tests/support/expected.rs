//! Programs that say what they did: their lines against the records.
//!
//! Such a program writes, for each call, what its record must hold, to the file `$LBTEST_EXPECT.<rank>`, one line a record:
//! `function peer tag sent received comm-size comm-label activity flags`, with `-` for what is absent and flags joined by commas.
//! Peers are world ranks; labels name communicators, the same on all their members. See programs/expect.h.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use lbprof_collector::Operation;

use crate::run::{Dump, Record};

/// The environment variable with the path of the expected records, less `.<rank>`.
pub const VARIABLE: &str = "LBTEST_EXPECT";

/// Whether a call, by its name without `MPI_`, may find nothing any number of times before it finds something.
fn polls(name: &str) -> bool {
    let named = Operation::ALL.iter().find(|operation| operation.name() == name);
    named.is_some_and(|&operation| Operation::polls(operation as u16))
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Expected {
    /// The C function without `MPI_`, `_c` included.
    function: String,
    /// The rest of the line but the label.
    facts: String,
    /// The communicator's name in the program.
    label: String,
}

impl Expected {
    fn parse(line: &str) -> anyhow::Result<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [function, peer, tag, sent, received, size, label, activity, flags] = words[..] else {
            bail!("not an expected record: `{line}`");
        };
        let mut flags: Vec<&str> = flags.split(',').collect();
        flags.sort_unstable();
        let facts = format!("{peer} {tag} {sent} {received} {size} {activity} {}", flags.join(","));
        Ok(Expected { function: function.into(), facts, label: label.into() })
    }

    /// Whether it completes a send or a transfer to a window, which may be complete from the start.
    fn may_be_shared(&self) -> bool {
        let completes = "Wait Test Waitany Testany Waitsome Testsome Waitall Testall Request_free Completed";
        let completes = completes.split(' ').any(|name| name == self.function);
        let received = self.facts.split(' ').nth(3) == Some("0");
        completes && received && !self.facts.contains("persistent") && !self.facts.contains("cancelled")
    }

    fn operation(&self) -> &str {
        self.function.strip_suffix("_c").unwrap_or(&self.function)
    }
}

/// The same words for a record.
fn facts(record: &Record) -> String {
    fn or_dash<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(|| "-".into(), |value| value.to_string())
    }
    let mut flags = record.flags.clone();
    if let Some(group) = &record.group {
        let ranks: Vec<String> = group.iter().map(u32::to_string).collect();
        flags.push(format!("group={}", ranks.join("+")));
    }
    flags.sort_unstable();
    format!(
        "{} {} {} {} {} {} {}",
        or_dash(record.peer),
        or_dash(record.tag),
        record.sent,
        record.received,
        or_dash(record.comm_size),
        record.activity,
        if flags.is_empty() { "-".into() } else { flags.join(",") },
    )
}

/// Completions, of one request and of several, that were complete from the start, of which nothing is known.
const SHARED: [&str; 2] = ["- - 0 0 - point-to-point nothing", "- - 0 0 - point-to-point -"];

const FINALIZE: &str = "Finalize - - 0 0 - management -";

/// The C functions that the program says it called, without `MPI_`; parts of calls are not among them.
pub fn functions(path: &Path, ranks: usize) -> anyhow::Result<BTreeSet<String>> {
    let mut functions = BTreeSet::new();
    for rank in 0..ranks as u32 {
        functions.extend(read(path, rank)?.into_iter().map(|one| one.function));
    }
    Ok(functions)
}

fn read(path: &Path, rank: u32) -> anyhow::Result<Vec<Expected>> {
    let file = path.with_extension(rank.to_string());
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let expected: Vec<Expected> = text.lines().map(Expected::parse).collect::<anyhow::Result<_>>()?;
    ensure!(!expected.is_empty(), "rank {rank} expects nothing");
    Ok(expected)
}

/// The calls of a rank, without unsuccessful polls that the program does not speak of.
fn compared_records<'a>(dump: &'a Dump, rank: u32, expected: &[Expected]) -> Vec<&'a Record> {
    let is_poll = |one: &Expected| one.facts.ends_with("nothing") && !one.facts.contains("inactive");
    let mut records = dump.calls_of(rank);
    records.retain(|record| {
        let found_nothing = polls(&record.operation) && record.has("nothing") && !record.has("inactive");
        !found_nothing || expected.iter().any(|one| one.operation() == record.operation && is_poll(one))
    });
    records
}

/// Compares all ranks' records with what the program wrote to `path.<rank>`.
///
/// Unsuccessful polls that the program does not speak of are left out. A label must stand for one communicator on all ranks,
/// and a communicator have one label.
///
/// MPIs give all sends that are complete at once the same request. Nothing is known of such a request when it is completed: its
/// part is missing, its wait says nothing.
pub fn compare(path: &Path, ranks: usize, dump: &Dump) -> anyhow::Result<()> {
    let mut uid_of: BTreeMap<String, String> = BTreeMap::new();
    let mut label_of: BTreeMap<String, String> = BTreeMap::new();
    let mut differences = Vec::new();
    for rank in 0..ranks as u32 {
        let expected = read(path, rank)?;
        let mut records = compared_records(dump, rank, &expected).into_iter().peekable();
        for one in &expected {
            if one.may_be_shared() {
                let found = records.peek().map(|record| facts(record));
                let as_expected = found.as_ref() == Some(&one.facts);
                match one.function.as_str() {
                    // Such tests look like polls that find nothing, which are left out.
                    "Completed" | "Test" | "Testany" if !as_expected => continue,
                    _ if found.as_deref().is_some_and(|found| SHARED.contains(&found)) => {
                        records.next();
                        continue;
                    }
                    _ => {}
                }
            }
            let Expected { function, facts: wanted, label } = one;
            let Some(record) = records.next() else {
                differences.push(format!("rank {rank}: no record of {function} {wanted}"));
                break;
            };
            let (found, at) = (facts(record), format!("rank {rank}, record {}", record.sequence));
            if record.operation != one.operation() {
                let operation = &record.operation;
                differences.push(format!("{at}: expected {function} {wanted}, found {operation} {found}"));
                break;
            }
            if found != *wanted {
                differences.push(format!("{at} {function} on {label}: expected {wanted}, found {found}"));
            }
            if let Some(uid) = record.comm_uid.as_ref().filter(|_| label != "-") {
                let known = uid_of.entry(label.clone()).or_insert_with(|| uid.clone());
                let other = label_of.entry(uid.clone()).or_insert_with(|| label.clone());
                if known != uid || other != label {
                    let ids = format!("{label} has id {uid}, elsewhere {known}; {uid} is {other}");
                    differences.push(format!("{at} {function}: {ids}"));
                }
            }
        }
        let end: Vec<String> = records.map(|record| format!("{} {}", record.operation, facts(record))).collect();
        if end != [FINALIZE] {
            differences.push(format!("rank {rank}: after all that was expected comes {end:?}"));
        }
    }
    let shown = differences.len().min(30);
    ensure!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences[..shown].join("\n"));
    Ok(())
}
