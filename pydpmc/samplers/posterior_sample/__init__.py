"""posterior_sample"""
