"""Checks of the gate: is the evidence whole, and does it add up?"""
