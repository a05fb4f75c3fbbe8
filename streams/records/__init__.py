"""Every message on the wire and every document in state, one file each, in flow order.

notification -> decision -> delivery -> followup | delivery_event; profile_command -> stop;
rejection and dead_letter for what could not go on; control from operators; state = what the
changelogs hold.
"""
