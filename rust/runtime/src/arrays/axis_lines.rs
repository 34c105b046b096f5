//! The lines of an array along one axis: where each starts, in it and in a result.

use crate::arrays::layout::Layout;
use crate::arrays::rows::copy_row;
use crate::arrays::walk::{Order, Strides, Walk};
use crate::threads::attention::Patience;
use crate::threads::conduct::Halt;

/// Where a run over lines finds its operand and its result, and memory to work in.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) of: *const u8,
    pub(crate) to: *mut u8,
    pub(crate) scratch: *mut u8,
}

/// The lines along an axis of an operand, and the places of a result that belong to them.
#[derive(Debug)]
pub(crate) struct AxisLines {
    /// Elements of a line, and the bytes from one to the next: in the operand, in the result.
    pub(crate) length: usize,
    pub(crate) steps: [i64; 2],
    /// `None`: there are no lines.
    walk: Option<Walk>,
}

impl AxisLines {
    /// The lines of `of` along `axis`; `to` has its axes, or all but that one.
    pub(crate) fn new(of: &Layout, to: &Layout, axis: usize) -> AxisLines {
        let apart = |layout: &Layout| -> (i64, Vec<i64>) {
            let mut strides = layout.strides.to_vec();
            let along = if strides.len() == of.ndim() { strides.remove(axis) } else { 0 };
            (along, strides)
        };
        let ((from, of_strides), (into, to_strides)) = (apart(of), apart(to));
        let mut dims = of.dims.to_vec();
        let length = dims.remove(axis) as usize;
        let walk = (!dims.contains(&0)).then(|| {
            let mut strides = Strides::new();
            strides.push(of_strides);
            strides.push(to_strides);
            Walk::new(&dims, &strides, &(0..dims.len()).collect::<Order>())
        });
        AxisLines { length, steps: [from, into], walk }
    }

    /// The number of lines.
    pub(crate) fn count(&self) -> usize {
        let lengths = self.walk.as_ref().map(Walk::lengths);
        lengths.map_or(0, |lengths| lengths.iter().map(|&n| n as usize).product())
    }

    /// Calls `body` with the start of every line, and of its place in the result; asks now and then
    /// whether to stop.
    pub(crate) fn visit(
        &self,
        memory: Memory,
        mut body: impl FnMut(*const u8, *mut u8) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let Some(walk) = &self.walk else { return Ok(()) };
        let mut patience = Patience::new();
        walk.visit(walk.lengths(), &mut [memory.of.cast_mut(), memory.to], |at| {
            body(at[0].cast_const(), at[1])?;
            patience.spend(self.length as i64 + 1)
        })
    }
}

/// `count` elements that lie `step` bytes apart: where they are, or in `room` if they do not lie
/// side by side.
///
/// # Safety
/// There are so many, aligned, `room` takes them, and neither changes as long as the result is used.
pub(crate) unsafe fn gather<'a, T: Copy>(
    start: *const u8,
    step: i64,
    count: usize,
    room: *mut T,
) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: by the caller's promise, so many elements lie there, aligned, and the room takes them.
    unsafe {
        if step == size_of::<T>() as i64 {
            return std::slice::from_raw_parts(start.cast(), count);
        }
        let item = size_of::<T>();
        copy_row(item, room.cast(), item as i64, start, step, count as i64);
        std::slice::from_raw_parts(room, count)
    }
}
