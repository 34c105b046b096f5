//! Draws of arrays: one number after the other in C order, as NumPy draws them.

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use frazil_core::DType;
use smallvec::SmallVec;

use crate::arrays::layout::Layout;
use crate::arrays::view;
use crate::arrays::walk::{Order, Strides, Walk};
use crate::draws::distribution::{Distribution, Method};
use crate::draws::generator::{BitStream, with_generator};
use crate::draws::limits::largest_rate;
use crate::draws::rows;
use crate::error::Fault;
use crate::threads::attention::{PATIENCE, Patience, ask};

/// The cost of a number, in positions of a loop.
pub(super) const COST: i64 = 16;

/// A draw whose shapes are known.
#[derive(Debug)]
pub(crate) struct DrawPlan {
    pub(super) distribution: Distribution,
    /// Words of the state, and the bytes from one to the next.
    state: (usize, i64),
    pub(super) count: usize,
    /// The count of numbers that are drawn together, and the bytes between the numbers of a row of the parameter that
    /// has rows.
    pub(super) row: (usize, i64),
    /// The places of the parameters of each number, or of each row.
    pub(super) walk: Walk,
    /// The elements of each parameter.
    elements: Vec<Walk>,
    /// The places of the parameters that numbers have together.
    pub(super) together: Walk,
}

fn walk_of(dims: &[i64], layouts: &[Layout]) -> Walk {
    let mut strides = Strides::new();
    for layout in layouts {
        strides.push(layout.strides.iter().copied());
    }
    Walk::new(dims, &strides, &(0..dims.len()).collect::<Order>())
}

impl DrawPlan {
    pub(crate) fn new(
        distribution: Distribution,
        state: &Layout,
        parameters: &[&Layout],
        to: &Layout,
    ) -> Result<DrawPlan, Fault> {
        let (batch, length) = match to.dims.split_last() {
            Some((&length, batch)) if distribution.has_rows() => (batch, length),
            _ => (&to.dims[..], 1),
        };
        let mut row_step = 0;
        let mut own: Vec<Layout> = parameters.iter().map(|&layout| layout.clone()).collect();
        for (at, layout) in own.iter_mut().enumerate() {
            if distribution.takes_rows(at) {
                if layout.dims.pop() != Some(length) {
                    let from = parameters[at].dims.to_vec();
                    return Err(Fault::Broadcast { from, to: to.dims.to_vec() });
                }
                row_step = layout.strides.pop().unwrap_or(0);
            }
        }
        let stretched: Vec<Layout> =
            own.iter().map(|layout| view::broadcast_to(layout, batch)).collect::<Result<_, _>>()?;
        // Along which axes parameters have elements.
        let varies = |axis: usize| {
            own.iter().any(|layout| {
                let before = batch.len() - layout.ndim();
                axis >= before && layout.dims[axis - before] != 1
            })
        };
        let together: SmallVec<[i64; 4]> =
            (0..batch.len()).map(|axis| if varies(axis) { batch[axis] } else { 1 }).collect();
        Ok(DrawPlan {
            distribution,
            state: (state.dims[0] as usize, state.strides[0]),
            count: to.len() as usize,
            row: (length as usize, row_step),
            walk: walk_of(batch, &stretched),
            elements: parameters
                .iter()
                .map(|&layout| walk_of(&layout.dims, std::slice::from_ref(layout)))
                .collect(),
            together: walk_of(&together, &stretched),
        })
    }

    /// # Safety
    /// The operands lie as they did when the plan was made; both results are new memory in C order.
    pub(crate) unsafe fn run(
        &self,
        state: *const u8,
        parameters: &[*mut u8],
        to: *mut u8,
        next: *mut u64,
    ) -> Result<(), Fault> {
        let (length, step) = self.state;
        // SAFETY: the state has so many words.
        let word =
            |at: usize| unsafe { state.offset(at as isize * step as isize).cast::<u64>().read() };
        let words: SmallVec<[u64; 16]> = (0..length).map(word).collect();
        let mut left: SmallVec<[u64; 16]> = SmallVec::from_elem(0, length);
        let function = self.distribution.function()?;
        // SAFETY: by the caller's promise, the operands lie as they did when the plan was made.
        unsafe { self.check(parameters)? };
        with_generator(&words, &mut left, |stream| {
            // SAFETY: by the caller's promise; the function is that of the distribution.
            unsafe { self.fill(Drawing { stream, function, parameters, to }) }
        })?;
        // SAFETY: the next state has as many words, in C order.
        unsafe { next.copy_from_nonoverlapping(left.as_ptr(), length) };
        Ok(())
    }

