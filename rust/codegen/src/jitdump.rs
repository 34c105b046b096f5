//! Names of kernels for profilers: a file of the process in the format that `perf inject --jit` reads. The only state
//! is the list of files that were begun.

use crate::debugger::hold_list;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER: u32 = 40;
const LOADED: u32 = 0;
const RECORD: usize = 56;
/// What executables for this processor say of it.
const MACHINE: u32 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// The files that have a header, and the process of each. It is locked only while the list for debuggers is held, and so
/// never while the process forks.
static BEGUN: Mutex<Vec<(u32, PathBuf)>> = Mutex::new(Vec::new());
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Adds kernels, each by its name, where it lies and its bytes, to the file of this process in the
/// folder. Each lot is added by one write, which the system keeps whole.
pub(crate) fn write<'c>(
    folder: &Path,
    kernels: impl Iterator<Item = (String, usize, &'c [u8])>,
) -> io::Result<()> {
    let process = std::process::id();
    let path = folder.join(format!("jit-{process}.dump"));
    begin_once(&path, process)?;
    let mut records = Vec::new();
    for (name, start, code) in kernels {
        let size = RECORD + name.len() + 1 + code.len();
        records.extend(LOADED.to_le_bytes());
        records.extend((size as u32).to_le_bytes());
        records.extend(now().to_le_bytes());
        records.extend(process.to_le_bytes());
        records.extend(thread().to_le_bytes());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        for value in [start as u64, start as u64, code.len() as u64, number] {
            records.extend(value.to_le_bytes());
        }
        records.extend(name.as_bytes());
        records.push(0);
        records.extend(code);
    }
    OpenOptions::new().append(true).open(&path)?.write_all(&records)
}

/// Begins the file, unless this process has begun it.
fn begin_once(path: &Path, process: u32) -> io::Result<()> {
    let _still = hold_list();
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    if !begun.iter().any(|(by, known)| *by == process && known == path) {
        begin(path, process)?;
        begun.push((process, path.to_owned()));
    }
    Ok(())
}

/// Begins the file, and maps a page of it as code: that is how a profiler that watches the process
/// finds it. The mapping stays as long as the process.
fn begin(path: &Path, process: u32) -> io::Result<()> {
    let mut header = Vec::new();
    for value in [MAGIC, VERSION, HEADER, MACHINE, 0, process] {
        header.extend(value.to_le_bytes());
    }
    header.extend(now().to_le_bytes());
    header.extend(0_u64.to_le_bytes());
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    file.write_all(&header)?;
    let access = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: asks for new memory, of a file that is not empty; nothing reads or runs it.
    let mapped =
        unsafe { libc::mmap(null_mut(), 4096, access, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Nanoseconds of the clock that profilers are told to use: `perf record -k mono`.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is a place for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_os = "linux")]
fn thread() -> u32 {
    // SAFETY: asks for a number.
    unsafe { libc::gettid() as u32 }
}

/// If threads have no numbers of their own, the process has one.
#[cfg(not(target_os = "linux"))]
fn thread() -> u32 {
    std::process::id()
}
