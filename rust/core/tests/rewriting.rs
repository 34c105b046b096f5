//! What sweeps make of graphs, beside a plain slow model.

mod laws;

use std::sync::{Arc, Barrier};

use frazil_core::order::destroy::orderings;
use frazil_core::rewrite::pattern::Unknown;
use frazil_core::rewrite::ruleset::{Rights, Rule, RuleSet};
use frazil_core::rewrite::sweep::{Binding, Progress, Reply, Sweep, rewrite};
use frazil_core::value::literal::Literal;
use frazil_core::{Body, Container, DType, Error, OpProps, Param, Ty, Var, WeakScalar};
use laws::{
    add, apply, general, input, law, many, mul, neg, node, number, one, open, plain, scalar, sub,
    vector,
};
use proptest::prelude::*;

/// The rules of the slow model below, compiled.
fn simplifications() -> Vec<Arc<Rule>> {
    let (x, y) = (scalar("x"), scalar("y"));
    let (zero, unit) = (number(0.0), number(1.0));
    vec![
        law("add_zero", &apply(add(), &[&x, &zero]), &x, &[open(&x)]),
        law("mul_one", &apply(mul(), &[&x, &unit]), &x, &[open(&x)]),
        law("neg_neg", &apply(neg(), &[&apply(neg(), &[&x])]), &x, &[open(&x)]),
        law("sub_self", &apply(sub(), &[&x, &x]), &apply(mul(), &[&x, &zero]), &[open(&x)]),
        law(
            "add_neg",
            &apply(add(), &[&x, &apply(neg(), &[&y])]),
            &apply(sub(), &[&x, &y]),
            &[open(&x), open(&y)],
        ),
        law(
            "sub_neg",
            &apply(sub(), &[&x, &apply(neg(), &[&y])]),
            &apply(add(), &[&x, &y]),
            &[open(&x), open(&y)],
        ),
    ]
}

/// What the rules above make of a variable, by recursion and without remembering anything.
fn slow_model(var: &Var) -> Var {
    let Body::Apply { op, inputs, .. } = var.node().body() else { return var.clone() };
    let inputs: Vec<Var> = inputs.iter().map(slow_model).collect();
    let is = |var: &Var, value: f64| {
        var.constant()
            .is_some_and(|data| Literal::of(number(value).constant().unwrap()).matches(data))
    };
    let negated = |var: &Var| match var.node().body() {
        Body::Apply { op, inputs, .. } if *op == neg() => Some(inputs[0].clone()),
        _ => None,
    };
    let fits = |new: &Var| var.ty().accepts(new.ty());
    let operand = |at: usize| inputs[at].clone();
    if *op == add() {
        for (a, b) in [(0, 1), (1, 0)] {
            if is(&inputs[b], 0.0) && fits(&inputs[a]) {
                return operand(a);
            }
        }
        for (a, b) in [(0, 1), (1, 0)] {
            if let Some(y) = negated(&inputs[b]) {
                return slow_model(&apply(sub(), &[&inputs[a], &y]));
            }
        }
    } else if *op == mul() {
        for (a, b) in [(0, 1), (1, 0)] {
            if is(&inputs[b], 1.0) && fits(&inputs[a]) {
                return operand(a);
            }
        }
    } else if *op == neg() {
        if let Some(x) = negated(&inputs[0]) {
            return x;
        }
    } else if *op == sub() {
        if inputs[0] == inputs[1] {
            return slow_model(&apply(mul(), &[&inputs[0], &number(0.0)]));
        }
        if let Some(y) = negated(&inputs[1]) {
            return slow_model(&apply(add(), &[&inputs[0], &y]));
        }
    }
    let inputs: Vec<&Var> = inputs.iter().collect();
    apply(op.clone(), &inputs)
}

