//! The in-place planner, against all orders tried in a model of memory.

mod memory;

use std::collections::HashMap;

use frazil_core::node::alias::view_sources;
use frazil_core::node::traverse::toposort;
use frazil_core::order::destroy::Conflict;
use frazil_core::order::plan::{Buffer, Candidate, Reason, Release, Request, Schedule, plan};
use frazil_core::{Body, Container, Node, Op, Var};
use memory::*;
use proptest::prelude::*;

struct Case {
    graph: Graph,
    donated: Vec<Var>,
    candidates: Vec<Candidate>,
}

fn case(container: &Container, ops: &[(Op, usize, usize)], recipe: &Recipe) -> Case {
    let mut graph = build(container, ops, recipe);
    let nodes: Vec<Node> = toposort(&graph.outputs, &[]).into_iter().cloned().collect();
    // What the graph does not compute has no value to keep.
    graph.protected.retain(|var| var.node().inputs().is_empty() || nodes.contains(var.node()));
    let inputs = graph.leaves.iter().filter(|leaf| leaf.constant().is_none());
    let donated = inputs.zip(&recipe.donated).filter(|(_, given)| **given);
    let donated = donated.map(|(input, _)| input.clone()).collect();
    let pick = |&(node, output, input): &(usize, usize, usize)| {
        let node = nodes.get(node % nodes.len().max(1))?.clone();
        let (output, input) = (output % node.outputs().len(), input % node.inputs().len());
        Some(Candidate { node, output, input })
    };
    let candidates = recipe.candidates.iter().filter_map(pick).collect();
    Case { graph, donated, candidates }
}

fn request(case: &Case) -> Request<'_> {
    let Graph { outputs, protected, .. } = &case.graph;
    Request { outputs, protected, donated: &case.donated, ..Request::default() }
}

fn writes<'c>(accepted: impl IntoIterator<Item = &'c Candidate>) -> Writes {
    let mut writes = Writes::new();
    for Candidate { node, output, input } in accepted {
        writes.entry(node.address()).or_default().push((*output, *input));
    }
    writes
}

fn memory<'m>(case: &Case, writes: &'m Writes) -> Memory<'m> {
    Memory::new(&case.graph.leaves, |leaf| case.donated.contains(leaf), writes)
}

/// No order runs with these accepted candidates and one more.
fn fits(case: &Case, schedule: &Schedule, more: Option<&Candidate>) -> bool {
    let writes = writes(schedule.reuses().iter().chain(more));
    let Graph { outputs, protected, .. } = &case.graph;
    some_order_runs(&memory(case, &writes), &Rules { outputs, protected })
}

fn check_refusals(case: &Case, schedule: &Schedule) {
    for refusal in schedule.refusals() {
        let Candidate { node, output, input } = &refusal.candidate;
        let var = node.outputs().nth(*output).unwrap();
        assert!(!refusal.to_string().is_empty());
        match &refusal.reason {
            Reason::Conflict(witness) => {
                assert!(witness.destroyer == *node && witness.input == *input);
                let path = witness.path();
                assert!(path.first[0] == node.inputs()[*input]);
                assert!(!fits(case, schedule, Some(&refusal.candidate)), "{refusal}");
            }
            Reason::Distinct => {
                assert!(matches!(node.body(), Body::Apply { distinct: Some(_), .. }));
            }
            Reason::View { input } => {
                assert!(view_sources(&var).contains(&&node.inputs()[*input]));
            }
            Reason::Placed { input } => {
                let Body::Apply { op, .. } = node.body() else { panic!("not a step") };
                let taken = Candidate { node: node.clone(), output: *output, input: *input };
                let mapped = |(at, over): &(u32, Vec<u32>)| {
                    *at as usize == *output && over.contains(&(*input as u32))
                };
                assert!(
                    schedule.reuses().contains(&taken)
                        || op.key().props.destroy_map.iter().any(mapped)
                );
            }
        }
    }
}

