//! The line of the user's code that first built a node.
//!
//! Building a node stores a number for (code object, instruction); the line is found when it is needed.
//!
//! Code that has no other owner any longer, such as a cell of a notebook, is kept so that its nodes still know
//! their lines. Only the latest code is kept: a program may run any number of pieces. Older code is held by a weak
//! reference, and forgotten when it dies. Its owners cannot be counted instead: Python without a GIL defers the
//! reference counts of code.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use frazil_core::Origin;
use frazil_core::intern::fork::{Held, Locks};
use frazil_core::intern::sync::Mutex;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple, PyWeakrefMethods, PyWeakrefReference};
use rustc_hash::FxHashMap;

use crate::object_table::ObjectResult;
use crate::once::intern;

struct Code {
    object: Reference,
    /// Belongs to frazil itself, or is the `make_node` of an op: who applied the op is further up the stack.
    internal: bool,
    /// The numbers of its places, by instruction.
    numbers: FxHashMap<i32, u32>,
}

/// How the table holds code. Either way its address is not given to other code before it is forgotten.
enum Reference {
    Strong(Py<PyAny>),
    Weak(Py<PyWeakrefReference>),
}

/// With more code than this, all but the latest is held by weak references.
const MANY: usize = 4096;
/// The number of pieces of code that keep a strong reference then.
const LATEST: usize = 2048;

struct Table {
    codes: FxHashMap<usize, Code>,
    /// The addresses of code with a strong reference, in the order in which it was met.
    latest: VecDeque<usize>,
    /// By number; 0 stands for "unknown". No number is used again.
    places: FxHashMap<u32, (usize, i32)>,
    next: u32,
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
        latest: VecDeque::new(),
        places: FxHashMap::default(),
        next: 1,
        internal_prefix: String::new(),
    }))
}

/// Frames of files below `prefix` are never the user's.
#[pyfunction]
pub fn set_internal_path(prefix: String) {
    with_table(|table| table.internal_prefix = prefix);
}

/// The number of times that code was forgotten.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

/// The part of the table that a thread remembers, so that threads that build nodes do not wait for each other: a cell
/// for each of some codes, and of some places in codes. It holds until code is forgotten, whose address another may get.
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
    /// The place of the user's code, while frazil's own code runs for it; see [`at_one_line`].
    static FOUND: Cell<Option<Origin>> = const { Cell::new(None) };
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

type OriginCell = std::thread::LocalKey<Cell<Option<Origin>>>;

/// Runs `body` while a cell holds `origin`.
fn while_set<T>(cell: &'static OriginCell, origin: Option<Origin>, body: impl FnOnce() -> T) -> T {
    struct Restore(&'static OriginCell, Option<Origin>);
    impl Drop for Restore {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    let _restore = Restore(cell, cell.replace(origin));
    body()
}

/// Runs `body`; nodes that it builds count as built at `origin`, since they may replace the node from there.
pub fn in_stead_of<T>(origin: Origin, body: impl FnOnce() -> T) -> T {
    while_set(&STEAD, Some(origin), body)
}

/// Calls `function`, which runs no code of users but by [`at_lines_of_others`]: the line of the user's code is found
/// once, for all nodes that it builds.
#[pyfunction]
#[pyo3(signature = (function, *arguments))]
pub fn at_one_line<'py>(
    function: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
) -> ObjectResult<'py> {
    let origin = here(function.py())?;
    while_set(&FOUND, Some(origin), || function.call1(arguments))
}

/// Calls `function`, which may be a user's: nodes that it builds have the lines of its own.
#[pyfunction]
#[pyo3(signature = (function, *arguments))]
pub fn at_lines_of_others<'py>(
    function: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
) -> ObjectResult<'py> {
    while_set(&FOUND, None, || function.call1(arguments))
}

/// The place in the user's code that is running now.
pub fn here(py: Python<'_>) -> PyResult<Origin> {
    if let Some(origin) = STEAD.get().or_else(|| FOUND.get()) {
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

/// Whether code belongs to frazil itself, or is the method of a user's op that makes nodes for whoever applies it.
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
    let name: String = code.getattr(intern!(code.py(), "co_name"))?.extract()?;
    let makes_nodes = name == "make_node" && {
        let names: Vec<String> = code.getattr(intern!(code.py(), "co_varnames"))?.extract()?;
        names.first().is_some_and(|first| first == "self")
    };
    let object = Reference::Strong(code.clone().unbind());
    let (internal, old) = with_table(|table| {
        let own = !table.internal_prefix.is_empty() && file.starts_with(&table.internal_prefix);
        let internal = own || makes_nodes;
        let Table { codes, latest, .. } = table;
        let known = codes.entry(code.as_ptr() as usize).or_insert_with_key(|&address| {
            latest.push_back(address);
            Code { object, internal, numbers: FxHashMap::default() }
        });
        let internal = known.internal;
        (internal, if table.latest.len() > MANY { table.old(code.py()) } else { Vec::new() })
    });
    for object in old {
        hold_weakly(object.bind(code.py()))?;
    }
    Ok(internal)
}

/// Holds code by a weak reference from now on, which forgets the code when it dies.
fn hold_weakly(code: &Bound<'_, PyAny>) -> PyResult<()> {
    let address = code.as_ptr() as usize;
    let forgets = move |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| forget(address);
    let forgets = PyCFunction::new_closure(code.py(), None, None, forgets)?;
    let weak = PyWeakrefReference::new_with(code, forgets)?.unbind();
    let strong = with_table(|table| {
        let known = table.codes.get_mut(&address)?;
        Some(std::mem::replace(&mut known.object, Reference::Weak(weak)))
    });
    // Dropped after the lock is released.
    drop(strong);
    Ok(())
}

/// Forgets code that dies, before other code may get its address.
fn forget(address: usize) {
    let dead = with_table(|table| {
        FORGOTTEN.fetch_add(1, Ordering::Release);
        let dead = table.codes.remove(&address)?;
        for number in dead.numbers.values() {
            table.places.remove(number);
        }
        if table.codes.len() < table.codes.capacity() / 4 {
            table.codes.shrink_to(2 * table.codes.len());
            table.places.shrink_to(2 * table.places.len());
        }
        Some(dead)
    });
    // Dropped after the lock is released.
    drop(dead);
}

impl Table {
    /// All code with a strong reference but the latest, which is no longer listed.
    fn old(&mut self, py: Python<'_>) -> Vec<Py<PyAny>> {
        let Table { codes, latest, .. } = self;
        let old = latest.drain(..latest.len() - LATEST);
        old.filter_map(|address| match &codes.get(&address)?.object {
            Reference::Strong(object) => Some(object.clone_ref(py)),
            Reference::Weak(_) => None,
        })
        .collect()
    }
}

fn number(address: usize, instruction: i32) -> Origin {
    let at = cell(address, instruction);
    let (seen, place, number) = with_seen(|here| here.places[at].get());
    if (seen, place) == (address, instruction) {
        return Origin(number);
    }
    let number = with_table(|table| {
        let Table { codes, places, next, .. } = table;
        // Code that is running is known: it is forgotten only when it dies.
        let Some(code) = codes.get_mut(&address) else { return 0 };
        *code.numbers.entry(instruction).or_insert_with(|| {
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
        let code = match &table.codes.get(&address)?.object {
            Reference::Strong(object) => object.bind(py).clone(),
            Reference::Weak(weak) => weak.bind(py).upgrade()?,
        };
        Some((code, instruction))
    });
    let Some((code, instruction)) = place else { return Ok(None) };
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
