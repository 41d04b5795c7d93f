"""BIDDER: decisions that look back and ahead (bi-directional deliberation reasoning).

`dqa_bidder.bidder.Bidder` has a method for each step of the paper: hidden state inference, opponent
modelling, reward estimation, reward aggregation and decision making. A subclass can replace a
step::

    class Greedy(Bidder):
        def make_decision(self, task, hidden, returns, asking):
            return Choice.of(returns.best, "It has the largest return.")


    GREEDY = method("greedy", "takes the largest return", Greedy, BidderSettings, family="bidder")

To register this decider, name ``GREEDY`` in an entry point of the group `dqa.deciders`.
"""