    /// Whether the parameters are such that there is a distribution.
    ///
    /// # Safety
    /// As for [`DrawPlan::run`].
    unsafe fn check(&self, parameters: &[*mut u8]) -> Result<(), Fault> {
        for (at, (walk, dtype)) in
            self.elements.iter().zip(self.distribution.parameters()).enumerate()
        {
            let (name, limit) = self.distribution.limit(at);
            visit(walk, &parameters[at..=at], |pointers| {
                // SAFETY: it points to an element of this type.
                limit.check(name, unsafe { number(pointers[0], dtype) })
            })?;
        }
        let Some(check) = joint_check(self.distribution) else { return Ok(()) };
        if matches!(self.distribution.method(), Method::Integer(_)) && self.count == 0 {
            return Ok(()); // NumPy looks at no bounds then
        }
        // SAFETY: the pointers point to elements of the parameters' types.
        visit(&self.together, parameters, |pointers| unsafe { check(self, pointers) })
    }

    /// # Safety
    /// As for [`DrawPlan::run`]; the function is that of the distribution.
    unsafe fn fill(&self, drawing: Drawing<'_>) -> Result<(), Fault> {
        // SAFETY: in each arm the function has the type that NumPy declares for it, the pointers are
        // those of elements of the parameters' types, and the results have the type of the result.
        unsafe {
            match self.distribution.method() {
                Method::Double => self.doubles(drawing),
                Method::Uniform => {
                    let f: unsafe extern "C" fn(*mut BitStream, f64, f64) -> f64 =
                        transmute(drawing.function);
                    let draw = |(low, high): (f64, f64)| f(drawing.stream, low, high - low);
                    self.each(drawing, draw)
                }
                Method::Float => {
                    let f: unsafe extern "C" fn(*mut BitStream, f32) -> f32 =
                        transmute(drawing.function);
                    self.each(drawing, |(a,)| f(drawing.stream, a))
                }
                Method::Doubles => self.all::<f64>(drawing),
                Method::Floats => self.all::<f32>(drawing),
                Method::Count => self.counts(drawing),
                Method::Binomial => {
                    let f: BinomialFn = transmute(drawing.function);
                    let mut known = BinomialMemory::default();
                    let draw = |(n, p): (i64, f64)| f(drawing.stream, p, n, &raw mut known);
                    self.each(drawing, draw)
                }
                Method::Hypergeometric => {
                    let f: unsafe extern "C" fn(*mut BitStream, i64, i64, i64) -> i64 =
                        transmute(drawing.function);
                    self.each(drawing, |(a, b, c)| f(drawing.stream, a, b, c))
                }
                Method::Permutation => rows::permute(self, drawing),
                Method::Sample => rows::sample(self, drawing),
                Method::Multinomial => rows::multinomial(self, drawing),
                Method::Dirichlet => rows::dirichlet(self, drawing),
                Method::Colors => rows::colors(self, drawing),
                Method::Integer(dtype) => self.integers(dtype, drawing),
            }
        }
    }

    /// One float64 for each row of parameters; a row has as many as the function takes.
    ///
    /// # Safety
    /// As for [`DrawPlan::fill`].
    unsafe fn doubles(&self, drawing: Drawing<'_>) -> Result<(), Fault> {
        // SAFETY: as in `fill`.
        unsafe {
            match self.elements.len() {
                0 => {
                    let f: unsafe extern "C" fn(*mut BitStream) -> f64 =
                        transmute(drawing.function);
                    self.each(drawing, |()| f(drawing.stream))
                }
                1 => {
                    let f: unsafe extern "C" fn(*mut BitStream, f64) -> f64 =
                        transmute(drawing.function);
                    self.each(drawing, |(a,)| f(drawing.stream, a))
                }
                2 => {
                    let f: unsafe extern "C" fn(*mut BitStream, f64, f64) -> f64 =
                        transmute(drawing.function);
                    self.each(drawing, |(a, b)| f(drawing.stream, a, b))
                }
                _ => {
                    let f: unsafe extern "C" fn(*mut BitStream, f64, f64, f64) -> f64 =
                        transmute(drawing.function);
                    self.each(drawing, |(a, b, c)| f(drawing.stream, a, b, c))
                }
            }
        }
    }