proptest! {
    #[test]
    fn a_sweep_agrees_with_the_slow_model(
        recipe in prop::collection::vec((0..4usize, any::<usize>(), any::<usize>()), 1..24),
    ) {
        let mut made = vec![input("a"), input("b"), number(0.0), number(1.0), number(-0.0)];
        for (which, left, right) in recipe {
            let (left, right) = (left % made.len(), right % made.len());
            let var = match which {
                0 => apply(add(), &[&made[left], &made[right]]),
                1 => apply(sub(), &[&made[left], &made[right]]),
                2 => apply(mul(), &[&made[left], &made[right]]),
                _ => apply(neg(), &[&made[left]]),
            };
            made.push(var);
        }
        let outputs = &made[5..];
        let rules = RuleSet::new(simplifications());
        let fast = rewrite(&rules, outputs).unwrap();
        let slow: Vec<Var> = outputs.iter().map(slow_model).collect();
        prop_assert_eq!(&fast, &slow);
        prop_assert_eq!(&rewrite(&rules, outputs).unwrap(), &slow);
        prop_assert_eq!(&rewrite(&rules, &fast).unwrap(), &slow);
        let mut traced = Sweep::traced(&rules, outputs);
        let Progress::Done(again) = traced.advance().unwrap() else { panic!("no foreign rules") };
        prop_assert_eq!(&again, &slow);
        for step in traced.trace() {
            prop_assert!(step.before != step.after);
        }
    }

    #[test]
    fn a_set_that_extends_another_rewrites_as_all_rules_do(
        recipe in prop::collection::vec((0..4usize, any::<usize>(), any::<usize>()), 1..24),
        split in 0..=6usize,
        first in any::<bool>(),
    ) {
        let mut made = vec![input("a"), input("b"), number(0.0), number(1.0), number(-0.0)];
        for (which, left, right) in recipe {
            let (left, right) = (left % made.len(), right % made.len());
            let var = match which {
                0 => apply(add(), &[&made[left], &made[right]]),
                1 => apply(sub(), &[&made[left], &made[right]]),
                2 => apply(mul(), &[&made[left], &made[right]]),
                _ => apply(neg(), &[&made[left]]),
            };
            made.push(var);
        }
        let rules = simplifications();
        let base = RuleSet::new(rules[..split].to_vec());
        let extended = RuleSet::extending(&base, rules[split..].to_vec());
        let names = |set: &RuleSet| -> Vec<String> {
            set.rules().iter().map(|rule| rule.name.to_string()).collect()
        };
        prop_assert_eq!(names(&extended), names(&RuleSet::new(rules)));
        let outputs = if first { rewrite(&base, &made).unwrap() } else { made };
        let slow: Vec<Var> = outputs.iter().map(slow_model).collect();
        prop_assert_eq!(rewrite(&extended, &outputs).unwrap(), slow);
    }

    #[test]
    fn what_can_run_can_run_after_rewriting(
        recipe in prop::collection::vec((0..8usize, any::<usize>(), any::<usize>()), 1..20),
    ) {
        let props = |distinct, views, destroys| OpProps {
            pure: true,
            distinct,
            view_map: if views { vec![(0, vec![0])] } else { vec![] },
            destroy_map: if destroys { vec![(0, vec![0])] } else { vec![] },
            ..OpProps::default()
        };
        let fresh = plain("some_fresh", Param::None, props(true, false, false));
        let view = plain("some_view", Param::None, props(false, true, false));
        let overwrite = plain("some_overwrite", Param::None, props(false, false, true));
        let mut made = vec![input("a"), number(0.0), number(1.0)];
        let mut outputs: Vec<Var> = Vec::new();
        for (which, left, right) in recipe {
            let (left, right) = (made[left % made.len()].clone(), made[right % made.len()].clone());
            let var = match which {
                0 => apply(add(), &[&left, &right]),
                1 => apply(sub(), &[&left, &right]),
                2 => apply(mul(), &[&left, &right]),
                3 | 4 => apply(neg(), &[&left]),
                5 => node(view.clone(), &[&left], &[left.ty().clone()]).remove(0),
                6 => node(fresh.clone(), &[&left], &[left.ty().clone()]).remove(0),
                _ => node(overwrite.clone(), &[&left, &right], &[left.ty().clone()]).remove(0),
            };
            // Only graphs that can run are of interest: what cannot is left out.
            let mut grown = outputs.clone();
            grown.push(apply(neg(), &[&var]));
            if orderings(&grown, &[], &[]).is_ok() {
                outputs = grown;
                made.push(var);
            }
        }
        let results = rewrite(&RuleSet::new(simplifications()), &outputs).unwrap();
        if let Err(problem) = orderings(&results, &[], &[]) {
            prop_assert!(false, "{problem}\n{:?}\n{:?}", outputs, results);
        }
        for (old, new) in outputs.iter().zip(&results) {
            prop_assert!(old.ty().accepts(new.ty()));
        }
    }
}

