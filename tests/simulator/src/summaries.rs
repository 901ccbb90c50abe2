//! Logs that end with summaries: those of any run, written again as a recorder would that had summed it up.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::{LogHeader, rank_of_log};
use lbprof_collector::polling::{PollGapClassifier, PollGapLimits, PollGapRule};
use lbprof_collector::reader::{LogItem, LogReader};
use lbprof_collector::summary::SummarySums;
use lbprof_collector::writer::LogWriter;
use lbprof_collector::{Definition, ProblemKind};

struct Thread {
    /// `None`: its records were summed up when they were recorded.
    fold: Option<ProfileFold>,
    sums: SummarySums,
}

/// Writes the log of each rank of the run in `folder` again, with the summaries of its threads, which keep so many iterations, and the index.
/// Logs of ranks that did not end by themselves, or are damaged, stay as they are. Gives how many were written.
///
/// Errors: what the system says.
pub fn sum_up(folder: &Path, most_iterations: usize) -> io::Result<usize> {
    let mut written = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if rank_of_log(&name).is_none() {
            continue;
        }
        if let Some(log) = summed_up(&fs::read(&path)?, most_iterations)? {
            fs::write(&path, log)?;
            written += 1;
        }
    }
    Ok(written)
}

/// The same log with summaries; `None` where it is not whole.
pub fn summed_up(log: &[u8], most_iterations: usize) -> io::Result<Option<Vec<u8>>> {
    let Ok(mut log) = LogReader::new(log) else { return Ok(None) };
    let header = log.header().clone();
    let mut writer = LogWriter::new(Vec::new(), &header)?;
    let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
    let mut has_end = false;
    while let Some(item) = log.next_item() {
        match item {
            LogItem::Definitions(definitions) => {
                has_end |= definitions.iter().any(|one| matches!(one, Definition::End(..)));
                writer.definitions(&definitions)?;
            }
            LogItem::Records { head, records } => {
                writer.records(&head, &records, |record| record.call_site)?;
                let thread = threads.entry(head.thread).or_insert_with(|| Thread::new(&header, most_iterations));
                thread.fold.get_or_insert_with(|| folding(&header, &head)).records(&records, |record| record.call_site);
            }
            LogItem::Profile(batch) => {
                writer.profile(&batch)?;
                let thread = threads.entry(batch.head.thread).or_insert_with(|| Thread::new(&header, most_iterations));
                thread.take();
                thread.sums.add(*batch);
            }
            LogItem::Samples { head, samples } => writer.samples(&head, &samples)?,
            // The number of lost samples is in the blocks of samples.
            LogItem::Problem(problem) if problem.kind == ProblemKind::SamplesLost => {}
            LogItem::Problem(_) => return Ok(None),
            LogItem::Summary(_) | LogItem::Polls(_) => {}
        }
    }
    for thread in threads.values_mut() {
        thread.take();
        let Some(summary) = thread.sums.take() else { return Ok(None) };
        writer.summary(&summary)?;
    }
    writer.index()?;
    Ok(has_end.then(|| writer.into_sink()))
}

/// A fold of what follows `head`, as the recorder's.
pub fn folding(header: &LogHeader, head: &lbprof_collector::format::BatchHead) -> ProfileFold {
    let polls = PollGapClassifier::new(PollGapRule::Auto, PollGapLimits::from_header(header), head.previous_end);
    ProfileFold::new(head.clone()).deciding(polls)
}

impl Thread {
    fn new(header: &LogHeader, most_iterations: usize) -> Self {
        Thread { fold: None, sums: SummarySums::new(header.run_id, header.rank, most_iterations) }
    }

    fn take(&mut self) {
        self.fold.take().into_iter().for_each(|mut fold| self.sums.add(fold.take()));
    }
}
