//! Counts, times and errors of the system in words: one number format, nouns that agree with it, units, and what an error means to a user.
//!
//! Counts are written without memory of their own, so that the recorder may use them where a program must not be disturbed.

use std::fmt::{Display, Formatter, Result};
use std::io::{self, ErrorKind};

/// A number with its digits in groups of three: `12,345`.
#[derive(Clone, Copy, Debug)]
pub struct GroupedNumber(pub u64);

/// A number of things: `1 rank`, `2 ranks`.
#[derive(Clone, Copy, Debug)]
pub struct CountedNoun<'a>(pub u64, pub &'a str);

impl Display for GroupedNumber {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        const GROUP: u64 = 1000;
        if self.0 < GROUP {
            return write!(to, "{}", self.0);
        }
        write!(to, "{},{:03}", GroupedNumber(self.0 / GROUP), self.0 % GROUP)
    }
}

impl Display for CountedNoun<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        write!(to, "{} {}{}", GroupedNumber(self.0), self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// An error of the system in words for users, without its number.
#[derive(Clone, Copy, Debug)]
pub struct SystemError<'a>(pub &'a io::Error);

impl Display for SystemError<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        let SystemError(error) = self;
        if error.get_ref().is_some() {
            return write!(to, "{error}");
        }
        match words_of_number(error).or_else(|| words_of_kind(error.kind())) {
            Some(words) => to.write_str(words),
            // The standard library appends the number to the system's own words.
            None => to.write_str(error.to_string().split(" (os error").next().unwrap_or_default()),
        }
    }
}

/// Describes the errors whose kind is no more than "other", or says too little.
fn words_of_number(error: &io::Error) -> Option<&'static str> {
    Some(match error.raw_os_error()? {
        libc::EIO => "the disk, or the network to it, failed",
        libc::ELOOP => "symbolic links form a loop",
        libc::EMFILE => "too many files are open in this process (ulimit -n)",
        libc::ENFILE => "too many files are open on this host",
        libc::ENODEV | libc::ENXIO => "there is no such device",
        libc::ENOEXEC => "it is no program that this system can execute",
        libc::ENOSYS => "this system does not have the call",
        _ => return None,
    })
}

fn words_of_kind(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::AlreadyExists => "it exists already",
        ErrorKind::ArgumentListTooLong => "arguments and environment are too long",
        ErrorKind::BrokenPipe => "nobody reads it any more",
        ErrorKind::DirectoryNotEmpty => "the folder is not empty",
        ErrorKind::ExecutableFileBusy => "the program's file is being written",
        ErrorKind::FileTooLarge => "the file would be larger than is allowed (ulimit -f)",
        ErrorKind::InvalidFilename => "the name is too long",
        ErrorKind::IsADirectory => "it is a folder",
        ErrorKind::NotADirectory => "a part of the path is not a folder",
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::NotSeekable => "it can only be read or written from begin to end",
        ErrorKind::OutOfMemory => "no memory is left",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::QuotaExceeded => "the user's quota on the disk is used up",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::ResourceBusy => "it is in use",
        ErrorKind::StaleNetworkFileHandle => "the file is not on the network's file system any more",
        ErrorKind::StorageFull => "no space is left on the disk",
        ErrorKind::TimedOut => "it did not answer in time",
        ErrorKind::UnexpectedEof => "the file ends early",
        ErrorKind::WriteZero => "nothing more can be written",
        _ => return None,
    })
}

/// A unit for times of a column, and how many decimals it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    scale: f64,
    /// Its symbol.
    pub symbol: &'static str,
    decimals: usize,
}

impl TimeUnit {
    /// Returns the unit in which `max_s` seconds, the longest time of a column, has one to three digits before the point.
    pub fn for_max(max_s: f64) -> TimeUnit {
        let (scale, symbol) = match max_s.abs() {
            s if s >= 0.9995 => (1.0, "s"),
            s if s >= 0.9995e-3 => (1e3, "ms"),
            s if s > 0.0 => (1e6, "µs"),
            _ => (1.0, "s"),
        };
        TimeUnit { scale, symbol, decimals: four_digit_decimals(max_s.abs() * scale) }
    }

    /// Formats `seconds` in this unit, without its symbol.
    pub fn number(&self, seconds: f64) -> String {
        format!("{:.*}", self.decimals, seconds * self.scale)
    }
}

/// Returns the number of decimals with which a number up to 999 has four digits.
fn four_digit_decimals(value: f64) -> usize {
    [9.995, 99.95, 999.5].iter().filter(|&&bound| value < bound).count()
}

/// Formats a time with its unit: `1.32 s`.
pub fn format_seconds(seconds: f64) -> String {
    seconds_like(seconds, seconds)
}

fn in_unit(seconds: f64, unit: TimeUnit) -> String {
    format!("{:.*}", unit.decimals.min(2), seconds * unit.scale)
}

/// Returns whether a number has no other digit than 0.
fn is_zero(text: &str) -> bool {
    text.chars().all(|char| matches!(char, '-' | '0' | '.'))
}

/// Formats a time in the unit that suits `reference`, so that all times of a sentence compare at a glance. It gets its own unit if in the other one it would
/// be 0, or have more than three digits before the point.
pub fn seconds_like(seconds: f64, reference: f64) -> String {
    let unit = TimeUnit::for_max(reference);
    let is_long = unit.scale > 1.0 && (seconds * unit.scale).abs() >= 999.5;
    let text = in_unit(seconds, unit);
    let unit = if (is_zero(&text) && seconds != 0.0) || is_long { TimeUnit::for_max(seconds) } else { unit };
    let text = in_unit(seconds, unit);
    // A number that rounds to zero has no sign.
    format!("{} {}", if is_zero(&text) { text.trim_start_matches('-') } else { &text }, unit.symbol)
}

