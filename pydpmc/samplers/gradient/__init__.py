"""gradient"""
