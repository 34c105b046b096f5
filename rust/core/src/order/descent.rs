//! Quick proofs that one vertex leads to another.
//!
//! Every vertex keeps one of its arcs, and the kept arcs make a forest. The vertices below any vertex have numbers that
//! make an interval, so one comparison tells whether a vertex is above another. If it is, a path leads from one to the
//! other. If it is not, nothing follows, since the forest leaves arcs out.

/// A forest, and the interval below each of its vertices.
pub(crate) struct Descent {
    numbers: Vec<u32>,
    ends: Vec<u32>,
    vertices: Vec<u32>,
}

impl Descent {
    /// The forest in which each vertex hangs below its parent, which comes before it in the order of all vertices.
    pub(crate) fn new(order: &[u32], parent: impl Fn(u32) -> Option<u32>) -> Descent {
        let count = order.len();
        // First the sizes of the trees below each vertex, then where each tree ends.
        let mut ends = vec![1u32; count];
        for &vertex in order.iter().rev() {
            if let Some(parent) = parent(vertex) {
                ends[parent as usize] += ends[vertex as usize];
            }
        }
        let (mut numbers, mut vertices) = (vec![0; count], vec![0; count]);
        // The next number that is free below each vertex, and above all.
        let mut free = vec![0u32; count];
        let mut above = 0;
        for &vertex in order {
            let size = ends[vertex as usize];
            let place = match parent(vertex) {
                Some(parent) => &mut free[parent as usize],
                None => &mut above,
            };
            let number = *place;
            *place += size;
            numbers[vertex as usize] = number;
            vertices[number as usize] = vertex;
            free[vertex as usize] = number + 1;
            ends[vertex as usize] = number + size;
        }
        Descent { numbers, ends, vertices }
    }

    /// Whether one vertex is above another.
    pub(crate) fn above(&self, one: u32, other: u32) -> bool {
        let number = self.numbers[other as usize];
        self.numbers[one as usize] < number && number < self.ends[one as usize]
    }

    /// Groups of vertices, in which members below a vertex are found quickly.
    pub(crate) fn groups<G>(&self, groups: impl Iterator<Item = G>) -> Groups
    where
        G: Iterator<Item = u32>,
    {
        let mut made = Groups { starts: vec![0], members: Vec::new() };
        for group in groups {
            let first = made.members.len();
            made.members.extend(group.map(|vertex| self.numbers[vertex as usize]));
            made.members[first..].sort_unstable();
            made.starts.push(made.members.len() as u32);
        }
        made
    }

    /// A member of a group that is below a vertex.
    pub(crate) fn below(&self, vertex: u32, groups: &Groups, group: usize) -> Option<u32> {
        let (start, end) = (groups.starts[group], groups.starts[group + 1]);
        let members = &groups.members[start as usize..end as usize];
        let at = members.partition_point(|&member| member <= self.numbers[vertex as usize]);
        let member = *members.get(at)?;
        (member < self.ends[vertex as usize]).then(|| self.vertices[member as usize])
    }
}

/// The members of each group as numbers of a forest, ascending within a group.
pub(crate) struct Groups {
    starts: Vec<u32>,
    members: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_interval_of_a_vertex_is_what_hangs_below_it(
            parents in prop::collection::vec(prop::option::of(any::<u32>()), 1..30),
        ) {
            // Each vertex hangs below an earlier one, or is a root.
            let parent = |vertex: u32| {
                parents[vertex as usize].filter(|_| vertex > 0).map(|parent| parent % vertex.max(1))
            };
            let order: Vec<u32> = (0..parents.len() as u32).collect();
            let descent = Descent::new(&order, parent);
            let groups = descent.groups(order.iter().map(|&vertex| [vertex, 0].into_iter()));
            for &one in &order {
                for &other in &order {
                    let mut line = std::iter::successors(parent(other), |&at| parent(at));
                    let above = line.any(|at| at == one);
                    prop_assert_eq!(descent.above(one, other), above);
                    let found = descent.below(one, &groups, other as usize);
                    prop_assert_eq!(found, above.then_some(other));
                }
            }
        }
    }
}
