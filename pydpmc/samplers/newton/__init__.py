"""newton"""
