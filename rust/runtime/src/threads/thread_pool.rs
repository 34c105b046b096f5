//! The threads that help a run: started when first needed, asleep in between.
//!
//! A caller with a large loop posts its work with a number of free seats and starts at once.
//! Helpers that wake up take seats and do the same work beside it. When the caller is done, it takes
//! the posting back and waits for helpers that hold a seat, never for one that has not come yet: a
//! call makes progress however busy the pool is.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use frazil_core::intern::sync::Mutex;

/// Threads beyond which a pool never grows.
const MOST: usize = 256;

/// The stack of a helper, as large as that of a main thread usually is: kernels run on both.
const STACK: usize = 8 << 20;

/// The time that a helper stays awake after work.
const LINGER: Duration = Duration::from_micros(100);

/// Turns that a caller waits awake for helpers that finish their last piece.
const SPINS: usize = 2000;

/// The pool of this process. A fork leaves its threads behind: the child starts another.
static POOL: AtomicPtr<ThreadPool> = AtomicPtr::new(ptr::null_mut());

struct ThreadPool {
    process: u32,
    board: Mutex<Board>,
    posted: Condvar,
    /// Notified when a helper leaves the last seat that was held.
    left: Condvar,
    /// Whether there are open seats; for helpers that have not fallen asleep yet.
    open: AtomicBool,
    /// Their number.
    awake: AtomicUsize,
}

#[derive(Default)]
struct Board {
    postings: Vec<Posting>,
    threads: usize,
}

struct Posting {
    job: *const Job<'static>,
    /// Free seats.
    open: usize,
}

// SAFETY: a job is shared by the threads that know it, and outlives its posting and the last seat.
unsafe impl Send for Posting {}

/// The work of a caller, on its stack.
struct Job<'a> {
    work: &'a (dyn Fn() + Sync),
    /// Seats that are held.
    held: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Does `own`, while up to `helpers` other threads do `work`. Returns when all have returned. A
/// panic of a helper goes on in the caller.
pub(crate) fn assisted(helpers: usize, work: &(dyn Fn() + Sync), own: impl FnOnce()) {
    let job = Job { work, held: AtomicUsize::new(0), panic: Mutex::new(None) };
    let posted = Posted { pool: ThreadPool::current(), job: &job };
    posted.pool.post(&job, helpers.min(MOST));
    own();
    drop(posted);
    if let Some(panic) = job.panic.into_inner() {
        resume_unwind(panic);
    }
}

/// Takes the posting back and waits for the helpers, also when the caller's own part panics.
struct Posted<'a, 'j> {
    pool: &'static ThreadPool,
    job: &'a Job<'j>,
}

impl Drop for Posted<'_, '_> {
    fn drop(&mut self) {
        self.pool.close(self.job);
    }
}

impl ThreadPool {
    fn new() -> ThreadPool {
        ThreadPool {
            process: std::process::id(),
            board: Mutex::new(Board::default()),
            posted: Condvar::new(),
            left: Condvar::new(),
            open: AtomicBool::new(false),
            awake: AtomicUsize::new(0),
        }
    }

