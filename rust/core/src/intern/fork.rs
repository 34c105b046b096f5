//! Forks: a child has the locks of its parent, and of its threads only the one that forked.
//!
//! What another thread held at that moment would be held for ever in the child, over a table that was half changed. So
//! the thread that forks takes all locks first ([`hold`]) and gives them back on both sides ([`release`]): then nobody
//! else is within a table. It may wait for each in any order, since nobody waits for one lock under another.
//!
//! Locks that are never waited for need not be held: a cache may be locked so, if its content can be worked out again.

use std::cell::RefCell;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use self_cell::self_cell;

/// What has locks that threads wait for.
pub trait Locks: Send + Sync {
    /// Takes them all. `others` takes what else has locks and is found by these.
    fn hold<'a>(&'a self, others: &mut Vec<Arc<dyn Locks>>) -> Held<'a>;
}

/// Locks that are held until it is dropped.
pub type Held<'a> = Box<dyn Guard + 'a>;

/// Whatever holds locks.
pub trait Guard {}

impl<T> Guard for T {}

/// All that have locks and are told of.
struct Registry {
    /// Those that the process has one of.
    lasting: Vec<&'static dyn Locks>,
    owners: Vec<Weak<dyn Locks>>,
    /// The dead among the owners are looked for when there are more than this.
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
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forks wait for these locks from now on, until the owner is gone.
pub fn add<T: Locks + 'static>(owner: &Arc<T>) {
    let owner: Weak<dyn Locks> = Arc::downgrade(owner) as Weak<dyn Locks>;
    let mut registry = registry();
    if registry.owners.len() > registry.crowded {
        // Nobody is dropped here: only who is dead already goes.
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

/// Gives the locks back, after the fork: in the parent, and in the child, where this is the same thread.
pub fn release() {
    let Some(All { registry, lasting, holdings }) = HELD.take() else { return };
    // The last handle of an owner may be here now, and its end takes locks.
    let owners: Vec<_> = holdings.iter().map(|held| Arc::clone(held.borrow_owner())).collect();
    drop((holdings, lasting, registry));
    drop(owners);
}
