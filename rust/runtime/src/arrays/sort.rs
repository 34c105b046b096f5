//! Sorting along an axis.

use frazil_core::DType;

use crate::arrays::axis_lines::AxisLines;
use crate::arrays::layout::Layout;
use crate::error::Fault;

/// Elements with an order: numbers, NaN behind all others, the two zeros equal.
pub(crate) trait Ranked: Copy {
    /// An integer of the same size.
    type Rank: Copy + Ord + Into<u64>;

    /// Compares as the element does.
    fn rank(self) -> Self::Rank;

    /// An element of that rank.
    fn of_rank(rank: Self::Rank) -> Self;

    /// Whether other bits have the same rank.
    fn may_tie(self) -> bool;
}

macro_rules! ranked {
    ($($kind:ty: $rank:ty, $flip:expr;)*) => {
        $(impl Ranked for $kind {
            type Rank = $rank;

            fn rank(self) -> $rank {
                self as $rank ^ $flip
            }

            fn of_rank(rank: $rank) -> $kind {
                (rank ^ $flip) as $kind
            }

            fn may_tie(self) -> bool {
                false
            }
        })*
    };
}

ranked! {
    u8: u8, 0;
    u16: u16, 0;
    u32: u32, 0;
    u64: u64, 0;
    i8: u8, 1 << 7;
    i16: u16, 1 << 15;
    i32: u32, 1 << 31;
    i64: u64, 1 << 63;
}

macro_rules! ranked_float {
    ($($float:ty: $rank:ty, $sign:expr;)*) => {
        $(impl Ranked for $float {
            type Rank = $rank;

            fn rank(self) -> $rank {
                if self.is_nan() {
                    return <$rank>::MAX;
                }
                let bits = (self + 0.0).to_bits(); // the negative zero becomes the other one
                if bits & $sign == 0 { bits | $sign } else { !bits }
            }

            fn of_rank(rank: $rank) -> $float {
                <$float>::from_bits(if rank & $sign != 0 { rank ^ $sign } else { !rank })
            }

            fn may_tie(self) -> bool {
                self == 0.0 || self.is_nan()
            }
        })*
    };
}

ranked_float! {
    f32: u32, 1 << 31;
    f64: u64, 1 << 63;
}

/// AxisLines of an operand, sorted or as the positions that sort them; equal elements keep their order.
#[derive(Debug)]
pub(crate) struct SortPlan {
    dtype: DType,
    positions: bool,
    lines: AxisLines,
}

impl SortPlan {
    /// The plan for an operand and a result of the same shape: its elements, or their positions.
    pub(crate) fn new(
        dtype: DType,
        positions: bool,
        axis: usize,
        of: &Layout,
        to: &Layout,
    ) -> SortPlan {
        SortPlan { dtype, positions, lines: AxisLines::new(of, to, axis) }
    }

    /// Ranks and positions that fit into 64 bits together are sorted as one number.
    fn packs(&self) -> bool {
        self.dtype.itemsize() <= 4 && u32::try_from(self.lines.length).is_ok()
    }

    /// The bytes of scratch memory that a run needs.
    pub(crate) fn scratch(&self) -> Result<usize, Fault> {
        let each = match (self.positions, self.packs()) {
            (false, _) => self.dtype.itemsize(),
            (true, true) => size_of::<u64>(),
            (true, false) => size_of::<(u64, u64)>(),
        };
        self.lines.length.checked_mul(each).ok_or(Fault::TooLarge)
    }

    /// Writes the result.
    ///
    /// # Safety
    /// Operand and result have the layouts of the plan and are apart; `scratch` is aligned and as
    /// large as [`SortPlan::scratch`] says.
    pub(crate) unsafe fn run(&self, of: *const u8, to: *mut u8, scratch: *mut u8) {
        // SAFETY: by the caller's promise.
        unsafe {
            match self.dtype {
                DType::Bool | DType::UInt8 => self.sort::<u8>(of, to, scratch),
                DType::UInt16 => self.sort::<u16>(of, to, scratch),
                DType::UInt32 => self.sort::<u32>(of, to, scratch),
                DType::UInt64 => self.sort::<u64>(of, to, scratch),
                DType::Int8 => self.sort::<i8>(of, to, scratch),
                DType::Int16 => self.sort::<i16>(of, to, scratch),
                DType::Int32 => self.sort::<i32>(of, to, scratch),
                DType::Int64 => self.sort::<i64>(of, to, scratch),
                DType::Float32 => self.sort::<f32>(of, to, scratch),
                DType::Float64 => self.sort::<f64>(of, to, scratch),
            }
        }
    }

