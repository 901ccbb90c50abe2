//! Has files with code read by a separate process, so that a hostile one costs its lines and names at most.
//!
//! Debug information can be made to overflow its reader's stack, fill the memory or take hours: functions inlined into one another a million
//! times, a million ranges for each of a million functions. Readers cannot know this in advance, but the system can stop a process. So a
//! report asks one worker process for all files. It has a memory limit and is given processor time for each request:
//!
//! ```text
//!   report ── request: file, addresses, time ──> worker process
//!          <── answer: functions and lines ───── (or it ends: the file is given up, and the next one has a new process)
//! ```
//!
//! Without a program to start ([`CodeReaders::default`]), as in tests, files are read in this process.

use std::collections::HashMap;
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bincode::{Decode, Encode};
use rustix::time::{ClockId, clock_gettime};

use super::code_place::SourcePosition;
use super::sources::{NamedCall, SymbolSources};

/// The processor time that the frames of the source at one address may take.
const POSITION_LIMIT: Duration = Duration::from_secs(8);

/// The fault of debug information that panics or ends its reader.
const DAMAGED: &str = "is damaged, or made so that it cannot be read";

/// A file with code, and the build id that it had in the run, or an empty one if it is not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
struct CodeFile {
    path: String,
    build_id: Vec<u8>,
}

/// A request for the names of the calls that end at these addresses.
#[derive(Debug, Encode, Decode)]
struct ReadRequest {
    file: CodeFile,
    addresses: Vec<u64>,
    /// The maximum processor time.
    limit: Duration,
    /// False if only the symbol tables are to be read.
    has_lines: bool,
    /// True if the frames of the source alone matter, so that the file may be open from an earlier request.
    is_reused: bool,
}

type ReadAnswer = (FileNames, Duration);

#[derive(Debug, Encode, Decode)]
pub(super) enum FileNames {
    /// Calls at the requested addresses, and the faults that kept others from being found.
    Found {
        calls: Vec<NamedCall>,
        faults: Vec<String>,
    },
    Changed,
    /// Neither its debug information nor its symbol tables could be read, for this reason.
    Unread(String),
}

/// The readers of files with code: this process, or a worker.
#[derive(Clone, Debug, Default)]
pub struct CodeReaders(Option<Arc<CodeWorker>>);

/// The process that reads all files. It starts with the first request, and again after it has ended.
#[derive(Debug)]
struct CodeWorker {
    command: fn() -> Command,
    running: Mutex<Option<WorkerProcess>>,
}

#[derive(Debug)]
struct WorkerProcess {
    child: Child,
    requests: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

pub(in crate::structure) struct FileReader {
    file: CodeFile,
    worker: Option<Arc<CodeWorker>>,
    here: OpenFiles,
    /// The reason why its debug information is read no more.
    fault: Option<&'static str>,
}

#[derive(Default)]
struct OpenFiles(HashMap<CodeFile, Option<SymbolSources>>);

impl CodeReaders {
    /// Has files read by a process that `command` starts and that calls [`answer_requests`].
    pub fn apart(command: fn() -> Command) -> CodeReaders {
        CodeReaders(Some(Arc::new(CodeWorker { command, running: Mutex::default() })))
    }

    pub(in crate::structure) fn open(&self, path: &str, build_id: &[u8]) -> FileReader {
        let file = CodeFile { path: path.to_owned(), build_id: build_id.to_owned() };
        FileReader { file, worker: self.0.clone(), here: OpenFiles::default(), fault: None }
    }
}

impl FileReader {
    /// Returns the names of the calls that end at `addresses`, and the processor time that they took. If the debug information ends the process
    /// that reads it, or takes too long, this is all of `limit`, and the names come from the symbol tables.
    pub(super) fn names(&mut self, addresses: Vec<u64>, limit: Duration) -> (FileNames, Duration) {
        let file = self.file.clone();
        let mut request = ReadRequest { file, addresses, limit, has_lines: true, is_reused: false };
        let fault = match self.ask(&request) {
            Ok(answer) => return answer,
            Err(fault) => fault,
        };
        request.has_lines = false;
        let mut names =
            self.ask_anew(&request).map_or_else(|_| FileNames::Unread(fault.to_owned()), |(names, _)| names);
        if let FileNames::Found { faults, .. } = &mut names {
            faults.push(format!("{}: its debug information {fault}: no lines of it are shown", self.file.path));
        }
        (names, limit)
    }

