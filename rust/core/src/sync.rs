//! Locks and atomics of the shared tables: the real ones, or those of the model checker that tests them.
//!
//! With the feature `shuttle`, every use is a point where the checker may let another thread run.

#[cfg(not(feature = "shuttle"))]
pub(crate) use parking_lot::Mutex;
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::LazyLock as Lasting;
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, fence};

#[cfg(feature = "shuttle")]
pub(crate) use checked::{Lasting, Mutex};
#[cfg(feature = "shuttle")]
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU32, fence};

#[cfg(feature = "shuttle")]
mod checked {
    use std::marker::PhantomData;

    use shuttle::lazy_static::Lazy;
    use shuttle::sync::{Mutex as Inner, MutexGuard, Once};

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
