"""DeLLMa: decisions under uncertainty that maximise expected utility (Liu et al., 2024).

`dqa_dellma.steps.dellma.Dellma` has a method for each step: state enumeration, state forecasting,
utility elicitation and expected utility maximisation. A subclass can replace a step. The decisions
of the subclass also have a decision tree::

    class Mine(Dellma):
        def rank(self, problem, beliefs, pairs, batch, asking):
            return Ranking(shown=tuple(batch), items=tuple(sorted(batch)))


    MINE = method("mine", "ranks by number", Mine, DellmaSettings, family="dellma")

To register this decider, name ``MINE`` in an entry point of the group `dqa.deciders`. The functions
behind ``dqa dellma`` are `tree.decision_tree.find_tree`, `tree.page.write_tree` and
`portfolios.combine_actions`.
"""
