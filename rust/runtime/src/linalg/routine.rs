//! Routines of BLAS and LAPACK, which come from outside as function pointers.
//!
//! They follow Fortran's conventions: all arguments by address, matrices in column-major order. Each
//! has a wrapper here that takes arguments by value; a wrapper fails if its routine was never set.

use std::ffi::{c_char, c_void};
use std::ops::{Add, Div, Mul, Sub};

use once_cell::race::OnceBox;

use crate::error::Fault;
use crate::linalg::own::InRegisters;

macro_rules! routines {
    ($($routine:ident $name:literal)*) => {
        /// A routine that the runtime calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Routine {
            $($routine,)*
        }

        impl Routine {
            /// Every routine.
            pub const ALL: [Routine; COUNT] = [$(Routine::$routine,)*];

            /// Its name in BLAS or LAPACK.
            pub fn name(self) -> &'static str {
                match self {
                    $(Routine::$routine => $name,)*
                }
            }
        }

        const COUNT: usize = [$($name,)*].len();
    };
}

routines! {
    Sdot "sdot"
    Ddot "ddot"
    Sgemv "sgemv"
    Dgemv "dgemv"
    Sger "sger"
    Dger "dger"
    Strsv "strsv"
    Dtrsv "dtrsv"
    Sgemm "sgemm"
    Dgemm "dgemm"
    Ssymm "ssymm"
    Dsymm "dsymm"
    Ssyrk "ssyrk"
    Dsyrk "dsyrk"
    Strsm "strsm"
    Dtrsm "dtrsm"
    Spotrf "spotrf"
    Dpotrf "dpotrf"
    Sgetrf "sgetrf"
    Dgetrf "dgetrf"
    Sgesv "sgesv"
    Dgesv "dgesv"
    Sgtsv "sgtsv"
    Dgtsv "dgtsv"
    Sgbsv "sgbsv"
    Dgbsv "dgbsv"
    Sgeqrf "sgeqrf"
    Dgeqrf "dgeqrf"
    Sorgqr "sorgqr"
    Dorgqr "dorgqr"
    Sgesdd "sgesdd"
    Dgesdd "dgesdd"
    Ssyevd "ssyevd"
    Dsyevd "dsyevd"
}

impl Routine {
    /// The routine of this name.
    pub fn from_name(name: &str) -> Option<Routine> {
        Routine::ALL.into_iter().find(|routine| routine.name() == name)
    }

    fn found(self) -> Result<Found, Fault> {
        FOUND[self as usize].get().copied().ok_or(Fault::RoutineMissing { routine: self.name() })
    }
}

/// The width of a routine's integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Integers {
    Bits32,
    Bits64,
}

/// The address of a routine, and the size of its integers, which are passed by address. Integers
/// of 32 bits take the first four.
#[derive(Clone, Copy)]
struct Found {
    address: usize,
    integers: Integers,
}

impl Found {
    fn address(self) -> *const c_void {
        self.address as *const c_void
    }

    fn pass(self, value: i32) -> i64 {
        let value = i64::from(value);
        match self.integers {
            Integers::Bits32 if cfg!(target_endian = "big") => value << 32,
            _ => value,
        }
    }

    fn take(self, value: i64) -> i32 {
        match self.integers {
            Integers::Bits32 if cfg!(target_endian = "big") => (value >> 32) as i32,
            _ => value as i32,
        }
    }
}

static FOUND: [OnceBox<Found>; COUNT] = [const { OnceBox::new() }; COUNT];

/// Tells where a routine lies, for every program of the process, unless that was told before.
///
/// # Safety
/// The address is that of the BLAS or LAPACK routine of this name, with such integers, callable
/// from many threads.
pub unsafe fn set_routine(routine: Routine, address: *const c_void, integers: Integers) {
    FOUND[routine as usize].get_or_init(|| Box::new(Found { address: address as usize, integers }));
}

/// The element types that BLAS and LAPACK know.
pub(crate) trait Element:
    Copy
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + InRegisters
{
    const ZERO: Self;
    const ONE: Self;
    const MINUS_ONE: Self;
    const NAN: Self;
    const DOT: Routine;
    const GEMV: Routine;
    const GER: Routine;
    const TRSV: Routine;
    const GEMM: Routine;
    const SYMM: Routine;
    const SYRK: Routine;
    const TRSM: Routine;
    const POTRF: Routine;
    const GETRF: Routine;
    const GESV: Routine;
    const GTSV: Routine;
    const GBSV: Routine;
    const GEQRF: Routine;
    const ORGQR: Routine;
    const GESDD: Routine;
    const SYEVD: Routine;

    fn is_finite(self) -> bool;
    /// The whole number that is not less.
    fn count(self) -> usize;
    fn sqrt(self) -> Self;
    /// `self + a b`, rounded once.
    fn plus_product(self, a: Self, b: Self) -> Self;
    fn abs(self) -> Self;
    fn to_f64(self) -> f64;
    /// The nearest one.
    fn from_f64(value: f64) -> Self;
}