    /// One int64 of each row of float64 parameters.
    ///
    /// # Safety
    /// As for [`DrawPlan::fill`].
    unsafe fn counts(&self, drawing: Drawing<'_>) -> Result<(), Fault> {
        // SAFETY: as in `fill`.
        unsafe {
            if self.elements.len() == 1 {
                let f: unsafe extern "C" fn(*mut BitStream, f64) -> i64 =
                    transmute(drawing.function);
                self.each(drawing, |(a,)| f(drawing.stream, a))
            } else {
                let f: unsafe extern "C" fn(*mut BitStream, f64, f64) -> i64 =
                    transmute(drawing.function);
                self.each(drawing, |(a, b)| f(drawing.stream, a, b))
            }
        }
    }

    /// Integers of one dtype between bounds.
    ///
    /// # Safety
    /// As for [`DrawPlan::fill`].
    unsafe fn integers(&self, dtype: DType, drawing: Drawing<'_>) -> Result<(), Fault> {
        // SAFETY: as in `fill`.
        unsafe {
            match dtype {
                DType::Bool | DType::Int8 | DType::UInt8 => self.buffered::<u8>(drawing),
                DType::Int16 | DType::UInt16 => self.buffered::<u16>(drawing),
                DType::Int32 | DType::UInt32 => self.buffered::<u32>(drawing),
                _ => {
                    let f: unsafe extern "C" fn(*mut BitStream, u64, u64, u64, bool) -> u64 =
                        transmute(drawing.function);
                    self.each(drawing, |p| {
                        let (low, range) = bounds(p);
                        f(drawing.stream, low, range, 0, false)
                    })
                }
            }
        }
    }

    /// Writes what `draw` makes of the parameters at each position.
    ///
    /// # Safety
    /// There is room for as many results of this type; the parameters have the types that are read.
    unsafe fn each<P: Parameters, T>(
        &self,
        drawing: Drawing<'_>,
        mut draw: impl FnMut(P) -> T,
    ) -> Result<(), Fault> {
        let Drawing { parameters, .. } = drawing;
        if self.count == 0 {
            return Ok(());
        }
        let mut to = drawing.to.cast::<T>();
        let mut patience = Patience::new();
        let mut outer = self.walk.clone();
        let (length, steps) = outer.pop().unwrap_or((1, SmallVec::from_elem(0, parameters.len())));
        let constant = steps.iter().all(|&step| step == 0);
        visit(&outer, parameters, |pointers| {
            let mut done = 0;
            while done < length {
                let part = (length - done).min(PATIENCE / COST);
                // SAFETY: by the caller's promise; the positions are positions of the walk.
                unsafe {
                    let first = P::read(pointers, &steps, done);
                    for at in 0..part {
                        let given =
                            if constant { first } else { P::read(pointers, &steps, done + at) };
                        to.add(at as usize).write(draw(given));
                    }
                    to = to.add(part as usize);
                }
                done += part;
                patience.spend(COST * part).map_err(Fault::from)?;
            }
            Ok(())
        })
    }

    /// # Safety
    /// The function fills memory with numbers of this type, and the memory has room for all of them.
    unsafe fn all<T>(&self, drawing: Drawing<'_>) -> Result<(), Fault> {
        // SAFETY: by the caller's promise, NumPy's function of this method fills memory with numbers of the type.
        let f: unsafe extern "C" fn(*mut BitStream, isize, *mut T) =
            unsafe { transmute(drawing.function) };
        let mut done = 0;
        while done < self.count {
            let part = (self.count - done).min((PATIENCE / COST) as usize);
            // SAFETY: as above.
            unsafe { f(drawing.stream, part as isize, drawing.to.cast::<T>().add(done)) };
            done += part;
            ask().map_err(Fault::from)?;
        }
        Ok(())
    }

    /// Integers of fewer than 64 bits, several of the bits that are made at once.
    ///
    /// # Safety
    /// As for [`DrawPlan::fill`]; `T` has the width of the results.
    unsafe fn buffered<T: Narrow>(&self, drawing: Drawing<'_>) -> Result<(), Fault> {
        // SAFETY: NumPy declares the function so, and the caller promises the width.
        let f: BoundedFn<T> = unsafe { transmute(drawing.function) };
        let (mut left, mut buffer): (c_int, u32) = (0, 0);
        // SAFETY: by the caller's promise, the parameters and results are those of the plan, as for `fill`.
        unsafe {
            self.each(drawing, |p| {
                let (low, range) = bounds(p);
                let (low, range) = (T::cut(low), T::cut(range));
                f(drawing.stream, low, range, T::cut(0), false, &raw mut left, &raw mut buffer)
            })
        }
    }
}

