"""DeLLMa: decisions under uncertainty by beliefs, rankings and expected utility (DeLLMa, ICML).

`dqa_dellma.steps.dellma.Dellma` has a method for each step: state enumeration, state forecasting,
utility elicitation and expected utility maximisation. A subclass replaces one, and a decision has
its tree all the same::

    class Mine(Dellma):
        def rank(self, problem, beliefs, pairs, batch, asking):
            return Ranking(shown=tuple(batch), items=tuple(sorted(batch)))


    MINE = method("mine", "ranks by number", Mine, DellmaSettings, family="dellma")

An entry point of `dqa.deciders` that names ``MINE`` makes it a decider like any other. Everything
that ``dqa dellma`` does is a function: `tree.decision_tree.find_tree`, `tree.page.write_tree`,
`portfolios.combine_actions`.
"""
