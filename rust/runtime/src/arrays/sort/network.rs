//! A sorting network over cells. The cells that are compared do not depend on the elements in them, so a cell
//! may hold elements of several lines side by side.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use crate::processor::{Level, by_level};

/// A cell that the network compares: in each lane an element of another line.
pub(super) trait Cell: Copy {
    /// Puts the smaller element of each lane into `low`, the other one into `high`.
    fn order(low: &mut Self, high: &mut Self);

    /// The same, written out: compilers make vectors of several cells, not of one.
    ///
    /// # Safety
    /// The processor has AVX-512, with bytes.
    #[cfg(target_arch = "x86_64")]
    unsafe fn order_in_avx512(low: &mut Self, high: &mut Self);

    /// As above.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn order_in_avx2(low: &mut Self, high: &mut Self);
}

/// Ranks of elements, as many as a vector has.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Ranks<R, const LANES: usize>(pub(super) [R; LANES]);

impl<R: Ord + Copy, const LANES: usize> Ranks<R, LANES> {
    #[inline(always)]
    fn order_lanes(low: &mut Self, high: &mut Self) {
        for lane in 0..LANES {
            let (a, b) = (low.0[lane], high.0[lane]);
            (low.0[lane], high.0[lane]) = (a.min(b), a.max(b));
        }
    }
}

macro_rules! ranks {
    ($($rank:ty, $lanes:literal: $min:ident $max:ident, $order:ident;)*) => { $(
        impl Cell for Ranks<$rank, $lanes> {
            #[inline(always)]
            fn order(low: &mut Self, high: &mut Self) {
                Self::order_lanes(low, high);
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            unsafe fn order_in_avx512(low: &mut Self, high: &mut Self) {
                let [low, high] = [low, high].map(|cell| (&raw mut *cell).cast::<__m512i>());
                // SAFETY: a cell is one aligned vector; by the caller's promise.
                unsafe {
                    let (a, b) = (low.read(), high.read());
                    low.write($min(a, b));
                    high.write($max(a, b));
                }
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            unsafe fn order_in_avx2(low: &mut Self, high: &mut Self) {
                let [low, high] = [low, high].map(|cell| (&raw mut *cell).cast::<__m256i>());
                for half in 0..2 {
                    // SAFETY: a cell is two aligned vectors; by the caller's promise.
                    unsafe {
                        let (low, high) = (low.add(half), high.add(half));
                        let [a, b] = $order(low.read(), high.read());
                        low.write(a);
                        high.write(b);
                    }
                }
            }
        }
    )* };
}

ranks! {
    u8, 64: _mm512_min_epu8 _mm512_max_epu8, order_8;
    u16, 32: _mm512_min_epu16 _mm512_max_epu16, order_16;
    u32, 16: _mm512_min_epu32 _mm512_max_epu32, order_32;
    u64, 8: _mm512_min_epu64 _mm512_max_epu64, order_64;
}

macro_rules! orders {
    ($($name:ident: $min:ident $max:ident;)*) => { $(
        /// # Safety
        /// The processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        unsafe fn $name(a: __m256i, b: __m256i) -> [__m256i; 2] {
            // SAFETY: by the caller's promise, the processor has AVX2.
            unsafe { [$min(a, b), $max(a, b)] }
        }
    )* };
}

orders! {
    order_8: _mm256_min_epu8 _mm256_max_epu8;
    order_16: _mm256_min_epu16 _mm256_max_epu16;
    order_32: _mm256_min_epu32 _mm256_max_epu32;
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn order_64(a: __m256i, b: __m256i) -> [__m256i; 2] {
    // SAFETY: by the caller's promise, the processor has AVX2.
    unsafe {
        let swap = greater_64(a, b);
        [_mm256_blendv_epi8(a, b, swap), _mm256_blendv_epi8(b, a, swap)]
    }
}

/// The unsigned integers that are greater; the processor compares signed ones.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn greater_64(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: by the caller's promise, the processor has AVX2.
    unsafe {
        let sign = _mm256_set1_epi64x(i64::MIN);
        _mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign))
    }
}

/// Ranks and positions; of equal ranks the smaller position comes first.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Placed {
    pub(super) ranks: [u64; 8],
    pub(super) positions: [u64; 8],
}

