//! The partial results of float reductions.
//!
//! They stand in sets of as many as a block has lanes. The bits of a result depend on the order given
//! here, which kernels in other languages keep, too.

// The code of iterators and methods of std is compiled for no instruction set but the plain
// one, unless it happens to be inlined.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use crate::loops::tiles::{TILE, Wide, WideReduction};

/// Levels of partial sums. Bits depend on this and the next two, which all compilers of kernels take from here.
pub const LEVELS: usize = 4;
/// Sets of partial results that blocks take in turn.
pub const SETS: usize = 4;
/// Turns after which the sums of a level are carried to the next.
pub const TURNS: i64 = 16;

/// Adds the partial sums of the first level to the sums of the next, and so on while a level's turns
/// are up: `turn` counts the turns of the first. The first turn finds nothing in higher levels.
///
/// # Safety
/// `sums` has room for [`LEVELS`] levels of `width` sums.
#[inline(always)]
pub(super) unsafe fn carry<T: Copy + std::ops::Add<Output = T>>(
    mut sums: *mut T,
    mut turn: i64,
    width: i64,
    zero: T,
) {
    let width = width as usize;
    if turn == 1 {
        // SAFETY: by the caller's promise, there is room for all levels.
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

/// The fold of two partial results. It is no closure, since closures are compiled for no instruction set.
pub(super) trait Reduction<T> {
    fn of(a: T, b: T) -> T;
}

pub(super) struct Sum;
pub(super) struct Product;
pub(super) struct Largest;
pub(super) struct Smallest;

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
/// times as many, or as many where the sets are one already.
#[inline(always)]
pub(super) unsafe fn fold<T: Copy, R: Reduction<T>>(
    of: *mut T,
    count: i64,
    walked: i64,
    lanes: i64,
) -> T {
    let all = |count| {
        // SAFETY: by the caller's promise; this is called once.
        unsafe { std::slice::from_raw_parts_mut(of, count) }
    };
    let behind = (walked / lanes) as usize % SETS;
    match (lanes, count) {
        (8, 32) => fold_sets::<T, R, 8>(all(32), behind),
        (16, 64) => fold_sets::<T, R, 16>(all(64), behind),
        // SAFETY: by the caller's promise.
        _ => unsafe { fold_any::<T, R>(of, count as usize, behind, lanes as usize) },
    }
}

/// As [`fold`], of any number of lanes.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn fold_any<T: Copy, R: Reduction<T>>(
    of: *mut T,
    count: usize,
    behind: usize,
    lanes: usize,
) -> T {
    // SAFETY: by the caller's promise, there are all sets of so many lanes; each slice is alone.
    unsafe {
        if count > lanes {
            turn_sets(of, behind, lanes);
        }
        halve::<T, R>(std::slice::from_raw_parts_mut(of, count))
    }
}

/// Moves the first [`SETS`] sets so many places on, the last ones to the front.
///
/// Written out: a function of the library would be called with wide registers in use.
///
/// # Safety
/// `of` has so many sets of `lanes` each.
#[inline(always)]
unsafe fn turn_sets<T: Copy>(of: *mut T, behind: usize, lanes: usize) {
    for lane in 0..lanes {
        // SAFETY: by the caller's promise; places are less than `SETS`.
        unsafe {
            let at = |set: usize| of.add((set % SETS) * lanes + lane);
            let [a, b, c, d] = [at(0).read(), at(1).read(), at(2).read(), at(3).read()];
            at(behind).write(a);
            at(behind + 1).write(b);
            at(behind + 2).write(c);
            at(behind + 3).write(d);
        }
    }
}

/// Folds each of the first `count` lanes of all sets into an output of its own.
///
/// # Safety
/// There are [`SETS`] sets of so many `lanes`, and `count` outputs, no more than lanes.
#[inline(always)]
pub(super) unsafe fn fold_columns<T: Copy, R: Reduction<T>>(
    to: *mut T,
    sets: *const T,
    count: i64,
    lanes: i64,
) {
    let lanes = lanes as usize;
    // SAFETY: by the caller's promise, there are all sets of so many lanes, and `count` outputs.
    unsafe {
        let to = std::slice::from_raw_parts_mut(to, count as usize);
        let sets = std::slice::from_raw_parts(sets, SETS * lanes);
        match (lanes, to.len()) {
            (8, 8) => fold_lanes::<T, R>(&mut to[..8], &sets[..SETS * 8], 8),
            (16, 16) => fold_lanes::<T, R>(&mut to[..16], &sets[..SETS * 16], 16),
            _ => fold_lanes::<T, R>(to, sets, lanes),
        }
    }
}

#[inline(always)]
fn fold_lanes<T: Copy, R: Reduction<T>>(to: &mut [T], sets: &[T], lanes: usize) {
    for lane in 0..to.len() {
        let set = |turn: usize| sets[turn * lanes + lane];
        let (even, odd) = (R::of(set(0), set(2)), R::of(set(1), set(3)));
        to[lane] = R::of(to[lane], R::of(even, odd));
    }
}

/// Folds the partial results of each of some rows, which follow one another: those of one set where
/// the kernel has folded the sets.
///
/// # Safety
/// As for [`fold`], of each row, or `lanes` of each; `to` has room for a result of each. The processor
/// has AVX-512 where `WIDE` says so.
#[inline(always)]
pub(super) unsafe fn fold_rows<
    T: Wide + Copy,
    R: Reduction<T> + WideReduction<T>,
    const WIDE: bool,
>(
    to: *mut T,
    of: *mut T,
    rows: i64,
    count: i64,
    walked: i64,
    lanes: i64,
) {
    #[cfg(target_arch = "x86_64")]
    if WIDE && rows == TILE as i64 && lanes == T::LANES && count == lanes {
        // SAFETY: by the caller's promise, each row has a register of results, and the processor has AVX-512.
        unsafe { T::fold_tile::<R>(to, of) };
        return;
    }
    let behind = (walked / lanes) as usize % SETS;
    // SAFETY: by the caller's promise, `of` has `count` results of each row, and `to` room for one of each.
    unsafe {
        let all = std::slice::from_raw_parts(of, (rows * count) as usize);
        let to = std::slice::from_raw_parts_mut(to, rows as usize);
        match (lanes, count) {
            (8, 8 | 32) => fold_tile::<T, R, 8>(to, all, count as usize, behind),
            (16, 16 | 64) => fold_tile::<T, R, 16>(to, all, count as usize, behind),
            _ => {
                let (count, lanes) = (count as usize, lanes as usize);
                for row in 0..to.len() {
                    to[row] = fold_any::<T, R>(of.add(row * count), count, behind, lanes);
                }
            }
        }
    }
}

/// Folds the sets of short rows, `own` numbers each, unless the kernel did, then the lanes of all the rows side
/// by side: a comparison of two numbers alone would be a branch that the processor cannot predict.
#[inline(always)]
fn fold_tile<T: Copy, R: Reduction<T>, const LANES: usize>(
    to: &mut [T],
    of: &[T],
    own: usize,
    behind: usize,
) {
    let mut first = 0;
    while first < to.len() {
        let rows = TILE.min(to.len() - first);
        // The first halving lane beside lane, as they lie; the others row beside row.
        let mut lanes = [[of[0]; TILE]; LANES];
        let mut half = LANES / 2;
        for row in 0..rows {
            let sets = &of[(first + row) * own..][..own];
            let one = if own == SETS * LANES {
                fold_to_lanes::<T, R, LANES>(sets, behind)
            } else {
                set::<T, LANES>(sets, 0)
            };
            for lane in 0..half {
                lanes[lane][row] = R::of(one[lane], one[lane + half]);
            }
        }
        while half > 1 {
            half /= 2;
            for lane in 0..half {
                for row in 0..TILE {
                    lanes[lane][row] = R::of(lanes[lane][row], lanes[lane + half][row]);
                }
            }
        }
        to[first..first + rows].copy_from_slice(&lanes[0][..rows]);
        first += TILE;
    }
}

/// As [`halve`], in registers, of as many sets as short rows have.
#[inline(always)]
fn fold_sets<T: Copy, R: Reduction<T>, const LANES: usize>(of: &[T], behind: usize) -> T {
    halve::<T, R>(&mut fold_to_lanes::<T, R, LANES>(of, behind))
}

#[inline(always)]
fn fold_to_lanes<T: Copy, R: Reduction<T>, const LANES: usize>(
    of: &[T],
    behind: usize,
) -> [T; LANES] {
    assert!(of.len() == SETS * LANES);
    let place = |set: usize| (set + SETS - behind) % SETS;
    let (a, b) = (set::<T, LANES>(of, place(0)), set::<T, LANES>(of, place(1)));
    let (c, d) = (set::<T, LANES>(of, place(2)), set::<T, LANES>(of, place(3)));
    let mut one = a;
    for lane in 0..LANES {
        one[lane] = R::of(R::of(a[lane], c[lane]), R::of(b[lane], d[lane]));
    }
    one
}

/// The set in that place, as an array of known length, which registers hold.
#[inline(always)]
fn set<T: Copy, const LANES: usize>(of: &[T], place: usize) -> [T; LANES] {
    assert!((place + 1) * LANES <= of.len());
    // SAFETY: it is there.
    unsafe { of.as_ptr().add(place * LANES).cast::<[T; LANES]>().read() }
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
    fn rows_are_folded_as_one_alone() {
        for (lanes, count) in [(8, 32), (16, 64), (8, 64), (4, 64)] {
            let values: Vec<f32> = (0..3 * count).map(|k| (k as f32 * 0.3).sin()).collect();
            let (mut all, mut one) = (values.clone(), values);
            let mut found = [0.0; 3];
            // SAFETY: three rows of `count` partial results.
            unsafe {
                fold_rows::<_, Sum, false>(
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
    fn one_set_is_folded_as_if_the_others_were_empty() {
        for lanes in [8, 16, 4] {
            let values: Vec<f32> = (0..11 * lanes).map(|k| (k as f32 * 0.3).sin()).collect();
            let mut found = [0.0; 11];
            // SAFETY: eleven rows of `lanes` partial results, then one of as many sets as there are.
            unsafe {
                let mut own = values.clone();
                fold_rows::<_, Sum, false>(
                    found.as_mut_ptr(),
                    own.as_mut_ptr(),
                    11,
                    lanes,
                    5 * lanes,
                    lanes,
                );
                for (row, &found) in found.iter().enumerate() {
                    let mut sets = vec![-0.0; SETS * lanes as usize];
                    sets[..lanes as usize]
                        .copy_from_slice(&values[row * lanes as usize..][..lanes as usize]);
                    let expected = fold::<_, Sum>(sets.as_mut_ptr(), 4 * lanes, 5 * lanes, lanes);
                    assert_eq!(found.to_bits(), expected.to_bits());
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
}
