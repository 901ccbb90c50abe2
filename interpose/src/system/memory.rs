//! Reads memory that may not be there, or that others may take away.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::processor::ask_valgrind;

const PAGE: usize = 4096;

/// True if the process is run by Valgrind, which looks at what a system call is given.
static IS_UNDER_VALGRIND: AtomicBool = AtomicBool::new(false);

/// Finds out how the system is to be asked.
pub fn find_out() {
    // RUNNING_ON_VALGRIND of valgrind.h.
    const RUNNING: usize = 0x1001;
    let request = [RUNNING, 0, 0, 0, 0, 0];
    IS_UNDER_VALGRIND.store(ask_valgrind(&request) != 0, Relaxed);
}

/// Reads words. Pages are looked at before, the last one only once.
#[derive(Default)]
pub struct MemoryReader {
    /// Memory that is known to be there.
    known: Range<usize>,
    page: Option<usize>,
}

impl MemoryReader {
    /// Looks at no page of `known`, which is there.
    pub fn with(known: Range<usize>) -> Self {
        MemoryReader { known, page: None }
    }

    pub fn is_known(&self, address: usize) -> bool {
        self.known.start <= address && address.saturating_add(size_of::<usize>()) <= self.known.end
    }

    /// Returns the word at an address, which is a multiple of its size, or `None` where there is no memory.
    pub fn word(&mut self, address: usize) -> Option<usize> {
        let page = address & !(PAGE - 1);
        if self.page != Some(page) && !self.is_known(address) {
            if !is_readable(page) {
                return None;
            }
            self.page = Some(page);
        }
        // SAFETY: on a page that can be read; another thread may write to it, as to any memory that is not ours.
        Some(unsafe { (address as *const usize).read_volatile() })
    }
}

pub trait ReadMemory {
    /// Fills the buffer from an address on, and returns whether all of that is there.
    fn fill(&mut self, address: usize, buffer: &mut [u8]) -> bool;
}

impl ReadMemory for MemoryReader {
    fn fill(&mut self, address: usize, buffer: &mut [u8]) -> bool {
        let Some(end) = address.checked_add(buffer.len()) else { return false };
        let is_there = (address & !(PAGE - 1)..end).step_by(PAGE).all(|page| self.word(page).is_some());
        if is_there {
            // SAFETY: on pages that can be read.
            unsafe { (address as *const u8).copy_to_nonoverlapping(buffer.as_mut_ptr(), buffer.len()) };
        }
        is_there
    }
}

/// Copies of pages, made by the system: other threads may take these pages away at any instant.
#[derive(Default)]
pub struct PageCopies(Vec<PageCopy>);

struct PageCopy {
    address: usize,
    bytes: Box<[u8; PAGE]>,
    is_used: bool,
}

impl PageCopies {
    /// Copies more pages at a time than this one by one.
    const MAX_RENEWED: usize = 64;

    /// Copies the pages anew that were read since this was last called, and forgets the others.
    pub fn renew(&mut self) {
        let PageCopies(pages) = self;
        pages.retain(|page| page.is_used);
        pages.truncate(Self::MAX_RENEWED);
        let copied = copy_pages(pages);
        pages.truncate(copied);
        for page in pages {
            page.is_used = false;
        }
    }

    fn page(&mut self, address: usize) -> Option<&[u8; PAGE]> {
        let PageCopies(pages) = self;
        let known = pages.iter().position(|page| page.address == address);
        let at = known.unwrap_or(pages.len());
        if known.is_none() {
            let mut new = [PageCopy { address, bytes: Box::new([0; PAGE]), is_used: false }];
            if copy_pages(&mut new) == 0 {
                return None;
            }
            pages.extend(new);
        }
        let page = pages.get_mut(at)?;
        page.is_used = true;
        Some(&page.bytes)
    }
}

impl ReadMemory for PageCopies {
    fn fill(&mut self, address: usize, mut buffer: &mut [u8]) -> bool {
        let mut at = address;
        while !buffer.is_empty() {
            let offset = at % PAGE;
            let (part, rest) = buffer.split_at_mut(buffer.len().min(PAGE - offset));
            let copied = self.page(at - offset).and_then(|page| page.get(offset..offset + part.len()));
            let (Some(copied), Some(next)) = (copied, at.checked_add(part.len())) else { return false };
            part.copy_from_slice(copied);
            (at, buffer) = (next, rest);
        }
        true
    }
}

/// Copies pages in their order, and returns how many there are before the first that cannot be read.
fn copy_pages(pages: &mut [PageCopy]) -> usize {
    let from = pages.iter().map(|page| libc::iovec { iov_base: page.address as *mut _, iov_len: PAGE });
    let from: Vec<libc::iovec> = from.collect();
    let to = pages.iter_mut().map(|page| libc::iovec { iov_base: page.bytes.as_mut_ptr().cast(), iov_len: PAGE });
    let to: Vec<libc::iovec> = to.collect();
    let n = to.len() as libc::c_ulong;
    // SAFETY: fills our own buffers; the system checks the other addresses.
    let bytes = unsafe { libc::process_vm_readv(libc::getpid(), to.as_ptr(), n, from.as_ptr(), n, 0) };
    usize::try_from(bytes).unwrap_or(0) / PAGE
}

/// Returns whether a page can be read.
fn is_readable(page: usize) -> bool {
    // SAFETY: keeps what the functions below change; they look at no address themselves.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let is_readable = if IS_UNDER_VALGRIND.load(Relaxed) { can_be_copied(page) } else { can_be_a_mask(page) };
        *errno = kept;
        is_readable
    }
}

/// Has the system copy a word, which a system call filter may not allow.
fn can_be_copied(page: usize) -> bool {
    let mut word = 0usize;
    let to = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size_of::<usize>() };
    let from = libc::iovec { iov_base: page as *mut _, ..to };
    // SAFETY: a word of our own is written; the system looks at the address.
    unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) == size_of::<usize>() as isize }
}

/// Asks the system for an unknown change of the signal mask: it first reads the mask at the address, then refuses.
fn can_be_a_mask(page: usize) -> bool {
    const NO_CHANGE: usize = usize::MAX;
    // SAFETY: a system call that changes nothing; it looks at the address.
    unsafe {
        let refused = libc::syscall(libc::SYS_rt_sigprocmask, NO_CHANGE, page, 0usize, size_of::<u64>());
        refused == -1 && *libc::__errno_location() != libc::EFAULT
    }
}