    /// Returns the frames of the source at an address, the innermost first; empty if nothing is known.
    pub(in crate::structure) fn position(&mut self, address: u64) -> SourcePosition {
        let (file, addresses) = (self.file.clone(), vec![address]);
        let request = ReadRequest { file, addresses, limit: POSITION_LIMIT, has_lines: true, is_reused: true };
        match self.ask(&request) {
            Ok((FileNames::Found { mut calls, .. }, _)) => calls.pop().map(|call| call.position).unwrap_or_default(),
            _ => SourcePosition::new(),
        }
    }

    /// Returns the answer to a request, or the fault of a file that has ended the worker, now or before.
    fn ask(&mut self, request: &ReadRequest) -> Result<ReadAnswer, &'static str> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let answer = self.ask_anew(request);
        self.fault = answer.as_ref().err().copied();
        answer
    }

    /// Asks like [`FileReader::ask`], even if the file has ended the worker before.
    fn ask_anew(&mut self, request: &ReadRequest) -> Result<ReadAnswer, &'static str> {
        match &self.worker {
            Some(worker) => worker.ask(request),
            None => Ok(self.here.answer(request, &|_| {})),
        }
    }
}

impl CodeWorker {
    /// Returns the answer to a request, or the fault that the file has if the process has ended over it.
    fn ask(&self, request: &ReadRequest) -> Result<ReadAnswer, &'static str> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = running.take().or_else(|| WorkerProcess::start((self.command)()));
        let mut process = idle.ok_or("is not read, because the system starts no process for it")?;
        let Some(answer) = process.ask(request) else { return Err(process.end()) };
        *running = Some(process);
        Ok(answer)
    }
}

impl WorkerProcess {
    fn start(mut command: Command) -> Option<WorkerProcess> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let (requests, answers) = (child.stdin.take()?, child.stdout.take()?);
        Some(WorkerProcess { child, requests: BufWriter::new(requests), answers: BufReader::new(answers) })
    }

    /// Returns the answer to a request, or `None` if the process has ended.
    fn ask(&mut self, request: &ReadRequest) -> Option<ReadAnswer> {
        bincode::encode_into_std_write(request, &mut self.requests, bincode::config::standard()).ok()?;
        self.requests.flush().ok()?;
        bincode::decode_from_std_read(&mut self.answers, bincode::config::standard()).ok()
    }

    /// Waits for the end of the process, and returns the fault of the file that it has read last.
    fn end(mut self) -> &'static str {
        const SIGXCPU: i32 = 24;
        drop(self.requests);
        match self.child.wait() {
            Ok(status) if status.signal() == Some(SIGXCPU) => "takes too long to read",
            _ => DAMAGED,
        }
    }
}

impl Drop for CodeWorker {
    fn drop(&mut self) {
        if let Some(process) = self.running.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            process.end();
        }
    }
}

impl OpenFiles {
    /// Answers a request. Calls `allow` first, with the processor time that it may take.
    fn answer(&mut self, request: &ReadRequest, allow: &dyn Fn(Duration)) -> ReadAnswer {
        allow(request.limit);
        let begin = thread_time();
        // The reader panics on some damaged files.
        let names = catch_unwind(AssertUnwindSafe(|| self.names(request)));
        let names = names.unwrap_or_else(|_| FileNames::Unread(DAMAGED.to_owned()));
        (names, thread_time().saturating_sub(begin))
    }

    fn names(&mut self, request: &ReadRequest) -> FileNames {
        let ReadRequest { file, addresses, has_lines, is_reused, .. } = request;
        if !is_reused || !self.0.contains_key(file) {
            let sources = SymbolSources::open(Path::new(&file.path), &file.build_id, addresses, *has_lines);
            self.0.insert(file.clone(), sources);
        }
        let Some(sources) = self.0.get(file).and_then(Option::as_ref) else { return FileNames::Changed };
        let calls = addresses.iter().map(|&address| sources.named_call(address)).collect();
        FileNames::Found { calls, faults: sources.faults.clone() }
    }
}

fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Answers the requests of a report until it has no more, in the process of [`CodeReaders::apart`]. Calls `allow` with the processor time that the
/// process may take from then on.
pub fn answer_requests(requests: impl Read, answers: impl Write, allow: impl Fn(Duration)) {
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