#[test]
fn outputs_of_one_node_are_rewritten_apart() {
    let ty = Ty::scalar(DType::Float64);
    let pair = plain("pair", Param::None, OpProps { pure: true, ..OpProps::default() });
    let (x, y) = (scalar("x"), scalar("y"));
    let left = node(pair.clone(), &[&x, &y], &[ty.clone(), ty.clone()]);
    let unknowns = [open(&x), open(&y)];
    let first = law("first", &left[0], &x, &unknowns);
    let (a, b) = (scalar("a"), scalar("b"));
    let outputs = node(pair, &[&a, &b], &[ty.clone(), ty.clone()]);
    let rules = RuleSet::new(vec![first]);
    assert_eq!(rewrite(&rules, &outputs).unwrap(), [a.clone(), outputs[1].clone()]);

    // What takes the place of one output may use the other.
    let second = law("second", &left[1], &apply(neg(), &[&left[0]]), &unknowns);
    assert_eq!(one(second, &outputs[1]), apply(neg(), &[&outputs[0]]));

    // An inner pattern matches one output only.
    let inner = law("inner", &apply(neg(), &[&left[1]]), &y, &unknowns);
    let (of_first, of_second) = (apply(neg(), &[&outputs[0]]), apply(neg(), &[&outputs[1]]));
    assert_eq!(one(inner.clone(), &of_second), b);
    assert_eq!(one(inner, &of_first), of_first);
}

#[test]
fn what_does_not_fit_is_left_alone() {
    let x = scalar("x");
    let rule = law("mul_one", &apply(mul(), &[&x, &number(1.0)]), &x, &[open(&x)]);
    let short = Container::global().input(&Ty::tensor(DType::Float32, &[None]), None, None);
    let promoted = apply(mul(), &[&short, &number(1.0)]);
    assert_eq!(one(rule.clone(), &promoted), promoted);
    let ones = frazil_core::ConstantData::new(
        DType::Float64,
        &[2, 1],
        &[1.0f64.to_ne_bytes(), 1.0f64.to_ne_bytes()].concat(),
    );
    let broadcast = apply(mul(), &[&input("a"), &Container::global().constant(ones.unwrap())]);
    assert_eq!(one(rule, &broadcast), broadcast);

    // A dimension that is 1 broadcasts: it cannot stand for one whose length is not known.
    let (x, y) = (scalar("x"), scalar("y"));
    let rule = law("first", &apply(sub(), &[&x, &y]), &x, &[open(&x), open(&y)]);
    let row = Container::global().input(&Ty::tensor(DType::Float64, &[Some(1)]), None, None);
    let wide = apply(sub(), &[&row, &input("b")]);
    assert_eq!(one(rule, &wide), wide);
}

#[test]
fn a_cycle_of_rules_is_named() {
    let (x, y) = (scalar("x"), scalar("y"));
    let (sum, product) = (apply(add(), &[&x, &y]), apply(mul(), &[&x, &y]));
    let unknowns = [open(&x), open(&y)];
    let rules = RuleSet::new(vec![
        law("idle", &apply(neg(), &[&x]), &x, &[open(&x)]),
        law("up", &sum, &product, &unknowns),
        law("down", &product, &sum, &unknowns),
    ]);
    let root = apply(neg(), &[&apply(add(), &[&scalar("a"), &scalar("b")])]);
    match rewrite(&rules, &[root]) {
        Err(Error::RuleCycle { rules, .. }) => assert_eq!(rules, ["up", "down"]),
        other => panic!("expected a cycle, got {other:?}"),
    }
}

