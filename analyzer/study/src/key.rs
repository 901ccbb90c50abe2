//! Keys that distinguish runs: parameters, number of ranks, program, hosts, MPI library, number in the study.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::str::FromStr;

use wildmatch::WildMatch;

use super::store::{StoreError, StoredRun, StudyFile};
use lbprof_report::rows::words::mpi_name;

/// The key of P.
pub const RANKS: &str = "ranks";

/// Keys that every run has; all others are parameters.
pub const BUILT_IN: [&str; 5] = [RANKS, "run", "program", "host", "mpi"];

/// The value of a key in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValue {
    /// A number: of ranks, of the run, or a parameter.
    Number(f64),
    /// A name: of the program, of the MPI library, or of hosts with spaces between.
    Text(String),
}

impl KeyValue {
    /// The value of `run` for `key`, or `None` if it has no such parameter.
    pub fn look_up(run: &StoredRun, key: &str) -> Option<KeyValue> {
        match key {
            RANKS => Some(KeyValue::Number(f64::from(run.run.n_ranks))),
            "run" => Some(KeyValue::Number(f64::from(run.number))),
            "program" => Some(KeyValue::Text(run.run.program().to_owned())),
            "host" => Some(KeyValue::Text(run.run.hosts.join(" "))),
            "mpi" => Some(KeyValue::Text(mpi_name(&run.run.mpi).to_owned())),
            param => run.run.params.get(param).copied().map(KeyValue::Number),
        }
    }

    /// An order of all values: numbers by size, then names.
    pub fn compare(&self, other: &KeyValue) -> Ordering {
        match (self, other) {
            (KeyValue::Number(a), KeyValue::Number(b)) => a.total_cmp(b),
            (KeyValue::Text(a), KeyValue::Text(b)) => a.cmp(b),
            (KeyValue::Number(_), KeyValue::Text(_)) => Ordering::Less,
            (KeyValue::Text(_), KeyValue::Number(_)) => Ordering::Greater,
        }
    }
}

/// An order of lists of values; a value that is missing comes first.
pub fn compare_values(a: &[Option<KeyValue>], b: &[Option<KeyValue>]) -> Ordering {
    let orders = a.iter().zip(b).map(|pair| match pair {
        (Some(a), Some(b)) => a.compare(b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    });
    orders.fold(Ordering::Equal, Ordering::then).then_with(|| a.len().cmp(&b.len()))
}

/// A condition on a run: `n=512`, `ranks=4`, `host=node1*`.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCondition {
    /// The key.
    pub key: String,
    /// Required value: a number, or a pattern of names with * and ?.
    pub value: String,
}

impl FromStr for RunCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<RunCondition, String> {
        let condition = text.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        let (key, value) = condition
            .filter(|(key, _)| !key.is_empty())
            .ok_or("a name and what it must be, as in n=512 or host=node1*")?;
        Ok(RunCondition { key, value })
    }
}

impl RunCondition {
    /// True if a run meets the condition.
    pub fn holds(&self, run: &StoredRun) -> bool {
        match KeyValue::look_up(run, &self.key) {
            Some(KeyValue::Number(number)) => self.value.parse() == Ok(number),
            Some(KeyValue::Text(text)) => WildMatch::new(&self.value).matches(&text),
            None => false,
        }
    }
}

const MAX_LISTED: usize = 40;

fn list_some_names(names: &[String]) -> String {
    let shown = names.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_LISTED) {
        0 => shown,
        n_more => format!("{shown}, and {n_more} more"),
    }
}

/// The error that a study lacks a key or region that a table or a model needs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotInStudy {
    /// The study holds no runs.
    #[error("there are no runs in the study: 'lb-report study add STUDY DIR' adds one")]
    NoRuns,
    /// No run has the parameter. The list has all keys.
    #[error("no run has a parameter {}; there are: {}", .0, list_some_names(.1))]
    NoParam(String, Vec<String>),
    /// No run is left.
    #[error("no run has {0}")]
    NoneLeft(String),
    /// No run has the region. The list has some that exist.
    #[error("no run has a region {}; there are: {}", .0, list_some_names(.1))]
    NoRegion(String, Vec<String>),
    /// There is no such run.
    #[error("there is no run {0} in the study")]
    NoRun(String),
}

/// Keys of the runs: those that every run has, then all parameters, each once.
pub fn known_keys<'a>(runs: impl IntoIterator<Item = &'a StoredRun>) -> Vec<String> {
    let params: BTreeSet<&String> = runs.into_iter().flat_map(|run| run.run.params.keys()).collect();
    let params = params.into_iter().map(String::as_str).filter(|name| !BUILT_IN.contains(name));
    BUILT_IN.into_iter().chain(params).map(str::to_owned).collect()
}

/// The runs that meet all conditions, or why there are none.
pub fn select_runs(runs: &[StoredRun], conditions: &[RunCondition]) -> Result<Vec<StoredRun>, NotInStudy> {
    if runs.is_empty() {
        return Err(NotInStudy::NoRuns);
    }
    let known = known_keys(runs);
    if let Some(unknown) = conditions.iter().find(|condition| !known.contains(&condition.key)) {
        return Err(NotInStudy::NoParam(unknown.key.clone(), known));
    }
    // A run meets at least one of several conditions on one key.
    let left = runs.iter().filter(|run| {
        let mut keys = conditions.iter().map(|condition| &condition.key);
        keys.all(|key| conditions.iter().any(|condition| condition.key == *key && condition.holds(run)))
    });
    let left: Vec<StoredRun> = left.cloned().collect();
    if left.is_empty() {
        let words: Vec<String> = conditions.iter().map(|one| format!("{}={}", one.key, one.value)).collect();
        return Err(NotInStudy::NoneLeft(words.join(" and ")));
    }
    Ok(left)
}

const ID_DIGITS: usize = 16;

/// The number that is meant by `text`: the number itself, or an id of 16 hexadecimal digits.
pub fn find_run_number(runs: &[StoredRun], text: &str) -> Option<u32> {
    let id = (text.len() == ID_DIGITS).then(|| u64::from_str_radix(text, 16).ok()).flatten();
    let meant = runs.iter().find(|run| match id {
        Some(id) => run.run.id == id,
        None => text.parse() == Ok(run.number),
    });
    meant.map(|run| run.number)
}

/// The numbers of runs in a study, by numbers or ids.
pub fn run_numbers(study: &StudyFile, texts: &[String]) -> Result<Vec<u32>, StoreError> {
    let runs = study.heads()?;
    let numbers = texts.iter().map(|text| {
        find_run_number(&runs, text).ok_or_else(|| StoreError::NoRun(study.path().to_owned(), text.clone()))
    });
    Ok(numbers.collect::<Result<BTreeSet<u32>, _>>()?.into_iter().collect())
}
