//! Bit generators: their states as words of arrays, and as NumPy's functions take them.
//!
//! A state is a vector of 64-bit words. The first word names the generator; the others depend on it.
//! The functions that make bits are NumPy's. They come from outside as pointers, and want a state in a
//! layout of their own.

use std::ffi::{c_int, c_void};

use once_cell::race::OnceBox;

use crate::error::Fault;

/// A bit generator of NumPy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BitGenerator {
    Pcg64,
    Pcg64Dxsm,
    Philox,
    Sfc64,
    Mt19937,
}

/// The argument of NumPy's functions for distributions: a state, and the functions that make bits of it.
#[repr(C)]
pub(crate) struct BitStream {
    state: *mut c_void,
    functions: BitFunctions,
}

/// The addresses of the functions that make bits, in NumPy's order: 64 bits, 32 bits, a double,
/// and 64 raw bits.
pub type BitFunctions = [usize; 4];

const KINDS: usize = 5;
const KEYS: usize = 624;

static FOUND: [OnceBox<BitFunctions>; KINDS] = [const { OnceBox::new() }; KINDS];

impl BitGenerator {
    /// Every generator; the first word of its states is the position here, counted from 1.
    pub const ALL: [BitGenerator; KINDS] = [
        BitGenerator::Pcg64,
        BitGenerator::Pcg64Dxsm,
        BitGenerator::Philox,
        BitGenerator::Sfc64,
        BitGenerator::Mt19937,
    ];

    /// The name of its class in NumPy.
    pub fn name(self) -> &'static str {
        ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"][self as usize]
    }

    /// The generator of this name.
    pub fn from_name(name: &str) -> Option<BitGenerator> {
        BitGenerator::ALL.into_iter().find(|known| known.name() == name)
    }

    /// The number of words of its states.
    fn words(self) -> usize {
        match self {
            BitGenerator::Pcg64 | BitGenerator::Pcg64Dxsm | BitGenerator::Sfc64 => 7,
            BitGenerator::Philox => 14,
            BitGenerator::Mt19937 => 2 + KEYS / 2,
        }
    }

    /// The generator that a state is one of.
    fn of(words: &[u64]) -> Result<BitGenerator, Fault> {
        let tag = words.first().copied().unwrap_or(0);
        let known = usize::try_from(tag).ok().and_then(|tag| tag.checked_sub(1));
        let known = known.and_then(|at| BitGenerator::ALL.get(at).copied());
        known.filter(|known| known.words() == words.len()).ok_or(NO_STATE)
    }
}

const NO_STATE: Fault = Fault::GeneratorState;

/// Says which functions make the bits of a generator, for every program of the process, if they make
/// of the state in `words` the numbers `expected`. Whether they do.
///
/// # Safety
/// The functions belong to NumPy's generator of this kind, callable from many threads.
pub unsafe fn set_bit_generator(
    kind: BitGenerator,
    functions: BitFunctions,
    words: &[u64],
    expected: &[u64],
) -> bool {
    if BitGenerator::of(words).ok() != Some(kind) {
        return false;
    }
    let mut next = vec![0; words.len()];
    let compared = with_stream(words, &mut next, functions, |stream| {
        // SAFETY: as the caller promises; the stream is alive.
        let bits = unsafe { (*stream).bits() };
        Ok(expected.iter().all(|&number| bits() == number))
    });
    let fits = matches!(compared, Ok(true));
    if fits {
        FOUND[kind as usize].get_or_init(|| Box::new(functions));
    }
    fits
}

impl BitStream {
    /// The function that makes the next 64 bits.
    ///
    /// # Safety
    /// The functions are those of the generator that the state is one of, and the stream outlives
    /// the result.
    unsafe fn bits(&self) -> impl Fn() -> u64 + use<> {
        // SAFETY: the first function makes 64 bits of a state.
        let next: unsafe extern "C" fn(*mut c_void) -> u64 =
            unsafe { std::mem::transmute(self.functions[0]) };
        let state = self.state;
        // SAFETY: by the caller's promise, `next` is the generator's own, and its stream outlives
        // the result.
        move || unsafe { next(state) }
    }
}

/// The halves of 128 bits as NumPy has them: one number where the compiler knows such, else two.
const HIGH_FIRST: bool = cfg!(any(target_endian = "big", target_env = "msvc"));

