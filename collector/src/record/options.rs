//! The table of `LBPROF_*` settings: name, default, meaning; read by the recorder, by `lb-run` and by the docs.

use crate::definition::RankList;

/// A setting of the recorder.
pub struct RecorderSetting {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Option of `lb-run` that sets it, without the dashes; `None`: environment only.
    pub flag: Option<&'static str>,
    /// Its value where it is not set, as the user would write it.
    pub default: &'static str,
    /// Permitted values.
    pub values: &'static str,
    /// Effect, in one sentence.
    pub meaning: &'static str,
}

/// Makes the table: name, option of `lb-run`, default, permitted values; below them the effect.
macro_rules! settings {
    ($($name:literal, $flag:expr, $default:literal, $values:literal: $meaning:literal;)*) => {
        &[$(RecorderSetting { name: $name, flag: $flag, default: $default, values: $values, meaning: $meaning },)*]
    };
}

/// The settings. A variable `LBPROF_*` that is not here is warned of once, on rank 0.
pub const SETTINGS: &[RecorderSetting] = settings! {
    "LBPROF_DIR", Some("dir"), "lbprof-out", "a folder; %j job id, %h host, %x program, %% a percent sign":
        "Folder for the logs of the run; if it exists, the next free name-2, name-3 … is used.";
    "LBPROF_MODE", Some("mode"), "events", "events | profile | off":
        "Record every call, only the phase profile, or nothing.";
    "LBPROF_BUFFER", Some("buffer"), "128K", "32K to 16M bytes, with K, M":
        "Size of each thread's ring.";
    "LBPROF_LIMIT", Some("limit"), "4G", "bytes, with K, M, G; 0: none":
        "Maximum size of a rank's log; beyond it the rank continues in profile mode.";
    "LBPROF_RANKS", Some("ranks"), "all", "a list of ranks and ranges: 0,8-15,0-63:4":
        "Ranks that record; the others only take part in measuring clocks.";
    "LBPROF_SUMMARY", Some("summary"), "auto", "auto | on | off":
        "Whether a rank's log ends with its profile, from which lb-report --summary makes its first screen. auto: in profile mode, and where all records are in the rings until MPI_Finalize; on: always.";
    "LBPROF_PCONTROL", Some("pcontrol"), "levels", "levels | labels":
        "What MPI_Pcontrol marks: phases by level only, or with labels also by (1, \"name\") and (-1, \"name\").";
    "LBPROF_CLOCK", None, "auto", "auto | tsc | monotonic":
        "Clock for time stamps; auto uses the time stamp counter if it is invariant.";
    "LBPROF_DEPTH", Some("depth"), "all", "0 to 255, or all":
        "Number of callers recorded with each call: all of them up to main, or a maximum; 0: only the call site.";
    "LBPROF_SAMPLE", Some("sample"), "200", "0 to 5000 per second; 0: none":
        "How often to note where a thread executes, per second of its CPU time: shows the functions that compute.";
    "LBPROF_OPENMP", Some("openmp"), "auto", "auto | off | threads":
        "Whether to measure what the threads of OpenMP's parallel regions do; threads: also of each thread in each instance of a region.";
    "LBPROF_VERBOSE", Some("verbose"), "1", "0 | 1":
        "Whether rank 0 says in a line on stderr, when it ends, what was recorded and where it is.";
};

/// Fewest and most callers recorded with a call, where they are limited.
pub const DEPTH: std::ops::RangeInclusive<u64> = 0..=255;

/// Fewest and most samples of a thread in a second of its CPU time.
pub const SAMPLES: std::ops::RangeInclusive<u64> = 0..=5000;

/// Least and most bytes of a ring.
pub const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 32 << 10..=16 << 20;

