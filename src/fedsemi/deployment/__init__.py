"""The same methods on Flower: simulated on Ray, or deployed over a network.

The only room that imports `flwr`; install it with `fedsemi[flower]`. What runs at a
site and what runs at the coordinator live apart.
"""