#[repr(C, align(16))]
struct PcgNumbers {
    state: [u64; 2],
    increment: [u64; 2],
}

#[repr(C)]
struct PcgState {
    numbers: *mut PcgNumbers,
    spare: Spare,
}

#[repr(C)]
struct PhiloxState {
    counter: *mut [u64; 4],
    key: *mut [u64; 2],
    position: c_int,
    buffer: [u64; 4],
    spare: Spare,
}

#[repr(C)]
struct SfcState {
    numbers: [u64; 4],
    spare: Spare,
}

#[repr(C)]
struct MtState {
    keys: [u32; KEYS],
    position: c_int,
}

/// The half of 64 bits that was not asked for yet.
#[repr(C)]
#[derive(Clone, Copy)]
struct Spare {
    is_there: c_int,
    bits: u32,
}

impl Spare {
    fn of(words: &[u64]) -> Result<Spare, Fault> {
        let [is_there, bits] = words.try_into().map_err(|_| NO_STATE)?;
        let bits = u32::try_from(bits).map_err(|_| NO_STATE)?;
        if is_there > 1 { Err(NO_STATE) } else { Ok(Spare { is_there: is_there as c_int, bits }) }
    }

    fn words(self) -> [u64; 2] {
        [u64::from(self.is_there != 0), u64::from(self.bits)]
    }
}

fn halves(of: [u64; 2]) -> [u64; 2] {
    if HIGH_FIRST { of } else { [of[1], of[0]] }
}

fn array<const N: usize>(words: &[u64]) -> [u64; N] {
    words.try_into().expect("the length was checked")
}

/// Calls `draw` with a stream that starts at the state `words`; the state that it leaves is `next`.
pub(crate) fn with_generator<R>(
    words: &[u64],
    next: &mut [u64],
    draw: impl FnOnce(*mut BitStream) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let kind = BitGenerator::of(words)?;
    let functions = FOUND[kind as usize].get().copied();
    let functions = functions.ok_or(Fault::RoutineMissing { routine: kind.name() })?;
    with_stream(words, next, functions, draw)
}

// One arm a generator: to read it is to go down a list.
fn with_stream<R>(
    words: &[u64],
    next: &mut [u64],
    functions: BitFunctions,
    draw: impl FnOnce(*mut BitStream) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let kind = BitGenerator::of(words)?;
    next[0] = words[0];
    let drawn = |state: *mut c_void| {
        let mut stream = BitStream { state, functions };
        draw(&raw mut stream)
    };
    match kind {
        BitGenerator::Pcg64 | BitGenerator::Pcg64Dxsm => {
            let mut numbers = PcgNumbers {
                state: halves(array(&words[1..3])),
                increment: halves(array(&words[3..5])),
            };
            let spare = Spare::of(&words[5..])?;
            let mut state = PcgState { numbers: &raw mut numbers, spare };
            let result = drawn((&raw mut state).cast())?;
            next[1..3].copy_from_slice(&halves(numbers.state));
            next[3..5].copy_from_slice(&halves(numbers.increment));
            next[5..].copy_from_slice(&state.spare.words());
            Ok(result)
        }
        BitGenerator::Philox => {
            let (mut counter, mut key) = (array(&words[1..5]), array(&words[5..7]));
            // From a position behind the buffer on, new numbers are made.
            let position = c_int::try_from(words[7]).ok().filter(|&at| at <= 4).ok_or(NO_STATE)?;
            let mut state = PhiloxState {
                counter: &raw mut counter,
                key: &raw mut key,
                position,
                buffer: array(&words[8..12]),
                spare: Spare::of(&words[12..])?,
            };
            let result = drawn((&raw mut state).cast())?;
            next[1..5].copy_from_slice(&counter);
            next[5..7].copy_from_slice(&key);
            next[7] = state.position as u64;
            next[8..12].copy_from_slice(&state.buffer);
            next[12..].copy_from_slice(&state.spare.words());
            Ok(result)
        }
        BitGenerator::Sfc64 => {
            let spare = Spare::of(&words[5..])?;
            let mut state = SfcState { numbers: array(&words[1..5]), spare };
            let result = drawn((&raw mut state).cast())?;
            next[1..5].copy_from_slice(&state.numbers);
            next[5..].copy_from_slice(&state.spare.words());
            Ok(result)
        }
        BitGenerator::Mt19937 => {
            let mut state = MtState::of(words)?;
            let result = drawn((&raw mut state).cast())?;
            state.write(next);
            Ok(result)
        }
    }
}

