"""The oblivious protocol: three parties compute on shared bits that tell none of them anything."""
