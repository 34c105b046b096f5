//! Locks and atomics of data that threads share: the real ones, or those of the model checker that tests them.
//!
//! With the feature `shuttle`, every use is a point where the checker may let another thread run.
//!
//! The locks are the standard library's, since these can be held across a fork (see [`super::fork`]): such a lock has
//! no state outside of itself, so its holder can unlock it in the child. Locks that keep their waiters in a table of
//! the process cannot be: the child would find threads there that do not exist, and hand locks over to them.
//!
//! A value that is computed once without a lock is in a cell of `once_cell::race`, for which no thread ever waits. With
//! a `OnceLock` the child could wait for ever for a thread that was filling it when the process forked.

#[cfg(not(feature = "shuttle"))]
use std::sync as locks;
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
#[cfg(not(feature = "shuttle"))]
pub(crate) use real::Lasting;

/// A lock that a panic does not poison: the guarded data are whole after each statement.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(locks::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(locks::Mutex::new(value))
    }

    /// The guarded data; no other thread has the lock any longer.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until no other thread has the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, if no thread has it now.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(not(feature = "shuttle"))]
mod real {
    use once_cell::race::OnceBox;

    /// A value that exists once in a process, made at its first use. Two threads may both make one; the first counts.
    pub(crate) struct Lasting<T> {
        made: OnceBox<T>,
        make: fn() -> T,
    }

    impl<T> Lasting<T> {
        pub(crate) const fn new(make: fn() -> T) -> Lasting<T> {
            Lasting { made: OnceBox::new(), make }
        }

        pub(crate) fn get(&'static self) -> &'static T {
            self.made.get_or_init(|| Box::new((self.make)()))
        }
    }
}

#[cfg(feature = "shuttle")]
mod checked {
    use std::marker::PhantomData;

    use shuttle::lazy_static::Lazy;
    use shuttle::sync::Once;

    /// A value that exists once in a process, made at its first use, anew for each schedule.
    pub(crate) struct Lasting<T: Sync>(Lazy<T>);

    impl<T: Sync> Lasting<T> {
        pub(crate) const fn new(init: fn() -> T) -> Lasting<T> {
            Lasting(Lazy { cell: Once::new(), init, _p: PhantomData })
        }

        pub(crate) fn get(&'static self) -> &'static T {
            self.0.get()
        }
    }
}
