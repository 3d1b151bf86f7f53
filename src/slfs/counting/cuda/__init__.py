"""Counting on an NVIDIA GPU with CuPy: packed columns -> the same integers as on the CPU.

Start with `backend.py`; `kernels.cu` has the kernels, which are compiled on first use.
"""
