//! Functions that native kernels call by address: what handles the partial results of float
//! reductions, and operands at the end of a row, and what says whether to stop. No kernel has
//! anything of its own in them, so no compiler need make them again with each.
//!
//! Partial results stand in sets of as many as a block has lanes. The bits of a result depend on
//! the order given here, which kernels in other languages keep, too.

// What iterators and methods of std are made of is compiled for no instruction set but the plain
// one, unless it happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use crate::processor::Level;

/// Levels of partial sums, and the turns after which each is carried to the next.
const LEVELS: usize = 4;
/// Sets of partial results that blocks take in turn.
const SETS: usize = 4;
const TURNS: i64 = 16;

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

            pub(super) fn address(level: Option<Level>) -> usize {
                match level {
                    None => plain as *const () as usize,
                    #[cfg(target_arch = "x86_64")]
                    Some(Level::Avx2) => avx2 as *const () as usize,
                    #[cfg(target_arch = "x86_64")]
                    Some(Level::Avx512) => avx512 as *const () as usize,
                }
            }
        })*

        /// The address of the function of that name, for this machine; `None` if there is none.
        pub fn kernel_function(name: &str) -> Option<usize> {
            let level = Level::best();
            match name {
                $(stringify!($name) => Some($name::address(level)),)*
                _ => None,
            }
        }
    };
}

kernel_functions! {
    loop_stops() -> i32 { crate::threads::attention::stops() }
    pad_ends_8(to: *mut u8, from: *const u8, stride: i64, before: i64, rows: i64, count: i64, lanes: i64) {
        pad_ends(to, from, stride, before, rows, count, lanes)
    }
    pad_ends_16(to: *mut u16, from: *const u8, stride: i64, before: i64, rows: i64, count: i64, lanes: i64) {
        pad_ends(to, from, stride, before, rows, count, lanes)
    }
    pad_ends_32(to: *mut u32, from: *const u8, stride: i64, before: i64, rows: i64, count: i64, lanes: i64) {
        pad_ends(to, from, stride, before, rows, count, lanes)
    }
    pad_ends_64(to: *mut u64, from: *const u8, stride: i64, before: i64, rows: i64, count: i64, lanes: i64) {
        pad_ends(to, from, stride, before, rows, count, lanes)
    }
    copy_ends_8(to: *mut u8, from: *const u8, stride: i64, rows: i64, count: i64, lanes: i64) {
        copy_ends(to, from, stride, rows, count, lanes)
    }
    copy_ends_16(to: *mut u8, from: *const u16, stride: i64, rows: i64, count: i64, lanes: i64) {
        copy_ends(to, from, stride, rows, count, lanes)
    }
    copy_ends_32(to: *mut u8, from: *const u32, stride: i64, rows: i64, count: i64, lanes: i64) {
        copy_ends(to, from, stride, rows, count, lanes)
    }
    copy_ends_64(to: *mut u8, from: *const u64, stride: i64, rows: i64, count: i64, lanes: i64) {
        copy_ends(to, from, stride, rows, count, lanes)
    }
    carry_f4(sums: *mut f32, turn: i64, width: i64) { carry(sums, turn, width, -0.0) }
    carry_f8(sums: *mut f64, turn: i64, width: i64) { carry(sums, turn, width, -0.0) }
    fold_all_add_f4(of: *mut f32, count: i64, walked: i64, lanes: i64) -> f32 {
        fold::<_, Sum>(of, count, walked, lanes)
    }
    fold_all_add_f8(of: *mut f64, count: i64, walked: i64, lanes: i64) -> f64 {
        fold::<_, Sum>(of, count, walked, lanes)
    }
    fold_all_mul_f4(of: *mut f32, count: i64, walked: i64, lanes: i64) -> f32 {
        fold::<_, Product>(of, count, walked, lanes)
    }
    fold_all_mul_f8(of: *mut f64, count: i64, walked: i64, lanes: i64) -> f64 {
        fold::<_, Product>(of, count, walked, lanes)
    }
    fold_all_maximum_f4(of: *mut f32, count: i64, walked: i64, lanes: i64) -> f32 {
        fold::<_, Largest>(of, count, walked, lanes)
    }
    fold_all_maximum_f8(of: *mut f64, count: i64, walked: i64, lanes: i64) -> f64 {
        fold::<_, Largest>(of, count, walked, lanes)
    }
    fold_all_minimum_f4(of: *mut f32, count: i64, walked: i64, lanes: i64) -> f32 {
        fold::<_, Smallest>(of, count, walked, lanes)
    }
    fold_all_minimum_f8(of: *mut f64, count: i64, walked: i64, lanes: i64) -> f64 {
        fold::<_, Smallest>(of, count, walked, lanes)
    }
    fold_rows_add_f4(to: *mut f32, of: *mut f32, rows: i64, count: i64, walked: i64, lanes: i64) {
        fold_rows::<_, Sum>(to, of, rows, count, walked, lanes)
    }
    fold_rows_add_f8(to: *mut f64, of: *mut f64, rows: i64, count: i64, walked: i64, lanes: i64) {
        fold_rows::<_, Sum>(to, of, rows, count, walked, lanes)
    }
    fold_rows_mul_f4(to: *mut f32, of: *mut f32, rows: i64, count: i64, walked: i64, lanes: i64) {
        fold_rows::<_, Product>(to, of, rows, count, walked, lanes)
    }
    fold_rows_mul_f8(to: *mut f64, of: *mut f64, rows: i64, count: i64, walked: i64, lanes: i64) {
        fold_rows::<_, Product>(to, of, rows, count, walked, lanes)
    }
    fold_rows_maximum_f4(to: *mut f32, of: *mut f32, rows: i64, count: i64, walked: i64, lanes: i64) {
        fold_rows::<_, Largest>(to, of, rows, count, walked, lanes)
    }
    fold_rows_maximum_f8(to: *mut f64, of: *mut f64, rows: i64, count: i64, walked: i64, lanes: i64) {
        fold_rows::<_, Largest>(to, of, rows, count, walked, lanes)
    }
    fold_rows_minimum_f4(to: *mut f32, of: *mut f32, rows: i64, count: i64, walked: i64, lanes: i64) {
        fold_rows::<_, Smallest>(to, of, rows, count, walked, lanes)
    }
    fold_rows_minimum_f8(to: *mut f64, of: *mut f64, rows: i64, count: i64, walked: i64, lanes: i64) {
        fold_rows::<_, Smallest>(to, of, rows, count, walked, lanes)
    }
}