/// Replays the schedule and checks that every buffer is given back once, as soon as nothing needs it.
fn check_buffers(case: &Case, schedule: &Schedule) {
    let writes = writes(schedule.reuses());
    let mut memory = memory(case, &writes);
    let mut last: HashMap<usize, usize> = HashMap::new();
    for (position, node) in schedule.order().iter().enumerate() {
        assert!(memory.run(node));
        for var in node.inputs().iter().cloned().chain(node.outputs()) {
            for &(cell, _) in memory.cells(&var) {
                last.insert(cell, position);
            }
        }
    }
    let kept = case.graph.outputs.iter().chain(&case.graph.protected);
    let kept: Vec<usize> = kept
        .filter(|var| memory.knows(var))
        .flat_map(|var| memory.cells(var).iter().map(|&(cell, _)| cell))
        .collect();
    let mut released = Vec::new();
    for Buffer { first, release } in schedule.buffers() {
        let &(cell, _) = memory.cells(first).iter().next().unwrap();
        assert_eq!(memory.cells(first).len(), 1);
        assert!(!released.contains(&cell));
        released.push(cell);
        let callers = first.node().inputs().is_empty() && !case.donated.contains(first);
        let expected = match last.get(&cell) {
            _ if callers || kept.contains(&cell) => Release::Kept,
            None => Release::Unread,
            Some(&position) => Release::After(position),
        };
        assert_eq!(*release, expected, "{first:?}");
    }
    assert!(last.keys().all(|cell| released.contains(cell)));
    assert!(
        case.donated
            .iter()
            .all(|var| { memory.cells(var).iter().all(|(cell, _)| released.contains(cell)) })
    );
    let given_back: usize = schedule.releases().iter().map(Vec::len).sum();
    let after = |buffer: &&Buffer| matches!(buffer.release, Release::After(_));
    assert_eq!(given_back, schedule.buffers().iter().filter(after).count());
}

fn check(case: &Case) -> Option<Schedule> {
    let Ok(schedule) = plan(request(case), &case.candidates) else {
        let none = Writes::new();
        let Graph { outputs, protected, .. } = &case.graph;
        assert!(!some_order_runs(&memory(case, &none), &Rules { outputs, protected }));
        return None;
    };
    let Graph { outputs, protected, .. } = &case.graph;
    let taken = writes(schedule.reuses());
    let rules = Rules { outputs, protected };
    assert!(runs(schedule.order(), memory(case, &taken), &rules));
    assert_eq!(schedule.order().len(), toposort(outputs, &[]).len());
    assert_eq!(schedule.reuses().len() + schedule.refusals().len(), case.candidates.len());
    check_refusals(case, &schedule);
    check_buffers(case, &schedule);
    Some(schedule)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn plans_of_pure_graphs_run_and_are_maximal(recipe in recipe(9)) {
        let container = Container::new();
        prop_assert!(check(&case(&container, &pure_ops(), &recipe)).is_some());
    }

    #[test]
    fn plans_respect_the_destroyers_of_a_graph(recipe in recipe(9)) {
        let container = Container::new();
        check(&case(&container, &ops(), &recipe));
    }

    #[test]
    fn a_plan_follows_from_the_graph_alone(recipe in recipe(12), noise in 0usize..50) {
        let plan = |noise: usize| {
            let container = Container::new();
            let _kept = memory::noise(&container, noise);
            let case = case(&container, &pure_ops(), &recipe);
            let schedule = plan(request(&case), &case.candidates).unwrap();
            let at: HashMap<usize, usize> =
                case.graph.vars.iter().enumerate().map(|(at, var)| (var.node().address(), at)).collect();
            let place = |node: &Node| at[&node.address()];
            let order: Vec<usize> = schedule.order().iter().map(place).collect();
            let candidate = |it: &Candidate| (place(&it.node), it.output, it.input);
            let reuses: Vec<_> = schedule.reuses().iter().map(candidate).collect();
            let texts: Vec<String> = schedule.refusals().iter().map(|it| it.to_string()).collect();
            (order, reuses, texts)
        };
        prop_assert_eq!(plan(0), plan(noise));
    }
}

fn over(var: &Var, input: usize) -> Candidate {
    Candidate { node: var.node().clone(), output: var.index(), input }
}

fn why(request: Request<'_>, candidates: &[Candidate]) -> Vec<String> {
    let schedule = plan(request, candidates).unwrap();
    schedule.refusals().iter().map(|refusal| refusal.to_string()).collect()
}

