//! States between runs: each thread has a place where it leaves its state and finds it again.
//!
//! Threads that call one program at once share no line of memory that they write to. No thread waits
//! for a lock here: a place that stays locked for longer than a short read counts as empty. So does a
//! place whose lock was held by a thread that does not exist after a fork.

use std::cell::Cell;
use std::hint::spin_loop;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use frazil_core::intern::sync::{Mutex, MutexGuard};

use crate::arrays::array::ArrayRef;
use crate::program::Program;
use crate::run::executable::Bindings;
use crate::run::state::RunState;

/// Places beside that of the thread that came first: more than threads that often run at once.
const PLACES: usize = 16;

/// Shapes that are remembered at most.
const MOST: usize = 32;

/// Shapes that are remembered while no two calls run at once, beside one for each instruction of
/// other programs that runs this one.
const SHAPES: usize = 4;

/// Turns after which a lock counts as held for long.
const SPINS: usize = 64;

/// The number of the running thread; zero stands for none.
fn thread_number() -> usize {
    static NUMBERS: AtomicUsize = AtomicUsize::new(1);
    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(0) };
    }
    let known = NUMBER.get();
    if known != 0 {
        return known;
    }
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    NUMBER.set(number);
    number
}

/// The number of idle states of a program that are kept while one thread calls.
fn shapes(program: &Program) -> usize {
    (SHAPES + program.users.load(Ordering::Relaxed)).min(MOST)
}

/// The states of a program that no run works on.
#[derive(Default)]
pub(crate) struct IdleStates {
    /// The thread that came first. Most programs are called by one, and need one place.
    first: AtomicUsize,
    place: ThreadPlace,
    /// The other places, once another thread came.
    others: AtomicPtr<Others>,
}

type Others = [ThreadPlace; PLACES];

/// A place where a few threads, mostly one, leave states. It shares no line of memory with another, nor one
/// that a processor fetches with it.
#[derive(Default)]
#[repr(align(128))]
struct ThreadPlace {
    /// The one that was used last comes last.
    #[expect(clippy::vec_box, reason = "a state goes to a run and back by its address")]
    states: Mutex<Vec<Box<RunState>>>,
    made: AtomicU64,
    found: AtomicU64,
}

