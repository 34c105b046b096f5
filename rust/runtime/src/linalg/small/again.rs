//! A small product that is computed again and again, of operands that may lie elsewhere each time.
//! The loops that do it are found once, and a matrix that stays the same is copied to where they read it best.

use super::SmallDot;
use crate::linalg::routine::Element;

/// Loops that multiply a row with a matrix. Their places are those of both, of the value that is added, and of the
/// result.
type Loops = unsafe fn(&SmallAgain, [*mut u8; 4]);

/// A product of operands of known layouts, plus a value or not.
#[derive(Debug)]
pub(crate) struct SmallAgain {
    loops: Loops,
    dot: SmallDot,
    /// Elements from row to row of the value that is added.
    down: isize,
    /// The copy of the second operand, if there is one.
    kept: Option<Box<[u64]>>,
}

/// The facts about a product before it is computed.
pub(crate) struct Facts<T> {
    /// The steps of the value that is added to it, from row to row and along a row.
    pub(crate) addend: Option<[isize; 2]>,
    /// The places of operands whose elements are always the same.
    pub(crate) same: [Option<*const T>; 2],
}

impl SmallAgain {
    /// `None` if the operands do not lie as the loops take them, or the processor has no wide
    /// registers: [`SmallDot::add`] does the product.
    ///
    /// # Safety
    /// Operands that are always the same lie at their places, laid out as the product says.
    pub(crate) unsafe fn new<T: Element>(dot: SmallDot, facts: &Facts<T>) -> Option<SmallAgain> {
        let adds = facts.addend.is_some();
        let loops = loops::<T>(&dot, adds)?;
        let [down, right] = facts.addend.unwrap_or([0, 1]);
        let mut again = SmallAgain { loops, dot, down, kept: None };
        if again.dot.b[1] != 1
            && let Some(matrix) = again.in_order(facts.same)[1]
        {
            // SAFETY: by the caller's promise, what is always the same lies there, laid out as the
            // product says.
            unsafe { again.keep(matrix) };
        }
        let is_turned = again.dot.b[1] != 1 && again.dot.b[0] == 1 && again.dot.columns > 1;
        if is_turned {
            again.loops = turned_loops::<T>(again.dot.columns, adds)?;
        }
        // A row of one element has no gaps, whatever its step.
        let is_dense = again.dot.columns == 1 || is_turned || again.dot.b[1] == 1;
        (is_dense && (again.dot.columns == 1 || right == 1)).then_some(again)
    }

    /// Copies the second operand to memory of its own, in C order.
    ///
    /// # Safety
    /// `matrix` is the second operand, laid out as the product says.
    unsafe fn keep<T: Element>(&mut self, matrix: *const T) {
        let SmallDot { inner, columns, b: [down, along], .. } = self.dot;
        let mut kept = vec![0; (inner * columns * size_of::<T>()).div_ceil(8)];
        let to = kept.as_mut_ptr().cast::<T>();
        for k in 0..inner {
            for at in 0..columns {
                let from = matrix.wrapping_offset(k as isize * down + at as isize * along);
                // SAFETY: by the caller's promise; there is room for so many elements.
                unsafe { to.add(k * columns + at).write(from.read()) };
            }
        }
        self.dot.b = [columns as isize, 1];
        self.kept = Some(kept.into());
    }

    /// The operands, or what is known of them, in the order of [`SmallAgain::run`].
    pub(crate) fn in_order<P>(&self, [a, b]: [P; 2]) -> [P; 2] {
        if self.dot.is_transposed { [b, a] } else { [a, b] }
    }

    /// The place of the copy that is read instead of the second operand.
    pub(crate) fn kept(&self) -> Option<*mut u8> {
        self.kept.as_ref().map(|kept| kept.as_ptr().cast::<u8>().cast_mut())
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn places_of_row<T, const COLUMNS: usize>(&self, places: [*mut u8; 4], row: usize) -> RowAt<T> {
        let [a, b, z, to] = places.map(|place| place.cast::<T>());
        RowAt {
            a: a.wrapping_offset(row as isize * self.dot.a[0]).cast_const(),
            b: b.cast_const(),
            z: z.wrapping_offset(row as isize * self.down).cast_const(),
            to: to.wrapping_add(row * COLUMNS),
        }
    }

    /// Computes the product of a row and a matrix, plus the value that is added, in C order. All bits are those of
    /// [`SmallDot::add`] with scales of one.
    ///
    /// # Safety
    /// The operands have the layouts of the product; the result is as large as it, aligned and apart
    /// from them, or where the value that is added lies.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, places: [*mut u8; 4]) {
        // SAFETY: by the caller's promise, the places have the layouts of the product that the
        // loops were made for.
        unsafe { (self.loops)(self, places) }
    }
}

/// The loops for a product, which are made for its number of columns.
#[cfg(target_arch = "x86_64")]
fn loops<T: Element>(dot: &SmallDot, adds: bool) -> Option<Loops> {
    if !dot.is_wide {
        return None;
    }
    let columns = dot.columns;
    Some(if adds { rows_of::<T, true>(columns) } else { rows_of::<T, false>(columns) })
}

