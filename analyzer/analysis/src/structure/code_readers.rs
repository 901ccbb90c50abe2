//! Has files with code read by processes of their own, so that a hostile one costs its names at most.
//!
//! Debug information can be made so that whoever reads it overflows its stack, fills the memory or computes for hours: functions inlined into one another a
//! million times, a million ranges for each of a million functions. Its readers cannot know that in advance, but the system can stop a process.
//! So a report asks reader processes, each of which has a limit of memory and is given processor time for each request:
//!
//! ```text
//!   report ── request: file, addresses, time ──> reader process
//!          <── answer: functions and lines ───── (or it ends: the file is given up, and the next one has a new process)
//! ```
//!
//! Without a program to start ([`CodeReaders::default`]), as in tests, or where the system starts none, files are read in this process.

use std::collections::HashMap;
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bincode::{Decode, Encode};

use super::code_place::SourcePosition;
use super::sources::{NamedCall, SymbolSources};
use super::time_budget::thread_time;

/// The processor time that the frames of the source at one address may take.
const POSITION_LIMIT: Duration = Duration::from_secs(8);

/// A file with code, and the build id that it had in the run (empty: not known).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
struct CodeFile {
    path: String,
    build_id: Vec<u8>,
}

#[derive(Debug, Encode, Decode)]
enum ReadRequest {
    /// The names of the calls that end at these addresses, within so much processor time; without `has_lines` from the symbol tables alone.
    Names { file: CodeFile, addresses: Vec<u64>, limit: Duration, has_lines: bool },
    /// The frames of the source at an address.
    Position { file: CodeFile, address: u64 },
}

#[derive(Debug, Encode, Decode)]
enum ReadAnswer {
    /// And the processor time that they took.
    Names(FileNames, Duration),
    Position(SourcePosition),
}

/// The names of calls in a file.
#[derive(Debug, Encode, Decode)]
pub(super) enum FileNames {
    /// Calls at the requested addresses, and the faults that kept others from being found.
    Found { calls: Vec<NamedCall>, faults: Vec<String> },
    /// The process took too long.
    Late,
    /// The file is not the one of the run.
    Changed,
    /// Its debug information is damaged, or made so that it cannot be read.
    Damaged,
}

/// The readers of files with code: this process, or others.
#[derive(Clone, Debug, Default)]
pub struct CodeReaders(Option<Arc<ReaderPool>>);

#[derive(Debug)]
struct ReaderPool {
    command: fn() -> Command,
    /// Processes that have nothing to read at the moment.
    idle: Mutex<Vec<ReaderProcess>>,
}

/// A process that answers requests on its standard input.
#[derive(Debug)]
struct ReaderProcess {
    child: Child,
    requests: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// A file that a reader process reads.
pub(super) struct FileReader {
    file: CodeFile,
    pool: Option<Arc<ReaderPool>>,
    /// Results that were read in this process.
    here: OpenFiles,
    /// True if a process has ended that read it.
    is_given_up: bool,
}

/// Files whose frames of the source were asked for.
#[derive(Default)]
struct OpenFiles(HashMap<CodeFile, Option<SymbolSources>>);

impl CodeReaders {
    /// Has files read by processes that `command` starts and that call [`serve`].
    pub fn apart(command: fn() -> Command) -> CodeReaders {
        CodeReaders(Some(Arc::new(ReaderPool { command, idle: Mutex::default() })))
    }

    /// Returns the file at `path`, which is not yet read.
    pub(super) fn open(&self, path: &str, build_id: &[u8]) -> FileReader {
        let file = CodeFile { path: path.to_owned(), build_id: build_id.to_owned() };
        FileReader { file, pool: self.0.clone(), here: OpenFiles::default(), is_given_up: false }
    }
}

impl FileReader {
    /// Returns the names of the calls that end at `addresses`, and the processor time that they took: `limit` and a little more at most. Where the debug
    /// information ends the process that reads it, or keeps it for too long, they are those of the symbol tables.
    pub(super) fn names(&mut self, addresses: Vec<u64>, limit: Duration) -> (FileNames, Duration) {
        let [with_lines, without] = [true, false].map(|has_lines| {
            let (file, addresses) = (self.file.clone(), addresses.clone());
            ReadRequest::Names { file, addresses, limit, has_lines }
        });
        let (fault, taken) = match self.ask(&with_lines) {
            Ok(ReadAnswer::Names(names, taken)) => return (names, taken),
            Err(ProcessEnd::OutOfTime) => ("takes too long to read", limit),
            Ok(ReadAnswer::Position(_)) | Err(ProcessEnd::Other) => {
                ("is damaged, or made so that it cannot be read", Duration::ZERO)
            }
        };
        let Ok(ReadAnswer::Names(mut names, _)) = self.ask_anew(&without) else { return (FileNames::Damaged, taken) };
        if let FileNames::Found { faults, .. } = &mut names {
            faults.push(format!("{}: its debug information {fault}: no lines of it are shown", self.file.path));
        }
        (names, taken)
    }

    /// Returns the frames of the source at an address, the innermost first; empty where nothing is known.
    pub(super) fn position(&mut self, address: u64) -> SourcePosition {
        match self.ask(&ReadRequest::Position { file: self.file.clone(), address }) {
            Ok(ReadAnswer::Position(position)) => position,
            _ => SourcePosition::new(),
        }
    }

