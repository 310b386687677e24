"""The search of "auto": trees are grown, the most promising are refined, and the goal takes one.

Work is bounded by counts of rows, never by a clock: growers that need several passes see a random sample of rows where
the table is long, trees are compared and refined on this sample, and the best few are compared, and the best one
refined, on every row. Where these are far more, larger samples come between, so that little is left to refine. A time
limit ends the search at the best tree so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from boxwood._progress import Clock, Progress, Steps, silent
from boxwood.batches import Batches
from boxwood.explanation.choose import settings
from boxwood.explanation.choose._candidates import CANDIDATES, CandidateInput, Trees
from boxwood.explanation.choose.few_columns import grown_on_few, on_few_columns
from boxwood.explanation.choose.goal import Candidate, Goal, goal_of, sampled_for_search
from boxwood.explanation.records import SearchReport
from boxwood.grow import METHODS, Method
from boxwood.grow.drawn import task_drawn, task_for_growth
from boxwood.grow.exact.agreement import Agreeing, LoopCodes, agreeing_of, is_within_reach, resolved_by_agreement
from boxwood.grow.exact.optimal import WINDOW, ends_within, optimal_of, resolve_subtrees, with_cheapest_names
from boxwood.grow.grown import Grown
from boxwood.grow.leaves.expand import expand_tree
from boxwood.grow.refinement.exchange import preferring, refill_leaves, swap_leaves, within
from boxwood.grow.refinement.refine import refine_tree, refined_with_centers
from boxwood.grow.shared.names import name_leaves
from boxwood.reference import Task
from boxwood.tree import ThresholdTree
from boxwood.tree.merge import merge_leaves


def grow_for(task: Task, name: str, *, progress: Progress = silent, **options: Any) -> Grown:
    """Return the tree of a method, or for "auto" the best candidate, telling its steps; `explain` states the rule.

    A method by its name grows on rows in batches, too: by passes over all of them, or on some that are drawn.
    """
    if name == "auto":
        return _search_task(task, progress=progress, **options).noting_early_stop(task)
    method = METHODS[name]
    refuse_leaves(task, method)
    if task.in_batches:
        if not method.by_passes:
            few, notes = task_for_growth(task)
            grown = grow_for(few, name, **options)
        else:
            few, notes = (task, ()) if task.budget.max_columns is None else on_few_columns(task, *sample_task(task))
            grown = method.grow(few, **options)
        return grown._replace(notes=(*notes, *grown.notes))
    method.check_budget(task.budget)
    if task.budget.max_columns is None:
        return _preferring(method.grow(task, **options), task, method)

    def grow(task: Task, seconds: float | None) -> Grown:
        return _preferring(method.grow(task, **options), task, method)

    return grown_on_few(task, grow, "auto", several=False)


def _preferring(grown: Grown, task: Task, method: Method) -> Grown:
    """Return the tree of a method with cuts on preferred columns, where that costs nearly nothing."""
    by_cost = grown.kernel is None and grown.objective == "sqeuclidean" and not method.by_mistakes
    loss = "cost" if by_cost else "mistakes"
    tree = preferring(grown.tree, task, loss)
    if tree == grown.tree:
        return grown
    note = f"the tree of {method.name!r} was changed: cuts on other columns are cuts on preferred ones"
    return grown._replace(tree=name_leaves(tree, task, loss), notes=(*grown.notes, note))


def _search_task(task: Task, *, objective: str = "auto", time_limit: float | None = None, **how: Any) -> Grown:
    if task.budget.max_columns is None:
        return search_trees(task, objective=objective, time_limit=time_limit, **how)

    def grow(task: Task, seconds: float | None) -> Grown:
        return search_trees(task, objective=objective, time_limit=seconds, **how)

    return grown_on_few(task, grow, objective, several=True, time_limit=time_limit)


def refuse_leaves(task: Task, method: Method) -> None:
    """Raise a ValueError if the method cannot make the number of leaves asked for."""
    if not method.one_leaf_each or task.max_leaf_nodes is None:
        return
    n, what = task.reference.n_clusters, "clusters"
    if method.of_mixtures and task.mixture is not None:
        n, what = task.components.n_components, "components"
    if task.max_leaf_nodes != n:
        others = [f"{name!r}" for name, other in METHODS.items() if not other.one_leaf_each]
        raise ValueError(
            f"method {method.name!r} makes one leaf for each of {n} {what}, but max_leaf_nodes={task.max_leaf_nodes}; "
            f"use 'auto', {', '.join(others[:-1])} or {others[-1]}"
        )


def rows_of_sample(batches: Batches, n_leaves: int) -> int:
    """Return how many rows of a table are looked at together, at most."""
    return max(
        min(settings.SAMPLE_ROWS, settings.SAMPLE_VALUES // batches.n_columns),
        settings.ROWS,
        settings.ROWS_PER_LEAF * n_leaves,
    )


def sample_task(task: Task, fold: Callable[[Any], Any] | None = None) -> tuple[Task, bool]:
    """Return the task on a sample of distinct rows, and whether all rows are in it; IN: fold: as for `sample_of`."""
    return task_drawn(task, rows_of_sample(task.batches, task.leaves()), settings.ROWS_EACH, fold)


# steps told of: each kind of tree, each refined one, small subtrees, all rows
_STEPS = len(CANDIDATES) + settings.REFINED + 2


def search_trees(
    task: Task,
    *,
    objective: str = "auto",
    time_limit: float | None = None,
    most_steps: int = settings.ASKED,
    begin: Grown | None = None,
    of_words: bool = False,
    progress: Progress = silent,
) -> Grown:
    """Return the tree that the goal takes of all candidates, with the facts of the search.

    IN: most_steps: of each search for the tree that agrees most of all, where agreement decides; 0 leaves them out;
    begin: a tree with fewer leaves that was found for the same rows; of_words: whether columns stand for words or gaps.
    """
    search = AutoSearch(task, objective, Clock(time_limit), progress, most_steps=most_steps, of_words=of_words)
    leaves, k = task.leaves(), task.reference.n_clusters
    if begin is not None:
        least: Candidate | None = search.goal.candidate(begin.tree, begin.method)
    else:
        least = None if leaves <= k else search.best(k) if leaves < settings.FAR_LARGER * k else search.begun(k)
    best = search.preferring(search.best(leaves, least))
    if objective == "cost" and time_limit is None and search.is_short:
        how: dict[str, Any] = {"most_steps": most_steps, "of_words": of_words}
        best = search.cheapest(best, [search_trees(task, objective=other, **how) for other in ("auto", "agreement")])
    notes = search.notes()
    facts: dict[str, Any] = {} if task.mixture is None else {"mixture": task.mixture}
    facts |= {"search": search.facts(best), "on_length": search.on_length(), "ranked": search.ranked}
    facts["costs"] = partial(search.goal.costs, best.tree)
    early_stop = f"no tree with more leaves was found that {search.goal.gain}"
    return Grown(best.tree, best.name, attributes=facts, notes=notes, early_stop=early_stop)


class AutoSearch:
    """All candidate trees of one task, and the rule that picks one; a long table is searched on a sample."""

    def __init__(
        self,
        task: Task,
        objective: str,
        clock: Clock,
        progress: Progress = silent,
        *,
        most_steps: int = settings.ASKED,
        of_words: bool = False,
    ) -> None:
        self.task, self.clock, self.most_steps = task, clock, most_steps
        self.sample = sampled_for_search(task)
        self.goal = goal_of(task, objective)
        self.by_centers = self.goal.by_cost or not of_words  # which say little of words, where agreement decides
        self.on_sample = self.goal if self.sample is task else self.goal.of_sample(self.sample)
        self.between = [self.goal.of_sample(task.sampled(n_rows)) for n_rows in self._sizes_between()]
        self.loss = "cost" if self.goal.by_cost else "mistakes"
        self.bound: float | None = None  # no tree with as few leaves costs less
        self.fewest: float | None = None  # weight of mistakes that no tree within the limits makes fewer of
        self.names: dict[ThresholdTree, str] = {}  # of the different trees that were compared
        self.ranked: list[Candidate] = []  # the best few of them
        self.perfect: Candidate | None = None  # a tree that cannot be better
        self.starts: dict[str, Trees] = {}
        self.left_out: set[str] = set()
        self.marks: dict[int, LoopCodes] = {}  # by the task
        self.by_impurity: dict[str, dict[int, ThresholdTree]] = {}
        times = 2 if task.leaves() > task.reference.n_clusters else 1
        self.steps, self.before = Steps(progress, "steps to the tree", times * _STEPS), 0

    @property
    def _seen(self) -> Task:
        """The task for growers that take one pass for each level: all rows, or a large sample if cost decides.

        Trees that are chosen by cost are refined on every row anyway.
        """
        return self.between[-1].task if self.between and self.goal.by_cost else self.task

    def _sizes_between(self) -> Iterator[int]:
        """Yield how many rows larger samples have; the largest one is far smaller than the table."""
        n_rows = settings.TIMES * len(self.sample.rows)
        while settings.FAR * n_rows <= self.task.n_rows:
            yield n_rows
            n_rows *= settings.TIMES

    def preferring(self, best: Candidate) -> Candidate:
        """Return the tree with cuts on preferred columns, where that costs nearly nothing."""
        tree = preferring(best.tree, self.task, self.loss) if self.task.budget.preferred else best.tree
        if tree == best.tree:
            return best
        return self.goal.candidate(self._fitting(tree, self.task), best.name)

    @property
    def is_short(self) -> bool:
        """Whether each step looks at all rows, and no columns are preferred."""
        return self.sample is self.task and not self.task.budget.preferred

    def cheapest(self, best: Candidate, others: list[Grown]) -> Candidate:
        """Return the best tree, or a cheaper one of those that searches for other goals found, and of these refined."""
        trees = {each.tree: each.name for grown in others for each in grown.attributes["ranked"]}
        better = [
            (self._better(tree, self.task, self.task.leaves()), f"{name}, refined") for tree, name in trees.items()
        ]
        found = self.goal.candidates((self._fitting(tree, self.task), name) for tree, name in (*trees.items(), *better))
        self.names |= {each.tree: each.name for each in found}
        cheaper = [each for each in found if each.cost < best.cost]
        return self.goal.best(cheaper) if cheaper else best

    def begun(self, leaves: int) -> Candidate:
        """Return a tree that a far larger one begins with: the best of those that are grown, and refined."""
        part = self._input(leaves)
        found = self.on_sample.candidates(self._grow_candidates(part, None))
        if self.perfect is None:
            found += self._refine_candidates(part, self.on_sample.ranked(found)[: settings.REFINED])
        best = self.perfect or self.on_sample.best(found)
        self._end(found)
        return self.goal.candidate(self._fitting(best.tree, self.task), best.name)

    def best(self, leaves: int, begin: Candidate | None = None) -> Candidate:
        """Return the best tree with at most so many leaves; it loses no more than `begin`, a tree with fewer."""
        self.bound, part = None, self._input(leaves)
        found = [] if self.perfect is not None else self.on_sample.candidates(self._grow_candidates(part, begin))
        chosen = self._improve(part, found) if self.perfect is None else [self._bound_costs(part, self.perfect)]
        if begin is not None:
            chosen = [begin, *(each for each in chosen if self.goal.is_no_worse(each, begin))]
        if leaves == self.task.leaves() and not self.goal.by_cost:
            chosen += self.goal.candidates(self._agreeing_most(leaves, self.goal.best(chosen)))
        self._end(found)
        self.ranked = self.goal.ranked(chosen)[: settings.COMPARED]
        return self.goal.best(chosen)

    def _end(self, found: list[Candidate]) -> None:
        """Tell that a search is done, and remember the trees that were found."""
        self._reach(_STEPS)
        self.before += _STEPS
        self.names |= {each.tree: each.name for each in found}

    def _input(self, leaves: int) -> CandidateInput:
        most = self.task.leaves()
        searched = min(self.task.reference.n_clusters, most), most
        by = self.goal.by_cost, self.goal.objective == "cost", self.by_centers
        trees = self.starts, self.by_impurity
        return CandidateInput(
            self._seen, self.sample, leaves, *by, searched, *trees, begun=set(), left_out=self.left_out
        )

    def _improve(self, part: CandidateInput, found: list[Candidate]) -> list[Candidate]:
        """Return the best of the candidates and of trees that are made of them, measured on every row."""
        goal, leaves = self.on_sample, part.leaves
        found += self._refine_candidates(part, goal.ranked(found)[: settings.REFINED])
        if self._has_own_means(leaves):
            found += goal.candidates(self._with_own_means(part, goal.ranked(found)))
        else:
            if not self._is_sought_whole(leaves):
                found += goal.candidates(self._resolve(part, goal.ranked(found)[: settings.RESOLVED], own_means=False))
            if leaves <= settings.SWAPPED:
                found += goal.candidates(self._swap_leaves(part, goal.best(found)))
        found = goal.candidates(self._rename_leaves(part.sample, found))
        chosen = goal.ranked(found)
        self.names |= {each.tree: each.name for each in found}
        self._reach(_STEPS - 1)
        return chosen if self.sample is self.task else self._on_more_rows(chosen[: settings.COMPARED], leaves)

    def _bound_costs(self, part: CandidateInput, perfect: Candidate) -> Candidate:
        """Return a tree that cannot be better for the goal; remember the bound on the cost, if it would be known."""
        if self._has_own_means(part.leaves) and self._is_solved(part):
            list(self._search_cheapest(part, perfect))
        return perfect

    def _grow_candidates(self, part: CandidateInput, begin: Candidate | None) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield the candidates, without cuts that separate nothing, and each leaf named by a cluster of its rows.

        A perfect one is the last: it is the first of equals, whatever comes.
        """
        goal, is_first, known = self.on_sample, True, set[ThresholdTree]()
        for raw, name in self._raw(part, begin):
            if raw in known:
                continue
            known.add(raw)
            tree = self._fitting(merge_leaves(raw), part.sample)
            yield tree, name
            if is_first and goal.is_perfect(goal.candidate(tree, name)):
                is_first = False  # further ones on the sample would be taken after this one only
                on_all = self.goal.candidate(self._fitting(tree, self.task), name)
                self.perfect = on_all if self.goal.is_perfect(on_all) else None
            if self.clock.has_passed() or self.perfect is not None:
                return

    def _raw(self, part: CandidateInput, begin: Candidate | None) -> Iterator[tuple[ThresholdTree, str]]:
        if begin is not None:
            part.begun.add(begin.tree)
            yield begin.tree, begin.name
            for how, loss in part.losses.items():
                yield expand_tree(begin.tree, part.sample, part.leaves, loss=loss), f"{begin.name}, {how}"
        for done, grow in enumerate(CANDIDATES.values(), start=1):
            yield from grow(part)
            self._reach(done)

    def _reach(self, done: int) -> None:
        """Tell that so many steps to the tree of this size are done."""
        self.steps.reach(self.before + done)

    def _refine_candidates(self, part: CandidateInput, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates with better cuts; those that are too far behind to become the best are left out."""
        found: list[Candidate] = []
        goal, gained = self.on_sample, settings.LEAST_GAIN
        for done, each in enumerate(candidates, start=1):
            least = min((goal.loss(one) for one in found), default=goal.loss(each))
            if goal.loss(each) * (1 - settings.FARTHEST * gained) > settings.NEAR * least:
                continue
            if self.clock.has_passed():
                break
            tree = self._better(each.tree, part.sample, part.leaves)
            found += goal.candidates([(tree, f"{each.name}, refined")])
            if goal.loss(each) > 0:
                gained = max(gained, 1 - goal.loss(found[-1]) / goal.loss(each))
            self._reach(len(CANDIDATES) + done)
        return found

    def _with_own_means(self, part: CandidateInput, candidates: list[Candidate]) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield trees that are cheap because each leaf is a cluster of its own."""
        if self._is_solved(part):
            yield from self._search_cheapest(part, candidates[0])
        elif part.leaves > WINDOW and len(part.sample.rows) * part.task.n_columns**2 <= settings.WIDEST:
            yield from self._resolve(part, candidates[: settings.RESOLVED], own_means=True)

    def _swap_leaves(self, part: CandidateInput, best: Candidate) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield the tree with the leaves that are worth least taken away, and grown where they are worth more."""
        if not self.clock.has_passed():
            tree = swap_leaves(best.tree, part.sample, part.leaves, self.loss, singles=1, deadline=self.clock.deadline)
            yield tree, f"{best.name}, swapped"

    def _resolve(
        self, part: CandidateInput, candidates: list[Candidate], *, own_means: bool
    ) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield the trees with small subtrees solved exactly, and the same with cuts refined thereafter."""
        if not self.goal.by_cost and is_within_reach(part.sample, 2):
            yield from self._with_windows_solved(part, candidates)
            return
        boxes = max(
            self._boxes(settings.LOOKED_AT_EACH, part.sample, settings.COLUMNS_EACH, power=2 if own_means else 1), 1
        )
        for each in candidates:
            if self.clock.has_passed():
                return
            solved = resolve_subtrees(
                each.tree,
                part.sample,
                own_means=own_means,
                loss=self.loss,
                max_boxes=boxes,
                deadline=self.clock.deadline,
            )
            solved = self._fitting(solved, part.sample)
            if solved != each.tree:
                yield solved, f"{each.name}, resolved"
                yield self._better(solved, part.sample, part.leaves), f"{each.name}, resolved, refined"

    def _with_windows_solved(
        self, part: CandidateInput, candidates: list[Candidate]
    ) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield the trees with subtrees of depth two solved anew, and the same with cuts refined thereafter."""
        for each in candidates:
            tree, steps, deadline = each.tree, settings.BESIDE, self.clock.deadline
            for _ in range(settings.WINDOWED):
                how: dict[str, Any] = {"max_steps": steps, "deadline": deadline, "marks": self._marks(part.sample)}
                solved = resolved_by_agreement(tree, part.sample, part.leaves, **how)
                solved = self._fitting(solved, part.sample)
                if solved == tree or self.clock.has_passed():
                    break
                yield solved, f"{each.name}, resolved"
                tree = self._better(solved, part.sample, part.leaves)
                yield tree, f"{each.name}, resolved, refined"

    def _depths(self, leaves: int) -> tuple[int, int]:
        """Return the largest depth whose best tree is within reach, 0 for none, and that which trees may have."""
        deepest = min(self.task.budget.max_depth or leaves, max(leaves - 1, 0))
        return max((d for d in (1, 2, 3) if d <= deepest and is_within_reach(self.task, d)), default=0), deepest

    def _is_sought_whole(self, leaves: int) -> bool:
        """Return whether the best of all trees is looked for, so that nothing is gained by its subtrees."""
        depth, deepest = self._depths(leaves)
        return leaves == self.task.leaves() and not self.goal.by_cost and depth == deepest

    def _agreeing_most(self, leaves: int, best: Candidate) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield the tree that agrees most of all with the depth that is within reach, if the best one makes a mistake.

        If no deeper ones are allowed, its bound is remembered; else it is improved, too. Where depth three is beyond
        reach, some of its trees are looked at, and of depth four where that is asked for. A search ends early where it
        was not asked for. It is left out where trees of the depth are far too small to begin a better one with.
        """
        depth, deepest = self._depths(leaves)
        if best.mistakes == 0:
            self.fewest = 0.0
        if best.mistakes == 0 or depth == 0 or self.most_steps == 0 or self.clock.has_passed():
            return
        trees: list[tuple[ThresholdTree, str]] = []
        if deepest <= 3 or leaves <= settings.BEGUN[depth]:
            trees = self._within_reach(leaves, best)
            yield from trees
        if self.task.budget.max_depth == deepest == 4 and is_within_reach(self.task, 3):
            best = self.goal.best([best, *self.goal.candidates(trees)])
            steps = settings.ASKED if self.goal.objective == "agreement" else settings.FOUR
            deeper = self._agreeing_within(4, leaves, best, steps)
            self.fewest = deeper.bound
            yield self._fitting(deeper.tree, self.task), "optimal"

    def _within_reach(self, leaves: int, best: Candidate) -> list[tuple[ThresholdTree, str]]:
        """Return the trees that agree most within depths that are within reach, and improved ones of deeper trees."""
        depth, deepest = self._depths(leaves)
        steps = settings.BESIDE if leaves > 1 << depth else settings.FEW_LEAVES
        found = [self._agreeing_within(depth, leaves, best, settings.ASKED if depth == deepest else steps)]
        if depth == 2 < deepest:
            one_cut = self.task.n_kept * self.task.rows.n_columns**2  # steps that a cut at the root may take
            if self.task.budget.max_depth == 3:
                found.append(self._agreeing_within(3, leaves, best, settings.ASKED))
            elif one_cut <= settings.DEEPER:
                found.append(self._agreeing_within(3, leaves, best, settings.DEEPER))
        if deepest == (3 if len(found) > 1 else depth):
            self.fewest = found[-1].bound
        trees = [(self._fitting(each.tree, self.task), "optimal") for each in found]
        if depth < deepest and leaves > 4:  # up to four have no subtrees of depth two, but what was looked for
            on_all = self._input(leaves)._replace(task=self.task, sample=self.task)
            trees += self._with_windows_solved(on_all, self.goal.candidates(trees))
        return trees

    def _agreeing_within(self, depth: int, leaves: int, best: Candidate, steps: int) -> Agreeing:
        """Return the tree that agrees most within a depth; the best tree so far is one to begin with."""
        task = self.task.within(replace(self.task.budget, max_depth=depth))
        begin = best.tree if best.tree.depth <= depth and best.tree.n_leaves <= 1 << depth else None
        most = min(leaves, 1 << depth)
        how: dict[str, Any] = {"deadline": self.clock.deadline, "marks": self._marks(self.task)}
        return agreeing_of(task, most, incumbent=begin, max_steps=min(steps, self.most_steps), **how)

    def _marks(self, task: Task) -> LoopCodes:
        """Return the rows as exact searches take them, with what these have solved: no subtree is solved twice."""
        return self.marks.setdefault(id(task), LoopCodes.of(task))

    def _is_solved(self, part: CandidateInput) -> bool:
        """Return whether the exact search begins: it will end within its limit; where cost is asked for, it may end.

        One that does not end takes longer than all else and hardly ever finds a better tree, but where it is asked for
        and solves smaller subtrees before.
        """
        boxes, is_asked = self._boxes_to_solve(part), self.goal.objective == "cost"
        if part.leaves > settings.SOLVED or boxes == 0:
            return False
        if boxes is None or (is_asked and part.leaves > WINDOW):
            return True
        return ends_within(boxes, part.leaves, part.task.n_columns, surely=not is_asked)

    def _boxes_to_solve(self, part: CandidateInput) -> int | None:
        """Return how many boxes the exact search may look at; None if a clock ends it."""
        task = self._solved_rows(part)
        if self.clock.deadline is not None and task is self.task:
            return None
        return self._boxes(settings.LOOKED_AT, task, settings.COLUMNS, power=2)

    def _solved_rows(self, part: CandidateInput) -> Task:
        """Return the rows of the exact search: all if the least cost is asked for, else those of the sample."""
        return self.task if self.goal.objective == "cost" else part.sample

    def _search_cheapest(self, part: CandidateInput, best: Candidate) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield the cheapest tree that the exact search finds within its limit, and remember the bound it proves.

        It proves no bound if its rows are a sample.
        """
        task, boxes = self._solved_rows(part), self._boxes_to_solve(part)
        if self.clock.has_passed():
            return
        solved = optimal_of(task, part.leaves, incumbent=best.tree, max_boxes=boxes, deadline=self.clock.deadline)
        if task is self.task:
            self.bound = solved.bound
        yield self._fitting(solved.tree, part.sample), "optimal"

    def _fitting(self, tree: ThresholdTree, task: Task) -> ThresholdTree:
        """Return the tree with honest names and without empty leaves, within the budget."""
        tree = name_leaves(tree, task, self.loss)
        return within(tree, task, self.loss) if task.budget.limits_shape else tree

    def _rename_leaves(self, task: Task, candidates: list[Candidate]) -> Iterator[tuple[ThresholdTree, str]]:
        """Yield the trees, with the names under which they are cheapest if cost alone decides."""
        for each in candidates:
            is_asked = self.goal.objective == "cost" and not self.clock.has_passed()
            yield (with_cheapest_names(each.tree, task) if is_asked else each.tree), each.name

    def _has_own_means(self, leaves: int) -> bool:
        """Return whether each leaf of the cheapest tree is a cluster of its own."""
        return self.goal.by_cost and leaves <= self.task.reference.n_clusters

    def _boxes(self, looked_at: int, task: Task, columns: int, *, power: int) -> int:
        """Return how many times the rows of a task may be looked at: less often in wide tables."""
        share = min(1.0, columns / task.n_columns) ** power
        return int(looked_at * share / task.n_rows)

    def _on_more_rows(self, candidates: list[Candidate], leaves: int) -> list[Candidate]:
        """Return the best candidates, measured on every row; between the sample and these come larger samples."""
        for goal in self.between:
            candidates = [goal.best(self._on_rows_of(goal, candidates, leaves))]
        return self._on_rows_of(self.goal, candidates, leaves)

    def _on_rows_of(self, goal: Goal, candidates: list[Candidate], leaves: int) -> list[Candidate]:
        """Return the candidates, measured on the rows of a goal, and the best of them refined there."""
        compared = goal.candidates((self._fitting(each.tree, goal.task), each.name) for each in candidates)
        if not self.clock.has_passed():
            best = goal.best(compared)
            name = best.name if best.name.endswith("refined") else f"{best.name}, refined"
            compared.append(goal.candidate(self._better(best.tree, goal.task, leaves), name))
        return compared

    def _better(self, tree: ThresholdTree, task: Task, leaves: int) -> ThresholdTree:
        """Return the tree with cuts that lose less on the rows of a task, and with freed leaves used elsewhere."""
        deadline = self.clock.deadline
        rounds, tol = (
            (settings.ROUNDS, 0.0) if task is self.sample else (settings.ROUNDS_ON_MORE, settings.LEAST_OF_ROUND)
        )
        if self.goal.by_cost:
            better = refined_with_centers(tree, task, max_rounds=rounds, max_sweeps=1, tol=tol, deadline=deadline)
        else:
            better = refine_tree(tree, task, self.loss, deadline=deadline)
        return refill_leaves(better, task, leaves, self.loss, tol=tol, deadline=deadline)

    def facts(self, best: Candidate) -> SearchReport:
        """Return what was done, and how far the tree is from the cheapest with as many leaves, where that is known."""
        goal, gap = self.goal, None
        if self.bound is not None:
            gap = 1 - self.bound / best.cost if best.cost > 0 else 0.0
            gap = gap if gap > settings.ROUNDING else 0.0
        more = None if self.fewest is None else max(best.mistakes - self.fewest, 0.0) / goal.weight
        known = len(self.names), len(self.sample.rows), self.clock.stopped
        return SearchReport(goal.objective, goal.reason, *known, gap, more)

    def on_length(self) -> tuple[str, ...]:
        """Return a note if the table is so long that a sample of it was taken."""
        if self.sample.n_kept == self.task.n_kept:
            return ()
        then = "measured" if self.clock.stopped or self.perfect is not None else "refined and measured"
        return (
            f"the table is long: most trees were grown on a random sample of {len(self.sample.rows):,} of "
            f"{self.task.n_kept:,} rows; this one was {then} on all rows",
        )

    def notes(self) -> tuple[str, ...]:
        """Return what the reader of the result must know of the search."""
        notes = []
        if self.clock.stopped:
            notes.append("the time limit ended the search, this is the best tree so far (time_limit)")
        notes += self.on_length()
        has_room = self.task.leaves() >= self.task.reference.n_clusters
        if has_room and (equal := self.task.on_usable_columns.reference.equal_pair):
            where = " on the columns that cuts may test" if self.task.budget.forbidden else ""
            notes.append(
                f"methods that separate centres were left out, as clusters have equal centres{where} ({equal})"
            )
        if self.left_out:
            n, of = self.task.reference.n_clusters, self.task.n_columns
            notes.append(
                f"trees of {' and '.join(sorted(self.left_out))} were left out: they take too long for {n:,} clusters "
                f"in {of:,} columns (method)"
            )
        return (*notes, self.goal.reason) if self.goal.reason else tuple(notes)
