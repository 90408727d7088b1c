"""QEMU, and the kernels of virtual machines."""