/// Copies the `count` elements that are left of each of some rows, `stride` bytes apart, and repeats
/// the last of them to fill a block. Rows without a distance have been copied with those `before`.
///
/// # Safety
/// Each row has `count` elements, at least one and less than `lanes`, at `from`, and `to` has room
/// for `lanes` of each, apart from it.
#[inline(always)]
unsafe fn pad_ends<T: Copy>(
    to: *mut T,
    from: *const u8,
    stride: i64,
    before: i64,
    rows: i64,
    count: i64,
    lanes: i64,
) {
    if before > 0 && stride == 0 {
        return;
    }
    for row in 0..rows {
        let from = from.wrapping_offset((row * stride) as isize).cast::<T>();
        let to = to.wrapping_offset((row * lanes) as isize);
        // SAFETY: by the caller's promise; `to` is on the kernel's stack, aligned. Known lengths
        // let both loops be written out.
        unsafe {
            match lanes {
                8 => pad::<T>(to, from, count, 8),
                16 => pad::<T>(to, from, count, 16),
                _ => pad::<T>(to, from, count, lanes),
            }
        }
    }
}

/// # Safety
/// As for [`pad_ends`], of one row.
#[inline(always)]
unsafe fn pad<T: Copy>(to: *mut T, from: *const T, count: i64, lanes: i64) {
    // SAFETY: by the caller's promise.
    unsafe {
        let last = from.wrapping_offset(count as isize - 1).read_unaligned();
        for k in 0..lanes as isize {
            let here =
                if k < count as isize { from.wrapping_offset(k).read_unaligned() } else { last };
            to.wrapping_offset(k).write(here);
        }
    }
}

