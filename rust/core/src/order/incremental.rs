//! A topological order that is kept while arcs are added.
//!
//! Law: after every call, each arc leads from an earlier vertex to a later one. An arc that would close a cycle is
//! refused and changes nothing.
//!
//! Adding an arc against the order searches forward from its head and backward from its tail at once, always from the
//! earliest live vertex on one side and the latest on the other, and stops when the two sides have passed each
//! other: the two-way compatible search of Haeupler, Kavitha, Mathew, Sen and Tarjan ("Incremental cycle detection,
//! topological ordering, and strong component maintenance"), O(sqrt(arcs)) amortised for an arc. Only vertices that
//! were searched move. Positions are labels with gaps, so moving one vertex seldom renumbers others
//! (Bender, Cole, Demaine, Farach-Colton and Zito, "Two simplified algorithms for maintaining order in a list").

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Lists of vertices, one for each vertex, that never change.
pub(crate) struct Arcs {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Arcs {
    /// Both directions of the arcs that `each` passes to the function it is given, as (outgoing, incoming).
    pub(crate) fn both(count: usize, each: impl Fn(&mut dyn FnMut(u32, u32))) -> (Arcs, Arcs) {
        let collect = |flip: bool| {
            let mut starts = vec![0u32; count + 1];
            each(&mut |from, to| starts[if flip { to } else { from } as usize + 1] += 1);
            for at in 1..starts.len() {
                starts[at] += starts[at - 1];
            }
            let mut next = starts.clone();
            let mut ends = vec![0; starts[count] as usize];
            each(&mut |from, to| {
                let (at, end) = if flip { (to, from) } else { (from, to) };
                ends[next[at as usize] as usize] = end;
                next[at as usize] += 1;
            });
            Arcs { starts, ends }
        };
        (collect(false), collect(true))
    }

    /// The number of vertices.
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The vertices at the other ends of a vertex's arcs.
    pub(crate) fn of(&self, vertex: u32) -> &[u32] {
        let (start, end) = (self.starts[vertex as usize], self.starts[vertex as usize + 1]);
        &self.ends[start as usize..end as usize]
    }
}

/// The order of vertices 0, 1, 2, ... and the arcs that it honours.
pub(crate) struct IncrementalOrder {
    outgoing: Neighbours,
    incoming: Neighbours,
    places: Labels,
    marks: Vec<Mark>,
    search: u32,
}

/// The arcs given at the start, and the arcs added since.
struct Neighbours {
    fixed: Arcs,
    /// For each vertex, the arc that was added to it last, or `NONE`.
    last: Vec<u32>,
    /// Added arcs: the vertex at the other end, and the arc of the same vertex added before, or `NONE`.
    added: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;

/// The number of arcs of a vertex that were followed.
#[derive(Clone, Copy)]
enum Cursor {
    Fixed(u32),
    Added(u32),
}

impl Neighbours {
    fn new(fixed: Arcs) -> Neighbours {
        let last = vec![NONE; fixed.count()];
        Neighbours { fixed, last, added: Vec::new() }
    }

    fn push(&mut self, vertex: u32, end: u32) {
        let arc = self.added.len() as u32;
        let before = std::mem::replace(&mut self.last[vertex as usize], arc);
        self.added.push((end, before));
    }

    fn pop(&mut self, vertex: u32) {
        let (_, before) = self.added.pop().expect("an arc to take back");
        self.last[vertex as usize] = before;
    }

    /// The arc at a cursor, if there is one, and the cursor of the next.
    fn get(&self, vertex: u32, cursor: Cursor) -> Option<(u32, Cursor)> {
        let arc = match cursor {
            Cursor::Fixed(at) => match self.fixed.of(vertex).get(at as usize) {
                Some(&end) => return Some((end, Cursor::Fixed(at + 1))),
                None => self.last[vertex as usize],
            },
            Cursor::Added(arc) => arc,
        };
        let &(end, before) = self.added.get(arc as usize)?;
        Some((end, Cursor::Added(before)))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Forward,
    Backward,
}

#[derive(Clone, Copy)]
struct Mark {
    search: u32,
    side: Side,
}

/// A vertex met in a search, and the next of its arcs to follow.
struct Met {
    vertex: u32,
    next: Cursor,
}

impl Met {
    fn new(vertex: u32) -> Met {
        Met { vertex, next: Cursor::Fixed(0) }
    }
}

impl IncrementalOrder {
    /// The given order of all vertices, which must honour the given arcs.
    pub(crate) fn new(order: &[u32], outgoing: Arcs, incoming: Arcs) -> IncrementalOrder {
        let count = order.len();
        IncrementalOrder {
            outgoing: Neighbours::new(outgoing),
            incoming: Neighbours::new(incoming),
            places: Labels::new(order),
            marks: vec![Mark { search: 0, side: Side::Forward }; count],
            search: 0,
        }
    }