impl MtState {
    fn of(words: &[u64]) -> Result<MtState, Fault> {
        let within = |&at: &c_int| usize::try_from(at).is_ok_and(|at| at <= KEYS);
        let position = c_int::try_from(words[1]).ok().filter(within).ok_or(NO_STATE)?;
        let mut keys = [0; KEYS];
        for (pair, &word) in keys.chunks_exact_mut(2).zip(&words[2..]) {
            pair[0] = (word >> 32) as u32;
            pair[1] = word as u32;
        }
        Ok(MtState { keys, position })
    }

    fn write(&self, words: &mut [u64]) {
        words[1] = self.position as u64;
        for (pair, word) in self.keys.chunks_exact(2).zip(&mut words[2..]) {
            *word = u64::from(pair[0]) << 32 | u64::from(pair[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts in the first number of the state, whatever that is.
    unsafe extern "C" fn count(state: *mut c_void) -> u64 {
        // SAFETY: the states of these tests start with a number.
        unsafe {
            let number = state.cast::<u64>();
            let next = number.read_unaligned() + 1;
            number.write_unaligned(next);
            next
        }
    }

    /// As [`count`], of a state that starts with a pointer to its numbers.
    unsafe extern "C" fn count_behind(state: *mut c_void) -> u64 {
        // SAFETY: as above.
        unsafe { count(*state.cast::<*mut c_void>()) }
    }

    fn tried(words: &[u64], function: unsafe extern "C" fn(*mut c_void) -> u64) -> Vec<u64> {
        let mut next = vec![0; words.len()];
        let drawn = with_stream(words, &mut next, [function as *const () as usize; 4], |stream| {
            // SAFETY: the function fits the state.
            Ok(unsafe { (*stream).bits() }())
        });
        drawn.unwrap();
        next
    }

    #[test]
    fn a_state_goes_to_memory_and_back() {
        let low = if HIGH_FIRST { 1 } else { 2 };
        let mut pcg = [1, 11, 12, 13, 14, 1, 77];
        let next = tried(&pcg, count_behind);
        pcg[low] += 1;
        assert_eq!(next, pcg);
        let mut philox: Vec<u64> = vec![3, 1, 2, 3, 4, 5, 6, 4, 7, 8, 9, 10, 0, 0];
        let next = tried(&philox, count_behind);
        philox[1] += 1;
        assert_eq!(next, philox);
        assert_eq!(tried(&[4, 1, 2, 3, 4, 0, 9], count), [4, 2, 2, 3, 4, 0, 9]);
        let mt: Vec<u64> = [5, 624].into_iter().chain(1..=312).collect();
        let next = tried(&mt, count);
        assert_eq!(next[..2], mt[..2]);
        assert_eq!(next[3..], mt[3..]);
        assert_ne!(next[2], mt[2]);
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let refused = |words: &[u64]| {
            let mut next = vec![0; words.len()];
            let made = with_stream(words, &mut next, [count as *const () as usize; 4], |_| Ok(()));
            assert!(matches!(made, Err(Fault::GeneratorState)), "{words:?}");
        };
        refused(&[]);
        refused(&[0; 7]);
        refused(&[6; 7]);
        refused(&[1; 6]);
        refused(&[1, 1, 1, 1, 1, 2, 1]);
        refused(&[4, 1, 1, 1, 1, 1, 1 << 32]);
        refused(&[3, 1, 2, 3, 4, 5, 6, 5, 7, 8, 9, 10, 0, 0]);
        let mt: Vec<u64> = [5, 625].into_iter().chain(1..=312).collect();
        refused(&mt);
    }

    #[test]
    fn functions_that_make_other_numbers_are_not_taken() {
        let state = [4, 1, 2, 3, 4, 0, 9];
        let set = |kind, expected: &[u64]| {
            // SAFETY: the function fits the states of this generator; no program of this process
            // draws from it.
            unsafe { set_bit_generator(kind, [count as *const () as usize; 4], &state, expected) }
        };
        assert!(!set(BitGenerator::Sfc64, &[2, 4]));
        assert!(!set(BitGenerator::Pcg64, &[2, 3]));
        assert!(set(BitGenerator::Sfc64, &[2, 3]));
    }
}
