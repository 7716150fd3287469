"""langevin"""