macro_rules! element {
    ($float:ident, $($constant:ident = $routine:ident),*) => {
        impl Element for $float {
            const ZERO: $float = 0.0;
            const ONE: $float = 1.0;
            const MINUS_ONE: $float = -1.0;
            const NAN: $float = $float::NAN;
            $(const $constant: Routine = Routine::$routine;)*

            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }

            fn count(self) -> usize {
                self.ceil() as usize
            }

            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }

            #[inline(always)]
            fn plus_product(self, a: $float, b: $float) -> $float {
                a.mul_add(b, self)
            }

            fn abs(self) -> $float {
                $float::abs(self)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn from_f64(value: f64) -> $float {
                value as $float
            }
        }
    };
}

element!(
    f32,
    DOT = Sdot,
    GEMV = Sgemv,
    GER = Sger,
    TRSV = Strsv,
    GEMM = Sgemm,
    SYMM = Ssymm,
    SYRK = Ssyrk,
    TRSM = Strsm,
    POTRF = Spotrf,
    GETRF = Sgetrf,
    GESV = Sgesv,
    GTSV = Sgtsv,
    GBSV = Sgbsv,
    GEQRF = Sgeqrf,
    ORGQR = Sorgqr,
    GESDD = Sgesdd,
    SYEVD = Ssyevd
);
element!(
    f64,
    DOT = Ddot,
    GEMV = Dgemv,
    GER = Dger,
    TRSV = Dtrsv,
    GEMM = Dgemm,
    SYMM = Dsymm,
    SYRK = Dsyrk,
    TRSM = Dtrsm,
    POTRF = Dpotrf,
    GETRF = Dgetrf,
    GESV = Dgesv,
    GTSV = Dgtsv,
    GBSV = Dgbsv,
    GEQRF = Dgeqrf,
    ORGQR = Dorgqr,
    GESDD = Dgesdd,
    SYEVD = Dsyevd
);

/// Calls a routine. Letters and integers go by the address of a copy, arrays `at` their own.
macro_rules! call {
    ($found:expr, $($kind:ident $value:expr),*) => { call!($found => (), $($kind $value),*) };
    ($found:expr => $result:ty, $($kind:ident $value:expr),*) => {{
        let found: Found = $found;
        let routine: unsafe extern "C" fn($(argument!($kind)),*) -> $result =
            std::mem::transmute(found.address());
        routine($(argument!($kind found $value)),*)
    }};
}

/// As `call!`, for a routine whose last argument is where it says how it went; gives that number.
macro_rules! call_told {
    ($found:expr, $($kind:ident $value:expr),*) => {{
        let (found, mut info): (Found, i64) = ($found, 0);
        call!(found, $($kind $value,)* at &raw mut info);
        found.take(info)
    }};
}

/// The type of an argument, and its value.
macro_rules! argument {
    (letter) => { *const c_char };
    (int) => { *const i64 };
    (at) => { *const _ };
    (letter $found:ident $value:expr) => { &$value };
    (int $found:ident $value:expr) => { &$found.pass($value) };
    (at $found:ident $value:expr) => { $value };
}

pub(crate) mod decompositions;
pub(crate) mod systems;

/// A vector: its first element and the elements from one to the next.
#[derive(Clone, Copy)]
pub(crate) struct VectorAt<T> {
    pub(crate) at: *const T,
    pub(crate) step: i32,
}

/// A matrix in column-major order, to be used as it lies or transposed.
#[derive(Clone, Copy)]
pub(crate) struct MatrixAt<T> {
    pub(crate) at: *const T,
    /// Elements from one column to the next.
    pub(crate) leading: i32,
    pub(crate) transposed: bool,
}

impl<T> VectorAt<T> {
    /// The vector from an element on.
    pub(crate) fn from(self, element: i32) -> VectorAt<T> {
        let offset = element as isize * self.step as isize;
        VectorAt { at: self.at.wrapping_offset(offset), ..self }
    }
}