/// Formats bytes with a unit of powers of 1000: `1.32 MB`.
pub fn format_bytes(value: u64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    let decimals = if unit == 0 { 0 } else { four_digit_decimals(scaled).saturating_sub(1) };
    format!("{scaled:.decimals$} {}", UNITS[unit])
}

/// Explains that `command` has no such option, and which of the options `names` was meant. Returns `None` if `option` does not begin with a dash.
pub fn explain_unknown_option(option: &str, names: &[&str], command: &str) -> Option<String> {
    let word = option.strip_prefix("--").or(option.strip_prefix('-'))?;
    Some(match find_meant(word, names) {
        Some(meant) => format!("there is no option {option}; did you mean --{meant}?"),
        None => format!("there is no option {option}; {command} --help shows those that there are"),
    })
}

/// Returns the name that was meant by `word`: one that it abbreviates, else the one from which it differs least, by a letter in three at most.
pub fn find_meant<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let letters = word.chars().count();
    if letters < 2 {
        return None;
    }
    let distances = names.iter().map(|&name| match name.starts_with(word) {
        true => (0, name),
        false => (strsim::damerau_levenshtein(word, name), name),
    });
    // If several are equally near, the one as long as the word: letters are swapped more often than left out.
    let (distance, nearest) = distances.min_by_key(|&(distance, name)| (distance, name.len().abs_diff(word.len())))?;
    (distance <= letters.div_ceil(3)).then_some(nearest)
}

/// Returns whether the character set of the locale is UTF-8, or not set.
pub fn is_utf8_locale(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
    locale.is_none_or(|locale| {
        let lower = locale.to_ascii_lowercase();
        lower.contains("utf-8") || lower.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_locale() {
        let locale = |all: &'static str, lang: &'static str| {
            move |name: &str| match name {
                "LC_ALL" => Some(all.to_owned()),
                "LANG" => Some(lang.to_owned()),
                _ => None,
            }
        };
        assert!(is_utf8_locale(locale("", "en_GB.UTF-8")));
        assert!(!is_utf8_locale(locale("C", "en_GB.UTF-8")));
        assert!(is_utf8_locale(locale("C.utf8", "C")));
        assert!(!is_utf8_locale(locale("", "POSIX")));
        assert!(is_utf8_locale(|_| None));
    }

    #[test]
    fn mistyped_names_are_recognised() {
        let meant = |word| find_meant(word, &["to", "top", "full", "region", "rank-by", "ranks"]);
        assert_eq!(
            ["tpo", "reg", "rnaks", "regoin"].map(meant),
            [Some("top"), Some("region"), Some("ranks"), Some("region")]
        );
        assert_eq!(["x", "color", "depth"].map(meant), [None, None, None]);
    }

    #[test]
    fn errors_of_the_system_have_words_and_no_numbers() {
        let words = |number| SystemError(&io::Error::from_raw_os_error(number)).to_string();
        assert_eq!(words(libc::ENOSPC), "no space is left on the disk");
        assert_eq!(words(libc::EMFILE), "too many files are open in this process (ulimit -n)");
        assert_eq!(words(libc::EDOM), "Numerical argument out of domain", "the system's own words");
        for number in 1..134 {
            let words = words(number);
            assert!(!words.is_empty() && !words.contains("os error"), "{number}: {words}");
        }
        for kind in [ErrorKind::NotFound, ErrorKind::AlreadyExists, ErrorKind::PermissionDenied] {
            let words = SystemError(&kind.into()).to_string();
            assert!(!words.contains("entity"), "{words}");
        }
        let error = io::Error::new(ErrorKind::NotFound, "the words of who made it");
        assert_eq!(SystemError(&error).to_string(), "the words of who made it");
    }

    #[test]
    fn numbers_have_groups_of_three_digits() {
        let texts = [0, 7, 999, 1000, 12_345, 1_002_003, u64::MAX].map(|number| GroupedNumber(number).to_string());
        assert_eq!(texts, ["0", "7", "999", "1,000", "12,345", "1,002,003", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn nouns_agree_with_their_numbers() {
        let texts = [0, 1, 2, 1200].map(|number| CountedNoun(number, "rank").to_string());
        assert_eq!(texts, ["0 ranks", "1 rank", "2 ranks", "1,200 ranks"]);
    }

    #[test]
    fn times_have_three_or_four_digits_and_a_unit() {
        assert_eq!(format_seconds(12.294), "12.29 s");
        assert_eq!(format_seconds(1234.5), "1234 s");
        assert_eq!(format_seconds(0.0421), "42.10 ms");
        assert_eq!(format_seconds(0.0), "0.00 s");
        assert_eq!(TimeUnit::for_max(12.0).number(0.5), "0.50");
        assert_eq!(TimeUnit::for_max(2e-6).number(5e-7), "0.500");
    }

    #[test]
    fn times_of_a_sentence_have_one_unit_where_they_fit_in_it() {
        assert_eq!(seconds_like(0.0421, 1.2), "0.04 s");
        assert_eq!(seconds_like(0.0021, 1.2), "2.10 ms", "no 0.00 s");
        assert_eq!(seconds_like(-0.0021, 1.2), "-2.10 ms");
        assert_eq!(seconds_like(0.0, 1.2), "0.00 s");
        assert_eq!(seconds_like(-0.0, 1.2), "0.00 s");
        assert_eq!(seconds_like(1.2558e-3, 0.9e-3), "1.26 ms", "no 1255.8 µs");
        assert_eq!(seconds_like(1e-12, 1e-12), "0.00 µs");
    }
}