#[test]
fn rules_that_grow_are_named() {
    let (x, y) = (scalar("x"), scalar("y"));
    let swap = law(
        "grow",
        &apply(sub(), &[&x, &y]),
        &apply(sub(), &[&apply(neg(), &[&y]), &x]),
        &[open(&x), open(&y)],
    );
    let rules = RuleSet::new(vec![swap]);
    match rewrite(&rules, &[apply(sub(), &[&scalar("a"), &scalar("b")])]) {
        Err(Error::RulesDiverge { rules, .. }) => assert_eq!(rules, ["grow"]),
        other => panic!("expected divergence, got {other:?}"),
    }
    // A right side that holds its left side can never be in normal form.
    let product = apply(mul(), &[&x, &y]);
    let rules = RuleSet::new(vec![law(
        "wrap",
        &product,
        &apply(neg(), &[&product]),
        &[open(&x), open(&y)],
    )]);
    match rewrite(&rules, &[apply(mul(), &[&scalar("a"), &scalar("b")])]) {
        Err(Error::RuleCycle { rules, .. }) => assert_eq!(rules, ["wrap"]),
        other => panic!("expected a cycle, got {other:?}"),
    }
}

#[test]
fn what_rules_would_not_end_on_is_left_if_told_so() {
    let (x, y) = (scalar("x"), scalar("y"));
    let (sum, product) = (apply(add(), &[&x, &y]), apply(mul(), &[&x, &y]));
    let unknowns = [open(&x), open(&y)];
    let rules = RuleSet::new(vec![
        law("neg_neg", &apply(neg(), &[&apply(neg(), &[&x])]), &x, &[open(&x)]),
        law("up", &sum, &product, &unknowns),
        law("down", &product, &sum, &unknowns),
        law(
            "grow",
            &apply(sub(), &[&x, &y]),
            &apply(sub(), &[&apply(neg(), &[&y]), &x]),
            &unknowns,
        ),
    ]);
    let (a, b) = (scalar("a"), scalar("b"));
    let twice = apply(neg(), &[&apply(neg(), &[&a])]);
    let left = apply(add(), &[&twice, &b]);
    let other = apply(sub(), &[&a, &twice]);
    let root = apply(neg(), &[&apply(neg(), &[&left])]);
    for _ in 0..2 {
        let mut sweep =
            Sweep::new(&rules, &[root.clone(), other.clone(), twice.clone()]).leaving_cycles();
        let Ok(Progress::Done(results)) = sweep.advance() else { panic!("nothing is asked") };
        // Operands are rewritten, and so is all that stands above; only the nodes themselves stay.
        assert_eq!(results[0], apply(add(), &[&a, &b]));
        assert_eq!(results[1], apply(sub(), &[&a, &a]));
        assert_eq!(results[2], a);
        let mut nodes: Vec<&Var> = sweep.abandoned().iter().map(|left| &left.var).collect();
        nodes.sort_by_key(|&var| *var != left);
        assert_eq!(nodes, [&left, &other]);
    }
    assert_eq!(rules.remembered(), 0);
}

