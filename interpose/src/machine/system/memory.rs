//! Reads memory that may not be there, or that others may take away.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const PAGE: usize = 4096;

/// True if the process is run by Valgrind, which looks at what a system call is given.
static IS_UNDER_VALGRIND: AtomicBool = AtomicBool::new(false);

/// Finds out how the system is to be asked.
pub fn find_out() {
    // Valgrind preloads a library of its own.
    let preloaded = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    IS_UNDER_VALGRIND.store(preloaded.to_string_lossy().contains("vgpreload"), Relaxed);
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

/// Copies of memory, made by the system: other threads may take it away at any instant.
#[derive(Default)]
pub struct MemoryCopies {
    /// By the address of a block: the position of its copy, and whether that was read.
    blocks: HashMap<usize, (usize, bool), foldhash::fast::FixedState>,
    copies: Vec<[u8; BLOCK]>,
}

/// Bytes that are copied anew at a time. A frame, or the head of a code object, lies in one or two of these.
const BLOCK: usize = 128;

/// Number of blocks that are copied where one is not known: others are likely to be read soon.
const NEW_BLOCKS: usize = 8;

impl MemoryCopies {
    /// Copies more blocks at a time than this one by one: the system's limit.
    const MAX_RENEWED: usize = 1024;

    /// Copies the blocks anew that were read since this was last called, and forgets the others.
    pub fn renew(&mut self) {
        let MemoryCopies { blocks, copies } = self;
        let read = blocks.drain().filter(|&(_, (_, is_read))| is_read);
        let from = read.map(|(address, _)| libc::iovec { iov_base: address as *mut _, iov_len: BLOCK });
        let from: Vec<libc::iovec> = from.take(Self::MAX_RENEWED).collect();
        copies.resize(from.len(), [0; BLOCK]);
        // The call that writes looks up only the memory written to, which is in one place here. Unlike the call that reads, it also takes the memory of
        // devices, but each of these blocks has been copied by the other call.
        let copied = copy_memory(libc::SYS_process_vm_writev, &from, copies);
        blocks.extend(from.iter().take(copied).enumerate().map(|(at, part)| (part.iov_base as usize, (at, false))));
    }

    /// Returns the block at an address, or `None` where there is no memory.
    fn block(&mut self, address: usize) -> Option<&[u8; BLOCK]> {
        let MemoryCopies { blocks, copies } = self;
        if !blocks.contains_key(&address) {
            let first = address & !(NEW_BLOCKS * BLOCK - 1);
            let from = libc::iovec { iov_base: first as *mut _, iov_len: NEW_BLOCKS * BLOCK };
            let mut new = [[0; BLOCK]; NEW_BLOCKS];
            if copy_memory(libc::SYS_process_vm_readv, &[from], &mut new) < NEW_BLOCKS {
                return None;
            }
            for (address, copy) in (first..).step_by(BLOCK).zip(new) {
                blocks.entry(address).or_insert((copies.len(), false));
                copies.push(copy);
            }
        }
        let (at, is_read) = blocks.get_mut(&address)?;
        *is_read = true;
        copies.get(*at)
    }
}

impl ReadMemory for MemoryCopies {
    fn fill(&mut self, address: usize, mut buffer: &mut [u8]) -> bool {
        let mut at = address;
        while !buffer.is_empty() {
            let offset = at % BLOCK;
            let (part, rest) = buffer.split_at_mut(buffer.len().min(BLOCK - offset));
            let copied = self.block(at - offset).and_then(|block| block.get(offset..offset + part.len()));
            let (Some(copied), Some(next)) = (copied, at.checked_add(part.len())) else { return false };
            part.copy_from_slice(copied);
            (at, buffer) = (next, rest);
        }
        true
    }
}

/// Copies blocks in their order, by a system call, and returns how many there are before the first that cannot be read.
fn copy_memory(call: libc::c_long, from: &[libc::iovec], to: &mut [[u8; BLOCK]]) -> usize {
    let to = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: size_of_val(to) };
    let (n, one) = (from.len(), 1_usize);
    let (own, other) = if call == libc::SYS_process_vm_writev {
        ((from.as_ptr(), n), (&raw const to, one))
    } else {
        ((&raw const to, one), (from.as_ptr(), n))
    };
    // SAFETY: fills our own buffer, which has room for the blocks; the system checks the other addresses. Not by the C library's function: sanitizers, which replace it, look at them, too.
    let bytes = unsafe { libc::syscall(call, libc::getpid(), own.0, own.1, other.0, other.1, 0_usize) };
    usize::try_from(bytes).unwrap_or(0) / BLOCK
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_of_the_last_renewal_and_end_with_their_memory() {
        // SAFETY: a new mapping, which ends below.
        let words = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), 2 * PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0).cast::<u64>()
        };
        let (at, mut copies) = (words as usize + PAGE - 8, MemoryCopies::default());
        let mut read = |is_renewed: bool| {
            if is_renewed {
                copies.renew();
            }
            let mut found = [0; 16];
            copies.fill(at, &mut found).then(|| found.map(u64::from).iter().sum::<u64>())
        };
        // SAFETY: two words of the mapping, each on a page of its own, and the second page.
        unsafe {
            assert_eq!(read(false), Some(0));
            (at as *mut u64).write(1);
            (at as *mut u64).add(1).write(2);
            assert_eq!((read(false), read(true)), (Some(0), Some(3)));
            libc::munmap(words.cast::<u8>().add(PAGE).cast(), PAGE);
            assert_eq!((read(false), read(true)), (Some(3), None));
            libc::munmap(words.cast(), PAGE);
            assert_eq!(read(true), None);
        }
    }
}