/// Copies `count` elements of each of some blocks to where rows end, `stride` bytes apart; rows
/// without a distance are one.
///
/// # Safety
/// As for [`pad_ends`], the other way round.
#[inline(always)]
unsafe fn copy_ends<T: Copy>(
    to: *mut u8,
    from: *const T,
    stride: i64,
    rows: i64,
    count: i64,
    lanes: i64,
) {
    let rows = if stride == 0 { rows.min(1) } else { rows };
    for row in 0..rows {
        let to = to.wrapping_offset((row * stride) as isize).cast::<T>();
        let from = from.wrapping_offset((row * lanes) as isize);
        // SAFETY: as for `pad_ends`.
        unsafe {
            match lanes {
                8 => copy::<T>(to, from, count, 8),
                16 => copy::<T>(to, from, count, 16),
                _ => copy::<T>(to, from, count, lanes),
            }
        }
    }
}

/// # Safety
/// As for [`copy_ends`], of one row.
#[inline(always)]
unsafe fn copy<T: Copy>(to: *mut T, from: *const T, count: i64, lanes: i64) {
    for k in 0..lanes as isize {
        if k < count as isize {
            // SAFETY: by the caller's promise.
            unsafe { to.wrapping_offset(k).write_unaligned(from.wrapping_offset(k).read()) };
        }
    }
}

/// Adds the partial sums of the first level to those of the next, and so on while a level's turns
/// are up: `turn` counts those of the first. The first turn finds nothing in higher levels.
///
/// # Safety
/// `sums` has room for [`LEVELS`] levels of `width` sums.
#[inline(always)]
unsafe fn carry<T: Copy + std::ops::Add<Output = T>>(
    mut sums: *mut T,
    mut turn: i64,
    width: i64,
    zero: T,
) {
    let width = width as usize;
    if turn == 1 {
        // SAFETY: by the caller's promise.
        let higher =
            unsafe { std::slice::from_raw_parts_mut(sums.add(width), (LEVELS - 1) * width) };
        for k in 0..higher.len() {
            higher[k] = zero;
        }
    }
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

/// Folds partial results by halves. After `walked` elements, whole blocks, the sets of the first
/// level stand as many places before theirs as there were blocks.
///
/// # Safety
/// `of` has `count` of them: a power of two times `lanes`, which is one, too, and at least [`SETS`]
/// times as many.
#[inline(always)]
unsafe fn fold<T: Copy, R: Reduction<T>>(of: *mut T, count: i64, walked: i64, lanes: i64) -> T {
    // SAFETY: by the caller's promise.
    let all = unsafe { std::slice::from_raw_parts_mut(of, count as usize) };
    let behind = (walked / lanes) as usize % SETS;
    match (lanes, count) {
        (8, 32) => fold_sets::<T, R, 8>(all, behind),
        (16, 64) => fold_sets::<T, R, 16>(all, behind),
        _ => {
            all[..SETS * lanes as usize].rotate_right(behind * lanes as usize);
            halve::<T, R>(all)
        }
    }
}

/// Folds the partial results of each of some rows, which follow one another.
///
/// # Safety
/// As for [`fold`], of each row; `to` has room for a result of each.
#[inline(always)]
unsafe fn fold_rows<T: Copy, R: Reduction<T>>(
    to: *mut T,
    of: *mut T,
    rows: i64,
    count: i64,
    walked: i64,
    lanes: i64,
) {
    let behind = (walked / lanes) as usize % SETS;
    // SAFETY: by the caller's promise.
    unsafe {
        let all = std::slice::from_raw_parts(of, (rows * count) as usize);
        let to = std::slice::from_raw_parts_mut(to, rows as usize);
        match (lanes, count) {
            (8, 32) => fold_tile::<T, R, 8>(to, all, behind),
            (16, 64) => fold_tile::<T, R, 16>(to, all, behind),
            _ => {
                for row in 0..to.len() {
                    to[row] = fold::<T, R>(of.add(row * count as usize), count, walked, lanes);
                }
            }
        }
    }
}

/// Folds the sets of short rows, then the lanes of all the rows side by side: no comparison of two
/// numbers alone is a branch that nobody can foresee.
#[inline(always)]
fn fold_tile<T: Copy, R: Reduction<T>, const LANES: usize>(to: &mut [T], of: &[T], behind: usize) {
    const TILE: usize = 8;
    let mut first = 0;
    while first < to.len() {
        let rows = TILE.min(to.len() - first);
        let mut lanes = [[of[0]; TILE]; LANES];
        for row in 0..rows {
            let sets = &of[(first + row) * SETS * LANES..][..SETS * LANES];
            let one = fold_to_lanes::<T, R, LANES>(sets, behind);
            for lane in 0..LANES {
                lanes[lane][row] = one[lane];
            }
        }
        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                for row in 0..TILE {
                    lanes[lane][row] = R::of(lanes[lane][row], lanes[lane + half][row]);
                }
            }
            half /= 2;
        }
        to[first..first + rows].copy_from_slice(&lanes[0][..rows]);
        first += TILE;
    }
}

