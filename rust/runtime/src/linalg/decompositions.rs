//! Matrices as products: of an orthogonal matrix and a triangle, of singular vectors and values, of
//! eigenvectors and eigenvalues.

use frazil_core::DType;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::allocation::buffer::ALIGNMENT;
use crate::arrays::layout::{Axes, Layout};
use crate::arrays::scalar::Scalar;
use crate::arrays::strided::{TransferPlan, fill};
use crate::error::Fault;
use crate::linalg::lanes;
use crate::linalg::lapack::{OnError, fresh_in_columns};
use crate::linalg::matrix::blas_int;
use crate::linalg::routine::decompositions::{
    INTEGER, Vectors, Work, geqrf, gesdd, orgqr, syevd, work_of_eigh, work_of_qr, work_of_svd,
};
use crate::linalg::routine::{Element, MatrixOut, Triangle};
use crate::linalg::small::SMALL;
use crate::linalg::vectors::{eigenvectors, singular_vectors};

/// The decomposition of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decomposition {
    /// Orthogonal columns, as many as the matrix has of rows or columns, whichever are fewer, or as
    /// it has rows; and a triangle.
    Qr {
        /// As many as rows.
        complete: bool,
    },
    /// That triangle alone.
    Triangle,
    /// Singular vectors, singular values in descending order, and the other singular vectors in
    /// rows.
    Svd {
        /// As many vectors as there are rows, and columns; else as there are values.
        full: bool,
    },
    /// Those values alone.
    SingularValues,
    /// The eigenvalues of a symmetric matrix in ascending order, and its eigenvectors.
    Eigh {
        /// The lower triangle is read, else the upper one.
        lower: bool,
    },
    /// Those values alone.
    Eigenvalues {
        /// As above.
        lower: bool,
    },
}

/// Every decomposition by its name.
const NAMES: [(&str, Decomposition); 10] = [
    ("qr", Decomposition::Qr { complete: false }),
    ("complete qr", Decomposition::Qr { complete: true }),
    ("r", Decomposition::Triangle),
    ("svd", Decomposition::Svd { full: false }),
    ("full svd", Decomposition::Svd { full: true }),
    ("singular values", Decomposition::SingularValues),
    ("lower eigh", Decomposition::Eigh { lower: true }),
    ("upper eigh", Decomposition::Eigh { lower: false }),
    ("lower eigenvalues", Decomposition::Eigenvalues { lower: true }),
    ("upper eigenvalues", Decomposition::Eigenvalues { lower: false }),
];

impl Decomposition {
    /// The decomposition of this name.
    pub fn from_name(name: &str) -> Option<Decomposition> {
        NAMES.iter().find(|(own, _)| *own == name).map(|(_, what)| *what)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, what)| *what == self).map_or("", |(name, _)| name)
    }

    /// Whether the matrix must be square.
    pub(crate) fn is_of_square(self) -> bool {
        matches!(self, Decomposition::Eigh { .. } | Decomposition::Eigenvalues { .. })
    }

    /// The dims of the results for a matrix of so many rows and columns.
    pub(crate) fn dims(self, m: i64, n: i64) -> SmallVec<[Axes; 3]> {
        let k = m.min(n);
        let axes = |dims: &[i64]| Axes::from_slice(dims);
        match self {
            Decomposition::Qr { complete } => {
                let columns = if complete { m } else { k };
                smallvec![axes(&[m, columns]), axes(&[columns, n])]
            }
            Decomposition::Triangle => smallvec![axes(&[k, n])],
            Decomposition::Svd { full: true } => {
                smallvec![axes(&[m, m]), axes(&[k]), axes(&[n, n])]
            }
            Decomposition::Svd { full: false } => {
                smallvec![axes(&[m, k]), axes(&[k]), axes(&[k, n])]
            }
            Decomposition::SingularValues | Decomposition::Eigenvalues { .. } => {
                smallvec![axes(&[k])]
            }
            Decomposition::Eigh { .. } => smallvec![axes(&[k]), axes(&[k, k])],
        }
    }
}