#[cfg(target_arch = "x86_64")]
fn rows_of<T: Element, const ADDS: bool>(columns: usize) -> Loops {
    match columns {
        1 => rows::<T, 1, ADDS, false>,
        2 => rows::<T, 2, ADDS, false>,
        3 => rows::<T, 3, ADDS, false>,
        4 => rows::<T, 4, ADDS, false>,
        5 => rows::<T, 5, ADDS, false>,
        6 => rows::<T, 6, ADDS, false>,
        7 => rows::<T, 7, ADDS, false>,
        _ => rows::<T, 8, ADDS, false>,
    }
}

/// The loops for a product with a matrix whose columns lie one after the other, without gaps in each.
#[cfg(target_arch = "x86_64")]
fn turned_loops<T: Element>(columns: usize, adds: bool) -> Option<Loops> {
    macro_rules! of_columns {
        ($($columns:literal),*) => {
            match (columns, adds) {
                $(
                    ($columns, false) => rows::<T, $columns, false, true>,
                    ($columns, true) => rows::<T, $columns, true, true>,
                )*
                _ => return None,
            }
        };
    }
    Some(of_columns!(2, 3, 4, 5, 6, 7, 8))
}

#[cfg(not(target_arch = "x86_64"))]
fn turned_loops<T: Element>(_columns: usize, _adds: bool) -> Option<Loops> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn loops<T: Element>(_dot: &SmallDot, _adds: bool) -> Option<Loops> {
    None
}

/// Where a row of the first operand, the matrix, the value that is added and a row of the result lie.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct RowAt<T> {
    a: *const T,
    b: *const T,
    z: *const T,
    to: *mut T,
}

#[cfg(target_arch = "x86_64")]
impl<T> RowAt<T> {
    /// The columns behind so many.
    #[inline(always)]
    fn behind(self, columns: usize) -> RowAt<T> {
        RowAt {
            a: self.a,
            b: self.b.wrapping_add(columns),
            z: self.z.wrapping_add(columns),
            to: self.to.wrapping_add(columns),
        }
    }
}

/// The rows of a product with a matrix whose rows have no gaps, or `TURNED`: whose columns have none.
///
/// # Safety
/// As for [`SmallAgain::run`], on a processor with AVX2; the product has `COLUMNS` columns.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn rows<T: Element, const COLUMNS: usize, const ADDS: bool, const TURNED: bool>(
    again: &SmallAgain,
    places: [*mut u8; 4],
) {
    for row in 0..again.dot.rows {
        let at = again.places_of_row::<T, COLUMNS>(places, row);
        // SAFETY: by the caller's promise, the row lies there and the product has so many columns.
        unsafe {
            if TURNED {
                turned_row::<T, COLUMNS, ADDS>(&again.dot, at);
            } else {
                row_in_parts::<T, COLUMNS, ADDS>(&again.dot, at);
            }
        }
    }
}

/// A row of the result, in the parts in which the next product reads it: a load that joins two stores
/// would wait for both.
///
/// # Safety
/// As for [`rows`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn row_in_parts<T: Element, const COLUMNS: usize, const ADDS: bool>(
    dot: &SmallDot,
    at: RowAt<T>,
) {
    // SAFETY: by the caller's promise, the row has so many columns.
    unsafe {
        if COLUMNS == 8 {
            part::<T, 8, ADDS>(dot, at);
            return;
        }
        let mut done = 0;
        if COLUMNS & 4 != 0 {
            part::<T, 4, ADDS>(dot, at);
            done = 4;
        }
        if COLUMNS & 2 != 0 {
            part::<T, 2, ADDS>(dot, at.behind(done));
            done += 2;
        }
        if COLUMNS & 1 != 0 {
            part::<T, 1, ADDS>(dot, at.behind(done));
        }
    }
}

/// A row of the result, by a matrix whose columns have no gaps.
///
/// # Safety
/// As for [`rows`].
// The functions of iterators are compiled for no instruction set but the plain one, unless each
// happens to be inlined.
#[expect(clippy::needless_range_loop, reason = "loops over indices keep the instruction set")]
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turned_row<T: Element, const COLUMNS: usize, const ADDS: bool>(
    dot: &SmallDot,
    at: RowAt<T>,
) {
    let mut sums = [T::ZERO; COLUMNS];
    let RowAt { a: mut factor, b, z, to } = at;
    let mut k = 0;
    // SAFETY: by the caller's promise, for this and what follows, all places lie inside of the operands.
    unsafe {
        // Four elements of each column at a time, which registers exchange.
        while k + 4 <= dot.inner {
            let mut lines = [[T::ZERO; 4]; COLUMNS];
            for at in 0..COLUMNS {
                let line = b.wrapping_offset(k as isize + at as isize * dot.b[1]);
                lines[at] = line.cast::<[T; 4]>().read();
            }
            for own in 0..4 {
                let scale = factor.read();
                for at in 0..COLUMNS {
                    sums[at] = sums[at] + scale * lines[at][own];
                }
                factor = factor.wrapping_offset(dot.a[1]);
            }
            k += 4;
        }
        while k < dot.inner {
            let scale = factor.read();
            for at in 0..COLUMNS {
                let of = b.wrapping_offset(k as isize + at as isize * dot.b[1]).read();
                sums[at] = sums[at] + scale * of;
            }
            factor = factor.wrapping_offset(dot.a[1]);
            k += 1;
        }
        if ADDS {
            for at in 0..COLUMNS {
                sums[at] = sums[at] + z.add(at).read();
            }
        }
        to.cast::<[T; COLUMNS]>().write(sums);
    }
}

