//! Wrappers: the one Python object of a node, a variable or an op, as long as that object lives.
//!
//! A table of weak references, keyed by the node's address. A reference is made before the lock is taken, and
//! references that leave the table are dropped after the lock is released: no Python code runs under a lock.

use std::sync::Arc;

use frazil_core::intern::fork::{Held, Locks};
use frazil_core::intern::sync::Mutex;
use frazil_core::{Body, FrozenFunctionGraph, FunctionGraph, Node, Op, Var};
use hashbrown::HashTable;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use pyo3::{PyClass, PyClassInitializer};

use crate::apply::FrozenApply;
use crate::cell::SharedCell;
use crate::container::Container;
use crate::frozen_graph;
use crate::graph;
use crate::variable::{Constant, NominalVariable, SharedVariable, Variable};

/// A Python object, or the exception that was raised instead.
pub type ObjectResult<'py> = PyResult<Bound<'py, PyAny>>;

/// The identity of a wrapped value: its address, and an output's position or the kind of value.
type Identity = (usize, u32);

const APPLY: u32 = u32::MAX;
const CONTAINER: u32 = u32::MAX - 1;
const GRAPH: u32 = u32::MAX - 2;
const FROZEN: u32 = u32::MAX - 3;
const OP: u32 = u32::MAX - 4;
/// A power of two; enough that threads rarely meet in one shard.
const SHARDS: usize = 64;

struct Entry {
    identity: Identity,
    wrapper: Py<PyWeakrefReference>,
}

/// It shares no line of memory with another, nor one that a processor fetches with it.
#[repr(align(128))]
struct Shard(Mutex<HashTable<Entry>>);

static WRAPPERS: [Shard; SHARDS] = [const { Shard(Mutex::new(HashTable::new())) }; SHARDS];

/// The locks of all wrappers.
pub struct Tables;

impl Locks for Tables {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        Box::new(WRAPPERS.each_ref().map(|shard| shard.0.lock()))
    }
}

fn hash((address, index): Identity) -> u64 {
    // Addresses share their low bits; a multiplication spreads what differs over the word.
    ((address as u64) ^ ((index as u64) << 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn shard(hash: u64) -> &'static Mutex<HashTable<Entry>> {
    &WRAPPERS[(hash >> 32) as usize % SHARDS].0
}

fn find<'py>(py: Python<'py>, identity: Identity) -> Option<Bound<'py, PyAny>> {
    let hash = hash(identity);
    let table = shard(hash).lock();
    table.find(hash, |entry| entry.identity == identity)?.wrapper.bind(py).upgrade()
}

/// Makes `new` the wrapper of `identity`, unless another thread was faster; returns the wrapper.
fn install<'py>(py: Python<'py>, identity: Identity, new: Bound<'py, PyAny>) -> ObjectResult<'py> {
    let reference = PyWeakrefReference::new(&new)?.unbind();
    let hash = hash(identity);
    let mut table = shard(hash).lock();
    let entry =
        table.entry(hash, |entry| entry.identity == identity, |entry| self::hash(entry.identity));
    match entry {
        hashbrown::hash_table::Entry::Occupied(mut entry) => {
            if let Some(living) = entry.get().wrapper.bind(py).upgrade() {
                drop(table);
                drop(reference);
                return Ok(living);
            }
            let stale = std::mem::replace(&mut entry.get_mut().wrapper, reference);
            drop(table);
            drop(stale);
        }
        hashbrown::hash_table::Entry::Vacant(entry) => {
            entry.insert(Entry { identity, wrapper: reference });
        }
    }
    Ok(new)
}

/// Forgets a wrapper that is being freed.
fn forget(py: Python<'_>, identity: Identity) {
    let hash = hash(identity);
    let mut table = shard(hash).lock();
    let Ok(entry) = table.find_entry(hash, |entry| entry.identity == identity) else { return };
    // Another thread may have given the node a new wrapper since this one lost its last reference.
    let living = entry.get().wrapper.bind(py).upgrade();
    let stale = living.is_none().then(|| entry.remove().0);
    if 8 * table.len() < table.capacity() {
        let room = 2 * table.len();
        table.shrink_to(room, |entry| self::hash(entry.identity));
    }
    drop(table);
    drop((stale, living));
}