/// Parts of scratch memory, one after the other.
#[derive(Debug, Default)]
struct Parts(usize);

impl Parts {
    /// The start of the next part of so many bytes.
    fn take(&mut self, bytes: usize) -> usize {
        let at = self.0;
        self.0 += bytes.next_multiple_of(ALIGNMENT);
        at
    }
}

/// The plan of a decomposition.
#[derive(Debug)]
pub(crate) struct DecompositionPlan {
    what: Decomposition,
    dtype: DType,
    on_error: OnError,
    rows: i32,
    columns: i32,
    /// The copy of the matrix to its working memory, in Fortran order.
    start: TransferPlan,
    /// Elements of working memory, and integers.
    work: [i32; 2],
    /// The places in the scratch memory of the matrix, scales or values, working memory and integers.
    parts: [usize; 4],
    scratch: usize,
}

impl DecompositionPlan {
    /// The plan for a matrix; results are in Fortran order.
    pub(crate) fn new(
        what: Decomposition,
        dtype: DType,
        on_error: OnError,
        a: &Layout,
    ) -> Result<DecompositionPlan, Fault> {
        let [m, n] = [blas_int(a.dims[0])?, blas_int(a.dims[1])?];
        let work = if a.is_empty() {
            [0, 0]
        } else if dtype == DType::Float32 {
            wanted::<f32>(what, m, n)?
        } else {
            wanted::<f64>(what, m, n)?
        };
        let item = dtype.itemsize();
        let lies = fresh_in_columns(&a.dims, item)?;
        // All columns of an orthogonal matrix lie where the fewer columns of the matrix did.
        let width = if what == (Decomposition::Qr { complete: true }) { m.max(n) } else { n };
        let mut parts = Parts::default();
        let bytes = |count: i64| count as usize * item;
        let parts_at = [
            parts.take(bytes(i64::from(m) * i64::from(width))),
            parts.take(bytes(m.min(n).into())),
            parts.take(bytes(work[0].into())),
            parts.take(work[1] as usize * INTEGER),
        ];
        Ok(DecompositionPlan {
            what,
            dtype,
            on_error,
            rows: m,
            columns: n,
            start: TransferPlan::copy(dtype, a, &lies),
            work,
            parts: parts_at,
            scratch: parts.0,
        })
    }

    /// The operation, if it is for loops over many small matrices: their values alone.
    pub(crate) fn lane_work(&self) -> Option<(lanes::Work, DType)> {
        let work = match self.what {
            Decomposition::SingularValues => lanes::Work::SingularValues,
            Decomposition::Eigenvalues { lower } => lanes::Work::Eigenvalues { lower },
            _ => return None,
        };
        (i64::from(self.rows.max(self.columns)) <= SMALL).then_some((work, self.dtype))
    }