/// As [`halve`], in registers, of as many sets as short rows have.
#[inline(always)]
fn fold_sets<T: Copy, R: Reduction<T>, const LANES: usize>(of: &[T], behind: usize) -> T {
    let mut one = fold_to_lanes::<T, R, LANES>(of, behind);
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
fn fold_to_lanes<T: Copy, R: Reduction<T>, const LANES: usize>(
    of: &[T],
    behind: usize,
) -> [T; LANES] {
    assert!(of.len() == SETS * LANES);
    // SAFETY: each of the sets is there. Arrays of known length are registers.
    let set = |place: usize| unsafe {
        let at = (place + SETS - behind) % SETS * LANES;
        of.as_ptr().add(at).cast::<[T; LANES]>().read()
    };
    let (a, b, c, d) = (set(0), set(1), set(2), set(3));
    let mut one = a;
    for lane in 0..LANES {
        one[lane] = R::of(R::of(a[lane], c[lane]), R::of(b[lane], d[lane]));
    }
    one
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

    fn levels() -> impl Iterator<Item = Option<Level>> {
        Level::known().map(Some).chain([None])
    }

    #[test]
    fn folds_are_the_same_in_every_instruction_set() {
        type Function = unsafe extern "C" fn(*mut f64, i64, i64, i64) -> f64;
        let values: Vec<f64> = (0..128).map(|k| 1.0 + (k as f64 * 0.7).sin() / 3.0).collect();
        let made = [
            (fold_all_add_f8::address as fn(Option<Level>) -> usize, values.iter().sum::<f64>()),
            (fold_all_mul_f8::address, f64::NAN),
            (fold_all_maximum_f8::address, values.iter().copied().fold(f64::MIN, f64::max)),
            (fold_all_minimum_f8::address, values.iter().copied().fold(f64::MAX, f64::min)),
        ];
        for (lanes, count) in [(8, 32), (8, 64), (8, 128), (16, 64), (32, 128), (4, 64)] {
            for (at, (address, _)) in made.iter().enumerate() {
                let mut found = Vec::new();
                for level in levels() {
                    let mut own = values.clone();
                    // SAFETY: the address is that of such a function, and `own` is long enough.
                    let result = unsafe {
                        let function: Function = std::mem::transmute(address(level));
                        function(own.as_mut_ptr(), count, 3 * lanes, lanes)
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
                let function: Function = std::mem::transmute(address(None));
                function(own.as_mut_ptr(), 128, 0, 8)
            };
            assert!(expected.is_nan() || (result - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn sets_may_stand_before_their_place() {
        for (lanes, count) in [(8, 32), (16, 64), (8, 128), (4, 64)] {
            let values: Vec<f64> = (0..count).map(|k| (k as f64 * 0.3).sin()).collect();
            let mut in_place = values.clone();
            // SAFETY: `count` partial results, here and below.
            let expected = unsafe { fold::<_, Sum>(in_place.as_mut_ptr(), count, 0, lanes) };
            for blocks in 0..9 {
                let mut own = values.clone();
                own[..4 * lanes as usize]
                    .rotate_left((blocks * lanes) as usize % (4 * lanes as usize));
                // SAFETY: as above.
                let found =
                    unsafe { fold::<_, Sum>(own.as_mut_ptr(), count, blocks * lanes, lanes) };
                assert_eq!(found.to_bits(), expected.to_bits());
            }
        }
    }

    #[test]
    fn a_nan_stays_the_largest_and_the_smallest() {
        for at in 0..32 {
            for name in ["fold_all_maximum_f8", "fold_all_minimum_f8"] {
                let mut values = [1.0; 32];
                values[at] = f64::NAN;
                let address = kernel_function(name).unwrap();
                // SAFETY: the address is that of such a function, over 32 partial results.
                let result = unsafe {
                    let function: unsafe extern "C" fn(*mut f64, i64, i64, i64) -> f64 =
                        std::mem::transmute(address);
                    function(values.as_mut_ptr(), 32, 8 * at as i64, 8)
                };
                assert!(result.is_nan());
            }
        }
    }

    #[test]
    fn the_ends_of_rows_are_padded_with_their_last_elements_and_copied_back() {
        for (lanes, rows, count) in [(8, 3, 5), (16, 8, 1), (16, 1, 15), (32, 4, 31), (8, 2, 7)] {
            let (width, used) = (lanes as usize, count as usize);
            // Rows of 40 elements, of which the ends are at 2.
            let from: Vec<u32> = (0..40 * rows as u32).collect();
            let mut ends = vec![0; width * rows as usize];
            let mut back = vec![u32::MAX; from.len()];
            // SAFETY: all are as long as is said.
            unsafe {
                pad_ends(ends.as_mut_ptr(), from[2..].as_ptr().cast(), 160, 3, rows, count, lanes);
                let to = back[2..].as_mut_ptr().cast();
                copy_ends(to, ends.as_ptr(), 160, rows, count, lanes);
            }
            for (row, end) in ends.chunks(width).enumerate() {
                let own = &from[40 * row + 2..][..used];
                for (k, &element) in end.iter().enumerate() {
                    assert_eq!(element, own[k.min(used - 1)]);
                }
            }
            for (at, &element) in back.iter().enumerate() {
                let copied = (2..2 + used).contains(&(at % 40));
                assert_eq!(element, if copied { from[at] } else { u32::MAX });
            }
        }
    }

    #[test]
    fn rows_at_one_place_are_copied_once() {
        let from = [1u64, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9];
        let mut to = [0u64; 3];
        // SAFETY: two blocks of eight; three elements of room.
        unsafe { copy_ends(to.as_mut_ptr().cast(), from.as_ptr(), 0, 2, 3, 8) };
        assert_eq!(to, [1, 2, 3]);
    }

    #[test]
    fn rows_are_folded_as_one_alone() {
        for (lanes, count) in [(8, 32), (16, 64), (8, 64), (4, 64)] {
            let values: Vec<f32> = (0..3 * count).map(|k| (k as f32 * 0.3).sin()).collect();
            let (mut all, mut one) = (values.clone(), values);
            let mut found = [0.0; 3];
            // SAFETY: three rows of `count` partial results.
            unsafe {
                fold_rows::<_, Sum>(
                    found.as_mut_ptr(),
                    all.as_mut_ptr(),
                    3,
                    count,
                    5 * lanes,
                    lanes,
                );
                for (row, &found) in found.iter().enumerate() {
                    let own = one[row * count as usize..].as_mut_ptr();
                    assert_eq!(
                        found.to_bits(),
                        fold::<_, Sum>(own, count, 5 * lanes, lanes).to_bits()
                    );
                }
            }
        }
    }

    #[test]
    fn sums_are_carried_as_far_as_turns_are_up() {
        for (turn, expected) in
            [(1, [0.0, 1.0, 0.0, 0.0]), (2, [0.0, 2.0, 1.0, 1.0]), (16, [0.0, 0.0, 3.0, 1.0])]
        {
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
        assert!(kernel_function("fold_all_sub_f8").is_none());
    }
}
