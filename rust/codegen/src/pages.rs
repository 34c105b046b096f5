//! Memory for code: it is written first, and then executable and never writable again.
//! Behind it lie the addresses that the code jumps to, which stay writable and are never executable.

use crate::error::CodegenError;
use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pages with code, and pages with slots behind them.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    /// The bytes of the pages with code.
    code: usize,
    /// The slots, each an address.
    slots: usize,
    /// The bytes of all pages.
    length: usize,
}

// SAFETY: no thread writes to the pages with code once they are made, and slots are atomic.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// The bytes that pages with so much code take: where the first slot is.
    pub(crate) fn code_bytes(code: usize) -> usize {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(4096) as usize;
        code.max(1).next_multiple_of(page)
    }

    /// Pages that hold these bytes, and these addresses from [`Pages::code_bytes`] on.
    pub(crate) fn of(code: &[u8], slots: &[usize]) -> Result<Pages, CodegenError> {
        let whole = Pages::code_bytes(code.len());
        let length = whole + Pages::code_bytes(size_of_val(slots)) * usize::from(!slots.is_empty());
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: asks for new memory, which nothing else refers to.
        let start = unsafe { libc::mmap(null_mut(), length, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(CodegenError::Memory(io::Error::last_os_error()));
        }
        let start = NonNull::new(start.cast::<u8>())
            .ok_or_else(|| CodegenError::Memory(io::Error::other("it lies where nothing may")))?;
        let pages = Pages { start, code: whole, slots: slots.len(), length };
        // SAFETY: the pages are new, writable and as long as the code.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), start.as_ptr(), code.len()) };
        for (at, &address) in slots.iter().enumerate() {
            pages.set_slot(at, address);
        }
        clean(start.as_ptr(), code.len());
        let access = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: these are whole pages of ours.
        if unsafe { libc::mprotect(start.as_ptr().cast(), whole, access) } != 0 {
            return Err(CodegenError::Memory(io::Error::last_os_error()));
        }
        Ok(pages)
    }

    /// The address of the code.
    pub(crate) fn start(&self) -> usize {
        self.start.as_ptr() as usize
    }

    /// Lets a slot hold another address; code that runs meanwhile reads the old one or the new.
    ///
    /// # Panics
    /// If there is no such slot.
    pub(crate) fn set_slot(&self, at: usize, address: usize) {
        assert!(at < self.slots, "there is no slot {at}");
        // SAFETY: the slot lies in pages that stay writable, aligned, and is only accessed whole.
        // Test: tests of this file, slots_hold_what_was_set.
        let slot = unsafe {
            AtomicUsize::from_ptr(self.start.as_ptr().add(self.code).cast::<usize>().add(at))
        };
        slot.store(address, Ordering::Release);
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages are ours, and all users of an address in them have dropped their owner.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Lets the processor see code that was written as data.
#[cfg(target_arch = "aarch64")]
fn clean(start: *mut u8, length: usize) {
    unsafe extern "C" {
        fn __clear_cache(start: *mut u8, end: *mut u8);
    }
    // SAFETY: the range is mapped.
    unsafe { __clear_cache(start, start.wrapping_add(length)) };
}

/// Nothing to do: the processor sees the writes.
#[cfg(not(target_arch = "aarch64"))]
fn clean(_start: *mut u8, _length: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_what_was_written_and_begin_on_a_page() {
        let code: Vec<u8> = (0..=255).collect();
        let pages = Pages::of(&code, &[]).unwrap();
        assert_eq!(pages.start() % 4096, 0);
        // SAFETY: the pages are readable and as long.
        let kept = unsafe { std::slice::from_raw_parts(pages.start() as *const u8, 256) };
        assert_eq!(kept, code);
    }

    #[test]
    fn slots_hold_what_was_set() {
        let pages = Pages::of(&[0; 5000], &[7, 8, 9]).unwrap();
        pages.set_slot(1, 80);
        let first = pages.start() + Pages::code_bytes(5000);
        // SAFETY: three slots lie there.
        let slots = unsafe { std::slice::from_raw_parts(first as *const usize, 3) };
        assert_eq!(slots, [7, 80, 9]);
    }
}
