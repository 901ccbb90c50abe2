//! `lb-report`: lb-report in one process.

use std::process::ExitCode;

use lb_report::code_reader;
use lb_report::command_line::{parse_arguments, run_command};
use lb_report::limits::raise_open_files;

fn main() -> ExitCode {
    if let Some(exit) = code_reader::serve_if_asked() {
        return exit;
    }
    raise_open_files();
    parse_arguments(true).map_or_else(|exit| exit, |arguments| run_command(&arguments)).into()
}
