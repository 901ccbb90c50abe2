//! The `LBPROF_*` settings, read from the environment when MPI has started.

use std::path::PathBuf;

use lbprof_collector::definition::RankList;
use lbprof_collector::format::{ClockSource, Mode};
use lbprof_collector::options::SETTINGS;

/// The settings in force.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Folder as given, with its templates.
    pub dir: PathBuf,
    /// Whether the user gave one.
    pub dir_given: bool,
    /// What to write; `None`: nothing.
    pub mode: Option<Mode>,
    /// Bytes of a ring.
    pub buffer: usize,
    /// Bytes of log after which a rank falls back to profile mode; 0: none.
    pub limit: u64,
    /// Ranks that record; `None`: all.
    pub ranks: Option<RankList>,
    /// Whether MPI_Pcontrol's second argument is a label.
    pub pcontrol_labels: bool,
    /// The clock asked for.
    pub clock: Option<ClockSource>,
    /// Whether to tell what is done.
    pub verbose: bool,
    /// Variables that were not understood, with what was wrong.
    pub complaints: Vec<String>,
    /// All that were set, as NAME=value.
    pub given: Vec<String>,
}

impl Settings {
    /// Reads the environment. What is not understood is kept as a complaint, and its default holds.
    pub fn from_env() -> Self {
        Self::from_vars(std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            name.starts_with("LBPROF_").then(|| (name, value.to_string_lossy().into_owned()))
        }))
    }

    fn from_vars(vars: impl Iterator<Item = (String, String)>) -> Self {
        let mut settings = Settings {
            dir: PathBuf::from("lbprof-out"),
            dir_given: false,
            mode: Some(Mode::Events),
            buffer: 128 << 10,
            limit: 4 << 30,
            ranks: None,
            pcontrol_labels: false,
            clock: None,
            verbose: false,
            complaints: Vec::new(),
            given: Vec::new(),
        };
        for (name, value) in vars {
            // Set by lb-run's users to find the library, not for us.
            if name == "LBPROF_LIBRARY" {
                continue;
            }
            if let Err(complaint) = settings.set(&name, value.trim()) {
                settings.complaints.push(format!("{name}={value}: {complaint}"));
            }
            settings.given.push(format!("{name}={value}"));
        }
        settings.given.sort();
        settings
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let expected = SETTINGS.iter().find(|setting| setting.name == name).map(|setting| setting.values);
        let Some(expected) = expected else { return Err("no such setting".into()) };
        let bad = || format!("expected {expected}");
        match name {
            "LBPROF_DIR" if value.is_empty() => return Err(bad()),
            "LBPROF_DIR" => {
                self.dir = PathBuf::from(value);
                self.dir_given = true;
            }
            "LBPROF_MODE" => {
                self.mode = match value {
                    "events" => Some(Mode::Events),
                    "profile" => Some(Mode::Profile),
                    "off" => None,
                    _ => return Err(bad()),
                }
            }
            "LBPROF_BUFFER" => match bytes(value) {
                Some(n) if (32 << 10..=16 << 20).contains(&n) => self.buffer = n as usize,
                _ => return Err(bad()),
            },
            "LBPROF_LIMIT" => self.limit = bytes(value).ok_or_else(bad)?,
            "LBPROF_RANKS" if value == "all" => self.ranks = None,
            "LBPROF_RANKS" => self.ranks = Some(ranks(value).ok_or_else(bad)?),
            "LBPROF_PCONTROL" => {
                self.pcontrol_labels = match value {
                    "levels" => false,
                    "labels" => true,
                    _ => return Err(bad()),
                }
            }
            "LBPROF_CLOCK" => {
                self.clock = match value {
                    "auto" => None,
                    "tsc" => Some(ClockSource::Tsc),
                    "monotonic" => Some(ClockSource::Monotonic),
                    _ => return Err(bad()),
                }
            }
            "LBPROF_VERBOSE" => {
                self.verbose = match value {
                    "0" | "" => false,
                    "1" => true,
                    _ => return Err(bad()),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The folder with its templates filled in; the run's number is the caller's to append.
    pub fn folder(&self) -> PathBuf {
        let job = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID", "COBALT_JOBID"]
            .iter()
            .find_map(|name| std::env::var(name).ok())
            // What goes into a file's name must not leave its folder.
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
                ('%', Some('h')) => out.push_str(&crate::process::host()),
                ('%', Some('x')) => out.push_str(&crate::process::program()),
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

/// `128K`, `4G`, `1000`.
fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (text.get(..at)?, 1 << 10),
        (at, 'm' | 'M') => (text.get(..at)?, 1 << 20),
        (at, 'g' | 'G') => (text.get(..at)?, 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// `0,8-15,0-63:4`.
fn ranks(text: &str) -> Option<RankList> {
    let mut runs = Vec::new();
    for part in text.split(',') {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, step.trim().parse::<u32>().ok().filter(|&step| step > 0)?),
            None => (part, 1),
        };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        let distance = last.checked_sub(first)?;
        runs.push((first, i32::try_from(step).ok()?, distance / step + 1));
    }
    Some(RankList(runs))
}
