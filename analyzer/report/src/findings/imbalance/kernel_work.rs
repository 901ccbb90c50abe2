//! The kind of work that the kernel does for a rank, by its page faults.

use lbprof_thresholds::verdict::MAX_TIME_OF_PAGE_FAULT_S;

use crate::Report;

/// The kind of work that the kernel does for most of a rank's time in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelWork {
    /// The kernel gives the program memory, page by page.
    PageFaults,
    /// The kernel does what system calls ask for.
    SystemCalls,
}

impl KernelWork {
    /// Judges `kernel_s` seconds in which there were `page_faults`.
    pub fn new(kernel_s: f64, page_faults: u64) -> KernelWork {
        match kernel_s <= MAX_TIME_OF_PAGE_FAULT_S * page_faults as f64 {
            true => KernelWork::PageFaults,
            false => KernelWork::SystemCalls,
        }
    }

    /// The name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            KernelWork::PageFaults => "page faults",
            KernelWork::SystemCalls => "system calls",
        }
    }

    /// A place to look at.
    pub fn advice(self) -> &'static str {
        match self {
            KernelWork::PageFaults => {
                "memory that is allocated and given back again and again: reuse large arrays, let malloc keep what is freed \
                 (MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_), or use huge pages"
            }
            KernelWork::SystemCalls => {
                "which system calls the rank makes there (strace -c -f): fewer and larger ones, or none in the loop"
            }
        }
    }
}

/// Returns the kind of work that the kernel does for the rank that computes longest.
pub fn kernel_work_of_slowest(report: &Report) -> KernelWork {
    let worst = report.verdict.worst.as_ref();
    let usage =
        worst.and_then(|worst| report.ranks.iter().find(|row| row.rank == worst.rank)).and_then(|row| row.usage);
    let (kernel_s, faults) =
        usage.map_or((0.0, None), |usage| (usage.thread_system_s.unwrap_or(0.0), usage.thread_page_faults));
    KernelWork::new(kernel_s, faults.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_page_faults_are_what_the_kernel_does() {
        assert_eq!(KernelWork::new(1.0, 800_000), KernelWork::PageFaults);
        assert_eq!(KernelWork::new(1.0, 2_000), KernelWork::SystemCalls);
    }
}