/// `WIDTH` columns of a row of the result.
///
/// # Safety
/// As for [`rows`]; they begin where the places say.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn part<T: Element, const WIDTH: usize, const ADDS: bool>(dot: &SmallDot, at: RowAt<T>) {
    let mut sums = [T::ZERO; WIDTH];
    let RowAt { a: mut factor, b: mut line, z, to } = at;
    for _ in 0..dot.inner {
        // SAFETY: by the caller's promise, for this and what follows, all places lie inside of the
        // operands.
        let (scale, of) = unsafe { (factor.read(), line.cast::<[T; WIDTH]>().read()) };
        for at in 0..WIDTH {
            sums[at] = sums[at] + scale * of[at];
        }
        factor = factor.wrapping_offset(dot.a[1]);
        line = line.wrapping_offset(dot.b[0]);
    }
    if ADDS {
        // SAFETY: as above.
        let of = unsafe { z.cast::<[T; WIDTH]>().read() };
        for at in 0..WIDTH {
            sums[at] = sums[at] + of[at];
        }
    }
    // SAFETY: as above.
    unsafe { to.cast::<[T; WIDTH]>().write(sums) };
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::arrays::layout::Layout;
    use crate::linalg::small::SMALL;

    /// A matrix, or the transpose of one, of numbers whose sums depend on their order.
    fn matrix(rows: i64, columns: i64, is_transposed: bool, seed: f64) -> (Vec<f64>, Layout) {
        let elements = (0..rows * columns).map(|k| (seed + k as f64).sin() / 3.0).collect();
        let strides = if is_transposed { [8, 8 * rows] } else { [8 * columns, 8] };
        (elements, Layout { dims: vec![rows, columns].into(), strides: strides.to_vec().into() })
    }

    /// Whether the loops did it, with the bits of [`SmallDot::add`].
    fn agrees(
        [rows, inner, columns]: [i64; 3],
        transposed: [bool; 2],
        same: bool,
        adds: bool,
    ) -> bool {
        let (a, a_layout) = matrix(rows, inner, transposed[0], 1.0);
        let (b, b_layout) = matrix(inner, columns, transposed[1], 2.0);
        let (z, z_layout) = matrix(rows, columns, false, 3.0);
        let dot = SmallDot::new(&a_layout, &b_layout, 8).unwrap();
        let steps = dot.addend_steps(&z_layout, 8).unwrap();
        let mut expected = vec![f64::NAN; (rows * columns) as usize];
        let mut found = expected.clone();
        let facts = Facts {
            addend: adds.then_some(steps),
            same: [&a, &b].map(|of| same.then_some(of.as_ptr())),
        };
        // SAFETY: the operands have these layouts, the results have room.
        unsafe {
            let scales = (1.0, if adds { 1.0 } else { 0.0 });
            dot.add([a.as_ptr(), b.as_ptr()], scales, (z.as_ptr(), steps), expected.as_mut_ptr());
            let Some(again) = SmallAgain::new(dot, &facts) else { return false };
            let [row, matrix] = again.in_order([a.as_ptr(), b.as_ptr()]);
            let row = row.cast::<u8>().cast_mut();
            let matrix = again.kept().unwrap_or(matrix.cast::<u8>().cast_mut());
            let z = z.as_ptr().cast::<u8>().cast_mut();
            again.run([row, matrix, z, found.as_mut_ptr().cast()]);
        }
        let bits = |all: &[f64]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&expected), "{rows} x {inner} x {columns}, {transposed:?}");
        true
    }

    #[test]
    fn products_have_the_bits_of_those_that_are_computed_once() {
        if crate::processor::Level::best().is_none() {
            return;
        }
        for rows in [1, 3] {
            for inner in 1..=SMALL {
                for columns in 1..=SMALL {
                    for (left, right) in [(false, false), (true, false), (false, true)] {
                        for adds in [false, true] {
                            let sizes = [rows, inner, columns];
                            assert!(agrees(sizes, [left, right], true, adds));
                            agrees(sizes, [left, right], false, adds);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn matrices_that_may_change_are_read_where_they_lie() {
        if crate::processor::Level::best().is_some() {
            assert!(agrees([2, 3, 4], [true, false], false, true));
            assert!(agrees([2, 3, 4], [false, true], false, true));
        }
    }
}
