//! Loop nests over operands of all layouts, compared with a plain loop.

use frazil_core::DType;
use proptest::prelude::*;

use super::*;
use crate::threads::conduct::Conduct;

/// `w = 2 a + b`, and `r += a + 3 b`; what moves along the inner dimension is part of the
/// kernel.
unsafe extern "C" fn kernel<const A: bool, const B: bool, const R: bool>(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    stride: *const i64,
) -> i32 {
    for i in 0..n_outer {
        for j in 0..n_inner as usize {
            // SAFETY: the nest gives rows of this many elements; those that move are
            // contiguous.
            unsafe {
                let at = |k: usize, moves: bool| {
                    let row = (*ptr.add(k)).offset((i * *stride.add(k)) as isize);
                    row.cast::<f64>().add(if moves { j } else { 0 })
                };
                let (a, b) = (*at(0, A), *at(1, B));
                *at(2, true) = 2.0 * a + b;
                *at(3, R) += a + 3.0 * b;
            }
        }
    }
    0
}

fn pick(a: bool, b: bool, r: bool) -> KernelFn {
    match (a, b, r) {
        (false, false, false) => kernel::<false, false, false>,
        (false, false, true) => kernel::<false, false, true>,
        (false, true, false) => kernel::<false, true, false>,
        (false, true, true) => kernel::<false, true, true>,
        (true, false, false) => kernel::<true, false, false>,
        (true, false, true) => kernel::<true, false, true>,
        (true, true, false) => kernel::<true, true, false>,
        (true, true, true) => kernel::<true, true, true>,
    }
}

fn access(inner: bool, role: Role) -> Access {
    let apart = (Fold::Add, Scalar::from_f64(DType::Float64, -0.0));
    let apart = (role == Role::Accumulate).then_some(apart);
    Access { itemsize: 8, inner, role, apart, chosen: None }
}

/// An operand in a vector: where it starts, its strides and along which dimensions it moves.
#[derive(Clone, Debug)]
struct Lying {
    start: i64,
    strides: Vec<i64>,
    moves: Vec<bool>,
    elements: usize,
}

/// Lays an operand out: `order` of its dims, gaps between elements, backwards, not moving.
fn lay(dims: &[i64], order: &[usize], moves: &[bool], gap: i64, backwards: &[bool]) -> Lying {
    let mut strides = vec![0; dims.len()];
    let mut stride = 8 * gap;
    let mut start = 0;
    for &dim in order.iter().rev() {
        if moves[dim] {
            strides[dim] = stride;
            if backwards[dim] && dims[dim] > 0 {
                strides[dim] = -stride;
                start += stride * (dims[dim] - 1);
            }
            stride *= dims[dim].max(1);
        }
    }
    Lying { start, strides, moves: moves.to_vec(), elements: (stride / 8) as usize }
}

fn operand(dims: Vec<i64>, dense: bool, all_move: bool) -> impl Strategy<Value = Lying> {
    let ndim = dims.len();
    let order = Just((0..ndim).collect::<Vec<_>>()).prop_shuffle();
    let flags = move || prop::collection::vec(prop::bool::weighted(0.7), ndim);
    (order, any::<bool>(), flags(), flags(), 1..3i64).prop_map(
        move |(shuffled, in_order, moves, forwards, gap)| {
            let order = if in_order { (0..ndim).collect() } else { shuffled };
            let moves = if all_move { vec![true; ndim] } else { moves };
            let backwards: Vec<bool> = forwards.iter().map(|on| !on && !dense).collect();
            lay(&dims, &order, &moves, if dense { 1 } else { gap }, &backwards)
        },
    )
}

fn case() -> impl Strategy<Value = (Vec<i64>, [Lying; 4])> {
    let length = prop_oneof![8 => 1..5i64, 1 => Just(0i64), 1 => 1000..1100i64];
    prop::collection::vec(length, 0..4)
        .prop_filter("small", |dims| dims.iter().product::<i64>() < 20_000)
        .prop_flat_map(|dims| {
            (
                operand(dims.clone(), false, false),
                operand(dims.clone(), false, false),
                operand(dims.clone(), true, true),
                operand(dims.clone(), true, false),
            )
                .prop_map(move |(a, b, w, r)| (dims.clone(), [a, b, w, r]))
        })
}

/// Every position of the loop.
fn positions(dims: &[i64]) -> Vec<Vec<i64>> {
    let mut positions = vec![vec![]];
    for &length in dims {
        positions = positions
            .into_iter()
            .flat_map(|head: Vec<i64>| (0..length).map(move |at| [head.clone(), vec![at]].concat()))
            .collect();
    }
    positions
}

