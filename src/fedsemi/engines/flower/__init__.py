"""The same methods on Flower: simulated on Ray, or deployed over a network.

The only package that imports `flwr`; install it with `fedsemi[flower]`.
"""
