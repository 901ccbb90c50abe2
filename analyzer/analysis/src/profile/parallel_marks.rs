//! Sums of parallel regions by the markers of their instances, for a part of the time, and for regions that a killed process had not summed up.

use std::collections::BTreeMap;

use lbprof_collector::Record;
use lbprof_collector::format::BatchHead;
use lbprof_collector::parallel::{MAX_MEMBERS, MemberSums, ParallelSums, TeamTime};
use lbprof_collector::parallel_marks::{InstanceThread, OpenInstance, ParallelInstance};
use lbprof_collector::record::NONE;

use crate::read::span::TickSpan;

/// The key of sums: the thread that starts the region, its call site, the size of the team.
type SumsKey = (u32, u32, u32);

/// The sums of the instances with markers on a rank.
pub struct MarkedRegions {
    span: TickSpan,
    /// By thread: the number of its next record, and the instance that it is in, if any.
    threads: BTreeMap<u32, (u64, OpenInstance)>,
    sums: BTreeMap<SumsKey, ParallelSums>,
}

impl MarkedRegions {
    pub fn new(span: TickSpan) -> MarkedRegions {
        MarkedRegions { span, threads: BTreeMap::new(), sums: BTreeMap::new() }
    }

    pub fn records(&mut self, head: &BatchHead, records: &[Record]) {
        let (next, open) = self.threads.entry(head.thread).or_default();
        if *next != head.first {
            *open = OpenInstance::default();
        }
        *next = head.first.saturating_add(records.len() as u64);
        for record in records.iter().filter(|record| record.marks_parallel_region()) {
            if let Some(whole) = open.pass(record, record.begin)
                && let Some(instance) = clip_instance(&whole, self.span)
            {
                let call_site = u32::try_from(instance.call_site).unwrap_or(NONE);
                let key = (head.thread, call_site, instance.team);
                let sums = self.sums.entry(key).or_default();
                add_instance(sums, &instance);
                match open.ended_threads() {
                    [] => share_among_threads(sums, &instance),
                    threads => add_threads(sums, &instance, &whole, threads),
                }
            }
        }
    }

    /// Returns the sums of the time that counts. `written` are the log's sums for all time, which are exact for each thread, but lack the
    /// instances after they were last written.
    pub fn finish(mut self, written: &BTreeMap<u32, ParallelSums>) -> Vec<ParallelSums> {
        for (key, sums) in &mut self.sums {
            (sums.thread, sums.call_site, sums.team) = *key;
            // Markers do not show other teams.
            let same = written.values().filter(|one| key_of(one) == *key);
            sums.beside = same.map(|one| one.beside).max().unwrap_or(0);
        }
        if self.span != TickSpan::ALL {
            return self.sums.into_values().collect();
        }
        let mut all = Vec::new();
        for sums in written.values() {
            let marked = self.sums.remove(&key_of(sums));
            // A thread's state, and with it its sums, may be created again: then the markers belong to several of them.
            let is_one = written.values().filter(|other| key_of(sums) == key_of(other)).count() == 1;
            let later = marked.filter(|marked| is_one && marked.instances > sums.instances);
            all.push(later.unwrap_or_else(|| sums.clone()));
        }
        all.extend(self.sums.into_values());
        all
    }
}

fn key_of(sums: &ParallelSums) -> SumsKey {
    (sums.thread, sums.call_site, sums.team)
}

/// Returns the part of an instance in a span, assuming that its time is spread evenly, or `None` if it lies outside.
fn clip_instance(whole: &ParallelInstance, span: TickSpan) -> Option<ParallelInstance> {
    let (begin, end) = (span.clamp(whole.begin), span.clamp(whole.end));
    let (part, all) = (end - begin, whole.end.saturating_sub(whole.begin));
    if part >= all {
        return Some(*whole);
    }
    if part == 0 {
        return None;
    }
    let longest = scale_ticks(whole.longest, part, all);
    let [useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join] =
        whole.time.parts().map(|ticks| scale_ticks(ticks, part, all));
    let time = TeamTime { useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join };
    Some(ParallelInstance { begin, end, longest, time, ..*whole })
}

/// Returns the fraction `part` / `all` of `ticks`; `all` is not 0.
fn scale_ticks(ticks: u64, part: u64, all: u64) -> u64 {
    (u128::from(ticks) * u128::from(part) / u128::from(all)) as u64
}

fn add_instance(sums: &mut ParallelSums, instance: &ParallelInstance) {
    let ParallelInstance { begin, end, team, longest, time, .. } = *instance;
    sums.instances += 1;
    sums.elapsed = sums.elapsed.saturating_add(end.saturating_sub(begin));
    sums.time.add(&time);
    sums.longest = sums.longest.saturating_add(longest);
    sums.members.resize(MAX_MEMBERS.min(team as usize), MemberSums::default());
}

/// Adds the threads of an instance, which is a part of `whole`, from their own markers.
fn add_threads(
    sums: &mut ParallelSums,
    instance: &ParallelInstance,
    whole: &ParallelInstance,
    threads: &[InstanceThread],
) {
    let (part, all) = (instance.end - instance.begin, whole.end.saturating_sub(whole.begin).max(1));
    for thread in threads {
        let Some(member) = sums.members.get_mut(thread.number as usize) else { continue };
        member.useful = member.useful.saturating_add(scale_ticks(thread.useful, part, all));
        member.mpi = member.mpi.saturating_add(scale_ticks(thread.mpi, part, all));
        member.waits = member.waits.saturating_add(scale_ticks(thread.waits, part, all));
        member.longest += u64::from(thread.number == instance.heavy_thread);
    }
}