    /// The pool of this process.
    fn current() -> &'static ThreadPool {
        loop {
            let known = POOL.load(Ordering::Acquire);
            // SAFETY: it is null, or a pool that was placed below, and no pool that was placed is ever freed.
            if let Some(pool) = unsafe { known.as_ref() }
                && pool.process == std::process::id()
            {
                return pool;
            }
            // One that a fork left behind stays as it is: its lock may be held for ever.
            let fresh = Box::into_raw(Box::new(ThreadPool::new()));
            let placed = POOL.compare_exchange(known, fresh, Ordering::AcqRel, Ordering::Acquire);
            if placed.is_err() {
                // SAFETY: no other thread has seen it.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
    }

    fn post(&'static self, job: &Job<'_>, seats: usize) {
        if seats == 0 {
            return;
        }
        let job = ptr::from_ref(job).cast::<Job<'static>>();
        let mut board = self.board.lock();
        board.postings.push(Posting { job, open: seats });
        self.open.store(true, Ordering::Release);
        let missing = board.open().min(MOST).saturating_sub(board.threads);
        board.threads += missing;
        drop(board);
        for _ in 0..missing {
            let started = thread::Builder::new()
                .name("frazil".to_owned())
                .stack_size(STACK)
                .spawn(|| self.help());
            if started.is_err() {
                // The system has no more threads: those that are there do it.
                self.board.lock().threads -= 1;
            }
        }
        self.wake(seats);
    }

    /// Wakes helpers for open seats that the helpers awake will not take: two, who wake others in their
    /// turn.
    fn wake(&self, open: usize) {
        let missing = open.saturating_sub(self.awake.load(Ordering::Acquire));
        for _ in 0..missing.min(2) {
            self.posted.notify_one();
        }
    }

    fn close(&self, job: &Job<'_>) {
        let job_address = ptr::from_ref(job).cast::<Job<'static>>();
        let mut board = self.board.lock();
        board.postings.retain(|posting| posting.job != job_address);
        self.open.store(board.open() > 0, Ordering::Release);
        drop(board);
        for _ in 0..SPINS {
            if job.held.load(Ordering::Acquire) == 0 {
                return;
            }
            spin_loop();
        }
        let mut board = self.board.lock();
        while job.held.load(Ordering::Acquire) > 0 {
            board = wait(&self.left, board);
        }
    }

    /// The life of a helper.
    fn help(&self) {
        loop {
            let mut board = self.board.lock();
            let job = loop {
                match board.take_seat() {
                    Some(job) => break job,
                    None => board = wait(&self.posted, board),
                }
            };
            let open = board.open();
            self.open.store(open > 0, Ordering::Release);
            drop(board);
            self.wake(open);
            // SAFETY: the caller keeps the job until this seat is left.
            let job = unsafe { &*job };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(job.work)) {
                *job.panic.lock() = Some(panic);
            }
            // Once the seat is given back, the caller may return, and the job be gone.
            if job.held.fetch_sub(1, Ordering::AcqRel) == 1 {
                // A caller that has looked and not yet fallen asleep holds the lock.
                drop(self.board.lock());
                self.left.notify_all();
            }
            self.linger();
        }
    }

    /// Stays awake for a while: a caller with much work often has more.
    fn linger(&self) {
        self.awake.fetch_add(1, Ordering::AcqRel);
        let start = Instant::now();
        while !self.open.load(Ordering::Acquire) && start.elapsed() < LINGER {
            spin_loop();
        }
        // A thread that posts from now on finds one helper less awake; earlier posts are seen below.
        self.awake.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Sleeps until it is notified.
fn wait<'a>(on: &Condvar, board: MutexGuard<'a, Board>) -> MutexGuard<'a, Board> {
    on.wait(board).unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// Free seats.
    fn open(&self) -> usize {
        self.postings.iter().map(|posting| posting.open).sum()
    }

    /// Takes a seat of the oldest posting.
    fn take_seat(&mut self) -> Option<*const Job<'static>> {
        let posting = self.postings.first_mut()?;
        let job = posting.job;
        // SAFETY: the caller takes its posting back before the job ends.
        unsafe { (*job).held.fetch_add(1, Ordering::AcqRel) };
        posting.open -= 1;
        if posting.open == 0 {
            self.postings.remove(0);
        }
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn helpers_work_beside_the_caller() {
        let together = Barrier::new(3);
        let meet = || _ = together.wait();
        assisted(2, &meet, meet);
    }

    #[test]
    fn nobody_waits_for_a_helper_that_has_not_come() {
        let count = AtomicUsize::new(0);
        for _ in 0..1000 {
            let work = || _ = count.fetch_add(1, Ordering::Relaxed);
            assisted(3, &work, || {});
        }
        assert!(count.into_inner() <= 3000);
    }

    #[test]
    fn many_callers_at_once() {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for turn in 0..200 {
                        let next = AtomicUsize::new(0);
                        let done = AtomicUsize::new(0);
                        let work = || {
                            while next.fetch_add(1, Ordering::Relaxed) < 50 {
                                done.fetch_add(1, Ordering::Relaxed);
                            }
                        };
                        assisted(turn % 5, &work, work);
                        assert_eq!(done.into_inner(), 50);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_of_either_side_reaches_the_caller_after_all_have_left() {
        let come = AtomicBool::new(false);
        let helper = || {
            come.store(true, Ordering::Release);
            panic!("of a helper");
        };
        let wait = || {
            while !come.load(Ordering::Acquire) {
                thread::yield_now();
            }
        };
        let caught = catch_unwind(AssertUnwindSafe(|| assisted(1, &helper, wait)));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"of a helper"));
        let caught = catch_unwind(AssertUnwindSafe(|| assisted(2, &|| {}, || panic!("own"))));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"own"));
    }
}