/// Forgets the wrapper of a variable that is being freed.
pub fn forget_variable(py: Python<'_>, var: &Var) {
    forget(py, var.identity());
}

/// Forgets the wrapper of a node that is being freed.
pub fn forget_apply(py: Python<'_>, node: &Node) {
    forget(py, (node.address(), APPLY));
}

/// Forgets the wrapper of a container that is being freed.
pub fn forget_container(py: Python<'_>, container: &frazil_core::Container) {
    forget(py, (container.address(), CONTAINER));
}

/// Forgets the wrapper of a graph that is being freed.
pub fn forget_graph(py: Python<'_>, graph: &FunctionGraph) {
    forget(py, (graph.address(), GRAPH));
}

/// Forgets the wrapper of a frozen graph that is being freed.
pub fn forget_frozen(py: Python<'_>, graph: &FrozenFunctionGraph) {
    forget(py, (graph.address(), FROZEN));
}

/// Forgets the wrapper of an op that is counted, and is being freed.
pub fn forget_op(py: Python<'_>, op: &Op) {
    forget(py, (op.address(), OP));
}

/// The living wrapper of an op that is counted.
pub fn find_op<'py>(py: Python<'py>, op: &Op) -> Option<Bound<'py, PyAny>> {
    find(py, (op.address(), OP))
}

/// Makes `new` the wrapper of an op that is counted, unless it has one; returns the wrapper.
pub fn install_op<'py>(py: Python<'py>, op: &Op, new: Bound<'py, PyAny>) -> ObjectResult<'py> {
    match find_op(py, op) {
        Some(living) => Ok(living),
        None => install(py, (op.address(), OP), new),
    }
}

/// The Python object for a variable.
pub fn wrapper(py: Python<'_>, var: Var) -> PyResult<Bound<'_, PyAny>> {
    let identity = var.identity();
    if let Some(living) = find(py, identity) {
        return Ok(living);
    }
    let base = |var: &Var| PyClassInitializer::from(Variable::from_var(var.clone()));
    let new = match var.node().body() {
        Body::Apply { .. } => Bound::new(py, Variable::from_var(var))?.into_any(),
        Body::Constant(_) => Bound::new(py, base(&var).add_subclass(Constant))?.into_any(),
        Body::Nominal { .. } => {
            Bound::new(py, base(&var).add_subclass(NominalVariable))?.into_any()
        }
        Body::Input { payload, .. } => {
            match payload.clone().and_then(|any| Arc::downcast::<SharedCell>(any).ok()) {
                Some(cell) => {
                    Bound::new(py, base(&var).add_subclass(SharedVariable::new(cell)))?.into_any()
                }
                None => Bound::new(py, Variable::from_var(var))?.into_any(),
            }
        }
    };
    install(py, identity, new)
}

/// The Python object that lives for an identity, or a new one.
fn living_or<'py, T: PyClass>(
    py: Python<'py>,
    identity: Identity,
    content: impl FnOnce() -> T,
) -> ObjectResult<'py>
where
    PyClassInitializer<T>: From<T>,
{
    match find(py, identity) {
        Some(living) => Ok(living),
        None => install(py, identity, Bound::new(py, content())?.into_any()),
    }
}

/// The Python object for an application.
pub fn apply_wrapper(py: Python<'_>, node: Node) -> PyResult<Bound<'_, PyAny>> {
    living_or(py, (node.address(), APPLY), || FrozenApply::from_node(node))
}

/// The Python object for a container.
pub fn container_wrapper(
    py: Python<'_>,
    container: frazil_core::Container,
) -> PyResult<Bound<'_, PyAny>> {
    living_or(py, (container.address(), CONTAINER), || Container::from_core(container))
}

/// The Python object for a graph.
pub fn graph_wrapper(py: Python<'_>, graph: FunctionGraph) -> PyResult<Bound<'_, PyAny>> {
    living_or(py, (graph.address(), GRAPH), || graph::FunctionGraph::from_core(graph))
}

/// The Python object for a frozen graph.
pub fn frozen_wrapper(py: Python<'_>, graph: FrozenFunctionGraph) -> PyResult<Bound<'_, PyAny>> {
    living_or(py, (graph.address(), FROZEN), || frozen_graph::FrozenFunctionGraph::from_core(graph))
}