    /// Adds an arc; false, with nothing changed, if it would close a cycle.
    ///
    /// `leads` may know paths from one vertex to another that exist already; then no search is needed.
    pub(crate) fn add(&mut self, from: u32, to: u32, leads: impl Fn(u32, u32) -> bool) -> bool {
        if from == to || !self.places.precedes(from, to) && !self.reorder(from, to, leads) {
            return false;
        }
        self.outgoing.push(from, to);
        self.incoming.push(to, from);
        true
    }

    /// Takes back the arc that was added last.
    pub(crate) fn take_back(&mut self, from: u32, to: u32) {
        self.outgoing.pop(from);
        self.incoming.pop(to);
    }

    fn mark(&mut self, vertex: u32, side: Side) -> Option<Side> {
        let mark = &mut self.marks[vertex as usize];
        if mark.search == self.search {
            return Some(mark.side);
        }
        *mark = Mark { search: self.search, side };
        None
    }

    /// Changes the order so that `tail`, now later, precedes `head`; false if `head` leads to `tail`.
    // One function, since the two searches take turns and each ends where the other has been.
    fn reorder(&mut self, tail: u32, head: u32, leads: impl Fn(u32, u32) -> bool) -> bool {
        if leads(head, tail) {
            return false;
        }
        self.search = self.search.checked_add(1).unwrap_or_else(|| {
            self.marks.fill(Mark { search: 0, side: Side::Forward });
            1
        });
        let mut forward = vec![Met::new(head)];
        let mut backward = vec![Met::new(tail)];
        // Live vertices: those with arcs that were not followed yet.
        let mut earliest = BinaryHeap::new();
        let mut latest = BinaryHeap::new();
        self.mark(head, Side::Forward);
        self.mark(tail, Side::Backward);
        if self.outgoing.get(head, Cursor::Fixed(0)).is_some() {
            earliest.push(Reverse((self.places.label(head), 0)));
        }
        if self.incoming.get(tail, Cursor::Fixed(0)).is_some() {
            latest.push((self.places.label(tail), 0));
        }
        let (first, last) = (self.places.label(head), self.places.label(tail));
        while let (Some(&Reverse((u, from_head))), Some(&(z, to_tail))) =
            (earliest.peek(), latest.peek())
        {
            if u >= z {
                break;
            }
            let met: &mut Met = &mut forward[from_head];
            let (next, cursor) = self.outgoing.get(met.vertex, met.next).expect("a live vertex");
            met.next = cursor;
            if self.outgoing.get(met.vertex, cursor).is_none() {
                earliest.pop();
            }
            // Vertices outside of the two labels are on no path from head to tail.
            let label = self.places.label(next);
            if label <= last {
                match self.mark(next, Side::Forward) {
                    Some(Side::Backward) => return false,
                    Some(Side::Forward) => {}
                    None if leads(next, tail) => return false,
                    None => {
                        if self.outgoing.get(next, Cursor::Fixed(0)).is_some() {
                            earliest.push(Reverse((label, forward.len())));
                        }
                        forward.push(Met::new(next));
                    }
                }
            }
            let met: &mut Met = &mut backward[to_tail];
            let (next, cursor) = self.incoming.get(met.vertex, met.next).expect("a live vertex");
            met.next = cursor;
            if self.incoming.get(met.vertex, cursor).is_none() {
                latest.pop();
            }
            let label = self.places.label(next);
            if label >= first {
                match self.mark(next, Side::Backward) {
                    Some(Side::Forward) => return false,
                    Some(Side::Backward) => {}
                    None if leads(head, next) => return false,
                    None => {
                        if self.incoming.get(next, Cursor::Fixed(0)).is_some() {
                            latest.push((label, backward.len()));
                        }
                        backward.push(Met::new(next));
                    }
                }
            }
        }
        let live = earliest.peek().map(|&Reverse((label, at))| (label, forward[at].vertex));
        let pivot = live.filter(|&(label, _)| label < last).unwrap_or((last, tail));
        self.rearrange(tail, &forward, &backward, pivot);
        true
    }

