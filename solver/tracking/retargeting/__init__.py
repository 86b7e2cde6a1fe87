"""Retargeting: transfers motions to another body, by joints of the same name, or as a whole within contacts and
limits.
"""