impl IdleStates {
    /// A state for a run over these inputs, and whether it is bound to their shapes.
    pub(crate) fn take(&self, program: &Program, inputs: &[ArrayRef<'_>]) -> (Box<RunState>, bool) {
        let own = self.own();
        if let Some(state) = own.take_bound(program, inputs) {
            ThreadPlace::count(&own.found);
            return (state, true);
        }
        // A state that another thread left serves as well, so threads that end do not leave one each.
        if let Some(state) = self.places().find_map(|place| place.take_bound(program, inputs)) {
            ThreadPlace::count(&own.found);
            return (state, true);
        }
        ThreadPlace::count(&own.made);
        let idle: usize = self.places().map(ThreadPlace::len).sum();
        let oldest =
            || own.take_oldest().or_else(|| self.places().find_map(ThreadPlace::take_oldest));
        let used = if idle < shapes(program) { None } else { oldest() };
        (used.unwrap_or_else(|| Box::new(RunState::new(program))), false)
    }

    /// Takes a state back for the next run.
    pub(crate) fn give(&self, program: &Program, state: Box<RunState>) {
        // Memory goes back to the system after the lock is released.
        drop(self.own().give(state, shapes(program)));
    }

    /// Counts of the ways in which the runs so far got their sizes.
    pub(crate) fn bindings(&self) -> Bindings {
        let sum = |count: fn(&ThreadPlace) -> &AtomicU64| {
            self.places().map(|place| count(place).load(Ordering::Relaxed)).sum()
        };
        Bindings { made: sum(|place| &place.made), found: sum(|place| &place.found) }
    }

    fn own(&self) -> &ThreadPlace {
        let number = thread_number();
        let first = match self.first.load(Ordering::Relaxed) {
            0 => {
                let placed =
                    self.first.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
                placed.err().unwrap_or(number)
            }
            first => first,
        };
        if first == number {
            return &self.place;
        }
        let others = self.others().unwrap_or_else(|| self.make_others());
        &others[number % PLACES]
    }

    fn places(&self) -> impl Iterator<Item = &ThreadPlace> {
        let others = self.others().map(|others| &others[..]).unwrap_or_default();
        std::iter::once(&self.place).chain(others)
    }

    fn others(&self) -> Option<&Others> {
        // SAFETY: the place stays until the program is dropped.
        // Test: `threads_leave_states_in_places_of_their_own`.
        unsafe { self.others.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn make_others(&self) -> &Others {
        let made = Box::into_raw(Box::<Others>::default());
        // Not a `OnceLock`: after a fork one may never be finished.
        let placed = self.others.compare_exchange(
            ptr::null_mut(),
            made,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if let Err(first) = placed {
            // SAFETY: it was made above, and nothing else has seen it. Test: as in `others`.
            drop(unsafe { Box::from_raw(made) });
            // SAFETY: as in `others`.
            return unsafe { &*first };
        }
        // SAFETY: as in `others`.
        unsafe { &*made }
    }
}

impl Drop for IdleStates {
    fn drop(&mut self) {
        let others = *self.others.get_mut();
        if !others.is_null() {
            // SAFETY: it came from `Box::into_raw`, and the program has no other owner any more.
            // Test: `threads_leave_states_in_places_of_their_own`.
            drop(unsafe { Box::from_raw(others) });
        }
    }
}

impl ThreadPlace {
    fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    #[expect(clippy::vec_box, reason = "as above")]
    fn lock(&self) -> Option<MutexGuard<'_, Vec<Box<RunState>>>> {
        for _ in 0..SPINS {
            if let Some(states) = self.states.try_lock() {
                return Some(states);
            }
            spin_loop();
        }
        None
    }

    fn len(&self) -> usize {
        self.lock().map_or(0, |states| states.len())
    }

    fn take_bound(&self, program: &Program, inputs: &[ArrayRef<'_>]) -> Option<Box<RunState>> {
        let mut states = self.lock()?;
        let at = states.iter().rposition(|state| state.is_bound(program, inputs))?;
        Some(states.remove(at))
    }

    fn take_oldest(&self) -> Option<Box<RunState>> {
        let mut states = self.lock()?;
        (!states.is_empty()).then(|| states.remove(0))
    }

    /// Keeps a state, or gives it back if there is no room.
    fn give(&self, state: Box<RunState>, room: usize) -> Option<Box<RunState>> {
        match self.lock() {
            Some(mut states) if states.len() < room => {
                states.push(state);
                None
            }
            _ => Some(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use frazil_core::DType;

    use super::*;
    use crate::program::array_type::ArrayType;
    use crate::program::builder::Builder;
    use crate::threads::conduct::Conduct;

    fn program() -> Program {
        let mut builder = Builder::new();
        let x = builder.input(ArrayType::new(DType::Float64, &[None])).unwrap();
        let copied = builder.copy(x).unwrap();
        builder.finish(&[copied]).unwrap()
    }

    /// Runs a program over so many elements; gives whether the run before was brief.
    fn run(program: &Program, data: &[f64]) -> bool {
        let dims = [data.len() as i64];
        // SAFETY: the array outlives the run.
        let mut run = unsafe { program.bind(&[ArrayRef::vector(data, &dims)]) }.unwrap();
        let brief = run.was_brief();
        run.execute(&Conduct::ALONE).unwrap();
        let output = run.take_output(0).unwrap();
        // SAFETY: the output has as many elements.
        let copy =
            unsafe { std::slice::from_raw_parts(output.buffer.as_ptr().cast::<f64>(), data.len()) };
        assert_eq!(copy, data);
        brief
    }

    #[test]
    fn threads_that_come_and_go_share_a_state() {
        let program = program();
        for _ in 0..40 {
            thread::scope(|scope| _ = scope.spawn(|| run(&program, &[1.0, 2.0])));
        }
        assert_eq!(program.bindings(), Bindings { made: 1, found: 39 });
        assert_eq!(program.idle().places().map(ThreadPlace::len).sum::<usize>(), 1);
    }

    #[test]
    fn threads_leave_states_in_places_of_their_own() {
        const THREADS: usize = 6;
        const CALLS: u64 = 300;
        let program = program();
        let together = Barrier::new(THREADS);
        thread::scope(|scope| {
            for number in 0..THREADS {
                let (program, together) = (&program, &together);
                scope.spawn(move || {
                    let data = vec![number as f64; number + 1];
                    together.wait();
                    for _ in 0..CALLS {
                        run(program, &data);
                    }
                });
            }
        });
        let Bindings { made, found } = program.bindings();
        assert_eq!(made + found, THREADS as u64 * CALLS);
        let kept: Vec<usize> = program.idle().places().map(ThreadPlace::len).collect();
        assert_eq!(kept.len(), 1 + PLACES);
        assert!(kept.iter().all(|&count| count <= SHAPES), "{kept:?}");
        assert!(kept.iter().sum::<usize>() <= made as usize);
    }

    #[test]
    fn no_lock_is_waited_for() {
        let program = program();
        run(&program, &[1.0]);
        let held = program.idle().place.states.lock();
        run(&program, &[1.0]);
        drop(held);
        assert_eq!(program.bindings(), Bindings { made: 2, found: 0 });
        run(&program, &[1.0]);
        assert_eq!(program.bindings(), Bindings { made: 2, found: 1 });
    }

    #[test]
    fn a_binding_knows_whether_its_runs_are_brief() {
        let program = program();
        let (short, long) = (vec![0.5; 4], vec![0.5; 1 << 20]);
        assert!(!run(&program, &short), "nothing is known yet");
        // The processor may be taken away for a while from some runs, not from all.
        assert!((0..1000).any(|_| run(&program, &short)));
        assert!((0..5).all(|_| !run(&program, &long)));
        assert!((0..1000).any(|_| run(&program, &short)));
    }
}