impl<T> MatrixAt<T> {
    /// The matrix, as it is used, from a row and a column on.
    pub(crate) fn from(self, row: i32, column: i32) -> MatrixAt<T> {
        let (down, across) = if self.transposed { (column, row) } else { (row, column) };
        let offset = down as isize + across as isize * self.leading as isize;
        MatrixAt { at: self.at.wrapping_offset(offset), ..self }
    }

    /// The transposed matrix.
    pub(crate) fn flipped(self) -> MatrixAt<T> {
        MatrixAt { transposed: !self.transposed, ..self }
    }
}

impl<T> MatrixOut<T> {
    /// The matrix from a row and a column on.
    pub(crate) fn from(self, row: i32, column: i32) -> MatrixOut<T> {
        let offset = row as isize + column as isize * self.leading as isize;
        MatrixOut { at: self.at.wrapping_offset(offset), ..self }
    }

    /// The matrix, to be read.
    pub(crate) fn reading(self) -> MatrixAt<T> {
        MatrixAt { at: self.at, leading: self.leading, transposed: false }
    }
}

/// A matrix in column-major order that is written to.
#[derive(Clone, Copy)]
pub(crate) struct MatrixOut<T> {
    pub(crate) at: *mut T,
    /// Elements from one column to the next.
    pub(crate) leading: i32,
}

/// The part of a square matrix in column-major order that is read, and the way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub(crate) lower: bool,
    /// The diagonal is not read: it is taken for ones.
    pub(crate) unit: bool,
}

/// On which side of the other operand a matrix stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Side {
    fn letter(self) -> c_char {
        let letter = match self {
            Side::Left => b'L',
            Side::Right => b'R',
        };
        letter as c_char
    }
}

fn transposition(transposed: bool) -> c_char {
    (if transposed { b'T' } else { b'N' }) as c_char
}

impl Triangle {
    fn part(self) -> c_char {
        (if self.lower { b'L' } else { b'U' }) as c_char
    }

    fn diagonal(self) -> c_char {
        (if self.unit { b'U' } else { b'N' }) as c_char
    }
}

/// The sum of the products of `count` elements.
///
/// # Safety
/// Both vectors have so many elements.
pub(crate) unsafe fn dot<T: Element>(
    count: i32,
    x: VectorAt<T>,
    y: VectorAt<T>,
) -> Result<T, Fault> {
    // SAFETY: `set_routine`'s caller promised the routine, this one's caller the vectors.
    Ok(unsafe { call!(T::DOT.found()? => T, int count, at x.at, int x.step, at y.at, int y.step) })
}

/// `y = alpha a x + beta y`, `y` without gaps; `sizes` are the rows and columns of `a` as it lies.
///
/// # Safety
/// The operands are as large as `sizes` says, `alpha` and `beta` an element each; `y` is apart
/// from the others and holds numbers, even if `beta` is zero.
pub(crate) unsafe fn gemv<T: Element>(
    sizes: [i32; 2],
    alpha: *const T,
    a: MatrixAt<T>,
    x: VectorAt<T>,
    beta: *const T,
    y: *mut T,
) -> Result<(), Fault> {
    let [m, n] = sizes;
    // SAFETY: as for `dot`.
    unsafe {
        call!(T::GEMV.found()?,
            letter transposition(a.transposed), int m, int n, at alpha, at a.at, int a.leading,
            at x.at, int x.step, at beta, at y, int 1
        )
    };
    Ok(())
}

/// `a += alpha x y'`, `a` of `sizes` rows and columns.
///
/// # Safety
/// The operands are as large as `sizes` says, and `a` is apart from the others.
pub(crate) unsafe fn ger<T: Element>(
    sizes: [i32; 2],
    alpha: *const T,
    x: VectorAt<T>,
    y: VectorAt<T>,
    a: MatrixOut<T>,
) -> Result<(), Fault> {
    let [m, n] = sizes;
    // SAFETY: as for `dot`.
    unsafe {
        call!(T::GER.found()?,
            int m, int n, at alpha, at x.at, int x.step, at y.at, int y.step, at a.at, int a.leading
        )
    };
    Ok(())
}

/// Solves `a x = b` for a triangle `a` of `size` rows; `x`, without gaps, holds `b` first.
///
/// # Safety
/// The operands are as large as `size` says, and `x` is apart from `a`.
pub(crate) unsafe fn trsv<T: Element>(
    size: i32,
    triangle: Triangle,
    a: MatrixAt<T>,
    x: *mut T,
) -> Result<(), Fault> {
    // SAFETY: as for `dot`.
    unsafe {
        call!(T::TRSV.found()?,
            letter triangle.part(), letter transposition(a.transposed), letter triangle.diagonal(),
            int size, at a.at, int a.leading, at x, int 1
        )
    };
    Ok(())
}

