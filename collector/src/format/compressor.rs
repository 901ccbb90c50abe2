//! zstd in memory that is taken once.
//!
//! zstd's own contexts take their memory from the C library's malloc whenever a batch needs more of it than the last ones did.
//! The recorder may run in a signal handler that has interrupted malloc; see interpose/src/harmless/memory.rs.

use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use zstd::zstd_safe::zstd_sys::{ZSTD_CCtx, ZSTD_compressCCtx, ZSTD_getErrorName, ZSTD_isError};

// From the part of zstd.h for statically linked programs.
unsafe extern "C" {
    fn ZSTD_estimateCCtxSize(most_level: c_int) -> usize;
    fn ZSTD_initStaticCCtx(memory: *mut c_void, bytes: usize) -> *mut ZSTD_CCtx;
}

pub(crate) struct BlockCompressor {
    context: NonNull<ZSTD_CCtx>,
    level: c_int,
    /// The memory, in words because zstd wants it aligned. Pages that are not needed are not touched.
    #[expect(dead_code, reason = "what the context points to")]
    memory: Vec<MaybeUninit<u64>>,
}

// SAFETY: the context belongs to no thread, and has no other owner.
unsafe impl Send for BlockCompressor {}

impl BlockCompressor {
    /// Creates a compressor for buffers of any size; takes some 600 kB at level 1.
    ///
    /// Errors: zstd makes no context.
    pub fn new(level: c_int) -> io::Result<Self> {
        // SAFETY: a pure function of the level.
        let bytes = unsafe { ZSTD_estimateCCtxSize(level) };
        let mut memory: Vec<MaybeUninit<u64>> = Vec::with_capacity(bytes.div_ceil(size_of::<u64>()));
        // SAFETY: the memory is as large as stated, and stays where it is when the vector moves.
        let context = unsafe { ZSTD_initStaticCCtx(memory.as_mut_ptr().cast(), memory.capacity() * size_of::<u64>()) };
        let context = NonNull::new(context).ok_or_else(|| io::Error::other("zstd makes no context"))?;
        Ok(BlockCompressor { context, level, memory })
    }

    /// Compresses `plain` into `frame`; gives how many bytes of it the frame takes.
    ///
    /// Errors: what zstd says, for example that the frame does not fit.
    pub fn compress(&mut self, plain: &[u8], frame: &mut [u8]) -> io::Result<usize> {
        // SAFETY: live buffers of these lengths, and our own context.
        unsafe {
            let (to, from) = (frame.as_mut_ptr().cast(), plain.as_ptr().cast());
            let code = ZSTD_compressCCtx(self.context.as_ptr(), to, frame.len(), from, plain.len(), self.level);
            if ZSTD_isError(code) == 0 {
                return Ok(code);
            }
            Err(io::Error::other(CStr::from_ptr(ZSTD_getErrorName(code)).to_string_lossy()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_sizes_come_back() {
        let mut compressor = BlockCompressor::new(1).unwrap();
        // Large ones and small ones in turn: zstd would take new memory for the first large one, and give it back in time.
        for bytes in [0, 1, 100, 3 << 20, 17_000, 0, 200_000, 5 << 20, 30] {
            let plain: Vec<u8> = (0..bytes).map(|i: u32| (i.wrapping_mul(i) >> 9) as u8).collect();
            let mut frame = vec![0; zstd::zstd_safe::compress_bound(plain.len())];
            let length = compressor.compress(&plain, &mut frame).unwrap();
            assert_eq!(zstd::bulk::decompress(&frame[..length], plain.len()).unwrap(), plain);
        }
        assert!(compressor.compress(&[1, 2, 3], &mut [0; 2]).is_err());
    }
}
