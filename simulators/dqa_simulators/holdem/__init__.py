"""The world of limit Texas hold'em for two (BIDDER, section 3.1 and appendix A.1)."""
