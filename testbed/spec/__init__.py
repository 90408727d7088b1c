"""YAML files read into the model; every fault at its line."""
