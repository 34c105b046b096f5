//! The first memory of a process: in pages of the system's usual size.
//!
//! The allocator asks for pages of 2 MB, which the system clears whole. That is right for large graphs: threads that build
//! them seldom wait for pages. But a first function needs a few pieces of many sizes, and a virtual machine may have to
//! fetch a whole page of that size from its host, which takes milliseconds.

/// The bytes that stay in small pages: what most first functions need. Of 8 MB some need more, and beyond 16 large arrays
/// come, for which small pages take longer.
#[cfg(target_os = "linux")]
const FIRST: usize = 16 << 20;

/// The size of the large pages.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Takes back the wish for large pages for the memory that the allocator gives first.
#[cfg(target_os = "linux")]
pub fn keep_small() {
    let sample = std::hint::black_box(Box::new(0_u64));
    let first = std::ptr::from_ref(&*sample).addr() & !(LARGE - 1);
    // SAFETY: advice about the sizes of pages changes no contents, whatever is mapped there; the system passes over what
    // is not, and refuses where it has no large pages.
    unsafe { libc::madvise(std::ptr::without_provenance_mut(first), FIRST, libc::MADV_NOHUGEPAGE) };
}

/// Other systems decide by themselves.
#[cfg(not(target_os = "linux"))]
pub fn keep_small() {}