#[test]
fn results_are_remembered_and_keep_nothing_alive() {
    let container = Container::new();
    let rules = RuleSet::new(simplifications());
    let a = container.input(&vector(), Some("a"), None);
    let before = container.stats().nodes;
    for _ in 0..3 {
        let zero = container.constant(WeakScalar::Float(0.0).constant(DType::Float64).unwrap());
        let mut outputs = vec![a.clone()];
        for _ in 0..5_000 {
            let last = outputs.last().unwrap();
            outputs.push(apply(add(), &[&apply(neg(), &[&apply(neg(), &[last])]), &zero]));
        }
        assert_eq!(rewrite(&rules, &outputs[5_000..]).unwrap(), std::slice::from_ref(&a));
        // Every node of the graph is known now: a graph that shares them asks for none below.
        let mut shared = Sweep::new(&rules, &outputs[2_500..2_501]);
        assert!(matches!(shared.advance().unwrap(), Progress::Done(results) if results[0] == a));
        drop(shared);
        drop(outputs);
        drop(zero);
        assert_eq!(container.stats().nodes, before);
    }
    assert!(rules.remembered() < 40_000, "{}", rules.remembered());
}

#[test]
fn remembered_results_spare_the_rules() {
    let (x, a) = (scalar("x"), scalar("a"));
    let left = apply(neg(), &[&x]);
    let rule = general("asked", &left, None, &[open(&x)], &[], &[], false).unwrap();
    let rules = RuleSet::new(vec![rule]);
    let root = [apply(neg(), &[&a])];
    let mut asked = 0;
    for _ in 0..2 {
        let mut sweep = Sweep::new(&rules, &root);
        while let Progress::Calls(calls) = sweep.advance().unwrap() {
            asked += calls.len();
            for call in calls {
                sweep.reply(call.ticket, Reply::Replace(a.clone())).unwrap();
            }
        }
    }
    assert_eq!(asked, 1);
}

#[test]
fn a_set_that_extends_another_tries_its_own_rules_on_what_that_one_left() {
    let (x, a) = (scalar("x"), scalar("a"));
    let left = apply(neg(), &[&x]);
    let rule = |name| general(name, &left, None, &[open(&x)], &[], &[], false).unwrap();
    let base = RuleSet::new(vec![rule("early")]);
    let middle = RuleSet::extending(&base, vec![rule("middle")]);
    let last = RuleSet::extending(&middle, vec![rule("late"), rule("latest")]);
    let root = [apply(neg(), &[&a])];
    let asked = |rules: &RuleSet| {
        let mut sweep = Sweep::new(rules, &root);
        let mut numbers = Vec::new();
        while let Progress::Calls(calls) = sweep.advance().unwrap() {
            for call in calls {
                numbers.push(call.rule);
                sweep.reply(call.ticket, Reply::Decline).unwrap();
            }
        }
        numbers
    };
    assert_eq!(asked(&RuleSet::extending(&middle, vec![rule("late")])), [0, 1, 2]);
    assert_eq!(asked(&base), [0]);
    assert_eq!(asked(&last), [1, 2, 3]);
    assert_eq!(asked(&RuleSet::extending(&middle, vec![rule("late")])), [1, 2]);
    assert_eq!(asked(&middle), [1]);
    assert_eq!(asked(&RuleSet::extending(&middle, vec![rule("late")])), [2]);
}

#[test]
fn what_no_rule_matches_needs_no_look() {
    let rules = RuleSet::new(simplifications());
    let mut root = input("a");
    for _ in 0..100 {
        root = apply(mul(), &[&apply(add(), &[&root, &input("b")]), &input("c")]);
    }
    let looked_at = |root: &Var, wanted: &Var| {
        let mut sweep = Sweep::new(&rules, std::slice::from_ref(root));
        let mut looks = 1;
        while let Progress::Paused = sweep.advance_some(1).unwrap() {
            looks += 1;
        }
        assert!(
            matches!(sweep.advance().unwrap(), Progress::Done(results) if results[0] == *wanted)
        );
        looks
    };
    assert_eq!(looked_at(&root, &root), 1);
    // Nor is it looked at again beneath what a rule changes.
    let twice = apply(neg(), &[&apply(neg(), &[&root])]);
    let d = input("d");
    assert!(looked_at(&apply(sub(), &[&twice, &d]), &apply(sub(), &[&root, &d])) < 10);
}

