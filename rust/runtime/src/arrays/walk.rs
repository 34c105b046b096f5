//! Visiting every position of an n-dimensional loop over strided operands.

use smallvec::SmallVec;

/// Pointers to the current element of each operand.
pub(crate) type Pointers = SmallVec<[*mut u8; 12]>;

/// A permutation of loop dimensions, outermost first.
pub(crate) type Order = SmallVec<[usize; 4]>;

/// The strides in bytes of several operands along the dimensions of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strides {
    flat: SmallVec<[i64; 24]>,
    operands: usize,
}

impl Strides {
    /// A walk over no operands yet.
    pub(crate) fn new() -> Strides {
        Strides::default()
    }

    /// Adds an operand: one stride for each dimension of the loop.
    pub(crate) fn push(&mut self, strides: impl IntoIterator<Item = i64>) {
        self.flat.extend(strides);
        self.operands += 1;
    }

    /// The number of operands.
    pub(crate) fn operands(&self) -> usize {
        self.operands
    }

    /// The strides of one operand.
    pub(crate) fn of(&self, operand: usize) -> &[i64] {
        let ndim = self.flat.len() / self.operands;
        &self.flat[operand * ndim..][..ndim]
    }

    /// The strides of all operands along one dimension.
    pub(crate) fn along(&self, dim: usize) -> impl Iterator<Item = i64> + '_ {
        (0..self.operands).map(move |operand| self.of(operand)[dim])
    }
}

/// The order of dimensions that moves through memory most evenly: large strides outside.
///
/// C order stays wherever two operands disagree; dimensions of length 1 and strides of zero have no
/// say.
pub(crate) fn memory_order(dims: &[i64], strides: &Strides) -> Order {
    let mut order: Order = (0..dims.len()).collect();
    for from in 1..dims.len() {
        let moving = order[from];
        let mut to = from;
        for at in (0..from).rev() {
            match outside(dims, strides, moving, order[at]) {
                Some(true) => to = at,
                Some(false) => break,
                None => {}
            }
        }
        order[to..=from].rotate_right(1);
    }
    order
}

/// Whether every operand that has a say takes longer steps along `later` than along `earlier`.
fn outside(dims: &[i64], strides: &Strides, later: usize, earlier: usize) -> Option<bool> {
    if dims[later] == 1 || dims[earlier] == 1 {
        return None;
    }
    let mut verdict = None;
    for operand in 0..strides.operands() {
        let strides = strides.of(operand);
        let (inner, outer) = (strides[later].unsigned_abs(), strides[earlier].unsigned_abs());
        if inner == 0 || outer == 0 {
            continue;
        }
        if inner <= outer {
            return Some(false);
        }
        verdict = Some(true);
    }
    verdict
}

/// Nested loops, outermost first, with the step of each operand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    lengths: SmallVec<[i64; 4]>,
    /// `steps[dim * operands + operand]`.
    steps: SmallVec<[i64; 24]>,
    operands: usize,
}

impl Walk {
    /// The loops over `dims` in `order`: neighbours that every operand passes evenly become one
    /// loop, and loops of one turn vanish.
    pub(crate) fn new(dims: &[i64], strides: &Strides, order: &[usize]) -> Walk {
        let mut walk = Walk { operands: strides.operands(), ..Walk::default() };
        for &dim in order {
            let length = dims[dim];
            if length == 1 {
                continue;
            }
            if walk.lengths.is_empty() || !walk.merges(length, strides.along(dim)) {
                walk.lengths.push(length);
                walk.steps.extend(strides.along(dim));
            } else {
                let last = walk.lengths.len() - 1;
                walk.lengths[last] *= length;
                let start = last * walk.operands;
                for (step, stride) in walk.steps[start..].iter_mut().zip(strides.along(dim)) {
                    *step = stride;
                }
            }
        }
        walk
    }

    /// Whether the last loop and one of `length` inside it are one loop for every operand.
    fn merges(&self, length: i64, inner: impl Iterator<Item = i64>) -> bool {
        let last = self.lengths.len() - 1;
        let outer = &self.steps[last * self.operands..];
        self.lengths[last].checked_mul(length).is_some()
            && outer
                .iter()
                .zip(inner)
                .all(|(&outer, inner)| inner.checked_mul(length) == Some(outer))
    }

    /// Whether an operand stays where it is.
    pub(crate) fn is_still(&self, operand: usize) -> bool {
        self.steps.iter().skip(operand).step_by(self.operands).all(|&step| step == 0)
    }