/// `c = alpha a b + beta c`; `sizes` are the rows and columns of `c` and the terms of a sum.
///
/// # Safety
/// The operands are as large as `sizes` says, `alpha` and `beta` an element each; `c` is apart
/// from the others. Where `beta` is zero, `c` may hold anything.
pub(crate) unsafe fn gemm<T: Element>(
    sizes: [i32; 3],
    alpha: *const T,
    a: MatrixAt<T>,
    b: MatrixAt<T>,
    beta: *const T,
    c: MatrixOut<T>,
) -> Result<(), Fault> {
    let [m, n, k] = sizes;
    // SAFETY: as for `dot`.
    unsafe {
        call!(T::GEMM.found()?,
            letter transposition(a.transposed), letter transposition(b.transposed), int m, int n,
            int k, at alpha, at a.at, int a.leading, at b.at, int b.leading, at beta, at c.at,
            int c.leading
        )
    };
    Ok(())
}

/// `c = alpha a b + beta c` for a symmetric `a`, given by a triangle, on the `side` of `b`; `sizes`
/// are the rows and columns of `c`.
///
/// # Safety
/// As for `gemm`.
pub(crate) unsafe fn symm<T: Element>(
    (side, triangle): (Side, Triangle),
    sizes: [i32; 2],
    alpha: *const T,
    a: MatrixAt<T>,
    b: MatrixAt<T>,
    beta: *const T,
    c: MatrixOut<T>,
) -> Result<(), Fault> {
    let [m, n] = sizes;
    // SAFETY: as for `dot`.
    unsafe {
        call!(T::SYMM.found()?,
            letter side.letter(), letter triangle.part(), int m, int n, at alpha, at a.at,
            int a.leading, at b.at, int b.leading, at beta, at c.at, int c.leading
        )
    };
    Ok(())
}

/// `c = alpha a a' + beta c`: only a triangle of `c` is read and written. `sizes` are the rows of
/// `c` and the terms of a sum.
///
/// # Safety
/// As for `gemm`.
pub(crate) unsafe fn syrk<T: Element>(
    triangle: Triangle,
    sizes: [i32; 2],
    alpha: *const T,
    a: MatrixAt<T>,
    beta: *const T,
    c: MatrixOut<T>,
) -> Result<(), Fault> {
    let [n, k] = sizes;
    // SAFETY: as for `dot`.
    unsafe {
        call!(T::SYRK.found()?,
            letter triangle.part(), letter transposition(a.transposed), int n, int k, at alpha,
            at a.at, int a.leading, at beta, at c.at, int c.leading
        )
    };
    Ok(())
}

/// Solves `a x = b` (or `x a = b`, with `a` on the right) for a triangle `a`; `x`, of `sizes` rows
/// and columns, holds `b` first.
///
/// # Safety
/// The operands are as large as `sizes` says, and `x` is apart from `a`.
pub(crate) unsafe fn trsm<T: Element>(
    (side, triangle): (Side, Triangle),
    sizes: [i32; 2],
    a: MatrixAt<T>,
    x: MatrixOut<T>,
) -> Result<(), Fault> {
    let [m, n] = sizes;
    // SAFETY: as for `dot`.
    unsafe {
        call!(T::TRSM.found()?,
            letter side.letter(), letter triangle.part(), letter transposition(a.transposed),
            letter triangle.diagonal(), int m, int n, at &T::ONE as *const T, at a.at, int a.leading,
            at x.at, int x.leading
        )
    };
    Ok(())
}

/// The Cholesky factor of a triangle of `size` rows, in its place. If it has none, the order of
/// the first leading minor that is not positive.
///
/// # Safety
/// The matrix is as large as `size` says.
pub(crate) unsafe fn potrf<T: Element>(
    size: i32,
    triangle: Triangle,
    a: MatrixOut<T>,
) -> Result<Option<i32>, Fault> {
    // SAFETY: as for `dot`.
    let info = unsafe {
        call_told!(T::POTRF.found()?, letter triangle.part(), int size, at a.at, int a.leading)
    };
    // A negative number complains about an argument; none of these can be wrong.
    Ok((info != 0).then_some(info))
}
