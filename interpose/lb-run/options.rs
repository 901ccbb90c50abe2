//! The command line: one option for each setting that has a flag, then the program.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, value_parser};
use lbprof_collector::options::{RecorderSetting, SETTINGS};
use lbprof_collector::words::{SystemError, explain_unknown_option};

use crate::launch_exit::LaunchExit;
use crate::messages::print_message;

/// The options on the command line.
pub struct LaunchOptions {
    /// Variables to set for the program.
    pub settings: Vec<(OsString, OsString)>,
    /// The program and its arguments; never empty.
    pub command: Vec<OsString>,
    /// True if the report's first screen is printed when the program has ended.
    pub reports: bool,
}

const EXAMPLES: &str = "\
EXAMPLES
  Record a run, then read its report:
      mpirun -n 4 lb-run ./app input.dat
      lb-report

  On a cluster, with the logs on a file system that all nodes share:
      srun -N 16 lb-run --dir /scratch/$USER/lbprof-%j ./app input.dat

  A long run: record only the profile of its phases, a few megabytes in total:
      mpirun -n 4096 lb-run --mode profile ./app

  Every call, but only on every 64th rank:
      srun lb-run --ranks 0-4095:64 ./app

  The report as soon as the program has ended:
      mpirun -n 4 lb-run --report ./app

  A script, or Python:
      mpirun -n 4 lb-run python3 app.py

  The manual:
      lb-run --man | man -l -

PLACEMENT
  After the launcher, before the program: the launcher starts lb-run on every rank, and lb-run
  keeps everything that the launcher sets for the ranks. The program is not changed and needs no
  special build, but it must be linked dynamically with its MPI library.

SETTINGS
  Each option sets the environment variable named with it. Without the option, lbprof uses the
  variable's value, if it is set:
      export LBPROF_MODE=profile

EXIT CODES
  the program's own exit code; or
  1    the manual could not be printed
  2    the command line was wrong
  125  liblbprof.so was not found; set LBPROF_LIBRARY=/path/to/liblbprof.so
  126  the program was found but cannot be executed
  127  the program was not found";

/// Makes the command line's grammar from the table of settings.
fn command_grammar() -> Command {
    let mut command = Command::new("lb-run")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Records one rank of an MPI program for lb-report.")
        .override_usage("<launcher> lb-run [OPTIONS] PROGRAM [ARGUMENTS]…")
        .after_help("--help adds the values of options, examples and exit codes.")
        .after_long_help(EXAMPLES)
        .max_term_width(100);
    for (setting, flag) in setting_flags() {
        command = command.arg(setting_option(setting, flag));
    }
    let report = Arg::new("report")
        .long("report")
        .help("Print the report's first screen on standard error when the program has ended")
        .long_help(
            "Print the report's first screen on standard error when the program has ended.\nlb-run of the first rank then stays as the program's \
             parent: it passes on signals and the exit code, and waits up to 5 seconds for the logs of other ranks.",
        )
        .action(ArgAction::SetTrue);
    let manual =
        Arg::new("man").long("man").help("Print the manual in man format").action(ArgAction::SetTrue).exclusive(true);
    command.arg(report).arg(manual).arg(
        Arg::new("command")
            .value_name("PROGRAM")
            .help("The program and its arguments")
            .num_args(1..)
            .required(true)
            .trailing_var_arg(true)
            .value_parser(value_parser!(OsString)),
    )
}

/// Returns the settings that are options here, with their names.
fn setting_flags() -> impl Iterator<Item = (&'static RecorderSetting, &'static str)> {
    SETTINGS.iter().filter_map(|setting| Some((setting, setting.flag?)))
}

fn setting_option(setting: &'static RecorderSetting, flag: &'static str) -> Arg {
    let RecorderSetting { name, default, values, meaning, .. } = setting;
    let arg = Arg::new(flag).long(flag).action(ArgAction::Set).value_parser(move |value: &str| {
        if setting.accepts(value) { Ok(value.to_owned()) } else { Err(format!("expected {values}")) }
    });
    if *values == "0 | 1" {
        // A switch; --verbose=0 undoes an exported LBPROF_VERBOSE=1.
        let arg = arg.short(flag.chars().next()).num_args(0..=1).require_equals(true).default_missing_value("1");
        return arg.value_name("0|1").help(format!("{meaning} [{name}]"));
    }
    arg.value_name("VALUE")
        .help(format!("{meaning} [default: {default}]"))
        .long_help(format!("{meaning}\nValues: {values} [default: {default}] [{name}]"))
}

