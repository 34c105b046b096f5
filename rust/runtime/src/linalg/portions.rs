//! Calls of BLAS that would take long, one portion after the other: in between a run asks whether to
//! stop. Lengths alone decide what the portions are.

use crate::error::Fault;
use crate::linalg::routine::{self, Element, MatrixAt, MatrixOut, Side, Triangle, VectorAt};
use crate::threads::attention::ask;

/// Products of elements that a call adds up, at most: hundredths of a second on one core.
const MOST: i64 = 1 << 28;

/// Elements that a call reads once, at most.
const READ: i64 = 1 << 23;

/// Rows of a triangle that are solved for in one go, where there are more of them.
const ROWS: i32 = 2048;

/// Ranges of at most so many below `count`, in their order.
fn parts(count: i32, most: i64) -> impl DoubleEndedIterator<Item = (i32, i32)> + Clone {
    let most = most.clamp(1, i32::MAX.into()) as i32;
    (0..count.div_euclid(most) + i32::from(count % most > 0)).map(move |at| {
        let start = at * most;
        (start, most.min(count - start))
    })
}

/// Lengths of a portion of a product, as near to each other as may be.
fn portion(lengths: [i32; 3]) -> [i64; 3] {
    let mut lengths = lengths.map(i64::from);
    while lengths.iter().fold(1i64, |all, &length| all.saturating_mul(length)) > MOST {
        let longest =
            (0..3).fold(0, |best, at| if lengths[at] > lengths[best] { at } else { best });
        lengths[longest] = (lengths[longest] as u64).div_ceil(2).next_multiple_of(16) as i64;
    }
    lengths
}

/// A range of an axis: where it starts, and its length.
type Part = (i32, i32);

