//! Rounds of rotations of one symmetric matrix: the angles of all pairs of a turn at once.
//!
//! Pairs that meet in one turn have no line in common, so a rotation of one changes nothing that the angle of another
//! is found from. An angle needs two roots and three quotients in a row, each of which takes longer than all else that a
//! rotation needs: in the lanes of a register they take as long for four pairs as for one.

// The functions of iterators would be compiled without the instructions of the processor.
#![expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]

use super::rotations::{Pairs, ROOM, Turned, rotated, turned};
use super::wide::{One, Wide};

/// The pairs of a turn.
const MOST: usize = ROOM / 2;

/// As `round_of_symmetric`, of one matrix, by registers `W` with an angle in each lane.
///
/// # Safety
/// The matrix has so many rows; the processor has the registers.
#[inline(always)]
pub(super) unsafe fn round_of_one<W: Wide<Item = f64>>(
    size: usize,
    a: &mut [[One; ROOM]; ROOM],
) -> bool {
    let mut moved = false;
    let mut pairs = Pairs::new(size);
    // SAFETY: by the caller's promise; all positions are inside the matrix.
    unsafe {
        let zero = One::splat(0.0);
        loop {
            let (met, count) = pairs.next_turn();
            if count == 0 {
                return moved;
            }
            let mut found = [[0.0; MOST]; 3];
            for k in 0..count {
                let (p, q) = met[k];
                found[0][k] = a[p][p].get();
                found[1][k] = a[q][q].get();
                found[2][k] = a[p][q].get();
            }
            let angles = angles::<W>(&found);
            for k in 0..count {
                let (p, q) = met[k];
                a[p][q] = zero;
                a[q][p] = zero;
                if !angles.due[k].any() {
                    continue;
                }
                moved = true;
                a[p][p] = angles.first[k];
                a[q][q] = angles.second[k];
                for row in 0..size {
                    if row != p && row != q {
                        let (x, y) = rotated(angles.sine[k], angles.half[k], a[row][p], a[row][q]);
                        a[row][p] = x;
                        a[p][row] = x;
                        a[row][q] = y;
                        a[q][row] = y;
                    }
                }
            }
        }
    }
}

/// The results of [`turned`] for each pair.
type Angles = Turned<[One; MOST]>;

/// The angles for these elements of pairs: both on the diagonal, and the one beside it.
///
/// # Safety
/// The processor has the registers.
#[inline(always)]
unsafe fn angles<W: Wide<Item = f64>>([first, second, beside]: &[[f64; MOST]; 3]) -> Angles {
    let none = [One::of(0.0); MOST];
    let mut all = Angles { due: none, sine: none, half: none, first: none, second: none };
    for at in (0..MOST).step_by(W::COUNT) {
        // SAFETY: by the caller's promise; a float and `One` have the same bits, and there are as many.
        unsafe {
            let get = |of: &[f64; MOST]| W::gather(of.as_ptr().add(at), 1, W::COUNT);
            let found = turned(get(first), get(second), get(beside));
            let put = |value: W, to: &mut [One; MOST]| {
                let to: *mut f64 = to.as_mut_ptr().cast();
                value.scatter(to.add(at), 1, W::COUNT);
            };
            put(found.due, &mut all.due);
            put(found.sine, &mut all.sine);
            put(found.half, &mut all.half);
            put(found.first, &mut all.first);
            put(found.second, &mut all.second);
        }
    }
    all
}
