"""The negotiation world: two players divide a pool (Cao et al., 2018; BIDDER, section 3.2, A.2)."""