fn at(lying: &Lying, position: &[i64]) -> usize {
    let moved: i64 = position.iter().zip(&lying.strides).map(|(at, step)| at * step).sum();
    ((lying.start + moved) / 8) as usize
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn a_nest_agrees_with_a_walk_index_by_index(
        (dims, operands) in case(),
        grain in prop_oneof![Just(i64::MAX), Just(100), Just(1000)],
        threads in 1..4usize,
    ) {
        let last = dims.len().wrapping_sub(1);
        let inner = |lying: &Lying| lying.moves.get(last).copied().unwrap_or(false);
        let inners: Vec<bool> = operands.iter().map(inner).collect();
        // In a loop over nothing the elementwise write counts as moving: the kernel has one
        // position.
        let function = pick(inners[0], inners[1], inners[3]);
        let mut data: Vec<Vec<f64>> = operands
            .iter()
            .enumerate()
            .map(|(k, lying)| {
                (0..lying.elements).map(|at| ((at * (k + 3)) % 17) as f64).collect()
            })
            .collect();
        let mut expected = data.clone();
        for position in positions(&dims) {
            let [a, b, w, r] = [0, 1, 2, 3].map(|k| at(&operands[k], &position));
            let (a, b) = (data[0][a], data[1][b]);
            expected[2][w] = 2.0 * a + b;
            expected[3][r] += a + 3.0 * b;
        }

        let mut strides = Strides::new();
        for lying in &operands[..2] {
            strides.push(lying.strides.iter().copied());
        }
        let moves = |write: usize, dim: usize| operands[2 + write].moves[dim];
        let order = loop_order(&dims, &strides, &inners[..2], &inners[2..], moves);
        for lying in &operands[2..] {
            strides.push(lying.strides.iter().copied());
        }
        let roles = [Role::Read, Role::Read, Role::Write, Role::Accumulate];
        let accesses: Vec<Access> = roles
            .iter()
            .zip(&inners)
            .map(|(&role, &inner)| access(inner, role))
            .collect();
        let mut nest = LoopNest::new(&dims, &order, &strides, &accesses);
        if !nest.empty {
            nest.divide(Split::with_grain(&nest.levels(&accesses), grain), &accesses);
        }
        let mut scratch = vec![0u64; nest.scratch() / 8];
        let mut pointers: Pointers = data
            .iter_mut()
            .zip(&operands)
            .map(|(data, lying)| {
                data.as_mut_ptr().cast::<u8>().wrapping_offset(lying.start as isize)
            })
            .collect();
        let conduct = Conduct { threads: Some(threads), ..Conduct::ALONE };
        // SAFETY: every operand lies inside its vector.
        let done =
            unsafe { nest.run(function, &mut pointers, scratch.as_mut_ptr().cast(), &conduct) };
        prop_assert_eq!(done, Ok(()));
        prop_assert_eq!(data, expected);
    }
}

fn nest(dims: &[i64], operands: &[(&[i64], bool)]) -> LoopNest {
    let mut strides = Strides::new();
    for (operand, _) in operands {
        strides.push(operand.iter().copied());
    }
    let inners: Vec<bool> = operands.iter().map(|operand| operand.1).collect();
    let order = loop_order(dims, &strides, &inners, &[], |_, _| true);
    let accesses: Vec<Access> = inners.iter().map(|&inner| access(inner, Role::Read)).collect();
    LoopNest::new(dims, &order, &strides, &accesses)
}

#[test]
fn dense_operands_are_one_inner_loop() {
    for strides in [[96, 32, 8], [8, 16, 48]] {
        let nest = nest(&[2, 3, 4], &[(&strides, true), (&strides, true)]);
        assert_eq!((nest.outer, nest.inner, nest.packs.len()), (1, 24, 0));
        assert!(nest.walk.innermost().is_none());
    }
}

#[test]
fn a_loop_of_one_turn_gives_its_place_away() {
    let nest = nest(&[1000, 1], &[(&[8, 8], true)]);
    assert_eq!((nest.outer, nest.inner), (1, 1000));
}

#[test]
fn what_stays_in_the_kernel_stays_in_the_nest() {
    // The row vector of an outer sum: no other dimension may become the inner one.
    let nest = nest(&[50, 3], &[(&[8, 0], false), (&[0, 8], true)]);
    assert_eq!((nest.outer, nest.inner), (50, 3));
    assert_eq!(nest.outer_strides[..], [8, 0]);
}

#[test]
fn strided_operands_are_packed() {
    let nest = nest(&[4, 5], &[(&[80, 16], true), (&[40, 8], true)]);
    assert_eq!((nest.outer, nest.inner, nest.packs.len()), (1, 20, 1));
    assert_eq!(nest.scratch(), 1024 * 8);
}

#[test]
fn what_is_the_same_at_all_positions_is_packed_once() {
    let kept = |dims: &[i64], packed: &[i64]| {
        let [_, b, c] = dims else { unreachable!() };
        let nest = nest(dims, &[(&[b * c * 8, c * 8, 8], true), (packed, true)]);
        assert_eq!(nest.packs.len(), 1);
        nest.kept && nest.scratch() as i64 >= b * c * 8
    };
    assert!(kept(&[50, 3, 40], &[0, 8, 24]));
    assert!(!kept(&[50, 3, 40], &[960, 8, 24]));
    assert!(!kept(&[50, 300, 400], &[0, 8, 2400]));
}

