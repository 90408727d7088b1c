"""Checks of the gate that the evidence is whole: everything is there, and adds up."""
