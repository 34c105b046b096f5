//! Fresh pages, fetched from the system at once: one by one, at the first write to each, they take twice as long.

/// Sizes of memory that is fetched at once. Less is seldom fresh. For more, the allocator asks for pages of 2 MB.
#[cfg(target_os = "linux")]
const SIZES: std::ops::RangeInclusive<usize> = 1 << 18..=16 << 20;

/// A multiple of the size of pages.
#[cfg(target_os = "linux")]
const WHOLE: usize = 1 << 16;

/// Fetches the pages of memory that is about to be written, if those asked are not there yet.
#[cfg(target_os = "linux")]
pub(crate) fn fetch(start: *mut u8, size: usize) {
    if !SIZES.contains(&size) {
        return;
    }
    let lead = start.align_offset(WHOLE);
    let length = (size - lead) / WHOLE * WHOLE;
    let first = start.wrapping_add(lead);
    // What was in use before is there, and to be told so for each page takes time. Of fresh memory, the allocator has
    // written to the first page.
    let pages = length / WHOLE;
    if is_there(first, pages / 2 * WHOLE) || is_there(first, (pages - 1) * WHOLE) {
        return;
    }
    // SAFETY: these pages lie within the memory, and keep their contents. Systems that do not know the advice refuse it.
    unsafe { libc::madvise(first.cast(), length, libc::MADV_POPULATE_WRITE) };
}

/// Whether the page so many bytes ahead is in memory, or its system does not tell.
#[cfg(target_os = "linux")]
fn is_there(first: *mut u8, ahead: usize) -> bool {
    let mut told = 1;
    // SAFETY: the address is a page's, and one byte is written for one page.
    unsafe {
        libc::mincore(first.wrapping_add(ahead).cast(), 1, &raw mut told) != 0 || told & 1 == 1
    }
}

/// Other systems fetch pages as they see fit.
#[cfg(not(target_os = "linux"))]
pub(crate) fn fetch(_start: *mut u8, _size: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Fresh memory of the system, which nothing has touched, in small pages.
    fn mapped(size: usize) -> *mut u8 {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: it maps new memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, access, kind, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        // SAFETY: as above; a system without large pages refuses, and gives small ones.
        unsafe { libc::madvise(start, size, libc::MADV_NOHUGEPAGE) };
        start.cast()
    }

    #[test]
    fn whole_pages_are_fetched_and_none_beyond() {
        let size = 1 << 20;
        let start = mapped(4 * size);
        // SAFETY: the memory was mapped just now.
        let known = unsafe { libc::madvise(start.cast(), WHOLE, libc::MADV_POPULATE_WRITE) } == 0;
        let inside = start.wrapping_add(size + 64);
        fetch(inside, size);
        let lead = inside.align_offset(WHOLE);
        for ahead in (lead..size - WHOLE).step_by(WHOLE) {
            assert_eq!(is_there(inside.wrapping_add(ahead), 0), known);
        }
        for beyond in [size - WHOLE, 2 * size + WHOLE] {
            let page = start.wrapping_add(beyond).map_addr(|at| at & !(WHOLE - 1));
            assert!(!is_there(page, 0));
        }
        // SAFETY: nothing refers to it any more.
        unsafe { libc::munmap(start.cast(), 4 * size) };
    }

    #[test]
    fn memory_that_was_in_use_keeps_its_contents() {
        let size = 1 << 20;
        let start = mapped(size);
        // SAFETY: the memory was mapped just now.
        unsafe { start.add(size / 2).write(7) };
        fetch(start, size);
        // SAFETY: as above.
        assert_eq!(unsafe { start.add(size / 2).read() }, 7);
        // SAFETY: nothing refers to it any more.
        unsafe { libc::munmap(start.cast(), size) };
    }
}
