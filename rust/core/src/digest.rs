//! 128-bit content digests, stable across processes, machines and versions of Python.

use std::fmt;

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_128;

/// The Merkle digest of a node, type, constant or op.
///
/// Digests key caches and tables; equality in memory is decided by the full key, never by a digest alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    high: u64,
    low: u64,
}

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        let value = xxh3_128(bytes);
        Digest { high: (value >> 64) as u64, low: value as u64 }
    }

    /// The 64 bits that tables hash by.
    pub fn short(self) -> u64 {
        self.low
    }

    /// Little-endian bytes, low half first.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.low.to_le_bytes());
        bytes[8..].copy_from_slice(&self.high.to_le_bytes());
        bytes
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.high, self.low)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Collects the fields of a key in a canonical byte form.
///
/// Every variable-length field is preceded by its length, so two different keys never give one byte string.
pub(crate) struct DigestWriter {
    bytes: SmallVec<[u8; 192]>,
}

impl DigestWriter {
    /// Starts a key of the given kind; kinds keep, say, a type and a constant apart.
    pub(crate) fn new(kind: u8) -> DigestWriter {
        let mut bytes = SmallVec::new();
        bytes.push(kind);
        DigestWriter { bytes }
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn word(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn digest(&mut self, value: Digest) {
        self.bytes.extend_from_slice(&value.to_bytes());
    }

    pub(crate) fn text(&mut self, value: &[u8]) {
        self.word(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    pub(crate) fn finish(self) -> Digest {
        Digest::of(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_never_changes() {
        // A golden value: caches on disk and pickles of other processes rely on it.
        assert_eq!(Digest::of(b"frazil").to_string(), "8353f5bf35aa893e9339df3f2a282add");
    }

    #[test]
    fn lengths_keep_neighbouring_fields_apart() {
        let write = |fields: [&[u8]; 2]| {
            let mut writer = DigestWriter::new(0);
            writer.text(fields[0]);
            writer.text(fields[1]);
            writer.finish()
        };
        assert_ne!(write([b"ab", b"c"]), write([b"a", b"bc"]));
    }
}