/// Adds the threads of an instance without markers of their own. Its useful time is divided among the threads that do not work longest, other times among
/// all.
fn share_among_threads(sums: &mut ParallelSums, instance: &ParallelInstance) {
    let ParallelInstance { team, heavy_thread, longest, time, .. } = *instance;
    let n = u64::from(team.max(1));
    let others = time.useful.saturating_sub(longest) / (n - 1).max(1);
    for (number, member) in (0..).zip(&mut sums.members) {
        let is_heavy = number == heavy_thread;
        member.useful = member.useful.saturating_add(if is_heavy { longest } else { others });
        member.mpi = member.mpi.saturating_add(time.mpi / n);
        let waits = time.mutex.saturating_add(time.ordered).saturating_add(time.tasks);
        member.waits = member.waits.saturating_add(waits / n);
        member.longest += u64::from(is_heavy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instances of a region of two threads, of which thread 1 works 60 of 60 and thread 0 works 20.
    fn instances(begins: &[u64]) -> Vec<Record> {
        let time = TeamTime { useful: 80, imbalance: 40, ..TeamTime::default() };
        let records = |&begin: &u64| {
            let end = begin + 60;
            let one = ParallelInstance { begin, end, call_site: 7, team: 2, heavy_thread: 1, longest: 60, time };
            let mut records = vec![ParallelInstance::begin_record(begin, 7)];
            records.extend(one.end_records());
            records
        };
        begins.iter().flat_map(records).collect()
    }

    fn head(first: u64) -> BatchHead {
        BatchHead { thread: 0, first, previous_end: 0, open: Vec::new(), paused: false }
    }

    fn marked(span: TickSpan) -> MarkedRegions {
        let mut marked = MarkedRegions::new(span);
        let records = instances(&[100, 200]);
        // A batch may end within an instance.
        marked.records(&head(0), &records[..3]);
        marked.records(&head(3), &records[3..]);
        marked
    }

    #[test]
    fn a_part_of_the_time_has_its_part_of_instances() {
        let sums = marked(TickSpan { begin: 130, end: 1000 }).finish(&BTreeMap::new());
        let [one] = &sums[..] else { panic!("{sums:?}") };
        assert_eq!((one.instances, one.elapsed, one.time.useful, one.time.imbalance), (2, 90, 120, 60));
        assert_eq!(
            one.members.iter().map(|member| (member.useful, member.longest)).collect::<Vec<_>>(),
            [(30, 0), (90, 2)]
        );
    }

    #[test]
    fn threads_that_were_recorded_have_their_own_times() {
        let time = TeamTime { useful: 80, mutex: 10, ..TeamTime::default() };
        let one = ParallelInstance { begin: 100, end: 160, call_site: 7, team: 3, heavy_thread: 2, longest: 60, time };
        let thread = |number, useful, waits| InstanceThread { number, useful, waits, ..InstanceThread::default() };
        let threads = [thread(0, 20, 0), thread(1, 0, 10), thread(2, 60, 0)];
        let mut records = vec![ParallelInstance::begin_record(100, 7)];
        records.extend(threads.into_iter().flat_map(|thread| thread.records(&one)));
        records.extend(one.end_records());
        for (span, factor) in [(TickSpan::ALL, 2), (TickSpan { begin: 130, end: 1000 }, 1)] {
            let mut marked = MarkedRegions::new(span);
            marked.records(&head(0), &records);
            let sums = marked.finish(&BTreeMap::new());
            let found: Vec<_> = sums[0].members.iter().map(|one| (one.useful, one.waits, one.longest)).collect();
            assert_eq!(found, [(10 * factor, 0, 0), (0, 5 * factor, 0), (30 * factor, 0, 1)]);
        }
    }

    #[test]
    fn sums_that_were_written_too_early_are_made_of_markers() {
        let of = |instances: u64, useful: u64| {
            let time = TeamTime { useful, ..TeamTime::default() };
            let one = ParallelSums { id: 4, call_site: 7, team: 2, instances, time, ..ParallelSums::default() };
            let sums = marked(TickSpan::ALL).finish(&BTreeMap::from([(4, one)]));
            (sums.len(), sums[0].instances, sums[0].time.useful)
        };
        assert_eq!(of(1, 81), (1, 2, 160));
        assert_eq!(of(2, 161), (1, 2, 161), "what the threads themselves have added up is exact");
        assert_eq!(marked(TickSpan::ALL).finish(&BTreeMap::new()).len(), 1);
    }

    #[test]
    fn numbers_that_no_program_can_have_reached_add_up_to_the_largest() {
        let time = TeamTime { useful: u64::MAX, mutex: u64::MAX, ordered: u64::MAX, ..TeamTime::default() };
        let whole =
            ParallelInstance { begin: 90, end: 50, team: 2, longest: u64::MAX, time, ..ParallelInstance::default() };
        let mut records = vec![ParallelInstance::begin_record(90, 7)];
        records.extend(whole.end_records());
        for span in [TickSpan::ALL, TickSpan { begin: 60, end: 80 }] {
            let mut marked = MarkedRegions::new(span);
            marked.records(&head(0), &[&records[..], &records].concat());
            let sums = marked.finish(&BTreeMap::new());
            assert!(sums.iter().all(|sums| sums.elapsed == 0 && sums.longest == u64::MAX), "{sums:?}");
        }
    }

    #[test]
    fn an_instance_of_which_records_are_missing_is_none() {
        let mut marked = MarkedRegions::new(TickSpan::ALL);
        let records = instances(&[100, 200]);
        marked.records(&head(0), &records[..1]);
        marked.records(&head(3), &records[3..]);
        assert!(marked.finish(&BTreeMap::new()).is_empty());
    }
}
