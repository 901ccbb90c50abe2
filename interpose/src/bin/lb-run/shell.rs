//! Completions for shells and the manual page of lb-run.

use std::ffi::OsStr;
use std::io::{self, Write};

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use clap_complete::Shell;
use lbprof_collector::options::RecorderSetting;

/// Prints a shell's completion script.
///
/// Errors: standard output cannot be written.
pub fn print_completions(mut command: Command, shell: Shell) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "lb-run", &mut script);
    print_bytes(&script)
}

/// Prints the manual in the format of `man`.
///
/// Errors: standard output cannot be written.
pub fn print_manual(command: Command) -> io::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    print_bytes(&page)
}

fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
}

/// Accepts the values that the recorder would accept for a setting, and lists its words for shells.
#[derive(Clone, Copy)]
pub struct SettingValueParser(pub &'static RecorderSetting);

impl TypedValueParser for SettingValueParser {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let SettingValueParser(setting) = *self;
        let accepted = StringValueParser::new().try_map(move |value| match setting.accepts(&value) {
            true => Ok(value),
            false => Err(format!("expected {}", setting.values)),
        });
        accepted.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let SettingValueParser(setting) = *self;
        let words = setting.values.split(" | ");
        let is_plain = words.clone().all(|word| word.chars().all(|c| c.is_ascii_alphanumeric()));
        let choice = is_plain && words.clone().count() > 1;
        choice.then(|| Box::new(words.map(PossibleValue::new)) as Box<dyn Iterator<Item = PossibleValue>>)
    }
}
