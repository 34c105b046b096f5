//! Views: other layouts of the same elements.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::arrays::layout::{Axes, Layout};
use crate::error::Fault;

/// One axis in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Index<S> {
    /// One position; the axis disappears. Negative positions count from the end.
    At(S),
    /// Python's `start:stop:step`.
    Range {
        /// The first position.
        start: Option<S>,
        /// The position to stop before.
        stop: Option<S>,
        /// The distance; not zero.
        step: S,
    },
}

impl<S> Index<S> {
    /// The same index over other sizes.
    pub(crate) fn map<T>(self, mut map: impl FnMut(S) -> T) -> Index<T> {
        match self {
            Index::At(at) => Index::At(map(at)),
            Index::Range { start, stop, step } => Index::Range {
                start: start.map(&mut map),
                stop: stop.map(&mut map),
                step: map(step),
            },
        }
    }

    /// The same index over other sizes, if there are such.
    pub(crate) fn try_map<T, E>(
        self,
        mut map: impl FnMut(S) -> Result<T, E>,
    ) -> Result<Index<T>, E> {
        Ok(match self {
            Index::At(at) => Index::At(map(at)?),
            Index::Range { start, stop, step } => Index::Range {
                start: start.map(&mut map).transpose()?,
                stop: stop.map(&mut map).transpose()?,
                step: map(step)?,
            },
        })
    }
}

/// The axes in another order.
pub(crate) fn transpose(of: &Layout, axes: &[usize]) -> Layout {
    Layout {
        dims: axes.iter().map(|&axis| of.dims[axis]).collect(),
        strides: axes.iter().map(|&axis| of.strides[axis]).collect(),
    }
}

/// Axes of length 1 at the given positions of the result.
pub(crate) fn expand_dims(of: &Layout, axes: &[usize]) -> Layout {
    let mut result = Layout::default();
    let mut rest = of.dims.iter().zip(&of.strides);
    for axis in 0..of.ndim() + axes.len() {
        let (length, stride) = if axes.contains(&axis) {
            (1, 0)
        } else {
            rest.next().map_or((1, 0), |(&length, &stride)| (length, stride))
        };
        result.dims.push(length);
        result.strides.push(stride);
    }
    result
}

/// Without the given axes, whose lengths must be 1.
pub(crate) fn drop_dims(of: &Layout, axes: &[usize]) -> Result<Layout, Fault> {
    let mut result = Layout::default();
    for axis in 0..of.ndim() {
        let length = of.dims[axis];
        if !axes.contains(&axis) {
            result.dims.push(length);
            result.strides.push(of.strides[axis]);
        } else if length != 1 {
            return Err(Fault::DropAxis { axis, length });
        }
    }
    Ok(result)
}

/// Stretched to `dims`: new axes in front and axes of length 1 repeat their elements.
pub(crate) fn broadcast_to(of: &Layout, dims: &[i64]) -> Result<Layout, Fault> {
    if let Some((axis, &length)) = dims.iter().enumerate().find(|&(_, &length)| length < 0) {
        return Err(Fault::NegativeLength { axis, length });
    }
    let new = dims.len() - of.ndim();
    let mut strides: Axes = SmallVec::from_elem(0, dims.len());
    for axis in 0..of.ndim() {
        let (given, wanted) = (of.dims[axis], dims[new + axis]);
        if given == wanted {
            strides[new + axis] = of.strides[axis];
        } else if given != 1 {
            return Err(Fault::Broadcast { from: of.dims.to_vec(), to: dims.to_vec() });
        }
    }
    Ok(Layout { dims: dims.into(), strides })
}

/// The position that an index means along an axis of this length; none if it is out of bounds.
pub(crate) fn position_of(index: i64, length: i64) -> Option<i64> {
    let position = if index < 0 { index.checked_add(length)? } else { index };
    (0..length).contains(&position).then_some(position)
}

/// The elements that basic indexing picks, and how far the first one lies from that of the whole.
pub(crate) fn slice(of: &Layout, indices: &[Index<i64>]) -> Result<(i64, Layout), Fault> {
    let mut offset = 0;
    let mut result = Layout::default();
    for axis in 0..of.ndim() {
        let (length, stride) = (of.dims[axis], of.strides[axis]);
        match indices.get(axis) {
            None => {
                result.dims.push(length);
                result.strides.push(stride);
            }
            Some(&Index::At(index)) => {
                let position = position_of(index, length);
                offset += position.ok_or(Fault::Index { index, axis, length })? * stride;
            }
            Some(&Index::Range { start, stop, step }) => {
                if step == 0 {
                    return Err(Fault::SliceStep { axis });
                }
                let (first, count) = range(length, start, stop, step);
                // Nothing lies at the start of an empty range; it need not even be in the array.
                if count > 0 {
                    offset += first * stride;
                }
                result.dims.push(count);
                // A range of one element may have any step: its stride is never used.
                result.strides.push(stride.wrapping_mul(step));
            }
        }
    }
    Ok((offset, result))
}

