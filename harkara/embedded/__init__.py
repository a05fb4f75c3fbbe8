"""The whole pipeline on this machine: the embedded stack, simulated providers and every role.

`pipeline` starts, watches and ends them; `running` lets a question be asked when nothing is up.
"""
