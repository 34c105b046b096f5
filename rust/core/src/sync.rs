//! Locks and atomics of the shared tables: the real ones, or those of the model checker that tests them.
//!
//! With the feature `shuttle`, every use is a point where the checker may let another thread run.

#[cfg(not(feature = "shuttle"))]
pub(crate) use parking_lot::Mutex;
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::atomic::{AtomicU32, fence};

#[cfg(feature = "shuttle")]
pub(crate) use checked::Mutex;
#[cfg(feature = "shuttle")]
pub(crate) use shuttle::sync::atomic::{AtomicU32, fence};

#[cfg(feature = "shuttle")]
mod checked {
    use shuttle::sync::{Mutex as Inner, MutexGuard};

    /// The checker's lock with the interface of the real one.
    #[derive(Default)]
    pub(crate) struct Mutex<T>(Inner<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(Inner::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no thread panics under the lock")
        }
    }
}
