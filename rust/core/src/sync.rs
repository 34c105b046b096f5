//! Locks and atomics of what threads share: the real ones, or those of the model checker that tests them.
//!
//! With the feature `shuttle`, every use is a point where the checker may let another thread run.
//!
//! The locks are the standard library's, since these can be held across a fork (see [`crate::fork`]): all that there is
//! of one lies in the lock itself, so its holder can unlock it in the child. Locks that keep their waiters in a table of
//! the process cannot: there the child finds threads that do not exist, and hands locks over to them.
//!
//! What is worked out once without a lock is in a cell of `once_cell::race`, which nobody ever waits for: a thread that
//! a fork left behind while it filled a `OnceLock` would be waited for by the child for ever.

#[cfg(not(feature = "shuttle"))]
use std::sync as locks;
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::LazyLock as Lasting;
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, fence};
use std::sync::{PoisonError, TryLockError};

#[cfg(feature = "shuttle")]
use shuttle::sync as locks;
#[cfg(feature = "shuttle")]
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU32, fence};

#[cfg(feature = "shuttle")]
pub(crate) use checked::Lasting;
pub use locks::MutexGuard;

/// A lock that a panic does not poison: what it guards is whole after each statement.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(locks::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(locks::Mutex::new(value))
    }

    /// What it guards, which nobody else has any longer.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until nobody else has the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, if nobody has it now.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// A lock that many may read under at once: of tables that the process has one of, so the checker leaves it alone.
#[derive(Debug, Default)]
pub(crate) struct RwLock<T>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) const fn new(value: T) -> RwLock<T> {
        RwLock(std::sync::RwLock::new(value))
    }

    /// Waits until nobody writes.
    pub(crate) fn read(&self) -> std::sync::RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else has the lock.
    pub(crate) fn write(&self) -> std::sync::RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "shuttle")]
mod checked {
    use std::marker::PhantomData;

    use shuttle::lazy_static::Lazy;
    use shuttle::sync::Once;

    /// What a process has one of: made when it is first asked for, anew for each schedule.
    pub(crate) struct Lasting<T: Sync>(Lazy<T>);

    impl<T: Sync> Lasting<T> {
        pub(crate) const fn new(init: fn() -> T) -> Lasting<T> {
            Lasting(Lazy { cell: Once::new(), init, _p: PhantomData })
        }

        pub(crate) fn force(this: &'static Lasting<T>) -> &'static T {
            this.0.get()
        }
    }
}
