//! Locks and atomics of what threads share: the real ones, or those of the model checker that tests them.
//!
//! With the feature `shuttle`, every use is a point where the checker may let another thread run.
//!
//! The locks are the standard library's, since these can be held across a fork (see [`super::fork`]): all that there is
//! of one lies in the lock itself, so its holder can unlock it in the child. Locks that keep their waiters in a table of
//! the process cannot: there the child finds threads that do not exist, and hands locks over to them.
//!
//! What is worked out once without a lock is in a cell of `once_cell::race`, which nobody ever waits for: a thread that
//! a fork left behind while it filled a `OnceLock` would be waited for by the child for ever.

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

#[cfg(not(feature = "shuttle"))]
mod real {
    use once_cell::race::OnceBox;

    /// What a process has one of: made when it is first asked for. Two threads may both make one; the first counts.
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

    /// What a process has one of: made when it is first asked for, anew for each schedule.
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