    /// Whether the matrix is square and so small that its vectors are found without a call.
    fn is_small(&self) -> bool {
        self.rows == self.columns && i64::from(self.rows) <= SMALL
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> usize {
        self.scratch
    }

    /// Writes the results.
    ///
    /// # Safety
    /// As for [`crate::linalg::stack::StackPlan::run`].
    pub(crate) unsafe fn run(
        &self,
        a: *const u8,
        results: &[*mut u8],
        scratch: *mut u8,
    ) -> Result<(), Fault> {
        // SAFETY: by the caller's promise, the operand and the results have the layouts of the plan.
        unsafe {
            let done = match self.dtype {
                DType::Float32 => self.apart::<f32>(a, results, scratch),
                _ => self.apart::<f64>(a, results, scratch),
            };
            if !matches!(done, Err(Fault::NotConverged { .. })) || self.on_error == OnError::Raise {
                return done;
            }
            let dims = self.what.dims(self.rows.into(), self.columns.into());
            for (&result, dims) in results.iter().zip(&dims) {
                let nan = Scalar::from_f64(self.dtype, f64::NAN);
                fill(result, dims.iter().product(), &nan)?;
            }
            Ok(())
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn apart<T: Element>(
        &self,
        a: *const u8,
        results: &[*mut u8],
        scratch: *mut u8,
    ) -> Result<(), Fault> {
        let [m, n] = [self.rows, self.columns];
        if m == 0 || n == 0 {
            // SAFETY: by the caller's promise, the results are as large as the plan says.
            unsafe { self.of_nothing::<T>(results) };
            return Ok(());
        }
        let [matrix, values, work, integers] = self.parts.map(|at| scratch.wrapping_add(at));
        let matrix = MatrixOut { at: matrix.cast::<T>(), leading: m };
        let work = Work { at: work.cast::<T>(), length: self.work[0] };
        if let Some((own, _)) = self.lane_work() {
            // SAFETY: by the caller's promise; the matrix has no gaps.
            unsafe {
                self.start.run(matrix.at.cast(), a)?;
                if own.values_of_one([m, n].map(|n| n as usize), matrix.at, results[0].cast()) {
                    return Ok(());
                }
            }
        }
        // SAFETY: by the caller's promise; the parts of the scratch memory are as large as needed.
        unsafe {
            match self.what {
                Decomposition::Qr { .. } | Decomposition::Triangle => {
                    self.start.run(matrix.at.cast(), a)?;
                    self.qr(matrix, values.cast(), work, results)
                }
                Decomposition::Svd { full } => {
                    self.start.run(matrix.at.cast(), a)?;
                    let vectors = if full { Vectors::All } else { Vectors::Some };
                    let &[u, s, vt] = results else { return Ok(()) };
                    self.svd(vectors, matrix, s.cast(), [u, vt], (work, integers))
                }
                Decomposition::SingularValues => {
                    self.start.run(matrix.at.cast(), a)?;
                    let nowhere = [std::ptr::null_mut(); 2];
                    self.svd(Vectors::None, matrix, results[0].cast(), nowhere, (work, integers))
                }
                Decomposition::Eigh { lower } => {
                    let vectors = MatrixOut { at: results[1].cast::<T>(), leading: n };
                    self.start.run(results[1], a)?;
                    let kind = (Vectors::Some, Triangle { lower, unit: false });
                    self.eigh(kind, vectors, results[0].cast(), (work, integers))
                }
                Decomposition::Eigenvalues { lower } => {
                    self.start.run(matrix.at.cast(), a)?;
                    let kind = (Vectors::None, Triangle { lower, unit: false });
                    self.eigh(kind, matrix, results[0].cast(), (work, integers))
                }
            }
        }
    }

    /// The vectors of a matrix without elements are the columns of the identity.
    ///
    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn of_nothing<T: Element>(&self, results: &[*mut u8]) {
        let dims = self.what.dims(self.rows.into(), self.columns.into());
        for (&result, dims) in results.iter().zip(&dims) {
            let &[rows, columns] = &dims[..] else { continue };
            for at in 0..rows * columns {
                let value = if at % (rows + 1) == 0 { T::ONE } else { T::ZERO };
                // SAFETY: the result has so many elements.
                unsafe { result.cast::<T>().add(at as usize).write(value) };
            }
        }
    }

    /// # Safety
    /// As for `run`, with the matrix in its place.
    unsafe fn qr<T: Element>(
        &self,
        a: MatrixOut<T>,
        scales: *mut T,
        work: Work<T>,
        results: &[*mut u8],
    ) -> Result<(), Fault> {
        let [m, n] = [self.rows, self.columns];
        let (q, r) = match results {
            &[r] => (None, r),
            results => (Some(results[0]), results[1]),
        };
        let complete = self.what == Decomposition::Qr { complete: true };
        let k = if complete { m } else { m.min(n) };
        let [rows, columns, height] = [k as usize, n as usize, m as usize];
        // SAFETY: by the caller's promise; all positions are inside the matrices.
        unsafe {
            geqrf([m, n], a, scales, work)?;
            let r = r.cast::<T>();
            for column in 0..columns {
                let filled = rows.min(column + 1);
                let place = r.add(column * rows);
                place.copy_from_nonoverlapping(a.at.add(column * height), filled);
                place.add(filled).write_bytes(0, rows - filled);
            }
            if let Some(q) = q {
                orgqr([m, k, m.min(n)], a, scales, work)?;
                q.cast::<T>().copy_from_nonoverlapping(a.at, height * rows);
            }
        }
        Ok(())
    }

    /// # Safety
    /// As for `run`, with the matrix in its place.
    unsafe fn svd<T: Element>(
        &self,
        vectors: Vectors,
        a: MatrixOut<T>,
        values: *mut T,
        [u, vt]: [*mut u8; 2],
        (work, integers): (Work<T>, *mut u8),
    ) -> Result<(), Fault> {
        let [m, n] = [self.rows, self.columns];
        let rows = if vectors == Vectors::All { n } else { m.min(n) };
        let u = MatrixOut { at: u.cast(), leading: m };
        let vt = MatrixOut { at: vt.cast(), leading: rows };
        let is_own = vectors != Vectors::None && self.is_small();
        // SAFETY: by the caller's promise, the matrix lies in its place, and the other parts are as
        // large as it needs.
        unsafe {
            if is_own && singular_vectors(n as usize, a.at, [u.at, vt.at], values) {
                return Ok(());
            }
            let finite = (0..m as usize * n as usize).all(|at| a.at.add(at).read().is_finite());
            // LAPACK may go on for ever with elements that are not finite.
            if finite && gesdd((vectors, [m, n]), a, values, [u, vt], work, integers)? {
                return Ok(());
            }
        }
        Err(Fault::NotConverged { what: "svd: singular values" })
    }

    /// # Safety
    /// As for `run`, with the matrix in its place.
    unsafe fn eigh<T: Element>(
        &self,
        kind: (Vectors, Triangle),
        a: MatrixOut<T>,
        values: *mut T,
        (work, integers): (Work<T>, *mut u8),
    ) -> Result<(), Fault> {
        let size = self.rows as usize;
        let lower = kind.1.lower;
        let is_own = kind.0 != Vectors::None && self.is_small();
        // SAFETY: by the caller's promise, the matrix lies in its place, and the other parts are as
        // large as it needs.
        unsafe {
            if is_own && eigenvectors(size, lower, a.at, values) {
                return Ok(());
            }
            let finite = (0..size).all(|column| {
                let mut read = if lower { column..size } else { 0..column + 1 };
                read.all(|row| a.at.add(column * size + row).read().is_finite())
            });
            if finite && syevd(kind, self.rows, a, values, work, (integers, self.work[1]))? {
                return Ok(());
            }
        }
        Err(Fault::NotConverged { what: "eigh: eigenvalues" })
    }
}

/// The elements of working memory, and the integers, that LAPACK needs for a matrix.
fn wanted<T: Element>(what: Decomposition, m: i32, n: i32) -> Result<[i32; 2], Fault> {
    let k = m.min(n);
    Ok(match what {
        Decomposition::Qr { complete } => {
            [work_of_qr::<T>([m, n, if complete { m } else { k }])?, 0]
        }
        Decomposition::Triangle => [work_of_qr::<T>([m, n, k])?, 0],
        Decomposition::Svd { full: true } => [work_of_svd::<T>(Vectors::All, [m, n])?, 8 * k],
        Decomposition::Svd { full: false } => [work_of_svd::<T>(Vectors::Some, [m, n])?, 8 * k],
        Decomposition::SingularValues => [work_of_svd::<T>(Vectors::None, [m, n])?, 8 * k],
        Decomposition::Eigh { .. } => work_of_eigh::<T>(Vectors::Some, n)?,
        Decomposition::Eigenvalues { .. } => work_of_eigh::<T>(Vectors::None, n)?,
    })
}