#[test]
fn short_rows_are_joined_where_others_are_the_same_in_each() {
    let joins = |dims: &[i64], operands: &[(&[i64], bool)]| {
        nest(dims, operands).period.map(|period| period.scratch)
    };
    // A row vector beside the rows of a matrix is repeated: 8192 bytes, and as many rows more as
    // make their number even.
    assert_eq!(joins(&[1000, 4], &[(&[32, 8], true), (&[0, 8], true)]), Some(8192));
    assert_eq!(joins(&[1000, 3], &[(&[24, 8], true), (&[0, 16], true)]), Some(8256));
    assert_eq!(joins(&[1000, 3], &[(&[24, 8], true), (&[0, 0], false)]), None);
    // A column vector, rows with gaps, long rows, few rows.
    assert_eq!(joins(&[1000, 4], &[(&[32, 8], true), (&[8, 0], false)]), None);
    assert_eq!(joins(&[1000, 4], &[(&[40, 8], true), (&[0, 8], true)]), None);
    assert_eq!(joins(&[1000, 129], &[(&[1032, 8], true), (&[0, 8], true)]), None);
    assert_eq!(joins(&[7, 4], &[(&[32, 8], true), (&[0, 8], true)]), None);
    assert_eq!(joins(&[8, 4], &[(&[32, 8], true), (&[0, 8], true)]), Some(256));
    // Of rows that fill registers there are more.
    assert_eq!(joins(&[15, 8], &[(&[64, 8], true), (&[0, 8], true)]), None);
    assert_eq!(joins(&[15, 17], &[(&[136, 8], true), (&[0, 8], true)]), None);
    assert_eq!(joins(&[16, 8], &[(&[64, 8], true), (&[0, 8], true)]), Some(1024));
}

#[test]
fn buffers_have_room_for_a_tile_of_short_rows() {
    for (dims, rows) in [([9, 100], TILE), ([9, 512], TILE), ([9, 513], 1), ([1, 100], 1)] {
        let mut strides = Strides::new();
        strides.push([8 * dims[1], 8]);
        let accesses = [access(true, Role::Read)];
        let nest = LoopNest::of_rows(&dims, &[0, 1], &strides, &accesses, &[8]);
        let row = (dims[1] as usize).next_multiple_of(LINE) * 8;
        let stride = if rows == 1 { 0 } else { row as i64 };
        assert_eq!(*nest.outer_strides.last().unwrap(), stride);
        assert_eq!(nest.scratch(), rows * row);
        let table = Table { operand: 0, axes: SmallVec::new() };
        // A table and a report stand between operands and buffers.
        let nest = nest.with_tables(&[table], &accesses);
        assert_eq!(nest.outer_strides[1..], [0, 0, stride]);
    }
}

/// The cut of rows of 40 that are added where the first operand says; `also` is what else they write.
fn cut_of_puts(rows: i64, also: Option<Access>) -> Option<(usize, (i64, i64))> {
    let mut strides = Strides::new();
    let mut accesses = vec![access(false, Role::Read), access(true, Role::Read)];
    strides.push([8, 0]);
    strides.push([320, 8]);
    if let Some(access) = also {
        accesses.push(access);
        strides.push([if access.role == Role::Write { 320 } else { 0 }, 8]);
    }
    let table = Table { operand: accesses.len(), axes: SmallVec::from_slice(&[(9, 320)]) };
    strides.push([0, 8]);
    accesses.push(Access { chosen: Some(9 * 40), ..access(false, Role::Accumulate) });
    let nest = LoopNest::new(&[rows, 40], &[0, 1], &strides, &accesses);
    let nest = nest.with_tables(&[table], &accesses);
    let scratch = nest.scratch();
    nest.split.map(|split| {
        let copies = if split.level == 0 { split.pieces() * 9 * 40 * 8 } else { 0 };
        assert!((copies..copies + 4096).contains(&scratch), "{scratch} for {copies}");
        (split.level, split.piece(1))
    })
}

#[test]
fn rows_that_are_put_where_indices_say_are_cut() {
    // Two pieces of columns, the first a multiple of two lines.
    assert_eq!(cut_of_puts(1000, None), Some((1, (32, 8))));
    assert_eq!(cut_of_puts(1000, Some(access(true, Role::Accumulate))), Some((1, (32, 8))));
    assert_eq!(cut_of_puts(1000, Some(access(true, Role::Write))), None);
    // Many rows for each element that they are added to: every piece adds to an array of its own.
    assert_eq!(cut_of_puts(2000, None), Some((0, (667, 667))));
    assert_eq!(cut_of_puts(2000, Some(access(true, Role::Write))), Some((0, (667, 667))));
}