impl Cell for Placed {
    #[inline(always)]
    fn order(low: &mut Self, high: &mut Self) {
        for lane in 0..8 {
            let a = (low.ranks[lane], low.positions[lane]);
            let b = (high.ranks[lane], high.positions[lane]);
            (low.ranks[lane], low.positions[lane]) = a.min(b);
            (high.ranks[lane], high.positions[lane]) = a.max(b);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn order_in_avx512(low: &mut Self, high: &mut Self) {
        let [low, high] = [low, high].map(|cell| (&raw mut *cell).cast::<__m512i>());
        // SAFETY: a cell is two aligned vectors; by the caller's promise.
        unsafe {
            let (a, b) = (low.read(), high.read());
            let (i, j) = (low.add(1).read(), high.add(1).read());
            let swap = _mm512_cmpgt_epu64_mask(a, b)
                | _mm512_mask_cmpgt_epu64_mask(_mm512_cmpeq_epi64_mask(a, b), i, j);
            low.write(_mm512_min_epu64(a, b));
            high.write(_mm512_max_epu64(a, b));
            low.add(1).write(_mm512_mask_blend_epi64(swap, i, j));
            high.add(1).write(_mm512_mask_blend_epi64(swap, j, i));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn order_in_avx2(low: &mut Self, high: &mut Self) {
        let [low, high] = [low, high].map(|cell| (&raw mut *cell).cast::<__m256i>());
        for half in 0..2 {
            // SAFETY: a cell is four aligned vectors; by the caller's promise.
            unsafe {
                let (low, high) = (low.add(half), high.add(half));
                let (a, b) = (low.read(), high.read());
                let (i, j) = (low.add(2).read(), high.add(2).read());
                let equal = _mm256_cmpeq_epi64(a, b);
                let later = _mm256_and_si256(equal, _mm256_cmpgt_epi64(i, j));
                let swap = _mm256_or_si256(greater_64(a, b), later);
                low.write(_mm256_blendv_epi8(a, b, swap));
                high.write(_mm256_blendv_epi8(b, a, swap));
                low.add(2).write(_mm256_blendv_epi8(i, j, swap));
                high.add(2).write(_mm256_blendv_epi8(j, i, swap));
            }
        }
    }
}

/// Whether vectors of the processor compare 64-bit integers; without that the network is slow.
pub(super) fn is_fast() -> bool {
    Level::best().is_some()
}

/// Sorts the cells in every lane.
pub(super) fn sort<C: Cell>(cells: &mut [C]) {
    sort_at(Level::best(), cells);
}

fn sort_at<C: Cell>(level: Option<Level>, cells: &mut [C]) {
    by_level!(
        level,
        plain: sort_by(cells, C::order),
        // SAFETY: the processor has it.
        avx2: unsafe { sort_in_avx2(cells) },
        // SAFETY: the processor has them.
        avx512: unsafe { sort_in_avx512(cells) },
    )
}

/// # Safety
/// The processor has these parts of AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn sort_in_avx512<C: Cell>(cells: &mut [C]) {
    // SAFETY: by the caller's promise, the processor has these parts of AVX-512.
    sort_by(cells, |low, high| unsafe { C::order_in_avx512(low, high) });
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn sort_in_avx2<C: Cell>(cells: &mut [C]) {
    // SAFETY: by the caller's promise, the processor has AVX2.
    sort_by(cells, |low, high| unsafe { C::order_in_avx2(low, high) });
}

/// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M): of runs
/// of `span` cells, every other one is compared with the one `apart` behind it.
#[inline(always)]
fn sort_by<C>(cells: &mut [C], order: impl Fn(&mut C, &mut C)) {
    let length = cells.len();
    let top = length.next_power_of_two() / 2;
    let mut span = top;
    while span > 0 {
        let (mut reach, mut first, mut apart) = (top, 0, span);
        loop {
            let mut start = first;
            while start + apart < length {
                let end = (start + span).min(length - apart);
                let (low, high) = cells[start..].split_at_mut(apart);
                for k in 0..end - start {
                    order(&mut low[k], &mut high[k]);
                }
                start += 2 * span;
            }
            if reach == span {
                break;
            }
            apart = reach - span;
            reach /= 2;
            first = span;
        }
        span /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By all ways that the processor has.
    fn sort_in_all_ways<C: Cell>(cells: &[C], check: impl Fn(&[C])) {
        for level in Level::known().map(Some).chain([None]) {
            let mut cells = cells.to_vec();
            sort_at(level, &mut cells);
            check(&cells);
        }
    }

    /// A network that sorts all zeros and ones sorts everything.
    #[test]
    fn zeros_and_ones_are_sorted() {
        for length in 0..=11usize {
            for bits in 0..1u32 << length {
                let cell = |k: usize| {
                    let mut cell = Ranks([(bits >> k & 1) as u8; 64]);
                    cell.0[63] = 1 - cell.0[0];
                    cell
                };
                let cells: Vec<_> = (0..length).map(cell).collect();
                sort_in_all_ways(&cells, |cells| {
                    for lane in [0, 1, 63] {
                        assert!(
                            cells.is_sorted_by_key(|cell| cell.0[lane]),
                            "{bits:b} of {length}"
                        );
                    }
                });
            }
        }
    }

    #[test]
    fn ranks_of_all_widths_are_sorted() {
        macro_rules! check {
            ($($rank:ty, $lanes:literal;)*) => { $(
                let cell = |k: usize| {
                    let lane = |lane| (k * 37 + lane * 11) as $rank;
                    Ranks::<$rank, $lanes>(std::array::from_fn(|at| lane(at).rotate_right(3)))
                };
                let cells: Vec<_> = (0..300).map(cell).collect();
                sort_in_all_ways(&cells, |found| for lane in 0..$lanes {
                    let mut expected: Vec<_> = cells.iter().map(|cell| cell.0[lane]).collect();
                    expected.sort();
                    assert!(found.iter().map(|cell| cell.0[lane]).eq(expected));
                });
            )* };
        }
        check! { u8, 64; u16, 32; u32, 16; u64, 8; }
    }

    #[test]
    fn equal_ranks_keep_their_order() {
        for length in [1, 2, 3, 17, 64, 100] {
            let rank = |k: u64| (k * k % 7).rotate_right(2);
            let cell = |k: usize| Placed { ranks: [rank(k as u64); 8], positions: [k as u64; 8] };
            let cells: Vec<_> = (0..length).map(cell).collect();
            sort_in_all_ways(&cells, |cells| {
                for lane in 0..8 {
                    assert!(
                        cells.is_sorted_by_key(|cell| (cell.ranks[lane], cell.positions[lane]))
                    );
                    assert!(
                        cells.iter().all(|cell| cell.ranks[lane] == rank(cell.positions[lane]))
                    );
                }
            });
        }
    }
}