/// One run of a plan.
#[derive(Clone, Copy)]
pub(super) struct Drawing<'p> {
    /// The bits, and NumPy's function that makes numbers of them.
    pub(super) stream: *mut BitStream,
    pub(super) function: *const c_void,
    pub(super) parameters: &'p [*mut u8],
    /// The memory of the results.
    pub(super) to: *mut u8,
}

type BinomialFn = unsafe extern "C" fn(*mut BitStream, f64, i64, *mut BinomialMemory) -> i64;

type BoundedFn<T> = unsafe extern "C" fn(*mut BitStream, T, T, T, bool, *mut c_int, *mut u32) -> T;

/// The values that NumPy's binomial keeps for the parameters that it saw last.
#[repr(C)]
#[derive(Default)]
pub(super) struct BinomialMemory {
    is_set: c_int,
    probability: f64,
    trials: i64,
    floats: [f64; 3],
    mode: i64,
    more: [f64; 10],
}

/// Unsigned integers that are made of 32 bits.
trait Narrow: Copy {
    fn cut(value: u64) -> Self;
}

macro_rules! narrow {
    ($($type:ident)*) => {
        $(impl Narrow for $type {
            fn cut(value: u64) -> $type {
                value as $type
            }
        })*
    };
}

narrow! { u8 u16 u32 }

/// # Safety
/// It points to an element of this type.
pub(super) unsafe fn read<T: Copy>(pointer: *mut u8) -> T {
    // SAFETY: by the caller's promise, it points to an element of this type.
    unsafe { pointer.cast::<T>().read() }
}

/// # Safety
/// It points to an element of this type, which is that of a parameter.
unsafe fn number(pointer: *mut u8, dtype: DType) -> f64 {
    // SAFETY: by the caller's promise, it points to an element of the type of the parameter.
    unsafe {
        match dtype {
            DType::Float32 => f64::from(read::<f32>(pointer)),
            DType::Int64 => read::<i64>(pointer) as f64,
            DType::UInt64 => read::<u64>(pointer) as f64,
            _ => read::<f64>(pointer),
        }
    }
}

/// The smallest of some integers, and how far from it the largest is, given the parameters of
/// integers; all are 64 bits, with a sign or without.
fn bounds((low, high, closed): (u64, u64, i64)) -> (u64, u64) {
    (low, high.wrapping_sub(u64::from(closed == 0)).wrapping_sub(low))
}

/// The values of parameters at a position.
trait Parameters: Copy {
    /// # Safety
    /// The pointers, moved by so many steps, point to elements of these types.
    unsafe fn read(pointers: &[*mut u8], steps: &[i64], at: i64) -> Self;
}

macro_rules! parameters {
    ($($type:ident $at:tt),*) => {
        impl<$($type: Copy),*> Parameters for ($($type,)*) {
            unsafe fn read(pointers: &[*mut u8], steps: &[i64], at: i64) -> Self {
                // SAFETY: by the caller's promise, the pointers are those of the first elements,
                // and the positions are of the walk.
                unsafe { ($(read(pointers[$at].wrapping_offset((steps[$at] * at) as isize)),)*) }
            }
        }
    };
}

impl Parameters for () {
    unsafe fn read(_: &[*mut u8], _: &[i64], _: i64) {}
}

parameters! { A 0 }
parameters! { A 0, B 1 }
parameters! { A 0, B 1, C 2 }

