"""Template and data become a message for one channel; late, in the sender (R-104)."""
