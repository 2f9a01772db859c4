"""How big a machine: from a measured limit and a demand to instances, machines and their price.

Pure: knows levels, resources and arithmetic; must not know how a level is measured, how an advice
is put into words, or who asks. What is not measured is not predicted: beyond twice the measured
range it says so, and a quantile is never taken from a formula.
"""
