//! The cells behind shared variables: read together, and replaced together.

use std::cell::Cell;

use frazil_core::intern::sync::Mutex;
use frazil_core::{Dim, Ty};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::container::current;
use crate::object_table::{ObjectResult, wrapper};
use crate::owned::Owned;
use crate::types::dtype_of_descr;

/// Holds the current array of a shared variable.
pub struct SharedCell {
    array: Mutex<Owned<PyUntypedArray>>,
}

impl SharedCell {
    /// A cell that holds `array`.
    pub fn new(array: Py<PyUntypedArray>) -> SharedCell {
        SharedCell { array: Mutex::new(array.into()) }
    }

    /// The current array.
    pub fn get(&self, py: Python<'_>) -> Py<PyUntypedArray> {
        self.array.lock().clone_ref(py)
    }

    /// Puts `array` in; the old one is returned so that it is dropped outside the lock.
    pub fn set(&self, array: Py<PyUntypedArray>) -> Owned<PyUntypedArray> {
        count_change();
        std::mem::replace(&mut *self.array.lock(), array.into())
    }

    fn holds(&self, array: &Py<PyUntypedArray>) -> bool {
        self.array.lock().is(array)
    }
}

/// A few arrays.
pub type Arrays = SmallVec<[Py<PyUntypedArray>; 8]>;

/// The arrays of several cells, as they were at one moment.
pub fn snapshot<'c>(
    py: Python<'_>,
    cells: impl ExactSizeIterator<Item = &'c SharedCell> + Clone,
) -> Arrays {
    loop {
        let arrays: Arrays = cells.clone().map(|cell| cell.get(py)).collect();
        // If no array was replaced since it was read, all of them are there now.
        if arrays.len() < 2 || cells.clone().zip(&arrays).all(|(cell, array)| cell.holds(array)) {
            return arrays;
        }
    }
}

/// A cell that is to take an array.
pub struct Replacement<'c> {
    pub cell: &'c SharedCell,
    /// The array that it must still hold.
    pub known: Option<&'c Py<PyUntypedArray>>,
    pub array: Owned<PyUntypedArray>,
}

/// Replaces the arrays of cells that differ from each other: all of them at once, or none if one
/// does not hold any more what it must. Gives whether they are. The arrays that are not in cells now
/// are dropped outside the locks.
pub fn replace(mut all: SmallVec<[Replacement<'_>; 8]>) -> bool {
    // Whoever locks several cells does so in the order of their addresses.
    all.sort_unstable_by_key(|one| std::ptr::from_ref(one.cell));
    let mut guards: SmallVec<[_; 8]> = all.iter().map(|one| one.cell.array.lock()).collect();
    let kept =
        guards.iter().zip(&all).all(|(held, one)| one.known.is_none_or(|known| held.is(known)));
    if kept {
        for (held, one) in guards.iter_mut().zip(&mut all) {
            std::mem::swap(&mut **held, &mut one.array);
        }
        count_change();
    }
    drop(guards);
    drop(all);
    kept
}

thread_local! {
    static CHANGES: Cell<u64> = const { Cell::new(0) };
}

fn count_change() {
    CHANGES.with(|changes| changes.set(changes.get() + 1));
}

/// The number of times that this thread has replaced arrays of cells.
pub fn changes_by_this_thread() -> u64 {
    CHANGES.with(Cell::get)
}

/// A shared variable over `value`.
#[pyfunction]
#[pyo3(signature = (value, name=None, shape=None))]
pub fn shared<'py>(
    value: &Bound<'py, PyUntypedArray>,
    name: Option<&str>,
    shape: Option<Vec<Option<u64>>>,
) -> ObjectResult<'py> {
    let dims: Vec<Dim> = shape.unwrap_or_else(|| vec![None; value.ndim()]);
    let ty = Ty::tensor(dtype_of_descr(&value.dtype())?, &dims);
    let cell = SharedCell::new(value.clone().unbind());
    let py = value.py();
    wrapper(py, current(py)?.input(&ty, name, Some(std::sync::Arc::new(cell))))
}
