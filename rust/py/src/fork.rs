//! Forks of the process: all locks are held meanwhile, so that the child finds every table whole.
//!
//! The system calls the functions, not `os.register_at_fork`: Python runs other code between the functions of that and
//! the fork, in parent and child, and such code may build or drop nodes.

use std::io;
use std::sync::OnceLock;

use frazil_core::{Container, Tokens, fork};

use crate::{native_code, object_table, source_line};

/// Has every fork hold the locks from now on; the first call counts.
pub fn watch() -> io::Result<()> {
    static WATCHED: OnceLock<i32> = OnceLock::new();
    let status = *WATCHED.get_or_init(|| {
        // It is made before a fork: a child would wait for ever for a thread that was making it.
        Container::global();
        fork::add_lasting(&Tokens);
        fork::add_lasting(&object_table::Tables);
        fork::add_lasting(&source_line::Places);
        fork::add_lasting(&native_code::Told);
        frazil_runtime::watch_forks();
        register()
    });
    if status == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(status)) }
}

#[cfg(unix)]
fn register() -> i32 {
    extern "C" fn hold() {
        fork::hold();
    }
    extern "C" fn release() {
        fork::release();
    }
    // SAFETY: the functions are there as long as the process: Python never unloads an extension module. Test:
    // tests/core/test_forks.py::test_a_child_finds_no_lock_held.
    unsafe { libc::pthread_atfork(Some(hold), Some(release), Some(release)) }
}

/// Without forks there is nothing to do.
#[cfg(not(unix))]
fn register() -> i32 {
    0
}
