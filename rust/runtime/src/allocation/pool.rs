//! Buffers that were used and may be used again.

use std::mem;
use std::sync::Arc;

use frazil_core::fork::{Held, Locks};
use frazil_core::intern::sync::Mutex;

use crate::allocation::buffer::Buffer;
use crate::error::Fault;

/// Large outputs that their users have dropped. Fresh pages cost more than most kernels do with
/// them.
static LARGE: Mutex<Pool> = Mutex::new(Pool::new(8, 128 << 20));

/// The lock of the pool of large outputs.
pub(crate) struct LargeOutputs;

impl Locks for LargeOutputs {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        Box::new(LARGE.lock())
    }
}

/// Memory that other runs may have when its user drops it.
#[derive(Debug)]
pub struct LargeBuffer(Buffer);

impl LargeBuffer {
    /// Below this, the allocator of the system keeps memory at hand itself.
    pub const SMALLEST: usize = 1 << 16;

    /// Memory for at least `bytes`.
    pub fn new(bytes: usize) -> Result<LargeBuffer, Fault> {
        let found = LARGE.lock().find(bytes);
        match found {
            Some(buffer) => Ok(LargeBuffer(buffer)),
            None => Buffer::new(bytes).map(LargeBuffer),
        }
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.0.as_ptr()
    }
}

impl From<Buffer> for LargeBuffer {
    fn from(buffer: Buffer) -> LargeBuffer {
        LargeBuffer(buffer)
    }
}

impl Drop for LargeBuffer {
    fn drop(&mut self) {
        let buffer = mem::take(&mut self.0);
        if buffer.size() >= LargeBuffer::SMALLEST {
            let surplus = LARGE.lock().give(buffer);
            // Memory goes back to the system after the lock is released.
            drop(surplus);
        }
    }
}

/// Keeps a few released buffers.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    idle: Vec<Buffer>,
    /// The number of buffers and bytes that it keeps at most.
    capacity: (usize, usize),
}

impl Pool {
    /// A pool that keeps at most this many buffers and bytes.
    pub(crate) const fn new(buffers: usize, bytes: usize) -> Pool {
        Pool { idle: Vec::new(), capacity: (buffers, bytes) }
    }

    /// A buffer of at least `bytes`, but never more than twice as large.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<Buffer, Fault> {
        match self.find(bytes) {
            Some(buffer) => Ok(buffer),
            None => Buffer::new(bytes),
        }
    }

    /// An idle buffer of at least `bytes`, but never more than twice as large.
    fn find(&mut self, bytes: usize) -> Option<Buffer> {
        let fits = |buffer: &Buffer| buffer.size() >= bytes && buffer.size() / 2 <= bytes;
        let fitting = self.idle.iter().enumerate().filter(|(_, buffer)| fits(buffer));
        let (at, _) = fitting.min_by_key(|(_, buffer)| buffer.size())?;
        Some(self.idle.swap_remove(at))
    }

    /// Takes a buffer back. Gives those that there is no room for, for the caller to drop.
    pub(crate) fn give(&mut self, buffer: Buffer) -> Option<Buffer> {
        let bytes: usize = self.idle.iter().map(Buffer::size).sum();
        let (buffers, most) = self.capacity;
        if buffer.size() == 0 || self.idle.len() >= buffers || bytes + buffer.size() > most {
            return Some(buffer);
        }
        self.idle.push(buffer);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_buffers_are_handed_on() {
        // No other test of this crate asks for this size.
        let bytes = LargeBuffer::SMALLEST * 3;
        let first = LargeBuffer::new(bytes).unwrap();
        let address = first.as_ptr();
        drop(first);
        let second = LargeBuffer::new(bytes).unwrap();
        assert_eq!(second.as_ptr(), address);
        assert_ne!(LargeBuffer::new(bytes).unwrap().as_ptr(), address);
    }

    #[test]
    fn buffers_come_back_if_they_fit() {
        let mut pool = Pool::new(2, 1000);
        let buffer = pool.take(100).unwrap();
        let address = buffer.as_ptr();
        assert!(pool.give(buffer).is_none());
        assert_ne!(pool.take(40).unwrap().as_ptr(), address);
        assert_eq!(pool.take(60).unwrap().as_ptr(), address);
        assert!(pool.give(Buffer::new(1001).unwrap()).is_some());
        assert!(pool.give(Buffer::empty()).is_some());
    }
}