/// The elements whose position along the second of two axes is larger by `offset`, as a last axis;
/// and how far the first one lies from that of the whole.
pub(crate) fn diagonal(of: &Layout, axes: [usize; 2], offset: i64) -> (i64, Layout) {
    let [rows, columns] = axes.map(|axis| of.dims[axis]);
    let [down, along] = axes.map(|axis| of.strides[axis]);
    let mut result = Layout::default();
    for axis in (0..of.ndim()).filter(|axis| !axes.contains(axis)) {
        result.dims.push(of.dims[axis]);
        result.strides.push(of.strides[axis]);
    }
    let (row, column) = (offset.saturating_neg().max(0), offset.max(0));
    let count = rows.saturating_sub(row).min(columns.saturating_sub(column)).max(0);
    result.dims.push(count);
    result.strides.push(down.wrapping_add(along));
    let start = if count > 0 { row * down + column * along } else { 0 };
    (start, result)
}

/// First position and number of positions of a Python slice of an axis. The step is not zero.
fn range(length: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> (i64, i64) {
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let clamp = |position: Option<i64>, default: i64| match position {
        None => default,
        Some(position) if position < 0 => position.saturating_add(length).clamp(low, high),
        Some(position) => position.clamp(low, high),
    };
    let (first, last) = if step > 0 {
        (clamp(start, low), clamp(stop, high))
    } else {
        (clamp(start, high), clamp(stop, low))
    };
    let distance = if step > 0 { last - first } else { first - last };
    if distance <= 0 {
        return (first, 0);
    }
    let step = i64::try_from(step.unsigned_abs()).unwrap_or(i64::MAX);
    (first, (distance - 1) / step + 1)
}

/// The dims of a reshape; the axis `rest` takes the elements that the others leave.
pub(crate) fn reshape_dims(of: &Layout, dims: &[i64], rest: Option<usize>) -> Result<Axes, Fault> {
    let fault = || Fault::Reshape { from: of.dims.to_vec(), to: dims.to_vec() };
    let others = || dims.iter().copied().enumerate().filter(|&(axis, _)| rest != Some(axis));
    if let Some((axis, length)) = others().find(|&(_, length)| length < 0) {
        return Err(Fault::NegativeLength { axis, length });
    }
    // A zero makes the product zero whatever the others are.
    let known = if others().any(|(_, length)| length == 0) {
        0
    } else {
        others().try_fold(1i64, |all, (_, length)| all.checked_mul(length)).ok_or_else(fault)?
    };
    let mut result = Axes::from_slice(dims);
    match rest {
        Some(axis) if known != 0 && of.len() % known == 0 => result[axis] = of.len() / known,
        None if known == of.len() => {}
        _ => return Err(fault()),
    }
    Ok(result)
}

/// The same elements in C order as an array of `dims`, if strides can say it. Their number must
/// agree.
pub(crate) fn reshape(of: &Layout, dims: &[i64], itemsize: usize) -> Option<Layout> {
    if of.is_empty() {
        return Layout::fresh(dims, itemsize).ok();
    }
    // Old axes that lie evenly in memory form chunks; each chunk must be split by new axes exactly.
    let mut strides: Axes = SmallVec::from_elem(0, dims.len());
    let mut old =
        of.dims.iter().zip(&of.strides).filter(|&(&length, _)| length != 1).rev().peekable();
    let mut new = dims.len();
    while let Some((&length, &stride)) = old.next() {
        let mut chunk = length;
        while let Some(&(&outer, _)) = old.peek().filter(|&&(_, &outer)| outer == stride * chunk) {
            chunk *= outer;
            old.next();
        }
        let mut step = stride;
        while chunk > 1 {
            new = new.checked_sub(1)?;
            if chunk % dims[new] != 0 {
                return None;
            }
            strides[new] = step;
            step *= dims[new];
            chunk /= dims[new];
        }
    }
    Some(Layout { dims: dims.into(), strides })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The offset of every element, in C order.
    fn offsets(layout: &Layout) -> Vec<i64> {
        let mut offsets = vec![0];
        for (&length, &stride) in layout.dims.iter().zip(&layout.strides) {
            offsets = offsets
                .iter()
                .flat_map(|&base| (0..length).map(move |at| base + at * stride))
                .collect();
        }
        offsets
    }

    /// The positions of `range(*slice(start, stop, step).indices(length))`, counted out one by one.
    fn python_slice(length: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<i64> {
        let wrap = |at: i64| if at < 0 { at + length } else { at };
        (0..length)
            .filter(|&at| {
                let after = |bound: i64| if step > 0 { at >= bound } else { at <= bound };
                let first = match start {
                    None if step > 0 => 0,
                    None => length - 1,
                    Some(start) if step > 0 => wrap(start).max(0),
                    Some(start) => wrap(start).min(length - 1),
                };
                let before = match stop {
                    None => true,
                    Some(stop) => {
                        if step > 0 {
                            at < wrap(stop)
                        } else {
                            at > wrap(stop)
                        }
                    }
                };
                after(first) && before && (at - first) % step == 0
            })
            .collect()
    }

    fn bound() -> impl Strategy<Value = Option<i64>> {
        prop_oneof![
            Just(None),
            (-9..9i64).prop_map(Some),
            Just(Some(i64::MIN)),
            Just(Some(i64::MAX))
        ]
    }

    proptest! {
        #[test]
        fn ranges_are_pythons(
            length in 0..7i64,
            start in bound(),
            stop in bound(),
            step in prop_oneof![-4..0i64, 1..5i64, Just(i64::MIN), Just(i64::MAX)],
        ) {
            let layout = Layout::fresh(&[length], 1).unwrap();
            let (offset, view) = slice(&layout, &[Index::Range { start, stop, step }]).unwrap();
            let picked: Vec<i64> = offsets(&view).into_iter().map(|at| offset + at).collect();
            let narrow = |bound: Option<i64>| bound.map(|bound| bound.clamp(-100, 100));
            let mut expected =
                python_slice(length, narrow(start), narrow(stop), step.clamp(-100, 100));
            if step < 0 {
                expected.reverse();
            }
            prop_assert_eq!(picked, expected);
        }

        #[test]
        fn reshapes_keep_the_elements_in_order(
            factors in prop::collection::vec(1..4i64, 0..5),
            cuts in prop::collection::vec(any::<bool>(), 5),
            swap in any::<bool>(),
            step in 1..3i64,
        ) {
            let total: i64 = factors.iter().product();
            let mut layout = Layout::fresh(&factors, 8 * step as usize).unwrap();
            if swap && factors.len() > 1 {
                layout = transpose(&layout, &(0..factors.len()).rev().collect::<Vec<_>>());
            }
            let mut dims = vec![1];
            for (&factor, &cut) in layout.dims.iter().zip(&cuts) {
                if cut {
                    dims.push(1);
                }
                *dims.last_mut().unwrap() *= factor;
            }
            for dims in [dims, layout.dims.to_vec(), vec![total]] {
                if let Some(view) = reshape(&layout, &dims, 8) {
                    prop_assert_eq!(offsets(&view), offsets(&layout));
                } else {
                    prop_assert!(swap);
                }
            }
        }
    }

    #[test]
    fn contiguous_memory_takes_any_shape() {
        let layout = Layout::fresh(&[4, 6], 8).unwrap();
        for dims in [&[24][..], &[2, 12], &[3, 8], &[1, 2, 2, 6, 1]] {
            assert_eq!(offsets(&reshape(&layout, dims, 8).unwrap()), offsets(&layout));
        }
        assert_eq!(reshape_dims(&layout, &[3, -1], Some(1)).unwrap()[..], [3, 8]);
        assert!(reshape_dims(&layout, &[5, -1], Some(1)).is_err());
        assert!(reshape_dims(&layout, &[0, -1], Some(1)).is_err());
        assert!(reshape_dims(&layout, &[i64::MAX, 2, -1], Some(2)).is_err());
        assert!(matches!(
            reshape_dims(&layout, &[3, -1], None),
            Err(Fault::NegativeLength { axis: 1, length: -1 })
        ));
        let empty = Layout::fresh(&[0, 3], 8).unwrap();
        assert_eq!(reshape_dims(&empty, &[3, -1], Some(1)).unwrap()[..], [3, 0]);
        assert_eq!(reshape(&empty, &[3, 0], 8).unwrap().dims[..], [3, 0]);
    }

    #[test]
    fn transposed_memory_does_not_flatten() {
        let layout = transpose(&Layout::fresh(&[4, 6], 8).unwrap(), &[1, 0]);
        assert_eq!(reshape(&layout, &[24], 8), None);
        assert!(reshape(&layout, &[3, 2, 4], 8).is_some());
    }

    #[test]
    fn indices_are_checked() {
        let layout = Layout::fresh(&[3, 4], 8).unwrap();
        let (offset, view) = slice(&layout, &[Index::At(-1)]).unwrap();
        assert_eq!((offset, &view.dims[..]), (64, &[4][..]));
        for index in [3, -4, i64::MIN, i64::MAX] {
            assert!(matches!(
                slice(&layout, &[Index::At(index)]),
                Err(Fault::Index { axis: 0, length: 3, .. })
            ));
        }
        let zero = Index::Range { start: None, stop: None, step: 0 };
        assert!(matches!(slice(&layout, &[zero]), Err(Fault::SliceStep { axis: 0 })));
    }

    #[test]
    fn only_ones_stretch_and_drop() {
        let layout = expand_dims(&Layout::fresh(&[3], 8).unwrap(), &[0, 2]);
        assert_eq!(layout.dims[..], [1, 3, 1]);
        let wide = broadcast_to(&layout, &[2, 5, 3, 4]).unwrap();
        assert_eq!(wide.strides[..], [0, 0, 8, 0]);
        assert!(broadcast_to(&layout, &[1, 4, 1]).is_err());
        assert_eq!(drop_dims(&layout, &[0, 2]).unwrap().dims[..], [3]);
        assert!(matches!(drop_dims(&layout, &[1]), Err(Fault::DropAxis { axis: 1, length: 3 })));
    }
}