#[test]
fn a_sweep_may_pause_anywhere() {
    let mut root = input("a");
    let mut wanted = root.clone();
    for _ in 0..5 {
        let b = input("b");
        wanted = apply(sub(), &[&wanted, &b]);
        root = apply(add(), &[&root, &apply(neg(), &[&b])]);
    }
    let mut pauses = Vec::new();
    for limit in [1, 2, 3, 100] {
        // Rules of their own remember no results of others.
        let mut sweep = Sweep::new(&RuleSet::new(simplifications()), std::slice::from_ref(&root));
        let mut paused = 0;
        let results = loop {
            match sweep.advance_some(limit).unwrap() {
                Progress::Done(results) => break results,
                Progress::Paused => paused += 1,
                Progress::Calls(_) => unreachable!("the rules are the core's own"),
            }
        };
        assert_eq!(results, [wanted.clone()]);
        pauses.push(paused);
    }
    assert!(pauses.is_sorted_by(|more, fewer| more > fewer) && pauses[3] == 0, "{pauses:?}");
}

#[test]
fn foreign_rules_are_asked_in_batches() {
    let (x, y) = (scalar("x"), scalar("y"));
    let left = apply(add(), &[&x, &y]);
    let unknowns = [open(&x), open(&y)];
    let ask = general("ask", &left, None, &unknowns, &[], &[], false).unwrap();
    let guarded = general("guarded", &left, Some(&y), &unknowns, &[], &[], true).unwrap();
    let rules = RuleSet::new(vec![ask, guarded]);
    let (a, b, c) = (input("a"), input("b"), input("c"));
    let outputs = [apply(add(), &[&a, &b]), apply(add(), &[&b, &c])];
    let mut sweep = Sweep::new(&rules, &outputs);
    let mut seen: Vec<(usize, usize, Var)> = Vec::new();
    let mut rounds = 0;
    let results = loop {
        match sweep.advance().unwrap() {
            Progress::Done(results) => break results,
            Progress::Paused => unreachable!("nothing pauses it"),
            Progress::Calls(calls) => {
                assert_eq!(calls.len(), 2, "what does not depend on an answer is asked together");
                rounds += 1;
                for call in calls {
                    let Binding::One(first) = &call.bindings[0] else { panic!() };
                    seen.push((rounds, call.rule, first.clone()));
                    assert_eq!(call.foreign, call.rule == 0);
                    let reply = match (call.rule, rounds) {
                        (0, _) => Reply::Decline,
                        (_, 3) => Reply::Decline,
                        _ => Reply::Accept,
                    };
                    sweep.reply(call.ticket, reply).unwrap();
                }
            }
        }
    };
    // Both orders of the first rule, then the first of the second: x stands for the left operand.
    let order = [
        (1, 0, &a),
        (1, 0, &b),
        (2, 0, &b),
        (2, 0, &c),
        (3, 1, &a),
        (3, 1, &b),
        (4, 1, &b),
        (4, 1, &c),
    ];
    let seen: Vec<(usize, usize, &Var)> = seen.iter().map(|(r, k, v)| (*r, *k, v)).collect();
    assert_eq!(seen, order);
    assert_eq!(results, [a, b]);
}

#[test]
fn a_foreign_right_side_must_fit() {
    let x = scalar("x");
    let left = apply(neg(), &[&x]);
    let rules =
        RuleSet::new(vec![general("odd", &left, None, &[open(&x)], &[], &[], false).unwrap()]);
    let outputs = [apply(neg(), &[&input("a")])];
    let mut sweep = Sweep::new(&rules, &outputs);
    let Progress::Calls(calls) = sweep.advance().unwrap() else { panic!("expected a call") };
    let error = sweep.reply(calls[0].ticket, Reply::Replace(scalar("b"))).unwrap_err();
    assert!(matches!(&error, Error::RuleType { rule, .. } if rule == "odd"), "{error}");
}

