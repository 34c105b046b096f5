//! Functions that native kernels call by address: what handles the partial results of float
//! reductions, and operands at the end of a row, and what says whether to stop. No kernel has anything of its own in them, so no
//! compiler need make them again with each.
//!
//! Partial results stand in sets of as many as a block has lanes. The bits of a result depend on
//! the order given here, which kernels in other languages keep, too.

// What iterators and methods of std are made of is compiled for no instruction set but the plain
// one, unless it happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

/// Levels of partial sums, and the turns after which each is carried to the next.
const LEVELS: usize = 4;
const TURNS: i64 = 16;

/// The instruction sets that functions are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    fn of_this_machine() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512dq") {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Level::Avx2;
            }
        }
        Level::Plain
    }
}

/// Each function in all instruction sets, and the search for them by name.
macro_rules! kernel_functions {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(mod $name {
            use super::*;

            #[inline(always)]
            unsafe fn body($($argument: $kind),*) $(-> $result)? {
                // SAFETY: by the promise of the kernel that calls.
                unsafe { $body }
            }

            pub(super) unsafe extern "C" fn plain($($argument: $kind),*) $(-> $result)? {
                // SAFETY: by the promise of the kernel that calls.
                unsafe { body($($argument),*) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            pub(super) unsafe extern "C" fn avx2($($argument: $kind),*) $(-> $result)? {
                // SAFETY: by the promise of the kernel that calls.
                unsafe { body($($argument),*) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            pub(super) unsafe extern "C" fn avx512($($argument: $kind),*) $(-> $result)? {
                // SAFETY: by the promise of the kernel that calls.
                unsafe { body($($argument),*) }
            }

            pub(super) fn address(level: Level) -> usize {
                match level {
                    Level::Plain => plain as *const () as usize,
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => avx2 as *const () as usize,
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => avx512 as *const () as usize,
                }
            }
        })*

        /// The address of the function of that name, for this machine; `None` if there is none.
        pub fn kernel_function(name: &str) -> Option<usize> {
            let level = Level::of_this_machine();
            match name {
                $(stringify!($name) => Some($name::address(level)),)*
                _ => None,
            }
        }
    };
}

kernel_functions! {
    loop_stops() -> i32 { crate::attention::stops() }
    pad8(to: *mut u8, from: *const u8, count: i64, lanes: i64) { pad(to, from, count, lanes) }
    pad16(to: *mut u16, from: *const u16, count: i64, lanes: i64) { pad(to, from, count, lanes) }
    pad32(to: *mut u32, from: *const u32, count: i64, lanes: i64) { pad(to, from, count, lanes) }
    pad64(to: *mut u64, from: *const u64, count: i64, lanes: i64) { pad(to, from, count, lanes) }
    fill_f4(to: *mut f32, count: i64, value: f32) { fill(to, count, value) }
    fill_f8(to: *mut f64, count: i64, value: f64) { fill(to, count, value) }
    carry_f4(sums: *mut f32, turn: i64, width: i64) { carry(sums, turn, width, -0.0) }
    carry_f8(sums: *mut f64, turn: i64, width: i64) { carry(sums, turn, width, -0.0) }
    fold_add_f4(of: *mut f32, count: i64, lanes: i64) -> f32 { fold::<_, Sum>(of, count, lanes) }
    fold_add_f8(of: *mut f64, count: i64, lanes: i64) -> f64 { fold::<_, Sum>(of, count, lanes) }
    fold_mul_f4(of: *mut f32, count: i64, lanes: i64) -> f32 { fold::<_, Product>(of, count, lanes) }
    fold_mul_f8(of: *mut f64, count: i64, lanes: i64) -> f64 { fold::<_, Product>(of, count, lanes) }
    fold_maximum_f4(of: *mut f32, count: i64, lanes: i64) -> f32 {
        fold::<_, Largest>(of, count, lanes)
    }
    fold_maximum_f8(of: *mut f64, count: i64, lanes: i64) -> f64 {
        fold::<_, Largest>(of, count, lanes)
    }
    fold_minimum_f4(of: *mut f32, count: i64, lanes: i64) -> f32 {
        fold::<_, Smallest>(of, count, lanes)
    }
    fold_minimum_f8(of: *mut f64, count: i64, lanes: i64) -> f64 {
        fold::<_, Smallest>(of, count, lanes)
    }
}

/// Copies the `count` elements that are left of a row, and repeats the last to fill a block.
///
/// # Safety
/// `from` has `count` elements, at least one, and `to` room for `lanes`, apart from it.
#[inline(always)]
unsafe fn pad<T: Copy>(to: *mut T, from: *const T, count: i64, lanes: i64) {
    let (count, lanes) = (count as usize, lanes as usize);
    // SAFETY: by the caller's promise; `to` is on the kernel's stack, aligned.
    unsafe {
        let to = std::slice::from_raw_parts_mut(to, lanes);
        let last = from.add(count - 1).read_unaligned();
        for k in 0..lanes {
            to[k] = if k < count { from.add(k).read_unaligned() } else { last };
        }
    }
}

/// # Safety
/// `to` has room for `count` elements.
#[inline(always)]
unsafe fn fill<T: Copy>(to: *mut T, count: i64, value: T) {
    // SAFETY: by the caller's promise.
    let to = unsafe { std::slice::from_raw_parts_mut(to, count as usize) };
    for k in 0..to.len() {
        to[k] = value;
    }
}

/// Adds the partial sums of the first level to those of the next, and so on while a level's turns
/// are up: `turn` counts those of the first.
///
/// # Safety
/// `sums` holds [`LEVELS`] levels of `width` sums, or as many as `turn` calls for.
#[inline(always)]
unsafe fn carry<T: Copy + std::ops::Add<Output = T>>(
    mut sums: *mut T,
    mut turn: i64,
    width: i64,
    zero: T,
) {
    let width = width as usize;
    for _ in 1..LEVELS {
        // SAFETY: by the caller's promise; the two levels are neighbours.
        let (low, high) = unsafe {
            let both = std::slice::from_raw_parts_mut(sums, 2 * width);
            both.split_at_mut(width)
        };
        for k in 0..width {
            high[k] = high[k] + low[k];
            low[k] = zero;
        }
        if turn % TURNS != 0 {
            return;
        }
        turn /= TURNS;
        sums = sums.wrapping_add(width);
    }
}

/// How two partial results become one. No closure: those are compiled for no instruction set.
trait Reduction<T> {
    fn of(a: T, b: T) -> T;
}

struct Sum;
struct Product;
struct Largest;
struct Smallest;

macro_rules! reductions {
    ($($kind:ty),*) => {
        $(impl Reduction<$kind> for Sum {
            #[inline(always)]
            fn of(a: $kind, b: $kind) -> $kind {
                a + b
            }
        }
        impl Reduction<$kind> for Product {
            #[inline(always)]
            fn of(a: $kind, b: $kind) -> $kind {
                a * b
            }
        }
        // These two keep NaN.
        impl Reduction<$kind> for Largest {
            #[inline(always)]
            fn of(a: $kind, b: $kind) -> $kind {
                if (a >= b) | (a != a) { a } else { b }
            }
        }
        impl Reduction<$kind> for Smallest {
            #[inline(always)]
            fn of(a: $kind, b: $kind) -> $kind {
                if (a <= b) | (a != a) { a } else { b }
            }
        })*
    };
}

reductions!(f32, f64);

/// Folds partial results by halves.
///
/// # Safety
/// `of` has `count` of them: a power of two times `lanes`, which is one, too.
#[inline(always)]
unsafe fn fold<T: Copy, R: Reduction<T>>(of: *mut T, count: i64, lanes: i64) -> T {
    // SAFETY: by the caller's promise.
    let all = unsafe { std::slice::from_raw_parts_mut(of, count as usize) };
    match (lanes, count) {
        (8, 32) => fold_sets::<T, R, 8>(all),
        (16, 64) => fold_sets::<T, R, 16>(all),
        _ => halve::<T, R>(all),
    }
}

/// As [`halve`], in registers, of as many sets as short rows have.
#[inline(always)]
fn fold_sets<T: Copy, R: Reduction<T>, const LANES: usize>(of: &[T]) -> T {
    let mut one = [of[0]; LANES];
    for lane in 0..LANES {
        let even = R::of(of[lane], of[2 * LANES + lane]);
        let odd = R::of(of[LANES + lane], of[3 * LANES + lane]);
        one[lane] = R::of(even, odd);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            one[lane] = R::of(one[lane], one[lane + half]);
        }
        half /= 2;
    }
    one[0]
}

#[inline(always)]
fn halve<T: Copy, R: Reduction<T>>(of: &mut [T]) -> T {
    let mut half = of.len() / 2;
    while half > 0 {
        for k in 0..half {
            of[k] = R::of(of[k], of[k + half]);
        }
        half /= 2;
    }
    of[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS_HERE: &[Level] = &[
        Level::Plain,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512,
    ];

    fn runs(level: Level) -> bool {
        let here = Level::of_this_machine();
        let rank = |of: Level| LEVELS_HERE.iter().position(|&known| known == of);
        rank(level) <= rank(here)
    }

    #[test]
    fn folds_are_the_same_in_every_instruction_set() {
        type Function = unsafe extern "C" fn(*mut f64, i64, i64) -> f64;
        let values: Vec<f64> = (0..128).map(|k| 1.0 + (k as f64 * 0.7).sin() / 3.0).collect();
        let made = [
            (fold_add_f8::address as fn(Level) -> usize, values.iter().sum::<f64>()),
            (fold_mul_f8::address, f64::NAN),
            (fold_maximum_f8::address, values.iter().copied().fold(f64::MIN, f64::max)),
            (fold_minimum_f8::address, values.iter().copied().fold(f64::MAX, f64::min)),
        ];
        for (lanes, count) in [(8, 8), (8, 16), (8, 32), (8, 64), (8, 128), (16, 64), (32, 128)] {
            for (at, (address, _)) in made.iter().enumerate() {
                let mut found = Vec::new();
                for &level in LEVELS_HERE.iter().filter(|&&level| runs(level)) {
                    let mut own = values.clone();
                    // SAFETY: the address is that of such a function, and `own` is long enough.
                    let result = unsafe {
                        let function: Function = std::mem::transmute(address(level));
                        function(own.as_mut_ptr(), count, lanes)
                    };
                    found.push(result.to_bits());
                }
                assert!(found.iter().all(|&bits| bits == found[0]), "{at} of {count} by {lanes}");
            }
        }
        for (address, expected) in made {
            let mut own = values.clone();
            // SAFETY: as above.
            let result = unsafe {
                let function: Function = std::mem::transmute(address(Level::Plain));
                function(own.as_mut_ptr(), 128, 8)
            };
            assert!(expected.is_nan() || (result - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_nan_stays_the_largest_and_the_smallest() {
        for at in 0..32 {
            for name in ["fold_maximum_f8", "fold_minimum_f8"] {
                let mut values = [1.0; 32];
                values[at] = f64::NAN;
                let address = kernel_function(name).unwrap();
                // SAFETY: the address is that of such a function, over 32 partial results.
                let result = unsafe {
                    let function: unsafe extern "C" fn(*mut f64, i64, i64) -> f64 =
                        std::mem::transmute(address);
                    function(values.as_mut_ptr(), 32, 8)
                };
                assert!(result.is_nan());
            }
        }
    }

    #[test]
    fn the_end_of_a_row_is_padded_with_its_last_element() {
        for count in 1..=16 {
            let from: Vec<u32> = (0..count).collect();
            let mut to = [0; 16];
            // SAFETY: both are as long as is said.
            unsafe { pad(to.as_mut_ptr(), from.as_ptr(), i64::from(count), 16) };
            for (k, &element) in to.iter().enumerate() {
                assert_eq!(element, (k as u32).min(count - 1));
            }
        }
    }

    #[test]
    fn sums_are_carried_as_far_as_turns_are_up() {
        for (turn, expected) in [(1, [0.0, 2.0, 1.0, 1.0]), (16, [0.0, 0.0, 3.0, 1.0])] {
            let mut sums = [1.0f64; 4];
            // SAFETY: four levels of one sum.
            unsafe { carry(sums.as_mut_ptr(), turn, 1, -0.0) };
            assert_eq!(sums, expected);
        }
        let mut sums = [1.0f64; 4];
        // SAFETY: as above.
        unsafe { carry(sums.as_mut_ptr(), 256, 1, -0.0) };
        assert_eq!(sums, [0.0, 0.0, 0.0, 4.0]);
    }

    #[test]
    fn unknown_names_have_no_address() {
        assert!(kernel_function("fold_sub_f8").is_none());
    }
}
