//! The command line: one option for each setting that has a flag, then the program.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use clap_complete::Shell;
use lbprof_collector::options::{RecorderSetting, SETTINGS};
use lbprof_collector::words::{SystemError, explain_unknown_option};

use crate::launch_exit::LaunchExit;
use crate::messages::print_message;
use crate::shell::{self, SettingValueParser};

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

  Completion of options in bash; the manual:
      source <(lb-run --completions bash)
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
  1    the manual or completions could not be printed
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
    command.arg(report).args(about_itself()).arg(
        Arg::new("command")
            .value_name("PROGRAM")
            .help("The program and its arguments")
            .num_args(1..)
            .required(true)
            .trailing_var_arg(true)
            .value_hint(ValueHint::CommandWithArguments)
            .value_parser(value_parser!(OsString)),
    )
}

/// Returns the options with which no program is run: lb-run prints about itself.
fn about_itself() -> [Arg; 2] {
    [
        Arg::new("completions")
            .long("completions")
            .value_name("SHELL")
            .help("Print a completion script for this shell")
            .value_parser(value_parser!(Shell))
            .exclusive(true),
        Arg::new("man").long("man").help("Print the manual in man format").action(ArgAction::SetTrue).exclusive(true),
    ]
}

/// Returns the settings that are options here, with their names.
fn setting_flags() -> impl Iterator<Item = (&'static RecorderSetting, &'static str)> {
    SETTINGS.iter().filter_map(|setting| Some((setting, setting.flag?)))
}

fn setting_option(setting: &'static RecorderSetting, flag: &'static str) -> Arg {
    let RecorderSetting { name, default, values, meaning, .. } = setting;
    let parser = SettingValueParser(setting);
    let arg = Arg::new(flag).long(flag).action(ArgAction::Set).hide_possible_values(true).value_parser(parser);
    if *values == "0 | 1" {
        // A switch; --verbose=0 undoes an exported LBPROF_VERBOSE=1.
        let arg = arg.short(flag.chars().next()).num_args(0..=1).require_equals(true).default_missing_value("1");
        return arg.value_name("0|1").help(format!("{meaning} [{name}]"));
    }
    arg.value_name("VALUE")
        .help(format!("{meaning} [default: {default}]"))
        .long_help(format!("{meaning}\nValues: {values} [default: {default}] [{name}]"))
        .value_hint(if *name == "LBPROF_DIR" { ValueHint::DirPath } else { ValueHint::Unknown })
}

/// Options of launchers that take a value, as the number of ranks.
const LAUNCHER_VALUES: &str = "-n -np --np -N -c -H -host --host -hosts -hostfile --hostfile -machinefile -f -ppn -npernode \
     --map-by --bind-to -x -p --partition --ntasks --nodes";
/// Options of launchers that stand alone.
const LAUNCHER_SWITCHES: [&str; 4] = ["--oversubscribe", "--allow-run-as-root", "--exclusive", "-l"];

/// Returns the command that was meant if options of a launcher were given to lb-run: `lb-run -n 4 ./app` is `mpirun -n 4 lb-run ./app`.
fn right_order(arguments: &[OsString]) -> Option<String> {
    let given: Vec<String> = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let (mut of_launcher, mut own) = (Vec::new(), Vec::new());
    let mut rest = given.into_iter();
    while let Some(word) = rest.next() {
        let name = word.split('=').next().unwrap_or_default();
        let takes_value = LAUNCHER_VALUES.split(' ').any(|known| known == name);
        if takes_value || LAUNCHER_SWITCHES.contains(&name) {
            let is_value_next = takes_value && name == word;
            of_launcher.push(word);
            if is_value_next {
                of_launcher.extend(rest.next());
            }
        } else if let Some(flag) = word.strip_prefix("--") {
            // One of lb-run's own, with its value.
            let has_value = !flag.contains('=')
                && setting_flags().any(|(setting, known)| known == flag && setting.values != "0 | 1");
            own.push(word);
            if has_value {
                own.extend(rest.next());
            }
        } else {
            own.push(word);
            own.extend(rest.by_ref());
        }
    }
    let is_mistaken = !of_launcher.is_empty();
    let words = ["mpirun".to_owned()].into_iter().chain(of_launcher).chain(["lb-run".to_owned()]).chain(own);
    is_mistaken.then(|| words.collect::<Vec<_>>().join(" "))
}

/// Explains that an option does not exist, and which one was meant, or returns `None` for other errors. The parser's own advice, to pass the word on as a
/// value, helps few users.
fn explain_unknown(error: &clap::Error, command: &Command) -> Option<String> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let names: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    explain_unknown_option(option, &names, "lb-run")
}

/// Reads the command line. Reports help, version and mistakes; the error is the code to end with.
pub fn parse_command_line(arguments: impl Iterator<Item = OsString>) -> Result<LaunchOptions, LaunchExit> {
    let arguments: Vec<OsString> = arguments.collect();
    let mut matches = command_grammar().try_get_matches_from(&arguments).map_err(|error| {
        match right_order(&arguments).filter(|_| error.use_stderr()) {
            Some(order) => {
                print_message(format_args!(
                    "options of the launcher belong before lb-run, which runs one rank: {order}"
                ));
            }
            None => match explain_unknown(&error, &command_grammar()) {
                Some(message) => print_message(format_args!("{message}")),
                None => drop(error.print()),
            },
        }
        if error.use_stderr() { LaunchExit::Usage } else { LaunchExit::Good }
    })?;
    if let Some(printed) = print_about_itself(&mut matches) {
        let printed =
            printed.inspect_err(|error| print_message(format_args!("standard output: {}", SystemError(error))));
        return Err(if printed.is_ok() { LaunchExit::Good } else { LaunchExit::Unwritten });
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

/// Prints the requested text about lb-run itself, or returns `None` if a program is to be run.
fn print_about_itself(matches: &mut ArgMatches) -> Option<std::io::Result<()>> {
    if let Some(shell) = matches.remove_one("completions") {
        return Some(shell::print_completions(command_grammar(), shell));
    }
    matches.get_flag("man").then(|| shell::print_manual(command_grammar()))
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
    fn options_of_the_launcher_are_put_where_they_belong() {
        let order = |line: &str| right_order(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(order("lb-run -n 4 ./app -n 3").unwrap(), "mpirun -n 4 lb-run ./app -n 3");
        assert_eq!(
            order("lb-run --mode profile --oversubscribe -np 4 -v ./app").unwrap(),
            "mpirun --oversubscribe -np 4 lb-run --mode profile -v ./app"
        );
        assert_eq!(order("lb-run --mod profile ./app"), None);
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