#[test]
fn distinct_buffers_stay_apart() {
    let props = OpProps { pure: true, distinct: true, ..OpProps::default() };
    let fresh = plain("fresh", Param::None, props);
    let a = input("a");
    let make = || node(fresh.clone(), &[&a], &[vector()]).remove(0);
    let (one_buffer, other_buffer) = (make(), make());
    assert_ne!(one_buffer, other_buffer);
    let rules = RuleSet::new(simplifications());
    let apart = apply(sub(), &[&one_buffer, &other_buffer]);
    assert_eq!(
        rewrite(&rules, std::slice::from_ref(&apart)).unwrap(),
        std::slice::from_ref(&apart)
    );
    // Rebuilt over other inputs they keep their tags.
    let over = |buffer: &Var| {
        let Body::Apply { distinct, .. } = buffer.node().body() else { panic!() };
        *distinct
    };
    let twice = apply(neg(), &[&apply(neg(), &[&a])]);
    let rebuilt = node(fresh, &[&twice], &[vector()]);
    let result = &rewrite(&rules, &rebuilt).unwrap()[0];
    assert_eq!(over(result), over(&rebuilt[0]));
    assert_eq!(result.node().inputs(), [a]);
}

#[test]
fn what_is_impure_is_never_lost() {
    let draw = plain("draw", Param::None, OpProps { pure: false, ..OpProps::default() });
    let (a, b, x, y) = (input("a"), input("b"), scalar("x"), scalar("y"));
    let drawn = || node(draw.clone(), &[&a], &[vector()]).remove(0);
    // Each application is a node of its own.
    let (one, other) = (drawn(), drawn());
    assert_ne!(one, other);
    let first = law("first", &apply(sub(), &[&x, &y]), &x, &[open(&x), open(&y)]);
    let rules = RuleSet::new(vec![first]);
    let left = |x: &Var, y: &Var| {
        let difference = apply(sub(), &[x, y]);
        let became = rewrite(&rules, std::slice::from_ref(&difference)).unwrap().remove(0);
        if became == difference { None } else { Some(became) }
    };
    assert_eq!(left(&a, &b), Some(a.clone()));
    assert_eq!(left(&one, &a), Some(one.clone()));
    assert_eq!(left(&one, &one), Some(one.clone()));
    assert_eq!(left(&one, &other), None);
    assert_eq!(left(&a, &apply(neg(), &[&one])), None);
}

#[test]
fn what_is_destroyed_stays_as_it_is() {
    let props = OpProps { destroy_map: vec![(0, vec![0])], ..OpProps::default() };
    let overwrite = plain("overwrite", Param::None, props);
    let props = OpProps { pure: true, view_map: vec![(0, vec![0])], ..OpProps::default() };
    let view = plain("view", Param::None, props);
    let rules = RuleSet::new(simplifications());
    let (a, zero) = (input("a"), number(0.0));
    // `a + 0` is a buffer of its own. Were it `a`, the destroyer would write over an input.
    let copy = apply(add(), &[&a, &zero]);
    let seen = node(view, &[&copy], &[vector()]).remove(0);
    let written = node(overwrite.clone(), &[&seen], &[vector()]).remove(0);
    let outputs = [apply(neg(), &[&apply(neg(), &[&written])])];
    assert_eq!(rewrite(&rules, &outputs).unwrap(), [written]);
    // Without the destroyer both are `a`.
    assert_eq!(rewrite(&rules, std::slice::from_ref(&copy)).unwrap(), std::slice::from_ref(&a));

    // A reader of a copy must not become a reader of what is destroyed.
    let buffer = apply(mul(), &[&a, &a]);
    let written = node(overwrite, &[&buffer], &[vector()]).remove(0);
    let reader = apply(sub(), &[&apply(add(), &[&buffer, &zero]), &written]);
    assert_eq!(rewrite(&rules, std::slice::from_ref(&reader)).unwrap(), [reader]);

    // Nor may a rebuilt node become it.
    let alike = apply(mul(), &[&apply(add(), &[&a, &zero]), &a]);
    let reader = apply(sub(), &[&alike, &written]);
    assert_eq!(rewrite(&rules, std::slice::from_ref(&reader)).unwrap(), [reader]);
}

