//! The editable graphs of a container: an index that owns none of them.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;

use crate::intern::fork::{Held, Locks};
use crate::intern::sync::Mutex;

/// A member of a registry, with a number of its own. A container need not know the type of its graphs.
pub(crate) trait Registered: Locks + Any {}

/// A container's graphs.
#[derive(Default)]
pub(crate) struct Registry {
    serials: AtomicU64,
    members: Mutex<FxHashMap<u64, Weak<dyn Registered>>>,
}

impl Registry {
    /// A number for one more member: higher than all before it.
    pub(crate) fn next_serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds `member`, until it is removed.
    pub(crate) fn add<T: Registered>(&self, serial: u64, member: &Arc<T>) {
        let member: Weak<dyn Registered> = Arc::downgrade(member) as Weak<dyn Registered>;
        self.members.lock().insert(serial, member);
    }

    /// Removes a member that dies.
    pub(crate) fn forget(&self, serial: u64) {
        let mut members = self.members.lock();
        let forgotten = members.remove(&serial);
        if 8 * members.len() < members.capacity() {
            let room = 2 * members.len();
            members.shrink_to(room);
        }
        drop(members);
        drop(forgotten);
    }

    /// The living members, in the order of their numbers.
    pub(crate) fn living<T: Registered>(&self) -> Vec<Arc<T>> {
        let members = self.members.lock();
        let living =
            members.iter().filter_map(|(serial, member)| Some((*serial, member.upgrade()?)));
        let mut living: Vec<(u64, Arc<dyn Registered>)> = living.collect();
        drop(members);
        living.sort_by_key(|(serial, _)| *serial);
        let own = |member: Arc<dyn Registered>| -> Arc<dyn Any + Send + Sync> { member };
        living.into_iter().filter_map(|(_, member)| own(member).downcast().ok()).collect()
    }

    /// The lock, for a thread that forks. It must hold the locks of the members too.
    pub(crate) fn hold<'a>(&'a self, others: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        let members = self.members.lock();
        others.extend(
            members.values().filter_map(Weak::upgrade).map(|member| member as Arc<dyn Locks>),
        );
        Box::new(members)
    }
}
