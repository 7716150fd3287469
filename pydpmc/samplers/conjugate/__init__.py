"""conjugate"""