#[test]
fn a_chain_lives_in_one_buffer() {
    let container = Container::new();
    let x = input(&container, "x");
    let mut chain = vec![x.clone()];
    for _ in 0..5 {
        chain.push(one(&container, add_same(), &[chain.last().unwrap(); 2]));
    }
    let candidates: Vec<Candidate> = chain[1..].iter().map(|var| over(var, 0)).collect();
    let outputs = [chain[5].clone()];
    let request = Request { outputs: &outputs, ..Request::default() };
    let schedule = plan(request, &candidates).unwrap();
    assert_eq!(schedule.reuses(), &candidates[1..]);
    assert_eq!(
        schedule.refusals()[0].to_string(),
        "add_same cannot write over its input 0, x: x belongs to the caller; donate that input, or leave \
         add_same a copy"
    );
    let kept = |first: &Var| Buffer { first: first.clone(), release: Release::Kept };
    assert_eq!(schedule.buffers(), [kept(&x), kept(&chain[1])]);
    let donated = [x.clone()];
    let schedule = plan(Request { donated: &donated, ..request }, &candidates).unwrap();
    assert!(schedule.refusals().is_empty());
    assert_eq!(schedule.buffers(), [kept(&x)]);
}

#[test]
fn updates_of_two_distinct_buffers_are_done_in_place() {
    let container = Container::new();
    let (x, y) = (input(&container, "x"), input(&container, "y"));
    let buffers = [one(&container, fresh(), &[&x]), one(&container, fresh(), &[&x])];
    let updates = [&buffers[0], &buffers[1]].map(|buffer| one(&container, add(), &[buffer, &y]));
    let request = Request { outputs: &updates, ..Request::default() };
    let schedule = plan(request, &updates.clone().map(|var| over(&var, 0))).unwrap();
    assert_eq!(schedule.reuses().len(), 2);
    // The buffers themselves are written over nothing, not even over what was donated.
    let donated = [x.clone()];
    assert_eq!(
        why(Request { donated: &donated, ..request }, &[over(&buffers[0], 0)]),
        ["fresh is distinct: it is a buffer of its own, written over nothing"]
    );
}

#[test]
fn the_first_of_two_candidates_wins() {
    let container = Container::new();
    let x = input(&container, "x");
    let start = one(&container, add(), &[&x, &x]);
    let (left, right) =
        (one(&container, add(), &[&start, &x]), one(&container, add(), &[&x, &start]));
    let outputs = [left.clone(), right.clone()];
    let request = Request { outputs: &outputs, ..Request::default() };
    for (candidates, last) in
        [([over(&left, 0), over(&right, 1)], &left), ([over(&right, 1), over(&left, 0)], &right)]
    {
        let schedule = plan(request, &candidates).unwrap();
        assert_eq!(schedule.reuses(), &candidates[..1]);
        assert!(schedule.order().last() == Some(last.node()));
        let Reason::Conflict(witness) = &schedule.refusals()[0].reason else {
            panic!("no conflict")
        };
        assert!(matches!(&witness.conflict, Conflict::Destroyed { by, .. } if by == last.node()));
    }
}

#[test]
fn a_value_that_is_needed_later_is_not_written_over() {
    let container = Container::new();
    let x = input(&container, "x");
    let start = one(&container, add(), &[&x, &x]);
    let middle = one(&container, add(), &[&start, &x]);
    let skip = one(&container, add(), &[&middle, &one(&container, view(), &[&start])]);
    let outputs = [skip];
    assert_eq!(
        why(Request { outputs: &outputs, ..Request::default() }, &[over(&middle, 0)]),
        [
            "add cannot write over its input 0, add.out: add reads view.out, a view of add.out, and cannot run \
          before add; give one of them a copy"
        ]
    );
}

#[test]
fn donated_inputs_that_nothing_reads_are_given_back_at_once() {
    let container = Container::new();
    let (x, y) = (input(&container, "x"), input(&container, "y"));
    let outputs = [one(&container, add(), &[&x, &x])];
    let donated = [y.clone(), x.clone(), y.clone()];
    let schedule =
        plan(Request { outputs: &outputs, donated: &donated, ..Request::default() }, &[]).unwrap();
    let buffer = |first: &Var, release| Buffer { first: first.clone(), release };
    assert_eq!(
        schedule.buffers(),
        [
            buffer(&y, Release::Unread),
            buffer(&x, Release::After(0)),
            buffer(&outputs[0], Release::Kept)
        ]
    );
    assert_eq!(schedule.releases(), [[&schedule.buffers()[1]]]);
}

