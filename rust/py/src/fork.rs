//! Forks of the process: all locks are held meanwhile, so that the child finds every table whole.
//!
//! The system calls the functions, not `os.register_at_fork`: Python runs other code between the functions of that and
//! the fork, in parent and child, and such code may build or drop nodes. Only what must run code of Python in the child
//! is left to a function of that.

use std::io;
use std::sync::OnceLock;

use frazil_core::{Container, Tokens, fork};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{error, native_code, ndarray, object_table, source_line};

/// Makes now what PyO3 and NumPy's crate make at its first use, under locks of their own.
///
/// They give the GIL away within these locks. If another thread forked then, the child would wait for them for ever;
/// see [`crate::once`].
pub fn settle(py: Python<'_>) {
    ndarray::settle(py);
    error::settle(py);
}

/// Has every fork hold the locks from now on; the first call counts.
pub fn watch(py: Python<'_>) -> PyResult<()> {
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
    if status != 0 {
        return Err(io::Error::from_raw_os_error(status).into());
    }
    let os = py.import("os")?;
    if let Some(register) = os.getattr_opt("register_at_fork")? {
        let keywords = PyDict::new(py);
        keywords.set_item("after_in_child", wrap_pyfunction!(drop_left, py)?)?;
        register.call((), Some(&keywords))?;
    }
    Ok(())
}

/// Drops in a child, once Python is ready for it, what ended as the process forked.
#[pyfunction]
fn drop_left() {
    fork::drop_left();
}

#[cfg(unix)]
fn register() -> i32 {
    extern "C" fn hold() {
        fork::hold();
    }
    extern "C" fn release() {
        fork::release();
    }
    extern "C" fn release_in_child() {
        fork::release_in_child();
    }
    // SAFETY: the functions are there as long as the process: Python never unloads an extension module. Test:
    // tests/core/test_forks.py::test_a_child_finds_no_lock_held.
    unsafe { libc::pthread_atfork(Some(hold), Some(release), Some(release_in_child)) }
}

/// Without forks there is nothing to do.
#[cfg(not(unix))]
fn register() -> i32 {
    0
}
