//! The table of thresholds: every value on which it depends what lbprof concludes, with its unit, its reason, and what fails or was measured where it
//! is wrong. Limits of memory and of the rows of tables stand where they are used.
//!
//! A threshold is a constant, so that code reads `share >= MIN_LOSS`. Its row names the unit, and the test or the measurement that shows where the
//! value is wrong.

#![forbid(unsafe_code)]

/// Defines constants and, for the tests, `TABLE`: the rows that describe them.
macro_rules! thresholds {
    ($($(#[doc = $reason:literal])+ $name:ident: $type:ty = $value:expr, unit $unit:literal, validated $validated:literal;)+) => {
        $(
            $(#[doc = $reason])+
            pub const $name: $type = $value;
        )+

        #[cfg(test)]
        pub(crate) const TABLE: &[crate::tests::ThresholdRow] = &[$(crate::tests::ThresholdRow {
            name: stringify!($name),
            unit: $unit,
            reason: concat!($($reason),+),
            validated: $validated,
        }),+];
    };
}

pub mod loops;
pub mod metrics;
pub mod regions;
pub mod replay;
pub mod study;
pub mod verdict;
pub mod watch;
pub mod wording;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    /// The row of a threshold.
    #[derive(Debug)]
    pub(crate) struct ThresholdRow {
        pub(crate) name: &'static str,
        pub(crate) unit: &'static str,
        /// The reason for the value, and what it decides.
        pub(crate) reason: &'static str,
        /// The file of the test or the measurement, and more about it.
        pub(crate) validated: &'static str,
    }

    /// Facts, none of which decides what a report says: of number formats, of arithmetic, of other programs, of the terminal.
    const OTHER_CONSTANTS: [&str; 9] = [
        "BYTES_OF_A_NUMBER",
        "DELTA",
        "DELTA_Q",
        "LARGEST_HALF",
        "LONGEST_S",
        "LONGEST_WAIT_S",
        "OF_MEDIAN_DISTANCE",
        "TWICE",
        "UNIT",
    ];

    #[test]
    fn each_threshold_has_a_name_of_its_own_a_reason_and_a_check() {
        let mut names = BTreeSet::new();
        let tables = [
            loops::TABLE,
            regions::TABLE,
            metrics::TABLE,
            replay::TABLE,
            verdict::TABLE,
            wording::TABLE,
            watch::TABLE,
            study::TABLE,
        ];
        for row in tables.into_iter().flatten() {
            assert!(names.insert(row.name), "{} twice", row.name);
            assert!(row.reason.trim().len() > 10 && !row.unit.is_empty(), "{row:?}");
            let file = row.validated.split(',').next().unwrap();
            let folders = [Path::new("../../"), Path::new("../")];
            let here = Path::new(env!("CARGO_MANIFEST_DIR"));
            assert!(folders.iter().any(|folder| here.join(folder).join(file).exists()), "{row:?}");
        }
    }

    #[test]
    fn no_other_crate_of_the_analyzer_has_thresholds() {
        let mut found = BTreeSet::new();
        for crate_name in ["analysis", "report", "study", "lb-report"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_name).join("src");
            for file in sources_in(&folder) {
                let text = fs::read_to_string(&file).unwrap();
                let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                found.extend(product.lines().filter_map(real_constant).map(str::to_owned));
            }
        }
        let allowed: BTreeSet<String> = OTHER_CONSTANTS.map(str::to_owned).into();
        assert_eq!(found, allowed, "a value that decides what is reported belongs into a table of this crate");
    }

    /// Returns the name of the floating-point constant that a line defines.
    fn real_constant(line: &str) -> Option<&str> {
        let (name, kind) = line.trim_start().split_once("const ")?.1.split_once(": ")?;
        (kind.starts_with("f64 ") || kind.starts_with("f32 ")).then_some(name)
    }

    /// Returns the source files in a folder and the folders in it, without files of tests.
    fn sources_in(folder: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files.extend(sources_in(&path));
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                files.push(path);
            }
        }
        files
    }
}
