"""Dividing a common pool of items (Cao et al., 2018; BIDDER, section 3.2 and appendix A.2)."""