/// Calls `body` with the pointers of each position, if there are any.
pub(super) fn visit(
    walk: &Walk,
    start: &[*mut u8],
    body: impl FnMut(&[*mut u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if walk.is_empty() {
        return Ok(());
    }
    let mut pointers: SmallVec<[*mut u8; 3]> = start.into();
    walk.visit(walk.lengths(), &mut pointers, body)
}

type JointCheck = unsafe fn(&DrawPlan, &[*mut u8]) -> Result<(), Fault>;

/// A condition on the parameters of a distribution together.
fn joint_check(distribution: Distribution) -> Option<JointCheck> {
    match (distribution.method(), distribution.name()) {
        (Method::Integer(_), _) => Some(check_integers),
        (Method::Uniform, _) => Some(check_uniform),
        (Method::Hypergeometric, _) => Some(check_hypergeometric),
        (Method::Multinomial, _) => Some(rows::check_multinomial),
        (Method::Colors, _) => Some(rows::check_colors),
        (Method::Sample, _) => Some(rows::check_sample),
        (_, "triangular") => Some(check_triangular),
        (_, "negative_binomial") => Some(check_negative_binomial),
        _ => None,
    }
}

pub(super) fn refuse(what: String) -> Result<(), Fault> {
    Err(Fault::Parameter { what })
}

/// # Safety
/// These are the parameters of the distribution, as for all checks.
unsafe fn check_uniform(_: &DrawPlan, p: &[*mut u8]) -> Result<(), Fault> {
    // SAFETY: by the caller's promise, these are the two float64 parameters.
    let (low, high): (f64, f64) = unsafe { (read(p[0]), read(p[1])) };
    let range = high - low;
    if !range.is_finite() {
        return Err(Fault::Range { low, high });
    }
    if range.is_sign_negative() {
        return refuse(format!("high < low, given low {low} and high {high}"));
    }
    Ok(())
}

/// # Safety
/// As for [`check_uniform`].
unsafe fn check_triangular(_: &DrawPlan, p: &[*mut u8]) -> Result<(), Fault> {
    // SAFETY: by the caller's promise, these are the three float64 parameters.
    let [left, mode, right]: [f64; 3] = unsafe { [read(p[0]), read(p[1]), read(p[2])] };
    let wrong = if left > mode {
        "left > mode"
    } else if mode > right {
        "mode > right"
    } else if left == right {
        "left == right"
    } else {
        return Ok(());
    };
    refuse(format!("{wrong}, given left {left}, mode {mode} and right {right}"))
}

/// # Safety
/// As for [`check_uniform`].
unsafe fn check_negative_binomial(_: &DrawPlan, p: &[*mut u8]) -> Result<(), Fault> {
    // SAFETY: by the caller's promise, these are the two float64 parameters.
    let (n, p): (f64, f64) = unsafe { (read(p[0]), read(p[1])) };
    if (1.0 - p) / p * (n + 10.0 * n.sqrt()) > largest_rate() {
        return refuse(format!("n is too large or p too small, given n {n} and p {p}"));
    }
    Ok(())
}

/// # Safety
/// As for [`check_uniform`].
unsafe fn check_hypergeometric(_: &DrawPlan, p: &[*mut u8]) -> Result<(), Fault> {
    const MAX: i64 = 1_000_000_000;
    // SAFETY: by the caller's promise, these are the three int64 parameters.
    let [good, bad, sample]: [i64; 3] = unsafe { [read(p[0]), read(p[1]), read(p[2])] };
    if good >= MAX || bad >= MAX {
        return refuse(format!("ngood and nbad must be below {MAX}, given {good} and {bad}"));
    }
    if good + bad < sample {
        return refuse(format!(
            "ngood + nbad < nsample, given ngood {good}, nbad {bad} and nsample {sample}"
        ));
    }
    Ok(())
}

/// # Safety
/// As for [`check_uniform`].
unsafe fn check_integers(plan: &DrawPlan, p: &[*mut u8]) -> Result<(), Fault> {
    let dtype = plan.distribution.result();
    // SAFETY: by the caller's promise, these are the two bounds, of the dtype.
    let [low, high]: [i128; 2] = unsafe {
        match dtype {
            DType::UInt64 => [read::<u64>(p[0]).into(), read::<u64>(p[1]).into()],
            _ => [read::<i64>(p[0]).into(), read::<i64>(p[1]).into()],
        }
    };
    // SAFETY: as above.
    let closed = unsafe { read::<i64>(p[2]) } != 0;
    let largest = if closed { high } else { high - 1 };
    let (from, to) = range_of(dtype);
    if low < from {
        return refuse(format!("low is out of bounds for {dtype}, given {low}"));
    }
    if largest > to {
        return refuse(format!("high is out of bounds for {dtype}, given {high}"));
    }
    if low > largest {
        let sign = if closed { ">" } else { ">=" };
        return refuse(format!("low {sign} high, given low {low} and high {high}"));
    }
    Ok(())
}

/// The smallest and the largest value of an integer type.
fn range_of(dtype: DType) -> (i128, i128) {
    if dtype == DType::Bool {
        return (0, 1);
    }
    let bits = 8 * dtype.itemsize() as u32;
    let signed = matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}
