//! Reading memory that may not be there.

const PAGE: usize = 4096;

/// Pages that were found readable; the last one looked at.
#[derive(Default)]
pub struct Readable {
    page: Option<usize>,
}

impl Readable {
    /// The word at an address, which is a multiple of its size; `None` where there is no memory.
    pub fn word(&mut self, address: usize) -> Option<usize> {
        let page = address & !(PAGE - 1);
        if self.page != Some(page) {
            if !is_readable(page) {
                return None;
            }
            self.page = Some(page);
        }
        // SAFETY: on a page that can be read; another thread may write to it, as to any memory that is not ours.
        Some(unsafe { (address as *const usize).read_volatile() })
    }

    /// Fills the buffer from an address on; false where there is no memory.
    pub fn fill(&mut self, address: usize, buffer: &mut [u8]) -> bool {
        let Some(end) = address.checked_add(buffer.len()) else { return false };
        let is_there = (address & !(PAGE - 1)..end).step_by(PAGE).all(|page| self.word(page).is_some());
        if is_there {
            // SAFETY: on pages that can be read.
            unsafe { (address as *const u8).copy_to_nonoverlapping(buffer.as_mut_ptr(), buffer.len()) };
        }
        is_there
    }
}

/// Whether a page can be read. The system is asked to read a signal mask there, for a change of the mask that it does not know: it
/// reads first, and then refuses.
fn is_readable(page: usize) -> bool {
    const NO_CHANGE: usize = usize::MAX;
    // SAFETY: a system call that changes nothing; it looks at addresses itself.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let refused = libc::syscall(libc::SYS_rt_sigprocmask, NO_CHANGE, page, 0usize, size_of::<u64>());
        let readable = refused == -1 && *errno != libc::EFAULT;
        *errno = kept;
        readable
    }
}
