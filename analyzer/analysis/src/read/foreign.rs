//! Recognises the data of other tools, and other files of lb-report, where a run was expected.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use wildmatch::WildMatch;

const MAX_FILES: usize = 1000;

/// Data that is no run of lbprof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignData(&'static ForeignFormat);

/// A kind of data, known by the names of files.
#[derive(Debug, PartialEq, Eq)]
struct ForeignFormat {
    /// Patterns of file names, any of which shows the kind.
    files: &'static [&'static str],
    /// Name of the data, with an article.
    what: &'static str,
    advice: &'static str,
}

const STUDY: ForeignFormat = ForeignFormat {
    files: &["*.study"],
    what: "a study",
    advice: "lb-report study show STUDY shows it, lb-report compare takes its runs as STUDY:NUMBER",
};

const RECORD: &str = "its own tools read it; lb-report reads what lb-run recorded: mpirun -n 4 lb-run ./program";

/// The first that matches counts: an OTF2 trace is part of a measurement of Score-P.
const FORMATS: [ForeignFormat; 14] = [
    STUDY,
    ForeignFormat {
        files: &["rank-*.lbp", "rank-*.rings"],
        what: "one file of a run",
        advice: "name the folder that it is in",
    },
    ForeignFormat { files: &["scout.cubex", "trace.stat"], what: "a trace analysis of Scalasca", advice: RECORD },
    ForeignFormat { files: &["scorep.cfg", "*.cubex"], what: "a measurement of Score-P", advice: RECORD },
    ForeignFormat { files: &["*.otf2"], what: "a trace in the format OTF2", advice: RECORD },
    ForeignFormat { files: &["*.prv", "*.pcf", "*.mpit", "*.mpits"], what: "a trace of Extrae", advice: RECORD },
    ForeignFormat { files: &["profile.*.*.*", "tautrace.*", "*.ppk"], what: "a profile of TAU", advice: RECORD },
    ForeignFormat { files: &["*.hpcrun", "*.hpcstruct"], what: "a measurement of HPCToolkit", advice: RECORD },
    ForeignFormat { files: &["*.darshan"], what: "a log of Darshan", advice: RECORD },
    ForeignFormat { files: &["*.mpiP"], what: "a report of mpiP", advice: RECORD },
    ForeignFormat { files: &["*.cali"], what: "a profile of Caliper", advice: RECORD },
    ForeignFormat { files: &["*.stf"], what: "a trace of Intel Trace Collector", advice: RECORD },
    ForeignFormat { files: &["*.nsys-rep", "*.qdrep"], what: "a report of Nsight Systems", advice: RECORD },
    ForeignFormat { files: &["perf.data"], what: "a recording of perf", advice: RECORD },
];

impl ForeignData {
    /// Returns the kind of the file at `path`, if it is known.
    pub fn of_file(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        if is_database(path) && !name.ends_with(".sqlite") {
            return Some(ForeignData(&STUDY));
        }
        let is_named =
            |format: &ForeignFormat| format.files.iter().any(|pattern| WildMatch::new(pattern).matches(name));
        FORMATS.iter().find(|format| is_named(format)).map(ForeignData)
    }

    /// Returns the kind of data in the folder at `path`, if one of its files shows it.
    pub fn find_in_folder(path: &Path) -> Option<Self> {
        let files = fs::read_dir(path).ok()?.flatten().take(MAX_FILES).map(|entry| entry.path());
        let found: Vec<Self> = files.filter_map(|file| Self::of_file(&file)).collect();
        FORMATS.iter().map(ForeignData).find(|format| found.contains(format))
    }

    /// Returns advice for a user who has such data.
    pub fn advice(self) -> &'static str {
        self.0.advice
    }
}

impl fmt::Display for ForeignData {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.0.what)
    }
}

fn is_database(path: &Path) -> bool {
    let mut first = [0; 16];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first == *b"SQLite format 3\0"
}
