//! The line of the user's code that first built a node.
//!
//! Building a node stores a number for (code object, instruction); the line is found when it is needed.
//!
//! Code that has no other owner any longer, such as a cell of a notebook, is kept so that its nodes still know
//! their lines. Only the latest of such code is kept: a program may run any number of pieces.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use frazil_core::Origin;
use frazil_core::intern::fork::{Held, Locks};
use frazil_core::intern::sync::Mutex;
use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use crate::once::intern;

struct Code {
    object: Py<PyAny>,
    /// Belongs to frazil itself, so the user's code is further up the stack.
    internal: bool,
    /// The number of pieces of code that were met before.
    serial: u64,
}

/// With more pieces of code than this, code without another owner is looked for.
const MANY: usize = 4096;
/// The number of these that stay: the latest ones.
const LATEST: u64 = 2048;

struct Table {
    codes: FxHashMap<usize, Code>,
    numbers: FxHashMap<(usize, i32), u32>,
    /// By number; 0 stands for "unknown". No number is used again.
    places: FxHashMap<u32, (usize, i32)>,
    next: u32,
    internal_prefix: String,
    /// Pieces of code that were ever met.
    met: u64,
    /// With more code than this, code without another owner is looked for.
    crowded: usize,
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
        places: FxHashMap::default(),
        next: 1,
        internal_prefix: String::new(),
        met: 0,
        crowded: MANY,
    }))
}

/// Frames of files below `prefix` are never the user's.
#[pyfunction]
pub fn set_internal_path(prefix: String) {
    with_table(|table| table.internal_prefix = prefix);
}

/// The number of times that code was forgotten.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

/// What a thread remembers of the table, so that threads that build nodes do not wait for each other: a cell for each
/// of some codes, and of some places in codes. It holds until code is forgotten, whose address another may get.
struct Seen {
    forgotten: Cell<u64>,
    codes: [Cell<(usize, bool)>; SEEN],
    places: [Cell<(usize, i32, u32)>; SEEN],
}

/// A power of two.
const SEEN: usize = 128;

thread_local! {
    /// The origin of nodes that are built while a rule's function runs.
    static STEAD: Cell<Option<Origin>> = const { Cell::new(None) };
    /// On the heap: a library that is loaded late finds little room among what threads have of their own.
    static HERE: Box<Seen> = Box::new(Seen {
        forgotten: Cell::new(0),
        codes: [const { Cell::new((0, false)) }; SEEN],
        places: [const { Cell::new((0, 0, 0)) }; SEEN],
    });
}

/// The memory of this thread, for `body`.
fn with_seen<T>(body: impl FnOnce(&Seen) -> T) -> T {
    HERE.with(|here| {
        let forgotten = FORGOTTEN.load(Ordering::Acquire);
        if here.forgotten.replace(forgotten) != forgotten {
            here.codes.iter().for_each(|code| code.set((0, false)));
            here.places.iter().for_each(|place| place.set((0, 0, 0)));
        }
        body(here)
    })
}

/// The cell of a code, or of an instruction in it.
fn cell(address: usize, instruction: i32) -> usize {
    let mixed = (address >> 4).wrapping_add(instruction as usize).wrapping_mul(0x9e37_79b9);
    (mixed >> 12) % SEEN
}

/// Runs `body`; nodes that it builds count as built at `origin`, since they may replace the node from there.
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
        if !is_internal(&code)? {
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

/// Whether code belongs to frazil itself.
fn is_internal(code: &Bound<'_, PyAny>) -> PyResult<bool> {
    let address = code.as_ptr() as usize;
    let at = cell(address, 0);
    let (seen, internal) = with_seen(|here| here.codes[at].get());
    if seen == address {
        return Ok(internal);
    }
    let known = with_table(|table| table.codes.get(&address).map(|code| code.internal));
    let internal = match known {
        Some(internal) => internal,
        None => remember(code)?,
    };
    with_seen(|here| here.codes[at].set((address, internal)));
    Ok(internal)
}

fn remember(code: &Bound<'_, PyAny>) -> PyResult<bool> {
    let file: String = code.getattr(intern!(code.py(), "co_filename"))?.extract()?;
    let object = code.clone().unbind();
    let (internal, forgotten) = with_table(|table| {
        let internal =
            !table.internal_prefix.is_empty() && file.starts_with(&table.internal_prefix);
        let serial = table.met;
        table.met += 1;
        // Keeping the code object keeps its address from being given to another.
        let known = table.codes.entry(code.as_ptr() as usize);
        let internal = known.or_insert(Code { object, internal, serial }).internal;
        let crowded = table.codes.len() > table.crowded;
        (internal, if crowded { table.forget_the_dead() } else { Vec::new() })
    });
    // Dropped after the lock is released.
    drop(forgotten);
    Ok(internal)
}

impl Table {
    /// Removes code without another owner, except the latest, with its places.
    fn forget_the_dead(&mut self) -> Vec<Code> {
        let recent = self.met.saturating_sub(LATEST);
        let dead = |_: &usize, code: &mut Code| {
            // SAFETY: the table keeps the object alive. Test:
            // tests/core/test_memory_of_values.py::test_code_that_ran_once_goes.
            let references = unsafe { ffi::Py_REFCNT(code.object.as_ptr()) };
            code.serial < recent && references == 1
        };
        let dead: FxHashMap<usize, Code> = self.codes.extract_if(dead).collect();
        // Before the code goes, and another may get its address.
        FORGOTTEN.fetch_add(1, Ordering::Release);
        self.numbers.retain(|(address, _), _| !dead.contains_key(address));
        self.places.retain(|_, (address, _)| !dead.contains_key(address));
        self.codes.shrink_to(2 * self.codes.len());
        self.crowded = MANY.max(2 * self.codes.len());
        dead.into_values().collect()
    }
}

fn number(address: usize, instruction: i32) -> Origin {
    let at = cell(address, instruction);
    let (seen, place, number) = with_seen(|here| here.places[at].get());
    if (seen, place) == (address, instruction) {
        return Origin(number);
    }
    let number = with_table(|table| {
        let Table { numbers, places, next, .. } = table;
        *numbers.entry((address, instruction)).or_insert_with(|| {
            let number = *next;
            // Beyond the last number all is unknown.
            if number != 0 {
                *next = number.wrapping_add(1);
                places.insert(number, (address, instruction));
            }
            number
        })
    });
    with_seen(|here| here.places[at].set((address, instruction, number)));
    Origin(number)
}

/// File, line and function of a place.
pub fn describe(py: Python<'_>, origin: Origin) -> PyResult<Option<(String, u32, String)>> {
    let place = with_table(|table| {
        let &(address, instruction) = table.places.get(&origin.0)?;
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