    /// # Safety
    /// As for `run`, with elements of type `T`.
    unsafe fn sort<T: Ranked>(&self, of: *const u8, to: *mut u8, scratch: *mut u8) {
        if self.lines.length == 0 {
            return;
        }
        self.lines.visit(of, to, |line, into| {
            // SAFETY: by the caller's promise, for one line.
            unsafe {
                match (self.positions, self.packs()) {
                    (false, _) => self.values::<T>(line, into, scratch.cast()),
                    (true, true) => self.packed::<T>(line, into, scratch.cast()),
                    (true, false) => self.pairs::<T>(line, into, scratch.cast()),
                }
            }
        });
    }

    /// Element `k` of a line.
    ///
    /// # Safety
    /// The line has it.
    unsafe fn element<T: Ranked>(&self, line: *const u8, k: usize) -> T {
        // SAFETY: by the caller's promise.
        unsafe {
            line.wrapping_offset(k as isize * self.lines.steps[0] as isize).cast::<T>().read()
        }
    }

    /// # Safety
    /// As for `run`, for one line.
    unsafe fn values<T: Ranked>(&self, line: *const u8, into: *mut u8, room: *mut T::Rank) {
        let AxisLines { length, steps: [_, step], .. } = self.lines;
        for k in 0..length {
            // SAFETY: the line has the element, and the room a place for it.
            unsafe { room.add(k).write(self.element::<T>(line, k).rank()) };
        }
        // SAFETY: they were just written.
        let ranks = unsafe { std::slice::from_raw_parts_mut(room, length) };
        ranks.sort_unstable();
        let place = |k: usize| into.wrapping_offset(k as isize * step as isize).cast::<T>();
        for (k, &rank) in ranks.iter().enumerate() {
            // SAFETY: the line of the result has as many elements.
            unsafe { place(k).write(T::of_rank(rank)) };
        }
        // Zeros and NaN, of which others have the same rank, come as they were, in their order.
        let mut start = 0;
        while let Some(found) = ranks[start..].iter().position(|&rank| T::of_rank(rank).may_tie()) {
            let first = start + found;
            let rank = ranks[first];
            // SAFETY: the line has so many elements.
            let originals = (0..length).map(|k| unsafe { self.element::<T>(line, k) });
            start = first;
            for original in originals.filter(|element| element.rank() == rank) {
                // SAFETY: there are as many of that rank as places from the first on.
                unsafe { place(start).write(original) };
                start += 1;
            }
        }
    }

    /// # Safety
    /// As for `run`, for one line of elements of at most 32 bits.
    unsafe fn packed<T: Ranked>(&self, line: *const u8, into: *mut u8, room: *mut u64) {
        let length = self.lines.length;
        for k in 0..length {
            // SAFETY: the line has the element, and the room a place for it.
            unsafe { room.add(k).write(self.element::<T>(line, k).rank().into() << 32 | k as u64) };
        }
        // SAFETY: they were just written.
        let pairs = unsafe { std::slice::from_raw_parts_mut(room, length) };
        pairs.sort_unstable();
        // SAFETY: by the caller's promise.
        unsafe { self.write(into, pairs.iter().map(|pair| pair & u64::from(u32::MAX))) };
    }

    /// # Safety
    /// As for `run`, for one line.
    unsafe fn pairs<T: Ranked>(&self, line: *const u8, into: *mut u8, room: *mut (u64, u64)) {
        let length = self.lines.length;
        for k in 0..length {
            // SAFETY: the line has the element, and the room a place for it.
            unsafe { room.add(k).write((self.element::<T>(line, k).rank().into(), k as u64)) };
        }
        // SAFETY: they were just written.
        let pairs = unsafe { std::slice::from_raw_parts_mut(room, length) };
        pairs.sort_unstable();
        // SAFETY: by the caller's promise.
        unsafe { self.write(into, pairs.iter().map(|pair| pair.1)) };
    }

    /// # Safety
    /// There are as many positions as the line of the result has elements.
    unsafe fn write(&self, into: *mut u8, positions: impl Iterator<Item = u64>) {
        for (k, position) in positions.enumerate() {
            let at = into.wrapping_offset(k as isize * self.lines.steps[1] as isize);
            // SAFETY: by the caller's promise.
            unsafe { at.cast::<i64>().write(position as i64) };
        }
    }
}