#[test]
fn a_protected_view_protects_what_it_views() {
    let container = Container::new();
    let x = input(&container, "x");
    // Not computed by the graph, yet it may see x.
    let seen = [one(&container, view(), &[&x])];
    let outputs = [one(&container, add_same(), &[&x, &x])];
    let request = Request { outputs: &outputs, donated: &[x], ..Request::default() };
    let candidates = [over(&outputs[0], 0)];
    assert!(why(request, &candidates).is_empty());
    assert_eq!(
        why(Request { protected: &seen, ..request }, &candidates),
        [
            "add_same cannot write over its input 0, x: view.out, a view of x, is protected; give add_same a copy"
        ]
    );
}

#[test]
fn nonsense_is_refused() {
    let container = Container::new();
    let x = input(&container, "x");
    let inner = one(&container, add(), &[&x, &x]);
    let outputs = [one(&container, add(), &[&inner, &x])];
    let request = Request { outputs: &outputs, ..Request::default() };
    let elsewhere = one(&container, add_same(), &[&x, &x]);
    let error = |request, candidate| plan(request, &[candidate]).unwrap_err().to_string();
    assert_eq!(
        error(request, over(&elsewhere, 0)),
        "the candidate add_same([x, x]) is not a node of the graph that is planned"
    );
    // Nodes of another container may have the same numbers as those of this one.
    let elsewhere = Container::new();
    let x = input(&elsewhere, "x");
    let twin = one(&elsewhere, add(), &[&one(&elsewhere, add(), &[&x, &x]), &x]);
    assert!(error(request, over(&twin, 0)).ends_with("is not a node of the graph that is planned"));
    assert_eq!(
        error(request, over(&outputs[0], 2)),
        "the candidate add([add.out, x]) has 1 outputs and 2 inputs, so output 0 cannot be written over input 2; \
         positions count from 0"
    );
    let donated = [inner];
    assert_eq!(
        error(Request { donated: &donated, ..request }, over(&outputs[0], 0)),
        "add.out cannot be donated: only inputs of the graph can, and a constant is nobody's to give"
    );
}

/// The steps forward of a deep graph, and its gradient's steps back, which read them in reverse.
#[test]
fn a_deep_graph_is_planned_without_recursion() {
    let container = Container::new();
    let x = input(&container, "x");
    let mut forward = vec![one(&container, add(), &[&x, &x])];
    for at in 0..20_000 {
        forward.push(one(&container, add(), &[&forward[at], &x]));
    }
    let mut back = forward[20_000].clone();
    let mut candidates: Vec<Candidate> = forward[1..].iter().map(|var| over(var, 0)).collect();
    for var in forward.iter().rev().skip(1) {
        back = one(&container, add(), &[&back, var]);
        candidates.extend([over(&back, 0), over(&back, 1)]);
    }
    let outputs = [back];
    let request = Request { outputs: &outputs, ..Request::default() };
    let schedule = plan(request, &candidates).unwrap();
    // Going back, each step writes over what the step before it made.
    assert_eq!(schedule.reuses().len(), 20_000);
}

#[test]
fn a_refused_candidate_leaves_no_trace() {
    let container = Container::new();
    let (x, y) = (input(&container, "x"), input(&container, "y"));
    let of = |left: &Var, right: &Var| one(&container, add(), &[left, right]);
    let (over_first, over_last) = (of(&x, &x), of(&y, &y));
    let (shared, late) = (of(&x, &y), of(&y, &x));
    let refused = of(&over_last, &over_first);
    let between = of(&refused, &shared);
    let first = of(&shared, &x);
    let last = of(&over_first, &x);
    // `first` waits for `between`, which needs `refused`; so `refused` cannot wait for what needs `first`.
    let outputs = [of(&over_last, &first), of(&over_last, &of(&last, &late)), between];
    let candidates = [over(&first, 0), over(&refused, 0), over(&last, 0)];
    let request = Request { outputs: &outputs, ..Request::default() };
    let schedule = plan(request, &candidates).unwrap();
    // Had `refused` been left waiting for the second output, `last` could not wait for `refused`.
    assert_eq!(schedule.reuses(), [candidates[0].clone(), candidates[2].clone()]);
}
