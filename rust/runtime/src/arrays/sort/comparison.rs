//! Sorting by comparing, in a way that may be stopped.

use crate::threads::attention::Patience;
use crate::threads::conduct::Halt;

/// So many keys are sorted within a millisecond or two.
const FEW: usize = 1 << 15;

/// The number of keys whose median parts the others.
const SAMPLE: usize = 31;

/// Sorts the keys, unless the run is to stop.
pub(super) fn sort<K: Ord + Copy>(keys: &mut [K]) -> Result<(), Halt> {
    if keys.len() <= FEW {
        keys.sort_unstable();
        return Ok(());
    }
    let mut patience = Patience::new();
    // Keys that are parted badly again and again are left to an algorithm that has no bad case.
    let mut open = vec![(keys, 0)];
    while let Some((keys, depth)) = open.pop() {
        if keys.len() <= FEW || depth == usize::BITS {
            keys.sort_unstable();
            patience.spend(keys.len() as i64)?;
            continue;
        }
        let middle = part(keys, &mut patience)?;
        let (low, high) = keys.split_at_mut(middle);
        open.extend([(high, depth + 1), (low, depth + 1)]);
    }
    Ok(())
}

/// Brings the smaller keys to the front, the larger ones behind them; how many are in front, which
/// is neither none nor all.
fn part<K: Ord + Copy>(keys: &mut [K], patience: &mut Patience) -> Result<usize, Halt> {
    let mut sample: [K; SAMPLE] = std::array::from_fn(|at| keys[at * (keys.len() / SAMPLE)]);
    sample.sort_unstable();
    let pivot = sample[SAMPLE / 2];
    // Keys that are equal to the pivot stop both ends, so that many of them are shared evenly.
    let (mut low, mut high) = (0, keys.len() - 1);
    loop {
        while keys[low] < pivot {
            low += 1;
            patience.spend(1)?;
        }
        while pivot < keys[high] {
            high -= 1;
            patience.spend(1)?;
        }
        if low >= high {
            // If both ends meet at the pivot, it belongs to the elements behind, unless it is the first.
            return Ok(low.max(1));
        }
        keys.swap(low, high);
        low += 1;
        high -= 1;
        patience.spend(1)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::attention::attend;

    #[test]
    fn long_keys_of_every_kind_are_sorted() {
        let length = 5 * FEW as u64 + 7;
        let mixed = |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ k >> 7;
        let kinds: [&dyn Fn(u64) -> u64; 8] = [
            &|k| mixed(k),
            &|k| k,
            &|k| length - k,
            &|_| 3,
            &|k| k % 2,
            &|k| mixed(k) % 5,
            &|k| if k == 0 { 0 } else { 1 },
            &|k| k.min(length - k),
        ];
        for kind in kinds {
            let mut keys: Vec<u64> = (0..length).map(kind).collect();
            let mut expected = keys.clone();
            expected.sort();
            assert_eq!(sort(&mut keys), Ok(()));
            assert_eq!(keys, expected);
        }
    }

    #[test]
    fn who_is_told_to_stop_stops() {
        let mut keys: Vec<u64> = (0..4 * FEW as u64).rev().collect();
        let told = attend(&|| true, || sort(&mut keys));
        assert_eq!(told, Err(Halt::Interrupted));
    }
}