    /// Moves the vertices that were met: those that the head leads to go behind the tail, or all go before `pivot`, the
    /// first vertex that was not followed to its end.
    fn rearrange(&mut self, tail: u32, forward: &[Met], backward: &[Met], pivot: (u64, u32)) {
        let (limit, pivot) = pivot;
        let mut moving = self.sorted(forward, |label| label < limit);
        if pivot == tail {
            // All go after the tail.
            let mut after = tail;
            for vertex in moving {
                self.places.move_after(vertex, after);
                after = vertex;
            }
            return;
        }
        // The vertices that lead to the tail, then those that the head leads to, then the pivot.
        let mut order = self.sorted(backward, |label| label > limit);
        order.append(&mut moving);
        let mut before = pivot;
        for vertex in order.into_iter().rev() {
            self.places.move_before(vertex, before);
            before = vertex;
        }
    }

    /// The met vertices whose labels pass, in their present order.
    fn sorted(&self, met: &[Met], passes: impl Fn(u64) -> bool) -> Vec<u32> {
        let mut labelled: Vec<(u64, u32)> = met
            .iter()
            .map(|met| (self.places.label(met.vertex), met.vertex))
            .filter(|&(label, _)| passes(label))
            .collect();
        labelled.sort_unstable();
        labelled.into_iter().map(|(_, vertex)| vertex).collect()
    }
}

/// A linked list of vertices with labels that grow along it.
///
/// Vertex `v` is entry `v + 1`; entry 0 is both ends, so that every vertex has two neighbours.
struct Labels {
    labels: Vec<u64>,
    next: Vec<u32>,
    previous: Vec<u32>,
}

/// Labels lie strictly between 0 and this.
const SPACE: u64 = 1 << 62;
const ENDS: u32 = 0;

impl Labels {
    fn new(order: &[u32]) -> Labels {
        let entries = order.len() + 1;
        let gap = SPACE / entries as u64;
        let mut list =
            Labels { labels: vec![0; entries], next: vec![0; entries], previous: vec![0; entries] };
        let mut last = ENDS;
        for (at, &vertex) in order.iter().enumerate() {
            let entry = vertex + 1;
            list.labels[entry as usize] = (at as u64 + 1) * gap;
            list.next[last as usize] = entry;
            list.previous[entry as usize] = last;
            last = entry;
        }
        list.next[last as usize] = ENDS;
        list.previous[ENDS as usize] = last;
        list
    }

    fn label(&self, vertex: u32) -> u64 {
        self.labels[vertex as usize + 1]
    }

    fn precedes(&self, one: u32, other: u32) -> bool {
        self.label(one) < self.label(other)
    }

    fn move_after(&mut self, vertex: u32, place: u32) {
        self.unlink(vertex + 1);
        self.link_after(vertex + 1, place + 1);
    }

    fn move_before(&mut self, vertex: u32, place: u32) {
        self.unlink(vertex + 1);
        self.link_after(vertex + 1, self.previous[place as usize + 1]);
    }

