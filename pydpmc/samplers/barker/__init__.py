"""barker"""
