//! Sorting by digits, the last one first.

use std::mem::MaybeUninit;
use std::slice::from_raw_parts_mut;

use super::comparison;
use super::rank::Rank;
use crate::threads::attention::{Patience, in_portions};
use crate::threads::conduct::Halt;

/// Fewer keys than this have digits of a byte.
const MANY: usize = 1 << 14;

/// Digits are made of this many bits more than there are bits in the number of keys; keys that are
/// equal so far are rare then, and sorted among themselves.
const SLACK: u32 = 12;

/// The keys sorted, where they are or in the room, which takes as many.
///
/// Their difference from `floor`, which none is less than, has at most `span` bits above the `low`
/// ones, which are in order before. There are fewer than 2^32 keys, but some.
pub(super) fn sort<'a, K: Rank>(
    keys: &'a mut [K],
    room: &'a mut [MaybeUninit<K>],
    low: u32,
    floor: u64,
    span: u32,
) -> Result<&'a mut [K], Halt> {
    let bits = span.min(keys.len().ilog2() + 1 + SLACK);
    let below = low + span - bits;
    // 27 bits at most, and 45.
    let keys = if keys.len() < MANY {
        sort_digits::<K, 256, 4>(keys, room, below, floor, bits)?
    } else {
        sort_digits::<K, 2048, 5>(keys, room, below, floor, bits)?
    };
    if below > low {
        let head = |key: K| (key.into() - floor) >> below;
        let mut patience = Patience::new();
        for run in keys.chunk_by_mut(|&a, &b| head(a) == head(b)) {
            patience.spend(run.len() as i64)?;
            if run.len() > 1 {
                comparison::sort(run)?;
            }
        }
    }
    Ok(keys)
}

/// The keys sorted by `bits` bits of their difference from `floor`, those above the `below` lowest
/// ones; a digit has one of so many values.
fn sort_digits<'a, K: Rank, const VALUES: usize, const PASSES: usize>(
    mut keys: &'a mut [K],
    mut room: &'a mut [MaybeUninit<K>],
    below: u32,
    floor: u64,
    bits: u32,
) -> Result<&'a mut [K], Halt> {
    let length = keys.len();
    let passes = bits.div_ceil(VALUES.ilog2()).max(1);
    let width = bits.div_ceil(passes);
    let digit = |key: K, pass: u32| {
        let key: u64 = key.into();
        ((key - floor) >> (below + pass * width)) as usize & ((1 << width) - 1)
    };
    let mut counts = [[0u32; VALUES]; PASSES];
    in_portions(length, |part| {
        for &key in &keys[part] {
            for pass in 0..passes {
                counts[pass as usize][digit(key, pass)] += 1;
            }
        }
    })?;
    for pass in 0..passes {
        let places = &mut counts[pass as usize][..1 << width];
        if places[digit(keys[0], pass)] as usize == length {
            continue; // all have this digit
        }
        let mut start = 0;
        for place in places.iter_mut() {
            (*place, start) = (start, start + *place);
        }
        in_portions(length, |part| {
            for &key in &keys[part] {
                let place = &mut places[digit(key, pass)];
                room[*place as usize].write(key);
                *place += 1;
            }
        })?;
        let [from, to] = [keys.as_mut_ptr(), room.as_mut_ptr().cast()];
        // SAFETY: both are as long, and the places of all keys were each written once.
        (keys, room) =
            unsafe { (from_raw_parts_mut(to, length), from_raw_parts_mut(from.cast(), length)) };
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    fn drawn(length: usize) -> impl Iterator<Item = u64> {
        let next =
            |state: &u64| Some(state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1442695));
        std::iter::successors(Some(length as u64), next)
            .map(|state| state ^ state >> 29)
            .take(length)
    }

    fn check<K: Rank + std::fmt::Debug>(mut keys: Vec<K>, low: u32) {
        let ends = |key: Option<&K>| -> u64 { (*key.unwrap()).into() };
        let floor = ends(keys.iter().min()) >> low << low;
        let most = ends(keys.iter().max());
        let span = (u64::BITS - (most - floor).leading_zeros()).saturating_sub(low);
        let mut expected = keys.clone();
        expected.sort();
        let mut room = vec![MaybeUninit::uninit(); keys.len()];
        assert_eq!(sort(&mut keys, &mut room, low, floor, span).unwrap(), expected);
    }

    #[test]
    fn keys_of_all_widths_are_sorted() {
        for length in [1, 2, 300, MANY - 1, MANY, 5 * MANY] {
            check(drawn(length).collect(), 0);
            check(drawn(length).map(|key| key as u32).collect(), 0);
            check(drawn(length).map(|key| key as u16).collect(), 0);
            for shift in [20, 40, 60, 63] {
                check(drawn(length).map(|key| key >> shift).collect(), 0);
                check(drawn(length).map(|key| u64::MAX - (key >> shift)).collect(), 0);
            }
        }
    }

    #[test]
    fn keys_that_differ_at_both_ends_are_sorted() {
        for length in [300, 2 * MANY] {
            let ends = |key: u64| key & 3 << 62 | key >> 8 & 1023;
            check(drawn(length).map(ends).collect(), 0);
            check(vec![7u64; length], 0);
        }
    }

    #[test]
    fn low_bits_that_are_in_order_stay_so() {
        for shift in [33, 40, 60] {
            let placed = |(k, key): (usize, u64)| key >> shift << 32 | k as u64;
            check(drawn(3 * MANY).enumerate().map(placed).collect(), 32);
        }
    }
}
