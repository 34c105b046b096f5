//! Forks: a child has all locks of its parent, but only one of its threads, the one that forked.
//!
//! A lock that another thread held at that moment would be held for ever in the child, over a table that was half
//! changed. So the thread that forks takes all locks first ([`hold`]) and gives them back on both sides ([`release`],
//! [`release_in_child`]): then no other thread is within a table. It may wait for the locks in any order, since no
//! thread waits for one lock while it holds another.
//!
//! A lock that no thread ever waits for need not be held. A cache may have such a lock if its content can be computed
//! again.

use std::cell::RefCell;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use self_cell::self_cell;

/// An object with locks that threads wait for.
pub trait Locks: Send + Sync {
    /// Takes all its locks. `others` takes the locks of further owners that are found by way of these.
    fn hold<'a>(&'a self, others: &mut Vec<Arc<dyn Locks>>) -> Held<'a>;
}

/// Locks that are held until it is dropped.
pub type Held<'a> = Box<dyn Guard + 'a>;

/// A guard of locks of any kind.
pub trait Guard {}

impl<T> Guard for T {}

/// All known owners of locks.
struct Registry {
    /// Locks that exist once in the process.
    lasting: Vec<&'static dyn Locks>,
    owners: Vec<Weak<dyn Locks>>,
    /// With more owners than this, dead ones are looked for and removed.
    crowded: usize,
}

static REGISTRY: std::sync::Mutex<Registry> =
    std::sync::Mutex::new(Registry { lasting: Vec::new(), owners: Vec::new(), crowded: 64 });

self_cell!(
    /// An owner, and its locks.
    struct Holding {
        owner: Arc<dyn Locks>,
        #[not_covariant]
        dependent: Held,
    }
);

/// Everything that a forking thread holds.
struct All {
    registry: MutexGuard<'static, Registry>,
    lasting: Vec<Held<'static>>,
    holdings: Vec<Holding>,
}

thread_local! {
    static HELD: RefCell<Option<All>> = const { RefCell::new(None) };
    static LEFT: RefCell<Vec<Arc<dyn Locks>>> = const { RefCell::new(Vec::new()) };
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forks wait for these locks from now on, until the owner is gone.
pub fn add<T: Locks + 'static>(owner: &Arc<T>) {
    let owner: Weak<dyn Locks> = Arc::downgrade(owner) as Weak<dyn Locks>;
    let mut registry = registry();
    if registry.owners.len() > registry.crowded {
        // No owner is dropped here: only dead ones are removed.
        registry.owners.retain(|owner| owner.strong_count() > 0);
        registry.crowded = 64.max(2 * registry.owners.len());
    }
    registry.owners.push(owner);
}

/// From now on forks wait for these locks. The process has one of each.
pub fn add_lasting(owner: &'static dyn Locks) {
    registry().lasting.push(owner);
}

/// Takes all locks, before this thread forks the process.
pub fn hold() {
    let registry = registry();
    let mut found: Vec<Arc<dyn Locks>> = registry.owners.iter().filter_map(Weak::upgrade).collect();
    let lasting = registry.lasting.iter().map(|owner| owner.hold(&mut found)).collect();
    let mut holdings = Vec::with_capacity(found.len());
    while let Some(owner) = found.pop() {
        holdings.push(Holding::new(owner, |owner| owner.hold(&mut found)));
    }
    HELD.set(Some(All { registry, lasting, holdings }));
}

/// Gives the locks back in the parent, after the fork.
pub fn release() {
    drop(given_back());
}

/// Gives the locks back in the child, after the fork: this is the same thread there.
///
/// The last handle of an owner may be here now, and its end may run code of the host language. That is not ready for
/// it before its own functions for forks have run. So these owners stay until [`drop_left`].
pub fn release_in_child() {
    LEFT.set(given_back());
}

/// Drops what [`release_in_child`] left.
pub fn drop_left() {
    drop(LEFT.take());
}

/// The owners whose locks were held; their end takes locks.
fn given_back() -> Vec<Arc<dyn Locks>> {
    let Some(All { registry, lasting, holdings }) = HELD.take() else { return Vec::new() };
    let owners = holdings.iter().map(|held| Arc::clone(held.borrow_owner())).collect();
    drop((holdings, lasting, registry));
    owners
}
