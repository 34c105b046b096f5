//! Where in the user's code a node was first built.
//!
//! Building a node stores a number for (code object, instruction); the line is worked out when somebody asks.

use std::cell::Cell;
use std::sync::Arc;

use frazil_core::Origin;
use frazil_core::fork::{Held, Locks};
use frazil_core::sync::Mutex;
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use rustc_hash::FxHashMap;

struct Code {
    object: Py<PyAny>,
    /// Belongs to frazil itself, so the user's code is further up the stack.
    internal: bool,
}

struct Table {
    codes: FxHashMap<usize, Code>,
    numbers: FxHashMap<(usize, i32), u32>,
    /// Position 0 stands for "unknown".
    places: Vec<(usize, i32)>,
    internal_prefix: String,
}

static TABLE: Mutex<Option<Table>> = Mutex::new(None);

/// The lock of all places.
pub struct Places;

impl Locks for Places {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        Box::new(TABLE.lock())
    }
}

fn with_table<T>(body: impl FnOnce(&mut Table) -> T) -> T {
    let mut guard = TABLE.lock();
    body(guard.get_or_insert_with(|| Table {
        codes: FxHashMap::default(),
        numbers: FxHashMap::default(),
        places: vec![(0, 0)],
        internal_prefix: String::new(),
    }))
}

/// Frames of files below `prefix` are never the user's.
#[pyfunction]
pub fn set_internal_path(prefix: String) {
    with_table(|table| table.internal_prefix = prefix);
}

thread_local! {
    /// Where nodes count as built while a rule's function runs.
    static STEAD: Cell<Option<Origin>> = const { Cell::new(None) };
}

/// Runs `body`; what it builds counts as built at `origin`, whose node it may take the place of.
pub fn in_stead_of<T>(origin: Origin, body: impl FnOnce() -> T) -> T {
    struct Restore(Option<Origin>);
    impl Drop for Restore {
        fn drop(&mut self) {
            STEAD.set(self.0);
        }
    }
    let _restore = Restore(STEAD.replace(Some(origin)));
    body()
}

/// The place in the user's code that is running now.
pub fn here(py: Python<'_>) -> PyResult<Origin> {
    if let Some(origin) = STEAD.get() {
        return Ok(origin);
    }
    // SAFETY: attached to the interpreter; the result is borrowed from the thread's stack and may be null, which
    // `from_borrowed_ptr_or_opt` takes. Test: tests/test_graph.py::test_source_is_the_users_line.
    let frame = unsafe {
        Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast::<ffi::PyObject>())
    };
    let Some(mut frame) = frame else { return Ok(Origin::default()) };
    loop {
        // SAFETY: `frame` is a frame object, alive here; the call returns a new reference, never null.
        // Test: as above.
        let code = unsafe {
            Bound::from_owned_ptr(
                py,
                ffi::PyFrame_GetCode(frame.as_ptr().cast()).cast::<ffi::PyObject>(),
            )
        };
        let address = code.as_ptr() as usize;
        let known = with_table(|table| table.codes.get(&address).map(|code| code.internal));
        let internal = match known {
            Some(internal) => internal,
            None => remember(&code)?,
        };
        if !internal {
            let instruction: i32 = frame.getattr(intern!(py, "f_lasti"))?.extract()?;
            return Ok(number(address, instruction));
        }
        let back = frame.getattr(intern!(py, "f_back"))?;
        if back.is_none() {
            return Ok(Origin::default());
        }
        frame = back;
    }
}

fn remember(code: &Bound<'_, PyAny>) -> PyResult<bool> {
    let file: String = code.getattr(intern!(code.py(), "co_filename"))?.extract()?;
    let object = code.clone().unbind();
    Ok(with_table(|table| {
        let internal =
            !table.internal_prefix.is_empty() && file.starts_with(&table.internal_prefix);
        // Keeping the code object keeps its address from being given to another.
        table.codes.entry(code.as_ptr() as usize).or_insert(Code { object, internal }).internal
    }))
}

fn number(address: usize, instruction: i32) -> Origin {
    with_table(|table| {
        let Table { numbers, places, .. } = table;
        Origin(*numbers.entry((address, instruction)).or_insert_with(|| {
            places.push((address, instruction));
            (places.len() - 1) as u32
        }))
    })
}

/// File, line and function of a place.
pub fn describe(py: Python<'_>, origin: Origin) -> PyResult<Option<(String, u32, String)>> {
    let place = with_table(|table| {
        let &(address, instruction) = table.places.get(origin.0 as usize)?;
        Some((table.codes.get(&address)?.object.clone_ref(py), instruction))
    });
    let Some((code, instruction)) = place else { return Ok(None) };
    let code = code.bind(py);
    let file = code.getattr("co_filename")?.extract()?;
    let function = code.getattr("co_qualname")?.extract()?;
    // co_lines gives (start, end, line) over byte offsets.
    for range in code.call_method0("co_lines")?.try_iter()? {
        let (start, end, line): (i32, i32, Option<u32>) = range?.extract()?;
        if (start..end).contains(&instruction) {
            return Ok(Some((file, line.unwrap_or(0), function)));
        }
    }
    Ok(Some((file, code.getattr("co_firstlineno")?.extract()?, function)))
}