/// Calls `body` for each portion of a product: a part of the columns, of the rows and of the terms that are added up.
/// Asks after each whether to stop.
fn each_portion(
    columns: impl Iterator<Item = Part>,
    rows: impl Iterator<Item = Part> + Clone,
    terms: impl Iterator<Item = Part> + Clone,
    mut body: impl FnMut([Part; 3]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for column in columns {
        for row in rows.clone() {
            for term in terms.clone() {
                body([column, row, term])?;
                ask()?;
            }
        }
    }
    Ok(())
}

/// The factor of the result: the given one before the first terms are added, then one.
fn factor<T: Element>(first: i32, beta: &T) -> T {
    if first == 0 { *beta } else { T::ONE }
}

/// As [`routine::dot`].
///
/// # Safety
/// As there.
pub(super) unsafe fn dot<T: Element>(
    count: i32,
    x: VectorAt<T>,
    y: VectorAt<T>,
) -> Result<T, Fault> {
    let mut sum = None;
    for (start, length) in parts(count, READ) {
        // SAFETY: by the caller's promise, for this part.
        let more = unsafe { routine::dot(length, x.from(start), y.from(start))? };
        sum = Some(sum.map_or(more, |sum: T| sum + more));
        ask()?;
    }
    Ok(sum.unwrap_or(T::ZERO))
}

/// As [`routine::gemv`].
///
/// # Safety
/// As there.
pub(super) unsafe fn gemv<T: Element>(
    [rows, columns]: [i32; 2],
    alpha: &T,
    a: MatrixAt<T>,
    x: VectorAt<T>,
    beta: &T,
    y: *mut T,
) -> Result<(), Fault> {
    for (column, width) in parts(columns, READ / i64::from(rows).clamp(1, READ)) {
        for (row, height) in parts(rows, READ) {
            let sizes = [height, width];
            let lies = MatrixAt { transposed: false, ..a }.from(row, column);
            let part = MatrixAt { transposed: a.transposed, ..lies };
            // The terms of a sum lie along the columns, or along the rows of the transposed matrix.
            let (term, place) = if a.transposed { (row, column) } else { (column, row) };
            let y = y.wrapping_add(place as usize);
            // SAFETY: by the caller's promise, for this part.
            unsafe { routine::gemv(sizes, alpha, part, x.from(term), &factor(term, beta), y)? };
            ask()?;
        }
    }
    Ok(())
}

/// As [`routine::ger`].
///
/// # Safety
/// As there.
pub(super) unsafe fn ger<T: Element>(
    [rows, columns]: [i32; 2],
    alpha: &T,
    x: VectorAt<T>,
    y: VectorAt<T>,
    a: MatrixOut<T>,
) -> Result<(), Fault> {
    for (column, width) in parts(columns, READ / i64::from(rows).clamp(1, READ)) {
        for (row, height) in parts(rows, READ) {
            let (x, y) = (x.from(row), y.from(column));
            // SAFETY: by the caller's promise, for this part.
            unsafe { routine::ger([height, width], alpha, x, y, a.from(row, column))? };
            ask()?;
        }
    }
    Ok(())
}

/// As [`routine::gemm`].
///
/// # Safety
/// As there.
pub(super) unsafe fn gemm<T: Element>(
    sizes: [i32; 3],
    alpha: &T,
    a: MatrixAt<T>,
    b: MatrixAt<T>,
    beta: &T,
    c: MatrixOut<T>,
) -> Result<(), Fault> {
    let [rows, columns, terms] = sizes;
    let [height, width, depth] = portion(sizes);
    let (columns, rows, terms) = (parts(columns, width), parts(rows, height), parts(terms, depth));
    each_portion(columns, rows, terms, |[(column, width), (row, height), (term, depth)]| {
        let (a, b) = (a.from(row, term), b.from(term, column));
        let (beta, c) = (factor(term, beta), c.from(row, column));
        // SAFETY: by the caller's promise, for this part.
        unsafe { routine::gemm([height, width, depth], alpha, a, b, &beta, c) }
    })
}

/// As [`routine::syrk`].
///
/// # Safety
/// As there.
pub(super) unsafe fn syrk<T: Element>(
    triangle: Triangle,
    [rows, terms]: [i32; 2],
    alpha: &T,
    a: MatrixAt<T>,
    beta: &T,
    c: MatrixOut<T>,
) -> Result<(), Fault> {
    let [height, width, depth] = portion([rows, rows, terms]);
    let blocks = parts(rows, height.min(width));
    let terms = parts(terms, depth);
    each_portion(
        blocks.clone(),
        blocks,
        terms,
        |[(column, width), (row, height), (term, depth)]| {
            if row != column && (row > column) != triangle.lower {
                return Ok(());
            }
            let (left, right) = (a.from(row, term), a.flipped().from(term, column));
            let (beta, c) = (factor(term, beta), c.from(row, column));
            // SAFETY: by the caller's promise, for this part.
            unsafe {
                if row == column {
                    routine::syrk(triangle, [height, depth], alpha, left, &beta, c)
                } else {
                    routine::gemm([height, width, depth], alpha, left, right, &beta, c)
                }
            }
        },
    )
}

/// As [`routine::symm`], with the symmetric matrix on the right.
///
/// # Safety
/// As there.
pub(super) unsafe fn symm_on_right<T: Element>(
    triangle: Triangle,
    [rows, columns]: [i32; 2],
    alpha: &T,
    a: MatrixAt<T>,
    b: MatrixAt<T>,
    beta: &T,
    c: MatrixOut<T>,
) -> Result<(), Fault> {
    let [height, width, depth] = portion([rows, columns, columns]);
    let blocks = parts(columns, width.min(depth));
    let rows = parts(rows, height);
    each_portion(blocks.clone(), rows, blocks, |[(column, width), (row, height), (term, depth)]| {
        let (beta, c, b) = (factor(term, beta), c.from(row, column), b.from(row, term));
        let given = term == column || (term > column) == triangle.lower;
        // The other triangle is the transposed one.
        let a = if given { a.from(term, column) } else { a.flipped().from(term, column) };
        // SAFETY: by the caller's promise, for this part.
        unsafe {
            if term == column {
                let side = (Side::Right, triangle);
                routine::symm(side, [height, width], alpha, a, b, &beta, c)
            } else {
                routine::gemm([height, width, depth], alpha, b, a, &beta, c)
            }
        }
    })
}

/// As [`routine::trsv`].
///
/// # Safety
/// As there.
pub(super) unsafe fn trsv<T: Element>(
    size: i32,
    triangle: Triangle,
    a: MatrixAt<T>,
    x: *mut T,
) -> Result<(), Fault> {
    each_diagonal_block(size, triangle.lower != a.transposed, |block, rest| {
        let (at, count) = block;
        let known = x.wrapping_add(at as usize);
        // SAFETY: by the caller's promise, for this part.
        unsafe { routine::trsv(count, triangle, a.from(at, at), known)? };
        let (first, others) = rest;
        if others == 0 {
            return Ok(());
        }
        let (part, y) = (a.from(first, at), x.wrapping_add(first as usize));
        let sizes = if a.transposed { [count, others] } else { [others, count] };
        let known = VectorAt { at: known.cast_const(), step: 1 };
        // SAFETY: as above; known copies are apart from the rest.
        unsafe { gemv(sizes, &T::MINUS_ONE, part, known, &T::ONE, y) }
    })
}

/// As [`routine::trsm`].
///
/// # Safety
/// As there.
pub(super) unsafe fn trsm<T: Element>(
    (side, triangle): (Side, Triangle),
    [rows, columns]: [i32; 2],
    a: MatrixAt<T>,
    x: MatrixOut<T>,
) -> Result<(), Fault> {
    let lower = triangle.lower != a.transposed;
    // On the right the triangle is met from its other end.
    let (size, others, from_start) = match side {
        Side::Left => (rows, columns, lower),
        Side::Right => (columns, rows, !lower),
    };
    each_diagonal_block(size, from_start, |(at, count), (first, rest)| {
        let square = i64::from(count) * i64::from(count);
        for (other, width) in parts(others, (2 * MOST / square).max(1)) {
            let (sizes, x) = match side {
                Side::Left => ([count, width], x.from(at, other)),
                Side::Right => ([width, count], x.from(other, at)),
            };
            // SAFETY: by the caller's promise, for this part.
            unsafe { routine::trsm((side, triangle), sizes, a.from(at, at), x)? };
            ask()?;
        }
        if rest == 0 {
            return Ok(());
        }
        let minus = &T::MINUS_ONE;
        // SAFETY: as above; known copies are apart from the rest.
        unsafe {
            match side {
                Side::Left => {
                    let (a, known) = (a.from(first, at), x.from(at, 0).reading());
                    gemm([rest, others, count], minus, a, known, &T::ONE, x.from(first, 0))
                }
                Side::Right => {
                    let (a, known) = (a.from(at, first), x.from(0, at).reading());
                    gemm([others, rest, count], minus, known, a, &T::ONE, x.from(0, first))
                }
            }
        }
    })
}

/// Calls `body` for the blocks along the diagonal of a triangle of `size` rows, from the first or
/// from the last one on: with the block and the rows that are left after it, each as where it
/// starts and how many rows it has.
fn each_diagonal_block(
    size: i32,
    from_start: bool,
    mut body: impl FnMut((i32, i32), (i32, i32)) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // One that is little larger than a block is a block.
    let most = if size < 2 * ROWS { size } else { ROWS };
    let blocks = parts(size, most.into());
    if from_start {
        blocks
            .map(|(at, count)| ((at, count), (at + count, size - at - count)))
            .try_for_each(|(block, rest)| body(block, rest))
    } else {
        blocks.rev().try_for_each(|(at, count)| body((at, count), (0, at)))
    }
}