    /// Returns the answer to a request, or how the process ended that read the file, now or before.
    fn ask(&mut self, request: &ReadRequest) -> Result<ReadAnswer, ProcessEnd> {
        if self.is_given_up {
            return Err(ProcessEnd::Other);
        }
        let answer = self.ask_anew(request);
        self.is_given_up = answer.is_err();
        answer
    }

    /// Asks like [`FileReader::ask`], even if a process has ended before.
    fn ask_anew(&mut self, request: &ReadRequest) -> Result<ReadAnswer, ProcessEnd> {
        let Some(pool) = &self.pool else { return Ok(self.here.answer(request, &|_| {})) };
        let Some(mut process) = pool.take() else {
            // None can be started now; the next request need not try.
            self.pool = None;
            return Ok(self.here.answer(request, &|_| {}));
        };
        let Some(answer) = process.ask(request) else { return Err(process.end()) };
        pool.put_back(process);
        Ok(answer)
    }
}

/// The end of a process that has not answered.
enum ProcessEnd {
    OutOfTime,
    Other,
}

impl ReaderPool {
    fn take(&self) -> Option<ReaderProcess> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.or_else(|| ReaderProcess::start((self.command)()))
    }

    fn put_back(&self, process: ReaderProcess) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }
}

impl ReaderProcess {
    fn start(mut command: Command) -> Option<ReaderProcess> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let (requests, answers) = (child.stdin.take()?, child.stdout.take()?);
        Some(ReaderProcess { child, requests: BufWriter::new(requests), answers: BufReader::new(answers) })
    }

    /// Returns the answer to a request, or `None` if the process has ended.
    fn ask(&mut self, request: &ReadRequest) -> Option<ReadAnswer> {
        bincode::encode_into_std_write(request, &mut self.requests, bincode::config::standard()).ok()?;
        self.requests.flush().ok()?;
        bincode::decode_from_std_read(&mut self.answers, bincode::config::standard()).ok()
    }

    /// Waits for the process, and returns the way in which it ended.
    fn end(mut self) -> ProcessEnd {
        const SIGXCPU: i32 = 24;
        drop(self.requests);
        match self.child.wait() {
            Ok(status) if status.signal() == Some(SIGXCPU) => ProcessEnd::OutOfTime,
            _ => ProcessEnd::Other,
        }
    }
}

impl Drop for ReaderPool {
    fn drop(&mut self) {
        for process in self.idle.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = process.end();
        }
    }
}

impl OpenFiles {
    /// Answers a request; before, `allow` is given the processor time that this may take.
    fn answer(&mut self, request: &ReadRequest, allow: &dyn Fn(Duration)) -> ReadAnswer {
        match request {
            ReadRequest::Names { file, addresses, limit, has_lines } => {
                allow(*limit);
                let begin = thread_time();
                let names = catch_unwind(|| file.names(addresses, *limit, *has_lines)).unwrap_or(FileNames::Damaged);
                ReadAnswer::Names(names, thread_time().saturating_sub(begin))
            }
            ReadRequest::Position { file, address } => {
                allow(POSITION_LIMIT);
                // Debug information may be damaged in ways that its reader does not expect.
                let found = catch_unwind(AssertUnwindSafe(|| {
                    let sources = self.0.entry(file.clone()).or_insert_with(|| file.open(&[], true));
                    sources.as_ref().map(|sources| sources.position(*address))
                }));
                ReadAnswer::Position(found.ok().flatten().unwrap_or_default())
            }
        }
    }
}

impl CodeFile {
    /// Opens the symbols of the file, with the names of functions at `addresses`. Returns `None` if it is not the file of the run.
    fn open(&self, addresses: &[u64], has_lines: bool) -> Option<SymbolSources> {
        SymbolSources::open(Path::new(&self.path), &self.build_id, addresses, has_lines)
    }

    fn names(&self, addresses: &[u64], limit: Duration, has_lines: bool) -> FileNames {
        let begin = thread_time();
        let Some(sources) = self.open(addresses, has_lines) else { return FileNames::Changed };
        let mut calls = Vec::with_capacity(addresses.len());
        for &address in addresses {
            if thread_time().saturating_sub(begin) >= limit {
                return FileNames::Late;
            }
            calls.push(sources.named_call(address));
        }
        FileNames::Found { calls, faults: sources.faults }
    }
}

/// Answers the requests of a report until it has no more: what a process of [`CodeReaders::apart`] does. `allow` is given the processor time that the
/// process may take from then on.
pub fn serve(requests: impl Read, answers: impl Write, allow: impl Fn(Duration)) {
    let (mut requests, mut answers) = (BufReader::new(requests), BufWriter::new(answers));
    let mut files = OpenFiles::default();
    let config = bincode::config::standard();
    while let Ok(request) = bincode::decode_from_std_read(&mut requests, config) {
        let answer = files.answer(&request, &allow);
        let is_written = bincode::encode_into_std_write(&answer, &mut answers, config).is_ok();
        if !is_written || answers.flush().is_err() {
            return;
        }
    }
}