#[test]
fn graphs_stay_in_their_containers() {
    let rules = RuleSet::new(simplifications());
    let containers = [Container::new(), Container::new()];
    let outputs: Vec<Var> = containers
        .iter()
        .map(|container| {
            let x = container.input(&vector(), Some("x"), None);
            let twice = apply(neg(), &[&apply(neg(), &[&x])]);
            apply(mul(), &[&twice, &apply(sub(), &[&twice, &x])])
        })
        .collect();
    let results = rewrite(&rules, &outputs).unwrap();
    for (result, container) in results.iter().zip(&containers) {
        assert!(container.holds(result));
    }
}

#[test]
fn a_deep_graph_needs_no_stack() {
    let rules = RuleSet::new(simplifications());
    let a = input("a");
    let mut deep = a.clone();
    for _ in 0..100_000 {
        deep = apply(neg(), &[&deep]);
    }
    assert_eq!(rewrite(&rules, &[deep]).unwrap(), [a]);
}

#[test]
fn threads_agree() {
    let rules = RuleSet::new(simplifications());
    let (a, b) = (input("a"), input("b"));
    let build = || {
        let mut last = a.clone();
        for step in 0..300 {
            let other = if step % 3 == 0 { apply(neg(), &[&b]) } else { number((step % 2) as f64) };
            last = apply([add(), mul(), sub()][step % 3].clone(), &[&last, &other]);
        }
        last
    };
    let expected = slow_model(&build());
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..20 {
                    assert_eq!(
                        rewrite(&rules, &[build()]).unwrap(),
                        std::slice::from_ref(&expected)
                    );
                }
            });
        }
    });
}

#[test]
fn mistakes_in_rules_are_refused() {
    let (x, y) = (scalar("x"), scalar("y"));
    let sum = apply(add(), &[&x, &y]);
    let refused = |left: &Var, right: &Var, unknowns: &[Unknown]| {
        let error = general("r", left, Some(right), unknowns, &[], &[], false).err();
        error.expect("a mistake").to_string()
    };
    assert!(refused(&x, &x, &[open(&x)]).contains("must apply an op"));
    assert!(refused(&sum, &x, &[open(&x)]).contains("y is no parameter"));
    assert!(
        refused(&apply(neg(), &[&x]), &x, &[open(&x), open(&y)]).contains("does not contain y")
    );
    assert!(refused(&apply(neg(), &[&x]), &y, &[open(&x)]).contains("needs y"));
    assert!(refused(&sum, &x, &[many(&x), open(&y)]).contains("last operand"));
    let ty = Ty::scalar(DType::Float64);
    let opaque = plain("opaque", Param::None, OpProps::default());
    let inner = apply(neg(), &[&node(opaque, &[&x], &[ty])[0]]);
    // The host language builds a right side with an op that types itself.
    let left = apply(neg(), &[&x]);
    let rule = general("r", &left, Some(&inner), &[open(&x)], &[], &[], false).unwrap();
    let Rights::Each(rights) = &rule.rights else { panic!("of one output") };
    assert!(!rights[0].1.is_own());
    let mut large = x.clone();
    for _ in 0..300 {
        large = apply(add(), &[&large, &y]);
    }
    assert!(refused(&large, &x, &[open(&x), open(&y)]).contains("more than 256"));
}

#[test]
fn equal_left_sides_are_tried_in_order() {
    let (x, y) = (scalar("x"), scalar("y"));
    let unknowns = [open(&x), open(&y)];
    let left = apply(sub(), &[&x, &y]);
    let (first, second) = (law("first", &left, &x, &unknowns), law("second", &left, &y, &unknowns));
    let (a, b) = (input("a"), input("b"));
    let root = [apply(sub(), &[&a, &b])];
    assert_eq!(rewrite(&RuleSet::new(vec![first.clone(), second.clone()]), &root).unwrap(), [a]);
    assert_eq!(rewrite(&RuleSet::new(vec![second, first]), &root).unwrap(), [b]);
}