/// Options of launchers.
const LAUNCHER_OPTIONS: &str = "-n -np --np -N -c -H -host --host -hosts -hostfile --hostfile -machinefile -f -ppn -npernode \
     --map-by --bind-to -x -p --partition --ntasks --nodes --oversubscribe --allow-run-as-root --exclusive -l";

/// Explains that an option does not exist, and which one was meant, or returns `None` for other errors. The parser's own advice, to pass the word on as a
/// value, helps few users.
fn explain_unknown(error: &clap::Error, command: &Command) -> Option<String> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    if LAUNCHER_OPTIONS.split(' ').any(|known| known == option) {
        return Some(format!(
            "{option} is an option of launchers, which belong before lb-run: mpirun -n 4 lb-run ./app"
        ));
    }
    let names: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    explain_unknown_option(option, &names, "lb-run")
}

/// Reads the command line. Reports help, version and mistakes; the error is the code to end with.
pub fn parse_command_line(arguments: impl Iterator<Item = OsString>) -> Result<LaunchOptions, LaunchExit> {
    let mut matches = command_grammar().try_get_matches_from(arguments).map_err(|error| {
        match explain_unknown(&error, &command_grammar()) {
            Some(message) => print_message(format_args!("{message}")),
            None => drop(error.print()),
        }
        if error.use_stderr() { LaunchExit::Usage } else { LaunchExit::Good }
    })?;
    if matches.get_flag("man") {
        return Err(match print_manual() {
            Ok(()) => LaunchExit::Good,
            Err(error) => {
                print_message(format_args!("standard output: {}", SystemError(&error)));
                LaunchExit::Unwritten
            }
        });
    }
    let given = setting_flags().filter_map(|(setting, flag)| {
        let value = matches.remove_one::<String>(flag)?;
        Some((setting.name.into(), value.into()))
    });
    let settings = given.collect();
    let reports = matches.get_flag("report");
    let command = matches.remove_many("command").map(Iterator::collect).unwrap_or_default();
    Ok(LaunchOptions { settings, command, reports })
}

/// Prints the manual in the format of `man`.
fn print_manual() -> io::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command_grammar()).render(&mut page)?;
    let mut out = io::stdout().lock();
    out.write_all(&page).and_then(|()| out.flush())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    fn parsed(line: &str) -> LaunchOptions {
        parse_command_line(line.split(' ').map(OsString::from)).ok().unwrap()
    }

    #[test]
    fn the_grammar_is_sound() {
        command_grammar().debug_assert();
    }

    #[test]
    fn options_end_where_the_program_begins() {
        let options = parsed("lb-run --mode profile -v ./app --mode events -v --help -- x");
        let set: Vec<_> =
            options.settings.iter().map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap())).collect();
        assert_eq!(set, [("LBPROF_MODE", "profile"), ("LBPROF_VERBOSE", "1")]);
        assert_eq!(options.command, ["./app", "--mode", "events", "-v", "--help", "--", "x"]);
    }

    #[test]
    fn mistyped_options_are_recognised() {
        let explained = |line: &str| {
            let error = command_grammar().try_get_matches_from(line.split(' ')).unwrap_err();
            explain_unknown(&error, &command_grammar())
        };
        assert_eq!(explained("lb-run --dri x ./app").unwrap(), "there is no option --dri; did you mean --dir?");
        let strange = explained("lb-run --strange ./app").unwrap();
        assert_eq!(strange, "there is no option --strange; lb-run --help shows those that there are");
        assert!(explained("lb-run --mode profile -np 4 ./app").unwrap().starts_with("-n is an option of launchers"));
        assert_eq!(explained("lb-run --mode all ./app"), None);
    }

    #[test]
    fn two_dashes_end_the_options_and_are_not_passed_on() {
        assert_eq!(parsed("lb-run --verbose=0 -- -strange name").command, ["-strange", "name"]);
    }

    #[test]
    fn what_the_recorder_would_refuse_is_refused() {
        for line in ["lb-run --mode all ./app", "lb-run --buffer 1K ./app", "lb-run --ranks 3-1 ./app", "lb-run"] {
            assert_eq!(
                parse_command_line(line.split(' ').map(OsString::from)).err(),
                Some(LaunchExit::Usage),
                "{line}"
            );
        }
    }
}