impl RecorderSetting {
    /// The setting of this name.
    pub fn named(name: &str) -> Option<&'static RecorderSetting> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// Returns whether the recorder would take this value; where not, it says so and its default holds.
    pub fn accepts(&self, value: &str) -> bool {
        let value = value.trim();
        match self.name {
            "LBPROF_DIR" => !value.is_empty(),
            "LBPROF_BUFFER" => parse_byte_count(value).is_some_and(|bytes| BUFFER_BYTES.contains(&bytes)),
            "LBPROF_LIMIT" => parse_byte_count(value).is_some(),
            "LBPROF_DEPTH" => value == "all" || value.parse().is_ok_and(|callers| DEPTH.contains(&callers)),
            "LBPROF_SAMPLE" => value.parse().is_ok_and(|samples| SAMPLES.contains(&samples)),
            "LBPROF_RANKS" => value == "all" || parse_rank_list(value).is_some(),
            _ => self.values.split(" | ").any(|one| one == value),
        }
    }
}

/// A number of bytes: `128K`, `4G`, `1000`. `None`: it is none, or more than 2⁶⁴ − 1.
pub fn parse_byte_count(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (text.get(..at)?, 1 << 10),
        (at, 'm' | 'M') => (text.get(..at)?, 1 << 20),
        (at, 'g' | 'G') => (text.get(..at)?, 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Ranks: `0,8-15,0-63:4`, the last one from 0 to 63 every fourth. `None`: the text is no such list.
pub fn parse_rank_list(text: &str) -> Option<RankList> {
    let mut runs = Vec::new();
    for part in text.split(',') {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, step.trim().parse::<u32>().ok().filter(|&step| step > 0)?),
            None => (part, 1),
        };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        let distance = last.checked_sub(first)?;
        runs.push((first, i32::try_from(step).ok()?, (distance / step).checked_add(1)?));
    }
    Some(RankList(runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_accepted() {
        for setting in SETTINGS {
            assert!(setting.accepts(setting.default), "{}={}", setting.name, setting.default);
        }
    }

    #[test]
    fn every_setting_is_in_the_docs_as_it_is_here() {
        let docs = include_str!("../../../docs/settings.md");
        let rows: Vec<&str> = docs.lines().filter(|line| line.starts_with("| `LBPROF_")).collect();
        let row = |setting: &RecorderSetting| {
            let flag = setting.flag.map_or("–".to_owned(), |flag| format!("`--{flag}`"));
            let values = setting.values.replace('|', "\\|");
            format!("| `{}` | {flag} | `{}` | {values} | {} |", setting.name, setting.default, setting.meaning)
        };
        for setting in SETTINGS {
            assert!(rows.contains(&row(setting).as_str()), "docs/settings.md lacks the row\n{}", row(setting));
        }
        assert_eq!(rows.len(), SETTINGS.len(), "docs/settings.md has a row too many");
    }

    #[test]
    fn values_out_of_their_range_are_refused() {
        for (name, value) in [
            ("LBPROF_DIR", ""),
            ("LBPROF_MODE", "all"),
            ("LBPROF_MODE", ""),
            ("LBPROF_BUFFER", "31K"),
            ("LBPROF_BUFFER", "17M"),
            ("LBPROF_LIMIT", "-1"),
            ("LBPROF_LIMIT", "1T"),
            ("LBPROF_LIMIT", "18446744073709551615K"),
            ("LBPROF_RANKS", "1-"),
            ("LBPROF_RANKS", "3-1"),
            ("LBPROF_RANKS", "0-4:0"),
            ("LBPROF_RANKS", "0-4294967295"),
            ("LBPROF_SUMMARY", "yes"),
            ("LBPROF_CLOCK", "wall"),
            ("LBPROF_VERBOSE", "2"),
            ("LBPROF_DEPTH", "256"),
            ("LBPROF_DEPTH", "main"),
            ("LBPROF_SAMPLE", "5001"),
            ("LBPROF_SAMPLE", "all"),
        ] {
            let setting = RecorderSetting::named(name).unwrap();
            assert!(!setting.accepts(value), "{name}={value}");
        }
    }

    #[test]
    fn ranks_and_ranges_are_a_list() {
        let list = parse_rank_list("0, 8-10,20-27:4").unwrap();
        assert_eq!(list.iter().collect::<Vec<_>>(), [0, 8, 9, 10, 20, 24]);
        assert_eq!(parse_byte_count("128K"), Some(131_072));
        assert_eq!(parse_byte_count("0"), Some(0));
    }
}
