"""nuts"""
