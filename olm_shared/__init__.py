"""What both programs need. Pure, except for `olm_shared.runtime`, which talks to the world."""
