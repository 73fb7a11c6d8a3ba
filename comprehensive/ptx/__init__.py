"""PTX: what its instructions mean.

``opcodes`` tells what an instruction does by its text, ``special_registers`` what the registers that start with a
percent sign and no declaration hold.
"""
