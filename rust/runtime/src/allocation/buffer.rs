//! Aligned memory.

use std::alloc::{Layout as Block, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::allocation::pages;
use crate::error::Fault;

/// Every buffer starts at a multiple of this: a cache line, and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// The bytes in all buffers now, and the largest number since the last question.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The bytes in all buffers of the process: the memory that runs work in, the results that they gave away, idle memory
/// included.
pub fn allocated_bytes() -> usize {
    ALLOCATED.load(Ordering::Relaxed)
}

/// The most bytes that there were in buffers at once since the last call of this function.
pub fn take_peak_bytes() -> usize {
    PEAK.swap(allocated_bytes(), Ordering::Relaxed)
}

/// Uninitialised memory of a fixed size, owned.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: a buffer owns its memory like a `Box<[MaybeUninit<u8>]>` does; nothing is shared.
unsafe impl Send for Buffer {}
// SAFETY: a shared reference to a buffer gives its address only, never its bytes.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A buffer of no bytes; its address is aligned but must not be read.
    pub const fn empty() -> Buffer {
        let start = NonNull::without_provenance(std::num::NonZeroUsize::new(ALIGNMENT).unwrap());
        Buffer { start, size: 0 }
    }

    /// Memory for `size` bytes, or an error where the system has none left.
    pub fn new(size: usize) -> Result<Buffer, Fault> {
        if size == 0 {
            return Ok(Buffer::empty());
        }
        let block = Block::from_size_align(size, ALIGNMENT).map_err(|_| Fault::TooLarge)?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(block) };
        match NonNull::new(start) {
            Some(start) => {
                pages::fetch(start.as_ptr(), size);
                let before = ALLOCATED.fetch_add(size, Ordering::Relaxed);
                PEAK.fetch_max(before + size, Ordering::Relaxed);
                Ok(Buffer { start, size })
            }
            None => Err(Fault::OutOfMemory { bytes: size }),
        }
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The number of bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer::empty()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.size > 0 {
            ALLOCATED.fetch_sub(self.size, Ordering::Relaxed);
            // SAFETY: `new` allocated this with the same size and alignment, and checked both.
            unsafe {
                let block = Block::from_size_align_unchecked(self.size, ALIGNMENT);
                dealloc(self.start.as_ptr(), block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_writable() {
        for size in [0, 1, 63, 64, 1000] {
            let buffer = Buffer::new(size).unwrap();
            assert_eq!(buffer.as_ptr() as usize % ALIGNMENT, 0);
            assert_eq!(buffer.size(), size);
            for at in 0..size {
                // SAFETY: `at` lies inside the buffer.
                unsafe { buffer.as_ptr().add(at).write(at as u8) };
            }
        }
    }

    #[test]
    fn what_the_system_cannot_give_is_an_error() {
        assert!(matches!(Buffer::new(usize::MAX), Err(Fault::TooLarge)));
        assert!(matches!(Buffer::new(isize::MAX as usize - 63), Err(Fault::OutOfMemory { .. })));
    }
}
