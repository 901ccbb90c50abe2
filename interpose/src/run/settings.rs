//! The `LBPROF_*` settings, read from the environment when MPI has started.

use std::path::PathBuf;

use lbprof_collector::definition::RankList;
use lbprof_collector::format::{ClockSource, RecordingMode};
use lbprof_collector::options::{self, BUFFER_BYTES, RecorderSetting, SETTINGS};

use crate::run::job;

/// The rule for summing up a rank's records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SummaryPolicy {
    /// Summed up if that costs nothing worth mentioning.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RegionRecording {
    /// Nothing.
    #[default]
    Off,
    /// Sums over the threads of a team, for each instance.
    Teams,
    /// The times of each thread as well.
    EachThread,
}

#[derive(Debug, Clone, Default)]
pub struct RecorderSettings {
    /// Folder as given, with its templates.
    pub dir: PathBuf,
    /// True if the user gave one.
    pub dir_given: bool,
    /// Detail of the records, or `None` to record nothing.
    pub mode: Option<RecordingMode>,
    pub buffer: usize,
    /// Bytes of log after which a rank falls back to profile mode; 0: none.
    pub limit: u64,
    /// Ranks that record; `None`: all.
    pub ranks: Option<RankList>,
    /// Rule for the summary at the end of a rank's log.
    pub summary: SummaryPolicy,
    /// True if MPI_Pcontrol's second argument is a label.
    pub pcontrol_labels: bool,
    pub clock: Option<ClockSource>,
    /// Callers that a call path has besides the call site.
    pub depth: usize,
    /// Samples of a thread in a second of its CPU time; 0: none.
    pub samples: u64,
    pub openmp: RegionRecording,
    /// True if to say in the end what was recorded.
    pub verbose: bool,
    /// Variables that were not understood, with what was wrong.
    pub complaints: Vec<String>,
    /// Settings that were given, as NAME=value.
    pub given: Vec<String>,
}

impl RecorderSettings {
    /// Reads the environment. Variables that are not understood become complaints, and their defaults hold.
    pub fn from_env() -> Self {
        let mut settings = RecorderSettings::default();
        for setting in SETTINGS {
            settings.set(setting.name, setting.default);
        }
        let vars = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            name.starts_with("LBPROF_").then(|| (name, value.to_string_lossy().into_owned()))
        });
        for (name, value) in vars {
            // These are between lb-run and the library. As in shells, an empty variable counts as unset.
            const BETWEEN: [&str; 4] = ["LBPROF_LIBRARY", job::VARIABLE, job::PROCESS_VARIABLE, job::FOLDER_VARIABLE];
            if BETWEEN.contains(&name.as_str()) || value.trim().is_empty() {
                continue;
            }
            let complaint = match RecorderSetting::named(&name) {
                Some(setting) if setting.accepts(&value) => {
                    settings.set(&name, value.trim());
                    settings.dir_given |= name == "LBPROF_DIR";
                    None
                }
                Some(RecorderSetting { values, default, .. }) => {
                    Some(format!("expected {values}; the default {default} is used"))
                }
                None => Some("there is no such setting; lb-run --help has them all".to_owned()),
            };
            settings.complaints.extend(complaint.map(|complaint| format!("{name}={value}: {complaint}")));
            settings.given.push(format!("{name}={value}"));
        }
        settings.given.sort();
        settings
    }

    /// Takes a value that the setting accepts.
    fn set(&mut self, name: &str, value: &str) {
        match name {
            "LBPROF_DIR" => self.dir = PathBuf::from(value),
            "LBPROF_MODE" => {
                self.mode = match value {
                    "profile" => Some(RecordingMode::Profile),
                    "off" => None,
                    _ => Some(RecordingMode::Events),
                }
            }
            "LBPROF_BUFFER" => self.buffer = options::parse_byte_count(value).unwrap_or(*BUFFER_BYTES.start()) as usize,
            "LBPROF_LIMIT" => self.limit = options::parse_byte_count(value).unwrap_or(0),
            // No list: all.
            "LBPROF_RANKS" => self.ranks = options::parse_rank_list(value),
            "LBPROF_SUMMARY" => {
                self.summary = match value {
                    "on" => SummaryPolicy::On,
                    "off" => SummaryPolicy::Off,
                    _ => SummaryPolicy::Auto,
                }
            }
            "LBPROF_PCONTROL" => self.pcontrol_labels = value == "labels",
            "LBPROF_CLOCK" => {
                self.clock = match value {
                    "tsc" => Some(ClockSource::Tsc),
                    "monotonic" => Some(ClockSource::Monotonic),
                    _ => None,
                }
            }
            // No number: all.
            "LBPROF_DEPTH" => self.depth = value.parse().unwrap_or(usize::MAX),
            "LBPROF_SAMPLE" => self.samples = value.parse().unwrap_or(0),
            "LBPROF_OPENMP" => {
                self.openmp = match value {
                    "off" => RegionRecording::Off,
                    "threads" => RegionRecording::EachThread,
                    _ => RegionRecording::Teams,
                }
            }
            "LBPROF_VERBOSE" => self.verbose = value == "1",
            _ => {}
        }
    }

    /// Returns the folder with its templates filled in. The caller appends the run's number.
    pub fn folder(&self) -> PathBuf {
        let job = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID", "COBALT_JOBID"]
            .iter()
            .find_map(|name| std::env::var(name).ok())
            // A job's id must not lead out of the folder.
            .map(|id| id.replace('/', "_"));
        if !self.dir_given {
            return PathBuf::from(job.map_or("lbprof-out".into(), |job| format!("lbprof-out-{job}")));
        }
        let mut out = String::new();
        let text = self.dir.to_string_lossy();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (c, if c == '%' { chars.clone().next() } else { None }) {
                ('%', Some('j')) => out.push_str(job.as_deref().unwrap_or("0")),
                ('%', Some('h')) => out.push_str(&crate::machine::system::process::host_of_process()),
                ('%', Some('x')) => out.push_str(&crate::machine::system::process::program_name()),
                ('%', Some('%')) => out.push('%'),
                _ => {
                    out.push(c);
                    continue;
                }
            }
            chars.next();
        }
        PathBuf::from(out)
    }
}