    fn unlink(&mut self, entry: u32) {
        let (previous, next) = (self.previous[entry as usize], self.next[entry as usize]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
    }

    fn link_after(&mut self, entry: u32, place: u32) {
        if self.label_after(place) - self.labels[place as usize] < 2 {
            self.make_room(place);
        }
        let (low, high) = (self.labels[place as usize], self.label_after(place));
        let next = self.next[place as usize];
        self.labels[entry as usize] = low + (high - low) / 2;
        self.next[place as usize] = entry;
        self.previous[entry as usize] = place;
        self.next[entry as usize] = next;
        self.previous[next as usize] = entry;
    }

    fn label_after(&self, entry: u32) -> u64 {
        match self.next[entry as usize] {
            ENDS => SPACE,
            next => self.labels[next as usize],
        }
    }

    /// Spreads the labels around an entry: over the smallest aligned range that is not crowded.
    fn make_room(&mut self, around: u32) {
        // A range of 2^k labels is crowded if it holds more than 1.4^k entries.
        let mut capacity = 1.0f64;
        let (mut first, mut last, mut count) = (around, around, 1u64);
        for width in 1..=62 {
            capacity *= 1.4;
            let start = self.labels[around as usize] >> width << width;
            let end = start + (1 << width);
            loop {
                let previous = self.previous[first as usize];
                if first == ENDS || self.labels[previous as usize] < start {
                    break;
                }
                first = previous;
                count += 1;
            }
            while self.label_after(last) < end && self.next[last as usize] != ENDS {
                last = self.next[last as usize];
                count += 1;
            }
            let room = (1u64 << width) / (count + 1);
            if count as f64 <= capacity && room >= 2 {
                // Entry 0 keeps its label 0, so a range that holds it starts there.
                let mut entry = first;
                for at in 0..count {
                    self.labels[entry as usize] = start + room * at;
                    entry = self.next[entry as usize];
                }
                return;
            }
        }
        unreachable!("fewer entries than labels");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reaches(arcs: &[(u32, u32)], from: u32, to: u32) -> bool {
        let mut seen = vec![from];
        let mut at = 0;
        while at < seen.len() {
            let vertex = seen[at];
            at += 1;
            for &(tail, head) in arcs {
                if tail == vertex && !seen.contains(&head) {
                    seen.push(head);
                }
            }
        }
        seen.contains(&to)
    }

    fn check(order: &IncrementalOrder, arcs: &[(u32, u32)]) {
        assert!(arcs.iter().all(|&(tail, head)| order.places.precedes(tail, head)));
        let mut entry = ENDS;
        for _ in 0..order.places.next.len() - 1 {
            let next = order.places.next[entry as usize];
            assert_eq!(order.places.previous[next as usize], entry);
            assert!(order.places.labels[entry as usize] < order.places.labels[next as usize]);
            entry = next;
        }
        assert_eq!(order.places.next[entry as usize], ENDS);
    }

    proptest! {
        #[test]
        fn an_arc_is_refused_exactly_if_it_closes_a_cycle(
            count in 1u32..12,
            fixed in prop::collection::vec((any::<u32>(), any::<u32>()), 0..12),
            added in prop::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 0..60),
            informed in any::<bool>(),
        ) {
            let mut arcs: Vec<(u32, u32)> = fixed
                .iter()
                .map(|&(a, b)| ((a % count).min(b % count), (a % count).max(b % count)))
                .filter(|(a, b)| a != b)
                .collect();
            let given = arcs.clone();
            let (outgoing, incoming) = Arcs::both(count as usize, |each| {
                given.iter().for_each(|&(tail, head)| each(tail, head));
            });
            let start: Vec<u32> = (0..count).collect();
            let mut order = IncrementalOrder::new(&start, outgoing, incoming);
            for (tail, head, keep) in added {
                let (tail, head) = (tail % count, head % count);
                let possible = !reaches(&arcs, head, tail);
                let leads = |from, to| informed && reaches(&arcs, from, to);
                prop_assert_eq!(order.add(tail, head, leads), possible);
                if possible && keep {
                    arcs.push((tail, head));
                } else if possible {
                    order.take_back(tail, head);
                }
                check(&order, &arcs);
            }
        }
    }

    #[test]
    fn moving_to_one_place_forever_finds_room() {
        const COUNT: u32 = 3000;
        let (outgoing, incoming) = Arcs::both(COUNT as usize, |_| {});
        let start: Vec<u32> = (0..COUNT).collect();
        let mut order = IncrementalOrder::new(&start, outgoing, incoming);
        for round in 0..4 {
            for vertex in 2..COUNT {
                match round % 2 {
                    0 => order.places.move_after(vertex, 0),
                    _ => order.places.move_before(vertex, 1),
                }
            }
            check(&order, &[]);
        }
    }
}