    /// Takes the innermost loop out: its length and the step of each operand.
    pub(crate) fn pop(&mut self) -> Option<(i64, SmallVec<[i64; 12]>)> {
        let length = self.lengths.pop()?;
        let start = self.lengths.len() * self.operands;
        let steps = self.steps.drain(start..).collect();
        Some((length, steps))
    }

    /// The lengths of the loops.
    pub(crate) fn lengths(&self) -> &[i64] {
        &self.lengths
    }

    /// The step of each operand in one of the loops.
    pub(crate) fn steps(&self, dim: usize) -> &[i64] {
        &self.steps[dim * self.operands..][..self.operands]
    }

    /// The step of each operand in the innermost loop.
    pub(crate) fn innermost(&self) -> Option<(i64, &[i64])> {
        let length = *self.lengths.last()?;
        Some((length, &self.steps[(self.lengths.len() - 1) * self.operands..]))
    }

    /// Whether there is no position to visit.
    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.contains(&0)
    }

    /// Whether there is one position.
    pub(crate) fn is_single(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Calls `body` with the pointers of every position, in order; stops at an error.
    ///
    /// `lengths` are the lengths of the walk, or of a part of it; none is zero. Pointers move by wrapping
    /// arithmetic: a caller that reads through them answers for their addresses. Those behind the
    /// operands' stay.
    #[inline]
    pub(crate) fn visit<E>(
        &self,
        lengths: &[i64],
        pointers: &mut [*mut u8],
        mut body: impl FnMut(&[*mut u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if lengths.is_empty() {
            return body(pointers);
        }
        let mut counts: SmallVec<[i64; 4]> = SmallVec::from_elem(0, lengths.len());
        loop {
            body(pointers)?;
            let mut dim = lengths.len();
            loop {
                if dim == 0 {
                    return Ok(());
                }
                dim -= 1;
                counts[dim] += 1;
                let steps = self.steps(dim);
                if counts[dim] < lengths[dim] {
                    advance(pointers, steps, 1);
                    break;
                }
                counts[dim] = 0;
                advance(pointers, steps, 1 - lengths[dim]);
            }
        }
    }
}

/// Moves each pointer by so many of its steps.
pub(crate) fn advance(pointers: &mut [*mut u8], steps: &[i64], times: i64) {
    for (pointer, &step) in pointers.iter_mut().zip(steps) {
        *pointer = pointer.wrapping_offset((step * times) as isize);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn strides(of: &[&[i64]]) -> Strides {
        let mut strides = Strides::new();
        for operand in of {
            strides.push(operand.iter().copied());
        }
        strides
    }

    #[test]
    fn c_order_stays_unless_all_agree() {
        assert_eq!(memory_order(&[2, 3], &strides(&[&[24, 8], &[24, 8]]))[..], [0, 1]);
        assert_eq!(memory_order(&[2, 3], &strides(&[&[8, 16], &[8, 16]]))[..], [1, 0]);
        assert_eq!(memory_order(&[2, 3], &strides(&[&[8, 16], &[24, 8]]))[..], [0, 1]);
        assert_eq!(memory_order(&[2, 3], &strides(&[&[8, 16], &[0, 8]]))[..], [1, 0]);
        assert_eq!(memory_order(&[2, 1], &strides(&[&[8, 800]]))[..], [0, 1]);
        assert_eq!(memory_order(&[2, 3, 4], &strides(&[&[8, 16, 48]]))[..], [2, 1, 0]);
    }

    #[test]
    fn even_neighbours_are_one_loop() {
        let operands = strides(&[&[96, 32, 8], &[0, 0, 0]]);
        let walk = Walk::new(&[2, 3, 4], &operands, &[0, 1, 2]);
        assert_eq!(walk.innermost(), Some((24, &[8, 0][..])));
        let operands = strides(&[&[96, 32, 8], &[0, 32, 8]]);
        let mut walk = Walk::new(&[2, 3, 4], &operands, &[0, 1, 2]);
        assert_eq!(walk.pop().unwrap().0, 12);
        assert_eq!(walk.innermost(), Some((2, &[96, 0][..])));
    }

    #[test]
    fn every_position_is_visited_once_in_order() {
        let operands = strides(&[&[100, 10, 1]]);
        let walk = Walk::new(&[2, 3, 2], &operands, &[0, 1, 2]);
        let mut seen = Vec::new();
        let visited: Result<(), Infallible> =
            walk.visit(walk.lengths(), &mut [std::ptr::null_mut()], |at| {
                seen.push(at[0] as usize);
                Ok(())
            });
        assert!(visited.is_ok());
        assert_eq!(seen, [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121]);
    }
}
